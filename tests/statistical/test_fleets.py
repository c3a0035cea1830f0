"""When the requests of many devices come: no minute sees a burst, whatever all of them do at once.

Reports travel at times of their own, so the arrivals of a minute are a sum of independent draws. The seeds are fixed.
"""

import math
import random
import re
from collections import Counter
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import pytest

from hubbub.client import MemoryState, Response, schedule
from hubbub.clock import ManualClock
from tests.unit.client_support import ACCEPTED, DAY, FRESH_MEAN, STARTS, client, live, lock, metric

DEVICES = 2880
METRICS = 10
MEAN = DEVICES * METRICS / 1440  # arrivals a minute: each device has one report of each metric a day
MINUTE = 60

Run = tuple[float, float]  # from when to when the program runs, in days since `STARTS`


class Arrivals:
    """Notes the minute of each request, since `STARTS`."""

    def __init__(self) -> None:
        self.per_minute = Counter[int]()
        self.clock = ManualClock()

    def post(self, body: bytes, timeout: float) -> Response:
        self.per_minute[int(self.clock.now() - STARTS) // MINUTE] += 1
        return ACCEPTED


def fleet(runs: Iterable[Run], devices: int = DEVICES, grace: int = 14) -> Counter[int]:
    """Requests by minute of devices whose programs all run at the same times.

    Args:
        grace: Of all metrics, in days.
    """
    arrivals = Arrivals()
    clock = arrivals.clock
    locked = lock(*(metric(f"m{index}", encoder=FRESH_MEAN, grace=grace * DAY) for index in range(METRICS)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(schedule, "_LOT", random.Random(20_261_211))
        for _ in range(devices):
            state = MemoryState()
            for start, stop in runs:
                clock.set(STARTS + start * DAY)
                device = client(locked, clock, state=state, transport=arrivals)
                live(device, clock, STARTS + stop * DAY)
                device.close()
    return arrivals.per_minute


@cache
def restarted() -> Counter[int]:
    """All start at nine, are off from the third day's noon until two, and run on."""
    return fleet([(9 / 24, 3.5), (3.5 + 2 / 24, 4)])


def minutes(found: Counter[int], first: float, last: float) -> list[int]:
    """Arrivals in each minute of [first, last), in days."""
    return [found[minute] for minute in range(round(first * 1440), round(last * 1440))]


def test_fleet_that_first_starts_together() -> None:
    """B11. By chance some minute of the day has more than three times the mean of 20: 2e-10."""
    found = restarted()
    assert sum(minutes(found, 0, 2)) == 0  # the first, partial window is not reported
    day = minutes(found, 2, 3)
    assert sum(day) == DEVICES * METRICS
    assert max(day) <= 3 * MEAN


def test_fleet_that_is_restarted_together() -> None:
    """B11. 25 a minute come for eight hours: by chance some minute has more than 60: 5e-7."""
    found = restarted()
    assert sum(minutes(found, 3.5, 3.5 + 2 / 24)) == 0
    assert sum(minutes(found, 2, 4)) == 2 * DEVICES * METRICS
    assert max(minutes(found, 3.5, 4)) <= 3 * MEAN


LIMITS = Path(__file__).parents[2] / "docs" / "explanation" / "known-limits.md"
SAID = re.search(
    r"nine to five send evenly over these hours, ([\d.]+) times .* whole day \(([\d.]+) times .* grace of two days\); "
    r".* four hours a day, ([\d.]+) times .*; for one hour, ([\d.]+) times; for ten minutes, ([\d.]+) times",
    " ".join(LIMITS.read_text("utf-8").split()),
)
FEW = 60
DAYS, ALIKE = 11, 6  # of which the last are alike


@cache
def daily(hours: float, grace: int) -> list[list[int]]:
    """Arrivals by minute while few devices are on, each day from nine o'clock, once every day is like the last."""
    runs = [(day + 9 / 24, day + (9 + hours) / 24) for day in range(DAYS)]
    found = fleet(runs, FEW, grace)
    steady = [minutes(found, start, stop) for start, stop in runs[-ALIKE:]]
    assert sum(map(sum, steady)) == sum(minutes(found, DAYS - ALIKE, DAYS))
    return steady


@pytest.mark.parametrize(("at", "hours", "grace"), [(1, 8, 14), (2, 8, 2), (3, 4, 14), (4, 1, 14), (5, 1 / 6, 14)])
def test_ten_minutes_after_the_start_are_as_busy_as_known_limits_says(at: int, hours: float, grace: int) -> None:
    assert SAID, "known-limits has other words"
    said = float(SAID[at]) * FEW * METRICS / 1440 * 10 * ALIKE
    found = sum(sum(day[:10]) for day in daily(hours, grace))
    assert abs(found - said) < 5 * math.sqrt(said)  # by chance: 6e-7


def test_fleet_of_an_office_sends_evenly() -> None:
    """Of 600 reports a day 75 are sent in each hour; in one of six days, 450 and 127 more or less by chance: 1e-7."""
    for hour in range(8):
        assert abs(sum(sum(day[60 * hour : 60 * hour + 60]) for day in daily(8, 14)) - 450) < 127
