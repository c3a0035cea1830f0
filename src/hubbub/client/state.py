"""What a device remembers: its secret, the seals of its metrics, running windows, the outbox.

Each method is one transaction. The rules that no caller may break are kept here: a window that begins before its
metric's seal is neither run nor encoded, whatever clock, version or window length say; sealing stores the report, wipes
the value and advances the seal at once. `MemoryState` forgets all with the process (simulated devices, tests);
`SqliteState` keeps it in a folder. Specification: spec/windows.md, section "Seals".
"""

import os
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple, Protocol

from hubbub.errors import HubbubError
from hubbub.prf import SECRET_BYTES

SCHEMA_VERSION = 1
BUSY_SECONDS = 0.2  # how long a call waits for another process that holds the database


class StateError(HubbubError):
    """A device's state cannot be used. The message never holds a value or a secret.

    Args:
        where: The folder, or what stands for it.
        problem: What is wrong with it.
        remedy: What to do about it.
    """

    def __init__(
        self, where: str, problem: str, remedy: str = "give state_dir a folder that this program can write"
    ) -> None:
        super().__init__(f"state {where}: {problem}; {remedy}")
        self.where = where
        self.problem = problem
        self.remedy = remedy


@dataclass(frozen=True, slots=True)
class Running:
    """A window of one metric in which the program ran, [start, stop) in unix seconds, and what it holds so far."""

    metric: str
    start: int
    stop: int
    segment: str  # as it was when the program first ran in the window
    value: float | None = field(default=None, repr=False)  # None: nothing valid was recorded


class Report(NamedTuple):
    """A sealed report: its id and the very bytes that are posted until a terminal answer."""

    id: str
    body: bytes


Encode = Callable[[Running], Report | None]
Merge = Callable[[float | None], float]


class State(Protocol):
    """A device's memory; every method is one transaction and may raise `StateError`."""

    def begin(self, collection: str, hashes: Mapping[str, str], now: int) -> bytes:
        """Take up the metrics of a lock, by name and encoding hash, at unix second `now`.

        A metric that is new, redefined or back in the lock begins at `now` as on the day of installation: what ran
        under another definition is wiped, and windows that begin before `now` are sealed.

        Returns:
            The installation's secret, drawn at the first call.
        """
        ...

    def run(self, windows: Iterable[Running]) -> None:
        """The program runs in these windows; those that run already or begin before their metric's seal stay as is."""
        ...

    def record(self, metric: str, start: int, merge: Merge) -> bool:
        """Replace what a running window holds by `merge` of it; False where that window does not run."""
        ...

    def seal(self, now: float, encode: Encode) -> None:
        """Turn every running window that ended by `now` into its report, oldest first.

        `encode` draws the noise. Its report goes to the outbox (None: no report), the window and its value are wiped
        and the metric's seal moves to the window's end, all or nothing.
        """
        ...

    def outbox(self) -> Sequence[Report]:
        """Reports without a terminal answer."""
        ...

    def done(self, report_id: str) -> None:
        """Forget a report that got its terminal answer."""
        ...

    def close(self) -> None:
        """Release what the state holds open; nothing is lost."""
        ...


class _Seal(NamedTuple):
    hash: str  # encoding hash of the definition in force, empty while the metric is not in the lock
    time: int  # unix seconds; no window that begins earlier is ever encoded


def _taken_up(known: Mapping[str, _Seal], hashes: Mapping[str, str], now: int) -> dict[str, _Seal]:
    """Seals of the metrics whose definition in force changes."""
    return {
        name: _Seal(hashes.get(name, ""), max(now, known[name].time) if name in known else now)
        for name in {**known, **hashes}
        if name not in known or known[name].hash != hashes.get(name, "")
    }


def _same_collection(where: str, known: str, collection: str) -> None:
    if known != collection:
        problem = f"it belongs to collection {known!r}, the lock to {collection!r}"
        raise StateError(where, problem, "give each collection a state of its own")


class MemoryState:
    """A state that ends with the process: for simulated devices and tests, since each new one is a new installation."""

    def __init__(self) -> None:
        self._secret = b""
        self._collection = ""
        self._seals: dict[str, _Seal] = {}
        self._running: dict[tuple[str, int], Running] = {}
        self._outbox: dict[str, Report] = {}

    def begin(self, collection: str, hashes: Mapping[str, str], now: int) -> bytes:
        """Take up the metrics of a lock."""
        if self._secret:
            _same_collection("in memory", self._collection, collection)
        else:
            self._secret, self._collection = os.urandom(SECRET_BYTES), collection
        changed = _taken_up(self._seals, hashes, now)
        self._running = {key: window for key, window in self._running.items() if window.metric not in changed}
        self._seals |= changed
        return self._secret

    def run(self, windows: Iterable[Running]) -> None:
        """The program runs in these windows."""
        for window in windows:
            if window.start >= self._seals[window.metric].time:
                self._running.setdefault((window.metric, window.start), window)

    def record(self, metric: str, start: int, merge: Merge) -> bool:
        """Replace what a running window holds."""
        window = self._running.get((metric, start))
        if window is None:
            return False
        self._running[metric, start] = replace(window, value=merge(window.value))
        return True

    def seal(self, now: float, encode: Encode) -> None:
        """Turn every running window that ended into its report."""
        ended = sorted((w for w in self._running.values() if w.stop <= now), key=lambda window: window.start)
        reports = [(w, encode(w)) for w in ended if w.start >= self._seals[w.metric].time]
        for window, report in reports:
            self._seals[window.metric] = self._seals[window.metric]._replace(time=window.stop)
            if report is not None:
                self._outbox.setdefault(report.id, report)
        for window in ended:
            del self._running[window.metric, window.start]

    def outbox(self) -> Sequence[Report]:
        """Reports without a terminal answer."""
        return list(self._outbox.values())

    def done(self, report_id: str) -> None:
        """Forget a report that got its terminal answer."""
        self._outbox.pop(report_id, None)

    def close(self) -> None:
        """Nothing is held open."""


_TABLES = (
    "CREATE TABLE device (secret BLOB NOT NULL, birth INTEGER NOT NULL, collection TEXT NOT NULL)",
    "CREATE TABLE seals (metric TEXT PRIMARY KEY, hash TEXT NOT NULL, time INTEGER NOT NULL) WITHOUT ROWID",
    "CREATE TABLE running (metric TEXT NOT NULL, start INTEGER NOT NULL, stop INTEGER NOT NULL, segment TEXT NOT NULL,"
    " value REAL, PRIMARY KEY (metric, start)) WITHOUT ROWID",
    "CREATE TABLE outbox (id TEXT PRIMARY KEY, body BLOB NOT NULL) WITHOUT ROWID",
)


class SqliteState:
    """A state in `state.db` of a folder that belongs to this installation and to one program at a time.

    Args:
        folder: Made where it is missing, readable for its owner alone.

    Raises:
        StateError: The folder or the database cannot be written, is locked, damaged, or of a newer release.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self._folder = Path(folder)
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            path = self._folder / "state.db"
            os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
        except OSError as error:
            raise StateError(str(self._folder), f"cannot be written ({error.strerror})") from None
        # The client holds its own lock around every call, so any of the host's threads may use the connection.
        self._db = sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False)
        try:
            self._open()
        except StateError:
            self._db.close()
            raise

    def _open(self) -> None:
        with self._translated():
            self._db.execute("PRAGMA journal_mode = WAL")
            self._db.execute("PRAGMA synchronous = NORMAL")
            self._db.execute("PRAGMA secure_delete = ON")
        with self._transaction() as db:
            (version,) = db.execute("PRAGMA user_version").fetchone()
            if version > SCHEMA_VERSION:
                raise StateError(str(self._folder), f"schema {version} is newer than {SCHEMA_VERSION}", "update hubbub")
            if version == 0:
                for table in _TABLES:
                    db.execute(table)
                db.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")

    def begin(self, collection: str, hashes: Mapping[str, str], now: int) -> bytes:
        """Take up the metrics of a lock."""
        with self._transaction() as db:
            device = db.execute("SELECT secret, collection FROM device").fetchone()
            if device is None:
                device = (os.urandom(SECRET_BYTES), collection)
                db.execute(
                    "INSERT INTO device (secret, birth, collection) VALUES (?, ?, ?)", (device[0], now, collection)
                )
            _same_collection(str(self._folder), device[1], collection)
            known = {name: _Seal(*seal) for name, *seal in db.execute("SELECT metric, hash, time FROM seals")}
            for name, seal in _taken_up(known, hashes, now).items():
                db.execute("DELETE FROM running WHERE metric = ?", (name,))
                db.execute("REPLACE INTO seals (metric, hash, time) VALUES (?, ?, ?)", (name, *seal))
        return bytes(device[0])

    def run(self, windows: Iterable[Running]) -> None:
        """The program runs in these windows."""
        rows = [(w.metric, w.start, w.stop, w.segment) for w in windows]
        with self._transaction() as db:
            db.executemany(
                "INSERT OR IGNORE INTO running (metric, start, stop, segment)"
                " SELECT metric, ?2, ?3, ?4 FROM seals WHERE metric = ?1 AND time <= ?2",
                rows,
            )

    def record(self, metric: str, start: int, merge: Merge) -> bool:
        """Replace what a running window holds."""
        with self._transaction() as db:
            row = db.execute("SELECT value FROM running WHERE metric = ? AND start = ?", (metric, start)).fetchone()
            if row is None:
                return False
            db.execute("UPDATE running SET value = ? WHERE metric = ? AND start = ?", (merge(row[0]), metric, start))
            return True

    def seal(self, now: float, encode: Encode) -> None:
        """Turn every running window that ended into its report, on the disk before it can be sent."""
        with self._translated():
            if self._db.execute("SELECT 1 FROM running WHERE stop <= ? LIMIT 1", (now,)).fetchone() is None:
                return
            self._db.execute("PRAGMA synchronous = FULL")
        with self._transaction() as db:
            ended = db.execute(
                "SELECT metric, start, stop, segment, value FROM running JOIN seals USING (metric)"
                " WHERE stop <= ? AND start >= time ORDER BY start",
                (now,),
            ).fetchall()
            for window in (Running(*row) for row in ended):
                report = encode(window)
                if report is not None:
                    db.execute("INSERT OR IGNORE INTO outbox (id, body) VALUES (?, ?)", report)
                db.execute("UPDATE seals SET time = ? WHERE metric = ?", (window.stop, window.metric))
            db.execute("DELETE FROM running WHERE stop <= ?", (now,))
        with self._translated():
            self._db.execute("PRAGMA synchronous = NORMAL")
            # Until it is emptied the write-ahead log still holds the values that were just wiped.
            self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()

    def outbox(self) -> Sequence[Report]:
        """Reports without a terminal answer."""
        with self._translated():
            return [Report(*row) for row in self._db.execute("SELECT id, body FROM outbox")]

    def done(self, report_id: str) -> None:
        """Forget a report that got its terminal answer."""
        with self._transaction() as db:
            db.execute("DELETE FROM outbox WHERE id = ?", (report_id,))

    def close(self) -> None:
        """Close the database."""
        self._db.close()

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with self._translated():
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield self._db
                self._db.execute("COMMIT")
            except BaseException:
                if self._db.in_transaction:
                    self._db.execute("ROLLBACK")
                raise

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise StateError(str(self._folder), f"the database cannot be used ({error})") from None
