"""What lies in the folder of an installation, read for its owner while a program may use it; nothing is written."""

import json
import math
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from hubbub.client.consent import forbidding
from hubbub.client.ledger import Ledger
from hubbub.client.records import DamagedError
from hubbub.client.secret import Memory
from hubbub.client.sqlite import BUSY_SECONDS
from hubbub.client.state import StateError
from hubbub.client.tables import DATABASE, Tables, surroundings, unusable
from hubbub.windows import iso, windows


class Waiting(NamedTuple):
    """A report that is sealed and has no final answer yet."""

    metric: str
    start: int | None  # of its window, unix seconds; None where its definition is not in the ledger
    due: int  # not sent earlier by itself, unix seconds; rounded up
    attempts: int
    body: str  # the very bytes that travel


class Open(NamedTuple):
    """A window in which values are collected, [start, stop) in unix seconds; what it holds is not shown."""

    metric: str
    start: int
    stop: int


@dataclass(frozen=True)
class Seen:
    """What a folder holds."""

    memory: Memory
    waiting: Sequence[Waiting]
    running: Sequence[Open]
    forbidden: str = ""  # the variable that would forbid a program started here to send; the program may differ


def look(folder: str | Path) -> Seen:
    """What a folder's installation remembers, what waits to be sent, and which windows run.

    Raises:
        StateError: There is none, or it cannot be read now.
    """
    path = Path(folder) / DATABASE
    if not path.is_file():
        problem = f"{DATABASE} is not in it" if path.parent.is_dir() else "there is no such folder"
        raise StateError(str(folder), problem, "give the state_dir of a program that has run")
    remedy = "start the program: it goes on from its second copy if it has one"
    damaged = StateError(str(folder), f"{DATABASE} is damaged, or no program's", remedy)
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=BUSY_SECONDS)) as db:
            db.execute("BEGIN")  # all of it as of one moment
            if (memory := Tables(db).memory()) is not None:
                return Seen(memory, _waiting(db, memory.ledger), _running(db), forbidding())
    except sqlite3.Error as error:
        raise (unusable(path.parent, error) if surroundings(error) else damaged) from None
    except (DamagedError, UnicodeDecodeError):
        raise damaged from None
    raise damaged


def waiting_plain(waiting: Waiting) -> dict[str, object]:
    """A waiting report in plain types."""
    return {
        "metric": waiting.metric,
        "window": None if waiting.start is None else iso(waiting.start),
        "due": iso(waiting.due),
        "attempts": waiting.attempts,
        "body": waiting.body,
    }


def _waiting(db: sqlite3.Connection, ledger: Ledger) -> Sequence[Waiting]:
    rows = db.execute("SELECT metric, body, due, attempts FROM outbox ORDER BY due, id").fetchall()
    return [
        Waiting(metric, _start(ledger, metric, body), math.ceil(due), attempts, body.decode())
        for metric, body, due, attempts in rows
    ]


def _running(db: sqlite3.Connection) -> Sequence[Open]:
    return [Open(*row) for row in db.execute("SELECT metric, start, stop FROM running ORDER BY metric, start")]


def _start(ledger: Ledger, metric: str, body: bytes) -> int | None:
    """When the window begins that a report is about."""
    try:
        (entry,) = json.loads(body)["reports"]
        account = ledger.accounts[metric]
        window = next(one.window for one in account.charges if one.hash.startswith(entry["hash"]))
        return windows(window).start(int(entry["window"]))
    except (ValueError, TypeError, LookupError, StopIteration):
        return None
