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
    rough = _rough(flat, n)
    method = "+".join(name for name, used in (("clopper_pearson", rough), ("wilson", ~rough)) if used.any())
    return lower.reshape(counts.shape), upper.reshape(counts.shape), method


def _rough(ones: Reals, n: int) -> NDArray[np.bool_]:
    """Where a normal law would be too rough: counts whose estimated variance is below the threshold."""
    return ones * (n - ones) < EXACT_BELOW * n


def _lower(ones: Reals, n: int, tail: float) -> Reals:
    """Lower ends, shape (k,); the upper ends are those of the zeros, from 1."""
    z = -NormalDist().inv_cdf(tail)
    rate, shrink = ones / n, z * z / n
    lower: Reals = (rate + shrink / 2 - np.sqrt(shrink * rate * (1 - rate) + shrink * shrink / 4)) / (1 + shrink)
    rough = _rough(ones, n)
    if rough.any():
        from scipy.special import betaincinv

        few = ones[rough]
        lower[rough] = np.where(few > 0, betaincinv(np.maximum(few, 1), n - few + 1, tail), 0)
    return lower
