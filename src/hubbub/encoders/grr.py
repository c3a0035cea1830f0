"""Generalised randomised response: the own category with a known chance, any other one otherwise.

The device sends its value with chance keep / 2**32, and else one of the size - 1 other values, each as likely. With
p = keep / 2**32 and q = (1 - p) / (size - 1) the loss of one report is ln(p / q). `memo`: that category is drawn once
for each value and kept, and each report does the same again to it with chance again / 2**32, so that over both rounds a
report is once more its value with one chance and each other one with another. Otherwise everything is drawn afresh and
again is 0.

Source: Kairouz, Bonawitz, Ramage, ICML 2016. Proofs: spec/mechanisms/grr.md.
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
from hubbub.encoders.choices import kept_choice, kept_linkage, stays, stays_twice

MAX_SIZE = 65_536


@dataclass(frozen=True)
class Grr:
    """One of `size` categories; values: their indices."""

    name: ClassVar[str] = "grr"
    kinds: ClassVar[tuple[str, ...]] = ("choice", "histogram")
    public: ClassVar[int] = 0
    public_bits: ClassVar[float] = 0.0
    size: int
    keep: int
    again: int
    memo: int

    def __post_init__(self) -> None:
        check("memo", self.memo, 0, 1)
        check("size", self.size, 2, MAX_SIZE)
        check("keep", self.keep, SCALE // self.size + 1, SCALE - 1)
        check("again", self.again, self.memo * (SCALE // self.size + 1), self.memo * SCALE)

    @property
    def radices(self) -> tuple[int, ...]:
        """One field: a category."""
        return (self.size,)

    @property
    def linkage_bits(self) -> float:
        """Most that a steady device's report tells about its next."""
        if self.memo:
            return kept_linkage(self.again, self.size)
        p, q = self.chances()
        return fresh_linkage(self.size, float(p - q), float(p - q) * ratio(p, q))

    def permanent(self, value: int, prf: Prf) -> Answer:
        """Two words where `memo`, none otherwise."""
        held(value, self.size)
        return (self._disguised(value, self.keep, prf("memo", value)),) if self.memo else (value,)

    def report(self, answer: Answer, words: Words) -> Payload:
        """Two words."""
        return (self._disguised(answer[0], self.again if self.memo else self.keep, words),)

    def _disguised(self, category: int, keep: int, words: Words) -> int:
        """Two words: whether it stays, and which other one it would be."""
        same = words(1)[0] < keep
        other = below(self.size - 1, words)
        return category if same else other + (other >= category)

    def chances(self) -> tuple[Fraction, Fraction]:
        """Exact chance of the own category, and of any other one, over both rounds."""
        return stays_twice(self.keep, self.again, self.size) if self.memo else stays(self.keep, self.size)

    def possible(self, payload: Payload) -> bool:
        """Any category."""
        return True

    def law(self, value: int, public: Payload = ()) -> Law:
        """Exact chance of each category."""
        p, q = self.chances()
        return {(other,): p if other == value else q for other in range(self.size)}

    def prices(self, windows: int) -> Prices:
        """In nats; see spec/prices.md."""
        if not self.memo:
            return fresh(ratio(*self.chances()), windows)
        return kept_choice(self.keep, self.again, self.size, self.size, windows)

    def canonical(self) -> tuple[int, ...]:
        """(size, keep, again, memo)."""
        return (self.size, self.keep, self.again, self.memo)
