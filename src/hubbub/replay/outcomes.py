"""What was true and what the collector could tell, window by window, and what the grace of the metric cost."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hubbub.estimates import Row
from hubbub.lock import Metric
from hubbub.mechanisms import of_metric
from hubbub.replay.table import Table
from hubbub.store import Store
from hubbub.summary import Summary
from hubbub.windows import iso
from hubbub.wire import TRAVELLING_HASH

LEVEL = 0.95
Told = tuple[int, str, float | None, float | None, float | None]  # n, state, value and interval
_NULL = 0.0  # of every metric that a table can be for
_NOTHING: Told = (0, "empty", None, None, None)


@dataclass(frozen=True)
class Truth:
    """One window and segment of the table.

    Attributes:
        segment: None for all devices together.
        devices: Those that ran, or that count as if they had, with the whole crowd.
        raw: Mean of their values.
        clipped: The same of what the metric can see: clipped to its range and rounded to its grid.
        arrived: Devices whose reports arrive within grace.
        clipped_arrived: `clipped` of these alone; None where there are none.
    """

    window: int
    segment: str | None
    devices: int
    raw: float
    clipped: float
    arrived: int
    clipped_arrived: float | None


@dataclass(frozen=True)
class Outcome:
    """A truth, and what the collector could tell of it."""

    window_start: str
    truth: Truth
    n: int
    state: str
    value: float | None
    ci_low: float | None
    ci_high: float | None

    @property
    def holds(self) -> bool | None:
        """Whether the interval holds the truth that the metric can see, the clipped one; None without an interval."""
        return self._holds(self.truth.clipped)

    @property
    def holds_arrived(self) -> bool | None:
        """The same for the truth of those devices alone whose reports arrived."""
        return self._holds(self.truth.clipped_arrived)

    def _holds(self, truth: float | None) -> bool | None:
        if self.ci_low is None or self.ci_high is None or truth is None:
            return None
        return self.ci_low <= truth <= self.ci_high


def truths(table: Table, metric: Metric, crowd: int = 1, *, grace: bool = True) -> list[Truth]:
    """What is true of each window, and of each segment where the metric has dimensions; all devices together last.

    Where presence is hidden, a device on which the program did not run counts with the metric's null.
    A device comes back when it runs next; each comes back once more as the table ends. What ended longer than grace
    before is late.

    Args:
        table: The values.
        metric: What they are for.
        crowd: Devices for each of the table.
        grace: Whether reports can be late at all.
    """
    mechanism = of_metric(metric)
    back = dict.fromkeys(table.devices, float(metric.windows.end(max(table.windows))))
    found: list[Truth] = []
    for window, ran in sorted(_ran(table, metric).items(), reverse=True):
        row = ran if metric.presence == "ran" else dict.fromkeys(table.devices, _NULL) | dict(ran)
        late = metric.windows.end(window) + metric.grace
        arrives = np.array([not grace or back[device] < late for device in row])
        back.update(dict.fromkeys(ran, metric.windows.start(window) + metric.windows.length / 2))
        values = np.fromiter(row.values(), float, len(row))
        ticks, place = np.unique(mechanism.index(values), return_inverse=True)
        clipped = np.array([float(mechanism.truth(int(tick))) for tick in ticks])[place]
        segments = np.array([table.segment(device) for device in row]) if metric.dimensions else np.array([""])
        parts: list[tuple[str | None, Any]] = [(None, np.ones(len(row), bool))]
        parts += [(segment, segments == segment) for segment in reversed(metric.segments) if metric.dimensions]
        found += [_truth(window, part, values[at], clipped[at], arrives[at], crowd) for part, at in parts if at.any()]
    return found[::-1]


def _ran(table: Table, metric: Metric) -> Mapping[int, Mapping[str, float]]:
    """The rows by window; where presence is hidden, also of windows in which no device ran."""
    if metric.presence == "ran":
        return table.windows
    return {window: table.windows.get(window, {}) for window in range(min(table.windows), max(table.windows) + 1)}


def outcomes(told: Mapping[tuple[str, str | None], Told], true: Iterable[Truth], metric: Metric) -> list[Outcome]:
    """Truths with what was told of them, by the start of the window and the segment."""
    starts = ((truth, iso(metric.windows.start(truth.window))) for truth in true)
    return [Outcome(start, truth, *told.get((start, truth.segment), _NOTHING)) for truth, start in starts]


def told_by(rows: Iterable[Row], metric: Metric) -> dict[tuple[str, str | None], Told]:
    """What rows of this encoding tell; without dimensions, of all devices."""
    return {
        (row.window_start, row.segment if metric.dimensions else None): (
            row.n,
            row.state,
            row.value,
            row.ci_low,
            row.ci_high,
        )
        for row in rows
        if row.hash == metric.hash[:TRAVELLING_HASH] and row.category is None  # and no ratios
    }


def told_together(store: Store, metric: Metric) -> Iterator[tuple[tuple[str, str | None], Told]]:
    """What the segments of each window tell together, once no report can come any more."""
    mechanism = of_metric(metric)
    sums: dict[int, Summary] = {}
    for cell in store.cells(metric.name):
        window = cell.key.window
        sums[window] = sums[window] + cell.summary if window in sums else cell.summary
    low, high = mechanism.bounds
    for window, summary in sums.items():
        key = iso(metric.windows.start(window)), None
        if summary.n < metric.min_reports:
            yield key, (summary.n, "suppressed", None, None, None)
            continue
        estimate = mechanism.estimate(summary)
        start, end = map(float, estimate.interval(LEVEL))
        state = "too_uncertain" if end - start > high - low else "final"
        yield key, (summary.n, state, float(estimate.value), start, end)


def _truth(
    window: int,
    segment: str | None,
    values: NDArray[np.float64],
    clipped: NDArray[np.float64],
    arrives: NDArray[np.bool_],
    crowd: int,
) -> Truth:
    arrived = int(arrives.sum())
    mean = float(clipped[arrives].mean()) if arrived else None
    return Truth(
        window, segment, len(values) * crowd, float(values.mean()), float(clipped.mean()), arrived * crowd, mean
    )
