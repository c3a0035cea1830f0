"""From summaries to estimates: rows per window and segment, and several windows together."""

from hubbub.estimates.periods import Difference, Period, difference, mean_of
from hubbub.estimates.rows import Row, rows

__all__ = ["Difference", "Period", "Row", "difference", "mean_of", "rows"]
