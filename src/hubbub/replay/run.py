"""Replay a table of real values through real devices, HTTP and a collector, and lay truth beside estimate."""

import json
import os
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from hubbub.client import Client, HttpTransport, MemoryState, Response, Transport
from hubbub.clock import FileClock
from hubbub.encoders.base import Answer
from hubbub.errors import HubbubError, ParameterError
from hubbub.estimates import Row, rows
from hubbub.lock import Lock, Metric, dump
from hubbub.mechanisms import of_metric
from hubbub.replay.collector import Collector
from hubbub.replay.table import Table
from hubbub.store import open_store
from hubbub.windows import iso

LEVEL = 0.95
_TRY_SECONDS = 2.0  # that one device waits for the collector
_PATIENCE = 60.0  # seconds that the last reports may take
Progress = Callable[[int], None]  # device-windows replayed since the last call


@dataclass(frozen=True)
class Outcome:
    """One window: what was true, and what the collector could tell."""

    window_start: str
    truth: float
    truth_clipped: float
    n: int
    state: str
    value: float | None
    ci_low: float | None
    ci_high: float | None

    @property
    def holds(self) -> bool | None:
        """Whether the interval holds the truth that the metric can see, the clipped one; None without an interval."""
        if self.ci_low is None or self.ci_high is None:
            return None
        return self.ci_low <= self.truth_clipped <= self.ci_high


@dataclass(frozen=True)
class Trace:
    """One device's own view of a window, as only it could show it."""

    window_start: str
    value: float
    answer: Answer
    sent: str | None  # None: it was not the device's turn


class Recorder:
    """A transport that remembers what one device sent: its own payloads, by window."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport
        self.sent: dict[int, str] = {}

    def post(self, body: bytes, timeout: float) -> Response:
        """Send on, and remember."""
        for report in json.loads(body)["reports"]:
            self.sent[report["window"]] = report["payload"]
        return self._transport.post(body, timeout)


@dataclass(frozen=True)
class Replay:
    """All that a replay has to tell."""

    metric: Metric
    outcomes: tuple[Outcome, ...]
    traces: tuple[Trace, ...]
    reports: int
    seconds: float
    restarts: int


def replay(
    table: Table,
    metric: Metric,
    lock: Lock,
    *,
    store: Path | None = None,
    progress: Progress = lambda steps: None,
    meanwhile: Callable[[Replay, str, Path], None] = lambda result, endpoint, store: None,
) -> Replay:
    """Give each device of the table its own client and let it report to a collector started for the purpose.

    Devices are born a window before the data, run only in windows in which they have a row, and once more after the
    last one, so that every report is sent. Both sides follow one simulated clock.

    Args:
        table: Real values by window and device.
        metric: Which metric they are for.
        lock: The lock that the devices and the collector share.
        store: Where the collector keeps its store, a file that is not there yet; a temporary folder by default.
        progress: Called as device-windows go by.
        meanwhile: Called with the result, the collector's address and its store while the collector still runs.

    Raises:
        HubbubError: The collector cannot be reached, or refuses reports.
        ParameterError: There is something at `store`.
    """
    if store is not None and store.exists():
        raise ParameterError("store", str(store), "a file that is not there yet, so that no other reports are counted")
    lock = Lock(lock.collection, {metric.name: metric})  # the table says nothing of other metrics
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="hubbub-") as folder:
        lock_path, clock_path = Path(folder, "metrics.lock"), Path(folder, "clock")
        lock_path.write_text(dump(lock), "utf-8")
        store_path = store or Path(folder, "hubbub.db")
        clock = FileClock(clock_path)
        clock.set(_middle(metric, min(table.windows) - 1))  # born within a window, which is then not reported
        with Collector(lock_path, store_path, clock_path) as collector:
            traces = _run(table, metric, lock, collector, clock, progress)
            final = metric.windows.end(max(table.windows)) + metric.grace
            with open_store(store_path, read_only=True) as opened:
                found = rows(opened, now=final, metric=metric.name, level=LEVEL)
            outcomes = _outcomes(table, metric, found)
            seconds = time.monotonic() - began
            result = Replay(metric, outcomes, traces, sum(o.n for o in outcomes), seconds, collector.restarts)
            meanwhile(result, collector.endpoint, store_path)
        return result


def _run(
    table: Table, metric: Metric, lock: Lock, collector: Collector, clock: FileClock, progress: Progress
) -> tuple[Trace, ...]:
    def device_with(transport: Transport) -> Client:
        return Client(
            lock,
            collector.endpoint,
            policy="research",
            state=MemoryState(),
            clock=clock,
            transport=transport,
            background=False,
        )

    os.environ.pop("DO_NOT_TRACK", None)  # these devices are nobody's
    transport = HttpTransport(collector.endpoint)
    clients = {device: device_with(transport) for device in table.devices}
    shown = _most_seen(table)
    recorder = Recorder(transport)
    clients[shown] = device_with(recorder)
    answers: list[tuple[int, float, Answer]] = []
    for window, values in table.windows.items():
        clock.set(_middle(metric, window))
        for device, value in values.items():
            client = clients[device]
            client.set(metric.name, bool(value) if metric.kind == "boolean" else value)
            if device == shown:
                answers.append((window, value, client.preview(metric.name, value).answer))
            if not client.flush(timeout=_TRY_SECONDS):
                collector.revive()
            progress(1)
    clock.set(metric.windows.end(max(table.windows)))
    _drain(list(clients.values()), collector)
    transport.close()
    return tuple(Trace(_day(metric, w), value, answer, recorder.sent.get(w)) for w, value, answer in answers)


def _drain(clients: list[Client], collector: Collector) -> None:
    deadline = time.monotonic() + _PATIENCE
    while clients := [client for client in clients if not client.flush(timeout=_TRY_SECONDS)]:
        if not collector.revive() and time.monotonic() > deadline:
            raise HubbubError(f"the collector does not take the last reports of {len(clients)} devices")


def _most_seen(table: Table) -> str:
    """The device with a row in most windows: the one whose own bits are shown."""
    seen: dict[str, int] = {}
    for row in table.windows.values():
        for device in row:
            seen[device] = seen.get(device, 0) + 1
    return max(seen, key=lambda device: seen[device])


def _outcomes(table: Table, metric: Metric, found: list[Row]) -> tuple[Outcome, ...]:
    by_start: Mapping[str, Row] = {row.window_start: row for row in found}
    mechanism = of_metric(metric)
    outcomes = []
    for window in table.windows:
        values = table.truth(window)
        clipped = [float(mechanism.truth(int(value))) for value in mechanism.index(values)]
        start = _day(metric, window)
        row = by_start.get(start)  # none before the first window that brought a report
        told = (0, "empty", None, None, None) if row is None else (row.n, row.state, row.value, row.ci_low, row.ci_high)
        outcomes.append(Outcome(start, float(values.mean()), sum(clipped) / len(clipped), *told))
    return tuple(outcomes)


def _middle(metric: Metric, window: int) -> float:
    """When devices run in a window."""
    return metric.windows.start(window) + metric.windows.length / 2


def _day(metric: Metric, window: int) -> str:
    return iso(metric.windows.start(window))
