"""Prices over so many windows, the same precision by other strategies, and changes that one can picture."""

import math
import re
from dataclasses import replace
from fractions import Fraction
from itertools import product
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from hubbub.client.charges import change, whole
from hubbub.definitions.worth import several
from hubbub.errors import ParameterError
from hubbub.lock import Metric
from hubbub.mechanisms import of_metric, registry
from hubbub.mechanisms.one_bit_mean import OneBitMean
from hubbub.privacy import account, closest_life, exact_life, explain, sections, strategies, together, visible
from hubbub.privacy.changes import most_visible, percent_of
from hubbub.privacy.pattern import same_pattern
from hubbub.privacy.precision import OTHERWISE, PANEL, compared
from tests.unit.test_privacy import metric, metrics, only
from tests.unit.test_privacy_life import brute_force


def choice(name: str = "grr", permanent: float | None = 2, **more: Any) -> Metric:
    encoder = registry[name].from_epsilon(1, permanent_epsilon=permanent, categories=10, **more).encoder
    labels = tuple("abcdefghi")
    return replace(metric(), kind="choice", encoder=encoder, lower=0, step=10**6, labels=labels, unit="")


@given(metrics(), st.integers(1, 400))
def test_exact_below_closed_and_both_grow(told: Metric, windows: int) -> None:
    one, more = account(told, windows), account(told, windows + 1)
    counted = min(windows, len(told.life))
    assert (one.window, one.windows, one.reports) == (told.window, counted, -(-counted // told.report_every))
    assert one.reports <= told.reports
    for key in ("report", "steady", "change", "life", "exact_life"):
        shorter, longer = getattr(one, key), getattr(more, key)
        assert (shorter is None) <= (longer is None)
        assert longer is None or shorter <= longer
    assert one.life is None or (one.exact_life is not None and one.exact_life <= one.life)
    if one.life is not None:  # it bounds any two histories, so these too
        assert max(one.report or 0, one.steady or 0, one.change or 0) <= one.life
    prices = told.encoder.prices(one.reports)
    assert (one.report or 0) >= prices.report
    assert one.exact == closest_life(told.encoder, one.reports).exact
    exact = exact_life(told.encoder, one.reports)
    assert one.exact_life is None if math.isinf(exact) else (one.exact_life or 0) >= exact


@given(st.lists(metrics(), min_size=1, max_size=4), st.integers(1, 100))
def test_sums_over_metrics(told: list[Metric], windows: int) -> None:
    parts = [account(one, windows) for one in told]
    whole = together(parts)
    counted = {(part.window, part.windows) for part in parts}
    assert (whole.window, whole.windows) == (counted.pop() if len(counted) == 1 else ("", 0))
    assert whole.reports == sum(part.reports for part in parts)
    assert whole.exact == all(part.exact for part in parts)
    for key in ("report", "steady", "change", "life", "exact_life"):
        each, total = [getattr(part, key) for part in parts], getattr(whole, key)
        if None in each:
            assert total is None
        else:
            assert total == pytest.approx(sum(each), abs=1e-9)
            assert total >= max(each)


def test_metrics_that_take_turns_report_a_changed_window_once() -> None:
    def turn(name: str, rank: int, epsilon: float, permanent: float | None = None) -> Metric:
        plain = metric(epsilon, permanent, kind="boolean", lower=0, unit="", name=name, report_every=2)
        return replace(plain, rotation=f"usage:{rank}")

    told = [turn("a", 0, 1.0), turn("b", 1, 0.5), metric(name="c")]
    found = together([account(one, 30) for one in told])
    by_device = change({one.name: whole(one) for one in told})
    assert found.change == pytest.approx(math.fsum(by_device.values()), abs=1e-6)
    assert found.change == pytest.approx(1.0 + 1.407606, abs=1e-6)
    assert found.steady == pytest.approx(15 * 1.5 + 2, abs=1e-6)
    endless = [turn("a", 0, 1.0), replace(turn("b", 1, 1.0, 1.0), report_every=2)]
    assert together([account(one, 30) for one in endless]).change is None


def test_account_of_a_life() -> None:
    found = account(metric())
    assert (found.windows, found.reports) == (364, 364)
    assert (found.report, found.steady, found.change, found.life) == (1.0, 2.0, 1.407606, 257.051847)
    assert found.same_pattern == pytest.approx([2, 4], abs=2e-6)
    assert account(metric(1, None)).same_pattern == account(choice("oue")).same_pattern == ()
    assert account(choice()).same_pattern[:3] == pytest.approx([2, 4, 6], abs=3e-6)
    for told in (metric(), choice()):
        for distinct, price in enumerate(account(told).same_pattern, 1):
            assert 0 <= price - same_pattern(told.encoder, distinct) < 1.1e-6
    one_report = account(metric(), 1)
    assert one_report.steady == one_report.change == one_report.life == one_report.exact_life == one_report.report == 1
    fresh = account(metric(1, None), 10)
    assert fresh.life == fresh.exact_life == fresh.steady == 10
    no_bound = account(metric(1, 1), 5)
    assert (no_bound.change, no_bound.life, no_bound.exact_life) == (None, None, None)
    assert together([account(metric(), 3), account(metric(), 4)]).windows == 0
    hours = together([account(metric(window="hour"), 3), account(metric(), 3)])
    assert (hours.window, hours.windows) == ("", 0)


def test_no_more_windows_than_the_life_has() -> None:
    short = metric(expires="2026-12-04")
    assert account(short, 5) == account(short, 3) == account(short)
    assert account(metric(expires="2026-12-29", report_every=28), 300).reports == 1


def test_a_bucket_that_does_not_divide_the_range_is_not_called_exact() -> None:
    encoder = OneBitMean.from_epsilon(1, permanent_epsilon=2, upper=5, bucket=3).encoder
    split = account(metric(encoder=encoder, expires="2026-12-04"))
    assert not split.exact
    assert split.exact_life is not None
    assert 1 < brute_force(encoder, 3) < 0.9 * split.exact_life
    assert account(metric(encoder=encoder), 1).exact
    assert account(metric(), 3).exact
    assert not together([split, account(metric(), 3)]).exact


@pytest.mark.parametrize("windows", [0, -1, 20_001, 1.5, True, "3"])
def test_windows_out_of_range(windows: Any) -> None:
    said = re.escape(f"windows must be an integer in [1, 20000]; got {windows!r}")
    with pytest.raises(ParameterError, match=said):
        account(metric(), windows)


EVERY = [
    metric(),
    metric(1, None),
    metric(0.3, None, report_every=PANEL),
    metric(kind="boolean"),
    choice(),
    choice("oue", None),
    choice("d_bit_flip", d=3),
]


@pytest.mark.parametrize("told", EVERY, ids=lambda told: f"{told.kind}-{told.encoder.name}-{told.encoder.memo}")
def test_strategies_have_the_precision_and_no_more(told: Metric) -> None:
    found = {line.key: line for line in strategies(told)}
    own = found.pop("own")
    assert len(found) == 3
    for line in (own, *found.values()):
        assert line.margin == pytest.approx(own.margin, rel=1e-5)
        assert line.reports == -(-364 // line.report_every)
        assert None not in (line.epsilon, line.life, line.change, line.steady)
    assert own.margin == pytest.approx(several(of_metric(told), 10_000 / told.report_every, 28, told.report_every))
    prices = told.prices
    assert (own.epsilon, own.life) == pytest.approx((prices.report, prices.life), abs=2e-6)
    few = 0.01 if told.kind == "choice" else 1e-6  # where few devices decide, intervals are a little wider than z se
    assert strategies(told, 40_000)[0].margin == pytest.approx((own.margin or 0) / 2, rel=few)


def test_strategies_in_figures() -> None:
    """One bit in the middle of a range of 1: V(1) = 1.1707 of which 0.4310 is shared at a permanent loss of 2."""
    found = {line.key: line for line in strategies(metric())}
    target = (1.1707 - 0.4310) / 28 + 0.4310
    panel, fresh = found["panel"].epsilon, found["fresh"].epsilon
    assert panel == pytest.approx(2 * math.atanh(0.5 / math.sqrt(target)), abs=2e-4)
    assert fresh == pytest.approx(2 * math.atanh(0.5 / math.sqrt(28 * (target - 0.25) + 0.25)), abs=2e-4)
    assert found["panel"].life == pytest.approx(13 * (panel or 0), abs=1e-4)
    assert (found["panel"].life or 0) < (found["rotation"].life or 0) < (found["own"].life or 0)


def test_what_is_out_of_reach_is_said() -> None:
    told = metric(16, None)
    assert [line.epsilon for line in strategies(told)[1:]] == [None, None, None]
    assert "as here 5823, permanent answers out of reach, a panel of 28 out of reach" in compared(told)[0]
    small = metric(10, None, starts="2026-12-01", expires="2026-12-08")
    assert [line.key for line in strategies(small)] == ["own", "memo", "rotation"]
    words = replace(metric(), kind="words", encoder=registry["cms"].from_epsilon(1).encoder, lower=0, unit="")
    assert strategies(words) == []
    assert compared(words) == []
    assert sections(words)[OTHERWISE][0].startswith("For words nothing is compared")
    with pytest.raises(ParameterError, match="devices must be an integer in"):
        strategies(metric(), 0)


@pytest.mark.parametrize("epsilon", [0.01, 0.3, 1.7, 2.9, 3.1, 4.3, 9.01, 13.7])
def test_compared_prices_are_rounded_up_by_little(epsilon: float) -> None:
    told = metric(epsilon, None)
    found = re.search(r"as here ([0-9.]+),", compared(told)[0])
    assert found
    step = 0.001 if told.prices.life < 10 else 0.1 if told.prices.life < 1000 else 1
    assert 0 <= float(found[1]) - told.prices.life + 1e-9 < step + 2e-6


def test_comparison_in_sentences() -> None:
    life, steady = compared(metric())
    assert life == (
        "For the same error of a mean of 28 days, any two histories cost at most: as here 257.1, fresh noise 150.0, "
        "a panel of 28 24.7, turns of 6 metrics 60.0."
    )
    assert "a device that never changes pays: as here 2.000, fresh noise 150.0" in steady
    assert sections(metric())[OTHERWISE] == [life, steady]


def test_pictures_of_a_mean() -> None:
    told = metric()
    assert only(told, "visible in time") == (
        "From 0 to 480 min a day for good: visible in time on 79.1 % of devices, on others never by this metric; "
        "from 0 to 160 on 26.4 %."
    )
    assert "each stay within 48 min for ever: epsilon 2.000" in only(told, "Two devices whose values")
    assert only(told, "Two devices whose values").endswith("88.1 %, save for a chance of at most 20 %.")
    shifted = metric(lower=-2_000_000, step=500_000, unit="")
    assert "From -2 to 238 in each day for good" in only(shifted, "visible in time")
    assert "each stay within 24 for ever" in only(shifted, "Two devices")
    assert "on every device, as nothing is kept" in only(metric(1, None), "480 min a day for good")
    short = metric(0.1, 6, expires="2026-12-06")  # any two histories of five days cost less than 6
    assert "values each stay" not in " ".join(explain(short))
    assert "each stay within 48 min for ever: epsilon 6.000" in only(metric(0.1, 6), "Two devices whose values")
    narrow = metric(encoder=registry["one_bit_mean"].from_epsilon(1, permanent_epsilon=2, upper=100, bucket=10).encoder)
    assert "values each stay" not in " ".join(explain(narrow))  # a tenth of the range is a whole bucket


def test_pictures_of_other_kinds() -> None:
    assert only(metric(kind="boolean"), "visible in time") == (
        "From no to yes for good: visible in time on 79.1 % of devices, on others never by this metric."
    )
    told = choice()
    share = visible(told.encoder, 0, 5)
    assert share is not None
    assert f"From one answer to another for good: visible in time on {percent_of(share)}" in only(told, "visible in")
    bits = replace(choice("d_bit_flip", d=2), kind="histogram", labels=())
    most = max(visible(bits.encoder, a, b) or Fraction(0) for a in range(10) for b in range(10))
    assert f"From one bucket to another for good: visible in time on at most {percent_of(most)}" in only(
        bits, "visible in time"
    )
    for alike in (choice("d_bit_flip", d=1), choice("d_bit_flip", d=10), choice("oue"), choice("olh_pool")):
        pairs = {visible(alike.encoder, a, b) for a in range(10) for b in range(a)}
        assert most_visible(alike.encoder) == (pairs.pop(), True)
        assert not pairs
        assert "at most" not in only(alike, "visible in time")


@settings(max_examples=50)
@example(10**9 * 10**6 - 7, 1, 23, "M" * 32, "hour")
@given(
    st.sampled_from([-(10**9) * 10**6, 0, 10**9 * 10**6 - 7]),
    st.sampled_from([1, 999_999, 10**6]),
    st.integers(1, 10**9),
    st.text("WMÄ", max_size=32),
    st.sampled_from(["hour", "day", "week"]),
)
def test_pictures_are_short(lower: int, step: int, ticks: int, unit: str, window: str) -> None:
    for permanent, aggregate in product((1.0, 6.0, None), ("sum", "max")):
        encoder = registry["one_bit_mean"].from_epsilon(1, permanent_epsilon=permanent, upper=ticks).encoder
        told = metric(encoder=encoder, lower=lower, step=step, unit=unit, window=window, aggregate=aggregate)
        for sentence in explain(told):
            assert len(sentence) < 200, sentence
