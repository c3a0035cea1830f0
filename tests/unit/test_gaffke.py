"""Gaffke's bound: against other laws where these are known, and its shape."""

from itertools import pairwise

import numpy as np
import pytest
from scipy.special import betainc

from hubbub.mechanisms.estimate import Ints
from hubbub.mechanisms.gaffke import gaffke
from hubbub.mechanisms.piecewise_vector import PiecewiseVector
from hubbub.summary import Summary

WEIGHTS = np.array([-1.5, 0.0, 0.25, 4.0])
COUNTS = np.array([[5, 10, 2, 1], [0, 30, 0, 0], [1, 0, 0, 0], [400, 3_000, 12, 50], [0, 0, 0, 9]])


@pytest.mark.parametrize("level", [0.9, 0.95, 0.99])
@pytest.mark.parametrize("n", [1, 2, 5, 30, 1_000, 10**9])
def test_two_weights_have_the_ends_of_clopper_and_pearson(n: int, level: float) -> None:
    """The chance of so few ones, at the upper end, is (1 - level) / 2: 7 % of that less at most, 0.1 % more."""
    ones = np.unique(np.linspace(0, n - 1, 12).astype(np.int64))
    low, high = gaffke(np.array([0.0, 1.0]), np.column_stack([n - ones, ones]), level)
    chance = betainc(n - ones, ones + 1, 1 - high) / ((1 - level) / 2)
    assert chance.min() > 0.93
    assert chance.max() < 1.001
    mirrored, _ = gaffke(np.array([0.0, 1.0]), np.column_stack([ones, n - ones]), level)
    assert mirrored == pytest.approx(1 - high, rel=1e-6, abs=1e-15)
    assert low[0] == 0


@pytest.mark.parametrize("level", [0.5, 0.95])
def test_ends_are_quantiles_of_dirichlet_means(level: float) -> None:
    """Of 200 000 draws, a share of which the standard error is 1.2e-3 at most; 5 % of the tail for the formula."""
    rng, tail = np.random.default_rng(20_261_130), (1 - level) / 2
    low, high = gaffke(WEIGHTS, COUNTS, level)
    for row, counts in enumerate(COUNTS):
        for end, place, sign in ((low, 0, -1), (high, 3, 1)):
            a = counts + (np.arange(4) == place)
            if (a > 0).sum() == 1:
                assert end[row] == WEIGHTS[place]
                continue
            means = rng.gamma(a, size=(200_000, 4))
            beyond = float((sign * (means @ (WEIGHTS - end[row])) > 0).mean())
            assert beyond == pytest.approx(tail, abs=4.5 * 1.2e-3 * (tail / 0.25) ** 0.5 + 0.07 * tail)


def test_many_reports_have_the_normal_ends() -> None:
    for n in (10**6, 10**12, 10**15):
        counts = np.array([[n // 2, n // 4, n // 8, n - n // 2 - n // 4 - n // 8]])
        mean = float(counts[0] @ WEIGHTS / n)
        spread = float(np.sqrt(counts[0] @ (WEIGHTS - mean) ** 2 / n / n))
        low, high = (float(end[0]) for end in gaffke(WEIGHTS, counts, 0.95))
        assert (high - low) / (2 * 1.959963984540054 * spread) == pytest.approx(1, abs=2e-3)
        assert ((high + low) / 2 - mean) / spread == pytest.approx(0, abs=5e-3)


def test_intervals_nest_and_grow_with_the_counts() -> None:
    levels = (1e-6, 0.05, 0.5, 0.9, 0.95, 0.99, 1 - 1e-9)
    found = [gaffke(WEIGHTS, COUNTS, level) for level in levels]
    for (low, high), (lower, higher) in pairwise(found):
        assert (lower <= low + 1e-9).all()
        assert (higher >= high - 1e-9).all()
    rising: Ints = np.column_stack([np.full(31, 3), 30 - np.arange(31), np.zeros(31, np.int64), np.arange(31)])
    for end in gaffke(WEIGHTS, rising, 0.95):
        assert (np.diff(end) > 0).all()


def test_a_coordinate_by_itself_keeps_its_interval() -> None:
    mechanism = PiecewiseVector.from_epsilon(1, dimension=3, ticks=1)
    counts = np.array([[30, 20], [5, 25], [10, 10]])
    assert mechanism.counts_shape == counts.shape
    every = mechanism.estimate(Summary(100, counts))
    low, high = every.interval()
    for place in range(3):
        alone = np.array(every.pick(place).interval())
        assert alone == pytest.approx(np.array([low[place], high[place]]), rel=1e-9)
        assert every.pick(place).methods() == ["gaffke"]
