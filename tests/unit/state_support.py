"""What the tests of states share: locks with short names, windows and reports of them."""

from pathlib import Path
from typing import Any

from hubbub.client import Report, Running, SqliteState, State
from hubbub.client.ledger import Ledger
from hubbub.client.policy import RESEARCH, Policy
from hubbub.client.state import Installation, Stored
from hubbub.lock import Lock, Metric
from tests.unit.client_support import DAY, STARTS, lock, metric

NAME = "a"


def named(name: str = NAME, **changes: Any) -> Metric:
    return metric(name, **changes)


def of(*metrics: Metric, collection: str = "c") -> Lock:
    return Lock(collection, {m.name: m for m in metrics})


BOTH = lock(named("a"), named("b", kind="boolean"), collection="c")


def begin(state: State, locked: Lock = BOTH, seconds: int = 0, policy: Policy = RESEARCH) -> Installation:
    """Begin so many seconds after midnight of the first day."""
    return state.begin(locked, policy, STARTS + seconds)


def window(start: int, name: str = NAME, length: int = 10, segment: str = "", locked: Lock = BOTH) -> Running:
    """A window that begins so many seconds after midnight of the first day, of whatever length."""
    encoding = locked.metrics[name].hash if name in locked.metrics else ""
    return Running(name, encoding, STARTS + start, STARTS + start + length, segment)


def days(*numbers: int, name: str = NAME) -> list[Running]:
    """Whole days of the metric's life, from 0."""
    return [window(number * DAY, name, DAY) for number in numbers]


def encode(running: Running) -> Report:
    """A report that says what was sealed; due at once."""
    return Report(f"{running.metric}{running.start - STARTS}", repr((running.value, running.segment)).encode())


def sealed(state: State, seconds: float) -> dict[str, bytes]:
    """Seal what ended by then; all that waits in the outbox."""
    state.seal(STARTS + seconds, encode)
    return {report.id: report.body for report in state.outbox()}


def lived(path: Path, locked: Lock = BOTH) -> Installation:
    """A device that reported two days, lives through the third and waits to send the second."""
    state = SqliteState(path)
    begin(state, locked)
    for day in range(3):
        state.run(days(day))
        sealed(state, day * DAY)
        state.done("a0")
    state.record(window(2 * DAY), lambda held: 5.0)
    installation = begin(state, locked, 2 * DAY)
    state.close()
    return installation


def reopened(path: Path, hours: float = 60, locked: Lock = BOTH) -> tuple[Installation, Stored]:
    """Begin so many hours after the first midnight; by default in the middle of the third day."""
    state = SqliteState(path)
    installation = begin(state, locked, round(hours * 3600))
    stored = state.stored()
    state.close()
    return installation, stored


def not_below(after: Ledger, before: Ledger) -> None:
    """Nothing that was charged, sealed or sent is forgotten."""
    for name, old in before.accounts.items():
        new = after.accounts[name]
        assert new.sealed >= old.sealed
        assert new.sent >= old.sent
        assert all(price >= past for price, past in zip(new.charged, old.charged, strict=True))
    assert after.steady >= before.steady
    assert all(after.life_by_year[year] >= life for year, life in before.life_by_year.items())


def saved(path: Path) -> dict[str, bytes]:
    return {found.name: found.read_bytes() for found in path.iterdir() if found.name != "state.lock"}


def restored(path: Path, files: dict[str, bytes]) -> None:
    for name, data in files.items():
        (path / name).write_bytes(data)
