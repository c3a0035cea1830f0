"""What the tests of answers share: a store with reports, its read listener, and servers that are none."""

import socket
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import numpy as np
import uvicorn
from starlette.types import ASGIApp

from hubbub.clock import Clock
from hubbub.dashboard import create_app
from hubbub.store import open_store
from tests.unit.collecting import FIRST, late, lock, minutes, stored


def fill(path: Path, seed: int = 1) -> Path:
    """Two metrics over nine days, one of them with two segments and two encodings, one day nearly empty."""
    rng = np.random.default_rng(seed)
    first, second, yes = minutes(), minutes(epsilon=2.0, version=2), late(expires="2027-06-01")
    with open_store(path) as store:
        for metric in (first, second, yes):
            store.accept(lock(metric))
        for day in range(9):
            n = 20 if day == 3 else int(rng.integers(150, 1200))
            for metric, segment, start in (
                (first, "stable", 0),
                (first, "beta", 10_000),
                (second, "beta", 20_000),
                (yes, "", 0),
            ):
                if metric is not second or day > 5:
                    ones = int(rng.binomial(n, 0.4))
                    store.write(stored(metric, n, ones=ones, window=FIRST + day, segment=segment, start=start))
    return path


@contextmanager
def running(app: ASGIApp) -> Iterator[str]:
    """The address of an application, in a thread of this process."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        server = uvicorn.Server(uvicorn.Config(app, log_level="warning", access_log=False, ws="none"))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join()


@contextmanager
def listening(path: Path, clock: Clock) -> Iterator[str]:
    """The address of a read listener for the store."""
    with open_store(path, read_only=True) as store, running(create_app(store, clock=clock)) as url:
        yield url


@contextmanager
def answering(status: int, content: bytes, headers: Mapping[str, str]) -> Iterator[str]:
    """The address of a server that gives one answer to everything."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:  # the name that the base class looks for
            self.send_response(status)
            for name, value in {"content-length": str(len(content)), **headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *arguments: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


def unused_port() -> int:
    """A port that nobody listens on."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])
