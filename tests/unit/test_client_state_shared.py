"""What clients of two releases, signal handlers and clocks out of their mind may do to one state."""

import math
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from hubbub.client import Client, MemoryState, Report, Running, SqliteState, State, StateError
from hubbub.client.policy import RESEARCH
from hubbub.client.reporter import Reporter
from hubbub.client.state import Stored
from hubbub.clock import ManualClock
from hubbub.lock import Lock
from hubbub.windows import Windows, windows
from tests.unit.client_support import DAY, STARTS, Script, client, metric
from tests.unit.state_support import BOTH, NAME, begin, encode, named, of, sealed, window

HOUR = 3600
HOURLY, DAILY = of(named(window="hour")), of(named(version=2, window="day"))
NO_TIMES = [math.nan, math.inf, -math.inf, 1e18, -1e18, 1e19, -1e19, 1e300]


@pytest.fixture(params=["memory", "sqlite"])
def state(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[State]:
    made: State = MemoryState() if request.param == "memory" else SqliteState(tmp_path)
    yield made
    made.close()


# An older and a newer release


def spans(script: Script) -> list[tuple[int, int]]:
    """Stretches of time that were reported, in the order of their beginning."""
    cuts: dict[str, Windows] = {
        locked.metrics[NAME].hash[:32]: windows(locked.metrics[NAME].window) for locked in (HOURLY, DAILY)
    }
    found = []
    for report in script.reports:
        cut = cuts[report["hash"]]
        found.append((cut.start(report["window"]), cut.end(report["window"])))
    return sorted(found)


def overlap(found: list[tuple[int, int]]) -> bool:
    return any(one[1] > other[0] for one, other in pairwise(found))


@pytest.mark.parametrize("order", [(HOURLY, DAILY), (DAILY, HOURLY)])
def test_two_releases_alive_on_one_state(state: State, order: tuple[Lock, Lock]) -> None:
    clock, script = ManualClock(STARTS - 1), Script()
    first, second = (client(locked, clock, state=state, transport=script) for locked in order)
    last, counts = STARTS - 1, Counter[str]()
    for hour in range(60):
        for device in (first, second, first):
            clock.set(STARTS + hour * HOUR + 10)
            device.set(NAME, 5)
            clock.set(STARTS + (hour + 1) * HOUR + 1)
            device.flush()
            now = state.ledger().accounts[NAME].sealed
            assert now >= last
            last = now
    for device in (first, second):
        counts += Counter(device.counters)
    assert not overlap(spans(script))
    assert counts["internal_error"] == counts["state_failed"] == 0
    # Only the newest release reports, and the older one does not keep it from that. An older one that comes last is
    # refused, and ends the newer one's definition.
    reported = {report["hash"] for report in script.reports}
    assert reported == ({DAILY.metrics[NAME].hash[:32]} if order[1] is DAILY else set())
    if order[1] is DAILY:
        assert spans(script) == [(STARTS + n * DAY, STARTS + (n + 1) * DAY) for n in range(2)]


def test_two_releases_one_after_the_other(state: State) -> None:
    clock, script = ManualClock(STARTS - 1), Script()
    old = client(HOURLY, clock, state=state, transport=script)
    for hour in range(50):
        clock.set(STARTS + hour * HOUR + 10)
        old.set(NAME, 5)
        if hour == 0:
            continue
        new = client(DAILY, clock, state=state, transport=script)
        new.set(NAME, 5)
        clock.set(STARTS + (hour + 1) * HOUR + 1)
        new.flush()
        new.close()
    assert spans(script) == [(STARTS, STARTS + HOUR), (STARTS + DAY, STARTS + 2 * DAY)]


def test_value_of_another_encoding_does_not_get_into_a_window(state: State) -> None:
    locked = of(named(version=2, step=2))
    begin(state)
    begin(state, locked)
    state.run([window(10)])
    assert not state.record(window(10), lambda held: 1.0)
    state.run([window(10, locked=locked)])
    assert not state.record(window(10), lambda held: 1.0)
    assert state.record(window(10, locked=locked), lambda held: 2.0)
    assert sealed(state, 20) == {"a10": b"(2.0, '')"}


def test_window_of_an_encoding_that_a_client_does_not_know_is_left_to_others(state: State) -> None:
    begin(state)
    state.run([window(10), window(10, "b")])
    seen: list[Running] = []
    state.seal(STARTS + 30, seen.append, {NAME: "0" * 64})
    state.seal(STARTS + 30, seen.append, {})
    assert seen == []
    assert state.ledger().accounts[NAME].sealed == STARTS
    state.seal(STARTS + 30, encode, {NAME: BOTH.metrics[NAME].hash})
    assert [report.id for report in state.outbox()] == ["a10"]


def test_row_of_another_encoding_in_the_file_is_wiped(tmp_path: Path) -> None:
    state = SqliteState(tmp_path)
    begin(state)
    state.run([window(10), window(20)])
    state._tables.db.execute("UPDATE running SET hash = ? WHERE start = ?", ("0" * 64, STARTS + 10))
    assert sealed(state, 30).keys() == {"a20"}
    assert state._tables.db.execute("SELECT * FROM running").fetchall() == []
    state.run([window(40)])
    state._tables.db.execute("UPDATE running SET hash = ?", ("0" * 64,))
    begin(state, seconds=45)
    assert state._tables.db.execute("SELECT * FROM running").fetchall() == []
    state.close()


def test_what_is_no_window_of_the_definition_is_not_encoded() -> None:
    definition = metric()
    device = Reporter(definition, "c", bytes(32), "")
    whole = device.around(STARTS)
    assert device.encode(whole, STARTS + DAY) is not None
    for start, stop in ((0, -1), (0, DAY), (1, 0), (HOUR, 0), (-DAY, 0)):
        odd = Running(whole.metric, whole.hash, whole.start + start, whole.stop + stop, "")
        assert device.encode(odd, STARTS + DAY) is None
    assert device.encode(Running(whole.metric, "0" * 64, whole.start, whole.stop, ""), STARTS + DAY) is None


# Calls within a call


def test_seal_within_a_seal_encodes_no_window_twice() -> None:
    state = MemoryState()
    begin(state)
    state.run([window(10), window(20), window(15, "b")])
    count = Counter[str]()

    def restless(running: Running) -> Report:
        count[f"{running.metric}{running.start - STARTS}"] += 1
        if sum(count.values()) < 3:
            state.run([window(10), window(20)])  # by a clock that was set back meanwhile
            state.seal(STARTS + 30, restless)
        return encode(running)

    state.seal(STARTS + 30, restless)
    assert sealed(state, 40).keys() == count.keys() == {"a10", "a20", "b15"}
    assert set(count.values()) == {1}
    assert state.ledger().accounts[NAME].sealed == STARTS + 30


def test_wipe_within_a_seal_leaves_no_report() -> None:
    state = MemoryState()
    begin(state)
    state.run([window(10), window(20)])

    def denying(running: Running) -> Report:
        state.wipe(STARTS + 30)
        return encode(running)

    state.seal(STARTS + 30, denying)
    assert state.stored() == Stored(0, 0)
    assert sealed(state, 40) == {}


def test_failure_within_a_seal_that_was_entered_again_leaves_what_was_not_encoded() -> None:
    state = MemoryState()
    begin(state)
    state.run([window(10), window(20)])

    def failing(running: Running) -> Report:
        state.seal(STARTS + 30, encode)
        raise RuntimeError("no noise")

    with pytest.raises(RuntimeError, match="no noise"):
        state.seal(STARTS + 30, failing)
    # The window that was being encoded is older than one that meanwhile was: its noise may be known, so it is wiped.
    assert sealed(state, 40).keys() == {"a20"}


def test_flush_of_a_signal_handler(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, script, state = ManualClock(STARTS), Script(), MemoryState()
    device = client(of(named()), clock, state=state, transport=script)
    device.set(NAME, 1)
    clock.set(STARTS + DAY + 1)
    real, entered = Reporter.encode, list[bool]()

    def encoding(self: Reporter, running: Running, now: float) -> Report | None:
        if not entered:
            entered.append(True)
            device.flush()
        return real(self, running, now)

    monkeypatch.setattr(Reporter, "encode", encoding)
    for _ in range(3):
        device.flush()
    assert entered
    assert len(script.reports) == 1
    assert device.counters == {"accepted": 1}


# Clocks


@pytest.mark.parametrize("now", NO_TIMES)
def test_what_is_no_time_does_nothing(state: State, now: float) -> None:
    begin(state)
    state.run([window(0), window(10)])
    sealed(state, 10)
    ledger, outbox = state.ledger(), state.outbox()
    with pytest.raises(StateError, match="the clock says no time that can be; set the clock"):
        begin_at(state, now)
    state.seal(now, encode)
    assert state.trim(10, 1000, now) == 0
    if math.isfinite(now):
        state.run([Running(NAME, BOTH.metrics[NAME].hash, int(now), int(now) + 10, "")])
        assert not state.record(Running(NAME, BOTH.metrics[NAME].hash, int(now), int(now) + 10, ""), lambda held: 1.0)
    assert (state.ledger(), state.outbox()) == (ledger, outbox)
    assert state.outbox(due_by=now) == (outbox if now > 0 else [])
    state.delay("a0", now)
    assert state.outbox() == [outbox[0]._replace(attempts=1)]
    state.wipe(now)
    assert state.stored() == Stored(0, 0)
    assert state.ledger() == ledger
    assert sealed(state, 100) == {}


def begin_at(state: State, now: float) -> None:
    state.begin(of(named(version=2, step=2)), policy=RESEARCH, now=now)


@pytest.mark.parametrize("now", NO_TIMES)
def test_client_outlives_a_clock_that_says_no_time(state: State, now: float) -> None:
    clock, script = ManualClock(STARTS), Script()
    device: Client = client(of(named()), clock, state=state, transport=script)
    device.set(NAME, 1)
    clock.set(now)
    device.add(NAME, 1)
    device.flush()
    assert script.bodies == []
    clock.set(STARTS + DAY)
    assert device.flush()
    assert [report["window"] for report in script.reports] == [STARTS // DAY]
    with pytest.raises(StateError, match="no time that can be"):
        client(of(named()), ManualClock(now), state=state)
