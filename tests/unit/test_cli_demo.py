"""`hubbub demo --lock`: what an aircraft of the demonstration carries, for commands that read a lock; no flights."""

import json
from pathlib import Path

import pytest

from hubbub.definitions import read_lock
from hubbub.replay import flights
from tests.unit.shell import Shell, commands


@pytest.fixture
def shell(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shell:
    """Runs `hubbub ...` in an empty folder; exit code, output and errors."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")

    return commands(capsys)


def test_the_lock_of_an_aircraft(shell: Shell) -> None:
    """Without the pretence, which no aircraft answers and which would be counted in every sum."""
    code, out, err = shell("demo", "--lock", "metrics.lock")
    assert (code, err) == (0, "")
    assert out.startswith("Wrote metrics.lock: flight.late, flight.minutes, flight.delay")
    lock = read_lock("metrics.lock")
    assert set(lock.metrics) == {flights.LATE, flights.MINUTES, flights.DELAY}
    code, out, _ = shell("registry", "show", "metrics.lock", "--json")
    sums = json.loads(out)["sums"]
    assert (code, sums["report"], sums["steady"]) == (0, pytest.approx(3, abs=1e-5), pytest.approx(6, abs=1e-5))
    assert shell("demo", "--lock", "metrics.lock")[1].startswith("Up to date: metrics.lock")


def test_the_latest_flight_is_the_largest_value(shell: Shell) -> None:
    shell("demo", "--lock", "metrics.lock")
    assert read_lock("metrics.lock").metrics[flights.DELAY].aggregated == "max"
    code, out, _ = shell("dossier", "metrics.lock")
    section = out[out.index("latest flight") :]
    assert (code, section[: section.index("the value is")].count("\n## ")) == (0, 0)
    assert section[section.index("the value is") :].startswith("the value is | the largest value of a window")


def test_no_other_lock_is_replaced(shell: Shell) -> None:
    shell("init")
    shell("registry", "build")
    before = Path("metrics.lock").read_bytes()
    code, _, err = shell("demo", "--lock", "metrics.lock")
    assert code == 2
    assert 'collection = "new-york-flights"' in err
    assert Path("metrics.lock").read_bytes() == before
    for words in (["--lock", "metrics.toml"], ["--lock", "new.lock", "--once"], ["--lock", "new.lock", "--json"]):
        code, _, err = shell("demo", *words)
        assert (code, err.count("\n")) == (2, 1)
        assert "--lock" in err
    assert not Path("new.lock").exists()
