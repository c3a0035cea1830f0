"""Harmony: one coordinate of a vector, drawn without looking at it, by one bit.

The device draws a coordinate, which is public, rounds it to an end of its range by chance, so that it is right on
average, and sends which end that is: the wrong one with chance low / 2**32. With p = 1 - low / 2**32 the loss of one
report is ln(p / (1 - p)), however many coordinates there are. Everything is drawn afresh.

Source: Nguyên et al. 2016, arXiv 1606.05053. Proofs: spec/mechanisms/harmony.md.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from hubbub.encoders.base import (
    SCALE,
    Answer,
    Law,
    Payload,
    Prices,
    Words,
    below,
    check,
    fresh,
    fresh_linkage,
    ratio,
)
from hubbub.encoders.levels import level
from hubbub.encoders.vector import Coordinates, fits


@dataclass(frozen=True)
class Harmony(Coordinates):
    """A vector of bounded numbers; values: spec/coordinates.md."""

    name: ClassVar[str] = "harmony"
    public: ClassVar[int] = 1
    dimension: int
    ticks: int
    low: int

    def __post_init__(self) -> None:
        fits(self.dimension, self.ticks)
        check("low", self.low, 1, SCALE // 2 - 1)

    @property
    def radices(self) -> tuple[int, ...]:
        """A coordinate, and its bit."""
        return (self.dimension, 2)

    @property
    def linkage_bits(self) -> float:
        """Most that a steady device's report tells about its next."""
        p, q = self.chances()
        return fresh_linkage(self.size, float(p - q), float(p - q) * ratio(p, q))

    def report(self, answer: Answer, words: Words) -> Payload:
        """Words for the coordinate, its end of the range (none where each tick is one), and whether to lie."""
        drawn = below(self.dimension, words)
        end = level(answer[drawn], self.ticks, 1, words)
        return (drawn, end ^ (words(1)[0] < self.low))

    def chances(self) -> tuple[Fraction, Fraction]:
        """Exact chance of the right end, and of the wrong one."""
        q = Fraction(self.low, SCALE)
        return 1 - q, q

    def possible(self, payload: Payload) -> bool:
        """Any bit of any coordinate."""
        return True

    def law(self, value: int, public: Payload = ()) -> Law:
        """Exact chance of each bit of this coordinate, the first one by default."""
        (p, q), (drawn,) = self.chances(), public or (0,)
        one = q + Fraction(self.coordinates(value)[drawn], self.ticks) * (p - q)
        return {(drawn, 0): 1 - one, (drawn, 1): one}

    def prices(self, windows: int) -> Prices:
        """In nats; see spec/prices.md."""
        return fresh(ratio(*self.chances()), windows)

    def canonical(self) -> tuple[int, ...]:
        """(dimension, ticks, low)."""
        return (self.dimension, self.ticks, self.low)
