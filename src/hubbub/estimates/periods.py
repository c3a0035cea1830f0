"""Several windows together: their mean, and the difference of two such means.

Windows are not a bigger sample: a device repeats its permanent answers, and its own value hardly changes. How the error
of their mean follows, and the interval, stands in `hubbub.estimates.combining`; of a mean among those that recorded
anything, in `hubbub.estimates.active`. Specification: spec/estimates.md.
"""

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from statistics import NormalDist
from typing import Any

import msgspec
import numpy as np

from hubbub.errors import ParameterError
from hubbub.estimates import active
from hubbub.estimates.combining import apart, mean_of
from hubbub.estimates.rows import check_level, constants
from hubbub.estimates.spots import Spot, spots
from hubbub.store import Store
from hubbub.windows import iso

NO_WINDOWS = "a metric with windows that have ended, from start to end"
Spots = tuple[Spot, ...]  # of one window and segment


class Period(msgspec.Struct, frozen=True):
    """The mean of a metric over several windows, each with the same weight.

    Attributes:
        version: Of the definition in the last window.
        window_start: Where the first window that counts begins.
        window_end: Where the last one ends.
        state: As of a row; `open` and `provisional` where one of the windows still is.
        windows: Windows that count: those that have ended and of which reports are known, of both metrics where the
            mean is among those that recorded anything; n is then that of the report which came less often.
        left_out: Windows between start and end that have ended without any.
        n: Reports in all of them together; fewer devices sent them.
        n_effective: Devices that sent them: for each turn its mean n, since those of another turn are other devices.
        value: Unbiased mean, in the metric's unit or as a share. Null, as are all figures but n, while open, empty or
            suppressed.
        se: Standard error, at most.
        se_opposed: The product of those of two periods is the most by which their errors can be negatively correlated.
        ci_low: Lower end of an interval that holds the truth with chance `level`, at least, where each window has ten
            reports or more.
        ci_high: Upper end.
        method: `wilson` or `clopper_pearson`, by analogy to rows; `fieller` of a mean among the active.
        tidied: `value` clipped to what the truth can be.
    """

    metric: str
    version: int
    hash: str
    window_start: str
    window_end: str
    segment: str
    category: str | None
    state: str
    windows: int
    left_out: int
    n: int
    n_effective: int
    value: float | None
    se: float | None
    se_opposed: float | None
    ci_low: float | None
    ci_high: float | None
    level: float
    method: str | None
    tidied: float | None
    epsilon: float | None
    permanent_epsilon: float | None
    manipulation_per_percent: float | None


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


def period(
    store: Store,
    *,
    now: float,
    metric: str,
    start: float | None = None,
    end: float | None = None,
    segment: str | None = None,
    version: int | None = None,
    level: float = 0.95,
    category: str | None = None,
) -> Period:
    """The mean over the windows that lie wholly in [start, end) and have ended, as it stands at `now`.

    It is made from the summaries, so windows count that are suppressed alone. Which of them are few is told by
    `n_effective`: the sum over turns of the mean n of a turn's windows.

    Args:
        store: Where the summaries are.
        now: Unix seconds.
        metric: Its name.
        start: Unix seconds; from the first report by default.
        end: Unix seconds; all that has ended by default.
        segment: One segment; may be left out where the metric has only one.
        version: One version; may be left out where all windows are of one encoding. Others with the same encoding
            count too.
        level: Chance with which the interval is to hold the truth.
        category: One category, where the metric counts several; "among active" of a mean with a second report.

    Raises:
        ParameterError: A metric, segment, version or category that is not there, no windows, or a level outside (0, 1).
        StoreError: The store cannot be read.
    """
    check_level(level)
    if any(entry.metric.name == metric and entry.metric.kind == "words" for entry in store.locks()):
        raise ParameterError("metric", metric, "one that is not of the kind words, which needs a list of candidates")
    found = spots(store, now=now, metric=metric, start=start, end=end, segment=segment)
    ended = _encoding([spot for spot in found if spot.end <= now], metric, version)
    labels = sorted({spot.segment for spot in ended})
    if len(labels) > 1:
        raise ParameterError("segment", segment, "one of " + ", ".join(map(repr, labels)))
    ended.sort(key=lambda spot: spot.window)
    if category == active.AMONG:
        shares = active.seconds(store, metric, ended, now=now, start=start, end=end, segment=segment)
        pairs = [(spot, shares[active.place(spot)]) for spot in ended if active.place(spot) in shares]
        if pairs:
            mean = _judged(pairs, now, level, lambda used: active.together(used, now, level))
            left_out = mean.left_out + len(ended) - len(pairs)
            return msgspec.structs.replace(mean, category=category, left_out=left_out, **active.prices(*pairs[-1]))
    names = ended[0].definition.categories
    if (names and category not in names) or (not names and category is not None):
        expected = f"one of {', '.join(names)}" if names else f"left out, or {active.AMONG!r} of a mean with active"
        raise ParameterError("category", category, expected)
    index = names.index(category) if category is not None else None
    mean = _judged([(spot,) for spot in ended], now, level, lambda used: _figures(used, now, level, index))
    return msgspec.structs.replace(mean, category=category)


def _encoding(ended: Sequence[Spot], metric: str, version: int | None) -> list[Spot]:
    """Those of one encoding: that of the version, or the only one that was reported."""
    if not ended:
        raise ParameterError("metric", metric, NO_WINDOWS)
    if version is None:
        asked = [spot for spot in ended if spot.cell] or ended
    else:
        asked = [spot for spot in ended if spot.definition.metric.version == version]
    hashes = {spot.definition.hash for spot in asked}
    if len(hashes) != 1:
        versions = ", ".join(map(str, sorted({spot.definition.metric.version for spot in ended})))
        raise ParameterError(
            "version", version, f"one of {versions}" + (", which are encoded differently" if hashes else "")
        )
    return [spot for spot in ended if spot.definition.hash in hashes]


def _judged(
    ended: Sequence[Spots], now: float, level: float, figured: Callable[[Sequence[Spots]], dict[str, Any]]
) -> Period:
    """State and figures of windows of one encoding and segment, in order of time.

    Args:
        ended: What each window has: the spots that its figures are made of, first that of the metric.
        now: Unix seconds.
        level: As for `period`.
        figured: Figures of those windows of which all spots have reports.
    """
    used = [(each, n) for each in ended if (n := active.reports(each, now))]
    counting = [each for each, _ in used]
    first, last = (counting or ended)[0][0], (counting or ended)[-1][0]
    metric = last.definition.metric
    n_effective = _devices([(spot.window % metric.report_every, n) for (spot, *_), n in used])
    pending = not all(spot.closed(now) for each in ended for spot in each)
    figures: dict[str, Any] = dict.fromkeys(("value", "se", "se_opposed", "ci_low", "ci_high", "method", "tidied"))
    figures["state"] = "open" if pending else "suppressed" if used else "empty"
    if used and n_effective >= metric.min_reports:
        figures = figured(counting)
        figures["state"] = figures["state"] or ("provisional" if pending else "final")
    return Period(
        category=None,
        window_start=iso(first.definition.windows.start(first.window)),
        window_end=iso(last.end),
        segment=last.segment,
        windows=len(used),
        left_out=len(ended) - len(used),
        n=sum(n for _, n in used),
        n_effective=n_effective,
        **figures,
        **constants(last.definition, level),
    )


def _devices(reports: Sequence[tuple[int, int]]) -> int:
    """How many devices sent reports, given for each window as (turn, n): each turn has its own, and they repeat."""
    turns: dict[int, list[int]] = {}
    for turn, n in reports:
        turns.setdefault(turn, []).append(n)
    return math.floor(sum(Fraction(sum(each), len(each)) for each in turns.values()))


def _figures(used: Sequence[Spots], now: float, level: float, category: int | None) -> dict[str, Any]:
    definition = used[0][0].definition
    mechanism, every = definition.mechanism, definition.metric.report_every
    estimates = [mechanism.estimate(spot.summary(now)) for spot, *_ in used]
    if category is not None:
        estimates = [estimate.pick(category) for estimate in estimates]
    one = estimates[0]
    if len(estimates) == 1:
        value, se, (low, high), method, crowd = one.value, one.se, one.interval(level), one.method(level), 1 / one.n
    else:
        turns = [spot.window % every for spot, *_ in used]
        mean = mean_of(estimates, [estimate.n for estimate in estimates], turns, level)
        value, se, low, high, method, crowd = mean.value, mean.se, mean.low, mean.high, mean.method, mean.crowd
    bounds = mechanism.bounds
    return {
        "state": "too_uncertain" if high - low > bounds[1] - bounds[0] else "",
        "value": float(value),
        "se": float(se),
        "se_opposed": abs(one.crowd.scale) * math.sqrt(one.crowd.opposed * crowd),
        "ci_low": float(low),
        "ci_high": float(high),
        "method": method,
        "tidied": float(np.clip(value, *bounds)),
    }


def difference(a: Period, b: Period) -> Difference:
    """What `a` is above `b`: two periods, or two segments, of one metric.

    Its standard error is at most √(se_a² + se_b² + 2 opposed_a opposed_b), with `se_opposed` of both: for permanent
    answers that is proved (spec/estimates.md). For the values it must be that what the two share is not negatively
    correlated: where those who were high in `a` are low in `b`, the interval holds for the devices that reported, but
    not for the crowd they come from. Periods that have no turn in common share no device, and it holds whatever the
    values do.

    Raises:
        ParameterError: They are of different metrics, encodings, categories or levels, or one has no value.
    """
    for field in ("metric", "hash", "category", "level"):
        if getattr(a, field) != getattr(b, field):
            raise ParameterError(f"periods.{field}", getattr(b, field), f"{getattr(a, field)!r}, as in the first")
    value_a, value_b = _figure(a, a.value), _figure(b, b.value)
    opposed = 2 * _figure(a, a.se_opposed) * _figure(b, b.se_opposed)
    low, high = apart(
        (_figure(a, a.ci_low), value_a, _figure(a, a.ci_high)),
        (_figure(b, b.ci_low), value_b, _figure(b, b.ci_high)),
        NormalDist().inv_cdf(0.5 + a.level / 2) ** 2 * opposed,
    )
    return Difference(
        metric=a.metric,
        hash=a.hash,
        category=a.category,
        value=value_a - value_b,
        se=math.sqrt(_figure(a, a.se) ** 2 + _figure(b, b.se) ** 2 + opposed),
        ci_low=float(low),
        ci_high=float(high),
        level=a.level,
    )


def _figure(of: Period, figure: float | None) -> float:
    if figure is None:
        raise ParameterError(
            "periods", f"{of.window_start} to {of.window_end}, {of.state}", "periods that have a value"
        )
    return figure
