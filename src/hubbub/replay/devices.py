"""The devices of a table: one client each, with a secret of its own, born before the data and run where it has rows."""

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from hubbub.client import Client, MemoryState, Transport
from hubbub.client.consent import FORBIDDING
from hubbub.clock import ManualClock
from hubbub.errors import ParameterError
from hubbub.lock import Lock, Metric
from hubbub.replay.saved import Key, Saved
from hubbub.replay.table import Table
from hubbub.windows import Windows

MAX_CROWD, MAX_DEVICES = 1000, 1_000_000
_TRY_SECONDS = 60.0  # that one device may take; its reports go no further than this process


@dataclass(frozen=True)
class Fleet:
    """Devices, what each of them measures, and how many pretend ones stand for each.

    Args:
        tables: What is true, by metric; all with the same devices in the same windows.
        crowd: Devices with secrets of their own and the same values, for each device of the tables; more than one is a
            pretence, and whoever shows it says so.

    Raises:
        ParameterError: Tables that differ in their devices, or too many of them.
    """

    tables: Mapping[str, Table]
    crowd: int = 1

    def __post_init__(self) -> None:
        if not 1 <= self.crowd <= MAX_CROWD:
            raise ParameterError("crowd", self.crowd, f"in [1, {MAX_CROWD}]")
        if self.devices > MAX_DEVICES:
            few = f"such that there are at most {MAX_DEVICES} devices, not {self.devices}"
            raise ParameterError("crowd", self.crowd, few)
        ran = {window: row.keys() for window, row in self.table.windows.items()}
        for name, table in self.tables.items():
            if {window: row.keys() for window, row in table.windows.items()} != ran:
                raise ParameterError("tables", name, "a table with the same devices in the same windows as the others")

    @property
    def table(self) -> Table:
        """One of the tables, for what they have in common."""
        return next(iter(self.tables.values()))

    @property
    def devices(self) -> int:
        """How many there are, the whole crowd."""
        return len(self.table.devices) * self.crowd

    @property
    def runs(self) -> int:
        """How often devices run: in each window in which they have a row, and once more in the end."""
        return self.table.rows * self.crowd + self.devices


def middle(cut: Windows, window: int) -> float:
    """When devices run in a window."""
    return cut.start(window) + cut.length / 2


@contextmanager
def nobodys() -> Iterator[None]:
    """While devices are made that are nobody's: what the environment forbids is not meant for them."""
    held = {name: os.environ.pop(name) for name in FORBIDDING if name in os.environ}
    try:
        yield
    finally:
        os.environ.update(held)


class Devices:
    """The clients of a fleet. Each is made when its device first runs, with the birth that all of them have.

    Args:
        fleet: What they measure.
        lock: The definitions.
        transport: What they send through.
        clock: What tells them the time; it is set back while one is born.
        saved: Where devices of an earlier run are taken up from.
        watched: A device whose first client sends through another transport.
    """

    def __init__(
        self,
        fleet: Fleet,
        lock: Lock,
        transport: Transport,
        clock: ManualClock,
        *,
        saved: Saved | None = None,
        watched: tuple[str, Transport] | None = None,
    ) -> None:
        self._fleet = fleet
        self._metrics: dict[str, Metric] = {name: lock.metrics[name] for name in fleet.tables}
        self._lock = Lock(lock.collection, self._metrics)  # the tables say nothing of other metrics
        self._transport = transport
        self._clock = clock
        self._saved = saved
        self._watched = watched
        self._clients: dict[Key, Client] = {}
        self._states: dict[Key, MemoryState] = {}
        cut = next(iter(self._metrics.values())).windows
        # Within a window, which is then not reported: the first that is reported is the table's first.
        self._birth = middle(cut, min(fleet.table.windows) - 1)

    def run(self, window: int, progress: Callable[[int], None]) -> dict[Key, MemoryState]:
        """Every device that has a row runs, records it and sends what it has sealed; the states that changed."""
        changed = {}
        rows = {name: table.windows.get(window, {}) for name, table in self._fleet.tables.items()}
        booleans = {name for name, metric in self._metrics.items() if metric.kind == "boolean"}
        for device in self._fleet.table.windows.get(window, {}):
            values = [(name, bool(row[device]) if name in booleans else row[device]) for name, row in rows.items()]
            for copy in range(self._fleet.crowd):
                key = device, copy
                client = self._client(key)
                for name, value in values:
                    client.set(name, value)
                client.flush(_TRY_SECONDS)
                changed[key] = self._states[key]
            progress(self._fleet.crowd)
        return changed

    def end(self, progress: Callable[[int], None]) -> dict[Key, MemoryState]:
        """Every device runs once more and sends what is left."""
        for device in self._fleet.table.devices:
            for copy in range(self._fleet.crowd):
                self._client((device, copy)).flush(_TRY_SECONDS)
            progress(self._fleet.crowd)
        return self._states

    def client(self, device: str) -> Client:
        """The device's first client."""
        return self._client((device, 0))

    def _client(self, key: Key) -> Client:
        found = self._clients.get(key)
        if found is None:
            found = self._clients[key] = self._made(key)
        return found

    def _made(self, key: Key) -> Client:
        """The client of a device that was saved, which goes on now, or of a new one."""
        state = self._saved.state(key) if self._saved else None
        now = self._clock.now()
        if state is None:
            state = MemoryState()
            self._clock.set(self._birth)
        self._states[key] = state
        metric = next(iter(self._metrics.values()))
        cell = self._fleet.table.segment(key[0]).split("/")
        names = [name for name, _ in metric.dimensions]
        transport = self._transport
        if self._watched and key == (self._watched[0], 0):
            transport = self._watched[1]
        with nobodys():
            client = Client(
                self._lock,
                "http://127.0.0.1",  # where its transport sends is not its business
                policy="research",
                state=state,
                dimensions=dict(zip(names, cell, strict=False)),
                clock=self._clock,
                transport=transport,
                background=False,
            )
        self._clock.set(now)
        return client
