"""The ledger in words: bounds that outlast a renewal, what may follow, and what keeps a program from reporting."""

import math
import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import product
from operator import ne
from pathlib import Path
from typing import Any

import pytest

from hubbub.client import looking
from hubbub.client.charges import charge, whole
from hubbub.client.ledger import Account, Ledger, merged, take_up, with_secret
from hubbub.client.looking import Seen, Waiting, look
from hubbub.client.past import one_change, one_day, told
from hubbub.client.policy import RESEARCH, Policy
from hubbub.client.reporter import Reporter
from hubbub.client.secret import Memory
from hubbub.client.showing import preview_plain, preview_text
from hubbub.client.sqlite import SqliteState
from hubbub.client.state import StateError
from hubbub.client.statement import ledger_plain, ledger_text
from hubbub.encoders.base import SCALE, Encoder, Prices
from hubbub.encoders.d_bit_flip import DBitFlip
from hubbub.encoders.grr import Grr
from hubbub.encoders.olh_pool import OlhPool
from hubbub.encoders.randomized_response import RandomizedResponse
from hubbub.lock import Lock, Metric, shown
from tests.unit.client_support import DAY, FRESH_MEAN, MEAN, STARTS, YES_NO
from tests.unit.state_support import named, of

BORN = Ledger("c", "s", {"s": STARTS})
DAYS = "reports about one day"
CHANGED = "one changed window"


def at(ledger: Ledger, lock: Lock, day: float, policy: Policy = RESEARCH) -> Ledger:
    return take_up(ledger, lock, policy, STARTS + round(day * DAY))


def sent(ledger: Ledger, day: float, reports: int) -> Ledger:
    """The ledger once everything before the day is sealed, and so many reports were sent in all."""
    accounts = {
        name: account.at(STARTS + round(day * DAY), reports) if account.active else account
        for name, account in ledger.accounts.items()
    }
    return replace(ledger, accounts=accounts)


def seen(ledger: Ledger, waiting: int = 0, consent: str = "", forbidden: str = "") -> Seen:
    waits = [Waiting("a", STARTS, 0, 0, "{}")] * waiting
    return Seen(Memory(b"", "", 0, consent, ledger), waits, [], forbidden)


def totals(ledger: Ledger) -> dict[str, tuple[float, float]]:
    return {total["what"]: (total["so_far"], total["charged"]) for total in ledger_plain(ledger)["totals"]}


def words(ledger: Ledger, lock: Lock | None = None, **found: Any) -> list[str]:
    text = ledger_text(ledger, lock, seen(ledger, **found))
    return [" ".join(line.split()) for line in text.splitlines()]


def test_what_was_told_outlasts_a_new_secret() -> None:
    lock = of(named())
    told = sent(at(BORN, lock, 0), 11, 11)
    renewed = at(with_secret(told, "t", STARTS + 11 * DAY), lock, 11)
    price = shown(MEAN.prices(1).report)
    assert totals(told)[DAYS] == totals(renewed)[DAYS] == (price, price)
    assert totals(renewed)[CHANGED] == totals(told)[CHANGED]
    assert totals(renewed)[CHANGED][0] > 1
    later = sent(renewed, 14, 14)  # the old secret told nothing of the same days
    assert totals(later)[DAYS] == (price, price)


def test_what_was_told_outlasts_another_encoding_and_the_metric() -> None:
    told = sent(at(BORN, of(named(), named("b")), 0), 3, 3)
    cheap = named(version=2, encoder=replace(FRESH_MEAN), report_every=28)
    changed = at(told, of(cheap), 3)
    assert totals(changed)[DAYS] == totals(told)[DAYS] == (shown(2 * MEAN.prices(1).report),) * 2
    gone = at(told, of(), 3)
    assert totals(gone)[CHANGED] == totals(told)[CHANGED]


@pytest.mark.parametrize("late", [False, True])
def test_what_was_told_by_a_secret_that_came_back_outlasts_the_next_one(late: bool) -> None:
    """Another was drawn on day 10, the first one came back on day 12 and told of two metrics a day until day 30."""
    both, one = of(named(), named("b", encoder=FRESH_MEAN)), of(named())
    first = sent(at(BORN, one if late else both, 0), 10, 10)
    other = sent(at(Ledger("c", "t", {"t": STARTS + 10 * DAY}), one, 10), 12, 2)
    back = sent(at(merged(first, other), both, 20), 30, 28)
    assert one_day(back) >= MEAN.prices(1).report + FRESH_MEAN.prices(1).report
    third = at(with_secret(back, "u", STARTS + 30 * DAY), one, 30)
    assert totals(third)[DAYS][0] == totals(back)[DAYS][0]
    assert totals(third)[CHANGED][0] == totals(back)[CHANGED][0]


def test_hours_before_and_after_a_change_are_of_one_day() -> None:
    hours = named(window="hour")
    told = sent(at(BORN, of(hours), 0), 10.5, 252)
    assert one_day(told) == pytest.approx(MEAN.prices(24).life)
    again = sent(at(with_secret(told, "t", STARTS + round(10.5 * DAY)), of(hours), 10.5), 11, 264)
    assert one_day(again) == pytest.approx(2 * MEAN.prices(24).life)
    assert one_change(again) == MEAN.prices(1).change  # no hour is reported under both
    renewed = sent(at(told, of(named(window="hour", version=2)), 10.5), 11, 264)
    assert one_day(renewed) == pytest.approx(MEAN.prices(24).life)


def test_hours_of_a_day_under_two_encodings_are_both_told() -> None:
    told = sent(at(BORN, of(named(window="hour")), 0), 10.5, 252)
    other = sent(at(told, of(named(window="hour", version=2, step=2)), 10.5), 11, 264)
    assert one_day(other) == pytest.approx(2 * MEAN.prices(24).life)


LIES = RandomizedResponse(SCALE // 4, 0, 0)  # each report lies with a chance of 1/4, drawn afresh
YES_NO_METRICS = {"memo": named(kind="boolean", encoder=YES_NO), "fresh": named(kind="boolean", encoder=LIES)}


def chance(encoder: RandomizedResponse, under: Sequence[str], values: Sequence[int], said: Sequence[int]) -> float:
    """Of these answers to these values, each reported under a secret, by the definition of the encoder."""
    lie, flip = encoder.low / SCALE, encoder.flip / SCALE
    permanent: dict[tuple[str, int, int], list[tuple[int, int]]] = {}  # what shares an answer that was drawn once
    for number, key in enumerate(zip(under, values, strict=True)):
        permanent.setdefault((*key, 0 if encoder.memo else number), []).append((key[1], said[number]))
    return math.prod(
        sum(
            (lie if lied else 1 - lie) * math.prod(1 - flip if bit == value ^ lied else flip for value, bit in reports)
            for lied in (0, 1)
        )
        for reports in permanent.values()
    )


def worst(encoder: RandomizedResponse, under: Sequence[str], differ: Callable[[Any, Any], bool]) -> float:
    """Most that any answers tell two histories apart, of those that differ like this; in nats, by enumeration."""
    every = list(product((0, 1), repeat=len(under)))
    pairs = [(one, other) for one in every for other in every if differ(one, other)]
    return max(
        math.log(chance(encoder, under, one, said) / chance(encoder, under, other, said))
        for one, other in pairs
        for said in every
    )


def charged(metric: Metric, under: str) -> Account:
    """The account of so many reports, each letter a secret; what stands between spaces is one charge."""
    charges, day = [], STARTS
    for secret in under.split():
        charges.append(charge(metric, secret[0], day, day + len(secret) * DAY))
        day += len(secret) * DAY
    return Account(charges=tuple(charges))


@pytest.mark.parametrize("under", ["s", "ss", "s s", "s t", "sss", "ss s", "s s s", "ss t", "s t t", "s t u"])
@pytest.mark.parametrize("strategy", YES_NO_METRICS)
def test_prices_are_in_order_and_never_below_what_is_lost(strategy: str, under: str) -> None:
    metric = YES_NO_METRICS[strategy]
    prices, secrets = told(charged(metric, under)), under.replace(" ", "")
    assert isinstance(metric.encoder, RandomizedResponse)
    lost = Prices(
        worst(metric.encoder, "s", lambda one, other: True),
        worst(metric.encoder, secrets, lambda one, other: len({*one}) == len({*other}) == 1),
        worst(metric.encoder, secrets, lambda one, other: sum(map(ne, one, other)) == 1),
        worst(metric.encoder, secrets, lambda one, other: True),
    )
    assert all(price > loss for price, loss in zip(prices, lost, strict=True))
    assert prices.report <= min(prices.steady, prices.change) <= max(prices.steady, prices.change) <= prices.life
    if len(secrets) == 1:
        assert prices == pytest.approx(lost)
    if len(secrets) == len({*secrets}):  # no two reports share a permanent answer
        assert prices.life == pytest.approx(lost.life)


def test_two_reports_of_one_answer_can_tell_more_than_twice_one() -> None:
    """Why the price of one report is used only where a secret reports an encoding once."""
    grr = Grr(3, SCALE // 2, 3 * (SCALE // 4), 1)
    keep, again, lie, other = Fraction(1, 2), Fraction(3, 4), Fraction(1, 4), Fraction(1, 8)
    own, foreign = grr.chances()
    same = keep * again**2 + 2 * lie * other**2  # that both reports of one value, twice, are that value
    twice = math.log(same / foreign**2)  # beside reports of the two other values
    assert twice > 2 * math.log(own / foreign)
    assert told(charged(named(kind="choice", encoder=grr), "s s")).life > twice


@pytest.mark.parametrize("every", [1, 28])
def test_what_one_report_tells_is_its_price(every: int) -> None:
    lock = of(named(report_every=every))
    ledger = sent(at(BORN, lock, 0), 1, 1)
    price = shown(MEAN.prices(1).report)
    account = ledger_plain(ledger)["metrics"]["a"]
    assert account["so_far"] == dict.fromkeys(Prices._fields, price)
    assert account["prices"]["steady"] == shown(MEAN.prices(1).steady)
    by_year = {f"any two histories of {year}": price if year == 2026 else 0 for year in (2026, 2027)}
    rows = dict.fromkeys((DAYS, "values that never change", CHANGED, "any two histories, for ever"), price)
    assert {what: so_far for what, (so_far, _) in totals(ledger).items()} == rows | by_year


def test_sums_of_what_was_told_are_not_above_all_that_was_told() -> None:
    lock = of(named(), named("b", kind="boolean", window="hour"), named("d", encoder=FRESH_MEAN))
    for day in (0.1, 1, 2, 3, 40):
        found = totals(sent(at(BORN, lock, 0), day, 0))
        assert all(so_far <= charged for so_far, charged in found.values())
        assert max(so_far for so_far, _ in found.values()) == found["any two histories, for ever"][0]


def test_all_that_was_told_is_summed_over_metrics_and_what_was_charged_is_told_by_year() -> None:
    ledger = sent(at(BORN, of(named(), named("b")), 0), 10, 10)
    assert totals(ledger)["any two histories, for ever"] == (
        shown(2 * MEAN.prices(10).life),
        shown(2 * MEAN.prices(364).life),
    )
    assert ledger_plain(ledger)["metrics"]["a"]["life_by_year"] == {
        "2026": shown(MEAN.prices(31).life),
        "2027": shown(MEAN.prices(333).life),
    }


def test_nothing_over_is_nothing_told() -> None:
    fresh = at(BORN, of(named()), 0)
    assert (one_day(fresh), one_change(fresh)) == (0, 0)
    assert totals(fresh)[DAYS] == (0, 1)


def test_a_panel_never_has_more_left_than_was_charged() -> None:
    lock = of(named(encoder=FRESH_MEAN, report_every=28))
    charged = whole(lock.metrics["a"]).reports
    for day in (1, 2, 27, 28, 29, 56):
        told = sent(at(BORN, lock, 0), day, 1)
        assert ledger_plain(told)["metrics"]["a"]["reports_left"] <= charged - 1
    ledger = sent(at(BORN, lock, 0), 1, 0)
    assert ledger_plain(ledger, None, seen(ledger, waiting=1))["metrics"]["a"]["reports_left"] == charged - 1
    assert "reported in one day of 28: its turn in a panel" in words(ledger, lock)


def test_what_was_sent_before_a_renewal_takes_nothing_from_what_may_follow() -> None:
    told = sent(at(BORN, of(named()), 0), 182, 182)
    renewed = at(told, of(named(version=2, starts="2027-06-01", expires="2028-05-31")), 200)
    assert ledger_plain(renewed)["metrics"]["a"]["reports_left"] == 365


def test_reports_that_wait_count_for_their_own_metric() -> None:
    ledger = sent(at(BORN, of(named(), named("b")), 0), 1, 0)
    metrics = ledger_plain(ledger, None, seen(ledger, waiting=3))["metrics"]
    assert [metrics[name]["reports_left"] for name in "ab"] == [361, 363]


def test_after_a_denial_the_running_window_does_not_follow() -> None:
    lock = of(named())
    ledger = sent(at(BORN, lock, 0), 3.4, 3)
    assert (
        "may follow none while refused; once the person agrees, 360 reports at most,"
        " each for one day from 2026-12-05T00:00:00Z to 2027-11-30T00:00:00Z"
    ) in words(ledger, consent="denied")
    assert any(line.startswith("may follow 360 reports at most") for line in words(ledger))
    assert ledger_plain(ledger)["metrics"]["a"]["reports_left"] == 360


def test_windows_over_without_a_report_are_said_to_be_a_bound() -> None:
    bound = 'so far no report is known to have left; the prices "so far" are bounds on what could have'
    ledger = sent(at(BORN, of(named()), 0), 3, 0)
    assert bound in words(ledger)
    assert bound not in words(ledger, waiting=1)
    assert bound not in words(sent(ledger, 3, 1))
    assert bound not in words(at(BORN, of(named()), 0))


def test_first_day_of_what_was_sent() -> None:
    ledger = sent(at(BORN, of(named()), 2), 5, 3)
    assert ledger_plain(ledger)["metrics"]["a"]["first_window_begins"] == "2026-12-03T00:00:00Z"
    assert (
        "sent 3 reports that the collector took or refused for good;"
        " about windows from 2026-12-03T00:00:00Z to 2026-12-06T00:00:00Z"
    ) in words(ledger)


def test_windows_of_what_was_sent_reach_from_the_first_charge_to_the_last() -> None:
    gone = at(sent(at(BORN, of(named()), 0), 10, 10), of(), 10)
    back = sent(at(gone, of(named()), 30), 40, 20)
    assert ledger_plain(back)["metrics"]["a"]["first_window_begins"] == "2026-12-01T00:00:00Z"
    assert (
        "sent 20 reports that the collector took or refused for good;"
        " about windows from 2026-12-01T00:00:00Z to 2027-01-10T00:00:00Z"
    ) in words(back)


def test_turns_and_absences_are_named() -> None:
    lock = of(
        named(report_every=2, rotation="g:0"), named("b", report_every=2, rotation="g:1"), named("d", presence="hidden")
    )
    lines = words(at(BORN, lock, 0), lock)
    assert lines.count("reported in one day of 2: takes turns in rotation g") == 2
    assert "reported too every day in which the program did not run, as if with nothing recorded" in lines


def test_a_lock_that_is_refused_as_a_whole() -> None:
    policy = Policy("own", per_day=1.5)
    ledger = at(BORN, of(named()), 0, policy)
    dear = of(named(), named("b"))
    (line,) = [line for line in words(ledger, dear) if "refuses this lock" in line]
    assert line.startswith(
        "By the policy of the last start the program refuses this lock as a whole: reports about one"
    )
    assert ledger_plain(ledger, dear)["lock_refused"]
    assert not any("refuses this lock" in line for line in words(ledger, of(named())))
    assert any("--lock FILE" in line for line in words(ledger))
    assert not any("--lock FILE" in line for line in words(ledger, dear))


@pytest.mark.parametrize(
    ("variable", "line"),
    [
        ("DO_NOT_TRACK", "DO_NOT_TRACK is set where this was run"),
        ("CI", "CI is set where this was run"),
        ("", "Neither DO_NOT_TRACK nor CI is set where this was run"),
    ],
)
def test_what_the_environment_forbids(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, variable: str, line: str
) -> None:
    for name in ("DO_NOT_TRACK", "CI"):
        monkeypatch.delenv(name, raising=False)
    if variable:
        monkeypatch.setenv(variable, "1")
    state = SqliteState(tmp_path)
    state.begin(of(named()), RESEARCH, STARTS)
    state.close()
    found = look(tmp_path)
    assert ledger_text(found.memory.ledger, None, found).splitlines()[2].startswith(line)
    assert ledger_plain(found.memory.ledger, None, found)["forbidden_by"] == (variable or None)


@pytest.mark.parametrize(
    ("kind", "labels", "value", "said"),
    [
        ("choice", ("ab", "cd"), "cd", "cd (number 2 of 0 to 2; any other label is not recorded)"),
        ("histogram", (), 7, "2 to 3 min (number 2 of 0 to 2; what lies outside counts in the first or last)"),
    ],
)
def test_preview_says_what_becomes_of_other_values(
    kind: str, labels: tuple[str, ...], value: object, said: str
) -> None:
    metric = named(kind=kind, encoder=Grr(3, 2**31, 2**31, 1), labels=labels)
    text = preview_text(metric, str(value), Reporter(metric, "c", bytes(32), "").preview(value))
    assert f"value             {said}\n" in text


@pytest.mark.parametrize(
    ("encoder", "kept", "clear", "lead"),
    [
        (OlhPool(3, 3, 2**30, 2**29, 1), 1, "the same for every device\n", "these bytes, with"),
        (OlhPool(9, 3, 2**30, 2**29, 1), 1, "drawn once for each device, one of 4, the same in", "these bytes, with"),
        (OlhPool(9, 3, 2**30, 0, 0), 0, "drawn again for each report, without a look at", "these bytes, with"),
        (DBitFlip(9, 2, 2**30, 2**29, 1), 2, "drawn once for each device, one of 9, the same in", "these bytes, with"),
        (DBitFlip(9, 2, 2**30, 0, 0), 0, "drawn again for each report, without a look at", "these bytes, with"),
        (DBitFlip(3, 3, 2**30, 2**29, 1), 3, "", "these bytes are"),
        (Grr(3, 2**31, 2**31, 1), 1, "", "these bytes are"),
    ],
)
def test_preview_names_what_is_sent_in_the_clear(encoder: Encoder, kept: int, clear: str, lead: str) -> None:
    metric = named(kind="choice", encoder=encoder, labels=tuple("abcdefgh"[: encoder.size - 1]))
    seen = Reporter(metric, "c", bytes(32), "").preview("b")
    fields = list(seen.payload[: encoder.public])
    assert preview_plain(metric, seen)["in_the_clear"] == fields
    text = preview_text(metric, "b", seen)
    shown = f"\nin the clear      {' '.join(map(str, fields))}: {clear}"
    assert (shown in text) if clear else ("in the clear" not in text)
    assert f"How often {lead}" in text
    answer = " ".join(map(str, seen.answer[len(seen.answer) - kept :])) if kept else "none"
    assert f"\npermanent answer  {answer}: " in text


def test_a_life_of_one_report_is_one_report() -> None:
    """Under the metric all prices are that of the report; the sums charged cover renewals, and that is said."""
    ledger = at(BORN, of(named(expires="2026-12-02")), 0)
    assert ledger_plain(ledger)["metrics"]["a"]["prices"] == dict.fromkeys(Prices._fields, shown(MEAN.prices(1).report))
    assert any(line.startswith("may follow 1 report at most, for one day from") for line in words(ledger))
    assert totals(ledger)["values that never change"][1] == shown(MEAN.prices(1).steady)
    text = " ".join(words(ledger))
    assert (
        "They reckon with renewals, which go on with the same permanent answers; so for few reports they can be" in text
    )


def test_limits_that_are_none_are_null() -> None:
    assert {total["allowed"] for total in ledger_plain(at(BORN, of(named()), 0))["totals"]} == {None}


def test_damaged_missing_and_busy_folders_are_told_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(StateError, match=r"state\.db is not in it; give the state_dir of a program that has run"):
        look(tmp_path)
    state = SqliteState(tmp_path)
    state.begin(of(named()), RESEARCH, STARTS)
    state.close()
    with sqlite3.connect(tmp_path / "state.db") as other:
        other.execute("UPDATE device SET checked = 'x'")
    other.close()
    with pytest.raises(StateError, match=r"state\.db is damaged, or no program's; start the program"):
        look(tmp_path)
    other = sqlite3.connect(tmp_path / "state.db", isolation_level=None)
    other.execute("PRAGMA locking_mode = EXCLUSIVE")
    other.execute("BEGIN EXCLUSIVE")
    monkeypatch.setattr(looking, "BUSY_SECONDS", 0)
    with pytest.raises(StateError, match=r"the database cannot be used \(database is locked\)"):
        look(tmp_path)
    other.close()
    (tmp_path / "state.db").write_bytes(b"no database at all" * 100)
    with pytest.raises(StateError, match="is damaged"):
        look(tmp_path)
