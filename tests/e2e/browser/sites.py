"""Applications on a free port of 127.0.0.1, in this process; HTTP is spoken as `hubbub serve` speaks it."""

import socket
import threading
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import uvicorn
from starlette.types import ASGIApp

from hubbub.dashboard import create_app
from hubbub.lock import ACTIVE
from hubbub.serving.protocol import Protocol
from hubbub.store import open_store
from tests.e2e.browser.seeds import Seed

PATIENCE = 30  # seconds


@dataclass(frozen=True)
class Site:
    """A dashboard that is being served, and the seed behind it."""

    url: str
    seed: Seed

    @property
    def pages(self) -> list[str]:
        """Paths of all its pages; of hundreds that are alike, the first and the last."""
        names = self.seed.metrics if len(self.seed.metrics) < 100 else (self.seed.metrics[0], self.seed.metrics[-1])
        among = [name for name in names if name + ACTIVE in names]
        return ["/", *(f"/m/{name}" for name in names), *(f"/m/{name}?category=among+active" for name in among)]

    def get(self, path: str) -> tuple[str, bytes]:
        """Type and content of what is there."""
        with urllib.request.urlopen(self.url + path, timeout=PATIENCE) as answer:
            return answer.headers["content-type"], answer.read()


@contextmanager
def dashboard(seed: Seed) -> Iterator[Site]:
    """The read application over a seed."""
    with open_store(seed.path, read_only=True) as store, served(create_app(store, clock=seed.clock)) as url:
        yield Site(url, seed)


@contextmanager
def served(app: ASGIApp) -> Iterator[str]:
    """Any application; its address."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        server = uvicorn.Server(uvicorn.Config(app, http=Protocol, ws="none", log_level="error"))
        thread = threading.Thread(target=server.run, args=([listener],))
        thread.start()
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join(PATIENCE)
