"""Prices of permanent choices among several answers: at least brute force, in fractions; the exact life equals it.

Brute force goes through all histories and all that can be sent, from first principles and not through encoders.
"""

import math
from decimal import Context, Decimal
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hubbub.encoders.base import SCALE, loss, two_rounds
from hubbub.encoders.choices import kept_choice
from hubbub.encoders.grr import Grr as GrrDevice
from hubbub.encoders.olh_pool import OlhPool as PoolDevice
from hubbub.errors import ParameterError
from hubbub.mechanisms.grr import Grr
from hubbub.mechanisms.olh_pool import OlhPool
from hubbub.privacy import exact_life, shared_out
from hubbub.testing.mechanisms.laws import history_law

DIGITS = Context(prec=40)
Device = GrrDevice | PoolDevice
DEVICES: list[Device] = [
    *(GrrDevice(2, SCALE - low, SCALE - flip, 1) for low, flip in ((1 << 30, 1 << 29), (5, 1 << 30), (1 << 30, 5))),
    *(GrrDevice(3, keep, again, 1) for keep, again in ((3 << 30, 3 << 30), (2 << 30, SCALE - 9), (SCALE - 9, 2 << 30))),
    GrrDevice(3, SCALE // 3 + 9, SCALE // 3 + 9, 1),
    GrrDevice(4, 3 << 30, 2 << 30, 1),
    PoolDevice(2, 5, 1 << 29, 1 << 28, 1),  # hashes that no category has
    PoolDevice(3, 3, 1 << 29, 1 << 30, 1),
    PoolDevice(4, 2, 1 << 30, 1 << 29, 1),
    PoolDevice(5, 3, 1 << 28, 1 << 30, 1),
]


def rounds(device: Device) -> tuple[int, int, int, int]:
    """Share of words that keep an answer in both rounds, answers, and entries that values lead to at most."""
    if isinstance(device, GrrDevice):
        return device.keep, device.again, device.size, device.size
    kept = [SCALE - (device.g - 1) * lie for lie in (device.lie, device.flip)]
    return kept[0], kept[1], device.g, min(device.g, device.size)


def chances(device: Device, windows: int, entries: int | None = None) -> Any:
    """Chance of each sequence of answers from each sequence of entries, shape (entries,) * windows + (k,) * windows.

    Python integers, all to be divided by the same number: those of a permanent answer for each entry, told again.
    """
    keep, again, k, reached = rounds(device)
    first = (keep * (k - 1), SCALE - keep)
    second = (again * (k - 1), SCALE - again)
    reached = entries or reached
    found = np.empty((reached,) * windows + (k,) * windows, object)
    for history in product(range(reached), repeat=windows):
        for sent in product(range(k), repeat=windows):
            chance = 1
            for entry in range(reached):
                told = [answer for at, answer in zip(history, sent, strict=True) if at == entry]
                chance *= sum(
                    first[kept != entry] * math.prod(second[answer != kept] for answer in told) for kept in range(k)
                )
            found[history + sent] = chance
    return found


def worst(found: Any, axes: tuple[int, ...]) -> Fraction | None:
    """Largest ratio of two chances that differ in these axes only; None if one of them is zero."""
    pairs = [(a, b) for a, b in zip(found.max(axis=axes).ravel(), found.min(axis=axes).ravel(), strict=True) if a]
    return max(Fraction(a, b) for a, b in pairs) if all(b for _, b in pairs) else None


def logarithm(ratio: Fraction) -> Decimal:
    return DIGITS.divide(Decimal(ratio.numerator), Decimal(ratio.denominator)).ln(DIGITS)


def windows_of(device: Device) -> range:
    return range(1, 6 if rounds(device)[2] == 2 else 5 if rounds(device)[2] == 3 else 4 if device.size == 4 else 3)


@pytest.mark.parametrize("device", DEVICES, ids=str)
def test_prices_are_at_least_brute_force(device: Device) -> None:
    for windows in windows_of(device):
        found, prices = chances(device, windows), device.prices(windows)
        steady = np.array([found[(entry,) * windows] for entry in range(found.shape[0])], object)
        changes = [worst(found, (window,)) for window in range(windows)]
        ratios = {
            "report": worst(chances(device, 1), (0,)),
            "steady": worst(steady, (0,)),
            "change": max(ratio for ratio in changes if ratio),
            "life": worst(found, tuple(range(windows))),
        }
        for name, ratio in ratios.items():
            assert ratio is not None
            assert Decimal(getattr(prices, name)) >= logarithm(ratio), (windows, name)


@pytest.mark.parametrize("device", DEVICES, ids=str)
def test_the_exact_life_is_brute_force_and_no_more_than_the_price(device: Device) -> None:
    for windows in windows_of(device):
        ratio = worst(chances(device, windows), tuple(range(windows)))
        assert ratio is not None
        exact = exact_life(device, windows)
        assert exact == pytest.approx(float(logarithm(ratio)), rel=1e-9, abs=1e-15)
        assert exact <= device.prices(windows).life


def test_brute_force_is_about_what_devices_do() -> None:
    for device in (GrrDevice(3, 3 << 30, 2 << 30, 1), PoolDevice(3, 3, 1 << 29, 1 << 30, 1)):
        found = chances(device, 2)
        for history in product(range(3), repeat=2):
            whole = sum(found[history].ravel())
            law = history_law(device, history)  # one seed, under which a hash is the value itself
            stated = {tuple(payload[-1] for payload in sent): chance for sent, chance in law.items()}
            assert stated == {sent: Fraction(found[history + sent], whole) for sent in product(range(3), repeat=2)}


@pytest.mark.parametrize("values", [(0, 1), (0, 3), (1, 2)])
def test_a_pool_of_several_seeds_loses_no_more(values: tuple[int, int]) -> None:
    """Over all seeds, by the device's own code: values that share a hash under one of them do not under another."""
    device = PoolDevice(4, 2, 1 << 30, 1 << 29, 1)
    laws = [history_law(device, history) for history in product(values, repeat=2)]
    ratio = max(one[sent] / other[sent] for one in laws for other in laws for sent in one)
    assert float(logarithm(ratio)) == pytest.approx(exact_life(device, 2), rel=1e-9)


@given(st.integers(1, SCALE // 2 - 1), st.integers(1, SCALE // 2 - 1), st.integers(1, 400))
def test_two_answers_are_one_bit(low: int, flip: int, windows: int) -> None:
    a, g = Fraction(low, SCALE), Fraction(flip, SCALE)
    q = a * (1 - g) + (1 - a) * g
    bit = two_rounds(loss(q, 1 - q), loss(a, 1 - a), flip, (low, SCALE - low), windows)
    assert kept_choice(SCALE - low, SCALE - flip, 2, 2, windows) == pytest.approx(bit, rel=1e-9)


@given(
    st.integers(2, 9),
    st.floats(0.001, 8),
    st.floats(0, 6),
    st.integers(1, 200),
    st.integers(1, 200),
)
def test_lives_add_up_to_no_less(size: int, epsilon: float, more: float, one: int, other: int) -> None:
    """A metric that is renewed keeps its permanent answers: both lives together must cover the whole."""
    encoder = Grr.from_epsilon(epsilon, permanent_epsilon=epsilon + more, categories=size).encoder
    apart = encoder.prices(one).life + encoder.prices(other).life
    assert encoder.prices(one + other).life <= apart * (1 + 1e-12)


@given(
    st.integers(2, 6),
    st.floats(0.001, 8),
    st.floats(0, 6),
    st.integers(1, 5),
)
def test_the_exact_life_never_exceeds_the_price(size: int, epsilon: float, more: float, windows: int) -> None:
    encoder = Grr.from_epsilon(epsilon, permanent_epsilon=epsilon + more, categories=size).encoder
    exact = exact_life(encoder, windows)
    assert encoder.prices(windows).report * (1 - 1e-9) <= exact <= encoder.prices(windows).life
    assert exact <= exact_life(encoder, windows + 1) * (1 + 1e-9)


def test_without_a_second_round_there_is_no_bound() -> None:
    for encoder in (
        Grr.from_epsilon(1, permanent_epsilon=1, categories=3).encoder,
        Grr.from_epsilon(1, permanent_epsilon=1, categories=2).encoder,
        OlhPool.from_epsilon(1, permanent_epsilon=1, categories=9, g=3).encoder,
    ):
        prices = encoder.prices(7)
        assert prices.change == prices.life == math.inf
        assert prices.report == prices.steady <= 1
        assert exact_life(encoder, 1) == pytest.approx(prices.report)
        assert exact_life(encoder, 2) == math.inf
        assert encoder.prices(0).life < 1e-300


def test_long_lives_have_the_closed_bound() -> None:
    encoder = Grr.from_epsilon(1, permanent_epsilon=2, categories=3).encoder
    assert shared_out.feasible(3, 30)
    assert exact_life(encoder, 30) < 0.98 * encoder.prices(30).life
    assert exact_life(encoder, 365) == encoder.prices(365).life


def test_many_answers_and_reports_are_not_gone_through() -> None:
    limits = {k: max(t for t in range(1, 100) if shared_out.feasible(k, t)) for k in (3, 5, 8)}
    assert limits == {3: 30, 5: 13, 8: 6}
    assert not shared_out.feasible(65_536, 1)


@pytest.mark.parametrize(("keep", "again", "memo"), [(SCALE // 3, 0, 0), (SCALE // 2, 1, 0), (SCALE // 2, 0, 1)])
def test_integers_that_do_not_fit_are_refused(keep: int, again: int, memo: int) -> None:
    with pytest.raises(ParameterError):
        GrrDevice(3, keep, again, memo)
