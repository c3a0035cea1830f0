"""`python -m hubbub.client`: what it prints, what it refuses, and that it needs and changes nothing."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from hubbub.client import SqliteState
from hubbub.client.__main__ import main
from hubbub.client.policy import resolve
from hubbub.lock import dump
from tests.unit.client_support import DAY, FRESH_MEAN, STARTS
from tests.unit.state_support import days, named, of, sealed

LOCK = of(named(), named("flag", kind="boolean"), named("fresh", encoder=FRESH_MEAN, report_every=28))


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A device that used up what a second metric would need."""
    (tmp_path / "metrics.lock").write_text(dump(LOCK))
    state = SqliteState(tmp_path / "state")
    policy = resolve("standard", 300)
    state.begin(of(named()), policy, STARTS)
    state.run(days(0))
    sealed(state, DAY)
    state.done("a0")
    state.begin(of(named(), named("flag", kind="boolean")), policy, STARTS + DAY)
    state.close()
    return tmp_path


def run(place: Path, capsys: pytest.CaptureFixture[str], command: str, *more: str) -> tuple[int, str, str]:
    code = main([command, "--state", str(place / "state"), *more])
    return code, *capsys.readouterr()


def told(place: Path, capsys: pytest.CaptureFixture[str], command: str, *more: str) -> Any:
    code, out, err = run(place, capsys, command, "--json", *more)
    assert (code, err) == (0, "")
    return json.loads(out)


def with_lock(place: Path) -> tuple[str, str]:
    return "--lock", str(place / "metrics.lock")


def test_ledger_as_a_table(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(place, capsys, "ledger", *with_lock(place))
    assert (code, err) == (0, "")
    lines = [line.split() for line in out.splitlines()]
    head = "Collection c; installed 2026-12-01T00:00:00Z; secret number 1; policy standard."
    assert out.splitlines()[0] == head
    assert ["a", "1", "1", "1", "2026-12-02T00:00:00Z", "1", "2", "1.407606", "257.051847"] in lines
    assert ["flag", "-", "no", "0", "-", "0", "0", "0", "0"] in lines
    assert ["values", "that", "never", "change", "2", "20"] in lines
    assert "fresh is not answered: the program has not begun with this lock yet." in out
    why = "flag is not answered: it would bring the life prices of 2027 to 470.46791 nats, more than the 300 allowed."
    assert why in out


def test_ledger_in_json(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tree = told(place, capsys, "ledger")
    assert tree.keys() == {"collection", "birth", "generation", "policy", "metrics", "totals"}
    assert tree["metrics"].keys() == {"a", "flag"}
    metric = tree["metrics"]["a"]
    assert (metric["versions"], metric["in_force"], metric["sent"]) == ([1], 1, 1)
    assert metric["sealed_until"] == "2026-12-02T00:00:00Z"
    assert metric["hash"] == named().hash
    assert tree["metrics"]["flag"]["refused"].startswith("it would bring the life prices of 2027 to ")
    assert [total["allowed"] for total in tree["totals"]] == [4, 20, 6, 300, 300]


@pytest.mark.parametrize("command", [["ledger"], ["preview", "a", "700"]])
def test_nothing_shows_the_secret(place: Path, capsys: pytest.CaptureFixture[str], command: list[str]) -> None:
    secret = json.loads((place / "state" / "secret.json").read_text())["secret"]
    for more in ([], ["--json"]):
        code, out, err = run(place, capsys, command[0], *with_lock(place), *command[1:], *more)
        assert code == 0
        assert secret not in out + err


def test_preview_in_words(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(place, capsys, "preview", *with_lock(place), "a", "700")
    assert (code, err) == (0, "")
    assert out.startswith("a = 700. Nothing is recorded or sent by looking.\n")
    assert "480 min (number 480 of 0 to 480; what lies outside is clipped)" in out
    assert "drawn once from this installation's secret" in out
    assert "  0 min           26.9%\n  480 min         73.1%" in out or "  0 min           73.1%\n" in out
    _, out, _ = run(place, capsys, "preview", *with_lock(place), "flag", "Yes")
    assert "value             yes (number 1 of 0 to 1" in out
    _, out, _ = run(place, capsys, "preview", *with_lock(place), "fresh", "1")
    assert "permanent answer  none: each report of this metric is drawn afresh from the value" in out


def test_preview_keeps_its_permanent_answer(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    seen = [told(place, capsys, "preview", *with_lock(place), "a", "120.4") for _ in range(120)]
    assert {(one["value"], one["meaning"], tuple(one["answer"])) for one in seen} == {
        (120, "120 min", tuple(seen[0]["answer"]))
    }
    assert {one["payload"] for one in seen} == {"00", "80"}  # 120 equal draws have a chance below 10**-11


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["a", "many"], "hubbub: value of a is not one that a mean takes\n"),
        (["a", "nan"], "hubbub: value of a is not one that a mean takes\n"),
        (["flag", "2"], "hubbub: value of flag is not one that a boolean takes\n"),
        (["b", "2"], "hubbub: NAME must be a metric of the lock: a, flag, fresh; got 'b'\n"),
    ],
)
def test_preview_refuses(place: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str) -> None:
    assert run(place, capsys, "preview", *with_lock(place), *arguments) == (2, "", message)


def test_no_state_no_lock(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(place / "elsewhere", capsys, "ledger")
    assert (code, out) == (2, "")
    assert err.endswith("there is no such folder; give the state_dir of a program that has run\n")
    code, out, err = run(place, capsys, "preview", "--lock", str(place / "no.lock"), "a", "1")
    assert (code, out) == (2, "")
    assert "no.lock: cannot be read (No such file or directory); give the path of a metrics.lock" in err
    (place / "metrics.lock").write_text(dump(of(named(), collection="d")))
    code, out, err = run(place, capsys, "ledger", *with_lock(place))
    assert (code, out) == (2, "")
    assert "it belongs to collection 'c', the lock to 'd'" in err


def test_it_runs_with_the_standard_library_alone_beside_a_running_program(place: Path) -> None:
    state = SqliteState(place / "state")
    command = [sys.executable, "-S", "-m", "hubbub.client", "ledger", "--state", str(place / "state")]
    source = str(Path(__file__).parents[2] / "src")
    done = subprocess.run(command, capture_output=True, text=True, check=False, env={"PYTHONPATH": source})
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("Collection c; ")
    state.close()


def test_usage_errors_exit_with_two(capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in ([], ["ledger"], ["preview", "--state", "x", "a", "1"], ["audit"]):
        with pytest.raises(SystemExit) as caught:
            main(arguments)
        assert caught.value.code == 2
    assert "usage: python -m hubbub.client" in capsys.readouterr().err
