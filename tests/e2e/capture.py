"""An append-only capture between devices and a collector: each body is on record before anything is passed on."""

import http.client
import random
import threading
import time
from collections import Counter
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import NamedTuple, Self

PATIENCE = 30.0  # seconds for one exchange


class Exchange(NamedTuple):
    """One request and what became of it."""

    began: float  # monotonic seconds
    sender: str  # first part of the path, by which the tests tell devices apart
    headers: dict[str, str]
    body: bytes
    status: int  # of the collector's answer, 0 where there was none
    answer: bytes


class Capture:
    """A proxy on 127.0.0.1 that notes what goes through it, and loses some of it where asked to.

    Devices send to `endpoint(name)`. `upstream` is the port of the collector, which may change; without one nothing
    is passed on. `lost` is the chance that a request is dropped before the collector sees it, and again that the
    answer is dropped on the way back.
    """

    def __init__(self, *, upstream: int = 0, lost: float = 0.0, seed: int = 0) -> None:
        self.upstream, self.lost = upstream, lost
        self.sent: list[tuple[str, bytes]] = []  # device, body; noted before it is passed on
        self.exchanges: list[Exchange] = []  # complete, or ended without an answer
        self.noted: Counter[str] = Counter()
        self._random, self._guard = random.Random(seed), threading.Lock()
        capture = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True
            timeout = PATIENCE

            def do_POST(self) -> None:
                capture.handle(self)

            def log_message(self, *_: object) -> None:
                pass

        class Server(ThreadingHTTPServer):
            daemon_threads = True
            block_on_close = False
            request_queue_size = 128

            def handle_error(self, *_: object) -> None:
                capture.noted["broken"] += 1  # the device was killed in the middle of it

        self._server = Server(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05})

    def endpoint(self, name: str) -> str:
        """Where the device of this name sends to."""
        return f"http://127.0.0.1:{self._server.server_port}/{name}"

    def handle(self, request: BaseHTTPRequestHandler) -> None:
        """Note one request, pass it on, note its answer, pass that back."""
        began = time.monotonic()
        length = int(request.headers["content-length"])
        body = request.rfile.read(length)
        if len(body) < length:
            request.close_connection = True
            return  # cut off by the device: nothing whole was sent
        sender, _, path = request.path.lstrip("/").partition("/")
        with self._guard:
            self.sent.append((sender, body))
            lost_there, lost_back = self._random.random() < self.lost, self._random.random() < self.lost
        answer = None if lost_there else self._forward("/" + path, body)
        status, text = answer or (0, b"")
        with self._guard:
            self.exchanges.append(Exchange(began, sender, dict(request.headers), body, status, text))
            self.noted["lost there"] += lost_there
            self.noted["lost back"] += lost_back and answer is not None
        if answer is None or lost_back:
            request.close_connection = True
            return
        with suppress(OSError):
            request.send_response_only(status)
            request.send_header("content-length", str(len(text)))
            request.end_headers()
            request.wfile.write(text)

    def _forward(self, path: str, body: bytes) -> tuple[int, bytes] | None:
        if not self.upstream:
            return None
        connection = http.client.HTTPConnection("127.0.0.1", self.upstream, timeout=PATIENCE)
        try:
            connection.request("POST", path, body, {"content-type": "application/json"})
            answer = connection.getresponse()
            return answer.status, answer.read()
        except (OSError, http.client.HTTPException):
            return None  # it was not there, or died before it had answered
        finally:
            connection.close()

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
