"""HttpTransport against real sockets: what it sends, what it survives, how long it waits."""

import http.server
import os
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from hubbub.client import Client, HttpTransport, MemoryState, Response
from hubbub.client.transport import MAX_ANSWER
from hubbub.clock import ManualClock
from hubbub.errors import ParameterError
from tests.unit.client_support import ACCEPTED, DAY, STARTS, client, live, lock, metric, report_of

BODY = b'{"schema": "hubbub.reports/1", "reports": []}'
LONG = 30.0  # seconds that no test needs
SHORT = 0.2


class Handler(http.server.BaseHTTPRequestHandler):
    """Answers as its server says, and remembers each request."""

    protocol_version = "HTTP/1.1"
    server: "Server"

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.requests.append((self.path, self.headers.items(), body))
        self.server.peers.append(self.client_address)
        self.server.answer(self)

    def respond(self, status: int, body: bytes, **headers: str) -> None:
        self.send_response_only(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments: object) -> None:
        """Tests are quiet."""


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, answer: Callable[[Handler], None]) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.answer = answer
        self.requests: list[tuple[str, list[tuple[str, str]], bytes]] = []
        self.peers: list[object] = []
        self.endpoint = f"http://127.0.0.1:{self.server_address[1]}"


def accept(handler: Handler) -> None:
    handler.respond(ACCEPTED.status, ACCEPTED.body)


@contextmanager
def serving(answer: Callable[[Handler], None] = accept) -> Iterator[Server]:
    with Server(answer) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


@contextmanager
def transport_to(endpoint: str) -> Iterator[HttpTransport]:
    transport = HttpTransport(endpoint)
    try:
        yield transport
    finally:
        transport.close()


def test_request_holds_nothing_but_what_http_needs() -> None:
    with serving() as server, transport_to(server.endpoint) as transport:
        assert transport.post(BODY, LONG) == ACCEPTED
        host = server.endpoint.removeprefix("http://")
        expected = [("Host", host), ("Content-Type", "application/json"), ("Content-Length", str(len(BODY)))]
        assert server.requests == [("/v1/reports", expected, BODY)]


def test_answers_leave_no_trace_in_later_requests() -> None:
    def tagging(handler: Handler) -> None:
        handler.respond(
            200, ACCEPTED.body, Set_Cookie="id=1", ETag='"1"', Last_Modified="Tue, 01 Dec 2026 00:00:00 GMT"
        )

    with serving(tagging) as server, transport_to(server.endpoint) as transport:
        for _ in range(3):
            transport.post(BODY, LONG)
        assert server.requests == [server.requests[0]] * 3


def test_connection_is_kept_alive() -> None:
    with serving() as server, transport_to(server.endpoint) as transport:
        for _ in range(5):
            assert transport.post(BODY, LONG) == ACCEPTED
        assert len(set(server.peers)) == 1


def test_connection_that_the_server_closed_while_idle_is_opened_again() -> None:
    closed = threading.Event()

    def hang_up(handler: Handler) -> None:
        accept(handler)
        handler.wfile.flush()
        handler.connection.shutdown(socket.SHUT_RDWR)
        handler.close_connection = True
        closed.set()

    with serving(hang_up) as server, transport_to(server.endpoint) as transport:
        for count in range(1, 5):
            assert transport.post(BODY, LONG) == ACCEPTED
            assert closed.wait(LONG)
            closed.clear()
            assert len(server.requests) == count
        assert len(set(server.peers)) == 4


def test_server_that_closes_each_connection() -> None:
    def once(handler: Handler) -> None:
        handler.close_connection = True
        handler.respond(200, ACCEPTED.body, Connection="close")

    with serving(once) as server, transport_to(server.endpoint) as transport:
        for _ in range(3):
            assert transport.post(BODY, LONG) == ACCEPTED


def test_old_server_whose_answers_end_with_the_connection() -> None:
    def old(handler: Handler) -> None:
        handler.close_connection = True
        handler.wfile.write(b"HTTP/1.0 200 OK\r\n\r\n" + ACCEPTED.body)

    with serving(old) as server, transport_to(server.endpoint) as transport:
        for _ in range(3):
            assert transport.post(BODY, LONG) == ACCEPTED


def test_chunked_answer() -> None:
    def chunked(handler: Handler) -> None:
        handler.wfile.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        for part in (ACCEPTED.body[:5], ACCEPTED.body[5:], b""):
            handler.wfile.write(f"{len(part):x}\r\n".encode() + part + b"\r\n")

    with serving(chunked) as server, transport_to(server.endpoint) as transport:
        for _ in range(3):
            assert transport.post(BODY, LONG) == ACCEPTED
        assert len(set(server.peers)) == 1


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_redirects_are_not_followed(status: int) -> None:
    with serving() as elsewhere:

        def redirect(handler: Handler) -> None:
            handler.respond(status, b"", Location=elsewhere.endpoint + "/v1/reports")

        with serving(redirect) as server:
            clock, state = ManualClock(STARTS), MemoryState()
            with transport_to(server.endpoint) as transport:
                device = client(lock(), clock, state=state, transport=transport)
                clock.set(STARTS + DAY)
                assert device.flush(LONG)
            assert device.counters == {"refused": 1}
            assert state.outbox() == []
            assert len(server.requests) == 1
        assert elsewhere.requests == []


def test_silent_server_costs_the_timeout() -> None:
    silent = threading.Event()
    with serving(lambda handler: bool(silent.wait(LONG))) as server, transport_to(server.endpoint) as transport:  # type: ignore[arg-type]
        with pytest.raises(TimeoutError):
            transport.post(BODY, SHORT)
        silent.set()
        server.answer = accept
        assert transport.post(BODY, LONG) == ACCEPTED
        assert len(set(server.peers)) == 2  # a late answer cannot be taken for that of the next report


def test_each_post_brings_its_own_timeout_to_the_kept_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    with serving() as server, transport_to(server.endpoint) as transport:
        transport.post(BODY, LONG)
        connection = transport._connection
        seen: list[float] = []
        send = connection.send

        def noted(data: bytes) -> None:
            seen.append(connection.sock.gettimeout() or 0.0)
            send(data)

        monkeypatch.setattr(connection, "send", noted)
        for timeout in (LONG / 3, 2 * LONG):
            transport.post(BODY, timeout)
            assert timeout / 2 < seen[-1] <= timeout
        assert len(set(server.peers)) == 1


@pytest.mark.parametrize("where", ["status", "headers", "body", "continue"])
def test_server_that_drips_bytes_costs_the_timeout(where: str) -> None:
    stop = threading.Event()
    start = {"status": b"HTTP/1.1 2", "headers": b"HTTP/1.1 200 OK\r\nA: ", "continue": b""}
    drop = b"HTTP/1.1 100 Continue\r\n\r\n" if where == "continue" else b"1"

    def drip(handler: Handler) -> None:
        handler.close_connection = True
        handler.wfile.write(start.get(where, b"HTTP/1.1 200 OK\r\nContent-Length: 60000\r\n\r\n"))
        for _ in range(100):
            if stop.wait(SHORT / 10):
                return
            try:
                handler.wfile.write(drop)
            except OSError:
                return

    with serving(drip) as server, transport_to(server.endpoint) as transport:
        try:
            with pytest.raises(TimeoutError):
                transport.post(BODY, SHORT)
        finally:
            stop.set()


def test_answer_that_is_cut_off_acknowledges_nothing() -> None:
    def cut(handler: Handler) -> None:
        handler.close_connection = True
        handler.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n" + ACCEPTED.body[:20])

    with serving(cut) as server:
        clock, state = ManualClock(STARTS), MemoryState()
        with transport_to(server.endpoint) as transport:
            device = client(lock(), clock, state=state, transport=transport)
            clock.set(STARTS + DAY)
            assert not device.flush(LONG)
            assert len(state.outbox()) == 1
            server.answer = accept
            assert device.flush(LONG)
        sent = [body for _, _, body in server.requests]
        assert len(set(sent)) == 1
        assert report_of(sent[0])["window"] == STARTS // DAY


@pytest.mark.parametrize("length", [MAX_ANSWER - 1, MAX_ANSWER, MAX_ANSWER + 1, 40 * MAX_ANSWER])
def test_no_more_of_an_answer_is_read_than_a_collector_would_send(length: int) -> None:
    def talk(handler: Handler) -> None:
        try:
            handler.respond(404, b"x" * length)
        except OSError:
            handler.close_connection = True

    with serving(talk) as server, transport_to(server.endpoint) as transport:
        for _ in range(2):
            assert transport.post(BODY, LONG) == Response(404, b"x" * min(length, MAX_ANSWER))
        assert len(server.requests) == 2
        assert len(set(server.peers)) == (1 if length <= MAX_ANSWER else 2)


def test_what_is_not_http_is_a_broken_connection() -> None:
    def shout(handler: Handler) -> None:
        handler.close_connection = True
        handler.wfile.write(b"220 mail.example.org ESMTP\r\n")

    with serving(shout) as server, transport_to(server.endpoint) as transport:
        for _ in range(2):
            with pytest.raises(ConnectionError, match=r"no HTTP answer \(BadStatusLine\)"):
                transport.post(BODY, LONG)


def test_nobody_listens() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        with transport_to(f"http://127.0.0.1:{taken.getsockname()[1]}") as transport:
            for _ in range(2):
                with pytest.raises(ConnectionRefusedError):
                    transport.post(BODY, LONG)


def test_no_time_connects_to_nobody() -> None:
    with serving() as server, transport_to(server.endpoint) as transport:
        for timeout in (0, -1):
            with pytest.raises(TimeoutError):
                transport.post(BODY, timeout)
        assert server.requests == []


@pytest.mark.parametrize("prefix", ["", "/", "/telemetry", "/telemetry/"])
def test_path_prefix(prefix: str) -> None:
    with serving() as server, transport_to(server.endpoint + prefix) as transport:
        transport.post(BODY, LONG)
        assert server.requests[0][0] == prefix.rstrip("/") + "/v1/reports"


@pytest.mark.parametrize(
    "endpoint",
    [
        "",
        "telemetry.example.org",
        "ftp://telemetry.example.org",
        "http://",
        "http:///v1",
        "http://host:port",
        "http://host:65536",
        "http://host:0",
        "http://[::1",
        "http://user:word@host",
        "http://host/?key=1",
        "http://host/#part",
        "http://host/a b",
        "http://host/\r\nX: 1",
        "http://hö.example",
    ],
)
def test_addresses_that_are_refused(endpoint: str) -> None:
    with pytest.raises(ParameterError, match=r"endpoint must be an address such as https://telemetry\.example\.org"):
        HttpTransport(endpoint)


@pytest.mark.parametrize(
    ("endpoint", "host", "port"),
    [
        ("http://[::1]:8377", "::1", 8377),
        ("http://[::1]", "::1", 80),
        ("https://telemetry.example.org", "telemetry.example.org", 443),
        ("HTTPS://Telemetry.example.org:8443/x", "telemetry.example.org", 8443),
    ],
)
def test_addresses(endpoint: str, host: str, port: int) -> None:
    connection = HttpTransport(endpoint)._connection
    assert (connection.host, connection.port) == (host, port)


@pytest.mark.parametrize("header", ["120", "Tue, 01 Dec 2026 00:00:00 GMT", "-1"])
def test_of_the_headers_only_retry_after_is_kept(header: str) -> None:
    def busy(handler: Handler) -> None:
        handler.respond(503, b"", Retry_After=header, Date="Tue, 01 Dec 2026 00:00:00 GMT", ETag='"1"')

    with serving(busy) as server, transport_to(server.endpoint) as transport:
        assert transport.post(BODY, LONG) == Response(503, b"", header)


def test_reports_of_the_thread_travel_over_connections_of_their_own() -> None:
    with serving() as server:
        clock = ManualClock(STARTS)
        asked = lock(*(metric(f"m{index}", expires="2026-12-02") for index in range(6)))
        device = Client(asked, server.endpoint, policy="research", state=MemoryState(), clock=clock, background=False)
        clock.set(STARTS + DAY)
        live(device, clock, STARTS + 2 * DAY)
        assert device.counters == {"accepted": 6}
        assert len(set(server.peers)) == 6


def test_flush_shares_a_connection_and_leaves_none_open() -> None:
    with serving() as server:
        clock = ManualClock(STARTS)
        asked = lock(*(metric(f"m{index}") for index in range(6)))
        device = Client(asked, server.endpoint, policy="research", state=MemoryState(), clock=clock, background=False)
        for day in (1, 2):
            clock.set(STARTS + day * DAY)
            assert device.flush(LONG)
        assert len(server.peers) == 12
        assert len(set(server.peers)) == 2


def test_connection_of_a_parent_is_left_as_it_is() -> None:
    with serving() as server, transport_to(server.endpoint) as transport:
        transport.post(BODY, LONG)
        assert transport._connection.sock is not None
        with socket.socket(fileno=os.dup(transport._connection.sock.fileno())) as parents:
            descriptor = transport._connection.sock.fileno()
            transport.forget()
            with pytest.raises(OSError, match="Bad file descriptor"):
                os.fstat(descriptor)
            assert transport.post(BODY, LONG) == ACCEPTED
            head = f"POST /v1/reports HTTP/1.1\r\nHost: x\r\nContent-Length: {len(BODY)}\r\n\r\n"
            parents.settimeout(LONG)
            parents.sendall(head.encode() + BODY)
            assert parents.recv(100).startswith(b"HTTP/1.1 200")
        assert len(set(server.peers)) == 2
