"""What every store keeps and promises; `hubbub.store.sqlite` is the first of them.

A store holds the reports of each (metric, encoding hash, window), every id once, beside their summaries by segment. A
write is one transaction: it is there for good and completely when it returns, or not at all. Nothing tells in which
order reports came, from where, or when.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Literal, NamedTuple, Protocol, Self

from hubbub.errors import HubbubError
from hubbub.lock import Lock, Metric
from hubbub.summary import Summary

Outcome = Literal["accepted", "duplicate", "conflict"]


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

    def write(self, reports: Sequence[Report], tally: Mapping[str, int] | None = None) -> list[Outcome]:
        """Store reports and count them, all in one transaction that is durable on return.

        A report whose id is there already with the same segment and payload is a `duplicate`, with others a `conflict`;
        neither changes anything.

        Args:
            reports: In the order they came; each of a metric that was accepted and a window of its life.
            tally: How often each other thing happened, added to the counters.

        Raises:
            ParameterError: A report of a metric or window that no accepted lock knows; nothing is kept.
            StoreError: The store cannot be written; nothing is kept.
        """
        ...

    def windows(self) -> list[WindowKey]:
        """Every window with reports, sorted."""
        ...

    def reports(self, key: WindowKey) -> list[Report]:
        """The window's reports, sorted by id."""
        ...

    def cells(self, metric: str | None = None) -> list[Cell]:
        """The summaries of one metric or all, sorted by window and segment."""
        ...

    def counters(self) -> dict[str, int]:
        """How often each outcome came about since the store was made."""
        ...

    def close(self) -> None:
        """Let go of the store."""
        ...

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...
