"""What a picture of a metric shows, worked out once for charts and drawings: marks, what joins them, the scale."""

import datetime
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from hubbub.estimates import Row
from hubbub.estimates.wording import Scale

MARKS = {
    "final": "a value; no more reports are taken",
    "provisional": "a value that may still change: reports still come",
    "zero": "a value of 0: measured, not missing; hollow while provisional",
    "too_uncertain": "its interval is as wide as all that the value can be, or wider, and goes on where an arrow is",
    "suppressed": "too few reports: no value is shown",
    "empty": "no reports at all",
    "open": "has not ended, or too few reports so far",
    "undecoded": "reports are there; which words they hold a list of candidates tells",
}
MISSING = ("suppressed", "empty", "open", "undecoded")
Bounds = tuple[float, float]
SERIES = 3  # that are told apart by colour; older encodings share the last one


class Mark(NamedTuple):
    """One window.

    Attributes:
        at: Its start, unix seconds.
        shape: One of `MARKS`.
        series: 0 for the newest encoding, 1 for the one before it, and so on.
        run: Neighbouring windows of one encoding that have values share it, and a line and a band join them; None where
            nothing is joined.
        alone: Whether nothing is joined to it.
    """

    row: Row
    at: int
    shape: str
    series: int
    run: int | None
    alone: bool


class Change(NamedTuple):
    """Where a version begins, unix seconds."""

    at: int
    version: int


def start(row: Row) -> int:
    """First second of a row's window."""
    return int(datetime.datetime.fromisoformat(row.window_start).timestamp())


def marks(rows: Sequence[Row], scale: Scale) -> list[Mark]:
    """The marks of one segment's rows, by encoding and time."""
    newest: dict[str, int] = {}
    for row in rows:
        newest[row.hash] = max(row.version, newest.get(row.hash, 0))
    order = sorted(newest, key=lambda hash_: -newest[hash_])
    found: list[Mark] = []
    run = -1
    before: Row | None = None
    for row in sorted(rows, key=lambda row: (order.index(row.hash), row.window_start)):
        joined = row.value is not None and row.state != "too_uncertain"
        if joined and not (before and (before.hash, before.window_end) == (row.hash, row.window_start)):
            run += 1
        before = row if joined else None
        series = min(order.index(row.hash), SERIES - 1)
        found.append(Mark(row, start(row), _shape(row, scale), series, run if joined else None, True))
    together = {a.run for a, b in pairwise(found) if a.run == b.run}
    return [mark._replace(alone=mark.run is None or mark.run not in together) for mark in found]


def changes(rows: Sequence[Row]) -> list[Change]:
    """Where versions begin, but for the one that is there from the first window on."""
    firsts: dict[int, int] = {}
    for row in rows:
        firsts[row.version] = min(start(row), firsts.get(row.version, start(row)))
    begins = min(firsts.values(), default=0)
    return [Change(at, version) for version, at in sorted(firsts.items()) if at > begins]


def encodings(found: Sequence[Mark]) -> list[tuple[int, list[int]]]:
    """Each series with its versions, the newest first."""
    versions: dict[int, set[int]] = {}
    for mark in found:
        versions.setdefault(mark.series, set()).add(mark.row.version)
    return [(series, sorted(versions[series], reverse=True)) for series in sorted(versions)]


def domain(found: Sequence[Mark], bounds: Bounds) -> Bounds:
    """Ends of the value axis: room for every interval that is of use; the bounds of the truth where there is none.

    It begins at 0 unless that is far away, so that noise does not fill the picture and look like news.
    """
    valued = [mark.row for mark in found if mark.row.value is not None]
    useful = [row for row in valued if row.state != "too_uncertain"] or valued
    ends = [end for row in useful for end in (row.ci_low, row.ci_high) if end is not None]
    if not ends:
        return bounds
    low, high = min(ends), max(ends)
    if high == low:
        low, high = low - (abs(low) or 1.0), high + (abs(high) or 1.0)
    room = 0.06 * (high - low)
    return (0.0 if 0 <= low < 0.85 * high else low - room), high + room


def in_sight(found: Sequence[Mark], bounds: Bounds) -> list[float]:
    """Which bounds of the truth lie within the picture: there a line marks them."""
    low, high = domain(found, bounds)
    return [bound for bound in bounds if low <= bound <= high]


def surprising(found: Sequence[Mark], bounds: Bounds) -> list[float]:
    """Which of these lines are not an edge of the picture, and have to be explained."""
    return [bound for bound in in_sight(found, bounds) if bound not in domain(found, bounds)]


def _shape(row: Row, scale: Scale) -> str:
    if row.value is None:
        return row.state if row.state in (*MISSING, "too_uncertain") else "undecoded"
    if row.state == "too_uncertain":
        return row.state
    return "zero" if float(scale.bare(row.value)) == 0 else row.state
