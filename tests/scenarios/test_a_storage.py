"""A: what goes wrong with storage, on the device and in the collector."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from hubbub.client import Client, MemoryState, SqliteState, State, schedule
from hubbub.clock import FileClock
from hubbub.lock import dump
from hubbub.store import open_store
from tests.e2e.capture import Capture
from tests.e2e.test_crash import load
from tests.scenarios.chain import chain
from tests.unit.client_support import STARTS, lock, metric, report_of
from tests.unit.serving import PATIENCE, Serving

ROOT = Path(__file__).parents[2]
HOUR = 3600
HOURLY = metric(window="hour")


@pytest.mark.parametrize("kind", ["memory", "folder"])
def test_a1_room_is_given_back_when_reports_have_left(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Filled while offline, drained, then one more: it is kept and sent. The size is always that of the bodies."""
    monkeypatch.setattr(schedule, "MAX_BYTES", 1024)
    state: State = MemoryState() if kind == "memory" else SqliteState(tmp_path / "device")

    def sized() -> int:
        bodies = [report.body for report in state.outbox()]
        assert state.stored() == (len(bodies), sum(map(len, bodies)))
        assert sum(map(len, bodies)) <= 1024
        return len(bodies)

    with chain(tmp_path, lock(HOURLY)) as whole:
        device, clock, network = whole.device(state=state)
        for cycle in range(3):
            network.up = False
            for _ in range(12):
                device.add(HOURLY.name, 1)
                clock.set(clock.now() + HOUR)
                device.flush()
                sized()
            full = sized()
            assert 2 < full < 12  # the limit was reached
            assert device.counters["outbox_full"] == (cycle + 1) * 12 - full - cycle * (full + 1) + cycle
            network.up = True
            whole.clock.set(clock.now())
            assert device.flush()
            assert sized() == 0
            network.up = False
            device.add(HOURLY.name, 1)
            clock.set(clock.now() + HOUR)
            device.flush()
            assert sized() == 1
            network.up = True
            whole.clock.set(clock.now())
            assert device.flush()
            assert len(network.tried) == whole.stored().total() == (cycle + 1) * (full + 1)
    state.close()


class Holding(Capture):
    """Passes requests on and keeps their answers back until told otherwise."""

    def __init__(self, port: int) -> None:
        super().__init__(upstream=port)
        self.answered, self.release = threading.Event(), threading.Event()

    def _forward(self, path: str, body: bytes) -> tuple[int, bytes] | None:
        answer = super()._forward(path, body)
        self.answered.set()
        assert self.release.wait(PATIENCE)
        return answer


def test_a6_killed_between_sending_and_the_answer(tmp_path: Path) -> None:
    """What was in flight is sent again with the same id and bytes, and counted once."""
    locked = load()
    (tmp_path / "metrics.lock").write_text(dump(locked), "utf-8")
    start = locked.metrics["load.late"].windows.start(locked.metrics["load.late"].life[5])

    def device(capture: Capture) -> Client:
        endpoint, clock = capture.endpoint("one"), FileClock(tmp_path / "clock")
        folder = tmp_path / "device"
        return Client(locked, endpoint, policy="research", state_dir=folder, clock=clock, background=False)

    with Serving(tmp_path, locked, now=start) as served, Holding(served.port) as capture:
        first = device(capture)
        first.add("load.late", True)
        first.close()
        served.clock.set(start + HOUR)
        command = [sys.executable, "-m", "tests.e2e.crash_device", "flushing", capture.endpoint("one")]
        files = [str(tmp_path / name) for name in ("device", "clock", "metrics.lock")]
        process = subprocess.Popen([*command, *files], cwd=ROOT)
        try:
            assert capture.answered.wait(PATIENCE)
        finally:
            os.kill(process.pid, signal.SIGKILL)
            process.wait()
        capture.release.set()
        (in_flight,) = capture.sent
        second = device(capture)
        assert second.flush()
        assert second.counters == {"accepted": 1, "duplicate": 1}
        second.close()
        assert in_flight in capture.sent[1:]
        assert len({report_of(body)["id"] for _, body in capture.sent}) == 2
    with open_store(served.store) as store:
        assert store.counters() == {"accepted": 2, "duplicate": 1}
        assert sum(cell.summary.n for cell in store.cells()) == 2


def test_a4_two_processes_on_one_folder(tmp_path: Path) -> None:
    """The second one says so clearly and sends nothing; the first loses nothing."""
    (tmp_path / "metrics.lock").write_text(dump(lock(HOURLY)), "utf-8")
    code = (
        "import sys; from hubbub.client import Client, StateError\n"
        "try: Client(sys.argv[1], 'http://127.0.0.1:9', policy='research', state_dir=sys.argv[2])\n"
        "except StateError as error: sys.exit(str(error))"
    )
    with chain(tmp_path, lock(HOURLY)) as whole:
        state = SqliteState(tmp_path / "device")
        device, clock, network = whole.device(state=state)
        device.add(HOURLY.name, 1)
        command = [sys.executable, "-c", code, str(tmp_path / "metrics.lock"), str(tmp_path / "device")]
        second = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)
        assert second.returncode == 1
        assert "in use by another process" in second.stderr
        clock.set(STARTS + HOUR)
        whole.clock.set(STARTS + HOUR)
        assert device.flush()
        assert whole.stored().total() == len(network.tried) == 1
        state.close()


def test_a11_host_goes_on_while_another_program_holds_the_database(tmp_path: Path) -> None:
    """Nothing is raised, each call returns, what could not be kept is counted; later all goes on."""
    with chain(tmp_path, lock(HOURLY)) as whole:
        state = SqliteState(tmp_path / "device")
        device, clock, network = whole.device(state=state)
        code = (
            "import sqlite3, sys; db = sqlite3.connect(sys.argv[1], isolation_level=None)\n"
            "db.execute('BEGIN EXCLUSIVE'); print('held', flush=True); sys.stdin.read()"
        )
        command = [sys.executable, "-c", code, str(tmp_path / "device" / "state.db")]
        holder = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        try:
            assert holder.stdout is not None
            assert holder.stdout.readline() == "held\n"
            began = time.monotonic()
            for _ in range(3):
                device.add(HOURLY.name, 1)
            assert time.monotonic() - began < PATIENCE  # not for as long as it is held
            assert device.counters["storage_busy"] == 3
        finally:
            holder.communicate()
        device.add(HOURLY.name, 1)
        clock.set(STARTS + HOUR)
        whole.clock.set(STARTS + HOUR)
        assert device.flush()
        assert whole.stored().total() == len(network.tried) == 1
        state.close()
