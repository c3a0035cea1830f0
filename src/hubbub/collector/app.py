"""The ingest application: `POST /v1/reports` as a bare ASGI callable, health beside it through a small router.

A report is acknowledged when the transaction that holds it is durable, and not before. What is stored of a request are
its reports: no address, user agent, time or order.
"""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import msgspec
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from hubbub.clock import Clock, SystemClock
from hubbub.collector import body, validate
from hubbub.collector.problems import PROBLEM_JSON, RequestError, unavailable
from hubbub.collector.writer import Writer
from hubbub.errors import HubbubError
from hubbub.lock import Lock
from hubbub.store import Entry, Report, Store, StoreError
from hubbub.store.catalogue import Catalogue

REPORTS = "/v1/reports"
_LONGEST_ECHO = 64  # characters of an id that an answer repeats


def create_app(store: Store, locks: Sequence[Lock], *, clock: Clock | None = None) -> ASGIApp:
    """The application that takes reports of the metrics in `locks` into `store`.

    Several locks are the releases of an app in use side by side. The store keeps their metrics; it stays open when the
    application ends.

    Raises:
        LockError: The locks do not fit each other or what the store holds.
        StoreError: The store cannot be written.
    """
    for lock in locks:
        store.accept(lock)
    catalogue = Catalogue(Entry(lock.collection, metric) for lock in locks for metric in lock.metrics.values())
    return _Collector(catalogue, Writer(store), clock or SystemClock())


class _Collector:
    def __init__(self, catalogue: Catalogue, writer: Writer, clock: Clock) -> None:
        self._catalogue = catalogue
        self._writer = writer
        self._clock = clock
        self._others = Starlette(
            routes=[Route("/healthz", _health), Route("/readyz", self._ready)],
            exception_handlers={HTTPException: _refused},
            lifespan=self._lifespan,
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["path"] == REPORTS:
            await self._ingest(scope, receive, send)
        else:
            await self._others(scope, receive, send)

    async def _ingest(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            if scope["method"] != "POST":
                raise RequestError(405, "method_not_allowed", "reports are posted", {"allow": "POST"})
            text = await body.read(scope["headers"], receive)
            answer = await self._take(body.items(text))
        except body.DisconnectedError:
            return
        except RequestError as problem:
            await _send(send, problem.status, problem.body(), {"content-type": PROBLEM_JSON, **problem.headers})
        else:
            await _send(send, 200, msgspec.json.encode(answer), {"content-type": "application/json"})

    async def _take(self, items: list[Any]) -> dict[str, Any]:
        """Store those of the items that are reports, and say what became of the others."""
        try:
            now = self._clock.now()
        except HubbubError:
            raise unavailable("the collector's clock cannot be read") from None
        checked = [validate.check(item, self._catalogue, now) for item in items]
        reports = [report for report in checked if isinstance(report, Report)]
        try:
            outcomes = iter(await self._writer.write(reports) if reports else ())
        except StoreError:
            raise unavailable("the store cannot be written") from None
        accepted, results = 0, []
        for index, (item, report) in enumerate(zip(items, checked, strict=True)):
            if isinstance(report, str):
                self._writer.note(report)
                results.append(_refusal(index, item, report))
                continue
            match next(outcomes):
                case "accepted":
                    accepted += 1
                case "duplicate":
                    results.append({"index": index, "id": item["id"], "status": "duplicate"})
                case "conflict":
                    results.append(_refusal(index, item, "conflict"))
        return {"accepted": accepted, "results": results}

    async def _ready(self, request: Request) -> Response:
        try:
            await self._writer.write(())
        except StoreError:
            problem = unavailable("the store cannot be written")
            return Response(problem.body(), problem.status, problem.headers, PROBLEM_JSON)
        return JSONResponse({"status": "ready"})

    @asynccontextmanager
    async def _lifespan(self, app: Starlette) -> AsyncIterator[None]:
        yield
        await self._writer.close()


def _refusal(index: int, item: Any, code: validate.Code) -> dict[str, Any]:
    id_ = item.get("id") if isinstance(item, dict) else None
    known = id_ if isinstance(id_, str) and len(id_) <= _LONGEST_ECHO else None
    return {"index": index, "id": known, "status": "retry" if code == "too_early" else "rejected", "code": code}


async def _health(request: Request) -> Response:
    return JSONResponse({"status": "alive"})


async def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    code = "method_not_allowed" if error.status_code == 405 else "not_found"
    problem = RequestError(error.status_code, code, error.detail, dict(error.headers or {}))
    return Response(problem.body(), problem.status, problem.headers, PROBLEM_JSON)


async def _send(send: Send, status: int, content: bytes, headers: dict[str, str]) -> None:
    fields = {"content-length": str(len(content)), **headers}
    raw = [(name.encode(), value.encode()) for name, value in fields.items()]
    await send({"type": "http.response.start", "status": status, "headers": raw})
    await send({"type": "http.response.body", "body": content})
