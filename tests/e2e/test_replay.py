"""Real values through real clients, HTTP and a collector in a process of its own."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hubbub.cli import main
from hubbub.errors import HubbubError, ParameterError
from hubbub.lock import Lock, dump
from hubbub.mechanisms import of_metric
from hubbub.replay import Fleet, Outcome, Replay, Table, replay, steps
from hubbub.replay.collector import Collector
from hubbub.store import open_store
from hubbub.windows import iso
from tests.unit.replay_support import REGISTRY, lock_of, table_of


@pytest.fixture(scope="module")
def lock() -> Lock:
    return lock_of()


def replayed(table: Table, metric: str, lock: Lock, crowd: int = 1, **options: Any) -> Replay:
    with replay([Fleet({metric: table}, crowd)], lock, **options) as result:
        return result


def outcomes(result: Replay) -> tuple[Outcome, ...]:
    return result.series[0].outcomes


def test_every_report_arrives_once_and_truth_stands_beside(lock: Lock, tmp_path: Path) -> None:
    metric = lock.metrics["app.used"]
    first = metric.life.start + 2
    table = table_of(4, 60, first)
    store = tmp_path / "hubbub.db"
    seen: list[tuple[str, str]] = []
    done: list[int] = []
    result = replayed(
        table,
        "app.used",
        lock,
        store=store,
        progress=done.append,
        seen=lambda metric, outcome: seen.append((outcome.window_start, outcome.state)),
    )
    assert result.reports == table.rows
    # Each run of a device, the one in the end too, and each report.
    assert sum(done) == steps([Fleet({"app.used": table})], lock) == 2 * table.rows + 60
    assert result.checked
    assert [outcome.n for outcome in outcomes(result)] == [len(row) for row in table.windows.values()]
    for outcome in outcomes(result):
        assert outcome.truth.raw == outcome.truth.clipped == outcome.truth.clipped_arrived
        assert outcome.state in ("final", "too_uncertain")
        # Eight standard errors: false alarm below 1e-14 for each window.
        assert outcome.value is not None
        assert abs(outcome.value - outcome.truth.raw) < 8 * float(of_metric(metric).variance(0.5, outcome.n)) ** 0.5
    # Each window was told as soon as the next had run, with what had come by then.
    assert [start for start, _ in seen] == [iso(metric.windows.start(window)) for window in table.windows]
    assert {state for _, state in seen} <= {"provisional", "too_uncertain"}
    assert [path.name for path in tmp_path.iterdir()] == ["hubbub.db"]
    with open_store(store, read_only=True) as opened:
        assert {(key.metric, key.window) for key in opened.windows()} == {("app.used", first + w) for w in range(4)}
    assert len(result.traces) == 4
    assert all(trace.sent in ("00", "80") for trace in result.traces)


def test_what_is_shown_as_sent_is_what_the_collector_holds(lock: Lock, tmp_path: Path) -> None:
    table = Table({lock.metrics["app.minutes"].life.start + w: {"only": 30.0} for w in range(8)})
    result = replayed(table, "app.minutes", lock, store=tmp_path / "hubbub.db")
    with open_store(tmp_path / "hubbub.db", read_only=True) as opened:
        held = [report.payload for key in opened.windows() for report in opened.reports(key)]
    assert [trace.sent for trace in result.traces] == held
    assert {outcome.holds for outcome in outcomes(result)} == {None}
    for path in (tmp_path / "hubbub.db", tmp_path / "no folder" / "hubbub.db"):
        with pytest.raises(ParameterError, match="store must be a file that is not there yet, in a folder that is"):
            replayed(table, "app.minutes", lock, store=path)


def test_a_panel_reports_at_its_turn() -> None:
    lock = lock_of(REGISTRY.replace("upper = 60\n", "upper = 60\nreport_every = 3\n"))
    table = Table({lock.metrics["app.minutes"].life.start + w: {"only": 30.0} for w in range(6)})
    result = replayed(table, "app.minutes", lock)
    assert [trace.sent is not None for trace in result.traces].count(True) == result.reports == 2
    assert len(outcomes(result)) == 6


def test_metrics_that_take_turns_get_one_report_of_each_device_and_window() -> None:
    text = REGISTRY.replace('"app.used"]\n', '"app.used"]\nrotation = "usage"\n')
    lock = lock_of(text.replace("upper = 60\n", 'upper = 60\nrotation = "usage"\n'))
    used = table_of(6, 20, lock.metrics["app.used"].life.start)
    with replay([Fleet({"app.used": used, "app.minutes": used})], lock) as result:
        one, other = ([outcome.n for outcome in series.outcomes] for series in result.series)
    assert [a + b for a, b in zip(one, other, strict=True)] == [len(row) for row in used.windows.values()]
    assert result.reports == used.rows


def test_windows_that_hidden_presence_fills_in_count_as_nulls() -> None:
    lock = lock_of(REGISTRY.replace("upper = 60\n", 'upper = 60\npresence = "hidden"\ngrace = "2d"\n'))
    first = lock.metrics["app.minutes"].life.start
    always = {f"d{device}": 30.0 for device in range(10)}
    rows = {first: always | {"away": 50.0}, first + 1: always, first + 4: always, first + 5: always | {"away": 50.0}}
    result = replayed(Table(rows), "app.minutes", lock)
    found = [(outcome.n, outcome.truth.devices, outcome.truth.clipped) for outcome in outcomes(result)]
    # All are back at noon of day 4, in time for day 2 and not for day 1; one at noon of day 5, in time for day 3.
    assert [n for n, _, _ in found] == [10, 0, 10, 11, 11, 11]
    assert [devices for _, devices, _ in found] == [11] * 6
    means = [350 / 11, 300 / 11, 0, 0, 300 / 11, 350 / 11]
    assert [mean for _, _, mean in found] == pytest.approx(means)


def test_one_client_carries_several_metrics_and_a_crowd_stands_beside(lock: Lock) -> None:
    first = lock.metrics["app.used"].life.start
    used = table_of(3, 20, first)
    minutes = Table({window: dict.fromkeys(row, 90.0) for window, row in used.windows.items()})
    fleets = [Fleet({"app.used": used}), Fleet({"app.minutes": minutes}, crowd=3)]
    with replay(fleets, lock) as result:
        one, many = result.series
    assert [outcome.n for outcome in one.outcomes] == [len(row) for row in used.windows.values()]
    assert [outcome.n for outcome in many.outcomes] == [3 * len(row) for row in used.windows.values()]
    assert {(outcome.truth.raw, outcome.truth.clipped) for outcome in many.outcomes} == {(90.0, 60.0)}
    with replay([Fleet({"app.used": used, "app.minutes": minutes})], lock) as result:
        assert [outcome.n for outcome in result.series[1].outcomes] == [len(row) for row in used.windows.values()]
        assert result.reports == 2 * used.rows


def test_segments_and_all_of_them_together(lock: Lock) -> None:
    metric = lock.metrics["app.split"]
    cells = {f"d{d}": metric.segments[0 if d % 3 else 3] for d in range(90)}
    table = Table(table_of(2, 90, metric.life.start).windows, cells)
    result = replayed(table, "app.split", lock)
    found = [(outcome.truth.segment, outcome.n, outcome.state) for outcome in outcomes(result)]
    for (small, n_small, _), (large, n_large, _), (every, n, state) in (found[:3], found[3:]):
        assert {small, large} == {"stable/mac", "beta/linux"}
        assert every is None
        assert n_small + n_large == n
        assert state in ("final", "too_uncertain")
    assert found[2][1] == 90
    values = [outcome.value for outcome in outcomes(result)[:3]]
    ns = [outcome.n for outcome in outcomes(result)[:3]]
    assert None not in values
    # A share is linear in the reports, so that of all is the mean of the segments'.
    assert values[2] == pytest.approx((ns[0] * values[0] + ns[1] * values[1]) / ns[2])  # type: ignore[operator]


def test_what_grace_costs_is_the_collectors_own_answer() -> None:
    lock = lock_of(REGISTRY.replace("min_reports = 20\n", 'min_reports = 2\ngrace = "2d"\n'))
    first = lock.metrics["app.minutes"].life.start
    rows: dict[int, dict[str, float]] = {first + w: {f"often{d}": 10.0 for d in range(30)} for w in range(5)}
    rows[first] |= {f"seldom{d}": 50.0 for d in range(10)}
    rows[first + 4] |= {"seldom0": 50.0}
    result = replayed(Table(rows), "app.minutes", lock)
    assert [outcome.n for outcome in outcomes(result)] == [30, 30, 30, 30, 31]
    truth = outcomes(result)[0].truth
    assert (truth.devices, truth.arrived, truth.clipped, truth.clipped_arrived) == (40, 30, 20.0, 10.0)


def test_a_report_too_few_is_a_fault(lock: Lock, monkeypatch: pytest.MonkeyPatch) -> None:
    table = table_of(2, 10, lock.metrics["app.used"].life.start)
    monkeypatch.setattr("hubbub.replay.mixer.Mixer.send", lambda self: self.held.clear())
    with pytest.raises(
        HubbubError, match="0 reports are counted where 10 must have arrived; this is a fault of hubbub"
    ):
        replayed(table, "app.used", lock)


def test_a_killed_collector_loses_and_doubles_nothing(lock: Lock, monkeypatch: pytest.MonkeyPatch) -> None:
    table = table_of(6, 60, lock.metrics["app.used"].life.start)
    collectors: list[Collector] = []
    start = Collector.__enter__

    def enter(self: Collector) -> Collector:
        collectors.append(self)
        return start(self)

    monkeypatch.setattr(Collector, "__enter__", enter)
    done = kills = 0

    def progress(more: int) -> None:
        nonlocal done, kills
        done += more
        if kills < 2 and done > 160 * (kills + 1) and kills == collectors[0].restarts:  # with reports to come
            os.kill(collectors[0].pid, signal.SIGKILL)
            kills += 1

    result = replayed(table, "app.used", lock, progress=progress)
    assert result.restarts == kills == 2
    assert [outcome.n for outcome in outcomes(result)] == [len(row) for row in table.windows.values()]


# The command


def started(*arguments: str, cwd: Path) -> "subprocess.Popen[str]":
    command = [sys.executable, "-m", "hubbub", *arguments]
    return subprocess.Popen(
        command, cwd=cwd, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def run(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    process = started(*arguments, cwd=cwd)
    out, err = process.communicate(timeout=120)
    return subprocess.CompletedProcess(process.args, process.returncode, out, err)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A registry and a table of 30 devices and 6 days."""
    (tmp_path / "metrics.toml").write_text(REGISTRY)
    lines = [f"d{d},{w},{d + 50 * (d == 7)},{'stable' if d % 2 else 'beta'}/mac" for w in range(6) for d in range(30)]
    (tmp_path / "t.csv").write_text("\n".join(["device,window,value,cell", *lines, ""]))
    return tmp_path


def test_replay_command(folder: Path) -> None:
    done = run("replay", "t.csv", "--metric", "app.minutes", "--windows", "2", "--crowd", "2", "--json", cwd=folder)
    assert done.returncode == 0, done.stderr
    rows = json.loads(done.stdout)
    assert [(row["window"], row["n"]) for row in rows] == [("2026-03-02T00:00:00Z", 60), ("2026-03-03T00:00:00Z", 60)]
    assert rows[0]["truth"] == pytest.approx(485 / 30)
    assert rows[0]["truth_clipped"] == pytest.approx(485 / 30)
    assert {row["pretend_crowd"] for row in rows} == {2}
    shown = run("replay", "t.csv", "--metric", "app.minutes", "--windows", "2", "--crowd", "2", cwd=folder)
    assert shown.returncode == 0
    assert "PRETEND crowd: 2 devices" in shown.stdout
    assert "120 reports of one bit each travelled over HTTP" in shown.stdout
    assert " of 2 intervals hold the truth; about 2 of 2 are expected." in shown.stdout
    assert "none was lost or counted twice" in " ".join(shown.stdout.split())
    assert not shown.stderr
    assert sorted(path.name for path in folder.iterdir()) == ["metrics.toml", "t.csv"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("t.csv",), "--metric"),
        (("t.csv", "--metric", "app.nothing"), "app.used"),
        (("missing.csv", "--metric", "app.used"), "missing.csv"),
        (("empty.csv", "--metric", "app.used"), "empty.csv"),
        (("t.csv", "--metric", "app.minutes", "--registry", "none.toml"), "none.toml"),
        (
            ("t.csv", "--metric", "app.minutes", "--windows", "0"),
            "'--windows': Input should be greater than",
        ),
        (("t.csv", "--metric", "app.minutes", "--devices", "-1"), "--devices"),
        (("t.csv", "--metric", "app.minutes", "--crowd", "0"), "--crowd"),
        (("t.csv", "--metric", "app.minutes", "--crowd", "1000000"), "--crowd"),
        (("t.csv", "--metric", "app.minutes", "--crowd", "many"), "--crowd"),
        (("t.csv", "--metric", "app.split"), "--segment"),
        (("t.csv", "--metric", "app.minutes", "--segment", "cell"), "app.minutes has no dimensions"),
        (("t.csv", "--metric", "app.minutes", "--read", "http://127.0.0.1:1"), "--collector"),
        (("t.csv", "--metric", "app.minutes", "--state", "s", "--store", "x.db"), "--store"),
        (("t.csv", "--metric", "app.minutes", "--collector", "nonsense"), "--collector must be an address"),
        (("t.csv", "--metric", "app.minutes", "--collector", "http://127.0.0.1:9"), "nothing answers"),
        (("t.csv", "--metric", "app.minutes", "--state", "."), "--state must be"),
        (("t.csv", "--metric", "app.minutes", "--store", "none/x.db"), "--store must be"),
    ],
)
def test_what_the_command_refuses(
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: tuple[str, ...],
    message: str,
) -> None:
    monkeypatch.chdir(folder)
    (folder / "empty.csv").write_text("")
    with pytest.raises(SystemExit) as ended:
        main(["replay", *arguments])
    out, err = capsys.readouterr()
    assert (ended.value.code, out) == (2, "")
    assert message in err
    assert err.startswith("hubbub: ")
    assert "Traceback" not in err
    assert sorted(path.name for path in folder.iterdir()) == ["empty.csv", "metrics.toml", "t.csv"]


def children(pid: int) -> list[int]:
    """Processes that a process has started, by /proc."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            if int(stat.read_text().rpartition(")")[2].split()[1]) == pid:
                found += [int(stat.parent.name), *children(int(stat.parent.name))]
        except (OSError, IndexError):
            continue
    return found


def gone(pids: list[int]) -> bool:
    deadline = time.monotonic() + 20
    while any(Path(f"/proc/{pid}").exists() for pid in pids) and time.monotonic() < deadline:
        time.sleep(0.02)
    return not any(Path(f"/proc/{pid}").exists() for pid in pids)


def wait_until(ready: Callable[[], object], process: "subprocess.Popen[str]") -> bool:
    """Wait for something of a process; False if it has ended before."""
    deadline = time.monotonic() + 60
    while not ready():
        if process.poll() is not None or time.monotonic() > deadline:
            return False
        time.sleep(0.005)
    return True


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="finds processes by /proc")
def test_ctrl_c_leaves_nothing_behind(folder: Path) -> None:
    process = started("replay", "t.csv", "--metric", "app.minutes", "--crowd", "900", "--store", "x.db", cwd=folder)
    assert wait_until(lambda: len(children(process.pid)) == 3, process)  # the collector and its two
    pids = children(process.pid)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (130, "", "")
    assert gone(pids)
    assert sorted(path.name for path in folder.iterdir()) == ["metrics.toml", "t.csv"]


def test_killed_and_started_again_nothing_is_lost_or_doubled(folder: Path) -> None:
    arguments = ("replay", "t.csv", "--metric", "app.minutes", "--crowd", "20", "--state", "s", "--json")
    store = folder / "s" / "hubbub.db"
    process = started(*arguments, cwd=folder)
    # Somewhere within the work, once its collector is there; tests/unit/test_replay_kills.py has every point.
    assert wait_until(store.exists, process)
    time.sleep(0.5)
    process.kill()
    process.communicate(timeout=60)
    done = run(*arguments, cwd=folder)
    assert done.returncode == 0, done.stderr
    rows = json.loads(done.stdout)
    assert [row["n"] for row in rows] == [600] * 6
    with open_store(folder / "s" / "hubbub.db", read_only=True) as opened:
        reports = [report for key in opened.windows() for report in opened.reports(key)]
        assert len({(report.key, report.id) for report in reports}) == len(reports) == 3600
        assert not opened.counters().get("conflict")
    again = run(*arguments, cwd=folder)
    assert json.loads(again.stdout) == rows
    store.rename(folder / "elsewhere.db")
    missing = run(*arguments, cwd=folder)
    assert missing.returncode == 2
    assert "hubbub.db: is missing; start again with an empty folder" in missing.stderr
    other = run(*arguments, "--windows", "3", cwd=folder)
    assert other.returncode == 2
    assert "the folder of a replay of this table with these options" in other.stderr


def test_a_given_collector_gets_the_latest_windows(folder: Path) -> None:
    """`serve` on a clock of the machine: the table's last day becomes yesterday."""
    today = time.strftime("%Y-%m-%d", time.gmtime(time.time() - 20 * 86_400))
    until = time.strftime("%Y-%m-%d", time.gmtime(time.time() + 20 * 86_400))
    text = REGISTRY.replace("2026-03-02", today).replace("2026-04-02", until)
    text = text.replace("min_reports = 20\n", 'min_reports = 10\ngrace = "3d"\n')
    (folder / "metrics.toml").write_text(text)
    (folder / "metrics.lock").write_text(dump(lock_of(text)))
    (folder / "other.lock").write_text(dump(lock_of(text.replace("upper = 60", "upper = 90"))))
    for name in ("metrics.lock", "other.lock"):
        server = started(
            "serve", "--lock", name, "--store", f"{name}.db", "--port", "0", "--read-port", "0", cwd=folder
        )
        try:
            assert server.stdout is not None
            address, reading = (server.stdout.readline().split()[-1] for _ in range(2))
            options = ("--metric", "app.minutes", "--collector", address, "--read", reading)
            if name == "other.lock":
                wrong = run("replay", "t.csv", *options, "--windows", "2", cwd=folder)
                assert wrong.returncode == 2
                assert "hash_mismatch" in wrong.stderr
                continue
            pretended = run("replay", "t.csv", *options, "--windows", "2", "--crowd", "2", cwd=folder)
            assert pretended.returncode == 2
            assert "--crowd must be 1" in pretended.stderr
            assert "keeps real reports" in pretended.stderr
            long = run("replay", "t.csv", *options, cwd=folder)
            assert long.returncode == 2
            assert "--windows must be at most" in long.stderr
            done = run("replay", "t.csv", *options, "--windows", "2", "--json", cwd=folder)
            assert done.returncode == 0, done.stderr
            rows = json.loads(done.stdout)
            assert [row["n"] for row in rows] == [30, 30]
            assert {row["state"] for row in rows} <= {"provisional", "too_uncertain"}
            day = 86_400
            assert rows[-1]["window"] == iso(int(time.time() - 60) // day * day - day) or rows[-1]["window"] == iso(
                int(time.time()) // day * day - day
            )
            unread = run("replay", "t.csv", *options[:4], "--read", address, "--windows", "1", cwd=folder)
            assert unread.returncode == 0
            assert "There are no estimates" in unread.stdout
            assert "Others may report there too" in unread.stdout
        finally:
            server.terminate()
            server.communicate(timeout=60)
