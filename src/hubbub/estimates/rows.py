"""One row per metric, window and segment: the estimate with its interval, and how far it can be trusted yet."""

from typing import Any

import msgspec
import numpy as np

from hubbub.errors import ParameterError
from hubbub.estimates.spots import Spot, spots
from hubbub.lock import shown
from hubbub.mechanisms import Estimate
from hubbub.store import Store
from hubbub.store.catalogue import Definition
from hubbub.summary import Summary
from hubbub.windows import iso


class Row(msgspec.Struct, frozen=True):
    """One estimate as everything shows it: command line, HTTP, tables.

    Attributes:
        state: `open` (reports still come, too few so far), `empty` (none came), `suppressed` (fewer than the metric's
            `min_reports`), `too_uncertain` (the interval is wider than the range), `provisional` (reports still come),
            `final`.
        n: Reports. Until the row is final, those up to the last full `min_reports`: so are all other figures.
        n_effective: Devices' worth of reports that `min_reports` is held against.
        value: Unbiased estimate in the metric's unit, or share; not clipped. Null while open, empty or suppressed, as
            are `se`, `se_shared`, the interval, its method and `tidied`.
        se: Standard error.
        se_shared: The part of it that this window shares with others, since devices repeat their permanent answers.
        ci_low: Lower end of the interval that holds the truth with chance `level`.
        ci_high: Upper end.
        tidied: `value` clipped to what the truth can be.
        epsilon: What one report gives away, nats, rounded up.
        permanent_epsilon: What a device that never changes gives away for ever; null where nothing is permanent.
        manipulation_per_percent: Most by which one liar per hundred devices can move `value`.
    """

    metric: str
    version: int
    hash: str
    window_start: str
    window_end: str
    segment: str
    category: str | None
    state: str
    n: int
    n_effective: int
    value: float | None
    se: float | None
    se_shared: float | None
    ci_low: float | None
    ci_high: float | None
    level: float
    method: str | None
    tidied: float | None
    epsilon: float | None
    permanent_epsilon: float | None
    manipulation_per_percent: float


def rows(
    store: Store,
    *,
    now: float,
    metric: str | None = None,
    start: float | None = None,
    end: float | None = None,
    segment: str | None = None,
    level: float = 0.95,
) -> list[Row]:
    """Estimates for every window from a metric's first reported one on, as they stand at `now`.

    Windows that have ended and brought no reports have rows too; so has each declared segment of every window.

    Args:
        store: Where the summaries are.
        now: Unix seconds; decides what is open, provisional or final.
        metric: Only this one.
        start: Only windows that lie wholly in [start, end), in unix seconds.
        end: See `start`.
        segment: Only this one.
        level: Chance with which an interval is to hold the truth.

    Raises:
        ParameterError: A metric that the store does not know, a segment that the metric does not have, a start after
            the end, or a level outside (0, 1).
        StoreError: The store cannot be read.
    """
    check_level(level)
    fixed: dict[Definition, dict[str, Any]] = {}
    found = []
    for spot in spots(store, now=now, metric=metric, start=start, end=end, segment=segment):
        if spot.definition not in fixed:
            fixed[spot.definition] = constants(spot.definition, level)
        judged = _judged(spot, now, level)
        found.append(Row(segment=spot.segment, **_times(spot), **judged, **fixed[spot.definition]))
    return sorted(found, key=lambda row: (row.metric, row.window_start, row.version, row.hash, row.segment))


def check_level(level: float) -> None:
    """Refuse what is no chance.

    Raises:
        ParameterError: Not in (0, 1).
    """
    if not 0 < level < 1:
        raise ParameterError("level", level, "a number in (0, 1)")


def constants(definition: Definition, level: float) -> dict[str, Any]:
    """What is the same in all answers of a definition."""
    metric, mechanism = definition.metric, definition.mechanism
    one = mechanism.estimate(Summary(1, np.zeros(mechanism.counts_shape, np.int64)))
    return {
        "metric": metric.name,
        "version": metric.version,
        "hash": definition.hash,
        "category": None,
        "level": level,
        "epsilon": shown(mechanism.epsilon),
        "permanent_epsilon": shown(mechanism.permanent_epsilon),
        "manipulation_per_percent": 0.01 * one.per_one,
    }


def _times(spot: Spot) -> dict[str, Any]:
    return {"window_start": iso(spot.definition.windows.start(spot.window)), "window_end": iso(spot.end)}


def _judged(spot: Spot, now: float, level: float) -> dict[str, Any]:
    """State and figures of one window and segment."""
    least, final = spot.definition.metric.min_reports, spot.closed(now)
    summary = spot.summary(now)
    counts = {"n": summary.n, "n_effective": summary.n}  # one window: a report is a device
    if now < spot.end or (not final and summary.n < least):
        return {"state": "open", **counts, **_WITHHELD}
    if summary.n < least:
        return {"state": "suppressed" if summary.n else "empty", **counts, **_WITHHELD}
    bounds = spot.definition.mechanism.bounds
    figures = _figures(spot.definition.mechanism.estimate(summary), bounds, level)
    state = "final" if final else "provisional"
    if figures["ci_high"] - figures["ci_low"] > bounds[1] - bounds[0]:
        state = "too_uncertain"
    return {"state": state, **counts, **figures}


def _figures(estimate: Estimate, bounds: tuple[float, float], level: float) -> dict[str, Any]:
    low, high = estimate.interval(level)
    value = float(estimate.value)
    return {
        "value": value,
        "se": float(estimate.se),
        "se_shared": float(estimate.se_shared),
        "ci_low": float(low),
        "ci_high": float(high),
        "method": estimate.method(level),
        "tidied": min(max(value, bounds[0]), bounds[1]),
    }


_WITHHELD: dict[str, Any] = dict.fromkeys(("value", "se", "se_shared", "ci_low", "ci_high", "method", "tidied"))
