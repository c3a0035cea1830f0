"""What a killed replay goes on from: its devices, the reports on their way and how far it is, in one SQLite file.

A window is one transaction: the devices that ran in it, the reports they handed over and the place in the table, before
any of those reports is sent. So a replay that is killed sends again what it may have sent, byte for byte, and none of
its devices draws noise twice for a report that left. A copy that goes on as well would, so copies are refused. The file
holds the secrets of all its devices: nobody else may read it.
"""

import json
import os
import sqlite3
import stat
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Self

from hubbub.client import MemoryState, StateError
from hubbub.client.folder import identity
from hubbub.client.memory import dumped, restored
from hubbub.errors import HubbubError, ParameterError
from hubbub.replay.mixer import Entry

FILE = "devices.db"
_TABLES = """\
CREATE TABLE place(number INTEGER PRIMARY KEY CHECK (number = 1), origin TEXT NOT NULL, file TEXT NOT NULL,
    place TEXT NOT NULL);
CREATE TABLE devices(device TEXT NOT NULL, copy INTEGER NOT NULL, state TEXT NOT NULL, PRIMARY KEY (device, copy))
    WITHOUT ROWID;
CREATE TABLE held(report BLOB NOT NULL);
"""
Key = tuple[str, int]  # a device of the table, and which of its crowd


@dataclass
class Place:
    """How far a replay is.

    Attributes:
        last: The window that the table's last one became, where a collector was given.
        done: The last window whose devices have run; the one after the table's last stands for the end.
        counts: What became of the reports that were sent.
        sent: What the device that is shown sent, by metric and window.
    """

    last: int | None = None
    done: int | None = None
    counts: Counter[str] = field(default_factory=Counter)
    sent: dict[str, str] = field(default_factory=dict)


class Saved:
    """A folder that a replay can be taken up from; one process at a time.

    Args:
        folder: Made if it is not there.
        origin: What tells this replay from others: its table and options.
        last: See `Place`; that of an earlier run of the same replay stays.

    Raises:
        ParameterError: A folder of something else, a copy, or in use.
        HubbubError: Its file is damaged, or cannot be used.
    """

    def __init__(self, folder: Path, origin: str, last: int | None = None) -> None:
        self.folder = folder
        self._path = folder / FILE
        try:
            if folder.exists() and not os.path.lexists(self._path) and any(folder.iterdir()):
                raise ParameterError("state", str(folder), "an empty folder, or that of the same replay")
            folder.mkdir(mode=stat.S_IRWXU, parents=True, exist_ok=True)
            _own(self._path)
        except OSError as error:
            raise HubbubError(f"{self._path}: cannot be used ({error.strerror})") from None
        self._database = sqlite3.connect(self._path, timeout=1.0, isolation_level=None)
        try:
            with self._reading():
                self.place = self._opened(origin, last)
                self._states = {
                    (device, copy): state
                    for device, copy, state in self._database.execute("SELECT device, copy, state FROM devices")
                }
        except BaseException:
            self._database.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._database.close()

    def state(self, key: Key) -> MemoryState | None:
        """The state of a device, once; None if it was not born yet or has been taken up."""
        found = self._states.pop(key, None)
        with self._reading():
            return None if found is None else restored(json.loads(found))

    def held(self) -> list[Entry]:
        """The reports that may not have been sent."""
        with self._reading():
            return [bytes(memoryview(report)) for (report,) in self._database.execute("SELECT report FROM held")]

    def keep(self, states: Mapping[Key, MemoryState], held: Iterable[Entry]) -> None:
        """Take down the place, these devices and all reports on their way, in one durable transaction."""
        rows = ((*key, json.dumps(dumped(state))) for key, state in states.items())
        try:
            self._database.execute("BEGIN IMMEDIATE")
            try:
                self._database.executemany("INSERT OR REPLACE INTO devices VALUES (?, ?, ?)", rows)
                self._database.execute("DELETE FROM held")
                self._database.executemany("INSERT INTO held VALUES (?)", ((entry,) for entry in held))
                self._database.execute("UPDATE place SET place = ?", (_text(self.place),))
                self._database.execute("COMMIT")
            except BaseException:
                with suppress(sqlite3.Error):
                    self._database.execute("ROLLBACK")
                raise
        except sqlite3.Error as error:
            raise HubbubError(f"{self._path}: cannot be written ({error})") from None

    @contextmanager
    def _reading(self) -> Iterator[None]:
        """Say of a file that is in use, or damaged, that it is."""
        try:
            yield
        except ParameterError:
            raise
        except sqlite3.Error as error:
            if isinstance(error, sqlite3.OperationalError) and "locked" in str(error):
                raise ParameterError("state", str(self.folder), "a folder that no other replay is using") from None
            raise HubbubError(f"{self._path}: cannot be used ({error})") from None
        except (ValueError, TypeError, LookupError, AttributeError, RecursionError, StateError):
            raise HubbubError(f"{self._path}: is damaged; start again with an empty folder") from None

    def _opened(self, origin: str, last: int | None) -> Place:
        self._database.execute("PRAGMA locking_mode = EXCLUSIVE")
        self._database.execute("PRAGMA journal_mode = TRUNCATE")
        self._database.execute("PRAGMA synchronous = FULL")
        self._database.execute("BEGIN EXCLUSIVE")
        if not self._database.execute("SELECT 1 FROM sqlite_master").fetchone():
            for statement in _TABLES.split(";\n")[:-1]:
                self._database.execute(statement)
            fresh = origin, identity(self._path), _text(Place(last=last))
            self._database.execute("INSERT INTO place VALUES (1, ?, ?, ?)", fresh)
        known, file, text = self._database.execute("SELECT origin, file, place FROM place").fetchone()
        self._database.execute("COMMIT")
        if known != origin:
            expected = "the folder of a replay of this table with these options, or an empty one"
            raise ParameterError("state", str(self.folder), expected)
        if file != identity(self._path):
            expected = "the folder itself and no copy of it: both would draw noise for the same reports"
            raise ParameterError("state", str(self.folder), expected)
        return _place(text)


def _own(path: Path) -> None:
    """See that a file is there and its owner's alone, also where it came from a backup; links are not followed."""
    handle = os.open(path, os.O_CREAT | os.O_RDWR | os.O_NOFOLLOW, stat.S_IRUSR | stat.S_IWUSR)
    try:
        os.fchmod(handle, stat.S_IRUSR | stat.S_IWUSR)
    finally:
        os.close(handle)


def _text(place: Place) -> str:
    return json.dumps({"last": place.last, "done": place.done, "counts": place.counts, "sent": place.sent})


def _place(text: str) -> Place:
    tree = json.loads(text)
    place = Place(tree["last"], tree["done"], Counter(dict(tree["counts"])), dict(tree["sent"]))
    numbers = [number for number in (place.last, place.done) if number is not None]
    if {type(number) for number in (*numbers, *place.counts.values())} - {int}:
        raise TypeError
    if {type(payload) for payload in place.sent.values()} - {str}:
        raise TypeError
    return place
