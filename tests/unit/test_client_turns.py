"""Turns: which device reports which window, for panels and for groups of metrics; and windows in which nothing ran."""

import json
import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hubbub.client import Client, MemoryState, SqliteState, State, schedule
from hubbub.client.charges import change, per_day, whole
from hubbub.client.ledger import Account
from hubbub.client.policy import STANDARD, Policy, PolicyError, enforce
from hubbub.client.records import account_of, account_tree
from hubbub.client.reporter import Reporter, travelling
from hubbub.client.state import Running
from hubbub.clock import ManualClock
from hubbub.encoders.base import SCALE, Encoder, Prices
from hubbub.errors import LockError
from hubbub.lock import MAX_FILLED, Lock, Metric, dump, parse
from hubbub.windows import midnight
from hubbub.wire import unpack
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
)

FIRST = STARTS // DAY
HIDDEN = metric("app.hidden", encoder=Plain(481), presence="hidden")
SECRETS = st.binary(min_size=32, max_size=32)


def group(size: int, **changes: Any) -> list[Metric]:
    """Metrics that take turns, some with a shorter life, of several kinds."""
    kinds: list[tuple[str, Encoder]] = [("mean", MEAN), ("boolean", YES_NO), ("mean", FRESH_MEAN)]
    return [
        metric(f"app.m{rank:02}", *kinds[rank % 3], report_every=size, rotation=f"usage:{rank}", **changes)
        for rank in range(size)
    ]


def turns(metrics: Sequence[Metric], secret: bytes, windows: range) -> dict[int, list[str]]:
    """Which of the metrics a device reports in each window."""
    cut = metrics[0].windows
    reporters = [(m, Reporter(m, "app", secret, "")) for m in metrics]
    return {
        w: [m.name for m, r in reporters if r.reports(Running(m.name, m.hash, cut.start(w), cut.end(w), ""))]
        for w in windows
    }


def at(day: float) -> float:
    return STARTS + day * DAY


def sent(script: Script, name: str = HIDDEN.name) -> dict[int, int]:
    """The plain value of each report, by day from the first."""
    mine = [report for report in script.reports if report["metric"] == name]
    found = {report["window"] - FIRST: unpack(report["payload"], (481, SCALE))[0] for report in mine}
    assert len(found) == len(mine), "two reports of one window"
    return found


# Turns


@settings(max_examples=60, deadline=None)
@given(SECRETS, st.integers(2, 12), st.sampled_from(["hour", "day", "week"]), st.integers(0, 20))
def test_exactly_one_of_a_group_reports_each_window(secret: bytes, size: int, window: str, later: int) -> None:
    members = group(size, window=window)
    life = members[0].life
    asked = turns(members, secret, life[later : later + 2 * size])
    assert all(len(names) == 1 for names in asked.values())
    order = [names[0] for names in asked.values()]
    assert order[:size] == order[size : 2 * size], "the order of a device changed"
    first = order.index(members[0].name)
    assert order[first : first + size] == [m.name for m in members], "they follow one another by name"


def test_a_member_with_a_shorter_life_leaves_its_windows_empty() -> None:
    late, *others = group(3)
    late = metric(late.name, report_every=3, rotation="usage:0", starts="2026-12-10")
    asked = turns([late, *others], b"s" * 32, others[0].life)
    assert {len(names) for names in asked.values()} == {0, 1}
    assert all(names or window < late.life.start for window, names in asked.items())


@settings(max_examples=60, deadline=None)
@given(SECRETS, st.integers(2, 40), st.integers(1, 60))
def test_review_28_a_turn_stays_and_bounds_the_reports_of_any_run_of_windows(secret: bytes, r: int, n: int) -> None:
    panel = metric(report_every=r)
    asked = [w for w, names in turns([panel], secret, panel.life).items() if names]
    assert {b - a for a, b in pairwise(asked)} <= {r}  # drawn anew each cycle, it would differ
    for start in panel.life[:r]:
        assert sum(start <= w < start + n for w in asked) <= math.ceil(n / r)


@pytest.mark.parametrize("missed", ["off", "denied"])
def test_review_28_a_missed_turn_is_not_made_up_for(missed: str) -> None:
    """In each of the two rounds from the fourth day to the ninth it misses one turn."""
    every, clock, script, state = 3, ManualClock(at(0.5)), Script(), MemoryState()
    panel = metric("app.panel", encoder=Plain(481), report_every=every)
    device = client(lock(panel), clock, state=state, transport=script)
    for day in range(1, 22):
        clock.set(at(day))
        if missed == "denied" and day in (4, 10):
            device.flush()  # what ended before the denial is not at issue
            device.consent("denied" if day == 4 else "granted")
        if missed == "denied" or not 4 <= day < 10:
            clock.set(at(day + 0.5))
            device.add(panel.name, 1)
    clock.set(at(30))
    assert device.flush()
    (residue,) = {day % every for day in sent(script, panel.name)}
    assert set(sent(script, panel.name)) == {d for d in range(1, 22) if d % every == residue and not 4 <= d < 10}
    assert device.counters.get("denied", 0) == (6 if missed == "denied" else 0)


def test_review_8_all_metrics_of_a_device_show_one_turn() -> None:
    same = [metric("app.a", report_every=5), metric("app.b", "boolean", report_every=5, version=2)]
    same.append(metric("app.c", encoder=FRESH_MEAN, report_every=5, rotation="usage:0"))
    life, patterns = same[0].life, set()
    for number in range(200):
        asked = turns(same, number.to_bytes(32, "big"), life[:5])
        assert sorted(map(len, asked.values())) == [0, 0, 0, 0, 3], "metrics of one device have turns of their own"
        others = turns(group(5), number.to_bytes(32, "big"), life[:5])
        patterns.add(tuple((*asked[w], *others[w]) for w in life[:5]))
    assert len(patterns) == 5, "more patterns than turns single devices out"


def test_turns_of_two_lengths_are_independent() -> None:
    pairs = [metric("app.a", report_every=2), metric("app.b", report_every=3)]
    found: dict[tuple[tuple[int, ...], ...], int] = {}
    for number in range(600):
        asked = turns(pairs, number.to_bytes(32, "big"), pairs[0].life[:6])
        both = tuple(tuple(w for w, names in asked.items() if one.name in names) for one in pairs)
        found[both] = found.get(both, 0) + 1
    assert len(found) == 6
    assert min(found.values()) > 50  # 100 expected each; falls short with a chance below 10**-6


# What a group may cost, and a lock that says so


def test_a_group_is_held_against_a_policy_as_the_one_report_that_it_is() -> None:
    members = group(6, starts="2026-12-01", expires="2027-03-01")
    alone = [metric(m.name, m.kind, m.encoder, expires="2027-03-01") for m in members]
    tight = Policy("tight", per_day=1.001, change=1.41)
    enforce(Lock("app", {m.name: m for m in members}), tight)
    with pytest.raises(PolicyError, match=r"one day: 6\.0\d* nats are .* one changed window: 7\.6"):
        enforce(Lock("app", {m.name: m for m in alone}), tight)
    with pytest.raises(PolicyError, match=r"one day: 1\.0\d* nats are more .*most by rotation usage"):
        enforce(Lock("app", {m.name: m for m in members}), Policy("tighter", per_day=0.99))


def test_hours_of_a_group_are_counted_by_rounds() -> None:
    charges = {}
    for price, one in enumerate(group(7, window="hour"), start=1):
        stated = Prices(float(price), 1.0, float(price), 1000.0)  # k reports: k times one
        charges[one.name] = replace(whole(one), encoder="of_another_release", stated=stated)
    rounds = 3 * 28 + 7 + 6 + 5  # 24 hours: three rounds, and the 3 dearest
    assert per_day(charges) == pytest.approx({"rotation usage": rounds}, rel=1e-9)
    assert change(charges) == {"rotation usage": 7}
    apart = {name: replace(one, group="") for name, one in charges.items()}
    assert per_day(apart) == pytest.approx({name: 4 * one.prices.report for name, one in charges.items()}, rel=1e-9)


def test_a_group_is_kept_in_the_ledger_and_read_again() -> None:
    (one, _) = group(2)
    charge = whole(one)
    assert (charge.group, charge.report_every, charge.reports) == ("usage", 2, math.ceil(len(one.life) / 2))
    account = Account(active=True, charges=(charge,))
    assert account_of(account_tree(account)) == account
    with_panel = Account(active=True, charges=(whole(metric(report_every=2)),))
    assert "group" not in account_tree(with_panel)["charges"][0]  # as earlier releases wrote it
    assert account_of(account_tree(with_panel)) == with_panel


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"rotation": "usage:0"}, "is that of app.m00 too"),
        ({"rotation": "usage:3"}, "rank 3 is not below report_every = 3"),
        ({"window": "week"}, "window and report_every are not those of app.m00"),
        ({"report_every": 4}, "window and report_every are not those of app.m00"),
    ],
)
def test_locks_in_which_two_would_report_one_window_are_refused(changes: dict[str, object], problem: str) -> None:
    first, second, third = group(3)
    edited = metric(second.name, second.kind, second.encoder, **({"report_every": 3, "rotation": "usage:1"} | changes))
    with pytest.raises(LockError, match=problem):
        parse(dump(lock(first, edited, third)))
    assert parse(dump(lock(first, third))).metrics.keys() == {first.name, third.name}


# Windows in which the program never ran


@pytest.mark.parametrize("kept", [False, True])
def test_windows_without_a_run_are_filled_in_with_nulls_at_the_next_start(kept: bool, tmp_path: Path) -> None:
    def state() -> State:
        return SqliteState(tmp_path) if kept else memory

    memory, script, clock = MemoryState(), Script(), ManualClock(at(0.5))
    shown = metric("app.shown", encoder=Plain(481))
    with_both = lock(HIDDEN, shown)
    opened = state()
    client(with_both, clock, state=opened, transport=script).close()  # born on day 0
    opened.close()
    for day in (2.5, 3.5, 8.5):
        clock.set(at(day))
        opened = state()
        device = client(with_both, clock, state=opened, transport=script)
        for name in (HIDDEN.name, shown.name):
            device.add(name, 40 + int(day))
        device.close()
        opened.close()
    clock.set(at(9))
    opened = state()
    assert client(with_both, clock, state=opened, transport=script).flush()
    assert sent(script) == {1: 0, 2: 42, 3: 43, 4: 0, 5: 0, 6: 0, 7: 0, 8: 48}
    assert sent(script, shown.name) == {2: 42, 3: 43, 8: 48}
    assert opened.ledger().accounts[HIDDEN.name].sealed == at(9)
    opened.close()


def test_filled_windows_end_where_grace_does() -> None:
    for grace, away, first in ((5 * DAY, 20.0, 15), (5 * DAY, 19.99, 14), (5 * DAY, 20.5, 15)):
        script, clock, state = Script(), ManualClock(at(0.5)), MemoryState()
        short = metric(HIDDEN.name, encoder=Plain(481), presence="hidden", grace=grace)
        client(lock(short), clock, state=state)
        clock.set(at(away))
        assert client(lock(short), clock, state=state, transport=script).flush()
        assert set(sent(script)) == set(range(first, int(away)))  # of what ends at 15 nothing could arrive at 20


def test_windows_that_ended_by_then_are_not_filled_in_again() -> None:
    reporter = Reporter(HIDDEN, "app", bytes(32), "")
    missed = reporter.missed(at(8.5), at(5))
    assert [(running.start, running.stop) for running in missed] == [(at(day), at(day + 1)) for day in (5, 6, 7)]


def test_what_is_no_window_of_the_definition_has_no_report() -> None:
    reporter = Reporter(HIDDEN, "app", bytes(32), "")
    day = reporter.around(at(3))
    assert reporter.encode(day, at(5)) is not None
    odd: list[dict[str, Any]] = [{"start": day.start + 1}, {"stop": day.stop + 1}, {"hash": "0" * 64}]
    assert [reporter.encode(replace(day, **changes), at(5)) for changes in odd] == [None] * 3


def test_only_turns_are_filled_in_and_only_within_the_life() -> None:
    script, clock, state = Script(), ManualClock(at(0.5)), MemoryState()
    changes: dict[str, Any] = {
        "encoder": Plain(481),
        "presence": "hidden",
        "starts": "2026-12-05",
        "expires": "2026-12-13",
    }
    panel = metric(HIDDEN.name, report_every=3, **changes)
    client(lock(panel), clock, state=state)
    clock.set(at(15))
    device = client(lock(panel), clock, state=state, transport=script)
    assert device.flush()
    (residue,) = {day % 3 for day in sent(script)}
    assert set(sent(script)) == {day for day in range(4, 12) if day % 3 == residue}
    assert len(sent(script)) <= state.ledger().accounts[HIDDEN.name].charges[0].reports


def test_nothing_is_filled_in_twice_nor_before_birth() -> None:
    script, clock, state = Script(), ManualClock(at(4.5)), MemoryState()
    device = client(lock(HIDDEN), clock, state=state, transport=script)
    for back in (7, 5, 7, 6, 8, 4, 8):
        clock.set(at(back))
        device.flush()
        device = client(lock(HIDDEN), clock, state=state, transport=script)
        device.flush()
    assert sent(script) == dict.fromkeys((5, 6, 7), 0)


def test_a_nap_of_the_machine_is_filled_in_while_the_program_goes_on() -> None:
    script, clock = Script(), ManualClock(at(0.5))
    device = client(lock(HIDDEN), clock, transport=script)
    clock.set(at(1.5))
    device.add(HIDDEN.name, 7)
    clock.set(at(5.5))
    device.add(HIDDEN.name, 9)
    clock.set(at(6))
    assert device.flush()
    assert sent(script) == {1: 7, 2: 0, 3: 0, 4: 0, 5: 9}


def test_what_was_denied_is_never_filled_in() -> None:
    script, clock, state = Script(), ManualClock(at(0.5)), MemoryState()
    device = client(lock(HIDDEN), clock, state=state, transport=script)
    clock.set(at(2.5))
    device.consent("denied")
    clock.set(at(5.5))
    device = client(lock(HIDDEN), clock, state=state, transport=script)
    assert device.consent() == "denied"
    clock.set(at(7.5))
    client(lock(HIDDEN), clock, state=state, transport=script).consent("granted")
    clock.set(at(10))
    assert client(lock(HIDDEN), clock, state=state, transport=script).flush()
    assert sent(script) == dict.fromkeys((8, 9), 0)


def test_what_the_environment_forbade_is_never_filled_in(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DO_NOT_TRACK", raising=False)
    script, clock, state = Script(), ManualClock(at(0.5)), MemoryState()
    client(lock(HIDDEN), clock, state=state)
    monkeypatch.setenv("DO_NOT_TRACK", "1")
    clock.set(at(2.5))
    device = client(lock(HIDDEN), clock, state=state, transport=script)
    for day in (3.5, 4.5, 5.5):
        clock.set(at(day))
        device.add(HIDDEN.name, 3)
    monkeypatch.delenv("DO_NOT_TRACK")
    clock.set(at(8))
    assert client(lock(HIDDEN), clock, state=state, transport=script).flush()
    assert sent(script) == dict.fromkeys((6, 7), 0)


def test_windows_without_consent_yet_are_sealed_without_a_report() -> None:
    script, clock, state = Script(), ManualClock(at(0.5)), MemoryState()
    client(lock(HIDDEN), clock, state=state, consent="unknown")
    clock.set(at(4.5))
    device = client(lock(HIDDEN), clock, state=state, transport=script, consent="unknown")
    device.consent("granted")
    clock.set(at(6))
    assert device.flush()
    assert sent(script) == dict.fromkeys((4, 5), 0)


def test_a_leap_of_the_clock_fills_in_no_more_than_its_bounds() -> None:
    graces = [4, 4, 4, 8]
    hours = [
        metric(f"app.h{i}", encoder=Plain(481), window="hour", presence="hidden", grace=days * DAY)
        for i, days in enumerate(graces)
    ]
    assert sum(hour.filled for hour in hours) == 24 * sum(graces) <= MAX_FILLED
    clock, state = ManualClock(at(0.5)), MemoryState()
    client(lock(*hours, metric("app.shown", encoder=Plain(481))), clock, state=state)
    clock.set(at(100))
    device = client(lock(*hours, metric("app.shown", encoder=Plain(481))), clock, state=state)
    found = state.outbox()
    assert len(found) == 24 * sum(graces) + 4  # and the hours that ran
    assert len({report.id for report in found}) == len(found)
    clock.set(at(4000))
    device.tick()
    assert state.stored().reports <= len(found) + 5  # beyond the life of all of them


def test_filled_reports_leave_at_times_of_their_own() -> None:
    clock, state = ManualClock(at(0.5)), MemoryState()
    client(lock(HIDDEN), clock, state=state)
    clock.set(at(12.5))
    client(lock(HIDDEN), clock, state=state)
    due = [report.due for report in state.outbox()]
    assert len(set(due)) == len(due) == 11
    assert all(clock.now() <= time <= clock.now() + DAY for time in due)
    assert max(due) - min(due) > DAY / 4  # closer together with a chance below 10**-4


def test_every_report_is_to_travel_while_its_window_is_taken() -> None:
    short = metric(HIDDEN.name, encoder=Plain(481), presence="hidden", grace=2 * DAY)
    latest = 0.0
    for _ in range(40):  # window 10 is taken for half a day: a draw that did not know would miss it every other time
        clock, state = ManualClock(at(0.5)), MemoryState()
        client(lock(short), clock, state=state)
        clock.set(at(12.5))
        client(lock(short), clock, state=state)
        due = {json.loads(report.body)["reports"][0]["window"] - FIRST: report.due for report in state.outbox()}
        assert due.keys() == {10, 11}
        assert all(time <= at(day + 3) for day, time in due.items())
        latest = max(latest, due[11] - at(12.5))
    assert latest > schedule.CATCH_UP  # window 11 is spread over a day: not above with a chance of 144**-40


@pytest.mark.parametrize("left", [-DAY, 0, 1, schedule.CATCH_UP])
def test_a_report_without_time_left_is_spread_all_the_same(left: float) -> None:
    times = [schedule.first(5.0, DAY, 5.0 + left) - 5.0 for _ in range(200)]
    assert schedule.CATCH_UP / 2 < max(times) <= schedule.CATCH_UP  # below with a chance of 2**-200
    hours = [schedule.first(5.0, 3600, math.inf) - 5.0 for _ in range(200)]
    assert 1800 < max(hours) <= 3600


@pytest.mark.parametrize("name", ["a", "x" * 64])
@pytest.mark.parametrize("encoder", [Plain(2), Plain(2**40), YES_NO, MEAN])
def test_no_body_is_longer_than_a_lock_is_held_to(name: str, encoder: Encoder) -> None:
    one = metric(name, encoder=encoder)
    last = midnight("9999-12-31") // 3600
    for window in (FIRST, last, midnight("0001-01-01") // 3600):
        body = travelling(one, "0" * 16, window, "", (0,) * len(encoder.radices))
        assert one.body - 10 <= len(body) <= one.body


def test_each_filled_window_has_noise_of_its_own() -> None:
    clock, state, script = ManualClock(at(0.5)), MemoryState(), Script()
    client(lock(HIDDEN), clock, state=state)
    clock.set(at(12.5))
    assert client(lock(HIDDEN), clock, state=state, transport=script).flush()
    assert len({unpack(report["payload"], (481, SCALE))[1] for report in script.reports}) == 11


def test_a_renewal_fills_in_what_ended_before_it(tmp_path: Path) -> None:
    clock, script = ManualClock(at(0.5)), Script()

    def start(version: int) -> Client:
        renewed = metric(HIDDEN.name, encoder=Plain(481), presence="hidden", version=version)
        return Client(
            lock(renewed),
            ENDPOINT,
            policy=STANDARD,
            life="unlimited",
            state_dir=tmp_path,
            clock=clock,
            transport=script,
            background=False,
        )

    start(1).close()
    clock.set(at(4))
    device = start(2)
    assert device.flush()
    device.close()
    assert sent(script) == dict.fromkeys((1, 2, 3), 0)
