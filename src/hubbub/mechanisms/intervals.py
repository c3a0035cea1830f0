"""Intervals for the chance of a 1, from a count of ones: Clopper-Pearson where the count is rough, Wilson elsewhere.

`ones` of n reports, rate r = ones / n. With z the normal quantile of `level`, the ends are

    Wilson            the two roots t of |r - t| = z sqrt(t (1 - t) / n)
    Clopper-Pearson   the t at which so many ones or more, or so many or fewer, have chance (1 - level) / 2

Wilson's coverage is right on average and swings about `level` by phi(z) / s, where phi is the normal density and
s² = ones (n - ones) / n the estimated variance of the count: at small s it is several points short, at any n. So
Clopper-Pearson, which is never short, stands in while s² < 120: always below n = 480, and beyond it within about 120
of no ones or only ones. One threshold for every level keeps the intervals of two levels nested.

Least coverage over every chance in (0, 1), summed exactly: 0.8905, 0.9444, 0.9877 at level 0.90, 0.95, 0.99, for each
n from 1 to 5 000 and 150 more up to 50 000. Wilson from n = 100 on: 0.855, 0.926, 0.976 for chances in
[1/(e⁴+1), 1/2]. The ends grow with the count up to level 0.99999, and mirror when ones and zeros change places.

Sources: Wilson, JASA 22 (1927) 209-212; Clopper, Pearson, Biometrika 26 (1934) 404-413; the swings: Brown, Cai,
DasGupta, Statistical Science 16 (2001) 101-133. Alternatives and figures: docs/decisions/0002-intervals.md.
"""

from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hubbub.errors import ParameterError

Reals = NDArray[np.float64]

FEW = 200  # variance of a count below which the coverage of a score interval may fall by half a per cent and more
EXACT_BELOW = 120  # estimated variance of the count; at 100 the least coverage at level 0.90 falls below 0.89


def binomial(ones: ArrayLike, n: int, level: float) -> tuple[Reals, Reals, str]:
    """Lower and upper ends for the chance of a 1, shape of `ones`, and the name of the method.

    The name is "wilson", "clopper_pearson", or "clopper_pearson+wilson" if some counts took one and some the other.

    Raises:
        ParameterError: n < 1, a level outside (0, 1), or a count that is not a whole number in [0, n].
    """
    if not isinstance(n, int | np.integer) or n < 1:
        raise ParameterError("n", n, "a whole number >= 1")
    if not (isinstance(level, int | float) and 0 < level < 1):
        raise ParameterError("level", level, "a number in (0, 1)")
    counts = np.asarray(ones)
    if counts.dtype.kind not in "iu":
        raise ParameterError("ones", f"numbers of type {counts.dtype}", "whole numbers")
    if (bad := counts[(counts < 0) | (counts > n)]).size:
        raise ParameterError("ones", int(bad[0]), f"in [0, n] = [0, {n}]")
    flat, tail = counts.ravel().astype(float), (1 - level) / 2
    lower, upper = _lower(flat, n, tail), 1 - _lower(n - flat, n, tail)
    few = rough(flat, n)
    method = "+".join(name for name, used in (("clopper_pearson", few), ("wilson", ~few)) if used.any())
    return lower.reshape(counts.shape), upper.reshape(counts.shape), method


def rough(ones: ArrayLike, n: int) -> NDArray[np.bool_]:
    """Where a normal law would be too rough for `binomial`: counts whose estimated variance is below the threshold."""
    counts = np.asarray(ones, float)
    return np.asarray(counts * (n - counts) < EXACT_BELOW * n)


def sparse(value: ArrayLike, crowd: float) -> NDArray[np.bool_]:
    """Where a normal law would be too rough for `score`: few of 1 / crowd devices decide."""
    held = np.clip(np.asarray(value, float), 0, 1)
    return np.asarray(held * (1 - held) < FEW * crowd)


def _lower(ones: Reals, n: int, tail: float) -> Reals:
    """Lower ends, shape (k,); the upper ends are those of the zeros, from 1."""
    z = -NormalDist().inv_cdf(tail)
    rate, shrink = ones / n, z * z / n
    lower: Reals = (rate + shrink / 2 - np.sqrt(shrink * rate * (1 - rate) + shrink * shrink / 4)) / (1 + shrink)
    exact = rough(ones, n)
    if exact.any():
        from scipy.special import betaincinv

        few = ones[exact]
        lower[exact] = np.where(few > 0, betaincinv(np.maximum(few, 1), n - few + 1, tail), 0)
    return lower


def score(
    value: ArrayLike,
    noise: ArrayLike,
    slope: ArrayLike,
    crowd: float,
    level: float,
    *,
    seen: ArrayLike | None = None,
) -> tuple[Reals, Reals, str]:
    """Ends for a share k in [0, 1] whose estimate has the variance noise + slope k + crowd k (1 - k), and the method.

    The ends are those k that lie z standard errors, taken at that k, from the estimate: where all noise is that of a
    sample this is Wilson's. Where few of the sample decide (k (1 - k) < 200 crowd), each end is moved out to that of a
    Clopper-Pearson interval for 1 / crowd devices, widened by the noise, if that is further out. Outside [0, 1] the
    terms in k stay at their ends. Nothing is clipped.

    A noise that is itself an estimate falls and rises with the value, and bounds on it cut its errors on one side only.
    So with `seen` the noise at the estimate is at least that, and each end is moved out to that of a normal interval
    too, where not few decide.

    Args:
        value: Unbiased estimates of k.
        noise: Variance at k = 0, shape of `value` or one for all.
        slope: What k adds to it.
        crowd: One over the number of devices.
        level: In (0, 1).
        seen: Noise at the estimate as the reports alone show it, shape of `value`, where `noise` is not known.
    """
    k, n, s = np.broadcast_arrays(np.asarray(value, float), np.asarray(noise, float), np.asarray(slope, float))
    few = sparse(k, crowd)
    z, tail = NormalDist().inv_cdf(0.5 + level / 2), (1 - level) / 2
    held = np.clip(k, 0, 1)
    at, out = np.maximum(n + s * held, 0), few
    if seen is not None:
        at, out = np.maximum(at, seen), np.ones_like(few)
    high = _upper(k, n, s, at, crowd, z, few, out, tail)
    low = 1 - _upper(1 - k, n + s, -s, at, crowd, z, few, out, tail)
    method = "+".join(name for name, used in (("clopper_pearson", few), ("wilson", ~few)) if used.any())
    return low, high, method


def _upper(
    k: Reals,
    noise: Reals,
    slope: Reals,
    at: Reals,
    crowd: float,
    z: float,
    few: NDArray[np.bool_],
    out: NDArray[np.bool_],
    tail: float,
) -> Reals:
    """Upper end: the larger root of (t - k)² = z² (noise + slope t + crowd t (1 - t)), moved out where `out`.

    There it is at least what the crowd and the noise at the estimate, `at`, make of it.
    """
    square, linear = 1 + z * z * crowd, 2 * k + z * z * (slope + crowd)
    under = linear * linear - 4 * square * (k * k - z * z * noise)
    root = (linear + np.sqrt(np.maximum(under, 0))) / (2 * square)
    beyond = (k > 1) | ((under >= 0) & (root > 1))
    straight = k + z * np.sqrt(np.maximum(noise + slope * beyond, 0))
    upper: Reals = np.where((under >= 0) & (root >= 0) & ~beyond, root, straight)
    if out.any():
        held, devices = np.clip(k, 0, 1), 1 / crowd
        span = z * np.sqrt(crowd * held * (1 - held))
        if few.any():
            from scipy.special import betaincinv

            ones = held * devices
            exact = np.where(ones < devices, betaincinv(ones + 1, np.maximum(devices - ones, 1e-9), 1 - tail), 1.0)
            span = np.where(few, exact - held, span)
        upper = np.where(out, np.maximum(upper, k + np.sqrt(span**2 + z * z * at)), upper)
    return np.asarray(upper, float)
