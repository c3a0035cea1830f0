"""From the bytes of a request to a list of things that may be reports, within limits at every step."""

import asyncio
import json
import math
import zlib
from collections.abc import Iterable
from typing import Any, NoReturn

import msgspec
from starlette.types import Receive

from hubbub.serving.problems import RequestError, unavailable
from hubbub.wire import MAX_BODY, MAX_REPORTS, MAX_UNPACKED, REPORTS_SCHEMA

BODY_SECONDS = 30.0  # how long the whole of a body may take
MAX_HELD = 64 << 20  # bytes of bodies that are still arriving, of all requests together
MAX_DIGITS = 4300  # of a whole number, beyond which `int` refuses
MAX_PARTS = 64 * MAX_REPORTS  # values and containers in a body; a report has 7, and each costs memory once it is parsed


class DisconnectedError(Exception):
    """The other side left before its request was complete."""


class Budget:
    """Bytes that bodies may hold while they arrive: one that does not fit is put off."""

    def __init__(self) -> None:
        self.held = 0

    def take(self, size: int) -> None:
        """Hold so many more bytes.

        Raises:
            RequestError: There are too many.
        """
        if self.held + size > MAX_HELD:
            problem = unavailable("too many bodies are arriving at once")
            problem.headers["connection"] = "close"
            raise problem
        self.held += size


class _Body(msgspec.Struct):
    schema: Any = None
    reports: Any = None


async def read(headers: Iterable[tuple[bytes, bytes]], receive: Receive, budget: Budget) -> bytes:
    """The body as JSON text, decompressed.

    Raises:
        RequestError: Another content type or encoding, too large before or after decompression, not gzip, too slow, or
            one too many at once.
        DisconnectedError: The connection was closed.
    """
    kind, encoding = _declared(headers)
    if kind != b"application/json":
        raise RequestError(415, "unsupported_media_type", "Content-Type must be application/json")
    if encoding not in (b"", b"identity", b"gzip"):
        raise RequestError(415, "unsupported_encoding", "Content-Encoding must be gzip or left out")
    try:
        async with asyncio.timeout(BODY_SECONDS):
            raw = await _receive(receive, budget)
    except TimeoutError:
        title = f"the body did not arrive within {BODY_SECONDS:g} s"
        raise RequestError(408, "slow_body", title, {"connection": "close"}) from None
    return _gunzip(raw) if encoding == b"gzip" else raw


def items(text: bytes) -> list[Any]:
    """The members of `reports`, of whatever type they are; null for one with a value that cannot be held.

    Raises:
        RequestError: Not JSON, not of this schema, or too many reports.
    """
    if len(text) > MAX_PARTS and sum(text.count(mark) for mark in (b",", b"[", b"{")) > MAX_PARTS:
        raise _too_many()
    try:
        body = msgspec.json.decode(text, type=_Body)
    except RecursionError:
        raise _not_json() from None
    except (msgspec.DecodeError, ValueError):
        body = _piecemeal(text)
    if body.schema != REPORTS_SCHEMA:
        raise RequestError(400, "unknown_schema", f"schema must be {REPORTS_SCHEMA!r}")
    if not isinstance(body.reports, list):
        raise RequestError(400, "invalid_body", "reports must be a list")
    if len(body.reports) > MAX_REPORTS:
        raise _too_many()
    return body.reports


def _piecemeal(text: bytes) -> _Body:
    """A body that msgspec refuses, with null for each report that it refuses by itself.

    JSON's grammar allows numbers and half surrogate pairs that msgspec does not hold, and msgspec stumbles over the
    latter even where it only skips. The standard library's parser is slower and takes all of them.
    """
    try:
        body = json.loads(str(text, "utf-8"), parse_int=_integer, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        raise _not_json() from None
    if not isinstance(body, dict):
        raise RequestError(400, "invalid_body", "the body must be a JSON object")
    reports = body.get("reports")
    if isinstance(reports, list) and len(reports) <= MAX_REPORTS:
        reports = [_alone(item) for item in reports]
    return _Body(body.get("schema"), reports)


def _integer(digits: str) -> float:
    return int(digits) if len(digits) <= MAX_DIGITS else math.inf


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _alone(item: Any) -> Any:
    try:
        return msgspec.json.decode(json.dumps(item))
    except (msgspec.DecodeError, ValueError, RecursionError):
        return None


def _declared(headers: Iterable[tuple[bytes, bytes]]) -> tuple[bytes, bytes]:
    """Content type without its parameters, and content encoding; a body that says it is too large ends here."""
    kind = encoding = b""
    for name, value in headers:
        if name == b"content-type":
            kind = value.partition(b";")[0].strip().lower()
        elif name == b"content-encoding":
            encoding = encoding + b"," + value if encoding else value
        elif name == b"content-length" and value.isdigit() and int(value[:20]) > MAX_BODY:
            raise _too_large()
    return kind, encoding.strip().lower()


async def _receive(receive: Receive, budget: Budget) -> bytes:
    parts: list[bytes] = []
    size, more = 0, True
    try:
        while more:
            message = await receive()
            if message["type"] == "http.disconnect":
                raise DisconnectedError
            part = message.get("body", b"")
            if size + len(part) > MAX_BODY:
                raise _too_large()
            budget.take(len(part))
            size += len(part)
            parts.append(part)
            more = message.get("more_body", False)
    finally:
        budget.held -= size
    return b"".join(parts)


def _gunzip(raw: bytes) -> bytes:
    stream = zlib.decompressobj(wbits=16 + zlib.MAX_WBITS)
    try:
        text = stream.decompress(raw, MAX_UNPACKED + 1)
    except zlib.error:
        raise _not_gzip() from None
    if len(text) > MAX_UNPACKED:
        raise RequestError(413, "too_large", "the body is too large when unpacked", max_bytes=MAX_UNPACKED)
    if not stream.eof or stream.unused_data:
        raise _not_gzip()
    return text


def _not_json() -> RequestError:
    return RequestError(400, "invalid_json", "the body must be JSON in UTF-8")


def _not_gzip() -> RequestError:
    return RequestError(400, "invalid_gzip", "the body must be one complete gzip member")


def _too_large() -> RequestError:
    return RequestError(413, "too_large", "the body is too large", max_bytes=MAX_BODY)


def _too_many() -> RequestError:
    return RequestError(413, "too_many_reports", "the body holds too many reports", max_reports=MAX_REPORTS)
