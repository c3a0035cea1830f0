"""Quantiles of a number from the estimated shares of its buckets, with intervals.

The estimated distribution function at an edge is the sum of the shares before it, after the shares have been made to
add up to 1 by giving each the same part of what is missing: linear, so unbiased where they are. It has the standard
error s(edge). With z the normal quantile of (1 + level) / 2, it holds at each edge by itself with chance (1 - level)
/ 2 that the truth is above the estimate + z s, and likewise that it is below the estimate - z s.

The lower end for the p-quantile: go through the edges from the left while the estimate + z s is below p; the last
edge gone through. The upper end: from the right, while the estimate - z s is above p.

Coverage. Let e be the first edge at which the true distribution function is p or more, so that the quantile is at e
or before, and after the edge d that comes before e. The lower end is wrong only if e was gone through, which takes
that the bound at e fails; the upper end only if d was, which takes that the bound at d fails. So the interval holds
the quantile with chance `level`, if two bounds hold with theirs: no matter how many buckets there are, and where in
its bucket the quantile lies. The ends are edges, so that the interval mostly holds with more.
"""

from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike

from hubbub.errors import ParameterError
from hubbub.postprocessing.arrays import Reals, finite, flat
from hubbub.postprocessing.order import isotonic


@dataclass(frozen=True, eq=False)
class Quantiles:
    """Quantiles, each array of the length of `probabilities`.

    Attributes:
        probabilities: Which ones.
        value: Where a tidied distribution function, straight within each bucket, comes to them; biased.
        low: Lower ends, edges of buckets.
        high: Upper ends.
    """

    probabilities: Reals
    value: Reals
    low: Reals
    high: Reals


def quantiles(
    shares: ArrayLike,
    edges: ArrayLike,
    probabilities: ArrayLike,
    *,
    covariance: ArrayLike | None = None,
    se: ArrayLike | None = None,
    level: float = 0.95,
    simultaneous: bool = False,
) -> Quantiles:
    """Quantiles of the population that the devices are a sample of.

    Each interval holds its quantile with chance `level` or more, as far as the estimates are normally distributed with
    the covariance given. The values in between are biased: the distribution function is made to grow, and taken as
    straight within a bucket, of which nothing is known.

    Args:
        shares: Unbiased estimates, (k,), as they come: neither clipped nor smoothed.
        edges: Of the buckets, increasing, (k + 1,).
        probabilities: Of the quantiles, each in (0, 1), (m,).
        covariance: Of the shares, (k, k).
        se: Their standard errors, (k,), instead: the intervals hold however the shares hang together, but are wide.
        level: In (0, 1).
        simultaneous: All intervals at once hold with that chance (Bonferroni over the m), instead of each by itself.

    Raises:
        ParameterError: Something is out of its range, or neither or both of covariance and se are given.
    """
    f = flat("shares", shares)
    k = f.size
    at = flat("edges", edges, k + 1)
    if not (np.diff(at) > 0).all():
        raise ParameterError("edges", at.tolist(), "increasing")
    p = flat("probabilities", probabilities)
    if not ((p > 0) & (p < 1)).all():
        raise ParameterError("probabilities", p.tolist(), "in (0, 1)")
    if not (isinstance(level, int | float) and 0 < level < 1):
        raise ParameterError("level", level, "a number in (0, 1)")
    tail = (1 - level) / 2 / (p.size if simultaneous else 1)
    below = np.cumsum(f + (1 - f.sum()) / k)[:-1]
    reach = -NormalDist().inv_cdf(tail) * _errors(k, covariance, se)
    # Leading edges whose upper bound is below p, and trailing ones whose lower bound is above it.
    start = np.logical_and.accumulate(below + reach < p[:, None], axis=1).sum(axis=1)
    end = np.logical_and.accumulate((below - reach > p[:, None])[:, ::-1], axis=1).sum(axis=1)
    grown = np.concatenate([[0], np.clip(isotonic(below), 0, 1), [1]]) if k > 1 else np.array([0.0, 1.0])
    return Quantiles(p, np.interp(p, grown, at), at[start], at[k - end])


def _errors(k: int, covariance: ArrayLike | None, se: ArrayLike | None) -> Reals:
    """(k - 1,) standard errors of the distribution function at the inner edges."""
    if (covariance is None) == (se is None):
        raise ParameterError("covariance", covariance, "given, or se in its place, and not both")
    before = (
        np.tri(k)[: k - 1] - np.arange(1, k)[:, None] / k
    )  # what each share adds, once they are made to add up to 1
    if se is not None:
        errors = flat("se", se, k)
        if not (errors >= 0).all():
            raise ParameterError("se", float(errors.min()), "numbers >= 0")
        return np.asarray(np.abs(before) @ errors)
    assert covariance is not None  # else refused above
    both = finite("covariance", covariance)
    if both.shape != (k, k):
        raise ParameterError("covariance.shape", both.shape, f"({k}, {k})")
    return np.asarray(np.sqrt(np.maximum(((before @ both) * before).sum(axis=1), 0)))
