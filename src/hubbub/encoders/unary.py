"""Unary encoding: a bit for each category, 1 for the own one and 0 for the others, each sent wrong with a known chance.

Bit i is [word_i < threshold], with the threshold `own` for the own category and `lie` for any other one. With p = own /
2**32 and q = lie / 2**32 two values differ in two bits, so the loss of one report is ln(p (1 - q) / (q (1 - p))).
Everything is drawn afresh. Which p goes with q is what the mechanisms differ in: sue.py, oue.py.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import prod
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
    ratio,
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
    memo: ClassVar[int] = 0
    size: int
    lie: int

    def __post_init__(self) -> None:
        check("size", self.size, 2, MAX_SIZE)
        check("lie", self.lie, 1, HALF - 1)

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
        return fresh_linkage(self.size, float(p - q), float(p - q) * self._loss())

    def permanent(self, value: int, prf: Prf) -> Answer:
        """No words: everything is drawn afresh."""
        held(value, self.size)
        return (value,)

    def report(self, answer: Answer, words: Words) -> Payload:
        """A word for each category, in order."""
        value, own, lie = answer[0], self.own, self.lie
        return tuple(int(word < (own if i == value else lie)) for i, word in enumerate(words(self.size)))

    def chances(self) -> tuple[Fraction, Fraction]:
        """Exact chance of a 1 for the own category, and for any other one."""
        return Fraction(self.own, SCALE), Fraction(self.lie, SCALE)

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
            bits: prod((one if bit else 1 - one for bit, one in zip(bits, ones, strict=True)), start=Fraction(1))
            for bits in product((0, 1), repeat=self.size)
        }

    def prices(self, windows: int) -> Prices:
        """In nats; see spec/prices.md."""
        return fresh(self._loss(), windows)

    def canonical(self) -> tuple[int, ...]:
        """(size, lie)."""
        return (self.size, self.lie)

    def _loss(self) -> float:
        p, q = self.chances()
        return ratio(p * (1 - q), q * (1 - p))
