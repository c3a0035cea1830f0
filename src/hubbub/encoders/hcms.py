"""Hadamard count mean sketch: one bit about the word's place in a row, and in the open which bit that is.

The device draws one of `hashes` rows and one of `bits` columns, in the open and afresh. The row sends its word to one
of `bits` places. The bit is 1 if place and column have an even number of binary ones in common, and is sent wrong with
chance g = flip / 2**32. So the loss of one report is ln((1 - g) / g). No word is a word like any other, with a place of
its own. Everything is drawn afresh.

Source: Differential Privacy Team, Apple, "Learning with privacy at scale", 2017. Proofs: spec/mechanisms/hcms.md.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from hubbub.encoders.base import (
    SCALE,
    Answer,
    Law,
    Payload,
    Prf,
    Prices,
    Words,
    below,
    check,
    fresh,
    fresh_linkage,
    held,
    ratio,
)
from hubbub.encoders.words import SIZE, Shape, fits, places

HALF = SCALE // 2


@dataclass(frozen=True)
class Hcms:
    """One word; values: spec/words.md."""

    name: ClassVar[str] = "hcms"
    kinds: ClassVar[tuple[str, ...]] = ("words",)
    public: ClassVar[int] = 2
    public_bits: ClassVar[float] = 0.0
    memo: ClassVar[int] = 0
    size: ClassVar[int] = SIZE
    bits: int
    hashes: int
    flip: int

    def __post_init__(self) -> None:
        fits(self.bits, self.hashes)
        check("flip", self.flip, 1, HALF - 1)

    @property
    def shape(self) -> Shape:
        """What the place of a word follows from."""
        return Shape(self.name, self.bits, 1, self.hashes)

    @property
    def radices(self) -> tuple[int, ...]:
        """Row, column and bit."""
        return (self.hashes, self.bits, 2)

    @property
    def linkage_bits(self) -> float:
        """Most that a steady device's report tells about its next: two words' bits differ in half of the columns."""
        distance = float(1 - 2 * Fraction(self.flip, SCALE)) / 2
        return fresh_linkage(SIZE, distance, distance * self._loss())

    def permanent(self, value: int, prf: Prf) -> Answer:
        """No words: everything is drawn afresh."""
        held(value, SIZE)
        return (value,)

    def report(self, answer: Answer, words: Words) -> Payload:
        """Three words: row, column, and whether the bit is sent wrong."""
        row, column = below(self.hashes, words), below(self.bits, words)
        return row, column, self._bit(row, column, answer[0]) ^ (words(1)[0] < self.flip)

    def possible(self, payload: Payload) -> bool:
        """Any bit of any row and column."""
        return True

    def law(self, value: int, public: Payload = ()) -> Law:
        """Exact chance of each bit in this row and column."""
        row, column = public or (0, 0)
        own, g = self._bit(row, column, value), Fraction(self.flip, SCALE)
        return {(row, column, bit): 1 - g if bit == own else g for bit in (0, 1)}

    def prices(self, windows: int) -> Prices:
        """In nats; see spec/prices.md."""
        return fresh(self._loss(), windows)

    def canonical(self) -> tuple[int, ...]:
        """(bits, hashes, flip)."""
        return (self.bits, self.hashes, self.flip)

    def _bit(self, row: int, column: int, value: int) -> int:
        """1 for a plus of the Hadamard matrix, 0 for a minus."""
        (place,) = places(self.shape, row, value)
        return 1 - (place & column).bit_count() % 2

    def _loss(self) -> float:
        g = Fraction(self.flip, SCALE)
        return ratio(1 - g, g)
