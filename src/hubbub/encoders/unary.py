"""Unary encoding: a bit for each category, 1 for the own one and 0 for the others, each sent wrong with a known chance.

Bit i is [word_i < threshold], with the threshold `own` for the own category and `lie` for any other one. With memo = 0
these bits are the report, drawn afresh. With memo = 1 they are permanent answers, two for each position, one for the
own category and one for any other one, and each report sends each of them wrong with chance flip / 2**32. With p and q
the chances of a 1 for the own category and for any other one, over both rounds, two values differ in two bits, so the
loss of one report is ln(p (1 - q) / (q (1 - p))). The mechanisms differ in `own`: sue.py, oue.py.
"""

import math
from abc import ABC, abstractmethod
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
    check,
    fresh,
    fresh_linkage,
    held,
    kept_bits,
    loss,
    ratio,
    shared_bits,
)

MAX_SIZE = 65_536
HALF = SCALE // 2


@dataclass(frozen=True)
class Unary(ABC):
    """One of `size` categories; values: their indices."""

    name: ClassVar[str]
    kinds: ClassVar[tuple[str, ...]] = ("choice", "histogram")
    public: ClassVar[int] = 0
    public_bits: ClassVar[float] = 0.0
    size: int
    lie: int
    flip: int
    memo: int

    def __post_init__(self) -> None:
        check("size", self.size, 2, MAX_SIZE)
        check("lie", self.lie, 1, HALF - 1)
        check("memo", self.memo, 0, 1)
        check("flip", self.flip, 0, (HALF - 1) * self.memo)

    @property
    @abstractmethod
    def own(self) -> int:
        """Share of words that set the own category's bit."""

    @property
    def radices(self) -> tuple[int, ...]:
        """A bit for each category."""
        return (2,) * self.size

    @property
    def linkage_bits(self) -> float:
        """Most that a steady device's report tells about its next."""
        p, q = self.chances()
        nats = float(p - q) * self._report()
        if not self.memo:
            return fresh_linkage(self.size, float(p - q), nats)
        flip = Fraction(self.flip, SCALE)
        own, other = (shared_bits(one, flip, 1 - flip) for one in self.kept())
        return (min(math.log2(self.size), nats / math.log(2)) + own + (self.size - 1) * other) * (1 + 1e-12)

    def permanent(self, value: int, prf: Prf) -> Answer:
        """Where `memo` a bit for each category, of `size` words, and of one that is the category's; none otherwise."""
        held(value, self.size)
        if not self.memo:
            return (value,)
        lie = self.lie
        bits = [1 if word < lie else 0 for word in prf("memo", 0)(self.size)]
        bits[value] = int(prf("memo", 1, value)(1)[0] < self.own)
        return tuple(bits)

    def report(self, answer: Answer, words: Words) -> Payload:
        """A word for each category, in order."""
        if self.memo:
            flip = self.flip
            return tuple([bit ^ (word < flip) for bit, word in zip(answer, words(self.size), strict=True)])
        value, lie, drawn = answer[0], self.lie, words(self.size)
        bits = [1 if word < lie else 0 for word in drawn]
        bits[value] = int(drawn[value] < self.own)
        return tuple(bits)

    def kept(self) -> tuple[Fraction, Fraction]:
        """Exact chance of a 1 before any flip, for the own category and for any other one."""
        return Fraction(self.own, SCALE), Fraction(self.lie, SCALE)

    def chances(self) -> tuple[Fraction, Fraction]:
        """Exact chance that 1 is sent for the own category, and for any other one, over both rounds."""
        flip = Fraction(self.flip, SCALE)
        own, other = (flip + one * (1 - 2 * flip) for one in self.kept())
        return own, other

    def possible(self, payload: Payload) -> bool:
        """Any bits."""
        return True

    def chance(self, value: int, payload: Payload) -> Fraction:
        """Exact chance of one payload, whatever the number of categories."""
        p, q = self.chances()
        ones = sum(payload) - payload[value]
        others = q**ones * (1 - q) ** (self.size - 1 - ones)
        return (p if payload[value] else 1 - p) * others

    def law(self, value: int, public: Payload = ()) -> Law:
        """Exact chance of each of the 2**size payloads: for few categories only."""
        p, q = self.chances()
        ones = [p if i == value else q for i in range(self.size)]
        return {
            bits: math.prod((one if bit else 1 - one for bit, one in zip(bits, ones, strict=True)), start=Fraction(1))
            for bits in product((0, 1), repeat=self.size)
        }

    def prices(self, windows: int) -> Prices:
        """In nats; see spec/prices.md."""
        if not self.memo:
            return fresh(self._report(), windows)
        flip, entries = Fraction(self.flip, SCALE), (self.lie, self.own)
        return kept_bits(self._report(), told(*self.kept()), loss(flip, 1 - flip), entries, 1, self.size, windows)

    def canonical(self) -> tuple[int, ...]:
        """(size, lie, flip, memo)."""
        return (self.size, self.lie, self.flip, self.memo)

    def _report(self) -> float:
        return told(*self.chances())


def told(p: Fraction, q: Fraction) -> float:
    """Loss of two bits of which one is 1 with chance p and the other with chance q < p, or the other way round."""
    return ratio(p * (1 - q), q * (1 - p))
