"""Several windows of one metric as one: the mean of their estimates, with an interval that allows for what they share.

All figures here are shares among the answers behind the reports, permanent ones where there are any ("kept"), of which
every estimate is a linear function. One window of n reports whose truth is k has the variance

    (N + S k) / n  +  k (1 - k) / n,

with N = g (1 - g) / (1 - 2g)² and S = 0 where a report flips the permanent bit with chance g. The first term is drawn
afresh in every window. The second may be the same in all windows of the same devices; whatever they share, by
Minkowski's inequality the standard error of a sum is at most the sum of the standard errors. Devices of different turns
are different people, so their windows share nothing. With equal weights over D windows, by Cauchy's inequality over the
windows of a turn, and since k (1 - k) is concave,

    Var(mean) <= (N + S u) sum(1/n) / D²  +  crowd pull (1 - pull),    crowd = sum(lead) / D²,

lead of a window being 1/√n times the sum of 1/√n over the windows of its turn, u the mean of the truths with the
weights 1/n, pull that with the weights lead: few reports, much weight. Where all windows have as many, both are the
mean.

The interval holds every mean that is within z standard errors of the estimate, taken at that mean: for a single
window that is Wilson's. An error of the mean comes most from windows of few reports, so pull is further off than the
mean, as a rule by its lean, D sum(lead²) / sum(lead)² times as far, and u by D sum(lead / n) / (sum(lead) sum(1/n)).
Where few permanent answers decide (pull (1 - pull) < 200 lean² crowd), each end is moved out to that of a
Clopper-Pearson interval, widened by the noise, if that is further out. It may
be windows of many reports that are off, on which pull hangs little: so with windows of different size each end is at
least z standard errors out. Why, and what the plain formula would cover:
docs/decisions/0004-several-windows.md.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hubbub.mechanisms import Estimate
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
        slope: What the share adds to it, S.
        level: Chance with which the interval is to hold the truth.
    """
    n, members = np.asarray(reports, float), np.asarray(turns)
    shares, windows = np.asarray(kept, float), n.size
    each = (1 / n).sum() / windows**2
    lead = n**-0.5 * np.array([(n[members == turn] ** -0.5).sum() for turn in members])
    crowd = float(lead.sum()) / windows**2
    value = shares.mean(axis=-1)
    pull, small = ((shares * part).sum(axis=-1) / part.sum() for part in (lead, 1 / n))
    held, rare = np.clip(pull, 0, 1), np.clip(small, 0, 1)
    lean, far = (windows * (part * lead).sum() / (part.sum() * lead.sum()) for part in (lead, 1 / n))
    least = noise + min(slope, 0)
    at0, at1 = (each * np.maximum(noise + slope * (rare + far / lean * (end - held)), least) for end in (0, 1))
    ends = score(pull, lean**2 * at0, lean**2 * (at1 - at0), lean**2 * crowd, level)
    low, high = (value + (end - pull) / lean for end in ends[:2])
    se = np.sqrt(each * (noise + slope * rare) + crowd * held * (1 - held))
    if n.min() < n.max():
        reach = NormalDist().inv_cdf(0.5 + level / 2) * se
        low, high = np.minimum(low, value - reach), np.maximum(high, value + reach)
    return Combined(value, se, low, high, ends[2], crowd)


def mean_of(estimates: Sequence[Estimate], reports: ArrayLike, turns: ArrayLike, level: float) -> Combined:
    """`combine` of estimates of one number each, all of one encoding, in the metric's unit.

    Args:
        estimates: Of each window, shape () each.
        reports: See `combine`.
        turns: See `combine`.
        level: See `combine`.
    """
    crowd = estimates[0].crowd
    kept = [(float(estimate.value) - crowd.zero) / crowd.scale for estimate in estimates]
    found = combine(kept, reports, turns, noise=crowd.noise, slope=crowd.slope, level=level)
    value, low, high = (np.asarray(crowd.zero + crowd.scale * end) for end in (found.value, found.low, found.high))
    return replace(found, value=value, se=np.asarray(crowd.scale * found.se), low=low, high=high)


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


def over(
    a: tuple[ArrayLike, ArrayLike, ArrayLike], b: tuple[ArrayLike, ArrayLike, ArrayLike], *, opposed: bool = False
) -> tuple[Reals, Reals]:
    """Ends of an interval for the value of `a` divided by that of `b`, each given as (low, value, high).

    At an end t, value_a - t value_b is as far from 0 as the two ends that pull that way, put together like errors: with
    symmetric intervals it is Fieller's (Donner and Zou 2012). Infinite where `b` is not known to be above 0.

    Args:
        a: Its low end, value and high end.
        b: Likewise.
        opposed: The errors of value_a and t value_b may be correlated in whatever way: they are added.
    """
    low_a, value_a, high_a = (np.asarray(end, float) for end in a)
    low_b, value_b, high_b = (np.asarray(end, float) for end in b)
    with np.errstate(divide="ignore", invalid="ignore"):
        if opposed:
            low = low_a / np.where(low_a > 0, high_b, low_b)
            high = high_a / np.where(high_a > 0, low_b, high_b)
        else:
            below, above = value_b - low_b, high_b - value_b
            low = _quotient(value_a, value_a - low_a, value_b, below, above)
            high = -_quotient(-value_a, high_a - value_a, value_b, below, above)
    return np.where(low_b > 0, low, -np.inf), np.where(low_b > 0, high, np.inf)


def _quotient(m: Reals, down: Reals, s: Reals, below: Reals, above: Reals) -> Reals:
    """The least t with m - t s <= √(down² + t² d²), where d is `above` if that t is positive and `below` if it is not.

    For s > below: then there is one, whichever sign it has.
    """
    d = np.where(m > down, above, below)
    half, square, rest = m * s, (s - d) * (s + d), (m - down) * (m + down)
    root = np.sqrt(np.maximum(s * s * down * down + d * d * rest, 0))
    # Of the two ways to write it, the one without cancellation, which is also right where square <= 0.
    return np.asarray(np.where(half > 0, rest / (half + root), (half - root) / square))
