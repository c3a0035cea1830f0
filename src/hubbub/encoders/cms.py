"""Count mean sketch: the word's place in a row of bits, each bit of which is sent wrong with a known chance.

The device draws one of `hashes` rows, in the open and afresh. The row sends its word to one of `bits` places. It sends
a 1 for that place and a 0 for every other one, each of them wrong with chance g = flip / 2**32. Two words differ in two
bits, so the loss of one report is 2 ln((1 - g) / g). No word is a word like any other, with a place of its own.
Everything is drawn afresh.

Source: Differential Privacy Team, Apple, "Learning with privacy at scale", 2017. Proofs: spec/mechanisms/cms.md.
"""

from dataclasses import dataclass
from fractions import Fraction
from itertools import product
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
class Cms:
    """One word; values: spec/words.md."""

    name: ClassVar[str] = "cms"
    kinds: ClassVar[tuple[str, ...]] = ("words",)
    public: ClassVar[int] = 1
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
        """The row, then its bits."""
        return (self.hashes, *(2,) * self.bits)

    @property
    def linkage_bits(self) -> float:
        """Most that a steady device's report tells about its next."""
        g = Fraction(self.flip, SCALE)
        distance = float(1 - 2 * g)
        return fresh_linkage(SIZE, distance, distance * self._loss())

    def permanent(self, value: int, prf: Prf) -> Answer:
        """No words: everything is drawn afresh."""
        held(value, SIZE)
        return (value,)

    def report(self, answer: Answer, words: Words) -> Payload:
        """A word for the row, then one for each of its bits."""
        row = below(self.hashes, words)
        (own,) = places(self.shape, row, answer[0])
        flip = self.flip
        bits = [1 if word < flip else 0 for word in words(self.bits)]
        bits[own] ^= 1
        return (row, *bits)

    def possible(self, payload: Payload) -> bool:
        """Any bits of any row."""
        return True

    def chance(self, value: int, payload: Payload) -> Fraction:
        """Exact chance of one payload, given its row: of any width."""
        g, (own,) = Fraction(self.flip, SCALE), places(self.shape, payload[0], value)
        right = sum(bit == (place == own) for place, bit in enumerate(payload[1:]))
        return (1 - g) ** right * g ** (self.bits - right)

    def law(self, value: int, public: Payload = ()) -> Law:
        """Exact chance of each of the 2**bits payloads of a row: for few bits only."""
        payloads = product(public or (0,), *((0, 1) for _ in range(self.bits)))
        return {payload: self.chance(value, payload) for payload in payloads}

    def prices(self, windows: int) -> Prices:
        """In nats; see spec/prices.md."""
        return fresh(self._loss(), windows)

    def canonical(self) -> tuple[int, ...]:
        """(bits, hashes, flip)."""
        return (self.bits, self.hashes, self.flip)

    def _loss(self) -> float:
        g = Fraction(self.flip, SCALE)
        return ratio((1 - g) ** 2, g**2)
