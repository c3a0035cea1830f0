"""What every state must keep to: windows, seals, the outbox, consent; in memory and in a folder alike."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from hubbub.client import MemoryState, Report, Running, SqliteState, State, StateError
from hubbub.client.state import Held, Stored
from tests.unit.client_support import DAY, MEAN, STARTS
from tests.unit.state_support import BOTH, NAME, begin, days, encode, named, of, sealed, window


@pytest.fixture(params=["memory", "sqlite"])
def state(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[State]:
    made: State = MemoryState() if request.param == "memory" else SqliteState(tmp_path)
    yield made
    made.close()


def record(state: State, start: int, value: float, name: str = NAME) -> bool:
    return state.record(window(start, name), lambda held: value)


def test_secret_is_drawn_once(state: State) -> None:
    secret = begin(state, seconds=5).secret
    assert len(secret) == 32
    assert begin(state, of(), 9).secret == secret
    assert len(set(secret)) > 8  # fewer distinct bytes by chance: below 10**-20


# Windows and seals


def test_windows_before_the_birth_do_not_run(state: State) -> None:
    begin(state, seconds=15)
    state.run([window(10), window(20), window(15, "b", 3)])
    assert not record(state, 10, 1.0)
    assert record(state, 20, 1.0)
    assert record(state, 15, 1.0, "b")


def test_windows_that_were_not_charged_do_not_run(state: State) -> None:
    begin(state, of(named(starts="2026-12-02", expires="2026-12-04")))
    state.run([*days(-1, 0, 1, 2, 3), window(DAY, "unknown")])
    assert [record(state, day * DAY, 1.0) for day in range(-1, 4)] == [False, False, True, True, False]
    assert not record(state, DAY, 1.0, "unknown")
    assert sealed(state, 9 * DAY).keys() == {f"a{DAY}", f"a{2 * DAY}"}


def test_what_a_window_holds(state: State) -> None:
    begin(state)
    assert not record(state, 10, 1.0)
    state.run([window(10, segment="beta")])
    seen: list[Held | None] = []

    def put(value: float) -> bool:
        def merge(held: Held | None) -> Held:
            seen.append(held)
            return value

        return state.record(window(10), merge)

    assert all(put(value) for value in (1.5, float("inf"), -3.0))
    assert seen == [None, 1.5, float("inf")]
    state.run([window(10, segment="stable")])
    assert sealed(state, 20) == {"a10": b"(-3.0, 'beta')"}
    assert not record(state, 10, 1.0)


def test_sealing_takes_what_has_ended_oldest_first(state: State) -> None:
    begin(state)
    state.run([window(30), window(10), window(20), window(15, "b")])
    order: list[int] = []
    state.seal(STARTS + 34.9, lambda running: order.append(running.start - STARTS))
    assert order == [10, 15, 20]
    assert state.outbox() == []
    assert record(state, 30, 1.0)
    assert sealed(state, 40) == {"a30": b"(1.0, '')"}


def test_nothing_before_the_seal_runs_again(state: State) -> None:
    begin(state)
    state.run([window(10), window(0, "b")])
    sealed(state, 20)
    state.run([window(0), window(10), window(19, length=1), window(15, length=100), window(20)])
    assert sealed(state, 10**6).keys() == {"a10", "b0", "a20"}


@pytest.mark.parametrize("at_once", [False, True])
def test_window_that_reaches_back_behind_the_seal_is_wiped_unencoded(state: State, at_once: bool) -> None:
    begin(state)
    state.run([window(10), window(15, length=100)])
    assert at_once or sealed(state, 20).keys() == {"a10"}
    assert sealed(state, 200).keys() == {"a10"}
    assert not record(state, 15, 1.0)


def test_failure_while_sealing_leaves_all_as_it_was(state: State) -> None:
    begin(state)
    state.run([window(10), window(20)])
    record(state, 10, 7.0)

    def failing(running: Running) -> Report:
        if running.start == STARTS + 20:
            raise RuntimeError("no noise")
        return encode(running)

    with pytest.raises(RuntimeError, match="no noise"):
        state.seal(STARTS + 30, failing)
    assert state.outbox() == []
    assert state.ledger().accounts[NAME].sealed == STARTS
    assert sealed(state, 30) == {"a10": b"(7.0, '')", "a20": b"(None, '')"}


def test_only_windows_of_the_encodings_asked_for_are_sealed(state: State) -> None:
    begin(state)
    state.run([window(10), window(10, "b")])
    state.seal(STARTS + 20, encode, {"a": "0" * 64, "b": BOTH.metrics["b"].hash})
    assert ids(state) == ["b10"]
    assert record(state, 10, 1.0)


def test_calls_from_within_a_seal_encode_no_window_twice() -> None:
    """As a host's signal handler may make them: its windows neither run again nor fall back behind a later seal."""
    state = MemoryState()
    begin(state)
    state.run([window(10), window(20)])
    order: list[int] = []

    def again(running: Running) -> Report:
        order.append(running.start - STARTS)
        if len(order) == 1:
            state.run([window(10)])
            state.seal(STARTS + 30, again)
        return encode(running)

    state.seal(STARTS + 30, again)
    assert order == [10, 20]
    assert state.ledger().accounts[NAME].sealed == STARTS + 30
    state.run([window(10), window(20)])
    assert sealed(state, 40).keys() == {"a10", "a20"}


@pytest.mark.parametrize("call", [lambda state: begin(state, of(), 20), lambda state: state.wipe(STARTS + 20)])
def test_what_is_wiped_from_within_a_seal_leaves_no_report(call: Callable[[State], object]) -> None:
    state = MemoryState()
    begin(state)
    state.run([window(10)])

    def wiped(running: Running) -> Report:
        call(state)
        return encode(running)

    state.seal(STARTS + 20, wiped)
    assert state.outbox() == []


def test_window_without_a_report_is_sealed_all_the_same(state: State) -> None:
    begin(state)
    state.run([window(10)])
    state.seal(STARTS + 20, lambda running: None)
    state.run([window(10)])
    assert sealed(state, 30) == {}
    assert state.ledger().accounts[NAME].sealed == STARTS + 20


def test_another_definition_wipes_and_seals(state: State) -> None:
    begin(state)
    state.run([window(10), window(10, "b")])
    second, third = (of(named(version=number, step=number), BOTH.metrics["b"]) for number in (2, 3))
    begin(state, second, 15)
    state.run([window(12, locked=second)])
    assert sealed(state, 100).keys() == {"b10"}
    begin(state, third, 5)  # a clock set back opens nothing that was sealed
    state.run([window(14, locked=third), window(15), window(15, locked=second)])
    assert sealed(state, 200).keys() == {"b10"}
    state.run([window(15, locked=third)])
    assert sealed(state, 300).keys() == {"b10", "a15"}


def test_another_definition_in_the_very_second_a_window_begins_does_not_take_it_over(state: State) -> None:
    begin(state)
    state.run([window(10)])
    record(state, 10, 7.0)
    begin(state, of(named(version=2, step=2)), 10)
    assert sealed(state, 20) == {}


def test_renewed_definition_goes_on(state: State) -> None:
    begin(state)
    state.run([window(10)])
    record(state, 10, 7.0)
    begin(state, of(named(version=2, expires="2027-12-31")), 15)
    assert sealed(state, 20) == {"a10": b"(7.0, '')"}


def test_metric_that_left_and_came_back_begins_anew(state: State) -> None:
    begin(state)
    state.run([window(10)])
    begin(state, of(BOTH.metrics["b"]), 11)
    state.run([window(11)])
    begin(state, BOTH, 12)
    state.run([window(10), window(11), window(12)])
    assert sealed(state, 100).keys() == {"a12"}


def test_state_belongs_to_one_collection(state: State) -> None:
    begin(state)
    with pytest.raises(StateError, match=r"it belongs to collection 'c', the lock to 'd'; give each "):
        begin(state, of(collection="d"))
    begin(state)


# The outbox


def filled(state: State, *dues: float) -> list[str]:
    """Reports that are due then, of windows 0, 10, 20, … sealed one after the other; their bodies grow."""
    begin(state)
    for number, due in enumerate(dues):
        state.run([window(10 * number)])
        report = Report(f"r{number}", b"x" * (number + 1), STARTS + due, attempts=9, sealed=9)
        state.seal(STARTS + 10 * number + 10.9, lambda running, report=report: report)  # type: ignore[misc]
    return ids(state)


def ids(state: State, **limits: float) -> list[str]:
    return [report.id for report in state.outbox(**limits)]  # type: ignore[arg-type]


def test_reports_outlive_their_definition(state: State) -> None:
    assert filled(state, 0.0) == ["r0"]
    begin(state, of(), 30)
    assert ids(state) == ["r0"]
    state.done("r0")
    assert state.ledger().accounts[NAME].sent == 1


def test_outbox_is_in_the_order_of_due_times(state: State) -> None:
    assert filled(state, 50.5, 40, 70, 40) == ["r1", "r3", "r0", "r2"]
    assert ids(state, limit=2) == ["r1", "r3"]
    assert ids(state, due_by=STARTS + 50.5) == ["r1", "r3", "r0"]
    assert ids(state, due_by=STARTS + 50.4, limit=1) == ["r1"]
    assert ids(state, due_by=STARTS) == []
    first = state.outbox()[0]
    assert first == Report("r1", b"xx", STARTS + 40.0, attempts=0, sealed=STARTS + 20)


def test_delay_counts_the_attempt(state: State) -> None:
    filled(state, 1, 2)
    state.delay("r0", STARTS + 9.5)
    state.delay("r0", STARTS + 9.75)
    state.delay("gone", STARTS)
    assert ids(state) == ["r1", "r0"]
    assert state.outbox()[1][2:] == (STARTS + 9.75, 2, STARTS + 10)


def test_done_forgets_and_counts(state: State) -> None:
    filled(state, 1, 2)
    state.done("r0")
    state.done("r0")
    state.done("never there")
    assert ids(state) == ["r1"]
    assert state.ledger().accounts[NAME].sent == 1


def test_the_same_report_is_not_replaced(state: State) -> None:
    filled(state, 1)
    state.run([window(10)])
    state.seal(STARTS + 20, lambda running: Report("r0", b"other"))
    assert [report.body for report in state.outbox()] == [b"x"]


@pytest.mark.parametrize(
    ("most", "size", "age", "left"),
    [
        (9, 99, 0, ["r0", "r1", "r2", "r3"]),
        (2, 99, 0, ["r2", "r3"]),
        (9, 9, 0, ["r1", "r2", "r3"]),  # 2 + 3 + 4 bytes
        (9, 8, 0, ["r2", "r3"]),
        (9, 3, 0, []),
        (0, 99, 0, []),
        (9, 99, 20, ["r1", "r2", "r3"]),
        (9, 99, 21, ["r2", "r3"]),
        (9, 99, 99, []),
    ],
)
def test_trim_drops_the_oldest(state: State, most: int, size: int, age: int, left: list[str]) -> None:
    filled(state, 1, 2, 3, 4)
    assert state.trim(most, size, STARTS + age) == 4 - len(left)
    assert ids(state) == left
    assert state.stored() == Stored(len(left), sum(int(i[1:]) + 1 for i in left))
    assert state.ledger().accounts[NAME].sent == 0
    assert state.trim(most, size, STARTS + age) == 0


# Consent


def test_wipe_forgets_values_and_outbox_and_keeps_the_seals(state: State) -> None:
    installation = begin(state)
    state.run([window(0), window(0, "b", 100)])
    sealed(state, 10)
    state.run([window(10)])
    record(state, 10, 5.0)
    state.wipe(STARTS + 15)
    assert state.stored() == Stored(0, 0)
    state.run([window(10), window(0, "b", 100), window(14)])
    assert not record(state, 10, 5.0)
    assert sealed(state, 100) == {}
    assert begin(state).secret == installation.secret
    assert state.ledger().accounts.keys() == {"a", "b"}
    assert {account.sealed for account in state.ledger().accounts.values()} == {STARTS + 15}
    state.run([window(15)])
    assert sealed(state, 100).keys() == {"a15"}


def test_a_wipe_within_a_second_seals_what_began_in_it(state: State) -> None:
    begin(state)
    state.wipe(STARTS + 15.5)
    state.run([window(15), window(15, "b")])
    assert sealed(state, 100) == {}


def test_a_wipe_by_a_clock_set_back_opens_nothing(state: State) -> None:
    begin(state, seconds=50)
    state.wipe(STARTS + 15)
    assert {account.sealed for account in state.ledger().accounts.values()} == {STARTS + 50}


def test_consent_is_remembered(state: State) -> None:
    begin(state)
    assert state.consent() == ""
    for text in ("denied", "granted"):
        state.set_consent(text)
        assert state.consent() == text
        begin(state, of(named("a", encoder=MEAN)), 9)
        assert state.consent() == text


def test_nothing_begun(state: State) -> None:
    with pytest.raises(StateError, match="nothing has begun; call begin first"):
        state.ledger()
    assert state.outbox() == []
    assert not record(state, 0, 1.0)
    state.run([window(0)])
    assert sealed(state, 100) == {}
