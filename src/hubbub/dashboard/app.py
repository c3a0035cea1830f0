"""The read application: metrics and their estimates as JSON, counters, the description of the interface.

There is no token, so it is for this machine alone: it answers under a loopback name only, which also keeps pages of the
web from reading it through a name of their own that leads here.
"""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Any

import msgspec
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from hubbub.clock import Clock, SystemClock
from hubbub.dashboard.counting import Counters
from hubbub.dashboard.publishing import Publisher
from hubbub.dashboard.queries import MEAN, SPAN, Parser, invalid, parameters
from hubbub.errors import HubbubError, ParameterError
from hubbub.estimates import Known, metrics, period, rows
from hubbub.serving import contract, openapi
from hubbub.serving.answers import SECURITY, mode, with_headers
from hubbub.serving.problems import HANDLERS, RequestError, unavailable
from hubbub.serving.settings import is_loopback
from hubbub.store import Store, StoreError
from hubbub.windows import iso, midnight, windows

INGEST, READ = "http://127.0.0.1:8377", "http://127.0.0.1:8378"


def create_app(
    store: Store,
    *,
    clock: Clock | None = None,
    table: Store | None = None,
    ingest: str = INGEST,
    read: str = READ,
) -> ASGIApp:
    """The application that shows what is in `store`, which it only reads.

    Args:
        store: Where the summaries are.
        clock: What decides which windows are open, provisional or final; the machine's by default.
        table: The same store, opened a second time for writing: its table `estimates` is then kept up to date.
        ingest: Where devices post, for the description of the interface.
        read: Where this application is, for the same.
    """
    clock = clock or SystemClock()
    publisher = None if table is None else Publisher(table, clock)
    reader = _Reader(store, clock, msgspec.json.encode(openapi.document({"ingest": ingest, "read": read})))
    routes = [
        Route("/v1/metrics", reader.metrics),
        Route("/v1/metrics/{name}/estimates", reader.estimates),
        Route("/v1/metrics/{name}/mean", reader.mean),
        Route("/metrics", reader.counters),
        Route("/openapi.json", reader.description),
        Route("/healthz", reader.health),
        Route("/readyz", reader.ready),
    ]
    app = Starlette(routes=routes, exception_handlers=HANDLERS, lifespan=_lifespan(publisher))
    app.router.redirect_slashes = False
    return with_headers(_Local(app), [*SECURITY, *mode(store)])


class _Reader:
    def __init__(self, store: Store, clock: Clock, description: bytes) -> None:
        self._store = store
        self._clock = clock
        self._description = description
        self._counters = Counters(store)

    def metrics(self, request: Request) -> Response:
        parameters(request, {})
        with _Refusing():
            now = self._clock.now()
            return _json([self._listed(known, now) for known in metrics(self._store)])

    def estimates(self, request: Request) -> Response:
        return self._asked(request, SPAN, rows)

    def mean(self, request: Request) -> Response:
        return self._asked(request, MEAN, period)

    def counters(self, request: Request) -> Response:
        with _Refusing():
            return Response(self._counters.text(), media_type=contract.PROMETHEUS)

    def description(self, request: Request) -> Response:
        return Response(self._description, media_type="application/json")

    async def health(self, request: Request) -> Response:
        return _json(contract.Health("alive", contract.mode_of(self._store)))

    def ready(self, request: Request) -> Response:
        with _Refusing():
            self._store.locks()
        return _json(contract.Health("ready", contract.mode_of(self._store)))

    def _asked(self, request: Request, parsers: Mapping[str, Parser], ask: Any) -> Response:
        name, wanted = request.path_params["name"], parameters(request, parsers)
        with _Refusing():
            now = self._clock.now()
            if all(known.name != name for known in metrics(self._store)):
                raise RequestError(404, "unknown_metric", "the store knows no metric of this name")
            try:
                return _json(ask(self._store, now=now, metric=name, **wanted))
            except ParameterError as error:
                if error.name == "metric":
                    raise RequestError(404, "no_windows", "no window of this metric has ended in this span") from None
                raise invalid(error) from None

    def _listed(self, known: Known, now: float) -> contract.Listed:
        cut = windows(known.window)
        window = min(cut.index(now), cut.inside(midnight(known.starts), midnight(known.expires)).stop) - 1
        start, end = cut.start(window), cut.end(window)
        found = [
            row
            for row in rows(self._store, now=now, metric=known.name, start=start, end=end)
            if (row.hash, row.version) == (known.hash, known.version)
        ]
        states = {row.segment: row.state for row in found}
        last = contract.Last(iso(start), iso(end), states) if states else None
        return contract.Listed(**msgspec.structs.asdict(known), last=last)


class _Refusing:
    """Turns what keeps the store or the clock from being read into an answer."""

    def __enter__(self) -> None: ...

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, StoreError):
            raise unavailable("the store cannot be read") from None
        if isinstance(error, HubbubError):
            raise unavailable("the clock cannot be read") from None


class _Local:
    """Answers under a loopback name only."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        app: ASGIApp = self._app
        if scope["type"] == "http":
            hosts = [value.decode("latin-1") for name, value in scope["headers"] if name == b"host"]
            if not all(is_loopback(_without_port(host)) for host in hosts):
                app = RequestError(421, "misdirected", "estimates are read under a loopback name only").response()
        await app(scope, receive, send)


def _without_port(host: str) -> str:
    name, _, port = host.rpartition(":")
    return (name if name and port.isdigit() else host).removeprefix("[").removesuffix("]")


def _json(answer: Any) -> Response:
    return Response(msgspec.json.encode(answer), media_type="application/json")


def _lifespan(publisher: Publisher | None) -> Any:
    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        task = None if publisher is None else asyncio.create_task(publisher.run())
        yield
        if task is not None:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task

    return lifespan
