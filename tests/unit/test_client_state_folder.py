"""What the state in a folder does with the disk, with other processes, and with a disk that fails."""

import json
import os
import resource
import sqlite3
import stat
import struct
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from hubbub.client import Report, SqliteState, StateError
from hubbub.client.folder import Folder
from hubbub.client.looking import look
from hubbub.client.state import Held, Stored
from tests.unit.client_support import DAY, STARTS
from tests.unit.state_support import BOTH, NAME, begin, named, of, sealed, window

ROOT = Path(__file__).parents[2]


def opened(folder: Path) -> SqliteState:
    state = SqliteState(folder)
    begin(state)
    return state


def test_all_is_there_after_reopening(tmp_path: Path) -> None:
    state = SqliteState(tmp_path)
    first = begin(state, seconds=5)
    state.run([window(10), window(20)])
    state.record(window(20), lambda held: 4.5)
    state.seal(STARTS + 20, lambda running: Report("r", b"body", 77.5))
    state.delay("r", 88.5)
    state.set_consent("granted")
    state.close()
    state = SqliteState(tmp_path)
    again = begin(state, seconds=99)
    assert (again.secret, again.recovered) == (first.secret, "")
    assert again.ledger.birth == STARTS + 5
    assert again.ledger.accounts[NAME].sealed == STARTS + 20
    assert state.outbox() == [Report("r", b"body", 88.5, 1, STARTS + 20)]
    assert state.consent() == "granted"
    state.run([window(0)])
    assert sealed(state, 30) == {"a20": b"(4.5, '')", "r": b"body"}
    state.close()


def test_seal_is_checked_where_noise_is_drawn(tmp_path: Path) -> None:
    """A window that stands in the file though its metric is sealed (a patched or restored file) is wiped unencoded."""
    state = opened(tmp_path)
    state.run([window(10), window(20)])
    with closing(sqlite3.connect(tmp_path / "state.db", isolation_level=None)) as db:
        db.execute("UPDATE accounts SET sealed = ? WHERE metric = 'a'", (STARTS + 20,))
    db.close()
    assert sealed(state, 30).keys() == {"a20"}
    assert not state.record(window(10), lambda held: 1.0)
    state.close()


def test_files_are_the_owners_alone(tmp_path: Path) -> None:
    folder = tmp_path / "deep" / "state"
    umask = os.umask(0)
    try:
        state = opened(folder)
        modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()}
    finally:
        os.umask(umask)
    assert modes == dict.fromkeys(("secret.json", "state.db", "state.db-wal", "state.db-shm", "state.lock"), 0o600)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    state.close()


@pytest.mark.parametrize("by", ["seal", "wipe"])
def test_value_is_wiped_from_the_disk(tmp_path: Path, by: str) -> None:
    state = opened(tmp_path)
    state.run([window(10)])
    value = 12345.678
    state.record(window(10), lambda held: value)

    def on_disk() -> bool:
        return any(struct.pack(">d", value) in path.read_bytes() for path in tmp_path.iterdir())

    assert on_disk()
    (tmp_path / "state.db.corrupt-1").write_bytes(struct.pack(">d", value) if by == "wipe" else b"")
    if by == "seal":
        state.seal(STARTS + 20, lambda running: Report("x", b"body"))
    else:
        state.wipe(STARTS + 20)
    assert not on_disk()
    state.close()
    assert not on_disk()


MARK = 12345.678901234


def on_disk(folder: Path) -> bool:
    return any(struct.pack(">d", MARK) in path.read_bytes() for path in folder.iterdir())


def marked(folder: Path) -> SqliteState:
    state = opened(folder)
    state.run([window(10)])
    state.record(window(10), lambda held: MARK)
    assert on_disk(folder)
    return state


@pytest.mark.parametrize("by", ["seal", "wipe", "begin"])
def test_value_is_wiped_once_nobody_reads_it_any_more(tmp_path: Path, by: str) -> None:
    """A backup that reads the database keeps the log from being emptied: the next call after it does that."""
    state = marked(tmp_path)
    reader = sqlite3.connect(tmp_path / "state.db", isolation_level=None)
    reader.execute("BEGIN")
    reader.execute("SELECT * FROM running").fetchall()
    if by == "seal":
        state.seal(STARTS + 20, lambda running: Report("x", b"body"))
    elif by == "wipe":
        state.wipe(STARTS + 20)
    else:
        begin(state, of(named(version=2, step=2)), 15)
    assert not state.outbox() or by == "seal"
    assert on_disk(tmp_path)
    reader.execute("COMMIT")
    state.outbox()
    assert not on_disk(tmp_path)
    reader.close()
    state.close()


def test_redefinition_wipes_from_the_disk(tmp_path: Path) -> None:
    state = marked(tmp_path)
    begin(state, of(named(version=2, step=2)), 15)
    assert not on_disk(tmp_path)
    state.close()


def killed(folder: Path) -> None:
    """A process that is killed between sealing and emptying the log."""
    state = marked(folder)
    state._purge = lambda: os._exit(0)  # type: ignore[method-assign]
    sealed(state, 20)


def test_what_a_killed_process_had_wiped_is_wiped_at_the_next_start(tmp_path: Path) -> None:
    code = "import sys, pathlib, tests.unit.test_client_state_folder as t; t.killed(pathlib.Path(sys.argv[1]))"
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], cwd=ROOT, check=True)
    assert on_disk(tmp_path)
    state = SqliteState(tmp_path)
    assert not on_disk(tmp_path)
    assert sealed(state, 20).keys() == {"a10"}
    state.close()


def test_sealing_is_on_the_disk_before_anything_is_sent(tmp_path: Path) -> None:
    state = opened(tmp_path)
    state.run([window(10)])
    levels: list[int] = []

    def noted(held: Held | None) -> Held:
        levels.append(state._tables.db.execute("PRAGMA synchronous").fetchone()[0])
        return 1.0

    state.seal(STARTS + 20, lambda running: Report("x", str(noted(running.value)).encode()))
    state.run([window(20)])
    state.record(window(20), noted)
    assert levels == [2, 1]  # FULL, NORMAL
    state.close()


def test_both_copies_tell_the_same_before_anything_is_sent(tmp_path: Path) -> None:
    state = SqliteState(tmp_path)
    for act in (
        lambda: begin(state),
        lambda: state.run([window(10)]),
        lambda: state.seal(STARTS + 20, lambda running: Report("x", b"body")),
        lambda: state.set_consent("granted"),
        lambda: begin(state, of(named(version=2, step=2)), 30),
        lambda: state.wipe(STARTS + 40),
    ):
        act()
        kept = json.loads((tmp_path / "secret.json").read_text())
        memory = look(tmp_path).memory
        assert kept["secret"] == memory.secret.hex()
        assert kept["consent"] == memory.consent
        seals = {name: account["sealed"] for name, account in kept["kept"]["ledger"]["accounts"].items()}
        assert seals == {name: account.sealed for name, account in memory.ledger.accounts.items()}
        charges = {name: len(account["charges"]) for name, account in kept["kept"]["ledger"]["accounts"].items()}
        assert charges == {name: len(account.charges) for name, account in memory.ledger.accounts.items()}
    state.close()


def test_secret_is_in_no_text(tmp_path: Path) -> None:
    state = SqliteState(tmp_path)
    installation = begin(state)
    texts = [repr(x) for x in (installation, state, look(tmp_path), state.ledger())]
    state.close()
    with pytest.raises(StateError) as caught:
        state.outbox()
    for text in [*texts, str(caught.value)]:
        assert installation.secret.hex() not in text
        assert repr(installation.secret) not in text


# Other processes


def test_folder_serves_one_state_at_a_time(tmp_path: Path) -> None:
    first = opened(tmp_path)
    with pytest.raises(StateError, match=r"in use by another process; give each process a state_dir of its own") as one:
        SqliteState(tmp_path)
    assert one.value.busy
    code = "import sys; from hubbub.client import SqliteState; SqliteState(sys.argv[1])"
    other = subprocess.run([sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, check=False)
    assert other.returncode == 1
    assert "in use by another process" in other.stderr
    first.close()
    SqliteState(tmp_path).close()


def test_state_that_could_not_be_opened_does_not_hold_the_folder(tmp_path: Path) -> None:
    opened(tmp_path).close()
    other = sqlite3.connect(tmp_path / "state.db", isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    with pytest.raises(StateError):
        SqliteState(tmp_path)
    other.close()
    opened(tmp_path).close()


def test_child_of_a_fork_leaves_the_parents_state_alone(tmp_path: Path) -> None:
    state = opened(tmp_path)
    state.run([window(10)])
    child = os.fork()
    if child == 0:
        code = 1
        try:
            state.abandon()
            try:
                state.outbox()
            except StateError:
                code = 0
            try:
                SqliteState(tmp_path)
                code = 2
            except StateError as error:
                code = code if error.busy else 3
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    with pytest.raises(StateError, match="in use"):
        SqliteState(tmp_path)
    assert sealed(state, 20).keys() == {"a10"}
    state.close()
    state = SqliteState(tmp_path)
    assert begin(state).recovered == ""
    state.close()


@pytest.mark.parametrize("held", ["IMMEDIATE", "EXCLUSIVE"])
def test_locked_database_is_neither_renamed_nor_waited_for(tmp_path: Path, held: str) -> None:
    state = opened(tmp_path)
    state.run([window(10)])
    other = sqlite3.connect(tmp_path / "state.db", isolation_level=None)
    other.execute(f"BEGIN {held}")
    for act in (
        lambda: begin(state),
        lambda: state.run([window(20)]),
        lambda: state.record(window(10), lambda value: 1.0),
        lambda: sealed(state, 20),
        lambda: state.done("a10"),
        lambda: state.wipe(STARTS + 20),
    ):
        with pytest.raises(StateError, match=r"the database cannot be used \(database is locked\)") as caught:
            act()
        assert caught.value.busy
    state.close()
    with pytest.raises(StateError, match=r"database is locked"):
        SqliteState(tmp_path)
    other.execute("ROLLBACK")
    other.close()
    state = SqliteState(tmp_path)
    assert begin(state).recovered == ""
    assert sealed(state, 20).keys() == {"a10"}
    state.close()
    assert not list(tmp_path.glob("*corrupt*"))


def test_looking_needs_no_lock_and_changes_nothing(tmp_path: Path) -> None:
    with pytest.raises(StateError, match="no such folder"):
        look(tmp_path / "missing")
    with pytest.raises(StateError, match=r"state\.db is not in it"):
        look(tmp_path)
    state = opened(tmp_path)
    state.set_consent("granted")
    assert look(tmp_path).memory.ledger == state.ledger()
    state.close()
    files = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert look(tmp_path).memory.consent == "granted"
    assert {name: (tmp_path / name).read_bytes() for name in files} == files
    (tmp_path / "state.db").write_bytes(b"not a database")
    with pytest.raises(StateError, match=r"state\.db is damaged"):
        look(tmp_path)
    assert (tmp_path / "state.db").read_bytes() == b"not a database"


# A disk that fails


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


def test_newer_schema_is_left_alone(tmp_path: Path) -> None:
    opened(tmp_path).close()
    with closing(sqlite3.connect(tmp_path / "state.db", isolation_level=None)) as db:
        (application,) = db.execute("PRAGMA application_id").fetchone()
        db.execute("PRAGMA user_version = 2")
        db.execute(f"PRAGMA application_id = {application + 1}")
    db.close()
    for _ in range(2):
        with pytest.raises(StateError, match=r"schema 2 is newer than 1; update hubbub"):
            SqliteState(tmp_path)


def full(folder: Path) -> None:
    """A life on a disk that takes no more: what cannot be kept is an error, what was kept stays."""
    state = SqliteState(folder)
    begin(state)
    state.run([window(10)])
    state.record(window(10), lambda held: 3.0)
    state.seal(STARTS + 10, lambda running: None)
    largest = max(path.stat().st_size for path in folder.iterdir())
    hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
    resource.setrlimit(resource.RLIMIT_FSIZE, (largest, hard))
    failed = 0
    for number in range(2, 400):
        try:
            state.run([window(10 * number, segment="x" * 500)])
        except StateError as error:
            failed += not error.busy
    assert failed > 100
    for act in (
        lambda: state.seal(STARTS + 10**6, lambda running: Report(str(running.start), b"x" * 10**6)),
        lambda: begin(state, of(named(version=2, step=2), *(named(f"m{i}") for i in range(300))), 9),
    ):
        try:
            act()
        except StateError:
            continue
        raise AssertionError("the disk was not full")
    assert state.stored() == Stored(0, 0)
    resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
    assert b"(3.0, '')" in sealed(state, 20).values()
    state.close()
    state = SqliteState(folder)
    assert begin(state, BOTH, 20).recovered == ""
    state.close()


def test_full_disk(tmp_path: Path) -> None:
    code = "import sys, pathlib, tests.unit.test_client_state_folder as t; t.full(pathlib.Path(sys.argv[1]))"
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert not list(tmp_path.glob("*corrupt*"))


def test_copy_that_cannot_be_written_keeps_the_device_from_beginning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    state = SqliteState(tmp_path)
    with monkeypatch.context() as patched:
        patched.setattr(Folder, "replace", broken)
        with pytest.raises(StateError, match="no space"):
            begin(state)
    state.close()
    assert not (tmp_path / "secret.json").exists()
    state = SqliteState(tmp_path)
    assert begin(state).recovered == ""  # as after a crash: nothing can have left yet
    assert (tmp_path / "secret.json").exists()
    state.close()


@pytest.mark.parametrize("times", [1, 3])
def test_copy_that_lags_behind_a_crash_is_no_restored_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, times: int
) -> None:
    state = opened(tmp_path)
    with monkeypatch.context() as patched:
        patched.setattr(Folder, "replace", broken)
        for number in range(times):
            state.run([window(10 * number)])
            sealed(state, 10 * number + 10)
    state.run([window(DAY)])
    state.close()
    state = SqliteState(tmp_path)
    assert begin(state, seconds=DAY + 5).recovered == ""
    assert f"a{DAY}" in sealed(state, DAY + 10)
    state.close()
    state = SqliteState(tmp_path)
    assert begin(state, seconds=DAY + 5).recovered == ""
    state.close()


def broken(*arguments: object) -> None:
    raise StateError("here", "no space")
