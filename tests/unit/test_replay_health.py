"""What a collector says of itself, and what is no collector."""

import http.server
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from hubbub.errors import HubbubError, ParameterError
from hubbub.replay.health import Health, ask, next_port


@contextmanager
def answering(text: str) -> Iterator[str]:
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200 if self.path == "/healthz" else 404)
            self.end_headers()
            self.wfile.write(text.encode())

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def test_mode_and_clock() -> None:
    with answering('{"status": "alive"}') as address:
        assert ask(address, "") == Health("real", None)
    with answering('{"status": "alive", "mode": "dev", "clock": {"origin": 1e9, "speed": 8640.0}}') as address:
        mode, clock = ask(address, "")
    assert clock is not None
    assert (mode, clock.origin, clock.start, clock.speed) == ("dev", 1e9, 1e9, 8640.0)


@pytest.mark.parametrize(
    "text",
    [
        "hello",
        "[]",
        "{}",
        '{"status": "fine"}',
        '{"status": "alive", "clock": 5}',
        *(
            f'{{"status": "alive", "clock": {{"origin": {origin}, "speed": {speed}}}}}'
            for origin, speed in (("1e9", "Infinity"), ("NaN", "1"), ("1e300", "1"), ("1e9", "0"), ("1e9", '"fast"'))
        ),
        "[" * 60_000,
    ],
)
def test_what_is_no_collector(text: str) -> None:
    with answering(text) as address, pytest.raises(HubbubError, match="is no collector of this release; start one"):
        ask(address, "start one")


def test_nobody_there() -> None:
    with answering("") as address:
        pass
    with pytest.raises(HubbubError, match=rf"nothing answers at {address} \(connection refused\); start one"):
        ask(address, "start one")


def test_the_next_port() -> None:
    assert next_port("http://127.0.0.1:8377") == "http://127.0.0.1:8378"
    assert next_port("http://host.example/below") == "http://host.example:81"
    assert next_port("https://[::1]") == "https://[::1]:444"
    with pytest.raises(ParameterError, match="an address below port 65535"):
        next_port("http://127.0.0.1:65535")
