"""A device that is killed at any moment: nothing recorded is lost, no window leaves twice with different bytes."""

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from random import Random

from hubbub.client import Client, Response, SqliteState
from hubbub.clock import FileClock
from hubbub.encoders.base import SCALE
from hubbub.wire import unpack
from tests.unit.client_support import ACCEPTED, STARTS, Plain, client, lock, metric, report_of

ROOT = Path(__file__).parents[2]
KILLS = 12
TICKS = 100_000
METRIC = metric(encoder=Plain(TICKS + 1), window="hour")
STEP = 600.0  # simulated seconds between two calls of `add`: six in a window


class Capture:
    """A transport that notes each body in an append-only file before it answers, half the time with a failure."""

    def __init__(self, folder: Path, seed: int) -> None:
        self._file = os.open(folder / "sent", os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        self._random = Random(seed)

    def post(self, body: bytes, timeout: float) -> Response:
        os.write(self._file, body + b"\n")
        if self._random.random() < 0.5:
            raise ConnectionResetError
        return ACCEPTED


def made(state: SqliteState, clock: FileClock, capture: Capture) -> Client:
    return client(lock(METRIC), clock, state=state, transport=capture)


def run(folder: Path, seed: int) -> None:
    """A device's life: it goes on from where the last process was killed, adding one every ten simulated minutes."""
    clock = FileClock(folder / "clock")
    device = made(SqliteState(folder / "state"), clock, Capture(folder, seed))
    journal = os.open(folder / "journal", os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(journal, b"alive\n")
    while True:
        clock.set(clock.now() + STEP)
        hour = METRIC.windows.index(clock.now())
        os.write(journal, b"begin %d\n" % hour)
        device.add(METRIC.name, 1)
        os.write(journal, b"end %d\n" % hour)
        device.flush()


def test_kill_at_random_moments(tmp_path: Path) -> None:
    random = Random(20261201)
    FileClock(tmp_path / "clock").set(STARTS)
    journal = tmp_path / "journal"
    journal.touch()
    code = "import sys, pathlib, tests.unit.test_client_kill as t; t.run(pathlib.Path(sys.argv[1]), int(sys.argv[2]))"
    for kill in range(KILLS):
        before = journal.stat().st_size
        child = subprocess.Popen([sys.executable, "-c", code, str(tmp_path), str(kill)], cwd=ROOT)
        try:
            deadline = time.monotonic() + 60
            while journal.stat().st_size == before:
                assert child.poll() is None
                assert time.monotonic() < deadline
                time.sleep(0.001)
            time.sleep(random.uniform(0, 0.15))
        finally:
            child.send_signal(signal.SIGKILL)
            assert child.wait() == -signal.SIGKILL

    clock = FileClock(tmp_path / "clock")
    state = SqliteState(tmp_path / "state")
    device = made(state, clock, Capture(tmp_path, KILLS))
    assert "state_restored" not in device.counters
    hours = range(METRIC.windows.index(STARTS), METRIC.windows.index(clock.now()) + 1)
    clock.set(METRIC.windows.end(hours[-1]))
    while not device.flush():
        pass
    state.close()
    assert not list((tmp_path / "state").glob("*corrupt*"))

    lines = journal.read_text().splitlines()
    begun = Counter(int(line.split()[1]) for line in lines if line.startswith("begin"))
    ended = Counter(int(line.split()[1]) for line in lines if line.startswith("end"))
    assert begun.total() > KILLS  # the killed processes did live

    payloads: dict[int, set[str]] = {}
    for body in (tmp_path / "sent").read_bytes().splitlines():
        report = report_of(body)
        payloads.setdefault(report["window"], set()).add(report["payload"])
    assert sorted(payloads) == list(hours)
    assert {len(seen) for seen in payloads.values()} == {1}
    for hour, (payload,) in payloads.items():
        (value, _) = unpack(payload, (TICKS + 1, SCALE))
        assert ended[hour] <= value <= begun[hour]
