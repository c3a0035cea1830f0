"""What an estimate is: means per report with standard errors and intervals, for one number or for many categories.

Each is a line over what the mechanism counted. In the units of the crowd, kept = (value - zero) / scale in [0, 1], one
report of a crowd at k has the variance noise + slope k + k (1 - k): the first two are drawn afresh for each report, the
last is that devices are a sample.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from hubbub.errors import ParameterError
from hubbub.mechanisms.intervals import binomial, rough, score, sparse

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

Ints = NDArray[np.int64]
Reals = NDArray[np.float64]


@dataclass(frozen=True)
class Crowd:
    """How an estimate hangs on the answers behind the reports, permanent ones where there are any.

    Attributes:
        zero: Value at a share of 0 of those answers.
        scale: Value at a share of 1, less `zero`.
        noise: Variance of one report at a share of 0, in units of scale².
        slope: What the share adds to it.
        exact: Whether noise + slope k + k (1 - k) is the variance of a report, or only at least that.
        opposed: The covariance of a device's answers to two values, permanent ones, is at least less this, in units of
            scale². Most mechanisms give a value its own answer or the same one, and have 0.
    """

    zero: float
    scale: float
    noise: float
    slope: float = 0.0
    exact: bool = True
    opposed: float = 0.0


@dataclass(frozen=True, eq=False)
class Estimate:
    """Means per report (shares for categories), shape () or (k,): unbiased, never clipped.

    Attributes:
        value: Unbiased estimate, in the metric's unit.
        se: Standard error, devices taken as a sample.
        se_shared: What `se` would be at `permanent_epsilon`: the part that windows of one device share.
        n: Reports.
        crowd: What several windows together need to know of it.
        per_one: Most that one report in n can move n times the value.
        ones: Counts that are binomial, where the mechanism counts such: value = at_zero + (ones / n) * per_one.
        at_zero: Value at no ones.
        drift: Standard deviation of an error that does not fall with n, shape of `value`; most mechanisms have none.
        noise: That of `crowd`, shape of `value`, where it hangs on the shares of other categories and is taken from
            their estimates; None where it does not.
        slope: That of `crowd`, beside such a noise.
        labels: Names of the categories.
    """

    value: Reals
    se: Reals
    se_shared: Reals
    n: int
    crowd: Crowd
    per_one: float
    ones: Ints | None = None
    at_zero: float = 0.0
    drift: Reals = field(default_factory=lambda: np.zeros(()))
    noise: Reals | None = None
    slope: Reals = field(default_factory=lambda: np.zeros(()))
    labels: tuple[str, ...] = ()

    def interval(self, level: float = 0.95, *, simultaneous: bool = False) -> tuple[Reals, Reals]:
        """Lower and upper ends, in the metric's unit, that hold the truth with chance `level`; never clipped.

        Args:
            level: In (0, 1).
            simultaneous: All categories at once with that chance (Bonferroni), instead of each by itself.
        """
        low, high, _ = self._ends(level, simultaneous)
        return low, high

    def method(self, level: float = 0.95, *, simultaneous: bool = False) -> str:
        """Name of the method behind `interval`."""
        return self._ends(level, simultaneous)[2]

    def methods(self) -> list[str]:
        """Name of the method of each category's own interval, in their order."""
        if self.ones is not None:
            exact = rough(self.ones, self.n)
        elif self.noise is not None or self.crowd.exact:
            exact = sparse((self.value - self.crowd.zero) / self.crowd.scale, 1 / self.n)
        else:
            return ["normal"] * self.value.size
        return [("wilson", "clopper_pearson")[few] for few in np.atleast_1d(exact).tolist()]

    def pick(self, category: int) -> Self:
        """The estimate of one category, shape ()."""
        at = (category,)
        return replace(
            self,
            value=np.asarray(self.value[at]),
            se=np.asarray(self.se[at]),
            se_shared=np.asarray(self.se_shared[at]),
            ones=None if self.ones is None else np.asarray(self.ones[at]),
            drift=np.asarray(np.broadcast_to(self.drift, self.value.shape)[at]),
            noise=None if self.noise is None else np.asarray(self.noise[at]),
            slope=np.asarray(np.broadcast_to(self.slope, self.value.shape)[at]),
            labels=(),
        )

    def rows(self, level: float = 0.95, *, simultaneous: bool = False) -> list[dict[str, Any]]:
        """One row for each category, or one in all: category, value, se, ci_low, ci_high, n."""
        low, high = self.interval(level, simultaneous=simultaneous)
        names: Sequence[str | int | None] = self.labels or (range(self.value.size) if self.value.ndim else [None])
        columns = (np.atleast_1d(column).tolist() for column in (self.value, self.se, low, high))
        keys = ("category", "value", "se", "ci_low", "ci_high", "n")
        return [dict(zip(keys, (name, *row, self.n), strict=True)) for name, *row in zip(names, *columns, strict=True)]

    def to_pandas(self, level: float = 0.95) -> "pandas.DataFrame":
        """`rows` as a pandas frame."""
        import pandas

        return pandas.DataFrame(self.rows(level))

    def to_arrow(self, level: float = 0.95) -> "pyarrow.Table":
        """`rows` as an Arrow table."""
        import pyarrow

        return pyarrow.Table.from_pylist(self.rows(level))

    def to_polars(self, level: float = 0.95) -> "polars.DataFrame":
        """`rows` as a polars frame; polars has to be installed."""
        import polars

        return polars.DataFrame(self.rows(level))

    def __str__(self) -> str:
        """A line for each category: estimate and 95 % interval; the largest twenty where there are more."""
        found = self.rows()
        kept = sorted(found, key=lambda row: -row["value"])[:20] if len(found) > 20 else found
        lines = [f"{len(found)} estimates, {self.n} reports" if self.value.ndim else f"{self.n} reports"]
        for row in kept:
            name = "" if row["category"] is None else f"{row['category']}: "
            lines.append(f"{name}{row['value']:.4g} ({row['ci_low']:.4g} to {row['ci_high']:.4g})")
        if len(kept) < len(found):
            lines.append(f"and {len(found) - len(kept)} smaller ones")
        return "\n".join(lines)

    def _ends(self, level: float, simultaneous: bool) -> tuple[Reals, Reals, str]:
        level = self._each(level, simultaneous)
        z = NormalDist().inv_cdf(0.5 + level / 2)
        if self.ones is not None:
            ends = binomial(self.ones, self.n, level)
            low, high = (np.asarray(self.at_zero + end * self.per_one) for end in ends[:2])
            method = ends[2]
        elif self.noise is not None or self.crowd.exact:
            c = self.crowd
            kept = (self.value - c.zero) / c.scale
            if self.noise is None:
                ends = score(kept, c.noise / self.n, c.slope / self.n, 1 / self.n, level)
            else:
                held = np.clip(kept, 0, 1)
                seen = (self.se / c.scale) ** 2 - held * (1 - held) / self.n
                ends = score(kept, self.noise / self.n, self.slope / self.n, 1 / self.n, level, seen=seen)
            low, high = (np.asarray(c.zero + c.scale * end) for end in ends[:2])
            method = ends[2]
        else:
            low, high, method = self.value - z * self.se, self.value + z * self.se, "normal"
        if np.any(self.drift):
            low = self.value - np.hypot(self.value - low, z * self.drift)
            high = self.value + np.hypot(high - self.value, z * self.drift)
        return np.asarray(low), np.asarray(high), method

    def _each(self, level: float, simultaneous: bool) -> float:
        """Level of each interval by itself."""
        if not (isinstance(level, int | float) and 0 < level < 1):
            raise ParameterError("level", level, "a number in (0, 1)")
        return 1 - (1 - level) / max(1, self.value.size) if simultaneous else level
