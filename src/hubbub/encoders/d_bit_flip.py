"""d-bit flip: the device draws d of the buckets and sends a bit for each, 1 for its own and wrong with a known chance.

Which buckets are asked is public: it is drawn without looking at the value, and stands in front of the bits. Each bit
is wrong with chance q = lie / 2**32, and p = 1 - q. Where d >= 2 two values may differ in two of the bits, so the
loss of one report is 2 ln(p / q); where d = 1 in one only, and it is ln(p / q).

With memo = 0 everything is drawn afresh, the buckets too: b_0 < b_1 < ... travel as the fields b_i - i, each in
[0, size - d]. With memo = 1 the buckets asked are d in a row, and after the last comes the first: where they begin is
drawn once and travels as one field, so that each of few rows is asked of many devices. The bits are permanent answers
then, two for each place, one for the own bucket and one for any other one; each report sends all of them, each wrong
with chance flip / 2**32. Where all are asked there is no field for that, and what is left is symmetric unary encoding.

Source: Ding, Kulkarni, Yekhanin, NeurIPS 2017 (dBitFlip); a second round and the rows are hubbub's own. Proofs:
spec/mechanisms/d_bit_flip.md.
"""

import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise, product
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
    kept_bits,
    loss,
    ratio,
    shared_bits,
)

MAX_SIZE = 65_536


@dataclass(frozen=True)
class DBitFlip:
    """One of `size` buckets; values: their indices."""

    name: ClassVar[str] = "d_bit_flip"
    kinds: ClassVar[tuple[str, ...]] = ("choice", "histogram")
    size: int
    d: int
    lie: int
    flip: int
    memo: int

    def __post_init__(self) -> None:
        check("size", self.size, 2, MAX_SIZE)
        check("d", self.d, 1, self.size)
        check("lie", self.lie, 1, SCALE // 2 - 1)
        check("memo", self.memo, 0, 1)
        check("flip", self.flip, 0, (SCALE // 2 - 1) * self.memo)

    @property
    def public(self) -> int:
        """A field for each bucket that is asked, or one for where they begin; none where all are."""
        if self.d == self.size:
            return 0
        return 1 if self.memo else self.d

    @property
    def drawn(self) -> int:
        """Buckets that are drawn: those asked, or those left out where they are fewer."""
        return min(self.d, self.size - self.d)

    @property
    def radices(self) -> tuple[int, ...]:
        """Which buckets, then a bit for each of them."""
        return (self.size if self.memo else self.size - self.d + 1,) * self.public + (2,) * self.d

    @property
    def public_bits(self) -> float:
        """Where the buckets begin, if that is permanent."""
        return math.log2(self.size) if self.memo and self.public else 0.0

    @property
    def linkage_bits(self) -> float:
        """Most that a steady device's report tells about its next, beside where its buckets begin."""
        (p, q), k, left = self.chances(), self.size, self.size - self.d
        nats = float(Fraction(2 * self.d, k) * (p - q)) * ratio(p, q)
        if not self.memo:
            either = 1 - Fraction(left * (left - 1), k * (k - 1))  # that one of two certain buckets is asked
            return fresh_linkage(k, float(either * (p - q)), nats)
        flip = Fraction(self.flip, SCALE)
        each = shared_bits(Fraction(self.lie, SCALE), flip, 1 - flip)
        return (min(math.log2(k), nats / math.log(2)) + self.d * each) * (1 + 1e-12)

    def permanent(self, value: int, prf: Prf) -> Answer:
        """Where `memo` the first bucket, one word, unless all are asked; a bit for each, of `d` words and an own one.

        No words otherwise. The own word is drawn also where the own bucket is not asked.
        """
        held(value, self.size)
        if not self.memo:
            return (value,)
        public = (below(self.size, prf("pool")),) if self.public else ()
        place, lie = (value - sum(public)) % self.size, self.lie
        bits = [1 if word < lie else 0 for word in prf("memo", 0)(self.d)]
        own = int(prf("memo", 1, place)(1)[0] < SCALE - lie)
        if place < self.d:
            bits[place] = own
        return (*public, *bits)

    def report(self, answer: Answer, words: Words) -> Payload:
        """Words: one for each bit where `memo`.

        Otherwise `drawn` for the buckets, by Floyd's method, then one for each bit in the order of the buckets.
        """
        if self.memo:
            public, kept, flip = answer[: self.public], answer[self.public :], self.flip
            return (*public, *[bit ^ (word < flip) for bit, word in zip(kept, words(self.d), strict=True)])
        value, own = answer[0], SCALE - self.lie
        drawn: set[int] = set()
        for top in range(self.size - self.drawn, self.size):
            bucket = below(top + 1, words)
            drawn.add(top if bucket in drawn else bucket)
        asked = sorted(drawn) if self.drawn == self.d else [b for b in range(self.size) if b not in drawn]
        coins, lie = words(self.d), self.lie
        bits = [1 if word < lie else 0 for word in coins]
        place = bisect_left(asked, value)
        if place < self.d and asked[place] == value:
            bits[place] = int(coins[place] < own)
        return (*[b - i for i, b in enumerate(asked[: self.public])], *bits)

    def asked(self, public: Payload) -> Sequence[int]:
        """The buckets that the public fields say, in the order of their bits."""
        if not public:
            return range(self.d)
        if self.memo:
            return [(public[0] + i) % self.size for i in range(self.d)]
        return [field + i for i, field in enumerate(public)]

    def chances(self) -> tuple[Fraction, Fraction]:
        """Exact chance of a 1 for the own bucket if it is asked, and for any other one, over both rounds."""
        lie, flip = Fraction(self.lie, SCALE), Fraction(self.flip, SCALE)
        q = flip + lie * (1 - 2 * flip)
        return 1 - q, q

    def possible(self, payload: Payload) -> bool:
        """Any bits of buckets that are all different."""
        return bool(self.memo) or all(one <= other for one, other in pairwise(payload[: self.public]))

    def law(self, value: int, public: Payload = ()) -> Law:
        """Exact chance of each of the 2**d payloads that ask these buckets, the first ones by default: for few only."""
        public = public or (0,) * self.public
        payloads = ((*public, *bits) for bits in product((0, 1), repeat=self.d))
        return {payload: self.chance(value, payload) for payload in payloads}

    def chance(self, value: int, payload: Payload) -> Fraction:
        """Exact chance of one payload, given the buckets that it asks."""
        p, q = self.chances()
        asked, bits = self.asked(payload[: self.public]), payload[self.public :]
        wrong = sum(bit != (bucket == value) for bucket, bit in zip(asked, bits, strict=True))
        return q**wrong * p ** (self.d - wrong)

    def prices(self, windows: int) -> Prices:
        """In nats; see spec/prices.md."""
        report = self._told(self.chances()[1])
        if not self.memo:
            return fresh(report, windows)
        flip, steady = Fraction(self.flip, SCALE), self._told(Fraction(self.lie, SCALE))
        return kept_bits(report, steady, loss(flip, 1 - flip), (self.lie, SCALE - self.lie), 1, self.d, windows)

    def canonical(self) -> tuple[int, ...]:
        """(size, d, lie, flip, memo)."""
        return (self.size, self.d, self.lie, self.flip, self.memo)

    def _told(self, wrong: Fraction) -> float:
        """Loss of bits that are wrong with this chance: two values may differ in two of them, if so many are asked."""
        bits = min(self.d, 2)
        return ratio((1 - wrong) ** bits, wrong**bits)
