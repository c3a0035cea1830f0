"""The whole chain in one process: real clients, ingest application and store; only the network is left out.

Device and collector each have a clock of their own, since many scenarios are about clocks that differ.
"""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from starlette.types import ASGIApp, Message, Scope

from hubbub.client import Client, MemoryState, Response, State
from hubbub.clock import ManualClock
from hubbub.collector import create_app
from hubbub.estimates import Row, rows
from hubbub.lock import Lock
from hubbub.store import Store, open_store
from tests.fixtures.scene import Bridge, exchange
from tests.unit.client_support import STARTS, client, report_of
from tests.unit.collecting import JSON, Answer, ask

Meddle = Callable[[bytes, Callable[[bytes], Response]], Response]


class Network:
    """A transport to the collector that notes every body, and may be down, lose answers, or meddle with them."""

    def __init__(self, bridge: Bridge, meddle: Meddle | None = None) -> None:
        self._bridge, self._meddle = bridge, meddle
        self.up = True
        self.tried: list[bytes] = []

    def post(self, body: bytes, timeout: float) -> Response:
        if not self.up:
            raise ConnectionRefusedError
        self.tried.append(body)
        if self._meddle is None:
            return self._bridge.post(body, timeout)
        return self._meddle(body, lambda passed: self._bridge.post(passed, timeout))

    @property
    def reports(self) -> list[dict[str, Any]]:
        """The report of each body that was tried while the network was up."""
        return [report_of(body) for body in self.tried]


class Chain:
    """A collector and its store, to which devices are added."""

    def __init__(self, store: Store, locked: Lock, collector_lock: Lock) -> None:
        self.store, self.lock = store, locked
        self.clock = ManualClock(STARTS)
        self._app = create_app(store, [collector_lock], clock=self.clock)

    def network(self, meddle: Meddle | None = None) -> Network:
        return Network(Bridge(self._app), meddle)

    def device(
        self,
        network: Network | None = None,
        *,
        now: float = STARTS,
        state: State | None = None,
        lock: Lock | None = None,
        **more: Any,
    ) -> tuple[Client, ManualClock, Network]:
        """A device that is born at `now` by its clock."""
        clock, network = ManualClock(now), network or self.network()
        state = state or MemoryState()
        return client(lock or self.lock, clock, state=state, transport=network, **more), clock, network

    def stored(self) -> Counter[tuple[str, int]]:
        """Reports in the store, by metric and window."""
        keys = self.store.windows()
        return Counter({(key.metric, key.window): len(self.store.reports(key)) for key in keys})

    def counters(self) -> dict[str, int]:
        """What the collector counted so far; what it refused is on the disk with the next commit."""
        asyncio.run(ask(self._app, method="GET", path="/readyz"))
        return self.store.counters()

    def post(self, content: bytes) -> Answer:
        """One request that no client of ours makes."""
        return exchange(self._app, content, JSON)

    def rows(self) -> list[Row]:
        """All estimates as they stand by the collector's clock."""
        return rows(self.store, now=self.clock.now())


def read(app: ASGIApp, path: str) -> tuple[int, str]:
    """Status and text of what the read application shows."""
    scope: Scope = {
        "type": "http",
        "method": "GET",
        "path": path,
        "query_string": b"",
        "headers": [(b"host", b"127.0.0.1")],
    }
    messages: list[Message] = []

    async def receive() -> Message:
        return {"type": "http.request", "body": b""}

    async def send(message: Message) -> None:
        messages.append(message)

    async def run() -> None:
        await app(scope, receive, send)

    asyncio.run(run())
    text = b"".join(message.get("body", b"") for message in messages[1:])
    return messages[0]["status"], text.decode()


@contextmanager
def chain(folder: Path, locked: Lock, *, collector_lock: Lock | None = None) -> Iterator[Chain]:
    """A collector for this lock, or one that has another than the devices."""
    with open_store(folder / "store.db") as store:
        yield Chain(store, locked, collector_lock or locked)
