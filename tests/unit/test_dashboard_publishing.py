"""The SQL table `estimates`: what the read process keeps in it, how often it writes, and that ingest does not wait."""

import asyncio
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from pathlib import Path

import msgspec
import pytest

from hubbub.clock import ManualClock
from hubbub.dashboard import create_app, publishing
from hubbub.dashboard.publishing import Publisher
from hubbub.estimates import Row, rows
from hubbub.store import ESTIMATE_COLUMNS, Store, StoreError, open_store
from hubbub.store.sqlite import SqliteStore
from tests.unit.collecting import FIRST, GRACE, end, late, lock, minutes, stored
from tests.unit.serving import Serving, within
from tests.unit.test_collector_writer import until


class Noted(SqliteStore):
    """Notes what is asked of it, and fails when told to."""

    failure: StoreError | None = None

    def publish(self, rows: Iterable[Sequence[object]]) -> int:
        if self.failure is not None:
            raise self.failure
        news = list(rows)
        self.given = len(news)
        return super().publish(news)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Noted]:
    with Noted(tmp_path / "store.db") as store:
        store.accept(lock(minutes(), late()))
        yield store


def table(store: Store) -> list[Row]:
    return [Row(*row) for row in store.published()]


def test_columns_are_those_of_a_row() -> None:
    assert Row.__struct_fields__ == ESTIMATE_COLUMNS


def test_the_table_holds_the_rows(store: Noted) -> None:
    clock = ManualClock(end(FIRST))
    publisher = Publisher(store, clock)
    assert (publisher.publish(), table(store)) == (0, [])
    store.write(stored(minutes(), 150, ones=70, segment="stable"))
    assert publisher.publish() == 2
    assert table(store) == sorted(rows(store, now=clock.now()), key=lambda row: row.segment)
    assert publisher.publish() == 0

    store.write(stored(minutes(), 10, segment="stable", start=150))  # no full step
    assert publisher.publish() == 0
    store.write(stored(late(), 100, ones=50))
    assert publisher.publish() == 1
    clock.set(end(FIRST) + GRACE)
    assert publisher.publish() == 3 + 14 * 3
    assert {(row.metric, row.segment, row.state, row.n) for row in table(store) if row.window_start < "2026-12-02"} == {
        ("editor.minutes", "beta", "empty", 0),
        ("editor.minutes", "stable", "final", 160),
        ("flight.late", "", "final", 100),
    }


def test_only_what_can_still_change_is_looked_at(store: Noted) -> None:
    store.write(stored(late(), 100, ones=50))
    clock = ManualClock(end(FIRST) + GRACE)
    publisher = Publisher(store, clock)
    publisher.publish()
    assert store.given == 15
    clock.set(end(FIRST + 1) + GRACE)
    assert publisher.publish() == 2  # a day has become final, one has begun to be open
    assert store.given == 2
    for day in range(2, 17):
        clock.set(end(FIRST + day) + GRACE - 1)
        publisher.publish()
        clock.set(end(FIRST + day) + GRACE)
        publisher.publish()
    expected = rows(store, now=clock.now())
    assert table(store) == expected
    assert sum(row.state == "empty" for row in expected) == 16


def test_any_pace_comes_to_the_same(store: Noted) -> None:
    for day in range(20):
        store.write(stored(late(), 30 * day, ones=10 * day, window=FIRST + day))
    clock = ManualClock(0.0)
    publisher = Publisher(store, clock)
    for now in (end(FIRST + 1), end(FIRST + 2) + 7, end(FIRST + 25), end(FIRST + 12), end(FIRST + 16) + GRACE):
        clock.set(now)
        publisher.publish()
        expected = rows(store, now=now)
        held = {row.window_start: row for row in table(store)}
        assert [held[row.window_start] for row in expected] == expected
    again = Publisher(store, clock)  # another process begins
    assert again.publish() == 0


def test_a_failure_is_tried_again(
    store: Noted, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(publishing, "PUBLISH_SECONDS", 0.01)
    store.write(stored(late(), 100, ones=50))
    store.failure = StoreError("store.db: database is locked")
    publisher = Publisher(store, ManualClock(end(FIRST)))

    async def run() -> None:
        task = asyncio.create_task(publisher.run())
        await asyncio.sleep(0.1)
        store.failure = None
        await until(lambda: bool(store.published()))
        task.cancel()

    asyncio.run(run())
    (record,) = caplog.records
    assert record.getMessage().endswith("the table of estimates is not renewed: store.db: database is locked")


def test_the_application_publishes_while_it_runs(store: Noted, tmp_path: Path) -> None:
    store.write(stored(late(), 100, ones=50))
    clock = ManualClock(end(FIRST))

    async def run(app: object) -> None:
        coming: asyncio.Queue[dict[str, str]] = asyncio.Queue()
        sent_back: list[str] = []

        async def send(message: dict[str, str]) -> None:
            sent_back.append(message["type"])

        task = asyncio.create_task(app({"type": "lifespan"}, coming.get, send))  # type: ignore[operator]
        await coming.put({"type": "lifespan.startup"})
        await until(lambda: bool(store.published()))
        await coming.put({"type": "lifespan.shutdown"})
        await task
        assert sent_back == ["lifespan.startup.complete", "lifespan.shutdown.complete"]

    with open_store(tmp_path / "store.db", read_only=True) as reader:
        asyncio.run(run(create_app(reader, clock=clock, table=store)))
    assert len(store.published()) == 1


def test_many_rows_do_not_keep_reports_waiting(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    with open_store(path) as writer, open_store(path) as publisher:
        writer.accept(lock(late()))
        writer.write(stored(late(), 100, ones=50))
        (row,) = rows(writer, now=end(FIRST))
        waited: list[int] = []

        def slowly() -> Iterator[tuple[object, ...]]:
            for number in range(450):
                yield msgspec.structs.astuple(msgspec.structs.replace(row, window_start=f"{number:05}"))

        connection = publisher._connection  # type: ignore[attr-defined]

        class Counting:
            def execute(self, query: str, *values: object) -> sqlite3.Cursor:
                if query == "BEGIN IMMEDIATE":  # between two transactions there is room for a report
                    waited.append(len(writer.write(stored(late(), 1, start=1000 + len(waited)))))
                result: sqlite3.Cursor = connection.execute(query, *values)
                return result

        publisher._connection = Counting()  # type: ignore[attr-defined]
        assert publisher.publish(slowly()) == 450
        assert waited == [1, 1, 1]
        publisher._connection = connection  # type: ignore[attr-defined]


def test_serve_keeps_the_table(tmp_path: Path) -> None:
    with open_store(tmp_path / "store.db") as store:
        store.accept(lock(late(min_reports=1)))
        store.write(stored(late(), 1))
    with Serving(tmp_path, lock(late(min_reports=1)), now=end(FIRST)) as served:

        def held() -> list[tuple[object, ...]]:
            with closing(sqlite3.connect(served.store)) as connection:
                return connection.execute("SELECT metric, segment, state, n FROM estimates").fetchall()

        assert within(lambda: held() == [("flight.late", "", "too_uncertain", 1)])
        status, answer = served.get("/v1/metrics/flight.late/estimates")
        assert (status, [row["n"] for row in answer]) == (200, [1])
