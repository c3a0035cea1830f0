"""The client as an app sees it: which windows it reports, with which bytes, and what it never does."""

import math
import re
import threading
from collections.abc import Sequence
from pathlib import Path

import pytest

from hubbub.client import (
    Client,
    HttpTransport,
    MemoryState,
    Running,
    SqliteState,
    State,
)
from hubbub.client.state import Merge
from hubbub.clock import ManualClock
from hubbub.encoders.base import SCALE, Encoder, Words, below
from hubbub.errors import LockError, ParameterError, PrivateValueError
from hubbub.lock import Lock, dump
from hubbub.prf import device_prf, report_id
from hubbub.wire import pack, unpack
from tests.unit.client_support import (
    DAY,
    ENDPOINT,
    FRESH_MEAN,
    MEAN,
    STARTS,
    YES_NO,
    Plain,
    Script,
    client,
    lock,
    metric,
    report_of,
    secret_of,
)

PLAIN = metric(encoder=Plain(481))  # sends the tick in the clear
FLAG = metric("editor.used", "boolean", Plain(2))
NAME = PLAIN.name
SECRET_VALUE = 137.25  # recognised in a text
TOLD = re.compile(r"(?<![\w/-])137(?![\w/-])")  # as a number, not inside an address or a path


def sent_values(script: Script, name: str = NAME, size: int = 481) -> dict[int, int]:
    """The tick that each report of a plain metric carries, by window."""
    found = {r["window"]: unpack(r["payload"], (size, SCALE))[0] for r in script.reports if r["metric"] == name}
    assert len(found) == len([r for r in script.reports if r["metric"] == name]), "two reports of one window"
    return found


def day(index: int, hours: float = 12.0) -> float:
    """A time in the metric's day `index`."""
    return STARTS + index * DAY + hours * 3600


FIRST = STARTS // DAY


# Which windows are reported


def test_a_state_that_counts_as_false_is_used_all_the_same() -> None:
    class Counted(MemoryState):
        def __len__(self) -> int:
            return self.stored().reports

    script = Script()
    clock, state = ManualClock(STARTS - 1), Counted()
    assert not state
    device = client(lock(PLAIN), clock, state=state, transport=script)
    clock.set(STARTS + 1)
    device.set(NAME, 7)
    clock.set(STARTS + DAY)
    assert device.flush()
    assert sent_values(script)
    assert state.ledger() == device.ledger()


def test_one_report_for_each_window_in_which_the_program_ran() -> None:
    clock, script = ManualClock(day(0, 0)), Script()
    device = client(lock(PLAIN), clock, transport=script)
    device.add(NAME, 7)
    clock.set(day(1))
    device.tick()
    clock.set(day(4))
    device.add(NAME, 30)
    clock.set(day(5, 0))
    assert device.flush()
    assert sent_values(script) == {FIRST: 7, FIRST + 1: 0, FIRST + 4: 30}
    assert device.counters == {"accepted": 3}


def test_running_window_is_not_sent() -> None:
    clock, script = ManualClock(day(0, 0)), Script()
    device = client(lock(PLAIN), clock, transport=script)
    device.add(NAME, 7)
    clock.set(day(1, 0) - 0.001)
    assert device.flush()
    assert script.bodies == []
    clock.set(day(1, 0))
    assert device.flush()
    assert sent_values(script) == {FIRST: 7}


def test_first_partial_window_is_not_reported() -> None:
    clock, script = ManualClock(day(0, 0) + 0.5), Script()
    device = client(lock(PLAIN), clock, transport=script)
    device.add(NAME, 7)
    assert device.counters == {"sealed_window": 1}
    clock.set(day(2))
    assert device.flush()
    assert script.bodies == []
    clock.set(day(3))
    assert device.flush()
    assert sent_values(script) == {FIRST + 2: 0}


@pytest.mark.parametrize("call", ["made", "add", "add invalid", "add unknown", "set", "tick", "flush"])
def test_what_counts_as_running(call: str) -> None:
    clock, script, state = ManualClock(day(0, 0)), Script(), MemoryState()
    device = client(lock(PLAIN), clock, transport=script, state=state)
    clock.set(day(3))
    if call == "made":
        device = client(lock(PLAIN), clock, transport=script, state=state)
    elif call.startswith("add"):
        device.add("no.such" if "unknown" in call else NAME, "x" if "invalid" in call else 0)
    elif call == "set":
        device.set(NAME, 0)
    elif call == "tick":
        device.tick()
    else:
        device.flush()
    clock.set(day(7))
    device.flush()
    assert sent_values(script) == {FIRST: 0, FIRST + 3: 0}


def test_only_windows_of_the_life_are_reported() -> None:
    short = metric(encoder=Plain(481), starts="2026-12-03", expires="2026-12-05")
    clock, script = ManualClock(day(0, 0)), Script()
    device = client(lock(short), clock, transport=script)
    for index in range(8):
        clock.set(day(index))
        device.add(NAME, 1)
    device.flush()
    assert sent_values(script) == {FIRST + 2: 1, FIRST + 3: 1}
    assert device.counters == {"accepted": 2}


def test_life_that_was_shortened_meanwhile_binds() -> None:
    clock, script, state = ManualClock(day(0, 0)), Script(), MemoryState()
    client(lock(PLAIN), clock, state=state).add(NAME, 7)
    clock.set(day(1))
    shorter = metric(encoder=Plain(481), starts="2026-12-02")
    assert client(lock(shorter), clock, state=state, transport=script).flush()
    assert script.bodies == []


def test_turns_follow_the_prf_and_are_shared_by_metrics() -> None:
    every = 7
    panel = [metric(name, encoder=Plain(481), report_every=every) for name in ("a", "b")]
    turns = set()
    for _ in range(30):
        state, script, clock = MemoryState(), Script(), ManualClock(day(0, 0))
        device = client(lock(*panel), clock, state=state, transport=script)
        for index in range(21):
            clock.set(day(index))
            device.add("a", 1)
            device.add("b", 2)
        clock.set(day(21))
        assert device.flush()
        secret = secret_of(state, lock(*panel))
        turn = below(every, device_prf(secret, "editor-desktop", "", "")("turn", every))
        expected = [w for w in range(FIRST, FIRST + 21) if w % every == turn]
        assert len(expected) == 3
        assert sent_values(script, "a") == dict.fromkeys(expected, 1)
        assert sent_values(script, "b") == dict.fromkeys(expected, 2)
        assert device.counters == {"accepted": 6}
        turns.add(turn)
    assert len(turns) > 3  # 30 devices share three turns with a chance below 10**-9


# The clock


def test_clock_set_back_encodes_no_window_twice() -> None:
    clock, script = ManualClock(day(0, 0)), Script()
    device = client(lock(PLAIN), clock, transport=script)
    clock.set(day(3))
    for step in range(40):
        device.add(NAME, step + 1)
        device.flush()
        clock.set(day((3, 1, 0, 2)[step % 4]))
    # Days 1 and 2 run once each before the clock passes them; day 0 was sealed when it first stood in day 3.
    assert sent_values(script) == {FIRST: 0, FIRST + 1: 3, FIRST + 2: 5}
    assert device.counters["sealed_window"] == 10 + 9 + 8
    clock.set(day(4))
    device.flush()
    assert sent_values(script) == {FIRST: 0, FIRST + 1: 3, FIRST + 2: 5, FIRST + 3: 1 + sum(range(2, 39, 4))}


def test_clock_leaping_ahead_and_back_costs_no_later_window() -> None:
    clock, script = ManualClock(day(0, 0)), Script()
    device = client(lock(PLAIN), clock, transport=script)
    device.add(NAME, 5)
    clock.set(day(300))
    device.tick()
    clock.set(day(1))
    device.add(NAME, 6)
    clock.set(day(2))
    device.flush()
    assert sent_values(script) == {FIRST: 5, FIRST + 1: 6}


@pytest.mark.parametrize("birth", [0.0, STARTS - 10.0 * 365 * DAY])
def test_clock_of_1970_gives_no_windows_outside_the_life(birth: float) -> None:
    clock, script = ManualClock(birth), Script()
    device = client(lock(PLAIN), clock, transport=script)
    device.add(NAME, 5)
    clock.set(birth + 2 * DAY)
    device.flush()
    assert script.bodies == []


# What a window holds


@pytest.mark.parametrize(
    ("calls", "tick"),
    [
        ([], 0),
        ([("add", 3), ("add", 4.4)], 7),
        ([("add", 3), ("set", 20)], 20),
        ([("set", 20), ("add", 3)], 23),
        ([("add", -5), ("add", 9)], 4),
        ([("add", 1000)], 480),
        ([("add", -1000)], 0),
        ([("add", 1.7e308), ("add", 1.7e308), ("add", -5)], 480),
        ([("set", -1.7e308), ("add", -1.7e308)], 0),
        ([("add", 0.5)], 1),
        ([("add", 0.49)], 0),
        ([("add", "x"), ("set", math.nan), ("add", True)], 0),
        ([("add", 4), ("set", None), ("add", math.inf)], 4),
        ([("set", -0.0)], 0),
    ],
)
def test_numbers(calls: list[tuple[str, object]], tick: int) -> None:
    clock, script = ManualClock(day(0, 0)), Script()
    device = client(lock(PLAIN), clock, transport=script)
    for method, value in calls:
        getattr(device, method)(NAME, value)
    clock.set(day(1, 0))
    assert device.flush()
    assert sent_values(script) == {FIRST: tick}


def test_null_of_a_mean_is_zero_clipped_to_the_range() -> None:
    for lower, null in ((2, 0), (-5, 5)):
        clock, script = ManualClock(day(0, 0)), Script()
        device = client(lock(metric(encoder=Plain(11), lower=lower * 1_000_000)), clock, transport=script)
        clock.set(day(1))
        device.flush()
        assert sent_values(script, size=11) == {FIRST: null}


@pytest.mark.parametrize(
    ("calls", "sent"),
    [
        ([], 0),
        ([("add",)], 1),
        ([("add", True), ("add", False)], 1),
        ([("set", True)], 1),
        ([("set", True), ("set", False)], 0),
        ([("add", False)], 0),
        ([("add", 1), ("set", "yes")], 1),
        ([("add", 2)], 0),
    ],
)
def test_booleans(calls: list[tuple[str, ...]], sent: int) -> None:
    clock, script = ManualClock(day(0, 0)), Script()
    device = client(lock(FLAG), clock, transport=script)
    for method, *value in calls:
        getattr(device, method)(FLAG.name, *value)
    clock.set(day(1, 0))
    assert device.flush()
    assert sent_values(script, FLAG.name, 2) == {FIRST: sent}


def test_invalid_and_unknown_are_counted_apart() -> None:
    device = client(lock(PLAIN), ManualClock(day(0, 0)))
    for value in (math.nan, math.inf, -math.inf, None, True, "1", b"1", 10**400, [1], object()):
        device.add(NAME, value)
        device.set(NAME, value)
    device.add("editor.minutos", 3)
    assert device.counters == {"invalid_value": 20, "unknown_metric": 1}


# Bytes


@pytest.mark.parametrize("state_kind", ["memory", "sqlite"])
@pytest.mark.parametrize(
    ("kind", "encoder", "value", "tick"),
    [
        ("mean", MEAN, 123.6, 124),
        ("mean", FRESH_MEAN, 480, 480),
        ("mean", MEAN, None, 0),
        ("boolean", YES_NO, True, 1),
        ("boolean", YES_NO, None, 0),
    ],
)
def test_sealed_bytes_are_those_of_the_encoder(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    state_kind: str,
    kind: str,
    encoder: Encoder,
    value: object,
    tick: int,
) -> None:
    asked = metric("editor.thing", kind, encoder, dimensions=(("channel", ("stable", "beta")),))
    state: State = MemoryState() if state_kind == "memory" else SqliteState(tmp_path)
    seen = set()
    for index in range(24):
        noise = [index * 178_956_970] * 2
        clock, script = ManualClock(day(index, 0)), Script()
        device = client(lock(asked), clock, state=state, transport=script, dimensions={"channel": "beta"})
        if value is not None:
            device.set("editor.thing", value)
        clock.set(day(index + 1, 0))
        monkeypatch.setattr("hubbub.prf.os_words", words_of(noise))
        assert device.flush()
        secret = secret_of(state, lock(asked))
        prf = device_prf(secret, "editor-desktop", "editor.thing", asked.hash)
        payload = encoder.report(encoder.permanent(tick, prf), words_of(noise))
        assert report_of(script.bodies[0]) == {
            "id": report_id(prf, FIRST + index),
            "metric": "editor.thing",
            "hash": asked.hash[:32],
            "window": FIRST + index,
            "segment": "beta",
            "payload": pack(payload, encoder.radices),
        }
        seen.add(payload)
    assert seen == {(0,), (1,)}  # the noise mattered
    state.close()


def words_of(noise: Sequence[int]) -> Words:
    """These words and no others, in place of the operating system's."""
    left = list(noise)

    def words(count: int) -> Sequence[int]:
        assert len(left) >= count
        return [left.pop(0) for _ in range(count)]

    return words


def test_noise_and_secrets_differ_between_devices() -> None:
    script, ids, words = Script(), set(), set()
    for _ in range(20):
        clock = ManualClock(day(0, 0))
        device = client(lock(PLAIN), clock, transport=script)
        clock.set(day(1))
        device.flush()
    for report in script.reports:
        ids.add(report["id"])
        words.add(unpack(report["payload"], (481, SCALE))[1])
    assert len(ids) == len(words) == 20


def test_noise_is_drawn_at_sealing_once(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = []

    def counted(count: int) -> Sequence[int]:
        drawn.append(count)
        return [5] * count

    monkeypatch.setattr("hubbub.prf.os_words", counted)
    clock, script = ManualClock(day(0, 0)), Script([OSError()] * 5)
    device = client(lock(PLAIN), clock, transport=script)
    device.add(NAME, 3)
    assert drawn == []
    clock.set(day(1))
    device.tick()
    assert drawn == [1]
    while not device.flush():
        pass
    assert drawn == [1]
    assert len(script.bodies) == 6
    assert len(set(script.bodies)) == 1


def test_preview_is_what_would_be_sent_and_changes_nothing() -> None:
    clock, script = ManualClock(day(0, 0)), Script()
    device = client(lock(metric()), clock, transport=script)
    previews = [device.preview("editor.minutes", 1e9) for _ in range(200)]
    assert {p.value for p in previews} == {480}
    assert len({p.answer for p in previews}) == 1
    # Each flips with chance 0.197: 200 alike have a chance below 10**-18.
    assert {p.payload for p in previews} == {(0,), (1,)}
    clock.set(day(1))
    device.flush()
    assert len(script.bodies) == 1
    with pytest.raises(PrivateValueError, match=r"value of editor\.minutes is not one that a mean takes"):
        device.preview("editor.minutes", "x")
    with pytest.raises(ParameterError, match=r"name must be a metric of the lock: editor\.minutes; got 'editor\.min'"):
        device.preview("editor.min", 1)


# Definitions that change


def test_redefined_metric_begins_anew() -> None:
    clock, state, script = ManualClock(day(0, 0)), MemoryState(), Script()
    client(lock(PLAIN), clock, state=state).add(NAME, 77)
    clock.set(day(0))
    wider = metric(encoder=Plain(1001), version=2)
    device = client(lock(wider), clock, state=state, transport=script)
    device.add(NAME, 5)
    clock.set(day(1))
    device.add(NAME, 6)
    clock.set(day(2))
    device.flush()
    assert sent_values(script, size=1001) == {FIRST + 1: 6}
    assert {r["hash"] for r in script.reports} == {wider.hash[:32]}


def test_text_and_version_change_nothing() -> None:
    clock, state, script = ManualClock(day(0, 0)), MemoryState(), Script()
    client(lock(PLAIN), clock, state=state).add(NAME, 70)
    renewed = metric(encoder=Plain(481), version=2, description="Other words", expires="2027-12-31")
    clock.set(day(0))
    device = client(lock(renewed), clock, state=state, transport=script)
    device.add(NAME, 5)
    clock.set(day(1))
    device.flush()
    assert sent_values(script) == {FIRST: 75}


def test_weekly_after_daily_begins_after_the_seal() -> None:
    clock, state, script = ManualClock(day(0, 0)), MemoryState(), Script()
    client(lock(PLAIN), clock, state=state)
    clock.set(day(8))  # Wednesday 9 December; the day before is sealed
    weekly = metric(encoder=Plain(481), window="week", version=2)
    device = client(lock(weekly), clock, state=state, transport=script)
    device.add(NAME, 1)
    clock.set(day(15))
    device.add(NAME, 2)
    clock.set(day(20))
    device.flush()
    week = weekly.windows.index(day(15))
    assert sent_values(script) == {week: 2}


def test_metric_that_left_the_lock_is_wiped_and_begins_anew() -> None:
    clock, state, script = ManualClock(day(0, 0)), MemoryState(), Script()
    client(lock(PLAIN, FLAG), clock, state=state).add(NAME, 70)
    clock.set(day(0, 1))
    client(lock(FLAG), clock, state=state)
    clock.set(day(0, 2))
    device = client(lock(PLAIN, FLAG), clock, state=state, transport=script)
    device.add(NAME, 5)
    clock.set(day(1))
    device.flush()
    assert [r["metric"] for r in script.reports] == [FLAG.name]


def test_window_keeps_the_segment_it_ran_under() -> None:
    asked = metric(encoder=Plain(481), dimensions=(("channel", ("stable", "beta")), ("os", ("linux", "mac"))))
    clock, state, script = ManualClock(day(0, 0)), MemoryState(), Script()
    client(lock(asked), clock, state=state, dimensions={"os": "mac", "channel": "stable", "unused": "x"}).add(NAME, 1)
    clock.set(day(1, 0))
    device = client(lock(asked), clock, state=state, transport=script, dimensions={"os": "mac", "channel": "beta"})
    clock.set(day(2, 0))
    device.flush()
    assert {r["window"]: r["segment"] for r in script.reports} == {FIRST: "stable/mac", FIRST + 1: "beta/mac"}


# Construction


@pytest.mark.parametrize("form", ["lock", "path", "text"])
def test_lock_as_object_path_or_text(tmp_path: Path, form: str) -> None:
    path = tmp_path / "metrics.lock"
    path.write_text(dump(lock()), "utf-8")
    forms: dict[str, Lock | Path | str] = {"lock": lock(), "path": path, "text": str(path)}
    clock, script = ManualClock(day(0, 0)), Script()
    device = Client(
        forms[form],
        ENDPOINT,
        policy="research",
        background=False,
        state_dir=tmp_path / "state",
        clock=clock,
        transport=script,
    )
    clock.set(day(1))
    assert device.flush()
    device.close()
    assert [r["window"] for r in script.reports] == [FIRST]
    assert (tmp_path / "state" / "state.db").is_file()


def test_lock_errors_name_the_file(tmp_path: Path) -> None:
    path = tmp_path / "metrics.lock"
    with pytest.raises(LockError, match=r"metrics\.lock: cannot be read \(No such file or directory\); give the path"):
        Client(path, ENDPOINT, state=MemoryState())
    path.write_text(dump(lock()).replace('"version": 1', '"version": 0'), "utf-8")
    with pytest.raises(LockError, match=r'metrics\.lock: metrics\."editor\.minutes"\.version: 0 is not an integer'):
        Client(path, ENDPOINT, state=MemoryState())
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(LockError, match=r"metrics\.lock: metrics\.lock: not JSON"):
        Client(path, ENDPOINT, state=MemoryState())


def test_kind_without_a_mechanism_is_refused() -> None:
    unknown = metric("panel.opened", "sum", Plain(3))
    with pytest.raises(LockError, match=r'metrics\."panel\.opened"\.kind: no mechanism for \'sum\' in this release'):
        client(lock(unknown), ManualClock(day(0)))


@pytest.mark.parametrize("given", [{}, {"channel": "nightly"}, {"Channel": "beta"}])
def test_dimensions_are_refused_by_name(given: dict[str, str]) -> None:
    asked = metric(dimensions=(("channel", ("stable", "beta")),))
    expected = r"dimensions\['channel'\] must be one of 'stable', 'beta' \(metric editor\.minutes\); got "
    with pytest.raises(ParameterError, match=expected + repr(given.get("channel"))):
        client(lock(asked), ManualClock(day(0)), dimensions=given)


def test_exactly_one_place_for_the_state(tmp_path: Path) -> None:
    expected = "state_dir must be a folder for this installation's state where no state is given; got "
    with pytest.raises(ParameterError, match=expected + "None"):
        Client(lock(), ENDPOINT, policy="research")
    with pytest.raises(ParameterError, match=expected):
        Client(lock(), ENDPOINT, policy="research", state=MemoryState(), state_dir=tmp_path / "state")
    assert list(tmp_path.iterdir()) == []


def test_lock_without_metrics() -> None:
    clock, script = ManualClock(day(0)), Script()
    device = client(Lock("empty", {}), clock, transport=script)
    clock.set(day(3))
    assert device.flush()
    assert script.bodies == []


def test_close_leaves_alone_what_it_was_given(tmp_path: Path) -> None:
    state, script = SqliteState(tmp_path), Script()
    device = client(lock(), ManualClock(day(0)), state=state, transport=script)
    device.close()
    device.close()
    assert state.outbox() == []
    state.close()


def test_close_sends_nothing() -> None:
    clock, script = ManualClock(day(0, 0)), Script()
    device = client(lock(), clock, transport=script)
    clock.set(day(2))
    device.tick()
    device.close()
    assert script.bodies == []


# Privacy of what is said


def test_no_text_tells_a_value_or_a_secret(tmp_path: Path) -> None:
    clock, state = ManualClock(day(0, 0)), SqliteState(tmp_path)
    transport = HttpTransport(ENDPOINT)
    device = client(lock(PLAIN), clock, state=state, transport=transport)
    device.add(NAME, SECRET_VALUE)
    secret = secret_of(state, lock(PLAIN))
    kept = Running(NAME, "0" * 64, 0, DAY, "", SECRET_VALUE)
    texts = [repr(x) for x in (device, state, transport, kept, MemoryState(), device.counters)]
    texts += [str(x) for x in (device, state, kept)]
    for wrong in (f"{SECRET_VALUE} min", [SECRET_VALUE]):
        with pytest.raises(PrivateValueError) as caught:
            device.preview(NAME, wrong)
        texts.append(repr(caught.value))
    assert TOLD.search(f"value={SECRET_VALUE}")
    for text in texts:
        assert not TOLD.search(text)
        assert secret.hex() not in text
        assert repr(secret) not in text
    assert repr(device) == f"Client(collection='editor-desktop', endpoint='{ENDPOINT}')"
    state.close()


def test_threads_of_the_host_may_share_a_client(tmp_path: Path) -> None:
    clock, script = ManualClock(day(0, 0)), Script()
    device = Client(
        lock(PLAIN),
        ENDPOINT,
        policy="research",
        state_dir=tmp_path,
        clock=clock,
        transport=script,
        background=False,
    )

    def work() -> None:
        for _ in range(50):
            device.add(NAME, 1)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    clock.set(day(1))
    assert device.flush()
    assert sent_values(script) == {FIRST: 200}
    assert device.counters == {"accepted": 1}
    device.close()


def test_add_within_a_signal_or_finaliser_does_not_hang() -> None:
    clock, script = ManualClock(day(0, 0)), Script()

    class Restless(MemoryState):
        def record(self, window: Running, merge: Merge) -> bool:
            if not inside:
                inside.append(True)
                device.add(NAME, 2)
            return super().record(window, merge)

    inside: list[bool] = []
    device = client(lock(PLAIN), clock, state=Restless(), transport=script)
    thread = threading.Thread(target=device.add, args=(NAME, 1), daemon=True)
    thread.start()
    thread.join(10)
    assert not thread.is_alive()
    clock.set(day(1))
    device.flush()
    assert sent_values(script) == {FIRST: 3}
