"""`python -m hubbub.client`: what it prints, what it refuses, and that it needs and changes nothing."""

import json
import math
import os
import re
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from hubbub.client import Client, SqliteState
from hubbub.client.__main__ import main
from hubbub.client.policy import resolve
from hubbub.clock import ManualClock
from hubbub.lock import dump, shown
from hubbub.windows import iso
from tests.unit.client_support import DAY, ENDPOINT, FRESH_MEAN, MEAN, STARTS, Script
from tests.unit.state_support import days, named, of, sealed

NUMBER = "give a number from 0 to 480 min; it is clipped to that range"
LOCK = of(named(), named("flag", kind="boolean"), named("fresh", encoder=FRESH_MEAN, report_every=28))


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> ManualClock:
    """What previews take for now."""
    clock = ManualClock(STARTS + DAY)
    monkeypatch.setattr("hubbub.client.__main__.SystemClock", lambda: clock)
    return clock


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


def test_ledger_in_words(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(place, capsys, "ledger", *with_lock(place))
    assert (code, err) == (0, "")
    lines = [" ".join(line.split()) for line in out.splitlines()]
    assert out.splitlines()[0] == "Collection c; installed 2026-12-01T00:00:00Z; policy standard."
    assert lines[1].startswith("The person has not chosen yet;")
    a = lines[lines.index("a") : lines.index("flag")]
    assert a == [
        "a",
        "measures What it is",
        "for What it is for",
        "sent 1 report that the collector took or refused for good;"
        " about windows from 2026-12-01T00:00:00Z to 2026-12-02T00:00:00Z",
        "sealed no new report for what began before 2026-12-02T00:00:00Z",
        "may follow 363 reports at most, each for one day from 2026-12-02T00:00:00Z to 2027-11-30T00:00:00Z",
        "versions 1; 1 in force",
        "price of so far even odds become charged even odds become",
        "one report 1 73.2 % 1 73.2 %",
        "a value that never changes, for ever 1 73.2 % 2 88.1 %",
        "one changed window 1 73.2 % 1.407606 80.4 %",
        "any two histories, for ever 1 73.2 % 257.051847 practically certain",
        "",
    ]
    assert "not answered the program has not begun with this lock yet" in lines
    assert "not answered it would bring the life prices of 2027 to 470.46791 nats, more than the 300 allowed" in lines
    assert "values that never change 1 73.2 % 2 88.1 % 20" in lines
    assert "any two histories of 2027 0 50 % 235.233955 practically certain 300" in lines
    assert "any two histories, for ever 1 73.2 % 257.051847 practically certain unlimited" in lines
    for question in ("How to read it", "How to stop it"):
        assert question in lines


def test_what_waits_and_what_runs(place: Path, capsys: pytest.CaptureFixture[str], clock: ManualClock) -> None:
    clock.set(STARTS + DAY + 60)
    given = {"policy": "standard", "life": 300, "state_dir": place / "state", "clock": clock, "transport": Script()}
    client = Client(of(named()), ENDPOINT, background=False, **given)  # type: ignore[arg-type]
    client.consent("granted")
    clock.set(STARTS + 2 * DAY + 60)
    client.tick()
    client.close()
    tree = told(place, capsys, "ledger")
    (waits,) = tree["waiting"]
    assert (waits["metric"], waits["window"], waits["attempts"]) == ("a", "2026-12-02T00:00:00Z", 0)
    assert json.loads(waits["body"])["reports"][0]["metric"] == "a"
    assert tree["running"] == [{"metric": "a", "start": "2026-12-03T00:00:00Z", "stop": "2026-12-04T00:00:00Z"}]
    assert tree["consent"] == "granted"
    _, out, _ = run(place, capsys, "ledger")
    assert "The person agreed.\n" in out
    assert f"  a for the window from 2026-12-02T00:00:00Z, not before {waits['due']} unless" in out
    with closing(sqlite3.connect(place / "state" / "state.db")) as database:
        ((due,),) = database.execute("SELECT due FROM outbox")
    assert waits["due"] == iso(math.ceil(due))  # text and JSON are never earlier than the report
    assert "\n  a, until 2026-12-04T00:00:00Z\n" in out
    assert waits["body"] not in out
    assert waits["body"] in run(place, capsys, "ledger", "--waiting")[1]
    client = Client(of(named()), ENDPOINT, background=False, **given)  # type: ignore[arg-type]
    client.consent("denied")
    client.close()
    _, out, _ = run(place, capsys, "ledger")
    assert "The person refused: nothing is recorded or sent.\n" in out
    assert out.count("\n  nothing\n") == 2


def test_earlier_secrets_are_told(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shutil.copytree(place / "state", place / "copy")
    (place / "state").rename(place / "elsewhere")
    (place / "copy").rename(place / "state")
    state = SqliteState(place / "state")
    state.begin(of(named()), resolve("standard", 900), STARTS + 3 * DAY)
    state.close()
    _, out, _ = run(place, capsys, "ledger")
    assert out.startswith("Collection c; installed 2026-12-01T00:00:00Z; policy standard.\n")
    assert (
        "Its secret is number 2, drawn 2026-12-04T00:00:00Z; earlier ones were drawn 2026-12-01T00:00:00Z."
        " What was charged under them stays charged.\n"
    ) in out
    assert told(place, capsys, "ledger")["births"] == ["2026-12-01T00:00:00Z", "2026-12-04T00:00:00Z"]
    so_far = told(place, capsys, "ledger")["metrics"]["a"]["so_far"]
    assert so_far["life"] == shown(MEAN.prices(3).life)  # the three days that the copied secret may have told


def test_ledger_in_json(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tree = told(place, capsys, "ledger")
    assert tree["metrics"].keys() == {"a", "flag"}
    metric = tree["metrics"]["a"]
    assert (metric["versions"], metric["in_force"], metric["sent"]) == ([1], 1, 1)
    assert (metric["reports_left"], metric["last_window_ends"]) == (363, "2027-11-30T00:00:00Z")
    assert metric["sealed_until"] == "2026-12-02T00:00:00Z"
    assert metric["hash"] == named().hash
    assert metric["so_far"] == {"report": 1.0, "steady": 1.0, "change": 1.0, "life": 1.0}
    assert tree["metrics"]["flag"]["refused"].startswith("it would bring the life prices of 2027 to ")
    assert [total["allowed"] for total in tree["totals"]] == [4, 20, 6, 300, 300, None]
    assert (tree["waiting"], tree["running"], tree["consent"]) == ([], [], None)


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
    assert "  0 min           26.9 %\n  480 min         73.1 %" in out or "  0 min           73.1 %\n" in out
    assert "in the clear" not in out
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


def test_a_preview_outside_the_life_of_the_metric_has_no_bytes(
    place: Path, capsys: pytest.CaptureFixture[str], clock: ManualClock
) -> None:
    ends = STARTS + 364 * DAY
    for now, said in {
        STARTS - 0.5: "none yet: the metric begins 2026-12-01T00:00:00Z, nothing is recorded before",
        STARTS: "",
        ends - 0.5: "",
        ends: "none: the metric ended 2027-11-30T00:00:00Z, nothing is recorded any more",
    }.items():
        clock.set(now)
        _, out, _ = run(place, capsys, "preview", *with_lock(place), "a", "90")
        plain = told(place, capsys, "preview", *with_lock(place), "a", "90")
        assert (plain["begins"], plain["ends"]) == ("2026-12-01T00:00:00Z", "2027-11-30T00:00:00Z")
        assert (plain["payload"] is None) == (plain["chances"] == {}) == bool(said)
        assert ("How often" in out) == (": one possible report" in out) == (not said)
        if said:
            assert out.endswith(f"\nbytes to send     {said}\n")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["a", "many"], f"hubbub: value of a is not one that a mean takes; {NUMBER}\n"),
        (["a", "nan"], f"hubbub: value of a is not one that a mean takes; {NUMBER}\n"),
        (["flag", "2"], "hubbub: value of flag is not one that a boolean takes; give yes or no\n"),
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


@pytest.mark.parametrize("module", ["hubbub.client", "hubbub"])
def test_output_that_nobody_reads_ends_quietly(place: Path, module: str) -> None:
    more = ["ledger"] if module == "hubbub.client" else ["ledger", "show"]
    command = [sys.executable, "-m", module, *more, "--state", str(place / "state")]
    read, write = os.pipe()
    os.close(read)
    with os.fdopen(write, "w") as unread:
        done = subprocess.run(command, stdout=unread, stderr=subprocess.PIPE, text=True, check=False)
    assert (done.returncode, done.stderr) == (1, "")
    if Path("/dev/full").exists():
        with Path("/dev/full").open("w") as full:
            done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
        assert done.returncode == 2
        assert re.fullmatch("hubbub: .*o space left on device\n", done.stderr)


def test_usage_errors_exit_with_two(capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in ([], ["ledger"], ["preview", "--state", "x", "a", "1"], ["audit"]):
        with pytest.raises(SystemExit) as caught:
            main(arguments)
        assert caught.value.code == 2
    assert "usage: python -m hubbub.client" in capsys.readouterr().err
