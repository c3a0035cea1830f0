"""spec/mechanisms/d_bit_flip.md."""

from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from itertools import product
from math import comb
from typing import Any

from tests.vectors.reader.device import Device, Streams, Words
from tests.vectors.reader.estimates import above, scored, shares, spread
from tests.vectors.reader.prices import apart, kept_bits, log, shared_bits
from tests.vectors.reader.prices import bits as told
from tests.vectors.reader.unary import bits
from tests.vectors.reader.words import SCALE, choose, need


class DBitFlip(Device):
    length = 5

    def __init__(self, size: int, d: int, lie: int, flip: int, memo: int) -> None:
        need(2 <= size <= 65_536)
        need(1 <= d <= size)
        need(1 <= lie < 2**31)
        need(memo in (0, 1))
        need(0 <= flip < 2**31 if memo else flip == 0)
        self.size, self.d, self.lie, self.flip, self.memo = size, d, lie, flip, memo
        self.first, self.g = Fraction(lie, SCALE), Fraction(flip, SCALE)
        self.q = self.first * (1 - self.g) + (1 - self.first) * self.g
        self.public = 0 if d == size else 1 if memo else d
        self.radices = [*[size if memo else size - d + 1] * self.public, *[2] * d]
        self.draws = min(d, size - d)
        draws = [size] * self.public if memo else [*range(size - self.draws + 1, size + 1)]
        self.bounds = [*draws, *[1] * (2 * d + 1 if memo else d)]

    def permanent(self, value: int, streams: Streams) -> Sequence[int]:
        need(0 <= value < self.size)
        if not self.memo:
            return [value]
        begins = [choose(self.size, streams("pool"))] if self.public else []
        others = streams("memo", 0)
        drawn = [int(next(others) < self.lie) for _ in range(self.d)]
        own = int(next(streams("memo", 1, (value - sum(begins)) % self.size)) < SCALE - self.lie)
        return [*begins, *(own if b == value else bit for b, bit in zip(self.asks(begins), drawn, strict=True))]

    def asks(self, public: Sequence[int]) -> list[int]:
        """The buckets, in the order of their bits."""
        if self.memo or not self.public:
            every = [*range(self.size)] * 2
            return every[sum(public) :][: self.d]
        return [field + place for place, field in enumerate(public)]

    def report(self, answer: Sequence[int], words: Words) -> list[int]:
        if self.memo:
            kept = answer[self.public :]
            return [*answer[: self.public], *(1 - bit if next(words) < self.flip else bit for bit in kept)]
        drawn: list[int] = []
        for bound in self.bounds[: self.draws]:
            bucket = choose(bound, words)
            drawn.append(bound - 1 if bucket in drawn else bucket)
        asked = [bucket for bucket in range(self.size) if (bucket in drawn) == (self.draws == self.d)]
        sent = [int(next(words) < (SCALE - self.lie if bucket == answer[0] else self.lie)) for bucket in asked]
        return [bucket - place for place, bucket in enumerate(asked)][: self.public] + sent

    def law(self, value: int, public: Sequence[int]) -> dict[tuple[int, ...], Fraction]:
        public = public or [0] * self.public
        chances = bits([1 - self.q if bucket == value else self.q for bucket in self.asks(public)])
        return {(*public, *sent): chance for sent, chance in chances.items()}

    def public_bits(self) -> Decimal:
        return told(Decimal(self.size).ln()) if self.memo and self.public else Decimal(0)

    def linkage_bits(self) -> Decimal:
        if not self.memo:
            return super().linkage_bits()
        each = shared_bits(self.first, (self.g, 1 - self.g))
        return min(told(Decimal(self.size).ln()), told(self.apart()[2])) + self.d * each

    def prices(self, windows: int) -> Any:
        if not self.memo:
            return super().prices(windows)
        differ = 2 if self.d > 1 else 1
        one, steady = (differ * log((1 - lie) / lie) for lie in (self.q, self.first))
        return kept_bits(one, steady, (self.g, 1 - self.g), (self.first, 1 - self.first), 1, self.d, windows)

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
            first = (1 - self.first, self.first) if self.memo else super().kept()
            return shares(ones, n, 1 - self.q, self.q, level, simultaneous, first)
        times = Fraction(self.size, self.d)
        each = times / (1 - 2 * self.q)
        pairs = list(zip(asked, ones, strict=True))
        values = [each * (one - self.q * all_) / n for all_, one in pairs]
        squares = [each**2 * (one * (1 - self.q) ** 2 + (all_ - one) * self.q**2) / n for all_, one in pairs]
        base, least = (times * lie * (1 - lie) / (1 - 2 * lie) ** 2 for lie in (self.q, self.first))
        ses = spread(squares, values, n)
        if self.memo:
            return above(values, ses, n, (base, times), (least, times), level, simultaneous)
        noises, slopes = [base] * self.size, [times - 1] * self.size
        return scored(values, ses, n, noises, slopes, level, simultaneous)
