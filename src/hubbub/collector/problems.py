"""Answers to requests that cannot be taken at all: one JSON shape, with a stable URN for each reason (RFC 9457)."""

from typing import Any

import msgspec


class RequestError(Exception):
    """A request is refused as a whole.

    Args:
        status: HTTP status.
        code: Last part of the URN `urn:hubbub:problem:<code>`.
        title: What is wrong, in a sentence; nothing of the request is repeated.
        headers: Further headers of the answer.
        details: Further fields of its body, such as the limit that was passed.
    """

    def __init__(
        self, status: int, code: str, title: str, headers: dict[str, str] | None = None, **details: int | str
    ) -> None:
        super().__init__(title)
        self.status = status
        self.headers = headers or {}
        self._body: dict[str, Any] = {"type": f"urn:hubbub:problem:{code}", "title": title, "status": status, **details}

    def body(self) -> bytes:
        """The problem as JSON."""
        return msgspec.json.encode(self._body)


PROBLEM_JSON = "application/problem+json"


def unavailable(title: str) -> RequestError:
    """The request is fine and nothing of it was kept; the device will try again."""
    return RequestError(503, "unavailable", title, {"retry-after": "30"})
