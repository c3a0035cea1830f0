"""Requests as a whole: which are read, which are refused, and that nothing is kept of those."""

import asyncio
import gzip
import json
import tracemalloc
import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.types import ASGIApp, Message

import hubbub.collector.body
from hubbub.clock import FileClock, ManualClock
from hubbub.collector import create_app
from hubbub.store import Store, open_store
from hubbub.wire import MAX_BODY, MAX_REPORTS, MAX_UNPACKED
from tests.unit.collecting import FIRST, JSON, Answer, ask, body, end, late, lock, post, sent

GZIP = {**JSON, "content-encoding": "gzip"}


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(tmp_path / "store.db") as store:
        yield store


@pytest.fixture
def app(store: Store) -> ASGIApp:
    return create_app(store, [lock(late())], clock=ManualClock(end(FIRST)))


def refused(store: Store, answer: Answer) -> tuple[int, str]:
    assert store.windows() == []
    assert store.counters() == {}
    return answer.problem


@pytest.mark.parametrize(
    "kind", ["application/json", "Application/JSON", "application/json; charset=utf-8", "application/json ;charset=x"]
)
@pytest.mark.parametrize("encoding", [None, "identity", "gzip", "GZip", " gzip "])
def test_what_is_read(app: ASGIApp, kind: str, encoding: str | None) -> None:
    raw = body(sent(late()))
    packed = gzip.compress(raw) if encoding and "gz" in encoding.lower() else raw
    headers = {"content-type": kind} | ({"content-encoding": encoding} if encoding else {})
    assert post(app, packed, headers).content == {"accepted": 1, "results": []}


def test_a_body_in_many_parts(app: ASGIApp) -> None:
    raw = body(sent(late()))
    parts = [raw[i : i + 7] for i in range(0, len(raw), 7)]
    assert post(app, [*parts, b""]).content["accepted"] == 1


@pytest.mark.parametrize("kind", [None, "", "text/plain", "application/jsonx", "application/x-www-form-urlencoded"])
def test_another_content_type(app: ASGIApp, store: Store, kind: str | None) -> None:
    headers = {} if kind is None else {"content-type": kind}
    assert refused(store, post(app, body(sent(late())), headers)) == (415, "unsupported_media_type")


@pytest.mark.parametrize("encoding", ["br", "deflate", "zstd", "gzip, gzip", "gzip,", "x"])
def test_another_content_encoding(app: ASGIApp, store: Store, encoding: str) -> None:
    raw = gzip.compress(body(sent(late())))
    answer = post(app, raw, {**JSON, "content-encoding": encoding})
    assert refused(store, answer) == (415, "unsupported_encoding")


RAW = body(sent(late()))
NOT_GZIP = {
    "plain": RAW,
    "empty": b"",
    "truncated": gzip.compress(RAW)[:-1],
    "half": gzip.compress(RAW)[: len(gzip.compress(RAW)) // 2],
    "wrong checksum": gzip.compress(RAW)[:-8] + bytes(8),
    "two members": gzip.compress(RAW) + gzip.compress(b""),
    "something after it": gzip.compress(RAW) + b"\0",
    "zlib": zlib.compress(RAW),
    "header only": gzip.compress(RAW)[:10],
}


@pytest.mark.parametrize("raw", NOT_GZIP.values(), ids=NOT_GZIP.keys())
def test_not_one_gzip_member(app: ASGIApp, store: Store, raw: bytes) -> None:
    assert refused(store, post(app, raw, GZIP)) == (400, "invalid_gzip")


NOT_JSON = {
    "empty": b"",
    "text": b"reports",
    "truncated": RAW[:-1],
    "two values": RAW + RAW,
    "single quotes": RAW.replace(b'"', b"'"),
    "NaN": RAW.replace(str(FIRST).encode(), b"NaN"),
    "latin-1": RAW.replace(b"flight", "flïght".encode("latin-1")),
    "utf-16": RAW.decode().encode("utf-16"),
    "half an escape": RAW.replace(b"flight", b"\\ud8"),
    "NaN beside a number that is too large": RAW.replace(str(FIRST).encode(), b'1e400, "x": NaN'),
    "latin-1 beside a number that is too large": RAW.replace(str(FIRST).encode(), b'1e400, "x": "\xef"'),
    "too large and truncated": RAW.replace(str(FIRST).encode(), b"1e400")[:-1],
    "deep": b'{"schema": "hubbub.reports/1", "reports": ' + b"[" * 50_000 + b"]" * 50_000 + b"}",
    "deep and ignored": b'{"schema": "hubbub.reports/1", "x": ' + b'{"x":' * 30_000 + b"1" + b"}" * 30_001,
    "gzip unannounced": gzip.compress(RAW),
    "gzip in gzip": gzip.compress(gzip.compress(RAW)),
}


@pytest.mark.parametrize("raw", NOT_JSON.values(), ids=NOT_JSON.keys())
def test_not_json(app: ASGIApp, store: Store, raw: bytes, request: pytest.FixtureRequest) -> None:
    headers = GZIP if "gzip in gzip" in request.node.name else JSON
    assert refused(store, post(app, raw, headers)) == (400, "invalid_json")


@pytest.mark.parametrize(
    ("raw", "code"),
    [
        (b"[]", "invalid_body"),
        (b"null", "invalid_body"),
        (b'"reports"', "invalid_body"),
        (b"1e400", "invalid_body"),
        (b'[1e400, "\\ud800"]', "invalid_body"),
        (b'{"schema": 1e400, "reports": []}', "unknown_schema"),
        (b'{"schema": "\\ud800", "reports": []}', "unknown_schema"),
        (b'{"schema": "hubbub.reports/1", "reports": 1e400}', "invalid_body"),
        (b"{}", "unknown_schema"),
        (json.dumps({"reports": [sent(late())]}).encode(), "unknown_schema"),
        (body(sent(late()), schema="hubbub.reports/2"), "unknown_schema"),
        (body(sent(late()), schema=["hubbub.reports/1"]), "unknown_schema"),
        (b'{"schema": "hubbub.reports/1"}', "invalid_body"),
        (body(reports=None), "invalid_body"),
        (body(reports=sent(late())), "invalid_body"),
        (body(reports="[]"), "invalid_body"),
    ],
)
def test_not_reports(app: ASGIApp, store: Store, raw: bytes, code: str) -> None:
    assert refused(store, post(app, raw)) == (400, code)


def padded(size: int) -> bytes:
    """A body of so many bytes with one good report."""
    raw = body(sent(late()), note="")
    return raw.replace(b'"note": ""', b'"note": "' + b"x" * (size - len(raw)) + b'"')


@pytest.mark.parametrize("announced", [True, False])
def test_the_largest_body(app: ASGIApp, store: Store, announced: bool) -> None:
    for size, status in ((MAX_BODY + 1, 413), (MAX_BODY, 200)):
        headers = JSON | ({"content-length": str(size)} if announced else {})
        raw = padded(size)
        assert len(raw) == size
        answer = post(app, [raw[: size // 2], raw[size // 2 :]], headers)
        assert answer.status == status
        if status == 413:
            assert refused(store, answer) == (413, "too_large")
            assert answer.content["max_bytes"] == MAX_BODY


@pytest.mark.parametrize("length", ["1048577", "9" * 5000])
def test_a_body_that_says_it_is_too_large_is_not_awaited(app: ASGIApp, length: str) -> None:
    headers = {**JSON, "content-length": length}
    assert asyncio.run(ask(app, b"", headers=headers, hangs=True)).problem == (413, "too_large")


def test_the_largest_unpacked_body(app: ASGIApp, store: Store) -> None:
    answer = post(app, gzip.compress(padded(MAX_UNPACKED + 1)), GZIP)
    assert refused(store, answer) == (413, "too_large")
    assert answer.content["max_bytes"] == MAX_UNPACKED
    assert post(app, gzip.compress(padded(MAX_UNPACKED)), GZIP).content["accepted"] == 1


def test_the_most_reports(app: ASGIApp, store: Store) -> None:
    reports = [sent(late(), number) for number in range(MAX_REPORTS + 1)]
    answer = post(app, body(*reports))
    assert refused(store, answer) == (413, "too_many_reports")
    assert answer.content["max_reports"] == MAX_REPORTS
    assert post(app, body(*reports[1:])).content["accepted"] == MAX_REPORTS


BOMBS = {
    "a gigabyte of zeros": lambda: b"".join(_stream(b"\0" * 2**20, 1024)),
    "lists": lambda: gzip.compress(b'{"schema": "hubbub.reports/1", "reports": [' + b"[]," * 2_600_000 + b"[]]}"),
    "objects": lambda: gzip.compress(b'{"schema": "hubbub.reports/1", "reports": [' + b"{}," * 2_600_000 + b"{}]}"),
    "deep lists": lambda: gzip.compress(
        b'{"schema": "hubbub.reports/1", "reports": [' + (b"[" * 900 + b"]" * 900 + b",") * 4_600 + b"[]]}"
    ),
    "numbers": lambda: gzip.compress(b'{"schema": "hubbub.reports/1", "reports": [' + b"0.1," * 2_000_000 + b"1]}"),
}


def _stream(block: bytes, times: int) -> Iterator[bytes]:
    packer = zlib.compressobj(9, wbits=31)
    for _ in range(times):
        yield packer.compress(block)
    yield packer.flush()


@pytest.mark.parametrize("bad", ["1e400", '"\\ud800"'])
def test_a_body_that_is_parsed_piece_by_piece_keeps_to_the_limits(app: ASGIApp, store: Store, bad: str) -> None:
    many = f'{{"schema": "hubbub.reports/1", "reports": [{bad}{", 1" * MAX_REPORTS}]}}'
    assert refused(store, post(app, many.encode())) == (413, "too_many_reports")
    large = padded(MAX_UNPACKED - 100).replace(b'"reports": [', f'"reports": [{bad}, '.encode())
    packed = gzip.compress(large)
    tracemalloc.start()
    try:
        assert post(app, packed, GZIP).content["accepted"] == 1
        assert tracemalloc.get_traced_memory()[1] < 5 * MAX_UNPACKED
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("name", BOMBS)
def test_bombs(app: ASGIApp, store: Store, name: str) -> None:
    bomb = BOMBS[name]()
    assert len(bomb) <= MAX_BODY
    tracemalloc.start()
    try:
        assert refused(store, post(app, bomb, GZIP))[0] == 413
        assert tracemalloc.get_traced_memory()[1] < 3 * MAX_UNPACKED
    finally:
        tracemalloc.stop()


def test_a_slow_body(app: ASGIApp, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hubbub.collector.body, "BODY_SECONDS", 0.01)
    answer = asyncio.run(ask(app, [RAW[:9]], hangs=True))
    assert refused(store, answer) == (408, "slow_body")
    assert answer.headers["connection"] == "close"


def test_a_device_that_leaves_midway_is_not_answered(app: ASGIApp, store: Store) -> None:
    messages: list[Message] = [{"type": "http.request", "body": RAW, "more_body": True}, {"type": "http.disconnect"}]
    sent_back = []

    async def receive() -> Message:
        return messages.pop(0)

    async def send(message: Message) -> None:
        sent_back.append(message)

    headers = [(b"content-type", b"application/json")]
    scope = {"type": "http", "method": "POST", "path": "/v1/reports", "headers": headers}

    async def run() -> None:
        await app(scope, receive, send)

    asyncio.run(run())
    assert sent_back == []
    assert store.windows() == []


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE", "HEAD", "OPTIONS"])
def test_reports_are_only_posted(app: ASGIApp, store: Store, method: str) -> None:
    answer = asyncio.run(ask(app, RAW, method=method))
    assert refused(store, answer) == (405, "method_not_allowed")
    assert answer.headers["allow"] == "POST"


@pytest.mark.parametrize("path", ["/", "/v1", "/v1/reports/", "/v1/stopped/", "/v1/reports/1", "/metrics", "/docs"])
def test_there_is_nothing_else(app: ASGIApp, path: str) -> None:
    assert asyncio.run(ask(app, RAW, path=path)).problem == (404, "not_found")


def test_health(app: ASGIApp) -> None:
    for path in ("/healthz", "/readyz"):
        assert asyncio.run(ask(app, method="GET", path=path)).status == 200
        assert asyncio.run(ask(app, method="POST", path=path)).problem == (405, "method_not_allowed")


def test_a_clock_that_cannot_be_read(store: Store, tmp_path: Path) -> None:
    clock = FileClock(tmp_path / "clock")
    app = create_app(store, [lock(late())], clock=clock)
    assert refused(store, post(app, RAW)) == (503, "unavailable")
    clock.set(end(FIRST))
    assert post(app, RAW).content["accepted"] == 1
