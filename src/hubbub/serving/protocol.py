"""HTTP as uvicorn speaks it, with limits on the head of a request: how long it may take and how long it may be."""

import asyncio
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

HEAD_SECONDS = 10.0  # from the connection, or the first byte of a further request, to the end of its head
HEAD_BYTES = 32 << 10  # of request line and headers


class Protocol(HttpToolsProtocol):
    """Closes connections that do not get beyond the head of a request."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._timer: asyncio.TimerHandle | None = None
        self._head = 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for a head."""
        super().connection_made(transport)
        self._await_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait no longer."""
        self._stop_waiting()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Parse what has come; a head that is too long ends the connection."""
        self._head += len(data)
        super().data_received(data)
        if self._timer is not None and self._head > HEAD_BYTES and not self.transport.is_closing():
            self.send_400_response("Request head too long.")

    def on_message_begin(self) -> None:
        """A head begins."""
        super().on_message_begin()
        if self._timer is None:
            self._await_head()

    def on_headers_complete(self) -> None:
        """The head is there."""
        self._stop_waiting()
        super().on_headers_complete()

    def _await_head(self) -> None:
        self._head = 0
        self._timer = self.loop.call_later(HEAD_SECONDS, self.transport.close)

    def _stop_waiting(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
