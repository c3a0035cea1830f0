"""`hubbub ledger`: the same words as `python -m hubbub.client`, with the exit codes of the command line."""

import json
from pathlib import Path

import pytest

from hubbub import cli
from hubbub.client import SqliteState
from hubbub.client.__main__ import main
from hubbub.client.policy import RESEARCH
from hubbub.lock import dump
from tests.unit.client_support import DAY, STARTS
from tests.unit.state_support import days, named, of, sealed

LOCK = of(named())


TOML = """\
schema = "hubbub.registry/1"
collection = "c"
[metrics.a]
version = 1
kind = "boolean"
description = "Whether it was open"
purpose = "Know whether it is used"
owners = ["telemetry@example.org"]
epsilon = 1.0
permanent_epsilon = 2.0
window = "day"
starts = 2026-12-01
expires = 2027-11-30
expected_devices = 10_000
"""


@pytest.fixture
def device(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A device with one report that waits."""
    monkeypatch.chdir(tmp_path)
    Path("metrics.lock").write_text(dump(LOCK))
    state = SqliteState("state")
    state.begin(LOCK, RESEARCH, STARTS)
    state.run(days(0))
    sealed(state, DAY)
    state.close()
    return tmp_path


def run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as ended:
        cli.main(["ledger", *words])
    assert isinstance(ended.value.code, int)
    return ended.value.code, *capsys.readouterr()


@pytest.mark.usefixtures("device")
@pytest.mark.parametrize("more", [[], ["--json"], ["--lock", "metrics.lock"], ["--waiting"]])
def test_show_says_what_the_client_says(capsys: pytest.CaptureFixture[str], more: list[str]) -> None:
    told = run(capsys, "show", "--state", "state", *more)
    assert main(["ledger", "--state", "state", *more]) == 0
    assert told == (0, capsys.readouterr().out, "")


@pytest.mark.usefixtures("device")
def test_preview(capsys: pytest.CaptureFixture[str]) -> None:
    where = ("--state", "state", "--lock", "metrics.lock")
    code, out, err = run(capsys, "preview", *where, "a", "90")
    assert (code, err) == (0, "")
    assert out.startswith("a = 90. Nothing is recorded or sent by looking.\n")
    code, out, err = run(capsys, "preview", *where, "--json", "a", "--", "-5")
    assert (code, err) == (0, "")
    assert json.loads(out)["value"] == 0
    assert run(capsys, "preview", *where, "a", "many7731") == (
        2,
        "",
        "hubbub: value of a is not one that a mean takes; "
        "give a number from 0 to 480 min; it is clipped to that range\n",
    )


@pytest.mark.usefixtures("device")
@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["show", "--state", "nowhere"], "hubbub: state nowhere: there is no such folder; "),
        (["show", "--state", "state", "--lock", "no.lock"], "hubbub: no.lock: cannot be read ("),
        (["show"], "hubbub: missing option '--state' (see hubbub ledger show --help)"),
        (["preview", "--state", "state", "--lock", "metrics.lock", "b", "1"], "hubbub: NAME must be a metric of"),
    ],
)
def test_what_cannot_be_shown(capsys: pytest.CaptureFixture[str], words: list[str], message: str) -> None:
    code, out, err = run(capsys, *words)
    assert (code, out) == (2, "")
    assert err.startswith(message)
    assert err.count("\n") == 1


@pytest.mark.usefixtures("device")
def test_definitions_before_they_are_built(capsys: pytest.CaptureFixture[str]) -> None:
    Path("metrics.toml").write_text(TOML)
    code, out, err = run(capsys, "show", "--state", "state", "--lock", "metrics.toml")
    assert (code, err) == (0, "")
    assert "measures      Whether it was open" in out
    assert main(["ledger", "--state", "state", "--lock", "metrics.toml"]) == 2
    assert capsys.readouterr().err == (
        "hubbub: metrics.toml: is no metrics.lock; give the one that `hubbub registry build` wrote\n"
    )
    Path("broken.lock").write_text("{")
    assert run(capsys, "show", "--state", "state", "--lock", "broken.lock")[2].startswith("hubbub: broken.lock: ")
