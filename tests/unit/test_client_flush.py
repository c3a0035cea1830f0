"""Posting: what each answer means for a report, what stays in the outbox, and when a round ends."""

import json

import pytest

from hubbub.client import Client, MemoryState, Response, Transport
from hubbub.client.answers import CODES, judge
from hubbub.clock import ManualClock
from tests.unit.client_support import ACCEPTED, DAY, STARTS, Script, Step, client, lock, metric, result

TEN = [metric(f"m{index}") for index in range(10)]


def due(transport: Transport, count: int = 1) -> tuple[Client, MemoryState]:
    """A client with `count` reports to send."""
    clock, state = ManualClock(STARTS), MemoryState()
    device = client(lock(*TEN[:count]), clock, state=state, transport=transport)
    clock.set(STARTS + DAY)
    device.tick()
    assert len(state.outbox()) == count
    return device, state


def body(**fields: object) -> Response:
    return Response(200, json.dumps(fields).encode())


KEPT: list[tuple[Step, str]] = [
    (Response(408, b""), "unavailable"),
    (Response(429, b"{}"), "unavailable"),
    (Response(500, b""), "unavailable"),
    (Response(503, b'{"accepted": 1, "results": []}'), "unavailable"),
    (Response(599, b""), "unavailable"),
    (ConnectionRefusedError(), "unreachable"),
    (TimeoutError(), "unreachable"),
    (OSError("no route"), "unreachable"),
    (result("retry", code="too_early"), "too_early"),
    (result("retry", code="rate_limited"), "rate_limited"),
    (result("retry"), "rejected"),
    (Response(200, b"<html>Welcome to the hotel</html>"), "unreadable"),
    (Response(200, b'{"accepted": 1, "resul'), "unreadable"),
    (Response(204, b""), "unreadable"),
    (Response(200, b"[" * 50_000), "unreadable"),
    (Response(200, b"\xff"), "unreadable"),
    (body(accepted=0, results=[]), "unreadable"),
    (body(accepted=1), "unreadable"),
    (body(accepted=0, results=[{}]), "unreadable"),
    (body(accepted=0, results=["duplicate"]), "unreadable"),
    (body(accepted=0, results={"status": "duplicate"}), "unreadable"),
    (Response(200, b"null"), "unreadable"),
]
DROPPED: list[tuple[Step, str]] = [
    (ACCEPTED, "accepted"),
    (Response(202, ACCEPTED.body), "accepted"),
    (body(accepted=1, results=[], more="ignored"), "accepted"),
    (result("duplicate"), "duplicate"),
    *((result("rejected", code=code), code) for code in sorted(CODES)),
    (result("rejected"), "rejected"),
    (result("rejected", code="made_up\n"), "rejected"),
    (result("parked", code="too_late"), "too_late"),
    (result("parked"), "rejected"),
    (body(accepted=0, results=[{"status": ["rejected"], "code": {}}]), "rejected"),
    (Response(301, b""), "refused"),
    (Response(307, b""), "refused"),
    (Response(400, b""), "refused"),
    (Response(404, b"not found"), "refused"),
    (Response(413, b""), "refused"),
    (Response(199, ACCEPTED.body), "refused"),
]


@pytest.mark.parametrize(("step", "word"), KEPT)
def test_kept_until_a_terminal_answer(step: Step, word: str) -> None:
    script = Script([step, step])
    device, state = due(script)
    (report,) = state.outbox()
    assert not device.flush()
    assert not device.flush()
    (kept,) = state.outbox()
    assert (kept.id, kept.body, kept.attempts) == (report.id, report.body, 2)
    assert device.flush()
    assert state.outbox() == []
    assert device.counters == {word: 2, "accepted": 1}
    assert script.bodies == [report.body] * 3


@pytest.mark.parametrize(("step", "word"), DROPPED)
def test_dropped_for_good(step: Step, word: str) -> None:
    script = Script([step])
    device, state = due(script)
    assert device.flush()
    assert device.flush()
    assert state.outbox() == []
    assert device.counters == {word: 1}
    assert len(script.bodies) == 1


def test_collector_cannot_choose_the_names_of_counters() -> None:
    for number in range(100):
        assert judge(result("rejected", code=f"code_{number}")).word == "rejected"


def test_one_report_per_request() -> None:
    script = Script()
    device, _ = due(script, 10)
    assert device.flush()
    assert sorted(r["metric"] for r in script.reports) == [m.name for m in TEN]


def test_order_is_drawn() -> None:
    orders = set()
    for _ in range(8):
        script = Script()
        device, _ = due(script, 10)
        device.flush()
        orders.add(tuple(r["metric"] for r in script.reports))
    assert len(orders) > 1  # by chance alike: below 10**-45


def test_order_tells_nothing_of_windows() -> None:
    sorted_ones = 0
    for _ in range(3):
        clock, script = ManualClock(STARTS), Script()
        device = client(lock(*TEN), clock, transport=script)
        for day in (1, 2):
            clock.set(STARTS + day * DAY)
            device.tick()
        device.flush()
        windows = [r["window"] for r in script.reports]
        assert len(windows) == 20
        sorted_ones += windows in (sorted(windows), sorted(windows, reverse=True))
    assert sorted_ones < 3  # by chance all of them: 10**-15


def test_report_held_back_does_not_hold_up_others() -> None:
    script = Script([result("retry", code="too_early")])
    device, state = due(script, 10)
    assert not device.flush()
    assert len(script.bodies) == 10
    assert len(state.outbox()) == 1


@pytest.mark.parametrize("step", [Response(500, b""), Response(429, b""), OSError(), Response(200, b"")])
def test_round_ends_where_the_collector_takes_nothing(step: Step) -> None:
    script = Script([ACCEPTED, step])
    device, state = due(script, 10)
    assert not device.flush()
    assert len(script.bodies) == 2
    assert len(state.outbox()) == 9


def test_report_that_breaks_the_collector_does_not_starve_the_others() -> None:
    def poisoned(sent: bytes) -> Response:
        return Response(500, b"") if b'"m3"' in sent else ACCEPTED

    script = Script([poisoned] * 1000)
    device, state = due(script, 10)
    for _ in range(200):
        device.flush()
    assert [b'"m3"' in report.body for report in state.outbox()] == [True]


def test_deadline_is_for_the_whole_round(monkeypatch: pytest.MonkeyPatch) -> None:
    elapsed = [0.0]
    monkeypatch.setattr("time.monotonic", lambda: elapsed[0])

    def slow(sent: bytes) -> Response:
        elapsed[0] += 0.4
        return ACCEPTED

    script = Script([slow] * 10)
    device, state = due(script, 10)
    assert not device.flush(timeout=1.0)
    assert script.timeouts == pytest.approx([1.0, 0.6, 0.2])
    assert len(state.outbox()) == 7


@pytest.mark.parametrize("timeout", [0, -1, float("nan")])
def test_no_time_sends_nothing_but_seals(timeout: float) -> None:
    script = Script()
    clock, state = ManualClock(STARTS), MemoryState()
    device = client(lock(), clock, state=state, transport=script)
    assert device.flush(timeout)
    clock.set(STARTS + DAY)
    assert not device.flush(timeout)
    assert script.bodies == []
    assert len(state.outbox()) == 1


def test_fault_of_the_hosts_own_transport_does_not_reach_the_host() -> None:
    device, state = due(Script([ZeroDivisionError()]), 2)
    assert not device.flush()
    assert device.counters == {"transport_failed": 1}
    assert len(state.outbox()) == 2
    assert device.flush()
