"""Limits on all requests together, and on what comes before a body."""

import asyncio
import gzip
import tracemalloc
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import uvicorn
from starlette.types import ASGIApp

import hubbub.collector.body
from hubbub.clock import ManualClock
from hubbub.collector import create_app, writer
from hubbub.serving import protocol
from hubbub.store import PROBLEMS_TOTAL, Store
from hubbub.wire import MAX_UNPACKED
from tests.unit.collecting import FIRST, JSON, ask, body, end, late, lock, post, sent
from tests.unit.test_collector_writer import Watched, until


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Watched]:
    with Watched(tmp_path / "store.db") as store:
        yield store


def application(store: Store) -> ASGIApp:
    return create_app(store, [lock(late())], clock=ManualClock(end(FIRST)))


def test_too_many_bodies_at_once_are_put_off(store: Watched, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hubbub.collector.body, "MAX_HELD", 5000)
    app = application(store)

    async def run() -> None:
        slow = [asyncio.create_task(ask(app, [b"x" * 1600], hangs=True)) for _ in range(3)]
        await asyncio.sleep(0.01)
        answer = await ask(app, b"x" * 201)
        assert answer.problem == (503, "unavailable")
        assert (answer.headers["retry-after"], answer.headers["connection"]) == ("30", "close")
        assert (await ask(app, body(sent(late(), 1)))).status == 200  # a small one still fits
        assert (await ask(app, body(sent(late(), 2)))).status == 200  # and leaves nothing behind
        slow[0].cancel()
        await asyncio.wait(slow[:1])
        assert (await ask(app, b"x" * 1000)).problem == (400, "invalid_json")
        for task in slow:
            task.cancel()
        await asyncio.wait(slow)

    asyncio.run(run())


def test_bodies_that_wait_for_the_store_are_not_held(store: Watched) -> None:
    app = application(store)
    raw = body(sent(late()), note="x" * (MAX_UNPACKED - 1000))
    packed = gzip.compress(raw.replace(b'"note"', b'"more": [], "note"'))

    async def run() -> int:
        store.go.clear()
        tracemalloc.start()
        tasks = [asyncio.create_task(ask(app, packed, headers={**JSON, "content-encoding": "gzip"})) for _ in range(8)]
        await until(store.entered.is_set)
        await asyncio.sleep(0.05)
        held = tracemalloc.get_traced_memory()[0]
        tracemalloc.stop()
        store.go.set()
        assert sorted([(await task).content["accepted"] for task in tasks]) == [0] * 7 + [1]
        return held

    assert asyncio.run(run()) < MAX_UNPACKED


def test_counts_are_stored_although_no_report_comes(store: Watched, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writer, "COUNT_SECONDS", 0.05)
    app = application(store)

    async def run() -> None:
        for content in (b"{", body(sent(late(), window=0)), b"[]", b"{"):
            await ask(app, content)
        assert (await ask(app, method="PUT")).status == 405
        assert (store.counters(), store.counters(PROBLEMS_TOTAL)) == ({}, {})
        await until(lambda: store.counters() == {"metric_ended": 1})
        problems = {"invalid_body": 1, "invalid_json": 2, "method_not_allowed": 1}
        assert store.counters(PROBLEMS_TOTAL) == problems
        assert store.groups == [0]

        store.failure = hubbub.store.StoreError("disk I/O error")  # what could not be counted is counted later
        await ask(app, b"{")
        await until(lambda: len(store.groups) == 2)
        store.failure = None
        await ask(app, b"{")
        await until(lambda: store.counters(PROBLEMS_TOTAL)["invalid_json"] == 4)

    asyncio.run(run())


def test_counts_go_along_with_reports(store: Watched) -> None:
    app = application(store)
    assert post(app, b"{").status == 400
    assert post(app, body(sent(late()))).status == 200
    assert (store.counters(), store.counters(PROBLEMS_TOTAL)) == ({"accepted": 1}, {"invalid_json": 1})


@asynccontextmanager
async def served(app: ASGIApp) -> AsyncIterator[tuple[str, int]]:
    config = uvicorn.Config(app, port=0, http=protocol.Protocol, ws="none", lifespan="off", log_level="critical")
    server = uvicorn.Server(config)
    task = asyncio.create_task(server.serve())
    while not server.started:
        await asyncio.sleep(0.001)
    yield server.servers[0].sockets[0].getsockname()[:2]
    server.should_exit = True
    await task


HEAD = b"POST /v1/reports HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"


async def exchange(address: tuple[str, int], *parts: bytes, pause: float = 0.0) -> bytes:
    """All that comes back until the other side closes the connection."""
    reader, writing = await asyncio.open_connection(*address)
    try:
        for part in parts:
            writing.write(part)
            await asyncio.sleep(pause)
            if writing.is_closing() or reader.at_eof():
                break
        return await asyncio.wait_for(reader.read(), 30)
    except ConnectionError:
        return b""
    finally:
        writing.close()


def test_slow_and_long_heads(store: Watched, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(protocol, "HEAD_SECONDS", 0.2)
    content = body(sent(late()))
    whole = HEAD + b"Content-Length: %d\r\n\r\n" % len(content)

    async def run() -> None:
        async with served(application(store)) as address:
            assert await exchange(address) == b""  # says nothing
            assert await exchange(address, HEAD) == b""  # never ends its head
            assert await exchange(address, *(HEAD[i : i + 1] for i in range(len(HEAD))), pause=0.01) == b""
            slow_body = await exchange(address, whole, content[:9], content[9:], b"GET", pause=0.25)
            assert slow_body.startswith(b"HTTP/1.1 200 OK\r\n")  # a body has more time, and a second head as little
            assert slow_body.count(b"HTTP/1.1") == 1
            many = b"".join(b"X-%d: %s\r\n" % (i, b"x" * 100) for i in range(400))
            for long in (HEAD + many, b"GET /" + b"x" * 40_000, HEAD + b"X: " + b"x" * 40_000):
                answer = await exchange(address, long)
                assert answer.startswith(b"HTTP/1.1 400 "), answer[:100]
                assert b"connection: close" in answer
            fits = await exchange(
                address, HEAD + many[:20_000].rpartition(b"\r\n")[0] + b"\r\nConnection: close\r\n\r\n"
            )
            assert fits.startswith(b"HTTP/1.1 400 ")
            assert b"urn:hubbub:problem:invalid_json" in fits  # read, and found to have no body

    asyncio.run(run())


def test_requests_on_one_connection(store: Watched) -> None:
    content = body(sent(late()))
    whole = HEAD + b"Content-Length: %d\r\n\r\n" % len(content) + content

    async def run() -> None:
        async with served(application(store)) as address:
            reader, writing = await asyncio.open_connection(*address)
            writing.write(whole * 3 + whole[:20])  # three at once, and the beginning of a fourth
            await asyncio.sleep(0.05)
            writing.write(whole[20:] + whole.replace(b"Host: x", b"Host: x\r\nConnection: close"))
            answers = await asyncio.wait_for(reader.read(), 30)
            writing.close()
            assert answers.count(b"HTTP/1.1 200 OK") == 5
            assert answers.count(b'"accepted":1') == 1

    asyncio.run(run())
