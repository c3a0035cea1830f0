"""Group commit: what shares a transaction, when it is acknowledged, and what happens when it fails."""

import asyncio
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from hubbub.clock import ManualClock
from hubbub.collector import create_app, writer
from hubbub.collector.writer import Writer
from hubbub.store import Outcome, Report, Store, StoreError, check
from hubbub.store.sqlite import SqliteStore
from tests.unit.collecting import FIRST, Answer, ask, body, end, key, late, lock, post, sent, stored


class Watched(SqliteStore):
    """A store whose writes are noted, and wait or fail when told to."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.groups: list[int] = []
        self.entered, self.go = threading.Event(), threading.Event()
        self.go.set()
        self.failure: Exception | None = None

    def write(
        self,
        reports: Sequence[Report],
        tally: Mapping[str, int] | None = None,
        problems: Mapping[str, int] | None = None,
    ) -> list[Outcome]:
        self.groups.append(len(reports))
        self.entered.set()
        assert self.go.wait(30)
        if self.failure is not None:
            raise self.failure
        return super().write(reports, tally, problems)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Watched]:
    with Watched(tmp_path / "store.db") as store:
        yield store


def application(store: Store) -> Any:
    return create_app(store, [lock(late())], clock=ManualClock(end(FIRST)))


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(30):
        while not condition():
            await asyncio.sleep(0.001)


def test_what_arrives_during_a_transaction_shares_the_next(store: Watched) -> None:
    app = application(store)

    async def run() -> list[Answer]:
        store.go.clear()
        first = asyncio.create_task(ask(app, body(sent(late(), 0))))
        await until(store.entered.is_set)
        rest = [asyncio.create_task(ask(app, body(sent(late(), n), sent(late(), n)))) for n in range(40)]
        await asyncio.sleep(0.01)
        store.go.set()
        return list(await asyncio.gather(first, *rest))

    answers = asyncio.run(run())
    assert store.groups == [1, 80]
    assert [answer.content["accepted"] for answer in answers] == [1, 0] + [1] * 39
    assert all(answer.codes[1] == ("duplicate", None) for answer in answers[1:])
    assert store.reports(key(late())) == stored(late(), 40, ones=40)


def test_nothing_is_acknowledged_before_it_is_durable(store: Watched) -> None:
    app = application(store)

    async def run() -> None:
        store.go.clear()
        answer = asyncio.create_task(ask(app, body(sent(late()))))
        await until(store.entered.is_set)
        done, _ = await asyncio.wait((answer,), timeout=0.05)
        assert not done
        store.go.set()
        assert (await answer).content["accepted"] == 1

    asyncio.run(run())


@pytest.mark.parametrize("failure", [StoreError("store.db: disk I/O error"), None], ids=["broken", "full"])
def test_a_store_that_cannot_be_written_acknowledges_nothing(store: Watched, failure: Exception | None) -> None:
    app = application(store)
    many = [body(*(sent(late(), 1000 * request + n) for n in range(1000))) for request in range(5)]

    async def run() -> tuple[list[Answer], Answer]:
        answers = await asyncio.gather(*(ask(app, content) for content in many))
        return list(answers), await ask(app, method="GET", path="/readyz")

    store.failure = failure
    if failure is None:
        pages = store._read("PRAGMA page_count")[0][0]
        store._read(f"PRAGMA max_page_count = {pages + 2}")
    answers, ready = asyncio.run(run())
    for answer in answers:
        assert answer.problem == (503, "unavailable")
        assert answer.headers["retry-after"] == "30"
        assert "store.db" not in str(answer.content)
    assert store.reports(key(late())) == []
    if failure is not None:
        assert ready.problem == (503, "unavailable")

    store.failure = None
    store._read("PRAGMA max_page_count = 1000000")
    answers, ready = asyncio.run(run())
    assert [answer.content["accepted"] for answer in answers] == [1000] * 5
    assert ready.content == {"status": "ready"}
    assert store.counters() == {"accepted": 5000}
    assert check(store) == []


def test_counts_of_refusals_survive_a_failure(store: Watched) -> None:
    app = application(store)
    refused, good = body(sent(late(), window=0)), body(sent(late()))
    assert post(app, refused).status == 200
    store.failure = StoreError("disk I/O error")
    assert post(app, good).status == 503
    store.failure = None
    assert post(app, refused).status == 200
    assert store.counters() == {}
    assert post(app, good).status == 200
    assert store.counters() == {"accepted": 1, "metric_ended": 2}


def test_a_fault_of_our_own_leaves_nobody_waiting(store: Watched) -> None:
    store.failure = RuntimeError("a bug")
    with pytest.raises(RuntimeError, match="a bug"):
        post(application(store), body(sent(late())))
    store.failure = None
    assert post(application(store), body(sent(late()))).content["accepted"] == 1


def test_too_much_at_once_is_put_off(store: Watched, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writer, "MAX_WAITING", 10)
    app = application(store)

    async def run() -> list[Answer]:
        store.go.clear()
        tasks = [asyncio.create_task(ask(app, body(*stored_ids(n)))) for n in range(3)]
        await until(store.entered.is_set)
        await asyncio.sleep(0.01)
        store.go.set()
        return list(await asyncio.gather(*tasks))

    def stored_ids(request: int) -> list[dict[str, Any]]:
        return [sent(late(), 4 * request + n) for n in range(4)]

    statuses = [answer.status for answer in asyncio.run(run())]
    assert statuses == [200, 200, 503]
    assert post(app, body(*stored_ids(2))).content["accepted"] == 4


def test_groups_are_limited_but_take_any_single_request(store: Watched, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writer, "MAX_GROUP", 5)
    store.accept(lock(late()))

    async def run() -> list[list[Outcome]]:
        write = Writer(store)
        sizes = (7, 3, 2, 1, 9)
        starts = [sum(sizes[:i]) for i in range(len(sizes))]
        parts = [stored(late(), size, start=start) for size, start in zip(sizes, starts, strict=True)]
        outcomes = await asyncio.gather(*(write.write(part) for part in parts))
        await write.close()
        return outcomes

    assert [len(outcome) for outcome in asyncio.run(run())] == [7, 3, 2, 1, 9]
    assert store.groups == [7, 5, 1, 9]


def test_closing_finishes_what_waits_and_keeps_the_counts(store: Watched) -> None:
    store.accept(lock(late()))

    async def run() -> None:
        write = Writer(store)
        waiting = asyncio.create_task(write.write(stored(late(), 3)))
        await asyncio.sleep(0)
        write.note("too_late")
        await write.close()
        assert waiting.done()

    asyncio.run(run())
    assert store.counters() == {"accepted": 3, "too_late": 1}


def test_closing_on_a_broken_store(store: Watched) -> None:
    async def run() -> None:
        write = Writer(store)
        write.note("too_late")
        store.failure = StoreError("disk I/O error")
        await write.close()

    asyncio.run(run())
    assert store.counters() == {}


def test_a_request_that_was_given_up_is_stored_all_the_same(store: Watched) -> None:
    app = application(store)

    async def run() -> None:
        store.go.clear()
        given_up = asyncio.create_task(ask(app, body(sent(late(), 0))))
        await until(store.entered.is_set)
        given_up.cancel()
        other = asyncio.create_task(ask(app, body(sent(late(), 1))))
        await asyncio.wait((given_up,))
        store.go.set()
        assert (await other).content["accepted"] == 1

    asyncio.run(run())
    assert store.reports(key(late())) == stored(late(), 2, ones=2)
