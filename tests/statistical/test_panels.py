"""Devices that take turns: windows of different turns are different people, and intervals make use of it.

Steady devices are drawn with their permanent answers, exactly as the encoder makes them. Coverage is required to be
0.945 less four standard errors of the simulation (a false alarm of 3e-5 for a cell at 0.945), with a fixed seed; widths
are held against the exact standard error.
"""

import math
from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from benchmarks.windows import LEAST, LEVEL, Z
from hubbub.encoders.base import SCALE
from hubbub.estimates.combining import Combined, apart, combine
from hubbub.mechanisms.randomized_response import RandomizedResponse
from hubbub.summary import Summary

DRAWS, N, SHARE = 20_000, 150, 0.3
ENOUGH = LEAST - 4 * math.sqrt(LEAST * (1 - LEAST) / DRAWS)
MECHANISM = RandomizedResponse.from_epsilon(1.0, permanent_epsilon=2.0)
CROWD = MECHANISM.estimate(Summary(N, np.array(50))).crowd
LOW, FLIP = MECHANISM.encoder.low / SCALE, MECHANISM.encoder.flip / SCALE
KEPT = LOW + SHARE * (1 - 2 * LOW)  # true share of permanent ones
Reals = NDArray[np.float64]


def drawn(windows: Sequence[int], every: int, seed: int) -> Reals:
    """Estimated shares of permanent ones, shape (DRAWS, windows): a window's devices are those of its turn."""
    rng = np.random.default_rng(seed)
    kept = {}
    for turn in sorted({window % every for window in windows}):
        ones = rng.binomial(N, SHARE, DRAWS)
        kept[turn] = rng.binomial(ones, 1 - LOW) + rng.binomial(N - ones, LOW)
    sent = [rng.binomial(kept[w % every], 1 - FLIP) + rng.binomial(N - kept[w % every], FLIP) for w in windows]
    return (np.stack(sent, axis=1) / N - FLIP) / (1 - 2 * FLIP)


def mean(shares: Reals, windows: Sequence[int], every: int) -> Combined:
    turns = [window % every for window in windows]
    return combine(shares, [N] * len(windows), turns, noise=CROWD.noise, slope=CROWD.slope, level=LEVEL)


def exact(windows: Sequence[int], every: int) -> float:
    """Standard error of the mean over windows of steady devices."""
    sizes = [sum(w % every == turn for w in windows) for turn in {w % every for w in windows}]
    own, same = CROWD.noise / N, KEPT * (1 - KEPT) / N
    return math.sqrt(len(windows) * own + sum(size**2 for size in sizes) * same) / len(windows)


def test_constants_are_those_of_the_encoder() -> None:
    assert CROWD.noise == pytest.approx(FLIP * (1 - FLIP) / (1 - 2 * FLIP) ** 2)
    shares = drawn([0], 1, 1)[:, 0]
    assert shares.std() == pytest.approx(exact([0], 1), rel=0.02)  # four standard errors of the simulation


@pytest.mark.parametrize(
    ("windows", "every", "shared"),
    [
        (range(7), 7, False),
        (range(6), 6, False),  # a group of six that takes turns
        (range(28), 7, False),
        ((0, 7, 8), 7, False),  # two windows of one panel, one of another
        ((0, 7, 14), 7, True),  # three of the same: as without turns
    ],
)
def test_mean_over_panels(windows: Sequence[int], every: int, shared: bool) -> None:
    shares = drawn(windows, every, 20_261_201 + len(windows))
    found = mean(shares, windows, every)
    assert shares.mean(axis=1).std() == pytest.approx(exact(windows, every), rel=0.02)
    assert np.mean((found.low <= KEPT) & (found.high >= KEPT)) >= ENOUGH
    width = np.median(found.high - found.low)
    assert width <= 1.04 * 2 * Z * exact(windows, every)
    same = mean(shares, [0] * len(windows), every)  # were all taken for the same devices
    assert np.median(same.high - same.low) > width * (0.999 if shared else 1.1)
    if shared:
        assert np.allclose(found.high, same.high)


@pytest.mark.parametrize(
    ("first", "second", "common"),
    [
        ((0, 1, 2), (3, 4, 5), False),
        ((0, 7), (1, 8), False),
        (range(7), range(7, 14), True),
        ((0, 1), (7, 9), True),
    ],
)
def test_difference_of_two_periods(first: Sequence[int], second: Sequence[int], common: bool) -> None:
    both = (*first, *second)
    shares = drawn(both, 7, 20_261_301 + both[-1])
    a, b = mean(shares[:, : len(first)], first, 7), mean(shares[:, len(first) :], second, 7)
    low, high = apart((a.low, a.value, a.high), (b.low, b.value, b.high))
    covered = np.mean((low <= 0) & (high >= 0))
    assert covered >= ENOUGH
    se = math.hypot(exact(first, 7), exact(second, 7))  # exact where no device is in both, else more than need be
    assert np.median(high - low) <= 1.04 * 2 * Z * se
    observed = (a.value - b.value).std()
    if common:
        assert observed < 0.97 * se
    else:
        assert observed == pytest.approx(se, rel=0.02)
        assert covered <= 0.965  # no wider than it must be
