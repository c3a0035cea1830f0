"""spec/mechanisms/sue.md and oue.md."""

from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from itertools import product
from math import prod
from typing import Any

from tests.vectors.reader.device import Device, Streams, Words
from tests.vectors.reader.prices import apart, kept_bits, shared_bits
from tests.vectors.reader.prices import bits as told
from tests.vectors.reader.words import SCALE, need


class Unary(Device):
    length = 4

    def __init__(self, size: int, lie: int, flip: int, memo: int) -> None:
        need(2 <= size <= 65_536)
        need(1 <= lie < 2**31)
        need(memo in (0, 1))
        need(0 <= flip < 2**31 if memo else flip == 0)
        self.size, self.radices, self.bounds = size, [2] * size, [1] * (2 * size + 1 if memo else size)
        self.thresholds, self.flip, self.memo = [self.own(lie), lie], flip, memo
        self.first, g = [Fraction(threshold, SCALE) for threshold in self.thresholds], Fraction(flip, SCALE)
        self.sent = g, 1 - g
        self.p, self.q = ((1 - g) * one + g * (1 - one) for one in self.first)

    def own(self, lie: int) -> int:
        """The threshold of the own category."""
        raise NotImplementedError

    def permanent(self, value: int, streams: Streams) -> Sequence[int]:
        need(0 <= value < self.size)
        if not self.memo:
            return [value]
        others, own = streams("memo", 0), streams("memo", 1, value)
        drawn = [int(next(others) < self.thresholds[1]) for _ in range(self.size)]
        mine = int(next(own) < self.thresholds[0])
        return [*drawn[:value], mine, *drawn[value + 1 :]]

    def report(self, answer: Sequence[int], words: Words) -> list[int]:
        if self.memo:
            return [1 - bit if next(words) < self.flip else bit for bit in answer]
        return [int(next(words) < self.thresholds[category != answer[0]]) for category in range(self.size)]

    def law(self, value: int, public: Sequence[int]) -> dict[tuple[int, ...], Fraction]:
        return bits([self.p if category == value else self.q for category in range(self.size)])

    def apart(self) -> tuple[Decimal, Fraction, Decimal]:
        """Two bits differ, and the others are independent of them."""
        return apart(bits([self.p, self.q]), bits([self.q, self.p]))

    def linkage_bits(self) -> Decimal:
        if not self.memo:
            return super().linkage_bits()
        _, _, nats = self.apart()
        own, other = (shared_bits(one, self.sent) for one in self.first)
        return min(told(Decimal(self.size).ln()), told(nats)) + own + (self.size - 1) * other

    def prices(self, windows: int) -> Any:
        if not self.memo:
            return super().prices(windows)
        steady = apart(bits(self.first), bits(self.first[::-1]))[0]
        entries = self.first[1], self.first[0]
        return kept_bits(self.apart()[0], steady, self.sent, entries, 1, self.size, windows)

    def support(self) -> tuple[Fraction, Fraction]:
        return self.p, self.q

    def kept(self) -> tuple[Fraction, Fraction]:
        return (self.first[0], self.first[1]) if self.memo else super().kept()


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
