"""Sending by itself: when each report travels, how often it is tried, and what decides neither."""

import email.utils
import math
from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from random import Random
from statistics import mean
from typing import Any

import pytest

from hubbub.client import Client, MemoryState, Response, schedule
from hubbub.clock import ManualClock
from tests.unit.client_support import (
    ACCEPTED,
    DAY,
    MEAN,
    STARTS,
    YES_NO,
    Plain,
    Script,
    client,
    live,
    lock,
    metric,
    result,
)

HOUR = 3600
DOWN = ConnectionRefusedError()
FIVE = [metric(f"m{index}", expires="2026-12-02") for index in range(5)]


class Timed(Script):
    """Notes by the clock when each body came."""

    def __init__(self, clock: ManualClock, answer: Callable[[float], Any] = lambda now: ACCEPTED) -> None:
        super().__init__()
        self.clock = clock
        self.answer = answer
        self.times: list[float] = []

    def post(self, body: bytes, timeout: float) -> Response:
        super().post(body, timeout)
        self.times.append(self.clock.now())
        step = self.answer(self.clock.now())
        if isinstance(step, Exception):
            raise step
        assert isinstance(step, Response)
        return step

    def tries(self) -> Counter[bytes]:
        return Counter(self.bodies)


def sealed(
    clock: ManualClock, script: Script, count: int = 1, expires: str = "2026-12-02"
) -> tuple[Client, MemoryState]:
    """A client that has just sealed the first day of some metrics, which is their last if nothing else is said."""
    state = MemoryState()
    clock.set(STARTS)
    asked = lock(*(metric(f"m{index}", expires=expires) for index in range(count)))
    device = client(asked, clock, state=state, transport=script)
    clock.set(STARTS + DAY)
    device.tick()
    assert len(state.outbox()) == count
    return device, state


# When


@pytest.mark.parametrize(("window", "span"), [("hour", HOUR), ("day", DAY), ("week", DAY)])
def test_each_report_has_a_time_of_its_own_over_a_window_and_at_most_a_day(window: str, span: int) -> None:
    delays = []
    names = [f"m{index}" for index in range(400)]
    clock, state = ManualClock(STARTS), MemoryState()
    script = Timed(clock)
    asked = lock(*(metric(name, window=window) for name in names))
    start = next(iter(asked.metrics.values())).windows.start(metric(window=window).windows.index(STARTS) + 1)
    clock.set(start)
    device = client(asked, clock, state=state, transport=script)
    end = metric(window=window).windows.end(metric(window=window).windows.index(start))
    clock.set(end)
    device.tick()
    due = {report.id: report.due for report in state.outbox()}
    live(device, clock, end + span)
    assert sorted(script.times)[-1] <= end + span
    assert {r["id"]: t for r, t in zip(script.reports, script.times, strict=True)}.keys() == due.keys()
    delays = [(due[r["id"]] - end) / span for r in script.reports]
    # 400 uniform draws: the mean's deviation is 0.0144, so that the bands below fail by chance in one of 10**6 runs.
    assert abs(mean(delays) - 0.5) < 0.075
    assert 0 <= min(delays) < 0.05
    assert 0.95 < max(delays) <= 1
    # Whatever the order of the metrics: the correlation of 400 pairs has a deviation of 0.05.
    order = [names.index(r["metric"]) for r in script.reports]
    centred = sum((a - mean(order)) * (b - mean(range(400))) for a, b in zip(order, range(400), strict=True))
    assert abs(centred) / sum((b - mean(range(400))) ** 2 for b in range(400)) < 0.25


def test_thread_sends_one_report_per_request_and_each_once() -> None:
    clock = ManualClock()
    script = Timed(clock)
    device, state = sealed(clock, script, 5)
    live(device, clock, STARTS + 2 * DAY)
    assert sorted(r["metric"] for r in script.reports) == [m.name for m in FIVE]
    assert len(set(script.times)) == 5
    assert state.outbox() == []
    assert device.counters == {"accepted": 5}


def test_report_is_not_sent_before_its_time_nor_at_the_start_of_the_program() -> None:
    early = 0
    for _ in range(60):
        clock = ManualClock()
        script = Timed(clock)
        _, state = sealed(clock, script)
        clock.set(STARTS + 3 * DAY + 5 * HOUR)  # its time passed while nothing ran
        start = clock.now()
        again = client(lock(metric("m0", expires="2026-12-02")), clock, state=state, transport=script)
        live(again, clock, start + schedule.LATE)
        assert start < script.times[0] <= start + schedule.LATE
        early += script.times[0] < start + schedule.LATE / 2
    assert 10 < early < 50  # 30 expected, deviation 3.9: below 10**-6


def test_clock_that_was_set_back_does_not_hold_reports_for_years() -> None:
    clock = ManualClock()
    script = Timed(clock)
    device, state = sealed(clock, script)
    (report,) = state.outbox()
    state.delay(report.id, STARTS + 3650 * DAY)
    live(device, clock, STARTS + DAY + schedule.LATE)
    assert len(script.bodies) == 1


def test_reports_that_waited_while_the_machine_slept_do_not_leave_together() -> None:
    clock = ManualClock()
    script = Timed(clock)
    device, _ = sealed(clock, script, 30)
    device._sender.step()
    clock.set(STARTS + 2 * DAY)
    live(device, clock, STARTS + 2 * DAY + schedule.LATE)
    assert len(script.times) >= 30
    waited = [t - STARTS - 2 * DAY for t in script.times]
    assert max(waited) - min(waited) > schedule.LATE / 3  # by chance less: below 10**-10


# How often


def test_dead_collector_sees_few_tries_a_day_and_all_is_sent_once_it_is_back() -> None:
    clock = ManualClock()
    back = STARTS + 9 * DAY
    script = Timed(clock, lambda now: ACCEPTED if now >= back else Response(500, b""))
    device, state = sealed(clock, script, 5, expires="2027-11-30")
    live(device, clock, back)
    moments: dict[bytes, list[float]] = {}
    for body, moment in zip(script.bodies, script.times, strict=True):
        moments.setdefault(body, []).append(moment)
    for tried in moments.values():
        for first in tried:
            assert sum(first <= other < first + DAY for other in tried) <= schedule.TRIES
    assert max(len(tried) for tried in moments.values()) > schedule.TRIES  # it rests, it does not give up
    assert len(script.times) < 9 * 100
    live(device, clock, back + 3 * DAY)
    assert {body for body, t in zip(script.bodies, script.times, strict=True) if t >= back} >= set(moments)
    assert all(report.sealed >= back + DAY for report in state.outbox())
    assert device.counters["unavailable"] == sum(t < back for t in script.times)


def test_pauses_grow_and_differ_between_devices() -> None:
    gaps: list[list[float]] = []
    for _ in range(40):
        clock = ManualClock()
        script = Timed(clock, lambda now: DOWN)
        device, _ = sealed(clock, script)
        while len(script.times) < schedule.TRIES:
            live(device, clock, clock.now() + HOUR)
        gaps.append([b - a for a, b in pairwise(script.times)][: schedule.TRIES - 1])
    assert len({gap for row in gaps for gap in row}) > 0.9 * 40 * (schedule.TRIES - 1)
    for index, column in enumerate(zip(*gaps, strict=True)):
        most = schedule.FIRST_PAUSE * 2 ** (index + 1) + schedule.CATCH_UP
        assert min(column) >= 0
        assert max(column) <= most
        assert max(column) > most / 3  # 40 draws that are all below a third of the range: below 10**-10


def test_after_the_last_try_of_a_round_the_report_rests_for_a_day_and_nothing_is_waited_for() -> None:
    clock = ManualClock()
    script = Timed(clock, lambda now: DOWN)
    device, state = sealed(clock, script)
    (report,) = state.outbox()
    for _ in range(schedule.TRIES - 1):
        state.delay(report.id, clock.now())
    live(device, clock, clock.now() + schedule.CATCH_UP)
    (kept,) = state.outbox()
    assert kept.attempts == schedule.TRIES
    assert script.times[0] + DAY <= kept.due <= script.times[0] + DAY + schedule.REST_SPREAD


def test_collector_that_takes_nothing_is_not_asked_for_each_report() -> None:
    clock = ManualClock()
    script = Timed(clock, lambda now: Response(503, b"", "3600"))
    device, _ = sealed(clock, script, 200)
    live(device, clock, STARTS + 2 * DAY)
    assert 1 <= len(script.times) <= 24
    assert all(b - a >= 3600 for a, b in pairwise(script.times))


def test_report_that_breaks_the_collector_does_not_starve_the_others() -> None:
    clock = ManualClock()
    script = Timed(clock)
    script.answer = lambda now: Response(500, b"") if b'"m3"' in script.bodies[-1] else ACCEPTED
    device, state = sealed(clock, script, 10)
    live(device, clock, STARTS + 3 * DAY)
    (kept,) = state.outbox()
    assert b'"m3"' in kept.body
    assert script.tries()[kept.body] <= 2 * schedule.TRIES


def test_report_that_came_too_early_waits_alone() -> None:
    clock = ManualClock()
    script = Timed(clock)
    script.answer = lambda now: result("retry", code="too_early") if b'"m3"' in script.bodies[-1] else ACCEPTED
    device, state = sealed(clock, script, 10)
    live(device, clock, STARTS + 2 * DAY)
    assert len(state.outbox()) == 1
    assert device.counters["accepted"] == 9
    assert 1 <= device.counters["too_early"] <= schedule.TRIES


@pytest.mark.parametrize("status", [400, 401, 404, 413])
def test_refused_report_is_dropped_alone(status: int) -> None:
    clock = ManualClock()
    script = Timed(clock)
    script.answer = lambda now: Response(status, b"") if b'"m3"' in script.bodies[-1] else ACCEPTED
    device, state = sealed(clock, script, 10)
    live(device, clock, STARTS + 2 * DAY)
    assert state.outbox() == []
    assert device.counters == {"accepted": 9, "refused": 1}
    assert len(script.bodies) == 10


@pytest.mark.parametrize("failures", [1, 2, 5, 7, 30])
def test_pause_is_anything_up_to_a_bound_that_doubles(failures: int) -> None:
    most = schedule.FIRST_PAUSE * 2 ** min(failures, 7)
    pauses = [schedule.pause(failures) for _ in range(300)]
    assert 0 <= min(pauses) < most / 10  # none of 300 in the first tenth: below 10**-13
    assert 0.9 * most < max(pauses) <= most


def test_one_answer_ends_a_row_of_failures() -> None:
    waits = []
    for _ in range(100):
        agenda = schedule.Agenda(lambda report: 0.0, lambda report_id, due: None)
        for attempts in range(1, 8):
            agenda.held_up(attempts, 0.0, NOW)
        agenda.answered()
        agenda.held_up(1, 0.0, NOW)
        waits.append(agenda._free - NOW)
    assert max(waits) <= 2 * schedule.FIRST_PAUSE


def test_pause_that_was_asked_for_outlives_the_program() -> None:
    clock = ManualClock()
    script = Timed(clock, lambda now: Response(503, b"", "3600"))
    device, state = sealed(clock, script)
    live(device, clock, STARTS + 2 * DAY)
    (report,) = state.outbox()
    assert report.due >= script.times[-1] + 3600
    assert all(schedule.again(attempts, 3600.0) >= 3600 for attempts in range(1, 100))


def test_time_that_passed_just_before_the_start_is_drawn_anew() -> None:
    for _ in range(20):
        clock = ManualClock()
        script = Timed(clock)
        device, state = sealed(clock, script)
        (report,) = state.outbox()
        state.delay(report.id, clock.now() - 1)
        device._sender.step()
        assert script.bodies == []  # else the upload would tell when the program started


def test_clock_that_runs_fast_reaches_every_report() -> None:
    clock = ManualClock()
    script = Timed(clock)
    device, state = sealed(clock, script, 5)
    for _ in range(200):  # a simulated quarter of an hour passes between two looks: a day, 8 hours and one are missed
        device._sender.step()
        clock.set(clock.now() + 900)
    assert state.outbox() == []


def test_report_that_was_late_and_came_too_early_waits_again() -> None:
    clock = ManualClock()
    script = Timed(clock, lambda now: result("retry", code="too_early"))
    _, state = sealed(clock, script)
    clock.set(STARTS + 3 * DAY)
    device = client(lock(metric("m0", expires="2026-12-02")), clock, state=state, transport=script)
    live(device, clock, STARTS + 4 * DAY)
    assert 1 < len(script.times) <= schedule.TRIES
    assert min(b - a for a, b in pairwise(script.times)) > 0


# What the collector asks


NOW = float(STARTS)


@pytest.mark.parametrize(
    ("header", "step"),
    [
        ("1", 60),
        ("60", 60),
        ("61", 300),
        ("0300", 300),
        ("900", 900),
        ("901", 3600),
        ("4000000000", 3600),
        ("9" * 400, 3600),
        (email.utils.formatdate(NOW + 100, usegmt=True), 300),
        (email.utils.formatdate(NOW + 10 * DAY, usegmt=True), 3600),
    ],
)
def test_retry_after_is_rounded_up_to_one_of_a_few_and_drawn_upon(header: str, step: float) -> None:
    waits = [schedule.asked_to_wait(header, NOW) for _ in range(200)]
    assert step <= min(waits) < 1.2 * step
    assert 1.8 * step < max(waits) <= 2 * step
    assert len(set(waits)) == 200


@pytest.mark.parametrize(
    "header",
    [
        "",
        "0",
        "-1",
        "abc",
        "1.5",
        "1e3",
        "NaN",
        "inf",
        " ",
        "٣٠٠",
        "60, 120",
        "\x00",
        email.utils.formatdate(NOW - 1, usegmt=True),
        "Tue, 99 Dec 2026 00:00:00 GMT",
        "Tue, 01 Dec 0000 00:00:00 GMT",
        "Thu, 01 Jan 1970 00:00:00 GMT",
    ],
)
def test_retry_after_that_says_nothing_usable_is_ignored(header: str) -> None:
    assert schedule.asked_to_wait(header, NOW) == 0


def test_collector_cannot_park_a_device_or_call_it_back_at_a_moment_of_its_choice() -> None:
    clock = ManualClock()
    script = Timed(clock, lambda now: Response(429, b"", "4000000000"))
    device, _ = sealed(clock, script)
    live(device, clock, STARTS + 3 * DAY)
    gaps = [b - a for a, b in pairwise(script.times)]
    assert len(gaps) >= schedule.TRIES - 1
    longest = schedule.FIRST_PAUSE * 2 ** (schedule.TRIES - 1)  # what it draws itself is longer than what it is asked
    assert longest > 2 * 3600
    assert all(3600 <= gap <= longest + schedule.CATCH_UP or gap >= DAY for gap in gaps)


# What decides nothing


@pytest.mark.parametrize("life", ["active", "idle", "nan"])
def test_number_time_and_length_of_requests_do_not_depend_on_values(life: str) -> None:
    """Against what they must be, the same for all three: 30 days, 3 metrics, lengths of the metric alone."""
    rng = Random(20261201)
    delays: list[float] = []
    shapes: set[tuple[int, int]] = set()
    lengths: dict[str, set[int]] = {}
    asked = lock(metric("minutes", encoder=MEAN), metric("used", "boolean", YES_NO), metric("wide", encoder=Plain(500)))
    for _ in range(12):
        clock, state = ManualClock(STARTS), MemoryState()
        script = Timed(clock)
        device = client(asked, clock, state=state, transport=script)
        due: dict[str, float] = {}
        for day in range(30):
            clock.set(STARTS + day * DAY)
            device.tick()
            due.update({report.id: report.due - clock.now() for report in state.outbox() if report.id not in due})
            for hour in range(0, 24, 6):
                live(device, clock, STARTS + day * DAY + hour * HOUR + 1)
                for name in asked.metrics if life != "idle" else ():
                    value = math.nan if life == "nan" else rng.choice([0, 1, True, 1e300, -5, 77.5])
                    (device.add if hour % 12 else device.set)(name, value)
        live(device, clock, STARTS + 30 * DAY)
        clock.set(STARTS + 30 * DAY)
        device.tick()
        live(device, clock, STARTS + 31 * DAY)
        for body in script.bodies:
            for name in asked.metrics:
                if f'"{name}"'.encode() in body:
                    lengths.setdefault(name, set()).add(len(body))
        delays += due.values()
        shapes.add((len(script.bodies), len({(r["metric"], r["window"]) for r in script.reports})))
    assert shapes == {(90, 90)}
    assert all(len(found) == 1 for found in lengths.values())
    assert len(lengths) == 3
    # Kolmogorov-Smirnov against the uniform law for n = 12 * 29 * 3: false alarm 10**-6 at 2.69 / sqrt(n).
    ordered = sorted(delay / DAY for delay in delays)
    n = len(ordered)
    assert n == 12 * 29 * 3
    distance = max(max((i + 1) / n - x, x - i / n) for i, x in enumerate(ordered))
    assert distance < 2.69 / math.sqrt(n)
