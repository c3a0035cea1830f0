"""Answers to requests that cannot be taken at all: one JSON shape, with a stable URN for each reason (RFC 9457)."""

from typing import Any

import msgspec
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

PROBLEM_JSON = "application/problem+json"
URN = "urn:hubbub:problem:"
RETRY_SECONDS = 30  # the one value of Retry-After: were it chosen freely, it could mark a device


class RequestError(Exception):
    """A request is refused as a whole.

    Args:
        status: HTTP status.
        code: Last part of the URN `urn:hubbub:problem:<code>`.
        title: What is wrong, in a sentence; nothing that a device sent is repeated.
        headers: Further headers of the answer.
        details: Further fields of its body, such as the limit that was passed.
    """

    def __init__(
        self, status: int, code: str, title: str, headers: dict[str, str] | None = None, **details: int | str
    ) -> None:
        super().__init__(title)
        self.status = status
        self.code = code
        self.headers = headers or {}
        self._body: dict[str, Any] = {"type": URN + code, "title": title, "status": status, **details}

    def body(self) -> bytes:
        """The problem as JSON."""
        return msgspec.json.encode(self._body)

    def response(self) -> Response:
        """The problem as an answer."""
        return Response(self.body(), self.status, self.headers, PROBLEM_JSON)


def unavailable(title: str) -> RequestError:
    """The request is fine and nothing of it was kept; whoever sent it will try again."""
    return RequestError(503, "unavailable", title, {"retry-after": str(RETRY_SECONDS)})


async def refused(request: Request, error: Exception) -> Response:
    """The problem that an application's router, or a handler, met."""
    if isinstance(error, RequestError):
        return error.response()
    assert isinstance(error, HTTPException)
    code = "method_not_allowed" if error.status_code == 405 else "not_found"
    return RequestError(error.status_code, code, error.detail, dict(error.headers or {})).response()


HANDLERS: dict[Any, Any] = {HTTPException: refused, RequestError: refused}  # for Starlette
