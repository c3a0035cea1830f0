"""Discrete Laplace: a number with geometric noise on either side, held within its range.

A tick goes to one of top + 1 levels. The report is the level plus noise Z, clamped to [0, top]. Z is symmetric, and is
d or more with chance t_d / 2**32. With a = ratio / 2**32, t_1 is 2**32 a / (1 + a), and each further one is a times the
one before, reckoned with 32 more bits and rounded down. The loss of one report is ln((2**32 - t_1) / t_top), the ratio
of an end's chances at the two ends of the range. Everything is drawn afresh; a device compares integers and never takes
a logarithm.

Source: Ghosh, Roughgarden, Sundararajan, STOC 2009 (two-sided geometric noise). Proofs:
spec/mechanisms/discrete_laplace.md.
"""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from math import tanh
from typing import ClassVar

from hubbub.encoders.base import (
    SCALE,
    Answer,
    Law,
    Payload,
    Prices,
    Words,
    check,
    fresh,
    fresh_linkage,
    ratio,
)
from hubbub.encoders.levels import OnTicks, beside, cut, level
from hubbub.errors import ParameterError

MAX_TOP = 255  # beyond it rounded tails would weigh too much


@dataclass(frozen=True)
class DiscreteLaplace(OnTicks):
    """A bounded number; values: ticks in [0, ticks]."""

    name: ClassVar[str] = "discrete_laplace"
    ticks: int
    top: int
    ratio: int

    def __post_init__(self) -> None:
        cut(self.ticks, self.top)
        check("top", self.top, 1, MAX_TOP)
        check("ratio", self.ratio, 1, SCALE - 1)
        cells, tails = self.cells, self.tails
        if min(*cells, tails[-1]) < 1:
            raise ParameterError("ratio", self.ratio, "such that every noise has a chance")
        if max(cells) * tails[-1] > min(cells) * (SCALE - tails[0]):
            raise ParameterError("ratio", self.ratio, "such that the ends of the range decide about the loss")

    @property
    def tails(self) -> Sequence[int]:
        """t_1 to t_top: words that lead to noise of d or more; as many to -d or less."""
        return tails_of(self.top, self.ratio)

    @property
    def thresholds(self) -> Sequence[int]:
        """Words below the i-th of these, in [0, 2 top), lead to noise of at most i - top."""
        return _thresholds(self.top, self.ratio)

    @property
    def cells(self) -> list[int]:
        """Words that lead to noise of exactly 0, 1, to top - 1."""
        return [SCALE - 2 * self.tails[0], *(one - further for one, further in pairwise(self.tails))]

    @property
    def radices(self) -> tuple[int, ...]:
        """One field: a level with its noise."""
        return (self.top + 1,)

    @property
    def linkage_bits(self) -> float:
        """Most that a steady device's report tells about its next."""
        report = self.prices(1).report
        apart = tanh(report / 2)  # no two laws of this loss are further apart
        return fresh_linkage(self.size, apart, apart * report)

    def report(self, answer: Answer, words: Words) -> Payload:
        """One word for the level unless each tick is one, then one for the noise."""
        at = level(answer[0], self.ticks, self.top, words)
        noise = bisect_right(self.thresholds, words(1)[0]) - self.top
        return (min(max(at + noise, 0), self.top),)

    def possible(self, payload: Payload) -> bool:
        """Any level."""
        return True

    def row(self, at: int) -> list[int]:
        """Words that lead from this level to each output."""
        tails, cells, top = self.tails, self.cells, self.top
        row = [cells[abs(output - at)] if 0 < output < top else 0 for output in range(top + 1)]
        row[0] = tails[at - 1] if at else SCALE - tails[0]
        row[top] = tails[top - at - 1] if at < top else SCALE - tails[0]
        return row

    def law(self, value: int, public: Payload = ()) -> Law:
        """Exact chance of each output."""
        law = [Fraction(0)] * (self.top + 1)
        for at, chance in beside(value, self.ticks, self.top):
            law = [sum_ + chance * Fraction(words, SCALE) for sum_, words in zip(law, self.row(at), strict=True)]
        return {(output,): chance for output, chance in enumerate(law)}

    def prices(self, windows: int) -> Prices:
        """In nats; see spec/prices.md."""
        return fresh(ends(self.top, self.ratio), windows)

    def canonical(self) -> tuple[int, ...]:
        """(ticks, top, ratio)."""
        return (self.ticks, self.top, self.ratio)


@lru_cache(maxsize=64)
def tails_of(top: int, shrink: int) -> tuple[int, ...]:
    """t_1 to t_top."""
    fine = SCALE * SCALE * shrink // (SCALE + shrink)
    tails = [fine // SCALE]
    for _ in range(top - 1):
        fine = fine * shrink // SCALE
        tails.append(fine // SCALE)
    return tuple(tails)


def ends(top: int, shrink: int) -> float:
    """Log ratio of an end's chances at the two ends of the range."""
    tails = tails_of(top, shrink)
    return ratio(Fraction(SCALE - tails[0]), Fraction(tails[-1]))


@lru_cache(maxsize=64)
def _thresholds(top: int, shrink: int) -> tuple[int, ...]:
    tails = tails_of(top, shrink)
    return (*reversed(tails), *(SCALE - tail for tail in tails))
