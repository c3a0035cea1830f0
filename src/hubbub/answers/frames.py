"""Answers as pandas tables."""

from collections.abc import Sequence
from types import TracebackType
from typing import Self

import msgspec
import pandas as pd

from hubbub.answers.sources import Source, span
from hubbub.estimates import Costs, Difference, Instant, Known, Period, difference, word_rows
from hubbub.estimates.tables import frame_of
from hubbub.mechanisms.word_table import Control


class Answers:
    """What `hubbub.open` gives: estimates of a store or a listener. Usable in `with`.

    Windows are asked for by [start, end): those that lie wholly within. Both take dates, which stand for their
    midnight in UTC, datetimes and ISO text.
    """

    def __init__(self, source: Source) -> None:
        self._source = source

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def metrics(self) -> pd.DataFrame:
        """Every version of every metric, by name, newest first; prices as `price_report` and so on, in nats."""
        entries = []
        for known in self._source.metrics():
            entry = msgspec.to_builtins(known)
            entries.append(entry | {f"price_{name}": price for name, price in entry.pop("prices").items()})
        plain = [name for name in Known.__struct_fields__ if name != "prices"]
        return pd.DataFrame(entries, columns=[*plain, *(f"price_{name}" for name in Costs.__struct_fields__)])

    def estimates(
        self,
        metric: str | None = None,
        *,
        start: Instant | None = None,
        end: Instant | None = None,
        segment: str | None = None,
        level: float = 0.95,
    ) -> pd.DataFrame:
        """One row per metric, window and segment; docs/reference/estimates.md says what the columns hold.

        Args:
            metric: Only this one.
            start: Only windows that begin at or after this.
            end: Only windows that have ended by this.
            segment: Only this one.
            level: Chance with which an interval is to hold the truth.

        Raises:
            ParameterError: An argument that does not fit.
            StoreError: The store cannot be read.
            AnswersError: The listener does not answer.
        """
        return frame_of(self._source.rows(metric, span(start, end), segment, level))

    def mean(
        self,
        metric: str,
        *,
        start: Instant | None = None,
        end: Instant | None = None,
        segment: str | None = None,
        version: int | None = None,
        level: float = 0.95,
        category: str | None = None,
    ) -> Period:
        """The mean over several windows, with an interval that allows for what they share; see `estimates.period`."""
        return self._source.period(metric, span(start, end), segment, version, level, category)

    def words(
        self,
        metric: str,
        candidates: Sequence[str],
        *,
        start: Instant | None = None,
        end: Instant | None = None,
        segment: str | None = None,
        level: float = 0.95,
        control: Control = "bonferroni",
    ) -> pd.DataFrame:
        """The columns of `estimates` for a metric of words: one row per window, segment and word that is found.

        The word is the category. A window in which none is shown has one row without a value.

        Args:
            metric: Its name.
            candidates: Words that are looked for.
            start: Only windows that begin at or after this.
            end: Only windows that have ended by this.
            segment: Only this one.
            level: 1 less the chance that a window shows any word which nobody has; also that of the intervals.
            control: `benjamini_hochberg` lets 1 - level be the expected share of such words among those shown.

        Raises:
            ParameterError: An argument that does not fit, or a listener, which cannot tell.
            StoreError: The store cannot be read.
        """
        found = self._source.words(
            metric, candidates, span(start, end), segment, level, control, lambda done, total: None
        )
        return frame_of(word_rows(found))

    def difference(self, a: Period, b: Period) -> Difference:
        """What one mean is above another; see `estimates.difference` for when its interval holds."""
        return difference(a, b)

    def close(self) -> None:
        """Let go of file or connection."""
        self._source.close()
