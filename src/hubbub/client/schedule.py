"""When a report travels: at a time of its own, drawn without a look at what it holds, and again after a failure.

Times are unix seconds by the device's clock. Specification: spec/wire.md, section "Sending".
"""

import email.utils
import math
import random
from collections.abc import Callable, Iterable, Sequence

from hubbub.client.state import Report

SPREAD = 86_400.0  # most seconds over which the reports of a window are spread
LATE = 28_800.0  # most seconds over which those are spread that missed their time
LAST_DAY = 86_400.0  # seconds before a report ceases to be taken in which the program may start but once more
LATE_PART = 24  # they are spread over no more than this part of the time until then,
AGAIN_PART = 8.0  # over this part of that with each try or time that was missed,
CATCH_UP = 600.0  # ... and never over less than this
PROMPT = 3600.0  # seconds after the end of a window in which a program that runs all the time has sealed it
TRIES = 8  # of one report before it rests
REST = 86_400.0  # seconds
REST_SPREAD = 3600.0
FIRST_PAUSE = 60.0  # seconds; doubled with each failure
HOLDS = (60.0, 300.0, 900.0, 3600.0)  # what `Retry-After` is rounded up to, so that it cannot be a mark
FARTHEST = REST + REST_SPREAD  # no draw lies beyond it: what does was drawn by a clock that has been set back
SLACK = 120.0  # seconds by which a report may be late because the one before it took its time
MAX_REPORTS = 1000  # in the outbox
MAX_BYTES = 1 << 20
MAX_AGE = 100 * 86_400.0  # seconds since sealing: more than any grace; a step of more than that is not counted

_LOT = random.SystemRandom()


def first(now: float, length: float, until: float) -> float:
    """When a report sealed now is to travel, of a window of so many seconds that is taken `until` then.

    Where less time is left than it would be spread over, by more than `PROMPT`, the program seldom runs, and may not
    again before then.
    """
    spread, left = min(length, SPREAD), until - now
    return now + _LOT.uniform(0, min(spread, max(CATCH_UP, left if left >= spread - PROMPT else 0)))


def late(left: float, tries: int) -> float:
    """Seconds over which a report is spread that missed its time, and is taken for so many seconds more.

    Programs that run all day send over all of it; the spread shrinks with what was tried or missed before, so that
    those that run for an hour or for minutes have their turn a start or two later.
    """
    return max(CATCH_UP, min(LATE, (left - LAST_DAY) / LATE_PART) / AGAIN_PART ** min(tries, 2))


def too_old(sealed: Iterable[float], now: float) -> float:
    """Before which moment a report must have been sealed to be dropped for its age.

    Age is summed along the moments of sealing. A step of more than `MAX_AGE` counts as none: the clock may have leapt.
    """
    age, later = 0.0, now
    for moment in sorted((moment for moment in sealed if moment <= now), reverse=True):
        step = later - moment
        age, later = age + (step if step <= MAX_AGE else 0.0), moment
        if age > MAX_AGE:
            return math.nextafter(moment, math.inf)
    return -math.inf


def pause(failures: int) -> float:
    """Seconds to wait after so many failures in a row: anything up to a bound that doubles."""
    return _LOT.uniform(0, FIRST_PAUSE * 2 ** min(failures, TRIES - 1))


def again(attempts: int, held: float) -> float:
    """Seconds until a report that was tried so many times travels again, no less than `held`.

    After each `TRIES` of them it rests for a day, so that no day sees more.
    """
    if attempts % TRIES == 0:
        return REST + _LOT.uniform(0, REST_SPREAD)
    return max(held, pause(attempts % TRIES))


def asked_to_wait(header: str, now: float) -> float:
    """Seconds to wait by a `Retry-After` of seconds or a date, rounded up to one of a few; 0 if it says nothing usable.

    As much again is drawn on top, so that devices that were turned away together do not come back together.
    """
    try:
        wait = float(header) if header.isascii() and header.isdigit() else _until(header) - now
    except (ValueError, TypeError, OverflowError, OSError):
        return 0.0
    if not wait > 0:
        return 0.0
    step = next((step for step in HOLDS if wait <= step), HOLDS[-1])
    return step + _LOT.uniform(0, step)


def _until(date: str) -> float:
    return email.utils.parsedate_to_datetime(date).timestamp()


class Agenda:
    """The times at which the reports of an outbox travel.

    A report whose time passed while nothing could be sent (the program did not run, the machine slept) gets a new one,
    as does one whose time was drawn by a clock that has since been set back, or passes while the collector takes
    nothing. What is drawn over no more than `CATCH_UP` is kept here alone: the next start draws anew.

    Args:
        until: When a report ceases to be taken.
        put_off: Keeps the new time of a report, and counts what it missed as a try.
    """

    def __init__(self, until: Callable[[Report], float], put_off: Callable[[str, float], None]) -> None:
        self._until = until
        self._put_off = put_off
        self._redrawn: dict[str, float] = {}
        self._known: set[str] = set()
        self._free = 0.0  # nothing travels before
        self._failures = 0  # of the collector as a whole, in a row

    def earliest(self, waiting: Sequence[Report], now: float) -> tuple[Report, float] | None:
        """The report that travels next, and when; None where none waits."""
        if self._free - now > FARTHEST:
            self._free = now
        here = {report.id for report in waiting}
        self._redrawn = {key: time for key, time in self._redrawn.items() if key in here}
        times = [(self._time(report, now), report) for report in waiting]
        self._known = here
        time, report = min(times, key=lambda pair: pair[0], default=(now, None))
        return (report, time) if report else None

    def _time(self, report: Report, now: float) -> float:
        time = self._redrawn.get(report.id, report.due)
        if time < self._free:
            time = self._redrawn[report.id] = max(self._free, now) + _LOT.uniform(0, CATCH_UP)
            return time
        # What was drawn anew here is not again because its time passes: a clock that runs fast would never reach it.
        passed = -math.inf if report.id in self._redrawn else now - SLACK if report.id in self._known else now
        if time < passed or time - now > FARTHEST:
            spread = late(self._until(report) - now, report.attempts)
            time = now + _LOT.uniform(0, spread)
            if spread > CATCH_UP:
                self._put_off(report.id, time)
            else:
                self._redrawn[report.id] = time
        return time

    def answered(self) -> None:
        """The collector takes reports."""
        self._failures = 0

    def held_up(self, attempts: int, held: float, now: float) -> float:
        """The collector as a whole took nothing: nothing travels for a while.

        Returns:
            Seconds until the report that was tried travels again.
        """
        self._failures += 1
        wait = max(held, pause(self._failures))
        self._free = now + wait
        return again(attempts, wait + _LOT.uniform(0, CATCH_UP))  # not before the others, which may fare better

    def moved(self, report_id: str) -> None:
        """The state holds a new time for this report."""
        self._redrawn.pop(report_id, None)
