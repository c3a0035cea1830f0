"""What every store keeps and promises; `hubbub.store.sqlite` is the first of them.

A store holds the reports of each (metric, encoding hash, window), every id once, beside their summaries by segment. A
write is one transaction: it is there for good and completely when it returns, or not at all. No table tells in which
order reports came, from where, or when. A database file does so by the way it grew, until it is rewritten (`VACUUM`):
whoever can read the raw file or its backups can put reports in the order in which they came.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Literal, NamedTuple, Protocol, Self

from hubbub.clock import ScaledClock
from hubbub.errors import HubbubError
from hubbub.lock import Lock, Metric
from hubbub.summary import Summary

Outcome = Literal["accepted", "duplicate", "conflict"]
REPORTS_TOTAL = "hubbub_reports_total"  # counter of reports by what became of them
PROBLEMS_TOTAL = "hubbub_problems_total"  # counter of requests that were refused as a whole, by reason
ESTIMATE_COLUMNS = (
    "metric",
    "version",
    "hash",
    "window_start",
    "window_end",
    "segment",
    "category",
    "state",
    "n",
    "n_effective",
    "value",
    "se",
    "se_shared",
    "ci_low",
    "ci_high",
    "level",
    "method",
    "tidied",
    "epsilon",
    "permanent_epsilon",
    "manipulation_per_percent",
)  # those of an estimate row, in its order


class StoreError(HubbubError):
    """A store cannot be opened, read or written; nothing of the attempt is kept."""


class WindowKey(NamedTuple):
    """Reports are counted, and told apart by their id, within one of these."""

    metric: str
    hash: str  # as it travels, 32 hex digits
    window: int


class Report(NamedTuple):
    """One report that has passed every check but that of its id."""

    key: WindowKey
    id: int  # the 64 bits of the report id as a signed integer
    segment: str
    payload: str  # as it travelled


@dataclass(frozen=True)
class Entry:
    """One metric of a lock, with the collection it belongs to."""

    collection: str
    metric: Metric


@dataclass(frozen=True)
class Cell:
    """The summary of one window and segment, and the earlier one that may be shown while reports still come.

    `shown` sums up the first n reports, for the largest n that `min_reports` divides: whoever polls it sees steps of
    so many reports. The final row may hold one report more than the last step, so `min_reports` is no rule of privacy.
    """

    key: WindowKey
    segment: str
    summary: Summary
    shown: Summary


class Store(Protocol):
    """A place for reports and their summaries. Calls from several threads follow one another."""

    @property
    def dev(self) -> bool:
        """Whether it was made by `serve --dev`: its time is not that of the world."""
        ...

    @property
    def clock(self) -> ScaledClock | None:
        """The clock of the `serve --dev` that ran it last; None for real reports, or where none has."""
        ...

    def run_by(self, clock: ScaledClock) -> None:
        """Keep the clock that a store of `serve --dev` runs by from now on, in place of the one before it.

        Raises:
            ParameterError: It is a store of real reports.
            StoreError: The store cannot be written.
        """
        ...

    def accept(self, lock: Lock) -> None:
        """Keep the lock's metrics for good, beside every one accepted before; reports of them can then be written.

        Raises:
            LockError: A metric does not fit one that the store holds; nothing is kept.
            StoreError: The store cannot be written.
        """
        ...

    def locks(self) -> list[Entry]:
        """Every metric ever accepted, in that order."""
        ...

    def write(
        self,
        reports: Sequence[Report],
        tally: Mapping[str, int] | None = None,
        problems: Mapping[str, int] | None = None,
    ) -> list[Outcome]:
        """Store reports and count them, all in one transaction that is durable on return.

        A report whose id is there already with the same segment and payload is a `duplicate`, with others a `conflict`;
        neither changes anything.

        Args:
            reports: In the order they came; each of a metric that was accepted and a window of its life.
            tally: How many reports met each other end, added to their counters.
            problems: How many requests were refused as a whole for each reason, added to theirs.

        Raises:
            ParameterError: A report of a metric or window that no accepted lock knows; nothing is kept.
            StoreError: The store cannot be written; nothing is kept.
        """
        ...

    def windows(self, metric: str | None = None) -> list[WindowKey]:
        """Every window with reports, of one metric or all, sorted."""
        ...

    def reports(self, key: WindowKey) -> list[Report]:
        """The window's reports, sorted by id."""
        ...

    def cells(
        self,
        metric: str | None = None,
        *,
        hash: str | None = None,
        windows: range | None = None,
        segment: str | None = None,
    ) -> list[Cell]:
        """The summaries of one metric or all, sorted by metric, hash, window and segment.

        Args:
            metric: Only this one.
            hash: Only this encoding hash, as it travels.
            windows: Only these, first to last.
            segment: Only this one.
        """
        ...

    def counters(self, name: str = REPORTS_TOTAL) -> dict[str, int]:
        """How often each code came about since the store was made: of reports, or under another name."""
        ...

    def publish(self, rows: Iterable[Sequence[object]]) -> int:
        """Put estimates, in the order of `ESTIMATE_COLUMNS`, into the table `estimates`, and say how many are news.

        A row takes the place of the one with the same metric, hash, window_start, segment and category. The table is
        for whoever reads the store with SQL; nothing here is computed from it.

        Raises:
            StoreError: The store cannot be written; some of the rows may be kept.
        """
        ...

    def published(self, metric: str | None = None) -> list[tuple[Any, ...]]:
        """The rows of the table `estimates`, sorted by metric, hash, window_start, segment and category."""
        ...

    def close(self) -> None:
        """Let go of the store."""
        ...

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...
