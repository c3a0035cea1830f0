"""The ingest application: `POST /v1/reports` as a bare ASGI callable, the rest beside it through a small router.

A report is acknowledged when the transaction that holds it is durable, and not before. What is stored of a request are
its reports: no address, user agent or time (of order at rest: docs/explanation/known-limits.md).
"""

import os
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import msgspec
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from hubbub.clock import Clock, SystemClock
from hubbub.collector import body, validate
from hubbub.collector.stopped import Stopped
from hubbub.collector.writer import Writer
from hubbub.errors import HubbubError
from hubbub.lock import Lock
from hubbub.serving import contract
from hubbub.serving.answers import mode, with_headers
from hubbub.serving.problems import HANDLERS, PROBLEM_JSON, RequestError, unavailable
from hubbub.store import Entry, Report, Store, StoreError
from hubbub.store.catalogue import Catalogue

REPORTS = "/v1/reports"
_LONGEST_ECHO = 64  # characters of an id that an answer repeats
_JSON = "application/json"

_Checked = tuple[Report | contract.Code, str | None]  # and the id that an answer repeats


def create_app(
    store: Store,
    locks: Sequence[Lock],
    *,
    clock: Clock | None = None,
    stopped: str | os.PathLike[str] | None = None,
) -> ASGIApp:
    """The application that takes reports of the metrics in `locks` into `store`.

    Several locks are the releases of an app in use side by side. The store keeps their metrics; it stays open when the
    application ends.

    Args:
        store: Where the reports go.
        locks: What they are held against.
        clock: What decides that a report is early or late; the machine's by default.
        stopped: A TOML file that lets metrics end early.

    Raises:
        LockError: The locks do not fit each other or what the store holds.
        StoppedError: The file cannot be used.
        StoreError: The store cannot be written.
    """
    catalogue = Catalogue(Entry(lock.collection, metric) for lock in locks for metric in lock.metrics.values())
    ends = Stopped(stopped, lambda name: name in catalogue)
    for lock in locks:
        store.accept(lock)
    return with_headers(_Collector(catalogue, ends, store, clock or SystemClock()), mode(store))


class _Collector:
    def __init__(self, catalogue: Catalogue, stopped: Stopped, store: Store, clock: Clock) -> None:
        self._catalogue = catalogue
        self._stopped = stopped
        self._writer = Writer(store)
        self._clock = clock
        self._budget = body.Budget()
        self._mode = contract.mode_of(store)
        self._simulated = contract.simulated(store, clock)
        self._others = Starlette(
            routes=[
                Route("/v1/stopped", self._ending),
                Route("/healthz", self._health),
                Route("/readyz", self._ready),
            ],
            exception_handlers=HANDLERS,
            lifespan=self._lifespan,
        )
        self._others.router.redirect_slashes = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["path"] == REPORTS:
            await self._ingest(scope, receive, send)
        else:
            await self._others(scope, receive, send)

    async def _ingest(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            if scope["method"] != "POST":
                raise RequestError(405, "method_not_allowed", "reports are posted", {"allow": "POST"})
            answer = await self._take(self._check(await body.read(scope["headers"], receive, self._budget)))
        except body.DisconnectedError:
            return
        except RequestError as problem:
            self._writer.note_problem(problem.code)
            await _send(send, problem.status, problem.body(), {"content-type": PROBLEM_JSON, **problem.headers})
        else:
            await _send(send, 200, msgspec.json.encode(answer), {"content-type": _JSON})

    def _check(self, text: bytes) -> list[_Checked]:
        """Each item of a body as a report, or why it is none; nothing else of the body stays in memory."""
        items = body.items(text)
        try:
            now = self._clock.now()
        except HubbubError:
            raise unavailable("the collector's clock cannot be read") from None
        self._stopped.refresh()
        return [(validate.check(item, self._catalogue, now, self._stopped.ends), _id(item)) for item in items]

    async def _take(self, checked: list[_Checked]) -> contract.Answer:
        """Store the reports, and say what became of the others."""
        reports = [report for report, _ in checked if isinstance(report, Report)]
        try:
            outcomes = iter(await self._writer.write(reports) if reports else ())
        except StoreError:
            raise unavailable("the store cannot be written") from None
        answer = contract.Answer(0, [])
        for index, (report, id_) in enumerate(checked):
            if isinstance(report, str):
                self._writer.note(report)
                answer.results.append(_refusal(index, id_, report))
                continue
            match next(outcomes):
                case "accepted":
                    answer.accepted += 1
                case "duplicate":
                    answer.results.append(contract.Result(index, id_, "duplicate"))
                case "conflict":
                    answer.results.append(_refusal(index, id_, "conflict"))
        return answer

    async def _ending(self, request: Request) -> Response:
        self._stopped.refresh()
        return _json(contract.Stopped(dict(self._stopped.dates)))

    async def _health(self, request: Request) -> Response:
        return _json(contract.Health("alive", self._mode, self._simulated))

    async def _ready(self, request: Request) -> Response:
        try:
            await self._writer.write(())
        except StoreError:
            raise unavailable("the store cannot be written") from None
        return _json(contract.Health("ready", self._mode))

    @asynccontextmanager
    async def _lifespan(self, app: Starlette) -> AsyncIterator[None]:
        yield
        await self._writer.close()


def _id(item: Any) -> str | None:
    """The id that an item names, as far as an answer repeats it."""
    id_ = item.get("id") if isinstance(item, dict) else None
    return id_ if isinstance(id_, str) and len(id_) <= _LONGEST_ECHO else None


def _refusal(index: int, id_: str | None, code: contract.Code) -> contract.Result:
    return contract.Result(index, id_, "retry" if code == "too_early" else "rejected", code)


def _json(answer: msgspec.Struct) -> Response:
    return Response(msgspec.json.encode(answer), headers={"cache-control": "no-store"}, media_type=_JSON)


async def _send(send: Send, status: int, content: bytes, headers: dict[str, str]) -> None:
    fields = {"content-length": str(len(content)), **headers}
    raw = [(name.encode(), value.encode()) for name, value in fields.items()]
    await send({"type": "http.response.start", "status": status, "headers": raw})
    await send({"type": "http.response.body", "body": content})
