"""Several windows of one metric as one: the mean of their estimates, with an interval that allows for what they share.

All figures here are shares among the answers behind the reports, permanent ones where there are any ("kept"), of which
every estimate is a linear function. One window of n reports whose truth is k has the variance

    (N + S k) / n  +  k (1 - k) / n,

with N = g (1 - g) / (1 - 2g)² and S = 0 where a report flips the permanent bit with chance g. The first term is drawn
afresh in every window. The second may be the same in all windows of the same devices; whatever they share, by
Minkowski's inequality the standard error of a sum is at most the sum of the standard errors, and by Jensen's that is
largest where all truths are alike. Devices of different turns are different people, so their windows share nothing.
With equal weights over D windows

    Var(mean) <= noise + crowd k (1 - k),    noise = sum((N + S k) / n) / D²,
                                             crowd = sum over turns of (sum(1/√n) over the turn's windows)² / D².

The interval holds every k that is within z standard errors of the mean, taken at that k: for a single window that is
Wilson's. Where few permanent answers decide (k (1 - k) < 200 crowd), each of its ends is moved out to that of a
Clopper-Pearson interval for 1 / crowd devices, widened by the noise, if that is further out. Why, and what the plain
formula would cover: docs/decisions/0004-several-windows.md.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hubbub.mechanisms.intervals import score

Reals = NDArray[np.float64]


@dataclass(frozen=True)
class Combined:
    """The mean of several windows, shape (...,).

    Attributes:
        value: Unbiased, never clipped.
        se: Standard error, at most.
        low: Lower end of the interval.
        high: Upper end.
        method: Of the interval, by the name of what it is for a single window.
        crowd: Most that what windows share adds to the variance of the mean, in units of its variance in one device.
    """

    value: Reals
    se: Reals
    low: Reals
    high: Reals
    method: str
    crowd: float


def combine(
    kept: ArrayLike, reports: ArrayLike, turns: ArrayLike, *, noise: float, slope: float = 0.0, level: float
) -> Combined:
    """The mean over the last axis, each window with the same weight.

    Args:
        kept: Estimated share of permanent ones in each window, shape (..., D).
        reports: Reports in each window, shape (D,), all above 0.
        turns: Which turn each window belongs to, shape (D,).
        noise: Variance that each report adds afresh at a share of 0, N.
        slope: What the share adds to it, S; it is taken at each window's own estimate.
        level: Chance with which the interval is to hold the truth.
    """
    n, members = np.asarray(reports, float), np.asarray(turns)
    shares = np.asarray(kept, float)
    value = shares.mean(axis=-1)
    fresh = ((noise + slope * np.clip(shares, 0, 1)) / n).sum(axis=-1) / n.size**2
    crowd = sum(float((n[members == turn] ** -0.5).sum()) ** 2 for turn in np.unique(members)) / n.size**2
    held = np.clip(value, 0, 1)
    low, high, method = score(value, fresh, 0.0, crowd, level)
    return Combined(value, np.sqrt(fresh + crowd * held * (1 - held)), low, high, method, crowd)


def apart(
    a: tuple[ArrayLike, ArrayLike, ArrayLike], b: tuple[ArrayLike, ArrayLike, ArrayLike], opposed: ArrayLike = 0.0
) -> tuple[Reals, Reals]:
    """Ends of an interval for the value of `a` less that of `b`, each given as (low, value, high).

    Either end is as far out as the two ends that pull that way, put together like errors (Newcombe 1998, method 10).

    Args:
        a: Its low end, value and high end.
        b: Likewise.
        opposed: z² times what the errors of both, where they are negatively correlated, add to the variance at most.
    """
    low_a, value_a, high_a = map(np.asarray, a)
    low_b, value_b, high_b = map(np.asarray, b)
    value = value_a - value_b
    down = (value_a - low_a) ** 2 + (high_b - value_b) ** 2 + opposed
    return value - np.sqrt(down), value + np.sqrt((high_a - value_a) ** 2 + (value_b - low_b) ** 2 + opposed)
