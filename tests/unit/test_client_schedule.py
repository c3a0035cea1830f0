"""Reports that missed their time, and those that wait for too long."""

from collections.abc import Iterable

import pytest

from hubbub.client import Client, MemoryState, SqliteState, schedule
from hubbub.client.state import Report, State
from hubbub.clock import ManualClock
from tests.unit.client_support import DAY, FRESH_MEAN, STARTS, Script, client, live, lock, metric
from tests.unit.test_client_sender import DOWN, HOUR, Timed

NINE = 9 * HOUR
ONE = metric("m0", expires="2026-12-02")  # of which a device sends one report
MINUTE = 60


# Over how long those are spread that missed their time


@pytest.mark.parametrize(
    ("left", "tries", "spread"),
    [
        (13 * DAY, 0, 8 * HOUR),
        (9 * DAY, 0, 8 * HOUR),
        (5 * DAY, 0, 4 * HOUR),
        (13 * DAY, 1, HOUR),
        (5 * DAY, 1, HOUR / 2),
        (13 * DAY, 2, 10 * MINUTE),
        (13 * DAY, 10**6, 10 * MINUTE),
        (1.2 * DAY, 0, 12 * MINUTE),
        (DAY, 0, 10 * MINUTE),
        (-1e9, 0, 10 * MINUTE),
        (float("-inf"), 0, 10 * MINUTE),
    ],
)
def test_spread_of_what_missed_its_time(left: float, tries: int, spread: float) -> None:
    assert schedule.late(left, tries) == pytest.approx(spread)


def started(state: State, clock: ManualClock, script: Script) -> Client:
    return client(lock(ONE), clock, state=state, transport=script)


@pytest.mark.parametrize(
    ("length", "left", "spread"),
    [
        (DAY, 14 * DAY, DAY),
        (7 * DAY, 14 * DAY, DAY),
        (HOUR, 14 * DAY, HOUR),
        (DAY, DAY - 60, DAY - 60),  # a grace of a day: sealed a minute after the end
        (DAY, DAY - 2 * HOUR, 600),  # ... hours after it
        (DAY, HOUR, 600),
        (HOUR, 100, 600),
    ],
)
def test_spread_of_what_was_sealed(length: int, left: float, spread: float) -> None:
    """All of 2 000 draws lie in it, and some in its last hundredth: none does with chance 2e-9."""
    drawn = [schedule.first(1000.0, length, 1000.0 + left) - 1000 for _ in range(2000)]
    assert 0 <= min(drawn) <= 0.01 * spread
    assert 0.99 * spread <= max(drawn) <= spread


def test_new_time_outlives_the_program_and_is_drawn_over_less_with_each_that_is_missed() -> None:
    """Starts do not add up: until its new time has passed, a report keeps it."""
    clock, state = ManualClock(STARTS), MemoryState()
    script = Timed(clock)
    started(state, clock, script)
    clock.set(STARTS + DAY)
    started(state, clock, script).tick()
    for tries, spread in enumerate((8 * HOUR, HOUR)):
        (report,) = state.outbox()
        assert report.attempts == tries
        clock.set(report.due + 2 * HOUR)
        started(state, clock, script)._sender.step()
        (late,) = state.outbox()
        assert clock.now() < late.due <= clock.now() + spread
        for _ in range(3):
            clock.set((clock.now() + late.due) / 2)
            started(state, clock, script)._sender.step()
            assert state.outbox() == [late]
    clock.set(late.due + 2 * HOUR)
    start = clock.now()
    for _ in range(3):
        device = started(state, clock, script)
        assert start < device._sender.step() <= start + schedule.CATCH_UP
        assert state.outbox() == [late._replace(attempts=2)]  # ten minutes are drawn anew at each start
    live(device, clock, start + schedule.CATCH_UP)
    assert len(script.times) == 1


@pytest.mark.parametrize("grace", [2, 3, 5, 14])
@pytest.mark.parametrize(("on", "starts"), [(10 * MINUTE, 3), (HOUR, 2)])
def test_programs_that_run_shortly_each_day_report_within_grace(on: int, starts: int, grace: int) -> None:
    """At the second or third start after the one that sealed, and while the collector takes it."""
    days = 8
    several = [metric(f"m{index}", grace=grace * DAY) for index in range(5)]
    for _ in range(10):
        clock, state = ManualClock(STARTS), MemoryState()
        script = Timed(clock)
        for day in range(days):
            clock.set(STARTS + day * DAY + NINE)
            live(client(lock(*several), clock, state=state, transport=script), clock, clock.now() + on)
        first = STARTS // DAY
        sent = {
            (r["metric"], r["window"]): t // DAY - r["window"]
            for r, t in zip(script.reports, script.times, strict=True)
        }
        wanted = {(one.name, first + day) for one in several for day in range(1, days - 1 - starts)}
        assert wanted <= sent.keys()
        assert max(sent.values()) <= min(1 + starts, grace)  # taken until 24 h * (1 + grace) after it began


@pytest.mark.parametrize("body", [b"", b"\xff", b"[]", b"{}", b'{"reports": [1]}', b'{"reports": [{"metric": 1}]}'])
def test_body_that_the_disk_has_damaged_stands_in_nobodys_way(body: bytes) -> None:
    class Damaged(MemoryState):
        def outbox(self, limit: int | None = None, due_by: float | None = None) -> list[Report]:
            return [report._replace(body=body) for report in super().outbox(limit, due_by)]

    clock, state = ManualClock(STARTS), Damaged()
    script = Timed(clock)
    started(state, clock, script)
    clock.set(STARTS + 3 * DAY)
    live(started(state, clock, script), clock, clock.now() + schedule.CATCH_UP)
    clock.set(STARTS + 5 * DAY)
    live(started(state, clock, script), clock, clock.now() + schedule.CATCH_UP)
    assert script.bodies == [body]


@pytest.mark.parametrize("later", [metric("m0", version=2, encoder=FRESH_MEAN), metric("another")])
def test_report_of_an_earlier_release_is_not_held_back(later: object) -> None:
    """What this release does not know may be taken for a moment only."""
    clock, state = ManualClock(STARTS), MemoryState()
    script = Timed(clock)
    started(state, clock, script)
    clock.set(STARTS + DAY)
    started(state, clock, script).tick()
    clock.set(STARTS + 2 * DAY + HOUR)
    device = client(lock(later), clock, state=state, transport=script)  # type: ignore[arg-type]
    live(device, clock, clock.now() + schedule.CATCH_UP)
    assert [r["metric"] for r in script.reports] == ["m0"]


# The outbox


def test_outbox_keeps_to_its_limits_and_counts_what_it_drops(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(schedule, "MAX_REPORTS", 4)
    clock, state = ManualClock(STARTS), MemoryState()
    device = client(lock(metric("a"), metric("b")), clock, state=state, transport=Script([DOWN] * 100))
    for day in range(1, 6):
        clock.set(STARTS + day * DAY)
        device.tick()
    assert sorted(report.sealed for report in state.outbox()) == [STARTS + 4 * DAY] * 2 + [STARTS + 5 * DAY] * 2
    assert device.counters == {"outbox_full": 6}


@pytest.mark.parametrize("step", [1, 50])
def test_outbox_forgets_what_no_collector_would_take_any_more(step: int) -> None:
    clock, state = ManualClock(STARTS), MemoryState()
    device = client(lock(metric()), clock, state=state)
    last = 250
    for day in range(step, last + 1, step):
        clock.set(STARTS + day * DAY)
        device.tick()
    kept = [report.sealed for report in state.outbox()]
    assert sorted(kept) == [STARTS + day * DAY for day in range(last - 100, last + 1, step)]
    assert device.counters == {"outbox_full": last // step - len(kept)}


@pytest.mark.parametrize("starts", [0, 3])
@pytest.mark.parametrize("folder", [False, True])
def test_clock_that_leaps_drops_nothing(tmp_path: object, starts: int, folder: bool) -> None:
    """Ten years ahead for a while, however often the program starts in between, with a day in which it goes on."""
    clock, script = ManualClock(STARTS), Script([DOWN] * 1000)
    state = SqliteState(f"{tmp_path}/state") if folder else MemoryState()
    device = client(lock(metric()), clock, state=state, transport=script)
    for day in range(1, 6):
        clock.set(STARTS + day * DAY)
        device.tick()
    waiting = {report.id for report in state.outbox()}
    assert len(waiting) == 4 + 1
    for day in range(1 + starts):
        clock.set(STARTS + (3650 + day) * DAY)
        device = client(lock(metric()), clock, state=state, transport=script) if starts else device
        device.tick()
    clock.set(STARTS + 8.5 * DAY)
    device.tick()
    assert waiting < {report.id for report in state.outbox()}
    assert "outbox_full" not in device.counters
    state.close()


@pytest.mark.parametrize(
    ("sealed", "now", "before"),
    [
        ([], 500, None),
        ([0], 100, None),
        ([0], 101, None),  # a step of more than a hundred days may be a leap
        ([0, 1], 101, 0),
        ([0, 50, 60], 160, 50),
        ([0, 3650], 3650, None),  # sealed by the clock that has leapt
        ([0, 3650], 20, None),  # it is back
        ([0, 60, 3650], 120, 0),
        ([0, 3650], 3750, None),
        ([0, 3650, 3651], 3751, 3650),  # who lives on like that for a hundred days may be right
        ([0, 60], float("nan"), None),
        ([0, 60], float("inf"), None),
    ],
)
def test_age_is_what_was_lived_through(sealed: Iterable[float], now: float, before: float | None) -> None:
    """In days; `before` is the newest that is dropped."""
    found = schedule.too_old([day * DAY for day in sealed], now * DAY)
    dropped = [day for day in sealed if day * DAY < found]
    assert max(dropped, default=None) == before
