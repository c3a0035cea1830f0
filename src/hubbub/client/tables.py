"""The tables of `state.db`. Every method runs inside a transaction of the caller's."""

import json
import math
import os
import sqlite3
import struct
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from hubbub.client.records import DamagedError, account_tree, ledger_of, ledger_tree
from hubbub.client.secret import Memory, check
from hubbub.client.state import Encode, Held, Merge, Report, Running, StateError, Stored, is_time

DATABASE = "state.db"
SCHEMA_VERSION = 1
_DOUBLE = 8  # bytes
_APPLICATION = 0x68620000  # with the version, in the file's header: a number that damage does not make
_TABLES = (
    "CREATE TABLE device (head TEXT NOT NULL, checked TEXT NOT NULL, serial INTEGER NOT NULL, stamp TEXT NOT NULL)",
    "CREATE TABLE accounts (metric TEXT PRIMARY KEY, sealed INTEGER NOT NULL, sent INTEGER NOT NULL,"
    " hash TEXT NOT NULL, begins INTEGER NOT NULL, ends INTEGER NOT NULL, account TEXT NOT NULL,"
    " checked TEXT NOT NULL) WITHOUT ROWID",
    "CREATE TABLE running (metric TEXT NOT NULL, hash TEXT NOT NULL, start INTEGER NOT NULL, stop INTEGER NOT NULL,"
    " segment TEXT NOT NULL, value REAL, PRIMARY KEY (metric, start)) WITHOUT ROWID",
    "CREATE TABLE outbox (id TEXT PRIMARY KEY, metric TEXT NOT NULL, body BLOB NOT NULL, due REAL NOT NULL,"
    " attempts INTEGER NOT NULL, sealed INTEGER NOT NULL) WITHOUT ROWID",
)
_TYPES: Mapping[str, Mapping[str, str]] = {
    "accounts": {"sealed": "integer", "sent": "integer", "hash": "text", "begins": "integer", "ends": "integer"},
    "running": {"metric": "text", "hash": "text", "start": "integer", "stop": "integer", "segment": "text"},
    "outbox": {"id": "text", "metric": "text", "body": "blob", "due": "real", "attempts": "integer"},
}
_RUNS = "metric = ?1 AND hash = ?2 AND hash <> '' AND sealed <= ?3 AND begins <= ?3 AND ?4 <= ends"
# What the surroundings are to blame for; any other failure to open means that the file is damaged.
_SURROUNDINGS = {
    sqlite3.SQLITE_AUTH,
    sqlite3.SQLITE_BUSY,
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_INTERRUPT,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_LOCKED,
    sqlite3.SQLITE_NOLFS,
    sqlite3.SQLITE_NOMEM,
    sqlite3.SQLITE_PERM,
    sqlite3.SQLITE_PROTOCOL,
    sqlite3.SQLITE_READONLY,
}


def opened(folder: Path, busy_seconds: float) -> "Tables":
    """Open the database of a folder, made where it is missing, and look whether all of it can be read.

    Raises:
        DamagedError: It is no database, or not one that this program wrote.
        StateError: It cannot be opened or written now, or is of a newer release.
    """
    path = folder / DATABASE
    try:
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
    except OSError as error:
        raise StateError(str(folder), f"cannot be written ({error.strerror})") from None
    # The client holds its own lock around every call, so any of the host's threads may use the connection.
    tables = Tables(sqlite3.connect(path, timeout=busy_seconds, isolation_level=None, check_same_thread=False))
    try:
        for pragma in ("journal_mode = WAL", "synchronous = NORMAL", "secure_delete = ON"):
            tables.db.execute(f"PRAGMA {pragma}")
        tables.check(str(folder))
        return tables
    except sqlite3.Error as error:
        tables.db.close()
        if surroundings(error):
            raise unusable(folder, error) from None
        raise DamagedError from None
    except UnicodeDecodeError:  # of a text in the file, or of SQLite's message about it
        tables.db.close()
        raise DamagedError from None
    except BaseException:
        tables.db.close()
        raise


def surroundings(error: sqlite3.Error) -> bool:
    """Whether something else than the file is to blame for a failure to read it."""
    return getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT) & 0xFF in _SURROUNDINGS


def unusable(folder: Path, error: sqlite3.Error) -> StateError:
    """What to raise where the database fails for the time being."""
    busy = getattr(error, "sqlite_errorcode", 0) & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
    return StateError(str(folder), f"the database cannot be used ({error})", busy=busy)


def _packed(held: Held) -> float | bytes:
    """What a window holds, as a column does: a number, or little-endian doubles one after the other."""
    return struct.pack(f"<{len(held)}d", *held) if isinstance(held, tuple) else held


def _unpacked(column: float | bytes | None) -> Held | None:
    return struct.unpack(f"<{len(column) // _DOUBLE}d", column) if isinstance(column, bytes) else column


class Tables:
    """The tables behind a connection."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self.db = db

    def check(self, where: str) -> None:
        """Make the tables in a new file; read all of an old one.

        Raises:
            DamagedError: Something in it was not written by this program.
            StateError: It is of a newer release.
        """
        self.db.execute("BEGIN IMMEDIATE")
        version, application = (self._pragma(name) for name in ("user_version", "application_id"))
        if version > SCHEMA_VERSION and application == _APPLICATION + version:
            raise StateError(where, f"schema {version} is newer than {SCHEMA_VERSION}", "update hubbub")
        if version == application == 0:
            for table in _TABLES:
                self.db.execute(table)
            self.db.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
            self.db.execute(f"PRAGMA application_id = {_APPLICATION + SCHEMA_VERSION}")
        elif (version, application) != (SCHEMA_VERSION, _APPLICATION + SCHEMA_VERSION):
            raise DamagedError
        self._read_all()
        self.db.execute("COMMIT")

    def _read_all(self) -> None:
        if self._pragma("quick_check") != "ok":
            raise DamagedError
        for table, types in _TYPES.items():
            other = " OR ".join(f"typeof({column}) <> '{kind}'" for column, kind in types.items())
            if self.db.execute(f"SELECT 1 FROM {table} WHERE {other} LIMIT 1").fetchone():
                raise DamagedError
        # The column's affinity leaves a blob as it is: several numbers need no other table than one did.
        several = f"typeof(value) = 'blob' AND length(value) > 0 AND length(value) % {_DOUBLE} = 0"
        odd = f"SELECT 1 FROM running WHERE NOT (value IS NULL OR typeof(value) = 'real' OR {several}) LIMIT 1"
        if self.db.execute(odd).fetchone():
            raise DamagedError
        self.memory()

    def _pragma(self, name: str) -> Any:
        return self.db.execute(f"PRAGMA {name}").fetchone()[0]

    # What must not be lost

    def memory(self) -> Memory | None:
        """What the database says of secret, ledger and consent; None before the first `keep`.

        Raises:
            DamagedError: It was not written by this program.
        """
        rows = self.db.execute("SELECT head, checked, serial FROM device").fetchall()
        if not rows:
            return None
        try:
            (text, checked, serial) = rows[0]
            head = json.loads(text)
            if len(rows) > 1 or checked != check(head) or not isinstance(serial, int):
                raise DamagedError
            ledger = ledger_of({**head["ledger"], "accounts": self._accounts()})
            return Memory(bytes.fromhex(head["secret"]), head["mark"], serial, head["consent"], ledger)
        except (ValueError, TypeError, LookupError, RecursionError):
            raise DamagedError from None

    def _accounts(self) -> dict[str, Any]:
        found = {}
        for metric, sealed, sent, text, checked in self.db.execute(
            "SELECT metric, sealed, sent, account, checked FROM accounts"
        ):
            tree = json.loads(text)
            if checked != check(tree):
                raise DamagedError
            found[metric] = tree | {"sealed": sealed, "sent": sent}
        return found

    def keep(self, memory: Memory) -> None:
        """Replace secret, ledger and consent."""
        ledger = memory.ledger
        head = {
            "secret": memory.secret.hex(),
            "mark": memory.mark,
            "consent": memory.consent,
            "ledger": ledger_tree(replace(ledger, accounts={})),
        }
        self.db.execute("DELETE FROM device")
        self.db.execute("INSERT INTO device VALUES (?, ?, ?, '')", (json.dumps(head), check(head), memory.serial))
        self.db.execute("DELETE FROM accounts")
        for name, account in ledger.accounts.items():
            tree, now = account_tree(account), account.current
            in_force = (now.hash, now.begins, now.ends) if now else ("", 0, 0)
            row = (name, account.sealed, account.sent, *in_force, json.dumps(tree), check(tree))
            self.db.execute("INSERT INTO accounts VALUES (?, ?, ?, ?, ?, ?, ?, ?)", row)

    def stamp(self) -> str:
        """How the file of the second copy looked when it was last written; empty while that is not known."""
        row = self.db.execute("SELECT stamp FROM device").fetchone()
        return str(row[0]) if row else ""

    def copy_due(self) -> None:
        """The second copy is behind from now on. Its number rises once, however often it could not be written."""
        self.db.execute("UPDATE device SET serial = serial + (stamp <> ''), stamp = ''")

    def copied(self, stamp: str) -> None:
        """The second copy was written."""
        self.db.execute("UPDATE device SET stamp = ?", (stamp,))

    # Running windows

    def run(self, windows: Iterable[Running]) -> None:
        """Let the windows run that do not and that their accounts allow."""
        self.db.executemany(
            "INSERT OR IGNORE INTO running (metric, hash, start, stop, segment) SELECT metric, hash, ?3, ?4, ?5"
            f" FROM accounts WHERE {_RUNS}",
            [(w.metric, w.hash, w.start, w.stop, w.segment) for w in windows if is_time(w.start) and is_time(w.stop)],
        )

    def record(self, window: Running, merge: Merge) -> bool:
        """Replace what a running window holds."""
        if not is_time(window.start):
            return False
        key = window.metric, window.hash, window.start
        which = "metric = ? AND hash = ? AND start = ?"
        row = self.db.execute(f"SELECT value FROM running WHERE {which}", key).fetchone()
        if row is None:
            return False
        self.db.execute(f"UPDATE running SET value = ? WHERE {which}", (_packed(merge(_unpacked(row[0]))), *key))
        return True

    def stop(self, going_on: Container[str]) -> None:
        """Wipe the windows that run for other metrics than these, or that their accounts no longer allow."""
        for (metric,) in self.db.execute("SELECT DISTINCT metric FROM running").fetchall():
            if metric not in going_on:
                self.db.execute("DELETE FROM running WHERE metric = ?", (metric,))
        self.db.execute(
            "DELETE FROM running WHERE NOT EXISTS (SELECT 1 FROM accounts WHERE accounts.metric = running.metric"
            " AND accounts.hash = running.hash AND sealed <= start AND begins <= start AND stop <= ends)"
        )

    def ended(self, now: float, hashes: Mapping[str, str] | None) -> Sequence[Running]:
        """The windows that ended, of these encodings where any are given, oldest first."""
        rows = self.db.execute(
            "SELECT metric, hash, start, stop, segment, value FROM running WHERE stop <= ? ORDER BY start, metric",
            (now if is_time(now) else -math.inf,),
        )
        found = [Running(name, key, start, stop, cell, _unpacked(v)) for name, key, start, stop, cell, v in rows]
        return found if hashes is None else [one for one in found if hashes.get(one.metric) == one.hash]

    def seal(self, ended: Sequence[Running], now: float, encode: Encode) -> None:
        """Turn what of these is still allowed into reports, and wipe them all."""
        for window in ended:
            moved = self.db.execute(
                f"UPDATE accounts SET sealed = MAX(sealed, ?4) WHERE {_RUNS}",
                (window.metric, window.hash, window.start, window.stop),
            )
            if moved.rowcount == 1 and (report := encode(window)) is not None:
                self.db.execute(
                    "INSERT OR IGNORE INTO outbox (id, metric, body, due, attempts, sealed) VALUES (?, ?, ?, ?, 0, ?)",
                    (report.id, window.metric, report.body, float(report.due), int(now)),
                )
        self.db.executemany(
            "DELETE FROM running WHERE metric = ? AND start = ?", [(window.metric, window.start) for window in ended]
        )

    def clear(self) -> None:
        """Forget running windows and outbox."""
        self.db.execute("DELETE FROM running")
        self.db.execute("DELETE FROM outbox")

    # The outbox

    def outbox(self, limit: int | None, due_by: float | None) -> Sequence[Report]:
        """Reports in the order in which they are due."""
        rows = self.db.execute(
            "SELECT id, body, due, attempts, sealed FROM outbox WHERE ?1 IS NULL OR due <= ?1"
            " ORDER BY due, id LIMIT ?2",
            (-math.inf if due_by is not None and math.isnan(due_by) else due_by, -1 if limit is None else limit),
        )
        return [Report(*row) for row in rows]

    def delay(self, report_id: str, due: float) -> None:
        """One more attempt, and the next time."""
        self.db.execute(
            "UPDATE outbox SET due = COALESCE(?, due), attempts = attempts + 1 WHERE id = ?",
            (float(due) if is_time(due) else None, report_id),
        )

    def done(self, report_id: str) -> None:
        """Forget a report and count it as sent."""
        self.db.execute(
            "UPDATE accounts SET sent = sent + 1 WHERE metric = (SELECT metric FROM outbox WHERE id = ?)", (report_id,)
        )
        self.db.execute("DELETE FROM outbox WHERE id = ?", (report_id,))

    def trim(self, max_reports: int, max_bytes: int, sealed_before: float) -> int:
        """Drop what is too old, then the oldest beyond the limits."""
        dropped = self.db.execute(
            "DELETE FROM outbox WHERE id IN (SELECT id FROM (SELECT id, sealed, ROW_NUMBER() OVER newest AS number,"
            " SUM(LENGTH(body)) OVER newest AS size FROM outbox WINDOW newest AS (ORDER BY sealed DESC, id DESC"
            " ROWS UNBOUNDED PRECEDING)) WHERE number > ?1 OR size > ?2 OR sealed < ?3)",
            (max_reports, max_bytes, sealed_before if is_time(sealed_before) else -math.inf),
        )
        return dropped.rowcount

    def stored(self) -> Stored:
        """Reports and bytes of the outbox."""
        return Stored(*self.db.execute("SELECT COUNT(*), COALESCE(SUM(LENGTH(body)), 0) FROM outbox").fetchone())
