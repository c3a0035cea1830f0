"""The places that have an estimate: every window and segment from a metric's first report on."""

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from hubbub.errors import ParameterError
from hubbub.store import Cell, Entry, Store, WindowKey
from hubbub.store.catalogue import Catalogue, Definition
from hubbub.summary import Summary
from hubbub.windows import Windows, iso

_FOREVER = 1 << 40  # further than any window


class Spot(NamedTuple):
    """One window and segment of a metric, with its summaries where reports came."""

    definition: Definition
    window: int
    segment: str
    cell: Cell | None

    @property
    def end(self) -> int:
        """First second after the window."""
        return self.definition.windows.end(self.window)

    def closed(self, now: float) -> bool:
        """Whether no report can come any more."""
        return now >= self.end + self.definition.metric.grace

    def summary(self, now: float) -> Summary:
        """What may be shown at `now`: everything once it is closed, before that the last full `min_reports`."""
        if self.cell is None:
            return self.definition.summarise(())
        return self.cell.summary if self.closed(now) else self.cell.shown


def spots(
    store: Store,
    *,
    now: float,
    metric: str | None = None,
    start: float | None = None,
    end: float | None = None,
    segment: str | None = None,
) -> Iterator[Spot]:
    """Windows with reports, and those that have ended since a metric's first, with each declared segment.

    Args:
        store: Where the summaries are.
        now: Unix seconds.
        metric: Only this one.
        start: Only windows that lie wholly in [start, end), in unix seconds.
        end: See `start`.
        segment: Only this one.

    Raises:
        ParameterError: A metric that the store does not know, a segment that the metric does not have, or a start
            after the end.
        StoreError: The store cannot be read.
    """
    if start is not None and end is not None and not start <= end:
        raise ParameterError("start", iso(math.floor(start)), f"at or before the end, {iso(math.floor(end))}")
    firsts: dict[tuple[str, str], int] = {}
    for key in store.windows(metric):  # sorted
        firsts.setdefault((key.metric, key.hash), key.window)
    entries = store.locks()  # after the windows, so that all of them are known
    if metric is not None:
        _check(entries, metric, segment)
    catalogue = Catalogue(entries)
    for (name, hash_), first in firsts.items():
        definition = catalogue.find(WindowKey(name, hash_, first))
        assert definition is not None  # a store writes no window that it could not find
        wanted = _within(definition.windows, start, end)
        windows: dict[int, dict[str, Cell]] = {}
        for cell in store.cells(name, hash=hash_, windows=wanted, segment=segment):
            windows.setdefault(cell.key.window, {})[cell.segment] = cell
        ended = range(max(first, wanted.start), min(definition.windows.index(now), wanted.stop))
        for window in sorted(windows.keys() | set(ended)):
            holding = catalogue.holding(WindowKey(name, hash_, window))
            if not holding:
                continue
            cells = windows.get(window, {})
            for label in sorted(cells.keys() | {label for found in holding for label in found.segments}):
                if segment in (None, label):
                    yield Spot(holding[0], window, label, cells.get(label))


def _check(entries: Sequence[Entry], metric: str, segment: str | None) -> None:
    names = {entry.metric.name for entry in entries}
    if metric not in names:
        raise ParameterError("metric", metric, f"one of {', '.join(sorted(names))}" if names else "in the store")
    segments = sorted({label for entry in entries if entry.metric.name == metric for label in entry.metric.segments})
    if segment is not None and segment not in segments:
        raise ParameterError("segment", segment, "one of " + ", ".join(map(repr, segments)))


def _within(cut: Windows, start: float | None, end: float | None) -> range:
    first = -_FOREVER if start is None else math.ceil((start - cut.origin) / cut.length)
    return range(first, _FOREVER if end is None else max(first, math.floor((end - cut.origin) / cut.length)))
