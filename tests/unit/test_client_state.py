"""What every state must keep to, and what the one in a folder does with the disk."""

import os
import sqlite3
import stat
import struct
from collections.abc import Iterator
from pathlib import Path

import pytest

from hubbub.client import Client, MemoryState, Report, Running, SqliteState, State, StateError
from hubbub.clock import ManualClock
from hubbub.wire import unpack
from tests.unit.client_support import DAY, ENDPOINT, STARTS, Plain, Script, lock, metric

NAME = "a"
HASHES = {"a": "1" * 64, "b": "2" * 64}


@pytest.fixture(params=["memory", "sqlite"])
def state(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[State]:
    made: State = MemoryState() if request.param == "memory" else SqliteState(tmp_path)
    yield made
    made.close()


def window(start: int, name: str = NAME, length: int = 10) -> Running:
    return Running(name, start, start + length, "")


def encode(running: Running) -> Report:
    """A report that says what was sealed."""
    return Report(f"{running.metric}{running.start}", repr((running.value, running.segment)).encode())


def sealed(state: State, now: float) -> dict[str, bytes]:
    state.seal(now, encode)
    return {report.id: report.body for report in state.outbox()}


def test_secret_is_drawn_once(state: State) -> None:
    secret = state.begin("c", HASHES, 5)
    assert len(secret) == 32
    assert state.begin("c", {}, 9) == secret
    assert len(set(secret)) > 8  # fewer distinct bytes by chance: below 10**-20


def test_windows_before_the_birth_do_not_run(state: State) -> None:
    state.begin("c", HASHES, 15)
    state.run([window(10), window(20), window(15, "b", 3)])
    assert not state.record("a", 10, lambda held: 1.0)
    assert state.record("a", 20, lambda held: 1.0)
    assert state.record("b", 15, lambda held: 1.0)


def test_what_a_window_holds(state: State) -> None:
    state.begin("c", HASHES, 0)
    assert not state.record(NAME, 10, lambda held: 1.0)
    state.run([Running(NAME, 10, 20, "beta")])
    seen: list[float | None] = []

    def put(value: float) -> bool:
        def merge(held: float | None) -> float:
            seen.append(held)
            return value

        return state.record(NAME, 10, merge)

    assert all(put(value) for value in (1.5, float("inf"), -3.0))
    assert seen == [None, 1.5, float("inf")]
    state.run([Running(NAME, 10, 20, "stable")])
    assert sealed(state, 20) == {"a10": b"(-3.0, 'beta')"}
    assert not state.record(NAME, 10, lambda held: 1.0)


def test_sealing_takes_what_has_ended_oldest_first(state: State) -> None:
    state.begin("c", HASHES, 0)
    state.run([window(30), window(10), window(20), window(15, "b")])
    order: list[int] = []
    state.seal(34.9, lambda running: order.append(running.start))
    assert order == [10, 15, 20]
    assert state.outbox() == []
    assert state.record(NAME, 30, lambda held: 1.0)
    assert sealed(state, 40) == {"a30": b"(1.0, '')"}


def test_nothing_before_the_seal_runs_again(state: State) -> None:
    state.begin("c", HASHES, 0)
    state.run([window(10, length=10), window(0, "b")])
    sealed(state, 20)
    state.run([window(0), window(10), window(19, length=1), window(15, length=100), window(20)])
    assert sealed(state, 10**9).keys() == {"a10", "b0", "a20"}


def test_window_that_reaches_back_behind_the_seal_is_wiped_unencoded(state: State) -> None:
    state.begin("c", HASHES, 0)
    state.run([window(10), window(15, length=100)])
    assert sealed(state, 20).keys() == {"a10"}
    assert sealed(state, 200).keys() == {"a10"}
    assert not state.record(NAME, 15, lambda held: 1.0)


def test_failure_while_sealing_leaves_all_as_it_was(state: State) -> None:
    state.begin("c", HASHES, 0)
    state.run([window(10), window(20)])
    state.record(NAME, 10, lambda held: 7.0)

    def failing(running: Running) -> Report:
        if running.start == 20:
            raise RuntimeError("no noise")
        return encode(running)

    with pytest.raises(RuntimeError, match="no noise"):
        state.seal(30, failing)
    assert state.outbox() == []
    assert sealed(state, 30) == {"a10": b"(7.0, '')", "a20": b"(None, '')"}


def test_outbox_forgets_one_by_one(state: State) -> None:
    state.begin("c", HASHES, 0)
    state.run([window(10), window(20)])
    sealed(state, 30)
    state.done("a10")
    state.done("never there")
    assert [report.id for report in state.outbox()] == ["a20"]


def test_another_definition_wipes_and_seals(state: State) -> None:
    state.begin("c", HASHES, 0)
    state.run([window(10), window(10, "b")])
    state.begin("c", HASHES | {"a": "3" * 64}, 15)
    state.run([window(12)])
    assert sealed(state, 100).keys() == {"b10"}
    state.begin("c", HASHES | {"a": "4" * 64}, 5)  # a clock set back opens nothing that was sealed
    state.run([window(14)])
    assert sealed(state, 200).keys() == {"b10"}
    state.run([window(15)])
    assert sealed(state, 300).keys() == {"b10", "a15"}


def test_metric_that_left_and_came_back_begins_anew(state: State) -> None:
    state.begin("c", HASHES, 0)
    state.run([window(10)])
    state.begin("c", {"b": HASHES["b"]}, 11)
    state.begin("c", HASHES, 12)
    state.run([window(10), window(11), window(12)])
    assert sealed(state, 100).keys() == {"a12"}


def test_reports_outlive_their_definition(state: State) -> None:
    state.begin("c", HASHES, 0)
    state.run([window(10)])
    sealed(state, 20)
    state.begin("c", {}, 30)
    assert [report.id for report in state.outbox()] == ["a10"]


def test_state_belongs_to_one_collection(state: State) -> None:
    state.begin("c", HASHES, 0)
    with pytest.raises(StateError, match=r"it belongs to collection 'c', the lock to 'd'; give each "):
        state.begin("d", HASHES, 0)
    state.begin("c", HASHES, 0)


# The folder


def test_all_is_there_after_reopening(tmp_path: Path) -> None:
    state = SqliteState(tmp_path)
    secret = state.begin("c", HASHES, 5)
    state.run([window(10), window(20)])
    state.record(NAME, 20, lambda held: 4.5)
    sealed(state, 20)
    state.close()
    state = SqliteState(tmp_path)
    assert state.begin("c", HASHES, 99) == secret
    assert [report.id for report in state.outbox()] == ["a10"]
    state.run([window(0)])
    assert sealed(state, 30) == {"a10": b"(None, '')", "a20": b"(4.5, '')"}
    state.close()


def test_seal_is_checked_where_noise_is_drawn(tmp_path: Path) -> None:
    """A window that stands in the file though its metric is sealed (a patched or restored file) is wiped unencoded."""
    state = SqliteState(tmp_path)
    state.begin("c", HASHES, 0)
    state.run([window(10), window(20)])
    with sqlite3.connect(tmp_path / "state.db") as db:
        db.execute("UPDATE seals SET time = 20 WHERE metric = 'a'")
    db.close()
    assert sealed(state, 30).keys() == {"a20"}
    assert not state.record(NAME, 10, lambda held: 1.0)
    state.close()


def test_files_are_the_owners_alone(tmp_path: Path) -> None:
    folder = tmp_path / "deep" / "state"
    umask = os.umask(0)
    try:
        state = SqliteState(folder)
        state.begin("c", HASHES, 0)
        modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()}
    finally:
        os.umask(umask)
    assert modes == {"state.db": 0o600, "state.db-wal": 0o600, "state.db-shm": 0o600}
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    state.close()


def test_sealing_wipes_the_value_from_the_disk(tmp_path: Path) -> None:
    state = SqliteState(tmp_path)
    state.begin("c", HASHES, 0)
    state.run([window(10)])
    value = 12345.678
    state.record(NAME, 10, lambda held: value)

    def on_disk() -> bool:
        return any(struct.pack(">d", value) in path.read_bytes() for path in tmp_path.iterdir())

    assert on_disk()
    state.seal(20, lambda running: Report("x", b"body"))
    assert not on_disk()
    state.close()
    assert not on_disk()


def test_sealing_is_on_the_disk_before_anything_is_sent(tmp_path: Path) -> None:
    state = SqliteState(tmp_path)
    state.begin("c", HASHES, 0)
    state.run([window(10)])

    levels: list[int] = []

    def noted(held: float | None) -> float:
        levels.append(state._db.execute("PRAGMA synchronous").fetchone()[0])
        return 1.0

    state.seal(20, lambda running: Report("x", str(noted(running.value)).encode()))
    state.run([window(20)])
    state.record(NAME, 20, noted)
    assert levels == [2, 1]  # FULL, NORMAL
    state.close()


def test_not_a_database(tmp_path: Path) -> None:
    (tmp_path / "state.db").write_bytes(b"something else entirely, " * 100)
    with pytest.raises(StateError, match=r"the database cannot be used \(file is not a database\); give state_dir a "):
        SqliteState(tmp_path)


def test_damaged_database_raises_at_construction_only(tmp_path: Path) -> None:
    state = SqliteState(tmp_path)
    state.begin("c", HASHES, 0)
    state.close()
    path = tmp_path / "state.db"
    path.write_bytes(path.read_bytes()[:4096] + b"\xff" * (path.stat().st_size - 4096))
    with pytest.raises(StateError, match="the database cannot be used"):
        Client(lock(metric()), ENDPOINT, state_dir=tmp_path, transport=Script())


def test_newer_schema(tmp_path: Path) -> None:
    SqliteState(tmp_path).close()
    db = sqlite3.connect(tmp_path / "state.db")
    db.execute("PRAGMA user_version = 2")
    db.close()
    with pytest.raises(StateError, match=r"schema 2 is newer than 1; update hubbub"):
        SqliteState(tmp_path)


def test_folder_that_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    for folder in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(StateError, match=r"file.*: cannot be written \((File exists|Not a directory)\); give"):
            SqliteState(folder)


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is forbidden to root")
def test_folder_without_permission(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(StateError, match=r"cannot be written \(Permission denied\)"):
        SqliteState(tmp_path / "below")


def test_locked_database(tmp_path: Path) -> None:
    clock, script, asked = ManualClock(STARTS), Script(), metric(encoder=Plain(481))
    device = Client(lock(asked), ENDPOINT, state_dir=tmp_path, clock=clock, transport=script)
    device.add(asked.name, 4)
    other = sqlite3.connect(tmp_path / "state.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(StateError, match=r"the database cannot be used \(database is locked\)"):
        Client(lock(asked), ENDPOINT, state_dir=tmp_path, clock=clock, transport=script)
    device.add(asked.name, 1)
    device.set(asked.name, 1)
    clock.set(STARTS + DAY)
    device.tick()
    assert not device.flush()
    assert device.counters == {"state_failed": 4}
    assert script.bodies == []
    other.execute("ROLLBACK")
    other.close()
    assert device.flush()
    (report,) = script.reports
    assert unpack(report["payload"], Plain(481).radices)[0] == 4
    device.close()


def test_acknowledgement_that_cannot_be_stored_sends_the_same_bytes_again(tmp_path: Path) -> None:
    clock, script = ManualClock(STARTS), Script()
    device = Client(lock(metric()), ENDPOINT, state_dir=tmp_path, clock=clock, transport=script)
    clock.set(STARTS + DAY)
    device.tick()
    other = sqlite3.connect(tmp_path / "state.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    assert not device.flush()
    other.execute("ROLLBACK")
    other.close()
    assert device.flush()
    assert len(script.bodies) == 2
    assert len(set(script.bodies)) == 1
    device.close()


def test_closed_client_raises_nothing(tmp_path: Path) -> None:
    device = Client(lock(metric()), ENDPOINT, state_dir=tmp_path, clock=ManualClock(STARTS), transport=Script())
    device.close()
    device.add("editor.minutes", 1)
    assert not device.flush()
    assert device.counters == {"state_failed": 2}
