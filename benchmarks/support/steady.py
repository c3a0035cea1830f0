"""Steady devices through the real wire: a client each, one report in each request, `hubbub serve`, a SQLite store.

Each device draws its secret from the system, is born within a window, which it does not report, and holds the same
value in the two that follow. Once a window has ended it posts what it sealed, as devices do: each report in a request
of its own, over a connection that no other device uses. A relay that mixes batches would leave the same rows, so there
is none. The collector is another process, which follows the devices' clock.

What its store has that grows with the devices is the table `reports` with the columns `window_id` (metric, encoding
hash and window), `id`, `segment` (public values of dimensions, of which these metrics have none) and `payload`. Its
rows have no number of their own and are kept by id, so nothing says in which order they came. Everything else is a row
for each window, metric, category or kind of answer.
"""

import json
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from hubbub.client import Client, HttpTransport, MemoryState, Response
from hubbub.clock import FileClock, ManualClock
from hubbub.collector.validate import signed
from hubbub.lock import Lock, dump
from hubbub.replay.collector import Collector
from hubbub.replay.devices import middle, nobodys
from hubbub.store import Report, WindowKey, open_store

THREADS = 16  # that post at once: mostly they wait for the collector's disk
POST_SECONDS = 120.0  # that one device may take
_TAKEN = {"accepted", "duplicate"}  # the latter where an answer was lost
STORE = "store.db"  # in the folder of a run

Given = Mapping[str, object]  # what an app gives, by metric


@dataclass(frozen=True)
class Seen:
    """Two windows of one metric.

    Attributes:
        first: The rows of the first window, as the store gives them.
        second: Those of the second.
        partner: Of each row of the second the place of the same device's in the first. No store knows it: it is told
            by what left the devices.
        devices: Of each row of the first window the device, a number that is the same for all metrics; no store knows
            it either.
    """

    first: Sequence[Report]
    second: Sequence[Report]
    partner: Sequence[int]
    devices: Sequence[int]


class _Device:
    """A client, and the transport that it sends through."""

    def __init__(self, lock: Lock, endpoint: str, clock: ManualClock) -> None:
        self.sent: list[tuple[WindowKey, int]] = []
        self._wire = HttpTransport(endpoint)
        self._client = Client(
            lock,
            endpoint,
            policy="research",
            state=MemoryState(),
            clock=clock,
            transport=self,
            background=False,
        )

    def post(self, body: bytes, timeout: float) -> Response:
        """Note whose report this is, and send it."""
        (report,) = json.loads(body)["reports"]
        self.sent.append((WindowKey(report["metric"], report["hash"], report["window"]), signed(report["id"])))
        return self._wire.post(body, timeout)

    def run(self, given: Given) -> None:
        """Seal the window that has ended, and record the values in the one that has begun."""
        self._client.tick()
        for name, value in given.items():
            self._client.set(name, value)

    def send(self) -> None:
        """Post what is sealed."""
        done = self._client.flush(POST_SECONDS)
        self._wire.close()
        if not done or self._client.counters.keys() - _TAKEN:
            raise RuntimeError(f"a device could not report: {dict(self._client.counters)}")


def reported(lock: Lock, held: Sequence[Given], folder: Path) -> dict[str, Seen]:
    """Let a device live for each of these values, and tell what the store holds, by metric.

    Noise is drawn by one thread, in the order of the devices; only the requests are made by several.

    Args:
        lock: Metrics with windows of the same length.
        held: What each device gives in either window, for every metric.
        folder: An empty one, for lock, clock and store.

    Raises:
        RuntimeError: A report was not taken, or the store does not hold what was sent.
    """
    metric = next(iter(lock.metrics.values()))
    (folder / "metrics.lock").write_text(dump(lock), "utf-8")
    ours, theirs = ManualClock(), FileClock(folder / "clock")

    def at(window: int) -> None:
        now = middle(metric.windows, window)
        ours.set(now)
        theirs.set(now)

    born, *windows, after = metric.life[:4]
    at(born)
    with (
        Collector(folder / "metrics.lock", folder / STORE, folder / "clock") as collector,
        ThreadPoolExecutor(THREADS) as threads,
        nobodys(),
    ):
        devices = [_Device(lock, collector.endpoint, ours) for _ in held]
        for window in (*windows, after):
            at(window)
            for device, given in zip(devices, held, strict=True):
                device.run(given)
            list(threads.map(_Device.send, devices))
    return _seen(lock, windows, devices, folder / STORE)


def _seen(lock: Lock, windows: Sequence[int], devices: Sequence[_Device], path: Path) -> dict[str, Seen]:
    whose = {key: number for number, device in enumerate(devices) for key in device.sent}
    found = {}
    with open_store(path, read_only=True) as store:
        stored: dict[str, list[list[Report]]] = {name: [] for name in lock.metrics}
        for key in store.windows():
            stored[key.metric].append(store.reports(key))
        for name, parts in stored.items():
            owners = [[whose.get((row.key, row.id), -1) for row in rows] for rows in parts]
            if [sorted(part) for part in owners] != [list(range(len(devices)))] * len(windows):
                raise RuntimeError(f"{name}: the store does not hold one report of each device and window")
            place = {device: row for row, device in enumerate(owners[0])}
            first, second = parts
            found[name] = Seen(first, second, [place[device] for device in owners[1]], owners[0])
    return found
