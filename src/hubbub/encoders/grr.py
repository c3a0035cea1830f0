"""Generalised randomised response: the own category with a known chance, any other one otherwise.

The device sends its value with chance keep / 2**32, and else one of the size - 1 other values, each as likely. With
p = keep / 2**32 and q = (1 - p) / (size - 1) the loss of one report is ln(p / q). Everything is drawn afresh.

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

MAX_SIZE = 65_536


@dataclass(frozen=True)
class Grr:
    """One of `size` categories; values: their indices."""

    name: ClassVar[str] = "grr"
    kinds: ClassVar[tuple[str, ...]] = ("choice", "histogram")
    public: ClassVar[int] = 0
    public_bits: ClassVar[float] = 0.0
    memo: ClassVar[int] = 0
    size: int
    keep: int

    def __post_init__(self) -> None:
        check("size", self.size, 2, MAX_SIZE)
        check("keep", self.keep, SCALE // self.size + 1, SCALE - 1)

    @property
    def radices(self) -> tuple[int, ...]:
        """One field: a category."""
        return (self.size,)

    @property
    def linkage_bits(self) -> float:
        """Most that a steady device's report tells about its next."""
        p, q = self.chances()
        return fresh_linkage(self.size, float(p - q), float(p - q) * ratio(p, q))

    def permanent(self, value: int, prf: Prf) -> Answer:
        """No words: everything is drawn afresh."""
        held(value, self.size)
        return (value,)

    def report(self, answer: Answer, words: Words) -> Payload:
        """Two words: whether it stays, and which other one it would be."""
        value, stays = answer[0], words(1)[0] < self.keep
        other = below(self.size - 1, words)
        return (value if stays else other + (other >= value),)

    def chances(self) -> tuple[Fraction, Fraction]:
        """Exact chance of the own category, and of any other one."""
        return Fraction(self.keep, SCALE), Fraction(SCALE - self.keep, SCALE * (self.size - 1))

    def possible(self, payload: Payload) -> bool:
        """Any category."""
        return True

    def law(self, value: int, public: Payload = ()) -> Law:
        """Exact chance of each category."""
        p, q = self.chances()
        return {(other,): p if other == value else q for other in range(self.size)}

    def prices(self, windows: int) -> Prices:
        """In nats; see spec/prices.md."""
        return fresh(ratio(*self.chances()), windows)

    def canonical(self) -> tuple[int, ...]:
        """(size, keep)."""
        return (self.size, self.keep)
