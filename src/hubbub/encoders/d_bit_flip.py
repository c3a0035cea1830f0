"""d-bit flip: the device draws d of the buckets and sends a bit for each, 1 for its own and wrong with a known chance.

Which buckets are asked is public: it is drawn without looking at the value, and stands in front of the bits. Each bit
is wrong with chance q = lie / 2**32, and p = 1 - q. Where d >= 2 two values may differ in two of the bits, so the
loss of one report is 2 ln(p / q); where d = 1 in one only, and it is ln(p / q). Everything is drawn afresh, the
buckets too.

The buckets b_0 < b_1 < ... travel as the fields b_i - i, each in [0, size - d]. Where all are asked there are none of
these fields, and what is left is symmetric unary encoding.

Source: Ding, Kulkarni, Yekhanin, NeurIPS 2017, section 3. Proofs: spec/mechanisms/d_bit_flip.md.
"""

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
    ratio,
)

MAX_SIZE = 65_536


@dataclass(frozen=True)
class DBitFlip:
    """One of `size` buckets; values: their indices."""

    name: ClassVar[str] = "d_bit_flip"
    kinds: ClassVar[tuple[str, ...]] = ("choice", "histogram")
    public_bits: ClassVar[float] = 0.0
    memo: ClassVar[int] = 0
    size: int
    d: int
    lie: int

    def __post_init__(self) -> None:
        check("size", self.size, 2, MAX_SIZE)
        check("d", self.d, 1, self.size)
        check("lie", self.lie, 1, SCALE // 2 - 1)

    @property
    def public(self) -> int:
        """A field for each bucket that is asked, unless all are."""
        return self.d if self.d < self.size else 0

    @property
    def drawn(self) -> int:
        """Buckets that are drawn: those asked, or those left out where they are fewer."""
        return min(self.d, self.size - self.d)

    @property
    def radices(self) -> tuple[int, ...]:
        """Which buckets, then a bit for each of them."""
        return (self.size - self.d + 1,) * self.public + (2,) * self.d

    @property
    def linkage_bits(self) -> float:
        """Most that a steady device's report tells about its next."""
        (p, q), k, left = self.chances(), self.size, self.size - self.d
        either = 1 - Fraction(left * (left - 1), k * (k - 1))  # that one of two certain buckets is asked
        return fresh_linkage(k, float(either * (p - q)), float(Fraction(2 * self.d, k) * (p - q)) * ratio(p, q))

    def permanent(self, value: int, prf: Prf) -> Answer:
        """No words: everything is drawn afresh."""
        held(value, self.size)
        return (value,)

    def report(self, answer: Answer, words: Words) -> Payload:
        """Words: `drawn` for the buckets, by Floyd's method, then one for each bit in the order of the buckets."""
        value, own = answer[0], SCALE - self.lie
        drawn: set[int] = set()
        for top in range(self.size - self.drawn, self.size):
            bucket = below(top + 1, words)
            drawn.add(top if bucket in drawn else bucket)
        asked = sorted(drawn) if self.drawn == self.d else [b for b in range(self.size) if b not in drawn]
        bits = (int(w < (own if b == value else self.lie)) for b, w in zip(asked, words(self.d), strict=True))
        return (*(b - i for i, b in enumerate(asked[: self.public])), *bits)

    def asked(self, public: Payload) -> Sequence[int]:
        """The buckets that the public fields say, in order."""
        return [field + i for i, field in enumerate(public)] or range(self.d)

    def chances(self) -> tuple[Fraction, Fraction]:
        """Exact chance of a 1 for the own bucket if it is asked, and for any other one."""
        q = Fraction(self.lie, SCALE)
        return 1 - q, q

    def possible(self, payload: Payload) -> bool:
        """Any bits of buckets that are all different."""
        return all(one <= other for one, other in pairwise(payload[: self.public]))

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
        p, q = self.chances()
        bits = min(self.d, 2)  # in which two values may differ
        return fresh(ratio(p**bits, q**bits), windows)

    def canonical(self) -> tuple[int, ...]:
        """(size, d, lie)."""
        return (self.size, self.d, self.lie)
