"""One row per metric, window and segment: the estimate with its interval, and how far it can be trusted yet."""

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec
import numpy as np

from hubbub.errors import ParameterError
from hubbub.estimates import active
from hubbub.estimates.spots import Spot, spots
from hubbub.lock import shown
from hubbub.mechanisms import Estimate
from hubbub.mechanisms.base import any_estimate
from hubbub.store import Store
from hubbub.store.catalogue import Definition
from hubbub.windows import iso


class Row(msgspec.Struct, frozen=True):
    """One estimate as everything shows it: command line, HTTP, tables.

    A mean with a second report has one more row in each window, with the category "among active": the mean among those
    that recorded anything. Its `n` is that of the report which came less often, its prices those of both together.

    Attributes:
        state: `open` (reports still come, too few so far), `empty` (none came), `suppressed` (fewer than the metric's
            `min_reports`), `too_uncertain` (the interval is wider than the range), `provisional` (reports still come),
            `final`.
        n: Reports. Until the row is final, those up to the last full `min_reports`: so are all other figures.
        n_effective: Devices' worth of reports that `min_reports` is held against.
        value: Unbiased estimate in the metric's unit, or share; not clipped. Null while open, empty or suppressed, as
            are `se`, `se_shared`, the interval, its method and `tidied`. Always null for words, which need candidates.
        se: Standard error.
        se_shared: The part of it that this window shares with others, since devices repeat their permanent answers.
        ci_low: Lower end of the interval that holds the truth with chance `level`.
        ci_high: Upper end.
        tidied: `value` clipped to what the truth can be.
        epsilon: What one report gives away, nats, rounded up.
        permanent_epsilon: What a device that never changes gives away for ever; null where nothing is permanent.
        manipulation_per_percent: Most by which one liar per hundred devices can move `value`; null for words, and for a
            mean among the active, where it has no bound.
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
    manipulation_per_percent: float | None


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

    Windows that have ended and brought no reports have rows too; so has each declared segment of every window. Those of
    metrics of the kind words never have a value: see `hubbub.estimates.words`.

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
    asked: dict[str, Any] = {"now": now, "start": start, "end": end, "segment": segment}
    every = list(spots(store, metric=metric, **asked))
    second = active.seconds(store, metric, every, **asked)
    found = []
    for spot in every:
        if spot.definition not in fixed:
            fixed[spot.definition] = constants(spot.definition, level)
        same = {"segment": spot.segment, **times(spot), **fixed[spot.definition]}
        found += [Row(**same | judged) for judged in _judged(spot, now, level)]
        if share := second.get(active.place(spot)):
            found.append(Row(**same | _among(spot, share, now, level)))
    # Sorting is stable: categories stay in the order of the definition.
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
    # What a liar moves of a word's share is that of a regression, which nobody has done yet.
    moved = None if metric.kind == "words" else 0.01 * any_estimate(mechanism).per_one
    return {
        "metric": metric.name,
        "version": metric.version,
        "hash": definition.hash,
        "level": level,
        "epsilon": shown(mechanism.epsilon),
        "permanent_epsilon": shown(mechanism.permanent_epsilon),
        "manipulation_per_percent": moved,
    }


def withheld(spot: Spot, now: float) -> str:
    """The state of a window and segment of which nothing may be shown; empty where something may."""
    n, least = spot.summary(now).n, spot.definition.metric.min_reports
    if now < spot.end or (n < least and not spot.closed(now)):
        return "open"
    return ("suppressed" if n else "empty") if n < least else ""


def times(spot: Spot) -> dict[str, Any]:
    """Where its window begins and ends."""
    return {"window_start": iso(spot.definition.windows.start(spot.window)), "window_end": iso(spot.end)}


def _judged(spot: Spot, now: float, level: float) -> Iterator[dict[str, Any]]:
    """State and figures of one window and segment, for each category."""
    final = spot.closed(now)
    summary, mechanism = spot.summary(now), spot.definition.mechanism
    names: Sequence[str | None] = spot.definition.categories or (None,)
    counts = {"n": summary.n, "n_effective": summary.n}  # one window: a report is a device
    if state := withheld(spot, now):
        yield from ({"category": name, "state": state, **counts, **WITHHELD} for name in names)
        return
    if spot.definition.metric.kind == "words":
        yield {"category": None, "state": "final" if final else "provisional", **counts, **WITHHELD}
        return
    low, high = mechanism.bounds
    for name, figures in zip(names, _figures(mechanism.estimate(summary), (low, high), level), strict=True):
        state = "final" if final else "provisional"
        if figures["ci_high"] - figures["ci_low"] > high - low:
            state = "too_uncertain"
        yield {"category": name, "state": state, **counts, **figures}


def _among(mean: Spot, share: Spot, now: float, level: float) -> dict[str, Any]:
    """State and figures of the mean among those that recorded anything."""
    n = min(spot.summary(now).n for spot in (mean, share))
    row = {"category": active.AMONG, "n": n, "n_effective": n, **active.prices(mean, share)}
    missing = {withheld(spot, now) for spot in (mean, share)}
    if state := next((state for state in ("open", "empty", "suppressed") if state in missing), ""):
        return {**row, **WITHHELD, "state": state}
    figures = active.figures(mean, share, now, level)
    state = "final" if mean.closed(now) and share.closed(now) else "provisional"
    return {**row, **figures, "state": figures["state"] or state}


def _figures(estimate: Estimate, bounds: tuple[float, float], level: float) -> Iterator[dict[str, Any]]:
    keys = ("value", "se", "se_shared", "ci_low", "ci_high", "tidied")
    numbers = (estimate.value, estimate.se, estimate.se_shared, *estimate.interval(level), estimate.value.clip(*bounds))
    for method, *row in zip(estimate.methods(), *(np.atleast_1d(column).tolist() for column in numbers), strict=True):
        yield {**dict(zip(keys, row, strict=True)), "method": method}


WITHHELD: dict[str, Any] = dict.fromkeys(("value", "se", "se_shared", "ci_low", "ci_high", "method", "tidied"))
