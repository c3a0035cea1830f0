"""How a sealed report travels: one POST each, the fewest headers that HTTP allows, nothing kept from an answer.

No cookies, validators, user agent or times are sent, and redirects are not followed. Specification: spec/wire.md.
"""

import http.client
import io
import os
import re
import socket
import threading
import time
from contextlib import suppress
from functools import partial
from typing import NamedTuple, Protocol
from urllib.parse import urlsplit

from hubbub.errors import ParameterError

PATH = "/v1/reports"
MAX_ANSWER = 1 << 16  # bytes of an answer that are read; a collector's to one report has some hundred
_PRINTABLE = re.compile(r"[!-~]+")


class Response(NamedTuple):
    """What the collector answered."""

    status: int
    body: bytes
    retry_after: str = ""  # the header as it came; no other is looked at


class Transport(Protocol):
    """Anything that can carry a report to the collector."""

    def post(self, body: bytes, timeout: float) -> Response:
        """Send the body and wait for the answer, for `timeout` seconds in all.

        Raises:
            OSError: No whole answer came, for whatever reason.
        """
        ...


class HttpTransport:
    """One HTTP/1.1 connection, kept alive until `close` and opened again when the server closed it. Serves one thread.

    `timeout` bounds connecting, sending and receiving; the system's look-up of a host name has limits of its own.

    Args:
        endpoint: `http://` or `https://`, host, and a port or path prefix where needed; reports go to
            `<endpoint>/v1/reports`. Certificates are checked against the system's authorities.

    Raises:
        ParameterError: Any other address.
    """

    def __init__(self, endpoint: str) -> None:
        expected = "an address such as https://telemetry.example.org without user, query or fragment"
        try:
            parts = urlsplit(endpoint)
            host, port = parts.hostname, parts.port
        except ValueError:
            raise ParameterError("endpoint", endpoint, expected) from None
        surplus = parts.query or parts.fragment or "@" in parts.netloc or port == 0
        if parts.scheme not in ("http", "https") or not host or surplus or not _PRINTABLE.fullmatch(endpoint):
            raise ParameterError("endpoint", endpoint, expected)
        self._path = parts.path.rstrip("/") + PATH
        self._halted = False
        self._writing = threading.Lock()  # around the first byte of a request and `_halted`
        kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
        self._new = partial(kind, host, port or kind.default_port)
        self._connection: http.client.HTTPConnection = self._new()

    def post(self, body: bytes, timeout: float) -> Response:
        """Send the body and wait for the answer.

        Raises:
            OSError: No connection, no HTTP, or no whole answer within `timeout` seconds.
        """
        deadline = time.monotonic() + timeout
        connection = self._connection
        if connection.sock is not None:
            # The server may have closed the idle connection: then the same bytes go over a new one, if time is left.
            with suppress(OSError):
                return self._exchange(connection, body, deadline)
        return self._exchange(connection, body, deadline)

    def close(self) -> None:
        """Close the connection; the next post opens another."""
        self._connection.close()

    def halt(self) -> None:
        """Break off the post that another thread may be in, and begin no request until `resume`."""
        with self._writing:
            self._halted = True
        if (sock := self._connection.sock) is not None:
            with suppress(OSError):  # it may just have been closed
                socket.socket.shutdown(sock, socket.SHUT_RDWR)  # of the connection itself, also below TLS

    def resume(self) -> None:
        """Requests may begin again."""
        self._halted = False

    def forget(self) -> None:
        """After a fork: let go of the parent's connection without a word on it.

        The thread that may have been using it has not come along, so whatever it had locked stays locked. A greenlet
        has, and goes on with its post: it is told that no request may begin.
        """
        self._writing = threading.Lock()
        sock, self._connection = self._connection.sock, self._new()
        if sock is not None and (descriptor := sock.detach()) >= 0:
            os.close(descriptor)

    def _exchange(self, connection: http.client.HTTPConnection, body: bytes, deadline: float) -> Response:
        try:
            connection.timeout = _left(deadline)
            self._may_begin(connection)
            if connection.sock is None:
                connection.connect()
            connection.response_class = partial(_Response, deadline)  # type: ignore[assignment]
            connection.putrequest("POST", self._path, skip_accept_encoding=True)
            connection.putheader("Content-Type", "application/json")
            connection.putheader("Content-Length", str(len(body)))
            with self._writing:
                self._may_begin(connection)
                connection.sock.settimeout(_left(deadline))
                connection.endheaders(body)
            with connection.getresponse() as response:
                header = response.getheader("Retry-After", "")
                answer = Response(response.status, response.read(MAX_ANSWER), header)
                whole = response.isclosed()
            if not whole:  # cut off, or longer than any answer of a collector
                connection.close()
            return answer
        except http.client.HTTPException as error:
            connection.close()
            raise ConnectionError(f"no HTTP answer ({type(error).__name__})") from None
        except BaseException:
            connection.close()
            raise

    def _may_begin(self, connection: http.client.HTTPConnection) -> None:
        if self._halted or connection is not self._connection:
            raise ConnectionAbortedError("no request may begin")


class _Response(http.client.HTTPResponse):
    """A response all of whose reads share one deadline, so that a server which drips bytes cannot hold the device."""

    def __init__(self, deadline: float, sock: socket.socket, method: str | None = None) -> None:
        super().__init__(sock, method=method)
        self.fp = io.BufferedReader(_Reader(self.fp.detach(), sock, deadline))


class _Reader(io.RawIOBase):
    def __init__(self, raw: io.RawIOBase, sock: socket.socket, deadline: float) -> None:
        self._raw = raw
        self._sock = sock
        self._deadline = deadline

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int | None:  # type: ignore[override]
        self._sock.settimeout(_left(self._deadline))
        return self._raw.readinto(buffer)

    def close(self) -> None:
        self._raw.close()
        super().close()


def _left(deadline: float) -> float:
    """Seconds until the deadline.

    Raises:
        TimeoutError: None are left.
    """
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError("the deadline has passed")
    return left
