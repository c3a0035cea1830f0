"""Several windows together: their mean, and the difference of two such means.

Windows are not a bigger sample: a device repeats its permanent answers, and its own value hardly changes. Each row's
error is therefore split in two. What the noise of the single report adds, se² - se_shared², is drawn afresh in each
window and averages out. What is left, se_shared, may be the same in all of them; by Minkowski's inequality the standard
error of a sum is at most the sum of the standard errors, whatever they share. With equal weights over D windows

    SE(mean) <= sqrt(sum(se² - se_shared²) + (sum se_shared)²) / D

The difference of two periods of one metric has SE <= sqrt(se_A² + se_B²) where the permanent noise of two windows is
never negatively correlated. That holds for both mechanisms here. A device that reports v in one window, v' in another
does so by the same permanent bit, whose variance is positive, or by two independent ones; and with one alpha for both,
the entries floor((v + alpha) / bucket) and floor((v' + alpha) / bucket) rise together with alpha, and with them the
chances of a 1.
"""

import math
from collections.abc import Sequence
from statistics import NormalDist

import msgspec

from hubbub.errors import ParameterError
from hubbub.estimates.rows import Row


class Period(msgspec.Struct, frozen=True):
    """The mean of a metric over several windows, each with the same weight.

    Attributes:
        n: Reports in all windows together; fewer devices sent them.
        value: Unbiased mean, in the metric's unit.
        se: Standard error, at most.
        ci_low: Lower end of an interval that holds the truth with chance `level`, at least.
        ci_high: Upper end.
    """

    metric: str
    hash: str
    segment: str
    category: str | None
    windows: int
    n: int
    value: float
    se: float
    ci_low: float
    ci_high: float
    level: float


class Difference(msgspec.Struct, frozen=True):
    """What one period's mean is above another's."""

    metric: str
    hash: str
    category: str | None
    value: float
    se: float
    ci_low: float
    ci_high: float
    level: float


def mean_of(rows: Sequence[Row]) -> Period:
    """The mean over the windows of these rows.

    Raises:
        ParameterError: No rows, one without a value, one window twice, or rows of different metrics, encodings,
            segments, categories or levels.
    """
    if not rows:
        raise ParameterError("rows", "none", "at least one row")
    first = rows[0]
    for field in ("metric", "hash", "segment", "category", "level"):
        _alike(f"rows.{field}", [getattr(row, field) for row in rows])
    starts = [row.window_start for row in rows]
    if len(set(starts)) < len(starts):
        raise ParameterError("rows", next(s for s in starts if starts.count(s) > 1), "rows of different windows")
    values, own, shared = [], 0.0, 0.0
    for row in rows:
        if row.value is None or row.se is None or row.se_shared is None:
            raise ParameterError("rows", f"{row.window_start}, {row.state}", "rows that have a value")
        spread = _spread(row, row.se)
        values.append(row.value)
        own += max(0.0, spread**2 - row.se_shared**2)
        shared += row.se_shared
    value, se = math.fsum(values) / len(rows), math.sqrt(own + shared**2) / len(rows)
    reach = _quantile(first.level) * se
    return Period(
        metric=first.metric,
        hash=first.hash,
        segment=first.segment,
        category=first.category,
        windows=len(rows),
        n=sum(row.n for row in rows),
        value=value,
        se=se,
        ci_low=value - reach,
        ci_high=value + reach,
        level=first.level,
    )


def difference(a: Period, b: Period) -> Difference:
    """What `a` is above `b`: two periods, or two segments, of one metric.

    Raises:
        ParameterError: They are of different metrics, encodings, categories or levels.
    """
    for field in ("metric", "hash", "category", "level"):
        _alike(f"periods.{field}", [getattr(a, field), getattr(b, field)])
    value, se = a.value - b.value, math.hypot(a.se, b.se)
    reach = _quantile(a.level) * se
    return Difference(a.metric, a.hash, a.category, value, se, value - reach, value + reach, a.level)


def _alike(name: str, values: Sequence[object]) -> None:
    for value in values:
        if value != values[0]:
            raise ParameterError(name, value, f"{values[0]!r}, as in the first")


def _quantile(level: float) -> float:
    return NormalDist().inv_cdf(0.5 + level / 2)


def _spread(row: Row, se: float) -> float:
    """The row's standard error; where all reports are alike it would be 0, and what its interval implies stands in."""
    if se > 0 or row.ci_low is None or row.ci_high is None:
        return se
    return (row.ci_high - row.ci_low) / 2 / _quantile(row.level)
