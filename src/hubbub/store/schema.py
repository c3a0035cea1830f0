"""Opening a SQLite file as a store: what marks it as one, its tables, and what is refused."""

import os
import sqlite3
import time
from pathlib import Path

from hubbub.store.base import StoreError

APPLICATION_ID = int.from_bytes(b"hubb", "big")
BUSY_SECONDS = 5.0  # how long a write waits for another one's transaction
_PAUSE_SECONDS = 0.01
_MARKED = 2  # schema from which on a store has marks
_DEV = "dev"  # mark of a store whose time is not that of the world
CLOCK = "clock"  # mark of the same: speed, start and origin of the clock that it runs by, as JSON
_WAL_BYTES = 64 << 20  # what the write-ahead log may keep on disk after a checkpoint

# Step i brings a store of schema i to i + 1; SQLite's `user_version` is the schema. Append only: stores have run them.
MIGRATIONS: tuple[tuple[str, ...], ...] = (
    (
        """CREATE TABLE windows (
            id INTEGER PRIMARY KEY, metric TEXT NOT NULL, hash TEXT NOT NULL, window INTEGER NOT NULL,
            UNIQUE (metric, hash, window))""",
        """CREATE TABLE cells (
            window_id INTEGER NOT NULL REFERENCES windows, segment TEXT NOT NULL,
            n INTEGER NOT NULL, counts BLOB NOT NULL, shown_n INTEGER NOT NULL, shown_counts BLOB NOT NULL,
            PRIMARY KEY (window_id, segment)) WITHOUT ROWID""",
        """CREATE TABLE reports (
            window_id INTEGER NOT NULL REFERENCES windows, id INTEGER NOT NULL, segment TEXT NOT NULL,
            payload TEXT NOT NULL, PRIMARY KEY (window_id, id)) WITHOUT ROWID""",
        """CREATE TABLE counters (
            name TEXT NOT NULL, labels TEXT NOT NULL, value INTEGER NOT NULL,
            PRIMARY KEY (name, labels)) WITHOUT ROWID""",
        """CREATE TABLE locks (
            id INTEGER PRIMARY KEY, collection TEXT NOT NULL, metric TEXT NOT NULL, version INTEGER NOT NULL,
            hash TEXT NOT NULL, entry TEXT NOT NULL UNIQUE)""",
    ),
    (
        "CREATE TABLE marks (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
        """CREATE TABLE estimates (
            metric TEXT NOT NULL, version INTEGER NOT NULL, hash TEXT NOT NULL, window_start TEXT NOT NULL,
            window_end TEXT NOT NULL, segment TEXT NOT NULL, category TEXT, state TEXT NOT NULL, n INTEGER NOT NULL,
            n_effective INTEGER NOT NULL, value REAL, se REAL, se_shared REAL, ci_low REAL, ci_high REAL,
            level REAL NOT NULL, method TEXT, tidied REAL, epsilon REAL, permanent_epsilon REAL,
            manipulation_per_percent REAL)""",
        """CREATE UNIQUE INDEX estimates_key ON estimates
            (metric, hash, window_start, segment, ifnull(category, ''))""",
    ),
)


def connect(
    path: str | os.PathLike[str], *, read_only: bool = False, dev: bool | None = None
) -> tuple[sqlite3.Connection, bool]:
    """A connection to the store at `path`, which is made if it is not there, or brought up to this release's schema.

    Args:
        path: The file.
        read_only: Change nothing, not even the schema.
        dev: What the store must be, and a new one becomes; None takes both and makes a real one.

    Returns:
        The connection, and whether the store is one of `serve --dev`.

    Raises:
        StoreError: Not a store, of a newer schema, of the other mode, missing (read only), or not to be written
            (otherwise).
    """
    uri = f"{Path(path).absolute().as_uri()}?mode={'ro' if read_only else 'rwc'}"
    connection = None
    try:
        connection = sqlite3.connect(uri, uri=True, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False)
        fresh = _examine(connection, path)
        if fresh and read_only:
            raise StoreError(f"{path}: not a hubbub store, the file is empty")
        if not read_only:
            _prepare(connection, path, fresh=fresh, dev=dev)
        mode = _mode(connection, path, dev)
    except sqlite3.Error as error:
        doing = "read" if read_only else "opened for writing"
        foreign = getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_NOTADB
        what = "not a hubbub store" if foreign else f"cannot be {doing}"
        if connection is not None:
            connection.close()
        raise StoreError(f"{path}: {what} ({error})") from None
    except StoreError:
        if connection is not None:
            connection.close()
        raise
    return connection, mode


def _examine(connection: sqlite3.Connection, path: str | os.PathLike[str]) -> bool:
    """Whether the file is new, without touching one that is somebody else's."""
    connection.execute("BEGIN")  # one view of the file, whatever another process is making of it
    tables = _scalar(connection, "SELECT count(*) FROM sqlite_master")
    mark, schema = (_scalar(connection, f"PRAGMA {name}") for name in ("application_id", "user_version"))
    connection.execute("COMMIT")
    if not tables and not mark and not schema:
        return True
    if mark != APPLICATION_ID:
        raise StoreError(f"{path}: not a hubbub store, but a database of something else")
    if schema > len(MIGRATIONS):
        raise StoreError(
            f"{path}: a store of schema {schema}, newer than the {len(MIGRATIONS)} of this release; use a newer hubbub"
        )
    return False


def _mode(connection: sqlite3.Connection, path: str | os.PathLike[str], dev: bool | None) -> bool:
    """Whether the store is one of `serve --dev`, which must be what was asked for."""
    marked = _scalar(connection, "PRAGMA user_version") >= _MARKED
    found = marked and _scalar(connection, f"SELECT count(*) FROM marks WHERE name = '{_DEV}'") > 0
    if dev is not None and dev != found:
        kinds = "a store of `hubbub serve --dev`", "a store of real reports"
        raise StoreError(f"{path}: {kinds[dev]}, and the two never mix; name another file")
    return found


def _prepare(connection: sqlite3.Connection, path: str | os.PathLike[str], *, fresh: bool, dev: bool | None) -> None:
    """Make the file durable and current; two processes that open a new one at once take turns."""
    if not fresh:
        _mode(connection, path, dev)  # a store of the other mode is left alone
    if (mode := _write_ahead(connection)) != "wal":
        raise StoreError(f"{path}: the file system keeps no write-ahead log (journal_mode {mode})")
    for pragma in ("synchronous = FULL", "fullfsync = ON", f"journal_size_limit = {_WAL_BYTES}"):
        connection.execute(f"PRAGMA {pragma}")
    connection.execute("BEGIN IMMEDIATE")
    before = _scalar(connection, "PRAGMA user_version")
    for step in MIGRATIONS[before:]:
        for statement in step:
            connection.execute(statement)
    if dev and not before:
        connection.execute("INSERT INTO marks (name, value) VALUES (?, '1')", (_DEV,))
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    connection.execute(f"PRAGMA user_version = {len(MIGRATIONS)}")
    connection.execute("COMMIT")


def _write_ahead(connection: sqlite3.Connection) -> str:
    """Keep a write-ahead log from now on; SQLite itself does not wait there while another process writes the file."""
    deadline = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            return _text(connection, "PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
        time.sleep(_PAUSE_SECONDS)


def _scalar(connection: sqlite3.Connection, query: str) -> int:
    return int(connection.execute(query).fetchone()[0])


def _text(connection: sqlite3.Connection, query: str) -> str:
    return str(connection.execute(query).fetchone()[0])
