"""Collector and devices are killed at any moment, under load, while requests and answers get lost.

What the collector acknowledged is there, everything is there once, and no device ever says two things about a window.
Fifty kills; five hundred in `make test-slow`.
"""

import json
import os
import random
import re
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from hubbub.client import Client
from hubbub.clock import FileClock
from hubbub.lock import Lock, dump
from hubbub.mechanisms import registry
from hubbub.store import WindowKey, check, open_store
from hubbub.windows import midnight
from tests.e2e.capture import Capture, Exchange
from tests.unit.collecting import late, lock, minutes

ROOT = Path(__file__).parents[2]
COLLECTOR_SHARE = 0.3  # of the kills; the others hit devices
DEVICES = ("flushing-1", "flushing-2", "background-1", "background-2")
HOUR_SECONDS = 0.0024  # that a simulated hour takes for each of the kills, so that any number of them spans two weeks
LONGEST = 50 * 86_400.0  # simulated seconds at most, however slow the machine: less than devices keep a report
STEPS = 6  # in which the clock goes through it
LOST = 0.03  # of the requests, and again of the answers
PATIENCE = 60.0
STARTS, EXPIRES = "2026-01-01", "2027-01-31"
_LINE = re.compile(r"hubbub: listening on http://127\.0\.0\.1:([0-9]+)\n")


def load() -> Lock:
    """Two hourly metrics. The second is nearly all noise: encoded twice, it would differ every other time."""
    life: dict[str, Any] = {"window": "hour", "starts": STARTS, "expires": EXPIRES, "grace": 90 * 86_400}
    noisy = registry["randomized_response"].from_epsilon(0.01).encoder
    return lock(
        minutes(name="load.minutes", dimensions=(), **life),
        late(name="load.late", **{**life, "encoder": noisy}),
        collection="load",
    )


class Killed:
    """A process in a group of its own that is killed and started again."""

    def __init__(self, *command: str) -> None:
        self._command = [sys.executable, "-m", *command]
        self.process: subprocess.Popen[str] | None = None

    def start(self) -> None:
        self.process = subprocess.Popen(
            self._command, cwd=ROOT, stdout=subprocess.PIPE, text=True, start_new_session=True
        )

    def port(self) -> int:
        """What it listens on, once it says so."""
        assert self.process is not None
        assert self.process.stdout is not None
        found = _LINE.fullmatch(line := self.process.stdout.readline())
        assert found, line
        return int(found[1])

    def kill(self) -> None:
        """Kill all of it; it must have been alive."""
        process, self.process = self.process, None
        if process is not None:
            ended = process.poll()
            if ended is None:
                os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            assert ended is None, f"ended by itself with {ended}"


class Time(threading.Thread):
    """Simulated hours go by until it is stopped."""

    def __init__(self, clock: FileClock, start: float, pause: float) -> None:
        super().__init__()
        self._clock, self._now, self._last, self._pause = clock, start, start + LONGEST, pause
        self._end = threading.Event()
        clock.set(start)

    def run(self) -> None:
        while not self._end.wait(self._pause) and self._now < self._last:
            self._now += 3600 / STEPS
            self._clock.set(self._now)

    def stop(self) -> None:
        self._end.set()
        self.join()


@pytest.mark.parametrize("kills", [50, pytest.param(500, marks=pytest.mark.slow)])
def test_killed_at_any_moment(kills: int, tmp_path: Path) -> None:
    locked, start = load(), midnight(STARTS) + 5400.0
    path, clock_path, store_path = tmp_path / "metrics.lock", tmp_path / "clock", tmp_path / "store.db"
    path.write_text(dump(locked), "utf-8")
    clock = FileClock(clock_path)
    collector = Killed(
        *("hubbub", "serve", "--lock", str(path), "--store", str(store_path)),
        *("--port", "0", "--read-port", "0", "--clock", str(clock_path)),
    )
    with Capture(lost=LOST, seed=1) as capture, ExitStack() as last:
        devices = {
            name: Killed(
                *("tests.e2e.crash_device", name.partition("-")[0], capture.endpoint(name)),
                *(str(tmp_path / name), str(clock_path), str(path)),
            )
            for name in DEVICES
        }
        clock.set(start)
        for process in (collector, *devices.values()):
            last.callback(process.kill)
            process.start()
        capture.upstream = collector.port()
        hours = Time(clock, start, kills * HOUR_SECONDS / STEPS)
        hours.start()
        last.callback(hours.stop)
        killed = _havoc(kills, collector, devices, capture)
        hours.stop()
        for device in devices.values():
            device.kill()
        capture.lost = 0.0
        _drain(tmp_path, locked, capture, clock)
        last.close()

    assert killed.total() == kills
    assert len(killed) == 1 + len(DEVICES)  # nobody was spared
    _said_once(capture.sent)
    acknowledged = _acknowledged(capture.exchanges)
    known = {(metric.name, metric.hash[:32]) for metric in locked.metrics.values()}
    with open_store(store_path, read_only=True) as store:
        rows = Counter((*report.key, report.id % 2**64) for key in store.windows() for report in store.reports(key))
        assert {key[:2] for key in store.windows()} == known
        assert set(rows.values()) == {1}
        assert rows.keys() == acknowledged
        assert {key[3] for key in acknowledged} == {int(_report(body)["id"], 16) for _, body in capture.sent}
        assert check(store) == []
        assert sum(cell.summary.n for cell in store.cells()) == rows.total() == store.counters()["accepted"]
        # What is to be survived did happen: load, lost answers, the same bytes again.
        assert rows.total() > 200
        assert store.counters()["duplicate"] > 0
        assert capture.noted["lost back"] > 0


def _havoc(kills: int, collector: Killed, devices: dict[str, Killed], capture: Capture) -> Counter[str]:
    """Kill and start again, by a fixed schedule; how often each was hit."""
    schedule = random.Random(20261201)
    killed: Counter[str] = Counter()
    for number in range(kills):
        time.sleep(schedule.uniform(0, 0.4))
        victim = schedule.random()
        name = DEVICES[number % len(DEVICES)]
        if victim < COLLECTOR_SHARE:
            name = "collector"
            capture.upstream = 0
            collector.kill()
            collector.start()
            # Devices may be killed while it starts: what they sent meanwhile has failed.
            time.sleep(schedule.uniform(0, 0.2))
            capture.upstream = collector.port()
        else:
            devices[name].kill()
            devices[name].start()
        killed[name] += 1
    time.sleep(1.0)
    return killed


def _drain(folder: Path, locked: Lock, capture: Capture, clock: FileClock) -> None:
    """Each device once more, in this process, until it has nothing left to send."""
    clock.set(clock.now() + 3600)
    for name in DEVICES:
        device = Client(
            locked,
            capture.endpoint(name),
            policy="research",
            state_dir=folder / name,
            clock=clock,
            background=False,
        )
        deadline = time.monotonic() + PATIENCE
        while not device.flush(5.0):
            assert time.monotonic() < deadline, device.counters
        device.close()


def _report(body: bytes) -> dict[str, Any]:
    (report,) = json.loads(body)["reports"]
    assert isinstance(report, dict)
    return report


def _said_once(sent: list[tuple[str, bytes]]) -> None:
    """Each device sent one id and one payload for each window of a metric, and no two devices the same id."""
    said: dict[tuple[str, str, int], set[bytes]] = {}
    senders: dict[str, set[str]] = {}
    for device, body in sent:
        report = _report(body)
        said.setdefault((device, report["metric"], report["window"]), set()).add(body)
        senders.setdefault(report["id"], set()).add(device)
    assert {device for device, _, _ in said} == set(DEVICES)
    assert [key for key, bodies in said.items() if len(bodies) > 1] == []
    assert len(said) == len(senders)
    assert {len(devices) for devices in senders.values()} == {1}
    assert len(sent) > len(said)  # some were sent again, so there was something to find


def _acknowledged(exchanges: list[Exchange]) -> set[tuple[str, str, int, int]]:
    """What the collector said it has, whether or not the device came to hear of it."""
    found = set()
    for exchange in exchanges:
        if exchange.status == 200:
            answer, report = json.loads(exchange.answer), _report(exchange.body)
            outcomes = {result["status"] for result in answer["results"]}
            assert outcomes <= {"duplicate"}, answer
            assert answer["accepted"] + len(answer["results"]) == 1
            key = WindowKey(report["metric"], report["hash"], report["window"])
            found.add((*key, int(report["id"], 16)))
        else:
            assert exchange.status in (0, 503), exchange
    return found
