"""A state in a folder: `state.db` (SQLite, write-ahead log) with a second copy of what must not be lost beside it.

A database that turns out to be damaged is put aside and built anew from the copy; one that is only busy, full or
forbidden is left as it is, and the call fails. Specification: spec/ledger.md, "Recovery".
"""

import math
import os
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace

from hubbub.client import secret
from hubbub.client.folder import Folder
from hubbub.client.ledger import OLDEST, Account, Ledger, take_up
from hubbub.client.policy import Policy
from hubbub.client.records import DamagedError
from hubbub.client.state import (
    Encode,
    Installation,
    Merge,
    Report,
    Running,
    StateError,
    Stored,
    is_time,
    same_collection,
    second,
)
from hubbub.client.tables import DATABASE, Tables, opened, unusable
from hubbub.lock import Lock
from hubbub.windows import iso

BUSY_SECONDS = 0.2  # how long a call waits for another program that holds the database
_COMPANIONS = ("-wal", "-shm", "-journal")
_LEFT: list[sqlite3.Connection] = []  # connections of a parent process, which its children must not even close


class SqliteState:
    """A state in a folder that belongs to this installation and to one process at a time.

    Args:
        folder: Made where it is missing, readable for its owner alone.

    Raises:
        StateError: The folder is in use by another process, cannot be written, or is of a newer release.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self._folder = Folder(folder)
        self._log_left = False  # the write-ahead log could not be emptied and may hold values that were wiped
        try:
            self._tables = self._opened()
            self._purge()  # a process that was killed may have left there what it had wiped
        except BaseException:
            self._folder.release()
            raise

    def begin(self, lock: Lock, policy: Policy, now: float) -> Installation:
        """Take up the metrics of a lock; both copies are on the disk when this returns.

        Raises:
            StateError: Also where the memory was recovered, restored or copied and the clock is not set. Nothing is
                written then, so the next start finds the same.
        """
        now = second(str(self._folder.path), now)
        copy = self._copy()
        with self._transaction() as tables:
            kept, stamp = tables.memory(), tables.stamp()
            found = secret.recovered(
                kept,
                copy,
                untouched=self._untouched(kept, stamp, copy),
                damaged=self._folder.has_aside(),
                collection=lock.collection,
                now=now,
                identity=self._folder.identity(),
            )
            before = found.memory.ledger
            same_collection(str(self._folder.path), before.collection, lock.collection)
            if found.word and now < OLDEST:
                problem = f"the clock says {iso(now)}, so nobody can tell what was sent since this memory was written"
                raise StateError(str(self._folder.path), problem, "start the program again once the clock is set")
            ledger = take_up(before, lock, policy, now, doubted=found.doubted)
            memory = replace(found.memory, ledger=ledger)
            due = memory != kept or not stamp or copy is None
            if due:  # a number that was given to a copy which then could not be written is used for this one
                tables.keep(replace(memory, serial=memory.serial + (kept is None or stamp != "" or found.word != "")))
            going_on = {n for n, account in ledger.accounts.items() if account.continues(_account(before, n))}
            tables.stop(going_on)
            if found.renewed:
                tables.clear()
        self._purge()
        if due:
            self._write_copy()
        return Installation(memory.secret, ledger, found.word)

    def ledger(self) -> Ledger:
        """What this installation accepted and gave away."""
        with self._reading() as tables:
            memory = tables.memory()
        if memory is None:
            raise StateError(str(self._folder.path), "nothing has begun", "call begin first")
        return memory.ledger

    def run(self, windows: Iterable[Running]) -> None:
        """The program runs in these windows."""
        with self._transaction() as tables:
            tables.run(windows)

    def record(self, window: Running, merge: Merge) -> bool:
        """Replace what a running window holds."""
        with self._transaction() as tables:
            return tables.record(window, merge)

    def seal(self, now: float, encode: Encode, hashes: Mapping[str, str] | None = None) -> None:
        """Turn every running window that ended into its report, on the disk before it can be sent."""
        with self._reading() as tables:
            if not tables.ended(now, hashes):
                return
        with self._durable(), self._transaction() as tables:
            tables.seal(tables.ended(now, hashes), now, encode)
            tables.copy_due()
        self._purge()
        with suppress(StateError):  # the reports are sealed; the copy, which tells it too, follows with the next one
            self._write_copy()

    def outbox(self, limit: int | None = None, due_by: float | None = None) -> Sequence[Report]:
        """Reports without a terminal answer in the order in which they are due."""
        with self._reading() as tables:
            return tables.outbox(limit, due_by)

    def delay(self, report_id: str, due: float) -> None:
        """A post of the report came to nothing."""
        with self._transaction() as tables:
            tables.delay(report_id, due)

    def done(self, report_id: str) -> None:
        """Forget a report that got its terminal answer, and count it as sent."""
        with self._transaction() as tables:
            tables.done(report_id)

    def trim(self, max_reports: int, max_bytes: int, sealed_before: float) -> int:
        """Drop reports that are too old, then the oldest beyond the limits."""
        with self._transaction() as tables:
            return tables.trim(max_reports, max_bytes, sealed_before)

    def stored(self) -> Stored:
        """How much the outbox holds."""
        with self._reading() as tables:
            return tables.stored()

    def wipe(self, now: float) -> None:
        """Forget values and outbox, and seal what began before `now`."""
        with self._durable(), self._transaction() as tables:
            tables.clear()
            tables.copy_due()
            if is_time(now) and (memory := tables.memory()) is not None:
                accounts = {
                    name: account.sealed_until(math.ceil(now)) for name, account in memory.ledger.accounts.items()
                }
                tables.keep(replace(memory, ledger=replace(memory.ledger, accounts=accounts)))
        self._purge()
        self._folder.delete_aside()  # what was damaged may hold values too
        self._write_copy()

    def consent(self) -> str:
        """What was last decided."""
        with self._reading() as tables:
            memory = tables.memory()
        return "" if memory is None else memory.consent

    def set_consent(self, consent: str) -> None:
        """Remember the person's decision, in both places."""
        with self._durable(), self._transaction() as tables:
            tables.copy_due()
            memory = tables.memory()
            if memory is None:
                raise StateError(str(self._folder.path), "nothing has begun", "call begin first")
            tables.keep(replace(memory, consent=consent))
        self._write_copy()

    def abandon(self) -> None:
        """Leave connection and lock of the parent process alone."""
        _LEFT.append(self._tables.db)
        self._tables = Tables(sqlite3.connect(":memory:"))
        self._tables.db.close()
        self._log_left = False
        self._folder.abandon()

    def close(self) -> None:
        """Close the database and let another process use the folder."""
        self._tables.db.close()
        self._folder.release()

    def _opened(self) -> Tables:
        try:
            return opened(self._folder.path, BUSY_SECONDS)
        except DamagedError:
            self._folder.put_aside(DATABASE, *_COMPANIONS)
        try:
            return opened(self._folder.path, BUSY_SECONDS)
        except DamagedError:
            raise StateError(str(self._folder.path), "an empty database cannot be made") from None

    def _copy(self) -> secret.Copy | None:
        try:
            return secret.read((self._folder.path / secret.FILE).read_bytes())
        except FileNotFoundError:
            return None
        except OSError as error:
            raise StateError(str(self._folder.path), f"{secret.FILE} cannot be read ({error.strerror})") from None
        except DamagedError:
            self._folder.put_aside(secret.FILE)
            return None

    def _untouched(self, kept: secret.Memory | None, stamp: str, copy: secret.Copy | None) -> bool:
        """Whether both copies are as they were left. A crash between writing one and the other is no touch."""
        if kept is None:
            return False
        if copy is None or copy.memory is None:
            return copy is None and not stamp and kept.serial == 1
        if stamp:
            return copy.memory.serial == kept.serial and stamp == self._folder.stamp(secret.FILE)
        return kept.serial - copy.memory.serial in (0, 1)

    def _write_copy(self) -> None:
        """Write the second copy and remember how its file looks, so that a restored one is noticed."""
        with self._reading() as tables:
            memory = tables.memory()
        if memory is not None:
            self._folder.replace(secret.FILE, secret.written(memory))
            with self._transaction() as tables:
                tables.copied(self._folder.stamp(secret.FILE))

    def _purge(self) -> None:
        """Empty the write-ahead log: until then it still holds the values that were just wiped.

        Another program that reads the database (a backup) can keep it from that; each later call tries again, at once.
        """
        db = self._tables.db
        try:
            if self._log_left:
                db.execute("PRAGMA busy_timeout = 0")
            busy, _, _ = db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
            self._log_left = bool(busy)
        except sqlite3.Error:
            self._log_left = True
        finally:
            with suppress(sqlite3.Error):
                db.execute(f"PRAGMA busy_timeout = {round(BUSY_SECONDS * 1000)}")

    @contextmanager
    def _durable(self) -> Iterator[None]:
        """Wait for the disk at every commit inside."""
        with self._reading() as tables:
            tables.db.execute("PRAGMA synchronous = FULL")
        try:
            yield
        finally:
            with suppress(sqlite3.Error):
                self._tables.db.execute("PRAGMA synchronous = NORMAL")

    @contextmanager
    def _transaction(self) -> Iterator[Tables]:
        with self._reading() as tables:
            tables.db.execute("BEGIN IMMEDIATE")
            try:
                yield tables
                tables.db.execute("COMMIT")
            except BaseException:
                if tables.db.in_transaction:
                    tables.db.execute("ROLLBACK")
                raise

    @contextmanager
    def _reading(self) -> Iterator[Tables]:
        if self._log_left and not self._tables.db.in_transaction:
            self._purge()
        try:
            yield self._tables
        except sqlite3.Error as error:
            raise unusable(self._folder.path, error) from None
        except (DamagedError, UnicodeDecodeError):
            raise StateError(str(self._folder.path), "the database is damaged", "start the program again") from None


def _account(ledger: Ledger, name: str) -> Account:
    return ledger.accounts.get(name, Account())
