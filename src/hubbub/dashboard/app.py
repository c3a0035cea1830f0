"""The read application: pages for people, estimates as JSON and files for programs.

There is no token, so it is for this machine alone: it answers under a loopback name only, which also keeps pages of the
web from reading it through a name of their own that leads here. What such pages embed or fetch of it is refused too:
they could not read it, but could make it work.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

import msgspec
from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from hubbub.clock import Clock, SystemClock
from hubbub.dashboard.api import Api
from hubbub.dashboard.pages import Pages
from hubbub.dashboard.publishing import Publisher
from hubbub.dashboard.refusing import handlers
from hubbub.serving import openapi
from hubbub.serving.answers import SECURITY, mode, with_headers
from hubbub.serving.problems import RequestError
from hubbub.serving.settings import is_loopback
from hubbub.store import Store

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
        ingest: Where devices post, for the description of the interface and for who has no reports yet.
        read: Where this application is, for the description.
    """
    clock = clock or SystemClock()
    publisher = None if table is None else Publisher(table, clock)
    api = Api(store, clock, msgspec.json.encode(openapi.document({"ingest": ingest, "read": read})))
    pages = Pages(store, clock, ingest)
    app = Starlette(
        routes=[*pages.routes(), *api.routes()],
        exception_handlers=handlers(pages.problem),
        lifespan=_lifespan(publisher),
    )
    app.router.redirect_slashes = False
    return with_headers(_Local(app), [*SECURITY, *mode(store)])


class _Local:
    """Answers under a loopback name only, and of other sites' requests those alone by which a person comes here."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        refusal = _refusal(Headers(scope=scope)) if scope["type"] == "http" else None
        await (refusal.response() if refusal else self._app)(scope, receive, send)


def _refusal(headers: Headers) -> RequestError | None:
    if not all(is_loopback(_without_port(host)) for host in headers.getlist("host")):
        return RequestError(421, "misdirected", "estimates are read under a loopback name only")
    # Browsers say so of themselves; programs do not. Another port of this machine is another origin of the same site.
    if headers.get("sec-fetch-site") in ("cross-site", "same-site") and headers.get("sec-fetch-dest") != "document":
        return RequestError(403, "cross_site", "pages of other origins may lead here, and embed or fetch nothing")
    return None


def _without_port(host: str) -> str:
    name, _, port = host.rpartition(":")
    return (name if name and port.isdigit() else host).removeprefix("[").removesuffix("]")


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
