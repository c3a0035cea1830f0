"""Integers from epsilon: what holds for any loss and any grid, over ten thousand of them."""

import math
from collections.abc import Iterator
from decimal import Context, Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from hubbub.encoders.base import SCALE
from hubbub.encoders.one_bit_mean import MAX_ENTRIES
from hubbub.mechanisms.base import MAX_EPSILON, MIN_EPSILON, threshold
from hubbub.mechanisms.one_bit_mean import OneBitMean
from hubbub.mechanisms.randomized_response import RandomizedResponse

SETS = 10_000
DIGITS = Context(prec=40)


def log_uniform(rng: np.random.Generator, low: float, high: float) -> float:
    return min(high, max(low, math.exp(rng.uniform(math.log(low), math.log(high)))))


def parameter_sets(seed: int, count: int) -> Iterator[dict[str, Any]]:
    rng = np.random.default_rng(seed)
    for i in range(count):
        epsilon = (MIN_EPSILON, MAX_EPSILON)[i] if i < 2 else log_uniform(rng, MIN_EPSILON, MAX_EPSILON)
        permanent = [None, epsilon, min(MAX_EPSILON, epsilon * (1 + 1e-9)), log_uniform(rng, epsilon, MAX_EPSILON)][
            i % 4
        ]
        entries = MAX_ENTRIES if i % 50 == 0 else int(log_uniform(rng, 1, MAX_ENTRIES))
        bucket = int(log_uniform(rng, 1, 1000))
        ticks = entries * bucket - int(rng.integers(bucket))
        domain = {"epsilon": epsilon, "permanent_epsilon": permanent, "upper": ticks}
        yield domain if permanent is None else {**domain, "bucket": min(bucket, ticks)}


def loss(p: Fraction, q: Fraction) -> Decimal:
    """Exact log ratio of two coins, the worse of the two sides."""
    worst = max(p / q, q / p, (1 - p) / (1 - q), (1 - q) / (1 - p))
    return DIGITS.divide(Decimal(worst.numerator), Decimal(worst.denominator)).ln(DIGITS)


def test_losses_are_at_most_what_was_asked() -> None:
    memos = 0
    for asked in parameter_sets(1, SETS):
        e = OneBitMean.from_epsilon(**asked).encoder
        prices = e.prices(1)
        assert 2 * e.low + e.top * e.rise == SCALE, asked
        assert loss(e.law(0)[1,], e.law(e.ticks)[1,]) <= Decimal(prices.report) <= Decimal(asked["epsilon"]), asked
        permanent = asked["permanent_epsilon"]
        if permanent is None:
            assert (e.memo, e.flip, e.bucket) == (0, 0, e.ticks), asked
            continue
        memos += 1
        ends = Fraction(e.low, SCALE), Fraction(e.low, SCALE) + Fraction(e.ticks * e.rise, e.bucket * SCALE)
        assert loss(*ends) <= Decimal(prices.steady) <= Decimal(permanent), asked
        assert 0 <= e.flip < SCALE // 2, asked
        assert (e.flip == 0) == (permanent == asked["epsilon"]), asked
        assert prices.change >= prices.report, asked
    assert 0.7 * SETS < memos < 0.8 * SETS


def test_losses_of_a_yes_or_no_are_at_most_what_was_asked() -> None:
    for asked in parameter_sets(2, SETS):
        epsilon, permanent = asked["epsilon"], asked["permanent_epsilon"]
        e = RandomizedResponse.from_epsilon(epsilon, permanent_epsilon=permanent).encoder
        prices = e.prices(1)
        assert loss(e.law(0)[1,], e.law(1)[1,]) <= Decimal(prices.report) <= Decimal(epsilon), asked
        if permanent is not None:
            low = Fraction(e.low, SCALE)
            assert loss(low, 1 - low) <= Decimal(prices.steady) <= Decimal(permanent), asked
            assert 0 <= e.flip < SCALE // 2, asked


def test_thresholds_cost_little_accuracy() -> None:
    """Worst variance beside that of real numbers: off by at most (4 K + 16) / (2³² tanh(ε/2)), here below 0.8 %."""
    worst = 0.0
    for asked in parameter_sets(3, 3000):
        mechanism = OneBitMean.from_epsilon(**asked)
        e, line = mechanism.encoder, mechanism.line
        ideal = math.tanh(asked["epsilon"] / 2)
        off = (ideal / (line.p - line.q)) ** 2 - 1
        assert -1e-9 <= off <= 1.01 * (4 * e.top + 16) / (SCALE * ideal), asked
        middle = float(mechanism.variance(line.lower + line.span / 2, 1))
        assert middle == pytest.approx(line.span**2 / (4 * ideal**2) * (1 + off), rel=1e-9), asked
        worst = max(worst, off)
    assert worst < 0.008


def test_two_steps_up_are_needed_and_enough() -> None:
    """A threshold rounded up once can exceed what was asked; two steps up never did, and cost a few parts of 2³²."""
    once = 0
    for i in range(1, 2001):
        epsilon = math.log(SCALE / (i * 1_000_003) - 1)
        exact = DIGITS.exp(Decimal(epsilon))
        needed = math.ceil(SCALE / (exact + 1))
        once += math.ceil(SCALE / (math.exp(epsilon) + 1)) < needed
        assert needed <= threshold(epsilon) <= needed + 2
    assert once > 0
