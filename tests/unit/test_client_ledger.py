"""What is charged, refunded and refused, by metric name; exact sums of the encoders' own prices."""

import json
import math
from dataclasses import replace
from typing import Any

import pytest

from hubbub.client.charges import Charge, charge, steady, whole
from hubbub.client.ledger import NEVER, Account, Ledger, merged, take_up, with_secret
from hubbub.client.policy import RESEARCH, STRICT, Policy
from hubbub.client.records import DamagedError, account_tree, ledger_of, ledger_tree
from hubbub.encoders.base import Prices
from hubbub.lock import Lock
from hubbub.windows import midnight
from tests.unit.client_support import DAY, FRESH_MEAN, MEAN, STARTS, YES_NO, Plain
from tests.unit.state_support import named, of

LIFE = 364  # days of December 2026 to November 2027
NEW_YEAR = midnight("2027-01-01")


def born(now: int = STARTS) -> Ledger:
    return Ledger("c", "s", {"s": now})


def taken(*steps: tuple[Lock, int], policy: Policy = RESEARCH) -> Ledger:
    """The ledger after these locks, each at a time after the first midnight."""
    ledger = born()
    for lock, seconds in steps:
        ledger = take_up(ledger, lock, policy, STARTS + seconds)
    return ledger


def life(reports: int) -> float:
    return MEAN.prices(reports).life


# Charges


@pytest.mark.parametrize(
    ("changes", "begins", "reports"),
    [
        ({}, 0, LIFE),
        ({}, 1, LIFE - 1),
        ({}, DAY, LIFE - 1),
        ({"report_every": 7}, 0, 52),
        ({"report_every": 7}, 13 * DAY, 51),
        ({"report_every": 7}, 14 * DAY, 50),
        ({"window": "hour"}, 3599, LIFE * 24 - 1),
        ({"window": "week"}, 0, 51),
        ({}, LIFE * DAY, 0),
        ({}, LIFE * DAY + 1, 0),
    ],
)
def test_windows_that_are_left(changes: dict[str, Any], begins: int, reports: int) -> None:
    metric = named(**changes)
    one = charge(metric, "s", STARTS + begins, midnight(metric.expires))
    assert one.reports == reports
    assert one.prices == (MEAN.prices(reports) if reports else Prices(0, 0, 0, 0))


def test_whole_life_costs_what_the_lock_says() -> None:
    for metric in (named(), named(window="hour"), named(encoder=FRESH_MEAN, report_every=28)):
        assert whole(metric).prices == metric.prices


@pytest.mark.parametrize("every", [1, 5])
@pytest.mark.parametrize("window", ["hour", "day", "week"])
def test_years_add_up_to_no_less_than_the_life(window: str, every: int) -> None:
    one = whole(named(window=window, report_every=every))
    assert list(one.life_by_year) == [2026, 2027]
    assert sum(one.life_by_year.values()) >= one.prices.life
    length = one.windows
    first = sum(named(window=window).windows.start(w) < NEW_YEAR for w in length)
    assert one.life_by_year[2026] == MEAN.prices(-(-first // every)).life
    assert one.life_by_year[2027] == MEAN.prices(-(-(len(length) - first) // every)).life


def test_no_window_is_allowed_that_is_not_wholly_charged() -> None:
    weekly = named(window="week")  # begins and expires on a Tuesday
    cut, one = weekly.windows, charge(weekly, "s", STARTS, midnight(weekly.expires))
    first, last = cut.index(one.begins), cut.index(one.ends)
    allowed = [w for w in range(first, last + 1) if one.allows(cut.start(w), cut.end(w))]
    assert allowed == list(one.windows) == list(range(first + 1, last))


def test_week_over_new_year_counts_where_it_begins() -> None:
    last = charge(named(window="week"), "s", midnight("2026-12-28"), midnight("2027-01-04"))
    assert list(last.life_by_year) == [2026]


def test_encoder_of_another_release_is_charged_at_the_price_of_changes() -> None:
    one = whole(named(encoder=MEAN))
    odd = replace(one, encoder="test_unknown")
    assert odd.prices == one.prices
    assert odd.cut(STARTS + 10 * DAY).prices.life == pytest.approx(10 * MEAN.prices(1).change)
    assert odd.cut(STARTS + 10 * DAY).prices.life >= 10 * MEAN.prices(1).change
    assert odd.cut(STARTS).prices == Prices(0, 0, 0, 0)


def test_steady_price_is_paid_once_for_each_secret_and_encoding() -> None:
    memo, fresh = (whole(named(encoder=encoder)).cut(STARTS + 10 * DAY) for encoder in (MEAN, FRESH_MEAN))
    permanent, each = MEAN.prices(1).steady, FRESH_MEAN.prices(1).report
    assert steady([memo, memo]) == permanent
    assert steady([memo, replace(memo, under="t")]) == 2 * permanent
    assert steady([memo, replace(memo, hash="other")]) == 2 * permanent
    assert steady([fresh, fresh]) == pytest.approx(20 * each)
    assert steady([memo.cut(0)]) == 0


# Taking up


def test_first_start_is_charged_from_now() -> None:
    ledger = taken((of(named()), 10 * DAY + 5))
    account = ledger.accounts["a"]
    assert account.active
    assert account.sealed == STARTS + 10 * DAY + 5
    assert account.charged.life == life(LIFE - 11)
    assert ledger.steady == MEAN.prices(1).steady


def test_metric_that_has_not_begun_is_charged_whole() -> None:
    (one,) = taken((of(named()), -9 * DAY)).accounts["a"].charges
    assert one.reports == LIFE


def test_same_lock_again_changes_nothing() -> None:
    once = taken((of(named()), 0))
    again = take_up(once, of(named(description="better text", grace=3600)), RESEARCH, STARTS + 99 * DAY)
    assert again.accounts == once.accounts


def test_windows_not_sealed_are_refunded_when_a_metric_leaves() -> None:
    ledger = taken((of(named()), 0), (of(), 10 * DAY + 7))
    account = ledger.accounts["a"]
    assert not account.active
    assert account.sealed == STARTS + 10 * DAY + 7
    assert account.charged.life == life(10)
    assert account.charged.steady == MEAN.prices(1).steady


def test_metric_that_leaves_before_it_began_costs_nothing() -> None:
    account = taken((of(named()), -9 * DAY), (of(), -8 * DAY)).accounts["a"]
    assert account.charged == Prices(0, 0, 0, 0)
    assert account.versions == (1,)


def test_refund_stops_at_the_seal_when_the_clock_was_set_back() -> None:
    ledger = taken((of(named()), 0))
    account = replace(ledger.accounts["a"], sealed=STARTS + 20 * DAY)
    ledger = take_up(replace(ledger, accounts={"a": account}), of(), RESEARCH, STARTS + 3 * DAY)
    assert ledger.accounts["a"].charged.life == life(20)


def test_remove_and_add_again_never_charges_a_window_twice_nor_forgets_one() -> None:
    ledger = taken((of(named()), 0), (of(), 10 * DAY), (of(named()), 30 * DAY))
    first, second = ledger.accounts["a"].charges
    assert (first.reports, second.reports) == (10, LIFE - 30)
    assert ledger.accounts["a"].charged.steady == MEAN.prices(1).steady


def test_clock_years_ahead_silences_nothing() -> None:
    """A wrong year at one start does not seal the metric for years; what it leaves is charged at the right time."""
    wrong = take_up(born(STARTS + 3650 * DAY), of(named()), STRICT, STARTS + 3650 * DAY)
    assert wrong.refused == {"a": "no whole window of it is left before 2027-11-30T00:00:00Z"}
    assert wrong.accounts["a"].sealed == NEVER
    right = take_up(wrong, of(named()), RESEARCH, STARTS)
    assert right.birth == STARTS
    assert right.accounts["a"].charges[0].reports == LIFE
    gone = take_up(take_up(right, of(), RESEARCH, STARTS + 3650 * DAY), of(named(version=2)), RESEARCH, STARTS + DAY)
    assert gone.refused  # all windows of version 1 count as used, and version 2 has the same dates
    longer = take_up(gone, of(named(version=3, expires="2028-01-01")), RESEARCH, STARTS + DAY)
    assert longer.accounts["a"].charges[-1].reports == 32


# Versions


@pytest.mark.parametrize(
    ("change", "refused"),
    [
        ({"step": 2}, "version 1 was accepted here with another encoding"),
        ({"window": "hour"}, "version 1 was accepted here with another encoding"),
        ({"report_every": 2}, "version 1 was accepted here with another encoding"),
        ({"encoder": FRESH_MEAN}, "version 1 was accepted here with another encoding"),
    ],
)
def test_same_version_with_another_encoding_is_refused(change: dict[str, Any], refused: str) -> None:
    for steps in ([(of(named()), 0)], [(of(named()), 0), (of(), 5)]):
        ledger = taken(*steps, (of(named(**change)), DAY))
        assert ledger.refused == {"a": refused}
        assert ledger.accounts["a"].current is None
        assert len(ledger.accounts["a"].charges) == 1


def test_lower_version_is_refused_for_ever() -> None:
    ledger = taken((of(named(version=3)), 0), (of(named(version=2)), DAY), (of(), 2 * DAY), (of(named()), 3 * DAY))
    assert ledger.refused == {"a": "version 1 is below the 3 that was accepted here"}
    assert take_up(ledger, of(named(version=3)), RESEARCH, STARTS + 4 * DAY).refused == {}


def test_lower_version_of_the_same_encoding_does_not_go_on() -> None:
    ledger = taken((of(named(version=2)), 0), (of(named()), DAY))
    assert ledger.refused == {"a": "version 1 is below the 2 that was accepted here"}
    assert ledger.accounts["a"].current is None


def test_next_version_begins_when_it_is_accepted() -> None:
    ledger = taken((of(named()), 0), (of(named(version=2, window="hour")), 10 * DAY + 5))
    first, second = ledger.accounts["a"].charges
    assert first.reports == 10
    assert second.begins == STARTS + 10 * DAY + 5
    assert second.reports == (LIFE - 10) * 24 - 1
    assert ledger.accounts["a"].charged.steady == 2 * MEAN.prices(1).steady


def test_dearest_definition_ever_accepted_counts_for_a_report_and_a_change() -> None:
    versions = [(of(named(version=v, encoder=e)), v * DAY) for v, e in ((1, FRESH_MEAN), (2, MEAN), (3, FRESH_MEAN))]
    charged = taken(*versions).accounts["a"].charged
    assert charged.report == max(FRESH_MEAN.prices(1).report, MEAN.prices(1).report)
    assert charged.change == MEAN.prices(LIFE).change > FRESH_MEAN.prices(LIFE).change


def test_renewal_of_the_same_encoding_charges_the_life_again_and_the_steady_price_once() -> None:
    ledger = taken((of(named()), 0))
    ledger = replace(ledger, accounts={"a": replace(ledger.accounts["a"], sealed=STARTS + 182 * DAY)})
    renewed = of(named(version=2, starts="2027-06-01", expires="2028-05-31"))
    account = take_up(ledger, renewed, RESEARCH, STARTS + 200 * DAY + 5).accounts["a"]
    first, second = account.charges
    assert (first.reports, second.reports) == (182, 365)
    assert account.charged.life == pytest.approx(life(182) + life(365))
    assert account.charged.steady == MEAN.prices(1).steady


def test_renewal_goes_on_from_the_seal() -> None:
    ledger = taken((of(named()), 0))
    at_work = replace(ledger.accounts["a"], sealed=STARTS + 10 * DAY)
    ledger = take_up(
        replace(ledger, accounts={"a": at_work}),
        of(named(version=2, expires="2027-12-31")),
        RESEARCH,
        STARTS + 10 * DAY + 5,
    )
    account = ledger.accounts["a"]
    first, second = account.charges
    assert first.reports == 10
    assert second.begins == account.sealed == STARTS + 10 * DAY
    assert account.allows(STARTS + 10 * DAY, STARTS + 11 * DAY)  # the window that runs is the new charge's


def test_expiry_may_shrink_in_place_and_never_grow() -> None:
    shorter, longer = named(expires="2027-03-01"), named(expires="2027-12-31")
    ledger = taken((of(named()), 0), (of(longer), DAY))
    assert ledger.accounts["a"].charges[0].reports == LIFE
    ledger = taken((of(named()), 0), (of(shorter), DAY))
    assert ledger.accounts["a"].charges[0].reports == 90
    for again in (named(), longer):
        assert take_up(ledger, of(again), RESEARCH, STARTS + 2 * DAY).accounts["a"].charges[0].reports == 90
    left = taken((of(shorter), 0), (of(), DAY), (of(longer), 2 * DAY))
    assert left.accounts["a"].charges[-1].reports == 88


def test_longer_expiry_seen_in_place_is_not_taken_up_after_an_absence() -> None:
    shorter, longer = named(expires="2027-03-01"), named(expires="2027-12-31")
    back = taken((of(shorter), 0), (of(longer), DAY), (of(), 2 * DAY), (of(longer), 3 * DAY))
    assert back.accounts["a"].charges[-1].reports == 87


def test_expiry_before_the_seal_gives_back_nothing_that_was_reported() -> None:
    ledger = taken((of(named()), 0))
    ledger = replace(ledger, accounts={"a": replace(ledger.accounts["a"], sealed=STARTS + 100 * DAY)})
    ledger = take_up(ledger, of(named(expires="2027-01-01")), RESEARCH, STARTS + 100 * DAY)
    assert ledger.accounts["a"].charged.life == life(100)


def test_treadmill_of_versions_is_held_to_the_limit_of_a_year() -> None:
    """A version a day: each leaves the day that it had, beside what the newest may still report of the year."""
    policy = replace(RESEARCH, life_per_year=250.0)
    ledger, totals = born(), []
    accepted: list[int] = []
    new_year = 31  # the version of the first of January
    for version in range(1, 101):
        lock = of(named(version=version, step=version))
        ledger = take_up(ledger, lock, policy, STARTS + version * DAY)
        totals.append(ledger.life_by_year.get(2027, 0.0))
        spent = sum(one >= new_year for one in accepted) * life(1)
        asked = spent + life(LIFE - max(version, new_year))
        if asked <= 250:
            accepted.append(version)
        assert totals[-1] == pytest.approx(asked if asked <= 250 else spent)
        assert ledger.accounts["a"].versions == tuple(accepted)
    assert max(totals) <= 250
    assert accepted[: new_year + 10] == list(range(1, new_year + 11))
    assert len(accepted) < 95


def test_treadmill_of_versions_is_charged_for_all_of_them() -> None:
    policy = replace(RESEARCH, steady=20.0)
    ledger = born()
    totals = []
    for version in range(1, 101):
        lock = of(named(version=version, step=version))
        ledger = take_up(ledger, lock, policy, STARTS + version * DAY)
        totals.append(ledger.steady)
    assert totals == sorted(totals)
    assert ledger.accounts["a"].versions == tuple(range(1, 11))  # ten times two nats
    assert "would bring the steady prices ever charged to 22 nats, more than the 20 allowed" in ledger.refused["a"]
    assert ledger.accounts["a"].current is None


# The policy


def test_limit_on_a_year_is_held_against_all_that_was_charged_in_it() -> None:
    policy = replace(RESEARCH, life_per_year=250.0)
    used = taken((of(named()), 0), (of(), 200 * DAY), policy=policy)
    spent = used.life_by_year[2027]
    ledger = take_up(used, of(named("b", expires="2027-12-31")), policy, STARTS + 201 * DAY)
    assert spent < 250 < spent + life(194)
    assert "it would bring the life prices of 2027 to" in ledger.refused["b"]
    ledger = take_up(used, of(named("b", starts="2028-01-01", expires="2028-12-01")), policy, STARTS + 201 * DAY)
    assert ledger.refused == {}


def test_limit_for_ever_is_held_against_everything_that_was_charged() -> None:
    policy = replace(RESEARCH, life_for_ever=600.0)
    ledger = taken((of(named()), 0), policy=policy)
    for year, refused in ((2028, False), (2029, True), (2030, True)):
        start = midnight(f"{year}-01-01")
        later = of(named(version=year, starts=f"{year}-01-01", expires=f"{year}-12-01"))
        ledger = take_up(take_up(ledger, of(), policy, start), later, policy, start)
        assert bool(ledger.refused) is refused
    assert ledger.life == life(LIFE) + life(335) < 600 < ledger.life + life(334)
    total = f"{math.ceil((ledger.life + life(334)) * 1e6) / 1e6:.6f}"
    assert ledger.refused["a"] == (
        f"it would bring the life prices ever charged to {total} nats, more than the 600 allowed"
    )
    told = ledger_of(json.loads(json.dumps(ledger_tree(ledger), allow_nan=False)))
    assert told.policy == policy


def test_year_that_is_used_up_bars_no_version_of_another_year() -> None:
    used, policy = taken((of(named()), 0)), replace(RESEARCH, life_per_year=100.0)
    assert used.life_by_year[2027] > 100
    later = of(named(version=2, step=2, starts="2028-01-01", expires="2028-02-01"))
    assert take_up(used, later, policy, midnight("2028-01-01")).refused == {}


def test_year_counts_every_charge_of_another_metric() -> None:
    used = taken((of(named()), 0), (of(), 100 * DAY), (of(named()), 200 * DAY))
    first, second = (charge.life_by_year[2027] for charge in used.accounts["a"].charges)
    lock, total = of(named(), named("b")), first + second + life(64)
    for limit, refused in ((total + 1e-6, False), (total - 1e-6, True)):
        policy = replace(RESEARCH, life_per_year=limit)
        assert bool(take_up(used, lock, policy, STARTS + 300 * DAY).refused) is refused


@pytest.mark.parametrize(
    ("limit", "price"),
    [
        ("steady", MEAN.prices(1).steady),
        ("life_per_year", MEAN.prices(333).life),  # 2027
        ("life_for_ever", MEAN.prices(LIFE).life),
    ],
)
def test_newcomers_of_one_start_share_what_is_left_to_the_last_nat(limit: str, price: float) -> None:
    lock = of(named("a"), named("b"))
    for allowed, refused in ((price, {"b"}), (2 * price, set())):
        limits: dict[str, Any] = {limit: allowed}
        assert taken((lock, 0), policy=replace(RESEARCH, **limits)).refused.keys() == refused


def test_refused_metric_is_taken_up_in_a_year_that_has_room() -> None:
    policy = replace(RESEARCH, life_per_year=240.0)
    lock = of(named(version=2, step=2, starts="2027-06-01", expires="2028-06-01"))
    ledger = taken((of(named()), 0), (lock, 190 * DAY), policy=policy)
    assert ledger.refused
    ledger = take_up(ledger, lock, policy, midnight("2028-01-01"))
    assert ledger.refused == {}
    assert ledger.accounts["a"].charges[-1].reports == 152


def test_refusals_go_by_name_and_spare_what_is_in_force() -> None:
    policy = replace(RESEARCH, steady=4.0)
    ledger = taken((of(named("z")), 0), (of(*(named(name) for name in "zyx")), DAY), policy=policy)
    assert ledger.refused.keys() == {"y"}
    assert {name for name, account in ledger.accounts.items() if account.active} == {"x", "z"}
    tighter = take_up(ledger, of(*(named(name) for name in "zyx")), replace(RESEARCH, steady=1.0), STARTS + DAY)
    assert {name for name, account in tighter.accounts.items() if account.active} == {"x", "z"}  # never mid-life


def test_refusal_is_forgotten_with_the_lock_that_caused_it() -> None:
    policy = replace(RESEARCH, steady=1.0)
    ledger = taken((of(named()), 0), policy=policy)
    assert ledger.refused
    assert take_up(ledger, of(), policy, STARTS).accounts == {}


def test_new_secret_waits() -> None:
    ledger = taken((of(named()), 0), policy=STRICT)
    assert ledger.refused  # 257 nats are more than 15
    quiet = named(encoder=FRESH_MEAN, report_every=28)
    ledger = take_up(born(), of(quiet), STRICT, STARTS + 3600)
    account = ledger.accounts["a"]
    assert account.sealed == account.charges[0].begins == STARTS + 7 * DAY
    assert not account.allows(STARTS + 6 * DAY, STARTS + 7 * DAY)
    assert account.allows(STARTS + 7 * DAY, STARTS + 8 * DAY)
    lax = take_up(born(), of(quiet), RESEARCH, STARTS)
    assert take_up(lax, of(quiet), STRICT, STARTS + DAY).accounts["a"].sealed == STARTS + 7 * DAY


# Secrets and copies


def test_another_secret_refunds_nothing_and_is_charged_anew() -> None:
    old = taken((of(named()), 0))
    ledger = take_up(with_secret(old, "t", STARTS + 10 * DAY), of(named()), RESEARCH, STARTS + 10 * DAY)
    first, second = ledger.accounts["a"].charges
    assert first == old.accounts["a"].charges[0]
    assert second.reports == LIFE - 10
    assert ledger.generation == 2
    assert ledger.steady == 2 * MEAN.prices(1).steady
    assert not ledger.accounts["a"].continues(old.accounts["a"])  # what one secret recorded is not for the other


def test_too_many_secrets_end_what_is_in_force() -> None:
    many = replace(taken((of(named()), 0)), secrets=dict.fromkeys("stuv", STARTS))
    account = take_up(many, of(named()), RESEARCH, STARTS + 10 * DAY).accounts["a"]
    assert "4 secrets were drawn within a year" in account.refused
    assert account.current is None
    assert account.charged.life == life(10)


def test_merging_keeps_the_later_seal_and_every_charge() -> None:
    old = taken((of(named()), 0))
    new = take_up(old, of(named(version=2, step=2)), RESEARCH, STARTS + 10 * DAY)
    for one, other in ((old, new), (new, old)):
        both = merged(one, other)
        account = both.accounts["a"]
        assert [charge.version for charge in account.charges] == [1, 2]
        assert account.charges[0].reports == LIFE  # one memory does not know the refund
        assert account.sealed == STARTS + 10 * DAY
        assert account.active
        assert account.current == new.accounts["a"].current
    assert merged(old, old) == replace(old, policy=old.policy)


def test_merging_takes_what_either_copy_knows_of_a_secret_and_a_charge() -> None:
    long = taken((of(named()), 0))
    short = take_up(long, of(named(expires="2027-03-01")), RESEARCH, STARTS + DAY)
    late = replace(long, secrets={"s": STARTS + 5}, accounts={"a": replace(long.accounts["a"], sent=3)})
    early = replace(short, accounts={"a": replace(short.accounts["a"], sent=5)})
    for one, other in ((late, early), (early, late)):
        both = merged(one, other)
        assert both.secrets == {"s": STARTS}
        assert both.accounts["a"].sent == 5
        (again,) = take_up(both, of(named()), RESEARCH, STARTS + 2 * DAY).accounts["a"].charges
        assert again.reports == 90  # the end that either copy saw


def test_merging_keeps_in_force_what_the_secret_in_use_runs() -> None:
    mine = taken((of(named()), 0))
    other = take_up(Ledger("c", "t", {"t": STARTS + 5}), of(named(version=2)), RESEARCH, STARTS + 5)
    account = merged(mine, other).accounts["a"]
    assert [charge.under for charge in account.charges] == ["t", "s"]
    assert account.current == mine.accounts["a"].current


# Records


def rich() -> Ledger:
    policy = Policy("own", 4.0, steady=20.0, life_per_year=float("inf"), dimensions=frozenset({"os", "arm"}))
    lock = of(named(), named("b", kind="boolean", encoder=YES_NO), named("plain", encoder=Plain(9)))
    return take_up(taken((lock, 0), (of(named(version=2, step=2)), DAY)), of(named()), policy, STARTS + 2 * DAY)


def test_records_are_read_back_to_an_equal_ledger() -> None:
    for ledger in (born(), rich(), with_secret(rich(), "t", 5)):
        assert ledger_of(json.loads(json.dumps(ledger_tree(ledger), allow_nan=False))) == ledger


def test_damaged_records_are_refused() -> None:
    """Every leaf of a record replaced by what does not fit, one at a time."""
    tree = ledger_tree(rich())
    text = json.dumps(tree)
    found = 0

    def broken(node: object, path: tuple[object, ...]) -> None:
        nonlocal found
        children = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
        for key, child in list(children):
            for odd in (["odd"], {"odd": 1}, "odd" if isinstance(child, float | int) else -1.5):
                copy = json.loads(text)
                place = copy
                for step in path:
                    place = place[step]
                place[key] = odd
                if odd == ["odd"] and key == "dimensions":
                    continue  # a list of names, as it should be
                with pytest.raises(DamagedError):
                    ledger_of(copy)
                found += 1
            broken(child, (*path, key))

    broken(tree, ())
    assert found > 200
    for missing in tree:
        with pytest.raises(DamagedError):
            ledger_of({key: value for key, value in tree.items() if key != missing})
    with pytest.raises(DamagedError):
        ledger_of(tree | {"surplus": 1})


def test_account_in_plain_types_holds_all_of_it() -> None:
    account = rich().accounts["a"]
    assert set(account_tree(account)) == set(Account.__slots__)
    assert set(account_tree(account)["charges"][0]) == set(Charge.__slots__) - {"group"}
