"""The thread of a client: it seals and sends by the clock, outlives what fails, and is never waited for."""

import math
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

from hubbub.client import Client, MemoryState, Report, Response, StateError, hosting, sender
from hubbub.clock import ManualClock
from tests.unit.client_support import ACCEPTED, DAY, STARTS, Script, client, lock, metric
from tests.unit.test_client_sender import FIVE, HOUR, Timed
from tests.unit.test_client_transport import serving

ONE = metric(expires="2026-12-02")
HANGS = 60.0  # seconds after which a test ends that would never; no test takes them


@pytest.fixture
def _awake(monkeypatch: pytest.MonkeyPatch) -> None:
    """The thread looks at the test's clock all the time."""
    monkeypatch.setattr(sender, "RESTLESS", 0.002)


def wait(until: Callable[[], bool], meanwhile: Callable[[], None] = lambda: None) -> None:
    deadline = time.monotonic() + HANGS
    while not until():
        assert time.monotonic() < deadline
        meanwhile()
        time.sleep(0.002)


def advancing(clock: ManualClock) -> Callable[[], None]:
    """Sets the clock ahead each time, without end: a thread that looks late draws its times late."""
    return lambda: clock.set(clock.now() + 500)


@pytest.mark.usefixtures("_awake")
def test_thread_seals_and_sends_by_the_clock() -> None:
    clock, state = ManualClock(STARTS), MemoryState()
    script = Timed(clock)
    device = client(lock(*FIVE), clock, state=state, transport=script, background=True)
    device.add("m0", 3)
    clock.set(STARTS + DAY)
    wait(lambda: len(state.outbox()) == 5)
    assert script.bodies == []
    clock.set(STARTS + DAY + 20 * HOUR)
    wait(lambda: not state.outbox(), advancing(clock))
    device.close()
    assert len(set(script.bodies)) == len(script.bodies) == 5
    assert device.counters == {"accepted": 5}


@pytest.mark.usefixtures("_awake")
def test_recording_leaves_sealing_to_the_thread() -> None:
    sealers: list[str] = []

    class Watched(MemoryState):
        def seal(self, now: float, encode: Callable[[Any], Report | None], hashes: Any = None) -> None:
            sealers.append(threading.current_thread().name)
            super().seal(now, encode, hashes)

    clock, state = ManualClock(STARTS), Watched()
    device = client(lock(ONE), clock, state=state, background=True)
    clock.set(STARTS + DAY)
    device.add("editor.minutes", 1)
    wait(lambda: len(state.outbox()) == 1)
    device.close()
    assert set(sealers) == {"hubbub"}


@pytest.mark.usefixtures("_awake")
def test_thread_outlives_whatever_fails() -> None:
    class Failing(MemoryState):
        broken = True

        def outbox(self, limit: int | None = None, due_by: float | None = None) -> Any:
            if self.broken:
                raise StateError("here", "is broken")
            return super().outbox(limit, due_by)

    clock, state = ManualClock(STARTS), Failing()
    script = Timed(clock)
    device = client(lock(ONE), clock, state=state, transport=script, background=True)
    wait(lambda: device.counters.get("state_failed", 0) > 0)
    clock.set(math.nan)
    wait(lambda: device.counters.get("internal_error", 0) > 0)
    state.broken = False
    clock.set(STARTS + DAY)
    wait(lambda: len(state.outbox()) == 1)
    wait(lambda: len(script.bodies) > 0, advancing(clock))
    device.close()


def test_close_ends_the_thread_and_may_be_repeated_and_later_calls_are_counted() -> None:
    device = client(lock(ONE), ManualClock(STARTS), background=True)
    thread = device._sender._thread
    assert thread is not None
    assert thread.daemon
    device.close()
    device.close()
    assert not thread.is_alive()
    device.add("editor.minutes", 1)
    device.set("editor.minutes", 1)
    device.tick()
    assert not device.flush()
    assert device.consent() == "granted"
    assert device.ledger().accounts
    assert device.counters == {"closed": 4}


def test_without_background_there_is_no_thread() -> None:
    before = threading.active_count()
    device = client(lock(ONE), ManualClock(STARTS))
    assert threading.active_count() == before
    device.close()


@pytest.mark.usefixtures("_awake")
def test_flush_does_not_wait_for_the_thread_longer_than_it_may() -> None:
    entered, leave = threading.Event(), threading.Event()

    def slow(body: bytes) -> Response:
        entered.set()
        leave.wait(HANGS)
        return ACCEPTED

    clock, state = ManualClock(STARTS), MemoryState()
    device = client(lock(ONE), clock, state=state, transport=Script([slow]), background=True)
    clock.set(STARTS + DAY)
    wait(lambda: len(state.outbox()) == 1)
    wait(entered.is_set, advancing(clock))
    assert not device.flush(timeout=0.01)
    device.add("editor.minutes", 1)  # recording does not wait for the network either
    assert not leave.is_set()
    assert device.counters == {}
    leave.set()
    wait(lambda: device.counters == {"accepted": 1})
    device.close()


@pytest.mark.usefixtures("_awake")
def test_close_breaks_off_a_request_that_is_not_answered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hosting, "EXIT_SECONDS", 0.5)
    entered, leave = threading.Event(), threading.Event()

    def silent(handler: object) -> None:
        entered.set()
        leave.wait(30)

    with serving(silent) as server:
        clock, state = ManualClock(STARTS), MemoryState()
        device = Client(lock(ONE), server.endpoint, policy="research", state=state, clock=clock)
        clock.set(STARTS + DAY)
        wait(lambda: len(state.outbox()) == 1)
        wait(entered.is_set, advancing(clock))
        device.close()
        thread = device._sender._thread
        assert thread is not None
        thread.join(10)  # a request may take 30 seconds
        assert not thread.is_alive()
        leave.set()
    assert len(state.outbox()) == 1
    assert device.counters == {}
