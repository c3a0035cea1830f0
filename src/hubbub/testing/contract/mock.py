"""A collector on loopback that takes reports as a real one does, and misbehaves when it is told to."""

import json
import threading
from collections import deque
from collections.abc import Mapping
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, NamedTuple, Self


class Request(NamedTuple):
    """One request as it came."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes


class MockCollector:
    """Answers from a queue of faults, then as a collector without them; keeps every request.

    A fault is a table: `status` (200), `headers`, `body` (text), `result` (of the one report, in a body of the usual
    form), `close` (the connection is closed without an answer), `cut` (the answer ends in the middle), `size` (bytes of
    an answer without an end).
    """

    def __init__(self) -> None:
        self.faults: deque[Mapping[str, Any]] = deque()
        self.requests: list[Request] = []
        self.taken: dict[tuple[str, str, int], bytes] = {}
        self._guard = threading.Lock()
        collector = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def handle_one_request(self) -> None:
                with suppress(OSError):  # the other side went away
                    super().handle_one_request()

            def do_POST(self) -> None:
                length = int(self.headers.get("Content-Length") or 0)
                collector._serve(self, self.rfile.read(length))

            def do_GET(self) -> None:
                self.do_POST()

            def log_message(self, format: str, *arguments: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    @property
    def address(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self._server.server_port}"

    def _serve(self, handler: BaseHTTPRequestHandler, body: bytes) -> None:
        with self._guard:
            self.requests.append(Request(handler.command, handler.path, dict(handler.headers.items()), body))
            fault = self.faults.popleft() if self.faults else {}
            answer = self._answer(body) if not fault.keys() - {"headers"} else b""
        if fault.get("close"):
            handler.close_connection = True
            return
        if "result" in fault:
            answer = json.dumps({"accepted": 0, "results": [{"index": 0, **fault["result"]}]}).encode()
        if "body" in fault:
            answer = fault["body"].encode()
        self._write(handler, fault, answer)

    def _write(self, handler: BaseHTTPRequestHandler, fault: Mapping[str, Any], answer: bytes) -> None:
        handler.send_response(fault.get("status", 200))
        for name, value in fault.get("headers", {}).items():
            handler.send_header(name, str(value))
        size = fault.get("size", len(answer) + (100 if fault.get("cut") else 0))
        handler.send_header("Content-Type", "application/json")
        handler.send_header("Content-Length", str(size))
        handler.end_headers()
        with suppress(OSError):
            handler.wfile.write(answer)
            for _ in range(0, fault.get("size", 0), 65_536):
                handler.wfile.write(b" " * 65_536)
        if fault.get("cut") or "size" in fault:
            handler.close_connection = True

    def _answer(self, body: bytes) -> bytes:
        """What a collector says to one report: accepted, a duplicate, or a conflict."""
        (entry,) = json.loads(body)["reports"]
        key = (entry["metric"], entry["id"], entry["window"])
        first = self.taken.setdefault(key, body)
        if first is body:
            return b'{"accepted": 1, "results": []}'
        status = {"status": "duplicate"} if first == body else {"status": "rejected", "code": "conflict"}
        return json.dumps({"accepted": 0, "results": [{"index": 0, "id": entry["id"], **status}]}).encode()
