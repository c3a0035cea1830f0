"""Integers from epsilon, for mechanisms of a bounded number: what holds for any loss and any grid."""

import math
from collections.abc import Iterator
from decimal import Context, Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from hubbub.encoders.levels import Window
from hubbub.mechanisms.base import MAX_EPSILON, MIN_EPSILON
from hubbub.mechanisms.discrete_laplace import DiscreteLaplace
from hubbub.mechanisms.hybrid import Hybrid
from hubbub.mechanisms.piecewise import Piecewise
from hubbub.mechanisms.stochastic_grr import StochasticGrr
from hubbub.testing.mechanisms.cases import worst_ratio

ALL: tuple[Any, ...] = (StochasticGrr, Piecewise, Hybrid, DiscreteLaplace)
DIGITS = Context(prec=40)


def log_uniform(rng: np.random.Generator, low: float, high: float) -> float:
    return min(high, max(low, math.exp(rng.uniform(math.log(low), math.log(high)))))


def domains(seed: int, count: int) -> Iterator[tuple[float, int]]:
    rng = np.random.default_rng(seed)
    for i in range(count):
        epsilon = (MIN_EPSILON, MAX_EPSILON)[i] if i < 2 else log_uniform(rng, MIN_EPSILON, MAX_EPSILON)
        yield epsilon, int(log_uniform(rng, 1, 5 if i % 4 == 0 else 2**32 - 1))


def spread(encoder: Any) -> float:
    """The k of the tolerance, as the mechanism's page has it."""
    if encoder.name == "discrete_laplace":
        return float(encoder.top + 1)
    windows: list[Window] = [encoder.window] if encoder.name != "hybrid" or encoder.share else []
    windows += [encoder.bit] if encoder.name == "hybrid" else []
    return max(window.outputs / window.width for window in windows)


def log(ratio: Fraction) -> Decimal:
    return DIGITS.divide(Decimal(ratio.numerator), Decimal(ratio.denominator)).ln(DIGITS)


def holds(cls: Any, count: int) -> None:
    brute = 0
    for epsilon, ticks in domains(20_261_221, count):
        mechanism = cls.from_epsilon(epsilon, upper=ticks)
        e = mechanism.encoder
        assert mechanism.epsilon <= epsilon, (epsilon, ticks)
        k = spread(e)
        near = 2 * (math.exp(epsilon) + k - 1) ** 2 / (math.exp(epsilon) * 2**32) + 1e-9
        assert mechanism.epsilon >= epsilon - near, (epsilon, ticks)
        if ticks <= 5 and math.prod(e.radices) <= 700:
            brute += 1
            worst = Fraction(1)
            for public in [(0,), (1,)][: 1 + (getattr(e, "share", 0) > 0)] if e.public else [()]:
                found = worst_ratio([e.law(value, public) for value in range(e.size)])
                assert found is not None
                worst = max(worst, found)
            assert 0 <= Decimal(mechanism.epsilon) - log(worst) <= Decimal("1e-10"), (epsilon, ticks)
    assert brute >= count // 5


@pytest.mark.parametrize("cls", ALL)
def test_losses_are_at_most_and_almost_what_was_asked(cls: Any) -> None:
    holds(cls, 400)


@pytest.mark.slow
@pytest.mark.parametrize("cls", ALL)
def test_losses_of_ten_thousand_domains(cls: Any) -> None:
    holds(cls, 10_000)
