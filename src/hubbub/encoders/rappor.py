"""RAPPOR: a Bloom filter of the word, disguised for ever by one round of lies and at each report by another.

The filter has `bits` bits in `hashes` segments; a word sets one bit of each, which ones depends on the device's cohort.
No word sets none. The permanent answer to a bit is a lie with chance a = low / 2**32; there are two for each position,
one for a set bit and one for a bit that is not. A report sends 1 with chance one / 2**32 for a 1 among the permanent
answers, and with chance zero / 2**32 for a 0. With memo = 0 the first round is left out and the cohort is drawn afresh.
With q and p the chances of a 1 for a bit that is set and one that is not, over both rounds, one report loses

    hashes ln(q (1 - p) / (p (1 - q))).

Source: Erlingsson, Pihur, Korolova, CCS 2014. Proofs: spec/mechanisms/rappor.md.
"""

import math
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
from hubbub.encoders.words import SIZE, Shape, places
from hubbub.errors import ParameterError

MAX_BITS, MAX_HASHES, MAX_COHORTS = 4096, 16, 1024
HALF = SCALE // 2


@dataclass(frozen=True)
class Rappor:
    """One word; values: spec/words.md."""

    name: ClassVar[str] = "rappor"
    kinds: ClassVar[tuple[str, ...]] = ("words",)
    public: ClassVar[int] = 1
    size: ClassVar[int] = SIZE
    bits: int
    hashes: int
    cohorts: int
    low: int
    zero: int
    one: int
    memo: int

    def __post_init__(self) -> None:
        check("hashes", self.hashes, 1, MAX_HASHES)
        check("bits", self.bits, 2 * self.hashes, MAX_BITS)
        if self.bits % self.hashes:
            raise ParameterError("bits", self.bits, f"a multiple of hashes = {self.hashes}")
        check("cohorts", self.cohorts, 1, MAX_COHORTS)
        if self.cohorts & (self.cohorts - 1):
            raise ParameterError("cohorts", self.cohorts, "a power of two")
        check("memo", self.memo, 0, 1)
        check("low", self.low, self.memo, self.memo * (HALF - 1))
        edge = 1 - self.memo  # a report without permanent answers must not be certain
        check("one", self.one, edge + 1, SCALE - edge)
        check("zero", self.zero, edge, self.one - 1)

    @property
    def shape(self) -> Shape:
        """What the places of a word follow from."""
        return Shape(self.name, self.bits, self.hashes, self.cohorts)

    @property
    def radices(self) -> tuple[int, ...]:
        """The cohort, then the bits."""
        return (self.cohorts, *(2,) * self.bits)

    @property
    def public_bits(self) -> float:
        """The cohort, where it is permanent."""
        return math.log2(self.cohorts) if self.memo else 0.0

    @property
    def linkage_bits(self) -> float:
        """Most that a steady device's report tells about its next, beside the cohort."""
        p, q = self.chances()
        nats = float(q - p) * self._report()
        if not self.memo:
            return fresh_linkage(SIZE, math.tanh(self._report() / 2), nats)
        kept = [shared_bits(one, Fraction(self.zero, SCALE), Fraction(self.one, SCALE)) for one in self.entries()]
        steady = self.hashes * max(kept) + (self.bits - self.hashes) * kept[0]
        return (min(math.log2(SIZE), nats / math.log(2)) + steady) * (1 + 1e-12)

    def filter(self, cohort: int, value: int) -> tuple[int, ...]:
        """The Bloom filter of a value; value 0, no word, sets no bit."""
        bits = [0] * self.bits
        for place in places(self.shape, cohort, value) if value else ():
            bits[place] = 1
        return tuple(bits)

    def permanent(self, value: int, prf: Prf) -> Answer:
        """The cohort, one word of `cohort`, then a bit for each position, of `bits` words of each of two streams."""
        held(value, SIZE)
        if not self.memo:
            return (value,)
        cohort = below(self.cohorts, prf("cohort", self.cohorts))
        low, bits = self.low, self.filter(cohort, value)
        zeros, ones = (prf("memo", state)(self.bits) for state in (0, 1))
        both = zip(bits, zeros, ones, strict=True)
        return (cohort, *[1 - (one < low) if bit else int(zero < low) for bit, zero, one in both])

    def report(self, answer: Answer, words: Words) -> Payload:
        """A word for each bit; without permanent answers one for the cohort before them."""
        if self.memo:
            cohort, bits = answer[0], answer[1:]
        else:
            cohort = below(self.cohorts, words)
            bits = self.filter(cohort, answer[0])
        zero, one = self.zero, self.one
        both = zip(words(self.bits), bits, strict=True)
        return (cohort, *[1 if word < (one if bit else zero) else 0 for word, bit in both])

    def entries(self) -> tuple[Fraction, Fraction]:
        """Exact chance of a permanent 1 for a bit that is not set, and for one that is."""
        low = Fraction(self.low, SCALE)
        return low, 1 - low

    def chances(self) -> tuple[Fraction, Fraction]:
        """Exact chance that 1 is sent for a bit that is not set, and for one that is, over both rounds."""
        zero, one = Fraction(self.zero, SCALE), Fraction(self.one, SCALE)
        off, on = (zero + kept * (one - zero) for kept in self.entries())
        return off, on

    def possible(self, payload: Payload) -> bool:
        """Any bits in any cohort."""
        return True

    def chance(self, value: int, payload: Payload) -> Fraction:
        """Exact chance of one payload, given its cohort: of any width."""
        chances, bits = self.chances(), self.filter(payload[0], value)
        ones = (chances[bit] for bit in bits)
        return math.prod((p if bit else 1 - p for bit, p in zip(payload[1:], ones, strict=True)), start=Fraction(1))

    def law(self, value: int, public: Payload = ()) -> Law:
        """Exact chance of each of the 2**bits payloads of a cohort: for few bits only."""
        payloads = product(public or (0,), *((0, 1) for _ in range(self.bits)))
        return {payload: self.chance(value, payload) for payload in payloads}

    def prices(self, windows: int) -> Prices:
        """In nats; see spec/mechanisms/rappor.md."""
        if not self.memo:
            return fresh(self._report(), windows)
        off, on = self.entries()
        each, entries = loss(Fraction(self.zero, SCALE), Fraction(self.one, SCALE)), (self.low, SCALE - self.low)
        steady = 2 * self.hashes * ratio(on, off)
        return kept_bits(self._report(), steady, each, entries, self.hashes, self.bits, windows)

    def canonical(self) -> tuple[int, ...]:
        """(bits, hashes, cohorts, low, zero, one, memo)."""
        return (self.bits, self.hashes, self.cohorts, self.low, self.zero, self.one, self.memo)

    def _report(self) -> float:
        p, q = self.chances()
        return self.hashes * ratio(q * (1 - p), p * (1 - q))
