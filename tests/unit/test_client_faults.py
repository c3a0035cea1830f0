"""What an app, a clock or a lock does wrong: counted on the device, and neither raised nor told to anybody."""

import math
import sqlite3
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

from hubbub.client import Client, MemoryState, PolicyError, Response, SqliteState, StateError
from hubbub.clock import ManualClock
from hubbub.errors import ParameterError
from tests.unit.client_support import (
    ACCEPTED,
    DAY,
    ENDPOINT,
    STARTS,
    Plain,
    Script,
    client,
    lock,
    metric,
    report_of,
    result,
)
from tests.unit.test_client import FIRST, FLAG, NAME, PLAIN, day, sent_values

# Values that are none (every kind, whatever an app passes)


class Odd:
    """Raises whatever one asks of it."""

    def __getattr__(self, name: str) -> object:
        raise RuntimeError(name)

    def __eq__(self, other: object) -> bool:
        raise RuntimeError("compared")

    def __float__(self) -> float:
        raise RuntimeError("converted")

    __hash__ = None  # type: ignore[assignment]


NO_NUMBERS: list[Any] = [
    math.nan,
    math.inf,
    -math.inf,
    float("1e400"),
    10**400,
    True,
    False,
    None,
    "3",
    "",
    b"3",
    np.float64("nan"),
    np.float32("inf"),
    np.True_,
    np.array([1.0]),
    3 + 0j,
    [],
    {},
    Odd(),
]


@pytest.mark.parametrize("value", NO_NUMBERS, ids=lambda value: type(value).__name__)
def test_window_with_nothing_but_what_is_no_number_reports_the_null(value: object) -> None:
    shifted = metric(encoder=Plain(11), lower=-5_000_000)
    clock, script = ManualClock(day(0, 0)), Script()
    device = client(lock(shifted, FLAG), clock, transport=script)
    for method in (device.add, device.set):
        method(NAME, value)
    clock.set(day(1, 0))
    assert device.flush()
    assert sent_values(script, size=11) == {FIRST: 5}
    assert sent_values(script, FLAG.name, 2) == {FIRST: 0}
    assert device.counters == {"invalid_value": 2, "accepted": 2}


@pytest.mark.parametrize(
    ("value", "tick"),
    [(-0.0, 0), (np.int64(7), 7), (np.float32(2.5), 3), (5e-324, 0), (1.7e308, 480), (10**300, 480), (-(10**300), 0)],
)
def test_numbers_of_other_types_are_recorded(value: object, tick: int) -> None:
    clock, script = ManualClock(day(0, 0)), Script()
    device = client(lock(PLAIN), clock, transport=script)
    device.set(NAME, value)
    clock.set(day(1, 0))
    assert device.flush()
    assert sent_values(script) == {FIRST: tick}
    assert device.counters == {"accepted": 1}


# Nothing reaches the host program


class Broken(MemoryState):
    """A state all of which fails once it is told to."""

    failing = False

    def __getattribute__(self, name: str) -> Any:
        found = super().__getattribute__(name)
        if not name.startswith("_") and callable(found) and self.failing:

            def fail(*arguments: object, **more: object) -> object:
                raise StateError("here", "cannot be used")

            return fail
        return found


class BrokenClock(ManualClock):
    fault = ""

    def now(self) -> float:
        if self.fault == "clock":
            raise ParameterError("clock", "x", "a readable file")
        return math.nan if self.fault == "nan" else super().now()


@pytest.mark.parametrize("fault", ["state", "clock", "nan"])
def test_no_call_raises(fault: str) -> None:
    state, clock = Broken(), BrokenClock(day(0, 0))
    device = client(lock(PLAIN), clock, state=state)
    state.failing, clock.fault = fault == "state", fault
    clock.set(day(1))
    device.add(NAME, 1)
    device.set(NAME, 1)
    device.tick()
    assert not device.flush()
    assert device.ledger().accounts.keys() == {NAME}
    assert device.consent("granted") == "granted"
    assert device.consent("denied") == "denied"
    # A denial wipes also where the clock says no time, but not where there is no clock at all.
    assert (
        device.counters
        == {"state": {"state_failed": 7}, "clock": {"internal_error": 6}, "nan": {"internal_error": 5}}[fault]
    )
    device.close()


def test_folder_that_somebody_locks_costs_a_moment_and_is_counted(tmp_path: Path) -> None:
    clock, script = ManualClock(day(0, 0)), Script()
    state = SqliteState(tmp_path)
    device = client(lock(PLAIN), clock, state=state, transport=script)
    device.add(NAME, 5)
    other = sqlite3.connect(tmp_path / "state.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    device.add(NAME, 100)
    clock.set(day(1, 0))
    device.tick()
    assert not device.flush()
    assert script.bodies == []
    assert device.counters == {"storage_busy": 3}
    other.execute("ROLLBACK")
    other.close()
    assert device.flush()
    assert sent_values(script) == {FIRST: 5}
    state.close()


def test_second_program_on_a_folder_is_told_so(tmp_path: Path) -> None:
    first = Client(lock(PLAIN), ENDPOINT, policy="research", state_dir=tmp_path, clock=ManualClock(day(0)))
    with pytest.raises(StateError, match="in use by another process"):
        Client(lock(PLAIN), ENDPOINT, policy="research", state_dir=tmp_path, clock=ManualClock(day(0)))
    first.close()
    Client(lock(PLAIN), ENDPOINT, policy="research", state_dir=tmp_path, clock=ManualClock(day(0))).close()


# What the policy refuses


def test_lock_beyond_the_policy_opens_nothing(tmp_path: Path) -> None:
    many = lock(*(metric(f"m{index}") for index in range(5)))  # five reports a day at one nat each
    with pytest.raises(PolicyError, match="reports about one day"):
        Client(many, ENDPOINT, life="unlimited", state_dir=tmp_path / "state")
    with pytest.raises(PolicyError, match="write life="):
        Client(lock(), ENDPOINT, state_dir=tmp_path / "state")
    assert list(tmp_path.iterdir()) == []


def test_metric_that_the_ledger_refuses_is_counted_and_never_sent() -> None:
    clock, state, script = ManualClock(day(0, 0)), MemoryState(), Script()
    client(lock(metric(version=5)), clock, state=state)
    clock.set(day(1, 0))
    device = client(lock(metric(version=4), FLAG), clock, state=state, transport=script)
    device.add(NAME, 5)
    device.set(NAME, 5)
    clock.set(day(2, 0))
    assert device.flush()
    assert {r["metric"] for r in script.reports} == {FLAG.name}
    assert device.counters == {"refused_by_policy": 2, "accepted": 1}
    assert "version 4 is below the 5" in device.ledger().refused[NAME]


def test_ledger_tells_what_was_charged_and_sent() -> None:
    clock = ManualClock(day(0, 0))
    device = client(lock(metric()), clock)
    clock.set(day(2, 0))
    device.flush()
    account = device.ledger().accounts[NAME]
    assert (account.sent, account.versions, account.sealed) == (1, (1,), STARTS + DAY)
    assert account.charged.report == pytest.approx(1.0, abs=1e-3)


# The clock of the device and the clock of the collector


@pytest.mark.parametrize(
    ("ahead", "first", "later"),
    [
        (600, "accepted", "accepted"),
        (601, "too_early", "accepted"),
        (2 * DAY, "too_early", "accepted"),
        (-15 * DAY, "too_late", "too_late"),
        (-14 * DAY, "too_late", "too_late"),
        (-13 * DAY, "accepted", "accepted"),
    ],
)
def test_clock_that_is_wrong(ahead: float, first: str, later: str) -> None:
    """The device seals by its own clock; the collector decides by its own, and a report that is early comes again."""
    true = ManualClock()
    words: list[str] = []

    def collector(sent: bytes) -> Response:
        end = PLAIN.windows.end(report_of(sent)["window"])
        word = "too_early" if end > true.now() + 600 else "too_late" if end + PLAIN.grace <= true.now() else "accepted"
        words.append(word)
        return ACCEPTED if word == "accepted" else result("retry" if word == "too_early" else "rejected", code=word)

    clock, state = ManualClock(day(0, 0)), MemoryState()
    device = client(lock(PLAIN), clock, state=state, transport=Script([collector] * 9))
    device.add(NAME, 5)
    clock.set(day(1, 0))
    true.set(clock.now() - ahead)
    empty = device.flush()
    assert (words, empty) == ([first], first != "too_early")
    true.set(clock.now() + DAY)
    clock.set(day(1, 0) + 1)
    assert device.flush()
    assert words == ([first] if first != "too_early" else [first, later])


@pytest.mark.parametrize("year", [1970, 2099])
def test_clock_of_another_age_reports_nothing_outside_the_life(year: int) -> None:
    clock, script = ManualClock((year - 1970) * 365.25 * DAY), Script()
    device = client(lock(PLAIN), clock, transport=script)
    device.add(NAME, 5)
    clock.set(clock.now() + 3 * DAY)
    assert device.flush()
    assert script.bodies == []
    clock.set(day(3, 0))
    device.tick()
    device.add(NAME, 6)
    clock.set(day(4, 0))
    device.flush()
    # A clock that was behind is right again; one that was years ahead at birth found no window of the metric left.
    assert sent_values(script) == ({FIRST + 3: 6} if year == 1970 else {})


def test_reports_never_exceed_the_life_whatever_the_clock_does() -> None:
    short = metric(encoder=Plain(481), starts="2026-12-03", expires="2026-12-13")
    rng = Random(20261201)
    clock, script, state = ManualClock(day(0, 0)), Script(), MemoryState()
    device = client(lock(short), clock, state=state, transport=script)
    for step in range(3000):
        leap = rng.choice([0.1, 0.4, 0.4, 1, -1, 3, -3, 3650, -3650, 0])
        clock.set(day(0, 0) + leap * DAY * (1 if abs(leap) > 1000 else 0) + rng.uniform(0, 15) * DAY)
        device.add(NAME, 1)
        if step % 50 == 0:
            device = client(lock(short), clock, state=state, transport=script)
        device.flush()
    windows = [r["window"] for r in script.reports]
    assert len(set(windows)) == len(windows) <= short.reports
    assert set(windows) <= set(short.life)


# What is sent depends on the lock and the value, and on nothing else of the device


def test_texts_of_a_lock_made_for_one_device_leave_no_trace(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.urandom", lambda count: bytes(range(count)))  # the same secret and noise for all
    bodies = set()
    for number in range(5):
        marked = metric(
            version=number + 1,
            description=f"for device {number}",
            purpose=f"purpose {number}",
            owners=(f"owner{number}@example.org",),
            expires=f"2027-0{number + 1}-01",
            grace=(14 + number) * DAY,
            min_reports=100 + number,
        )
        clock, script = ManualClock(day(0, 0)), Script()
        device = client(lock(marked), clock, transport=script)
        device.add(NAME, 77)
        clock.set(day(1, 0))
        assert device.flush()
        bodies.add(tuple(script.bodies))
    assert len(bodies) == 1
