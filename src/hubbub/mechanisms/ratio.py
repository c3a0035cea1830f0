"""A mean among those who have something to report: the ratio of two estimates, with Fieller's interval.

Each device sends two reports: a number, which is 0 where it has nothing to report, and whether it has. With m the mean
of the numbers and s the share of those who have one, theta = m / s is the mean among them. m - theta s is normal about
0 at the true theta, so those theta belong to the interval at which it is within z of its standard errors:

    (m - theta s)² <= z² (Var m - 2 theta Cov + theta² Var s)

If s is more than z standard errors from 0 that is an interval. Otherwise the data cannot tell s from 0, and what is
left is everything but an open interval, or everything; it is given as such.

Cov: the noise of the two reports is independent, and a number X and an indicator A with X A = X have the covariance
E X - E X E A = E X (1 - E A). Over n devices that send both, Cov = m (1 - s) / n.

Source: Fieller, JRSS B 16 (1954) 175-185.
"""

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from hubbub.errors import ParameterError
from hubbub.mechanisms.estimate import Estimate, Reals

Form = Literal["interval", "complement", "everything"]


@dataclass(frozen=True)
class Ratio:
    """A ratio of two estimates.

    Attributes:
        value: The quotient; nan where the denominator is 0. Unlike its parts it is biased, by about 1/n.
        numerator: Estimate above.
        denominator: Estimate below.
        variances: Of the two.
        covariance: Of the two.
        n: Reports behind the smaller of them.
    """

    value: float
    numerator: float
    denominator: float
    variances: tuple[float, float]
    covariance: float
    n: int

    def form(self, level: float = 0.95) -> Form:
        """What `interval` gives: an interval, everything outside of it, or everything."""
        return _FORMS[int(self._fieller(level)[2])]

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """Ends of the set that holds the ratio with chance `level`: low <= ratio <= high if it is an interval.

        If `form` is "complement" the ratio is <= low or >= high; if it is "everything" the ends are infinite.

        Args:
            level: In (0, 1).
        """
        low, high, _ = self._fieller(level)
        return float(low), float(high)

    def holds(self, ratio: float, level: float = 0.95) -> bool:
        """Whether the set of `interval` holds this ratio."""
        low, high = self.interval(level)
        inside = low <= ratio <= high
        return inside if self.form(level) != "complement" else ratio <= low or ratio >= high

    def _fieller(self, level: float) -> tuple[Reals, Reals, Reals]:
        if not (isinstance(level, int | float) and 0 < level < 1):
            raise ParameterError("level", level, "a number in (0, 1)")
        return fieller(self.numerator, self.denominator, *self.variances, self.covariance, level)


def mean_active(mean: Estimate, share: Estimate, *, both: int | None = None) -> Ratio:
    """Mean among those who have something to report.

    Args:
        mean: Of the numbers, over all devices; those with nothing to report send 0.
        share: Of the devices that have something to report.
        both: Devices behind both estimates; may be left out where the two have equally many reports, which are then
            taken to be of the same devices.

    Raises:
        ParameterError: Estimates of several numbers each, or unequal numbers of reports of which none is said to be
            behind both.
    """
    for name, estimate in (("mean", mean), ("share", share)):
        if estimate.value.shape:
            raise ParameterError(f"{name}.value.shape", estimate.value.shape, "(), one number")
    if both is None and mean.n != share.n:
        raise ParameterError("both", both, f"the devices behind both estimates, of {mean.n} and {share.n} reports")
    common = mean.n if both is None else both
    least = min(mean.n, share.n)
    if not isinstance(common, int | np.integer) or isinstance(common, bool) or not 0 <= common <= least:
        raise ParameterError("both", both, f"an integer in [0, {least}]")
    m, s = float(mean.value), float(share.value)
    return Ratio(
        value=m / s if s else math.nan,
        numerator=m,
        denominator=s,
        variances=(float(mean.se) ** 2, float(share.se) ** 2),
        covariance=covariance(m, s, mean.n, share.n, common),
        n=least,
    )


def covariance(mean: float, share: float, means: int, shares: int, both: int) -> float:
    """Of a mean of numbers and a share of those who have one, over so many reports each, and devices behind both.

    Estimates outside their range stand for its ends: a share above 1 must not turn the sign.
    """
    return mean * (1 - min(max(share, 0), 1)) * both / (means * shares)


def fieller(
    m: ArrayLike, s: ArrayLike, var_m: ArrayLike, var_s: ArrayLike, cov: ArrayLike, level: float
) -> tuple[Reals, Reals, Reals]:
    """(...,) lower and upper ends, and the form: 0 an interval, 1 everything outside of one, 2 everything."""
    m, s, var_m, var_s, cov = (np.asarray(x, float) for x in (m, s, var_m, var_s, cov))
    zz = NormalDist().inv_cdf(0.5 + level / 2) ** 2
    square, half, rest = s * s - zz * var_s, m * s - zz * cov, m * m - zz * var_m
    under = half * half - square * rest
    form = np.where(square > 0, 0, np.where((under > 0) & (square < 0), 1, 2))
    with np.errstate(divide="ignore", invalid="ignore"):
        # The larger root in magnitude first: the other one by their product, without cancellation.
        far = half + np.copysign(np.sqrt(np.maximum(under, 0)), half)
        ends = np.sort([far / square, np.where(far == 0, 0, rest / far)], axis=0)
    low, high = (np.where(form == 2, end, found) for end, found in zip((-np.inf, np.inf), ends, strict=True))
    return low, high, form


_FORMS: tuple[Form, ...] = ("interval", "complement", "everything")
