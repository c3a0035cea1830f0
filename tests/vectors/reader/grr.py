"""spec/mechanisms/grr.md."""

from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

from tests.vectors.reader import prices
from tests.vectors.reader.device import Device, Streams, Words
from tests.vectors.reader.words import SCALE, choose, need


class Grr(Device):
    length = 4

    def __init__(self, size: int, keep: int, again: int, memo: int) -> None:
        need(2 <= size <= 65_536)
        need(keep * size > SCALE)
        need(keep < SCALE)
        need(memo in (0, 1))
        need(SCALE < again * size <= SCALE * size if memo else again == 0)
        self.size, self.keep, self.again, self.memo = size, keep, again, memo
        self.radices, self.bounds = [size], [1, size - 1] * (1 + memo)
        self.rounds = [(p, (1 - p) / (size - 1)) for p in (Fraction(keep, SCALE), Fraction(again, SCALE))][: 1 + memo]

    def told(self, category: int, keep: int, words: Words) -> int:
        """One round."""
        stays = next(words) < keep
        others = [*range(category), *range(category + 1, self.size)]
        other = others[choose(self.size - 1, words)]
        return category if stays else other

    def permanent(self, value: int, streams: Streams) -> list[int]:
        need(0 <= value < self.size)
        return [self.told(value, self.keep, streams("memo", value)) if self.memo else value]

    def report(self, answer: Sequence[int], words: Words) -> list[int]:
        return [self.told(answer[0], self.again if self.memo else self.keep, words)]

    def law(self, value: int, public: Sequence[int]) -> dict[tuple[int, ...], Fraction]:
        p, q = self.support()
        return {(sent,): p if sent == value else q for sent in range(self.size)}

    def support(self) -> tuple[Fraction, Fraction]:
        p, q = self.rounds[0]
        if self.memo:
            again, other = self.rounds[1]
            p, q = p * again + (1 - p) * other, q * again + (1 - q) * other
        return p, q

    def kept(self) -> tuple[Fraction, Fraction]:
        return self.rounds[0] if self.memo else super().kept()

    def prices(self, windows: int) -> Any:
        if not self.memo:
            return super().prices(windows)
        first, second = ((p, q, self.size) for p, q in self.rounds)
        return prices.choice(first, second, self.size, windows)

    def linkage_bits(self) -> Decimal:
        return prices.choice_linkage((*self.rounds[1], self.size)) if self.memo else super().linkage_bits()
