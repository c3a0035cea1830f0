"""The SQLite store as a file: what is refused, what it promises the disk, what a second process sees."""

import sqlite3
import threading
from contextlib import closing
from pathlib import Path

import pytest

from hubbub.clock import ScaledClock
from hubbub.errors import ParameterError
from hubbub.store import StoreError, check, open_store
from hubbub.store.schema import APPLICATION_ID, MIGRATIONS
from tests.unit.collecting import FIRST, key, late, lock, stored


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A store with three reports, one of them yes."""
    path = tmp_path / "store.db"
    with open_store(path) as store:
        store.accept(lock(late()))
        store.write(stored(late(), 3, ones=1))
    return path


def change(path: Path, *statements: str) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        for statement in statements:
            connection.execute(statement)


def test_tables_and_marks(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        marks = [connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("application_id", "user_version")]
        assert marks == [APPLICATION_ID, len(MIGRATIONS)] == [0x68756262, 2]
        tables = connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'table' ORDER BY name").fetchall()
    assert [name for name, _ in tables] == ["cells", "counters", "estimates", "locks", "marks", "reports", "windows"]
    assert "WITHOUT ROWID" in dict(tables)["reports"]


def test_acknowledged_means_durable(path: Path) -> None:
    with open_store(path) as store:
        pragmas = {name: store._read(f"PRAGMA {name}")[0][0] for name in ("journal_mode", "synchronous", "fullfsync")}  # type: ignore[attr-defined]
    assert pragmas == {"journal_mode": "wal", "synchronous": 2, "fullfsync": 1}


@pytest.mark.parametrize("read_only", [False, True])
def test_a_file_of_something_else_is_refused_and_left_alone(tmp_path: Path, read_only: bool) -> None:
    text, database = tmp_path / "notes.txt", tmp_path / "other.db"
    text.write_text("not a database, but long enough to be looked at as one; " * 40)
    change(database, "CREATE TABLE people (name)")
    for path, reason in ((text, "file is not a database"), (database, "a database of something else")):
        before = path.read_bytes()
        with pytest.raises(StoreError, match=rf"{path.name}: not a hubbub store.*{reason}"):
            open_store(path, read_only=read_only)
        assert path.read_bytes() == before
        assert sorted(file.name for file in tmp_path.iterdir()) == ["notes.txt", "other.db"]


@pytest.mark.parametrize("read_only", [False, True])
def test_a_newer_schema_is_refused_and_left_alone(path: Path, read_only: bool) -> None:
    change(path, "PRAGMA user_version = 3")
    before = path.read_bytes()
    with pytest.raises(StoreError, match="a store of schema 3, newer than the 2 of this release; use a newer hubbub"):
        open_store(path, read_only=read_only)
    assert path.read_bytes() == before


def as_of_schema_1(path: Path) -> None:
    change(path, "DROP TABLE estimates", "DROP TABLE marks", "PRAGMA user_version = 1")


def test_an_older_schema_is_read_as_it_is_and_brought_up_to_date(path: Path) -> None:
    as_of_schema_1(path)
    before = path.read_bytes()
    with open_store(path, read_only=True, dev=False) as store:
        assert (store.dev, store.counters()) == (False, {"accepted": 3})
        assert [cell.summary.n for cell in store.cells()] == [3]
    with pytest.raises(StoreError, match="a store of real reports, and the two never mix"):
        open_store(path, dev=True)
    assert path.read_bytes() == before
    with open_store(path) as store:
        assert store.write(stored(late(), 5, ones=1)) == ["duplicate"] * 3 + ["accepted"] * 2
        assert store.published() == []
    test_tables_and_marks(path)


@pytest.mark.parametrize("read_only", [False, True])
@pytest.mark.parametrize("dev", [False, True])
def test_real_and_dev_never_mix(tmp_path: Path, dev: bool, read_only: bool) -> None:
    path = tmp_path / "store.db"
    open_store(path, dev=dev).close()
    before = path.read_bytes()
    kind = ("a store of real reports", "a store of `hubbub serve --dev`")[dev]
    with pytest.raises(StoreError, match=f"store.db: {kind}, and the two never mix; name another file"):
        open_store(path, dev=not dev, read_only=read_only)
    assert path.read_bytes() == before
    for wanted in (dev, None):
        with open_store(path, dev=wanted, read_only=read_only) as store:
            assert store.dev == dev


def test_a_store_of_dev_holds_the_clock_that_it_ran_by_last(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    with open_store(path, dev=True) as store:
        assert store.clock is None
        for clock in (ScaledClock(8640.0, 1796083200.125, 1796083200.125), ScaledClock(0.1, 1e9, 2e9)):
            store.run_by(clock)
    with open_store(path, read_only=True) as store:
        assert store.clock is not None
        assert (store.clock.speed, store.clock.start, store.clock.origin) == (0.1, 1e9, 2e9)
        with pytest.raises(StoreError, match="readonly"):
            store.run_by(clock)
    with open_store(tmp_path / "real.db") as store:
        with pytest.raises(ParameterError, match="a store of real reports"):
            store.run_by(clock)
        assert store.clock is None


def test_an_empty_file_becomes_a_store(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    path.touch()
    with pytest.raises(StoreError, match="the file is empty"):
        open_store(path, read_only=True)
    open_store(path).close()
    open_store(path, read_only=True).close()


@pytest.mark.parametrize("name", ["no/such/folder/store.db", "folder", "file/store.db"])
def test_where_nothing_can_be_written(tmp_path: Path, name: str) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match=r"cannot be opened for writing \(unable to open database file\)"):
        open_store(tmp_path / name)


def test_a_missing_store_is_not_made_for_reading(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"store\.db: cannot be read \(unable to open database file\)"):
        open_store(tmp_path / "store.db", read_only=True)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["a?mode=memory", "100%25", "with space", "#1"])
def test_any_name_will_do(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    open_store(path).close()
    assert path.stat().st_size > 0
    open_store(path, read_only=True).close()


def test_reading_beside_a_writer(path: Path) -> None:
    with open_store(path) as writer, open_store(path, read_only=True) as reader:
        writer.write(stored(late(), 2, start=3))
        assert [cell.summary.n for cell in reader.cells()] == [5]
        with pytest.raises(StoreError, match="readonly database"):
            reader.write(stored(late(), 1, start=9))


def test_a_full_disk_keeps_nothing_of_the_write(path: Path) -> None:
    with open_store(path) as store:
        pages = store._read("PRAGMA page_count")[0][0]  # type: ignore[attr-defined]
        store._read(f"PRAGMA max_page_count = {pages + 5}")  # type: ignore[attr-defined]
        with pytest.raises(StoreError, match=r"store\.db: database or disk is full"):
            store.write(stored(late(), 5000), {"too_late": 1})
        assert (store.reports(key(late())), store.counters()) == (stored(late(), 3, ones=1), {"accepted": 3})
        store._read("PRAGMA max_page_count = 1000000")  # type: ignore[attr-defined]
        assert store.write(stored(late(), 5000, ones=1)) == ["duplicate"] * 3 + ["accepted"] * 4997
        assert check(store) == []


def test_threads_take_turns(path: Path) -> None:
    with open_store(path) as store:
        outcomes: list[str] = []

        def write() -> None:
            for start in range(0, 200, 10):
                outcomes.extend(store.write(stored(late(), 10, ones=10, start=100 + start)))
                store.cells()

        threads = [threading.Thread(target=write) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(outcomes) == ["accepted"] * 200 + ["duplicate"] * 600
        assert [cell.summary.n for cell in store.cells()] == [203]
        assert check(store) == []


def test_a_store_opened_by_two_at_once_is_made_once(tmp_path: Path) -> None:
    path, together, failures = tmp_path / "store.db", threading.Barrier(4), []

    def open_it() -> None:
        together.wait()
        try:
            with open_store(path) as store:
                store.accept(lock(late()))
        except StoreError as error:
            failures.append(error)

    threads = [threading.Thread(target=open_it) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    with open_store(path, read_only=True) as store:
        assert [entry.metric for entry in store.locks()] == [late()]


def test_a_store_that_somebody_is_making_is_waited_for(tmp_path: Path) -> None:
    """SQLite refuses at once to keep a write-ahead log while somebody writes, however long it may wait for others."""
    path = tmp_path / "store.db"
    with closing(sqlite3.connect(path, isolation_level=None, check_same_thread=False)) as other:
        other.execute("BEGIN IMMEDIATE")
        ending = threading.Timer(0.2, other.execute, ["COMMIT"])
        ending.start()
        with open_store(path) as store:
            store.accept(lock(late()))
        ending.join()


@pytest.mark.parametrize(
    ("damage", "problem"),
    [
        ("UPDATE cells SET n = 4", "segment '': 3 reports are counted wrongly"),
        ("UPDATE reports SET payload = '80'", "segment '': 3 reports are counted wrongly"),
        ("DELETE FROM reports WHERE id = 2", "segment '': 2 reports are counted wrongly"),
        ("DELETE FROM reports", "segment '': no reports"),
        ("DELETE FROM cells", "segment '': 3 reports are not counted"),
    ],
)
def test_check_finds_damage(path: Path, damage: str, problem: str) -> None:
    with open_store(path) as store:
        assert check(store) == []
    change(path, damage)
    with open_store(path) as store:
        (found,) = check(store)
    assert f"window {FIRST}" in found
    assert found.endswith(problem)
