"""One row per metric, window and segment: the estimate with its interval, and how far it can be trusted yet."""

from collections.abc import Iterator
from typing import Any

import msgspec
import numpy as np

from hubbub.errors import ParameterError
from hubbub.lock import shown
from hubbub.mechanisms import Estimate
from hubbub.store import Cell, Store, WindowKey
from hubbub.store.catalogue import Catalogue, Definition
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


def rows(store: Store, *, now: float, metric: str | None = None, level: float = 0.95) -> list[Row]:
    """Estimates for every window from a metric's first reported one on, as they stand at `now`.

    Windows that have ended and brought no reports have rows too; so has each declared segment of every window.

    Args:
        store: Where the summaries are.
        now: Unix seconds; decides what is open, provisional or final.
        metric: Only this one.
        level: Chance with which an interval is to hold the truth.

    Raises:
        ParameterError: A metric that the store does not know, or a level outside (0, 1).
        StoreError: The store cannot be read.
    """
    if not 0 < level < 1:
        raise ParameterError("level", level, "a number in (0, 1)")
    series: dict[tuple[str, str], dict[int, dict[str, Cell]]] = {}
    for cell in store.cells(metric):
        windows = series.setdefault((cell.key.metric, cell.key.hash), {})
        windows.setdefault(cell.key.window, {})[cell.segment] = cell
    catalogue = Catalogue(store.locks())  # after the cells, so that it knows them all
    if metric is not None and metric not in catalogue:
        raise ParameterError("metric", metric, "one of " + ", ".join(catalogue.names()))
    found = [row for key, windows in series.items() for row in _series(catalogue, key, windows, now, level)]
    return sorted(found, key=lambda row: (row.metric, row.window_start, row.version, row.hash, row.segment))


def _series(
    catalogue: Catalogue, key: tuple[str, str], windows: dict[int, dict[str, Cell]], now: float, level: float
) -> Iterator[Row]:
    first = min(windows)
    start = catalogue.find(WindowKey(*key, first))
    assert start is not None  # a store writes no window that it could not find
    ended = range(first, start.windows.index(now))
    fixed: dict[Definition, dict[str, Any]] = {}
    for window in sorted(windows.keys() | set(ended)):
        definition = catalogue.find(WindowKey(*key, window))
        if definition is None:
            continue
        if definition not in fixed:
            fixed[definition] = _fixed(definition, level)
        cells = windows.get(window, {})
        for segment in sorted(definition.segments | cells.keys()):
            judged = _judged(definition, window, cells.get(segment), now, level)
            yield Row(segment=segment, **_times(definition, window), **judged, **fixed[definition])


def _fixed(definition: Definition, level: float) -> dict[str, Any]:
    """What is the same in every row of a definition."""
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


def _times(definition: Definition, window: int) -> dict[str, Any]:
    cut = definition.windows
    return {"window_start": iso(cut.start(window)), "window_end": iso(cut.end(window))}


def _judged(definition: Definition, window: int, cell: Cell | None, now: float, level: float) -> dict[str, Any]:
    """State and figures of one window and segment."""
    end, least = definition.windows.end(window), definition.metric.min_reports
    final = now >= end + definition.metric.grace
    summary = definition.summarise(()) if cell is None else cell.summary if final else cell.shown
    counts = {"n": summary.n, "n_effective": summary.n}  # one window: a report is a device
    if now < end or (not final and summary.n < least):
        return {"state": "open", **counts, **_WITHHELD}
    if summary.n < least:
        return {"state": "suppressed" if summary.n else "empty", **counts, **_WITHHELD}
    bounds = definition.mechanism.bounds
    figures = _figures(definition.mechanism.estimate(summary), bounds, level)
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
