"""Where answers come from: a store file, or the read listener of a collector, which gives the same."""

import os
from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import NamedTuple, Protocol

from hubbub.clock import Clock, SystemClock
from hubbub.errors import HubbubError, ParameterError
from hubbub.estimates import Instant, Known, Period, Row, WindowWords, instant, metrics, period, rows, words
from hubbub.estimates.words import Progress
from hubbub.mechanisms.word_table import Control
from hubbub.store import open_store


class AnswersError(HubbubError):
    """The read listener does not answer, or what answers is none."""


class Span(NamedTuple):
    """Windows that lie wholly in [start, end), in unix seconds; None: without end on that side."""

    start: float | None
    end: float | None


def span(start: Instant | None, end: Instant | None) -> Span:
    """What lies between two points in time.

    Raises:
        ParameterError: One of them is none, or the start is not before the end.
    """
    found = Span(instant("start", start), instant("end", end))
    if found.start is not None and found.end is not None and not found.start < found.end:
        raise ParameterError("start", str(start), f"before the end, {end}")
    return found


class Source(AbstractContextManager["Source"], Protocol):
    """What can be asked. Unknown metrics, segments and versions, and a level outside (0, 1), are ParameterErrors."""

    @property
    def ahead(self) -> bool:
        """Whether its time runs ahead of the clock that is read here."""
        ...

    def metrics(self) -> list[Known]:
        """Every version of every metric, by name, newest first."""
        ...

    def rows(self, metric: str | None, within: Span, segment: str | None, level: float) -> list[Row]:
        """Estimates by metric, window, version and segment."""
        ...

    def period(
        self,
        metric: str,
        within: Span,
        segment: str | None,
        version: int | None,
        level: float,
        category: str | None = None,
    ) -> Period:
        """The mean over the windows within."""
        ...

    def words(
        self,
        metric: str,
        candidates: Sequence[str],
        within: Span,
        segment: str | None,
        level: float,
        control: Control,
        progress: Progress,
    ) -> list[WindowWords]:
        """The candidates that each window within is found to have; a store file alone can tell."""
        ...

    def close(self) -> None:
        """Let go of file or connection."""
        ...


def source(path_or_url: str | os.PathLike[str], *, clock: Clock | None = None) -> Source:
    """The answers of a store file, or of the read listener at an address.

    Args:
        path_or_url: The SQLite file of a collector, which may run meanwhile; or the address that `hubbub serve` prints
            after "reading on". Plain http goes to this machine alone.
        clock: What decides which windows of a file are open or final; by default the machine's, or for a store of
            `serve --dev` the one it runs by. A listener has its own.

    Raises:
        ParameterError: Another kind of address.
        StoreError: The file is no store, or cannot be read.
    """
    if isinstance(path_or_url, str) and "://" in path_or_url:
        from hubbub.answers.remote import Listener

        return Listener(path_or_url)
    return File(path_or_url, clock)


class File:
    """The answers of a store file."""

    def __init__(self, path: str | os.PathLike[str], clock: Clock | None) -> None:
        self._store = open_store(path, read_only=True)
        self._clock = clock or self._store.clock or SystemClock()

    @property
    def ahead(self) -> bool:
        """Whether it is a store of `serve --dev` that does not say what it runs by, and the clock is this machine's."""
        return self._store.dev and isinstance(self._clock, SystemClock)

    def __enter__(self) -> "File":
        return self

    def __exit__(self, *reason: object) -> None:
        self.close()

    def metrics(self) -> list[Known]:
        """Every version of every metric, by name, newest first."""
        return metrics(self._store)

    def rows(self, metric: str | None, within: Span, segment: str | None, level: float) -> list[Row]:
        """Estimates by metric, window, version and segment."""
        now = self._clock.now()
        return rows(
            self._store, now=now, metric=metric, start=within.start, end=within.end, segment=segment, level=level
        )

    def period(
        self,
        metric: str,
        within: Span,
        segment: str | None,
        version: int | None,
        level: float,
        category: str | None = None,
    ) -> Period:
        """The mean over the windows within."""
        return period(
            self._store,
            now=self._clock.now(),
            metric=metric,
            start=within.start,
            end=within.end,
            segment=segment,
            version=version,
            level=level,
            category=category,
        )

    def words(
        self,
        metric: str,
        candidates: Sequence[str],
        within: Span,
        segment: str | None,
        level: float,
        control: Control,
        progress: Progress,
    ) -> list[WindowWords]:
        """The candidates that each window within is found to have."""
        return words(
            self._store,
            candidates,
            now=self._clock.now(),
            metric=metric,
            start=within.start,
            end=within.end,
            segment=segment,
            level=level,
            control=control,
            progress=progress,
        )

    def close(self) -> None:
        """Let go of the file."""
        self._store.close()
