"""From summaries to estimates: rows per window and segment, and several windows together."""

from hubbub.estimates.instants import Instant, instant
from hubbub.estimates.known import Costs, Known, metrics
from hubbub.estimates.periods import NO_WINDOWS, Difference, Period, difference, period
from hubbub.estimates.rows import Row, check_level, rows
from hubbub.estimates.words import WindowWords, word_rows, words

__all__ = [
    "NO_WINDOWS",
    "Costs",
    "Difference",
    "Instant",
    "Known",
    "Period",
    "Row",
    "WindowWords",
    "check_level",
    "difference",
    "instant",
    "metrics",
    "period",
    "rows",
    "word_rows",
    "words",
]
