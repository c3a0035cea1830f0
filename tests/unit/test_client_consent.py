"""Consent: what holds, what is wiped, and that nothing begins without it."""

import socket
import threading
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import get_args

import pytest

from hubbub.client import Choice, Client, HttpTransport, MemoryState, Response, SqliteState, StateError
from hubbub.client.consent import FORBIDDING, effective, forbidding
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
    live,
    lock,
    metric,
    secret_of,
)
from tests.unit.test_client import sent_values
from tests.unit.test_client_transport import serving

PLAIN = metric(encoder=Plain(481))
NAME = PLAIN.name
FIRST = STARTS // DAY


@pytest.fixture(autouse=True)
def _free(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in FORBIDDING:
        monkeypatch.delenv(name, raising=False)


def at(day: float) -> float:
    return STARTS + day * DAY


# What holds


@pytest.mark.parametrize(
    ("value", "forbidden"),
    [
        (None, False),
        ("", False),
        ("0", False),
        ("false", False),
        ("1", True),
        ("true", True),
        ("no", True),
        (" ", True),
    ],
)
def test_do_not_track(value: str | None, forbidden: bool) -> None:
    environment = {} if value is None else {"DO_NOT_TRACK": value}
    assert forbidding(environment) == forbidding(environment, in_ci=True) == ("DO_NOT_TRACK" if forbidden else "")


@pytest.mark.parametrize(
    ("value", "forbidden"), [("", False), ("0", False), ("false", False), ("1", True), ("true", True)]
)
def test_continuous_integration(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, value: str, forbidden: bool) -> None:
    monkeypatch.setenv("CI", value)
    folder, script = tmp_path / "state", Script()

    def run(day: float, *, in_ci: bool) -> Choice:
        device = Client(
            lock(PLAIN),
            ENDPOINT,
            policy="research",
            state_dir=folder,
            clock=ManualClock(at(day)),
            transport=script,
            background=False,
            in_ci=in_ci,
        )
        device.add(NAME, 5)
        device.flush()
        device.close()
        return device.consent()

    assert run(0, in_ci=False) == ("denied" if forbidden else "granted")
    assert folder.exists() is not forbidden
    assert run(0, in_ci=True) == run(1, in_ci=True) == "granted"
    assert len(script.bodies) == 1
    monkeypatch.setenv("DO_NOT_TRACK", "1")
    assert run(2, in_ci=True) == "denied"
    assert len(script.bodies) == 1


@pytest.mark.parametrize(
    ("stored", "default", "holds"),
    [
        ("", "unknown", "unknown"),
        ("", "granted", "granted"),
        ("granted", "unknown", "granted"),
        ("granted", "granted", "granted"),
        ("denied", "unknown", "denied"),
        ("denied", "granted", "denied"),
        ("yes", "granted", "unknown"),
        ("Denied", "granted", "unknown"),
    ],
)
def test_what_holds(stored: str, default: Choice, holds: Choice) -> None:
    assert effective(stored, default, forbidden=False) == holds
    assert effective(stored, default, forbidden=True) == "denied"


@pytest.mark.parametrize("value", [None, "", "0", "1", "true"])
@pytest.mark.parametrize("stored", ["", "granted", "denied"])
def test_environment_and_choice(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, value: str | None, stored: Choice
) -> None:
    clock, script = ManualClock(at(0)), Script()
    before = Client(lock(PLAIN), ENDPOINT, policy="research", state_dir=tmp_path, clock=clock, background=False)
    if stored:
        before.consent(stored)
    before.close()
    if value is not None:
        monkeypatch.setenv("DO_NOT_TRACK", value)
    free = value in (None, "", "0") and stored != "denied"
    device = Client(
        lock(PLAIN), ENDPOINT, policy="research", state_dir=tmp_path, clock=clock, background=False, transport=script
    )
    assert device.consent() == ("granted" if free else "denied")
    device.add(NAME, 5)
    clock.set(at(1))
    assert device.flush()
    assert len(script.bodies) == (1 if free else 0)
    device.close()


def test_where_nobody_may_be_tracked_no_file_is_made(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("DO_NOT_TRACK", "1")
    folder, clock = tmp_path / "state", ManualClock(at(0))

    def start() -> Client:
        return Client(lock(PLAIN), ENDPOINT, policy="research", state_dir=folder, clock=clock, transport=Script())

    device = start()
    device.add(NAME, 5)
    device.flush()
    assert device.consent("granted") == "denied"
    device.close()
    assert not folder.exists()
    # A refusal is remembered, since it must outlive the variable.
    device = start()
    assert device.consent("denied") == "denied"
    device.close()
    monkeypatch.delenv("DO_NOT_TRACK")
    device = start()
    assert device.consent() == "denied"
    device.close()


@pytest.mark.parametrize("word", ["unknown", "yes", "", True, 1])
def test_other_words_are_refused(word: object) -> None:
    device = client(lock(PLAIN), ManualClock(at(0)))
    with pytest.raises(ParameterError, match=r"state must be one of 'granted', 'denied'; got "):
        device.consent(word)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match=r"consent must be one of 'unknown', 'granted'; got 'denied'"):
        client(lock(PLAIN), ManualClock(at(0)), consent="denied")


# Every transition


def windows_sent(script: Script) -> dict[int, int]:
    return sent_values(script)


@pytest.mark.parametrize(("before", "after"), list(product(get_args(Choice), ["granted", "denied"])))
@pytest.mark.parametrize("restart", [False, True])
def test_every_transition(before: Choice, after: Choice, restart: bool) -> None:
    """Day 0 ends under `before`; in day 1 at noon `after` is chosen; days 1 and 2 end; values: day * 10 + half."""
    clock, script, state = ManualClock(at(0)), Script(), MemoryState()

    def start() -> Client:
        return client(lock(PLAIN), clock, state=state, transport=script, consent="unknown")

    device = start()
    if before != "unknown":
        device.consent(before)
        clock.set(at(0))
    device.add(NAME, 1)
    clock.set(at(1))
    device.tick()
    waiting = len(state.outbox())
    assert waiting == (1 if before == "granted" else 0)
    device.add(NAME, 11)
    if restart:
        device = start()
    clock.set(at(1.5))
    assert device.consent(after) == after
    assert len(state.outbox()) == (waiting if after == "granted" else 0)
    device.add(NAME, 100)
    clock.set(at(2))
    device.add(NAME, 21)
    clock.set(at(3))
    assert device.flush()
    granted = {
        "unknown": {FIRST + 1: 111, FIRST + 2: 21},  # what had ended is not filled in
        "granted": {FIRST: 1, FIRST + 1: 111, FIRST + 2: 21},
        "denied": {FIRST + 2: 21},  # nor what was running
    }
    assert windows_sent(script) == (granted[before] if after == "granted" else {})


def test_unknown_sends_nothing_and_reports_no_window_that_ended() -> None:
    clock, script, state = ManualClock(at(0)), Script(), MemoryState()
    device = client(lock(PLAIN), clock, state=state, transport=script, consent="unknown")
    for day in range(1, 6):
        device.add(NAME, day)
        clock.set(at(day))
        device.flush()
    assert state.outbox() == []
    assert script.bodies == []
    assert device.counters == {}
    assert state.ledger().accounts[NAME].sealed == at(5)


def test_denied_values_are_counted_and_not_kept(tmp_path: Path) -> None:
    clock, state = ManualClock(at(0)), SqliteState(tmp_path)
    device = client(lock(PLAIN), clock, state=state)
    device.add(NAME, 137)
    clock.set(at(1))
    device.tick()
    device.add(NAME, 138)
    device.consent("denied")
    device.add(NAME, 139)
    device.set(NAME, 139)
    assert device.counters == {"denied": 2, "wiped": 1}
    state.close()
    again = SqliteState(tmp_path)
    assert again.outbox() == []
    running = again._tables.db.execute("SELECT count(*) FROM running").fetchone()
    assert running == (0,)
    again.close()


def test_toggling_changes_no_permanent_answer_and_gives_no_second_look() -> None:
    memo = metric()
    clock, script, state = ManualClock(at(0)), Script(), MemoryState()
    device = client(lock(memo), clock, state=state, transport=script)
    before = [device.preview(memo.name, value).answer for value in range(0, 481, 40)]
    secret, charged = secret_of(state, lock(memo)), state.ledger().accounts[memo.name].charges
    for step in range(1, 40):
        clock.set(at(step / 4))
        device.consent("granted" if step % 2 else "denied")
        device.add(memo.name, 5)
    clock.set(at(12))
    device.flush()
    assert [device.preview(memo.name, value).answer for value in range(0, 481, 40)] == before
    assert secret_of(state, lock(memo)) == secret
    assert state.ledger().accounts[memo.name].charges == charged
    windows = [r["window"] for r in script.reports]
    assert len(set(windows)) == len(windows)


# No request begins


def test_queue_is_wiped_and_nothing_is_sent_after_a_denial() -> None:
    clock, state = ManualClock(at(0)), MemoryState()
    script = Script([OSError()] * 3)
    many = [metric(f"m{index}", expires="2026-12-02") for index in range(3)]
    device = client(lock(*many), clock, state=state, transport=script)
    clock.set(at(1))
    device.tick()
    while not any(report.attempts for report in state.outbox()):
        live(device, clock, clock.now() + 600)
    tried = len(script.bodies)
    device.consent("denied")
    assert state.outbox() == []
    live(device, clock, at(5))
    assert device.flush()
    assert len(script.bodies) == tried
    device.consent("granted")
    live(device, clock, at(9))
    assert len(script.bodies) == tried


def test_denial_before_the_start_is_noticed_before_anything_is_sent(tmp_path: Path) -> None:
    clock = ManualClock(at(0))
    first = Client(lock(PLAIN), ENDPOINT, policy="research", state_dir=tmp_path, clock=clock, background=False)
    clock.set(at(1))
    first.tick()
    first.close()
    outside = SqliteState(tmp_path)
    assert len(outside.outbox()) == 1
    outside.begin(lock(PLAIN), first._setup.policy, int(at(1)))
    outside.set_consent("denied")
    outside.close()
    script = Script()
    device = Client(
        lock(PLAIN), ENDPOINT, policy="research", state_dir=tmp_path, clock=clock, background=False, transport=script
    )
    assert device._recorder.state.outbox() == []
    assert device.flush()
    assert script.bodies == []
    device.close()


def test_no_network_before_consent_is_resolved() -> None:
    with serving() as server:
        clock, state = ManualClock(at(0)), MemoryState()
        old = client(lock(PLAIN), clock, state=state)
        clock.set(at(1))
        old.tick()  # one report waits from an earlier run
        device = Client(
            lock(PLAIN),
            server.endpoint,
            policy="research",
            state=state,
            clock=clock,
            background=False,
            consent="unknown",
        )
        live(device, clock, at(2) - 1)
        assert not device.flush()
        assert server.requests == []
        assert device.consent("granted") == "granted"
        assert device.flush()
        assert len(server.requests) == 1


def test_denial_breaks_off_a_request_and_another_cannot_begin() -> None:
    """Against a collector that has the request and does not answer."""
    entered, leave = threading.Event(), threading.Event()

    def silent(handler: object) -> None:
        entered.set()
        leave.wait(30)

    with serving(silent) as server:
        clock, state = ManualClock(at(0)), MemoryState()
        two = [metric("m0", expires="2026-12-02"), metric("m1", expires="2026-12-02")]
        device = Client(lock(*two), server.endpoint, policy="research", state=state, clock=clock, background=False)
        clock.set(at(1))
        device.tick()
        done: list[bool] = []
        thread = threading.Thread(target=lambda: done.append(device.flush(30)))
        thread.start()
        assert entered.wait(30)
        assert device.consent("denied") == "denied"
        thread.join(20)
        assert not thread.is_alive()  # long before the 30 seconds of the flush
        assert done == [True]
        assert len(server.requests) == 1
        assert device.counters == {"wiped": 2}
        leave.set()


def test_connections_are_made_again_once_consent_is_granted_again() -> None:
    with serving() as server:
        clock = ManualClock(at(0))
        device = Client(
            lock(PLAIN), server.endpoint, policy="research", state=MemoryState(), clock=clock, background=False
        )
        device.consent("denied")
        device.consent("granted")
        clock.set(at(1))
        assert device.flush(30)
        assert device.counters == {"accepted": 1}


def test_halted_transport_sends_no_byte() -> None:
    with serving() as server:
        transport = HttpTransport(server.endpoint)
        transport.halt()
        with pytest.raises(ConnectionAbortedError):
            transport.post(b"{}", 30)
        assert server.requests == []
        transport.resume()
        assert transport.post(b"{}", 30) == ACCEPTED
        transport.halt()
        with pytest.raises(ConnectionAbortedError):
            transport.post(b"{}", 30)
        transport.close()
        assert len(server.requests) == 1


def test_denial_holds_also_where_it_cannot_be_written() -> None:
    class Full(MemoryState):
        full = True

        def set_consent(self, consent: str) -> None:
            if self.full:
                raise StateError("here", "the disk is full")
            super().set_consent(consent)

        def wipe(self, now: float) -> None:
            if self.full:
                raise StateError("here", "the disk is full")
            super().wipe(now)

    clock, script, state = ManualClock(at(0)), Script(), Full()
    device = client(lock(PLAIN), clock, state=state, transport=script)
    clock.set(at(1))
    device.tick()
    assert device.consent("denied") == "denied"
    assert device.counters == {"state_failed": 1}
    device.flush()
    live(device, clock, at(1))
    assert script.bodies == []
    state.full = False
    device.tick()
    assert state.outbox() == []
    assert device.consent() == "denied"


def test_grant_that_cannot_be_written_does_not_hold() -> None:
    class Full(MemoryState):
        def set_consent(self, consent: str) -> None:
            raise StateError("here", "the disk is full")

    device = client(lock(PLAIN), ManualClock(at(0)), state=Full(), consent="unknown")
    assert device.consent("granted") == "unknown"
    assert device.counters == {"state_failed": 1}


def test_denial_is_taken_while_a_thread_of_the_client_posts() -> None:
    entered, leave = threading.Event(), threading.Event()

    def slow(body: bytes) -> Response:
        entered.set()
        leave.wait(30)
        return ACCEPTED

    clock, state = ManualClock(at(0)), MemoryState()
    script = Script([slow])
    device = client(lock(PLAIN), clock, state=state, transport=script, background=False)
    clock.set(at(1))
    thread = threading.Thread(target=device.flush, args=(30,))
    thread.start()
    assert entered.wait(30)
    assert device.consent("denied") == "denied"  # does not wait for the transport of the host
    assert state.outbox() == []
    leave.set()
    thread.join(30)
    assert len(script.bodies) == 1


def test_denial_while_a_connection_is_being_made() -> None:
    with serving() as server:
        transport = HttpTransport(server.endpoint)
        connect = transport._connection.connect

        def meanwhile() -> None:
            transport.halt()  # nothing is there yet that it could break off
            connect()

        transport._connection.connect = meanwhile  # type: ignore[method-assign]
        with pytest.raises(ConnectionAbortedError):
            transport.post(b"{}", 30)
        assert server.requests == []


def test_halted_transport_makes_no_connection() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        transport = HttpTransport(f"http://127.0.0.1:{server.getsockname()[1]}")
        transport.halt()
        with pytest.raises(ConnectionAbortedError):
            transport.post(b"{}", 30)
        server.settimeout(0.05)
        with pytest.raises(TimeoutError):
            server.accept()


Call = Callable[[Client], object]


@pytest.mark.parametrize("call", [lambda c: c.add(NAME, 1), lambda c: c.flush(), lambda c: c.tick()])
def test_denied_calls_change_nothing(call: Call) -> None:
    clock, state = ManualClock(at(0)), MemoryState()
    device = client(lock(PLAIN), clock, state=state)
    device.consent("denied")
    clock.set(at(1))
    call(device)
    clock.set(at(2))
    call(device)
    assert state.outbox() == []
    assert state.consent() == "denied"
