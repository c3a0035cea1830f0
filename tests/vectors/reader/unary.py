"""spec/mechanisms/sue.md and oue.md."""

from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from itertools import product
from math import prod

from tests.vectors.reader.device import Device, Words
from tests.vectors.reader.prices import apart
from tests.vectors.reader.words import SCALE, need


class Unary(Device):
    length = 2

    def __init__(self, size: int, lie: int) -> None:
        need(2 <= size <= 65_536)
        need(1 <= lie < 2**31)
        self.size, self.radices, self.bounds = size, [2] * size, [1] * size
        self.thresholds = [self.own(lie), lie]
        self.p, self.q = (Fraction(threshold, SCALE) for threshold in self.thresholds)

    def own(self, lie: int) -> int:
        """The threshold of the own category."""
        raise NotImplementedError

    def report(self, answer: Sequence[int], words: Words) -> list[int]:
        return [int(next(words) < self.thresholds[category != answer[0]]) for category in range(self.size)]

    def law(self, value: int, public: Sequence[int]) -> dict[tuple[int, ...], Fraction]:
        return bits([self.p if category == value else self.q for category in range(self.size)])

    def apart(self) -> tuple[Decimal, Fraction, Decimal]:
        """Two bits differ, and the others are independent of them."""
        return apart(bits([self.p, self.q]), bits([self.q, self.p]))

    def support(self) -> tuple[Fraction, Fraction]:
        return self.p, self.q


class Sue(Unary):
    def own(self, lie: int) -> int:
        return SCALE - lie


class Oue(Unary):
    def own(self, lie: int) -> int:
        return 2**31


def bits(ones: Sequence[Fraction]) -> dict[tuple[int, ...], Fraction]:
    """The law of independent bits with these chances of a 1."""
    every = product((0, 1), repeat=len(ones))
    return {
        sent: prod((p if bit else 1 - p for bit, p in zip(sent, ones, strict=True)), start=Fraction(1))
        for sent in every
    }
