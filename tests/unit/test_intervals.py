"""Intervals for a count of ones: exact coverage (sums of the binomial, no random numbers), order, edges, refusals."""

import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.stats import binom, binomtest

from hubbub.errors import ParameterError
from hubbub.mechanisms.intervals import binomial

LEVELS = (0.90, 0.95, 0.99)
SIZES = (1, 2, 5, 10, 30, 31, 50, 99, 100, 101, 132, 250, 479, 480, 506, 700, 1_000, 1_855, 5_475, 11_091, 50_000)


def least_coverage(n: int, level: float) -> float:
    """Infimum over every chance in (0, 1): it is approached just above an upper end or just below a lower one."""
    lower, upper, _ = binomial(np.arange(n + 1), n, level)
    chance = np.concatenate([upper[:-1], lower[1:]])
    first = np.concatenate([np.arange(1, n + 1), np.searchsorted(upper, lower[1:])])
    last = np.concatenate([np.searchsorted(lower, upper[:-1], "right") - 1, np.arange(n)])
    return float((binom.cdf(last, n, chance) - binom.cdf(first - 1, n, chance)).min())


def coverage(n: int, chance: float, level: float) -> float:
    lower, upper, _ = binomial(np.arange(n + 1), n, level)
    held = (lower <= chance) & (chance <= upper)
    return float(binom.pmf(np.arange(n + 1), n, chance)[held].sum())


@pytest.mark.parametrize("level", LEVELS)
def test_coverage_is_never_a_point_short(level: float) -> None:
    assert min(least_coverage(n, level) for n in SIZES) >= level - 0.01


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("epsilon", [0.25, 0.5, 1.0, 2.0, 4.0])
def test_coverage_is_the_level_on_average_over_n(level: float, epsilon: float) -> None:
    q = 1 / (math.exp(epsilon) + 1)
    sizes = np.unique(np.geomspace(30, 50_000, 20).astype(int)).tolist()
    for share in (0, 0.001, 0.1, 0.3, 0.5):
        mean = np.mean([coverage(n, q + share * (1 - 2 * q), level) for n in sizes])
        assert mean >= level, (epsilon, share)


@pytest.mark.parametrize("level", [0.5, *LEVELS, 0.999, 0.99999])
@pytest.mark.parametrize("n", SIZES)
def test_ends_grow_with_the_count_hold_it_and_mirror(n: int, level: float) -> None:
    ones = np.arange(n + 1)
    lower, upper, _ = binomial(ones, n, level)
    assert (np.diff(lower) > 0).all()
    assert (np.diff(upper) > 0).all()
    assert ((lower <= ones / n) & (ones / n <= upper)).all()
    mirrored = binomial(n - ones, n, level)
    np.testing.assert_allclose(lower, 1 - mirrored[1], rtol=0, atol=1e-15)
    np.testing.assert_allclose(upper, 1 - mirrored[0], rtol=0, atol=1e-15)


@given(st.integers(1, 5_000), st.data())
def test_a_higher_level_holds_a_lower_one(n: int, data: st.DataObject) -> None:
    ones = data.draw(st.integers(0, n))
    narrow, wide = sorted(data.draw(st.lists(st.floats(0.01, 0.999999), min_size=2, max_size=2)))
    inner, outer = binomial(ones, n, narrow), binomial(ones, n, wide)
    assert outer[0] <= inner[0] + 1e-12
    assert inner[1] <= outer[1] + 1e-12


@pytest.mark.parametrize("n", [1, 30, 479, 10_000])
def test_no_ones_and_only_ones_end_at_the_edge(n: int) -> None:
    lower, upper, method = binomial([0, n], n, 0.95)
    assert lower[0] == 0
    assert upper[1] == 1
    assert upper[0] == pytest.approx(1 - 0.025 ** (1 / n), rel=1e-9)
    assert lower[1] == pytest.approx(0.025 ** (1 / n), rel=1e-9)
    assert method == "clopper_pearson"


@pytest.mark.parametrize(
    ("ones", "n", "method"),
    [
        (50, 99, "clopper_pearson"),
        (239, 479, "clopper_pearson"),
        (240, 480, "wilson"),
        (239, 480, "clopper_pearson"),
        (4_200, 10_000, "wilson"),
        (121, 10_000, "clopper_pearson"),
        (122, 10_000, "wilson"),
        (9_878, 10_000, "wilson"),
        (9_879, 10_000, "clopper_pearson"),
    ],
)
def test_method_follows_the_variance_of_the_count(ones: int, n: int, method: str) -> None:
    lower, upper, name = binomial(ones, n, 0.95)
    assert name == method
    reference = binomtest(ones, n).proportion_ci(0.95, "exact" if name == "clopper_pearson" else "wilson")
    assert lower == pytest.approx(reference.low, rel=1e-9)
    assert upper == pytest.approx(reference.high, rel=1e-9)


def test_wilson_of_a_one_bit_mean() -> None:
    """Row T061 of the test values."""
    q = 1 / (math.e + 1)
    lower, _, method = binomial(4_200, 10_000, 0.95)
    assert 1_440 * (float(lower) - q) / (1 - 2 * q) == pytest.approx(440.6701890310, rel=1e-10)
    assert method == "wilson"


@pytest.mark.parametrize("ones", [3, np.array(3), np.array([3, 0]), np.array([[3, 0], [700, 1_000]])])
def test_shape_is_that_of_the_counts(ones: int | NDArray[np.int64]) -> None:
    lower, upper, _ = binomial(ones, 1_000, 0.9)
    assert isinstance(lower, np.ndarray)
    assert lower.shape == upper.shape == np.shape(ones)


def test_counts_of_both_sorts_name_both_methods() -> None:
    lower, upper, method = binomial(np.array([3, 500]), 1_000, 0.9)
    assert method == "clopper_pearson+wilson"
    for k, ones in enumerate((3, 500)):
        alone = binomial(ones, 1_000, 0.9)
        assert (lower[k], upper[k]) == (alone[0], alone[1])


@pytest.mark.parametrize(
    ("ones", "n", "level", "message"),
    [
        (0, 0, 0.95, r"^n must be a whole number >= 1; got 0$"),
        (0, -1, 0.95, r"^n must be .*; got -1$"),
        (1, 2.5, 0.95, r"^n must be .*; got 2\.5$"),
        (1, 3, 0.0, r"^level must be a number in \(0, 1\); got 0\.0$"),
        (1, 3, 1.0, r"^level must be .*; got 1\.0$"),
        (1, 3, 95, r"^level must be .*; got 95$"),
        (1, 3, math.nan, r"^level must be .*; got nan$"),
        (-1, 3, 0.95, r"^ones must be in \[0, n\] = \[0, 3\]; got -1$"),
        ([1, 4], 3, 0.95, r"^ones must be in \[0, n\] = \[0, 3\]; got 4$"),
        ([1.5], 3, 0.95, r"^ones must be whole numbers; got 'numbers of type float64'$"),
        ([math.nan], 3, 0.95, r"^ones must be whole numbers; "),
    ],
)
def test_bad_arguments_are_refused(ones: int | Sequence[float], n: int, level: float, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        binomial(ones, n, level)
