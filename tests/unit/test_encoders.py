"""The half of each mechanism that a device runs: integers in, bits out, refusals in the right words."""

import math
from collections.abc import Sequence
from dataclasses import FrozenInstanceError, replace
from decimal import Context, Decimal
from fractions import Fraction
from itertools import pairwise
from typing import Any

import pytest

from hubbub.encoders import registry
from hubbub.encoders.base import SCALE, Prf, Words, below, check, linkage, loss, up
from hubbub.encoders.one_bit_mean import MAX_ENTRIES, OneBitMean
from hubbub.encoders.randomized_response import RandomizedResponse
from hubbub.errors import ParameterError, PrivateValueError
from hubbub.prf import device_prf

HALF = SCALE // 2
FRESH = RandomizedResponse(1_155_094_611, 0, 0)
KEPT = RandomizedResponse(500_000_000, 600_000_000, 1)
MEAN = OneBitMean(6, 6, 1_155_094_611, SCALE - 2 * 1_155_094_611, 0, 0)
KEPT_MEAN = OneBitMean(7, 3, 500_000_000, (SCALE - 1_000_000_000) // 3, 600_000_000, 1)  # fits: 3 divides it
DIGITS = Context(prec=50)


def words(*given: int) -> Words:
    left = list(given)

    def draw(count: int) -> Sequence[int]:
        out, left[:] = left[:count], left[count:]
        assert len(out) == count, "more words than expected"
        return out

    return draw


def prf_of(streams: dict[tuple[str, tuple[int, ...]], int]) -> Prf:
    """A PRF whose streams hold one word each."""

    def prf(purpose: str, *key: int) -> Words:
        return words(streams[purpose, key])

    return prf


def no_prf(purpose: str, *key: int) -> Words:
    raise AssertionError(f"nothing is permanent, but {purpose} was asked for")


def test_registry() -> None:
    assert registry["randomized_response"] is RandomizedResponse
    assert registry["one_bit_mean"] is OneBitMean


@pytest.mark.parametrize(
    ("bound", "given", "drawn", "used"),
    [
        (1, (SCALE - 1,), 0, 1),
        (2, (SCALE - 1,), 1, 1),
        (3, (SCALE - 2,), 2, 1),
        (3, (SCALE - 1, 4), 1, 2),
        (3, (SCALE - 1, SCALE - 1, 5), 2, 3),
        (SCALE - 1, (SCALE - 2,), SCALE - 2, 1),
        (SCALE - 1, (SCALE - 1, 7), 7, 2),
        (SCALE, (SCALE - 1,), SCALE - 1, 1),
        (HALF + 1, (HALF,), HALF, 1),
        (HALF + 1, (HALF + 1, 9), 9, 2),
    ],
)
def test_below_refuses_words_beyond_the_last_full_multiple(
    bound: int, given: tuple[int, ...], drawn: int, used: int
) -> None:
    draw = words(*given, 123)
    assert below(bound, draw) == drawn
    assert draw(1)[0] == (*given, 123)[used]


@pytest.mark.parametrize("value", [-1, 4, 1.0, "1", None, True, math.nan])
def test_check_names_parameter_value_and_range(value: Any) -> None:
    with pytest.raises(ParameterError, match=r"low must be an integer in \[0, 3\]; got ") as caught:
        check("low", value, 0, 3)
    assert repr(value) in str(caught.value)


def test_check_accepts_the_ends() -> None:
    check("low", 0, 0, 3)
    check("low", 3, 0, 3)


@pytest.mark.parametrize(
    ("integers", "name"),
    [
        ((0, 0, 0), "low"),
        ((HALF, 0, 0), "low"),
        ((-1, 0, 0), "low"),
        ((1.5, 0, 0), "low"),
        ((True, 0, 0), "low"),
        ((1, 1, 0), "flip"),
        ((1, -1, 1), "flip"),
        ((1, HALF, 1), "flip"),
        ((1, 0.0, 1), "flip"),
        ((1, 0, 2), "memo"),
        ((1, 0, True), "memo"),
        ((1, 0, "1"), "memo"),
    ],
)
def test_a_yes_or_no_refuses(integers: tuple[Any, ...], name: str) -> None:
    with pytest.raises(ParameterError, match=f"^{name} must be") as caught:
        RandomizedResponse(*integers)
    assert caught.value.name == name


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({"ticks": 0}, "ticks"),
        ({"ticks": SCALE}, "ticks"),
        ({"ticks": 6.0}, "ticks"),
        ({"ticks": 5}, "bucket"),
        ({"bucket": 0}, "bucket"),
        ({"bucket": 7}, "bucket"),
        ({"bucket": 5}, "rise"),
        ({"low": 0}, "low"),
        ({"low": HALF}, "low"),
        ({"low": 1_155_094_612}, "rise"),
        ({"rise": 0}, "rise"),
        ({"rise": -1}, "rise"),
        ({"rise": float(MEAN.rise)}, "rise"),
        ({"rise": MEAN.rise + 1}, "rise"),
        ({"flip": 1}, "flip"),
        ({"memo": 1, "flip": HALF}, "flip"),
        ({"memo": 2}, "memo"),
        ({"memo": None}, "memo"),
    ],
)
def test_a_mean_refuses(changes: dict[str, Any], name: str) -> None:
    with pytest.raises(ParameterError, match=f"^{name} must be"):
        replace(MEAN, **changes)


def test_at_most_4096_entries() -> None:
    rise = 2 * (HALF // MAX_ENTRIES // 4)
    OneBitMean(MAX_ENTRIES, 1, (SCALE - MAX_ENTRIES * rise) // 2, rise, 0, 1)
    with pytest.raises(ParameterError, match=r"bucket must be an integer in \[2, 4097\]; got 1"):
        OneBitMean(MAX_ENTRIES + 1, 1, (SCALE - MAX_ENTRIES * rise) // 2, rise, 0, 1)


@pytest.mark.parametrize("value", [-1, 2, 4711, 1.0, "4711", None, True, math.nan])
@pytest.mark.parametrize("encoder", [FRESH, KEPT, replace(MEAN, ticks=1, bucket=1)])
def test_no_value_is_encoded_that_is_none(encoder: Any, value: Any) -> None:
    """True and 1 would get two permanent answers, since they are written differently into the PRF."""
    with pytest.raises(PrivateValueError, match=r"^the value must be an integer in \[0, 2\)$"):
        encoder.permanent(value, no_prf)


def test_encoders_are_frozen_values() -> None:
    with pytest.raises(FrozenInstanceError):
        FRESH.low = 2  # type: ignore[misc]
    assert {FRESH, RandomizedResponse(*FRESH.canonical()), KEPT} == {FRESH, KEPT}
    assert OneBitMean(*MEAN.canonical()) == MEAN


def test_a_fresh_yes_or_no() -> None:
    assert FRESH.permanent(1, no_prf) == (1,)
    assert FRESH.report((1,), words(FRESH.low - 1)) == (0,)
    assert FRESH.report((1,), words(FRESH.low)) == (1,)
    assert FRESH.report((0,), words(0)) == (1,)
    assert FRESH.report((0,), words(SCALE - 1)) == (0,)


def test_a_kept_yes_or_no() -> None:
    no, yes = ("memo", (0,)), ("memo", (1,))
    assert KEPT.permanent(1, prf_of({yes: KEPT.low - 1})) == (0,)
    assert KEPT.permanent(1, prf_of({yes: KEPT.low})) == (1,)
    assert KEPT.permanent(0, prf_of({no: KEPT.low - 1})) == (1,)
    assert KEPT.permanent(0, prf_of({no: KEPT.low})) == (0,)
    for kept in (0, 1):
        assert KEPT.report((kept,), words(KEPT.flip - 1)) == (1 - kept,)
        assert KEPT.report((kept,), words(KEPT.flip)) == (kept,)


def test_a_fresh_mean() -> None:
    low, high = MEAN.low, SCALE - MEAN.low
    assert MEAN.permanent(4, no_prf) == (4,)
    for alpha, share in ((0, low), (1, low), (2, high), (5, high)):
        assert MEAN.report((4,), words(alpha, share - 1)) == (1,)
        assert MEAN.report((4,), words(alpha, share)) == (0,)
    assert MEAN.report((4,), words(SCALE - 1, 6 + 1, low)) == (0,)  # 2³² - 1 is refused, 7 gives alpha = 1
    assert MEAN.report((0,), words(5, low - 1)) == (1,)
    assert MEAN.report((6,), words(0, high)) == (0,)


def test_a_kept_mean() -> None:
    e = KEPT_MEAN
    assert (e.top, e.size) == (3, 8)
    for value, alpha, entry in ((0, 2, 0), (1, 1, 0), (1, 2, 1), (3, 0, 1), (7, 1, 2), (7, 2, 3), (6, 2, 2)):
        share = e.low + entry * e.rise
        for word, bit in ((share - 1, 1), (share, 0)):
            assert e.permanent(value, prf_of({("alpha", ()): alpha, ("memo", (entry,)): word})) == (bit,)
    assert e.report((1,), words(e.flip - 1)) == (0,)
    assert e.report((1,), words(e.flip)) == (1,)


def test_a_permanent_answer_is_permanent() -> None:
    for encoder in (KEPT, KEPT_MEAN):
        answers = set()
        for device in range(50):
            secret = device.to_bytes(32, "big")
            kept = [encoder.permanent(1, device_prf(secret, "c", "m", "h")) for _ in range(3)]
            assert len(set(kept)) == 1
            answers.add(kept[0])
        assert answers == {(0,), (1,)}


def test_the_last_bucket_reaches_beyond_the_range_and_stays_linear() -> None:
    chances = [KEPT_MEAN.law(value)[1,] for value in range(KEPT_MEAN.size)]
    assert len({b - a for a, b in pairwise(chances)}) == 1
    assert chances[-1] < 1 - chances[0]


def test_laws_by_hand() -> None:
    lie = Fraction(FRESH.low, SCALE)
    assert FRESH.law(0) == {(0,): 1 - lie, (1,): lie}
    assert FRESH.law(1) == {(1,): 1 - lie, (0,): lie}
    a, g = Fraction(KEPT.low, SCALE), Fraction(KEPT.flip, SCALE)
    assert KEPT.law(0)[1,] == a * (1 - g) + (1 - a) * g
    assert MEAN.law(3)[1,] == Fraction(1, 2)


@pytest.mark.parametrize("p", [Fraction(1, 2**32), Fraction(1, 3), Fraction(HALF - 1, SCALE), Fraction(999, 1000)])
@pytest.mark.parametrize("gap", [Fraction(1, 2**32), Fraction(1, 10**6), Fraction(1, 1100)])
def test_loss_is_right_also_where_coins_are_close_or_rare(p: Fraction, gap: Fraction) -> None:
    q = p + gap if p + gap < 1 else (p + 1) / 2
    worst = max(q / p, (1 - p) / (1 - q))
    exact = DIGITS.divide(Decimal(worst.numerator), Decimal(worst.denominator)).ln(DIGITS)
    assert abs(Decimal(loss(p, q)) / exact - 1) < Decimal("1e-15")
    assert exact <= Decimal(up(loss(p, q))) <= exact * (1 + Decimal("2e-12"))


def test_loss_of_what_is_certain_is_infinite() -> None:
    assert loss(Fraction(0), Fraction(1, 2)) == loss(Fraction(1, 2), Fraction(1)) == math.inf
    assert up(math.inf) == math.inf
    assert loss(Fraction(1, 3), Fraction(1, 3)) == 0.0
    assert 0 < up(0.0) < 1e-300


def test_prices_by_hand() -> None:
    a, g = KEPT.low / SCALE, KEPT.flip / SCALE
    q = a * (1 - g) + (1 - a) * g
    prices = KEPT.prices(365)
    change = math.log((1 - g) / g)
    hidden = math.log(1 / (4 * a * (1 - a))) / 2
    assert prices.report == pytest.approx(math.log((1 - q) / q), rel=1e-11)
    assert prices.steady == pytest.approx(math.log((1 - a) / a), rel=1e-11)
    assert prices.change == pytest.approx(change, rel=1e-11)
    assert prices.life == pytest.approx(365 / 2 * change + 2 * hidden, rel=1e-11)
    assert math.tanh(prices.report / 2) == pytest.approx(
        math.tanh(prices.steady / 2) * math.tanh(change / 2), rel=1e-10
    )
    assert FRESH.prices(365) == pytest.approx((1, 365, 1, 365), rel=1e-8)
    assert KEPT.prices(0).life == FRESH.prices(0).life == pytest.approx(0, abs=1e-300)


@pytest.mark.parametrize("windows", [1, 2, 3, 400, 9600])
@pytest.mark.parametrize("flip", [1, 844_441_824, HALF - 1])
@pytest.mark.parametrize("low", [1, 10, 511_972_653, HALF - 1])
def test_the_bound_on_a_life_is_rounded_up(low: int, flip: int, windows: int) -> None:
    """min(T L, T/2 L + the T largest ln(1/(4p(1-p)))/2), in 50 digits, also for the rarest and the commonest lies."""
    change = DIGITS.divide(Decimal(SCALE - flip), Decimal(flip)).ln(DIGITS)
    hidden = DIGITS.divide(Decimal(SCALE**2), Decimal(4 * low * (SCALE - low))).ln(DIGITS) / 2
    bound = min(windows * change, windows * change / 2 + min(2, windows) * hidden)
    life = Decimal(RandomizedResponse(low, flip, 1).prices(windows).life)
    assert bound <= life <= bound * (1 + Decimal("1e-10"))


def test_unflipped_answers_have_no_bound_on_change() -> None:
    prices = replace(KEPT, flip=0).prices(10)
    assert prices.change == prices.life == math.inf
    assert prices.report == prices.steady < 3


def test_linkage() -> None:
    assert linkage(Fraction(1, 2)) == pytest.approx(0, abs=1e-12)
    assert linkage(Fraction(0)) == 1.0
    differ = 2 * 0.25 * 0.75
    entropy = -differ * math.log2(differ) - (1 - differ) * math.log2(1 - differ)
    assert linkage(Fraction(1, 4)) == pytest.approx(1 - entropy)
    assert KEPT.linkage_bits == linkage(Fraction(KEPT.flip, SCALE))
    assert FRESH.linkage_bits == linkage(Fraction(FRESH.low, SCALE))
    assert replace(KEPT, flip=0).linkage_bits == 1.0
