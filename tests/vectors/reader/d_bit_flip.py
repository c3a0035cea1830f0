"""spec/mechanisms/d_bit_flip.md."""

from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from itertools import product
from math import comb
from typing import Any

from tests.vectors.reader.device import Device, Words
from tests.vectors.reader.estimates import scored, shares, spread
from tests.vectors.reader.prices import apart
from tests.vectors.reader.unary import bits
from tests.vectors.reader.words import SCALE, choose, need


class DBitFlip(Device):
    length = 3

    def __init__(self, size: int, d: int, lie: int) -> None:
        need(2 <= size <= 65_536)
        need(1 <= d <= size)
        need(1 <= lie < 2**31)
        self.size, self.d, self.lie = size, d, lie
        self.q = Fraction(lie, SCALE)
        self.public = 0 if d == size else d
        self.radices = [*[size - d + 1] * self.public, *[2] * d]
        self.draws = min(d, size - d)
        self.bounds = [*range(size - self.draws + 1, size + 1), *[1] * d]

    def report(self, answer: Sequence[int], words: Words) -> list[int]:
        drawn: list[int] = []
        for bound in self.bounds[: self.draws]:
            bucket = choose(bound, words)
            drawn.append(bound - 1 if bucket in drawn else bucket)
        asked = [bucket for bucket in range(self.size) if (bucket in drawn) == (self.draws == self.d)]
        sent = [int(next(words) < (SCALE - self.lie if bucket == answer[0] else self.lie)) for bucket in asked]
        return [bucket - place for place, bucket in enumerate(asked)][: self.public] + sent

    def law(self, value: int, public: Sequence[int]) -> dict[tuple[int, ...], Fraction]:
        asked = [field + place for place, field in enumerate(public)] if self.public else range(self.size)
        chances = bits([1 - self.q if bucket == value else self.q for bucket in asked])
        return {(*public, *sent): chance for sent, chance in chances.items()}

    def apart(self) -> tuple[Decimal, Fraction, Decimal]:
        """By which of the two buckets are asked."""
        laws: list[dict[tuple[int, ...], Fraction]] = [{}, {}]
        for asked in product((0, 1), repeat=2):
            left = self.d - sum(asked)
            if not 0 <= left <= self.size - 2:
                continue
            chance = Fraction(comb(self.size - 2, left), comb(self.size, self.d))
            for own, law in enumerate(laws):
                ones = [1 - self.q if bucket == own else self.q for bucket in (0, 1) if asked[bucket]]
                law.update({(*asked, *sent): chance * one for sent, one in bits(ones).items()})
        return apart(*laws)

    def estimate(
        self, n: int, counts: Sequence[int], level: float, lower: Fraction, step: Fraction, simultaneous: bool
    ) -> Any:
        need(n)
        need(len(counts) == 2 * self.size)
        need(all(0 <= count <= n for count in counts))
        asked, ones = counts[: self.size], counts[self.size :]
        need(all(one <= all_ for one, all_ in zip(ones, asked, strict=True)))
        need(sum(asked) == n * self.d)
        if self.d == self.size:
            return shares(ones, n, 1 - self.q, self.q, level, simultaneous)
        times = Fraction(self.size, self.d)
        each = times / (1 - 2 * self.q)
        pairs = list(zip(asked, ones, strict=True))
        values = [each * (one - self.q * all_) / n for all_, one in pairs]
        squares = [each**2 * (one * (1 - self.q) ** 2 + (all_ - one) * self.q**2) / n for all_, one in pairs]
        noise = times * self.q * (1 - self.q) / (1 - 2 * self.q) ** 2
        noises, slopes = [noise] * self.size, [times - 1] * self.size
        return scored(values, spread(squares, values, n), n, noises, slopes, level, simultaneous)
