"""Several windows of one metric as one: the mean of their estimates, with an interval that allows for what they share.

All figures here are shares of ones among the permanent answers behind the reports ("kept"), of which every estimate is
a linear function. One window of n reports whose truth is k has the variance

    g (1 - g) / ((1 - 2g)² n)  +  k (1 - k) / n,

with g the chance that a report flips the permanent bit. The first term is drawn afresh in every window. The second may
be the same in all windows of the same devices; whatever they share, by Minkowski's inequality the standard error of a
sum is at most the sum of the standard errors, and by Jensen's that is largest where all truths are alike. Devices of
different turns are different people, so their windows share nothing. With equal weights over D windows

    Var(mean) <= noise + crowd k (1 - k),    noise = g (1 - g) / (1 - 2g)² · sum(1/n) / D²,
                                             crowd = sum over turns of (sum(1/√n) over the turn's windows)² / D².

The interval holds every k that is within z standard errors of the mean, taken at that k: for a single window that is
Wilson's. Where few permanent answers decide (k (1 - k) < 200 crowd), each of its ends is moved out to that of a
Clopper-Pearson interval for 1 / crowd devices, widened by the noise, if that is further out. Why, and what the plain
formula would cover: docs/decisions/0004-several-windows.md.
"""

from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Reals = NDArray[np.float64]

FEW = 200  # variance of a count below which Wilson's coverage may fall by half a per cent and more


@dataclass(frozen=True)
class Combined:
    """The mean of several windows, shape (...,).

    Attributes:
        value: Unbiased, never clipped.
        se: Standard error, at most.
        low: Lower end of the interval.
        high: Upper end.
        few: Where few permanent answers decide.
    """

    value: Reals
    se: Reals
    low: Reals
    high: Reals
    few: NDArray[np.bool_]


def combine(kept: ArrayLike, reports: ArrayLike, turns: ArrayLike, *, flip: float, level: float) -> Combined:
    """The mean over the last axis, each window with the same weight.

    Args:
        kept: Estimated share of permanent ones in each window, shape (..., D).
        reports: Reports in each window, shape (D,), all above 0.
        turns: Which turn each window belongs to, shape (D,).
        flip: Chance g that a report flips the permanent bit, below 1/2.
        level: Chance with which the interval is to hold the truth.
    """
    n, members = np.asarray(reports, float), np.asarray(turns)
    value = np.asarray(kept, float).mean(axis=-1)
    noise = flip * (1 - flip) / (1 - 2 * flip) ** 2 * float((1 / n).sum()) / n.size**2
    crowd = sum(float((n[members == turn] ** -0.5).sum()) ** 2 for turn in np.unique(members)) / n.size**2
    held = np.clip(value, 0, 1)
    spread = held * (1 - held)
    few = np.asarray(spread < FEW * crowd)
    z = NormalDist().inv_cdf(0.5 + level / 2)
    return Combined(
        value=value,
        se=np.sqrt(noise + crowd * spread),
        low=1 - _upper(1 - value, noise, crowd, z, few, (1 - level) / 2),
        high=_upper(value, noise, crowd, z, few, (1 - level) / 2),
        few=few,
    )


def _upper(value: Reals, noise: float, crowd: float, z: float, few: NDArray[np.bool_], tail: float) -> Reals:
    """Upper end; the lower one is that of the zeros, from 1."""
    # The larger root of (k - value)² = z² (noise + crowd k (1 - k)); outside [0, 1] nothing is left of the second term.
    width = z * z * crowd
    under = z * z * (4 * crowd * value * (1 - value) + width * crowd + 4 * noise * (1 + width))
    root = (2 * value + width + np.sqrt(np.maximum(under, 0))) / (2 * (1 + width))
    straight = value + z * np.sqrt(noise)
    upper: Any = np.where((under >= 0) & (root >= 0) & (root <= 1), root, straight)
    if few.any():
        from scipy.special import betaincinv

        held, devices = np.clip(value, 0, 1), 1 / crowd
        ones = held * devices
        exact = np.where(ones < devices, betaincinv(ones + 1, np.maximum(devices - ones, 1e-9), 1 - tail), 1.0)
        upper = np.where(few, np.maximum(upper, value + np.hypot(exact - held, z * np.sqrt(noise))), upper)
    return np.asarray(upper, float)


def apart(a: tuple[ArrayLike, ArrayLike, ArrayLike], b: tuple[ArrayLike, ArrayLike, ArrayLike]) -> tuple[Reals, Reals]:
    """Ends of an interval for the value of `a` less that of `b`, each given as (low, value, high).

    Either end is as far out as the two ends that pull that way, put together like errors (Newcombe 1998, method 10).
    """
    low_a, value_a, high_a = map(np.asarray, a)
    low_b, value_b, high_b = map(np.asarray, b)
    value = value_a - value_b
    return value - np.hypot(value_a - low_a, high_b - value_b), value + np.hypot(high_a - value_a, value_b - low_b)
