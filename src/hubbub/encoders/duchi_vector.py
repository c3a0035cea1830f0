"""Duchi's mechanism for vectors: a bit for each coordinate, and together they agree with the vector more than not.

Each coordinate is rounded to an end of its range by chance, so that it is right on average. A pattern says for each of
them whether its end is sent or the other one. With chance keep / 2**32 it is drawn evenly from the patterns that send
the right end at least `agree` times, otherwise evenly from all others. With N+ and N- of them, p = keep / (2**32 N+)
and q = (2**32 - keep) / (2**32 N-) are the chances of one pattern, and the loss of one report is ln(p / q).

A pattern is drawn as its number, without looking at the vector: `pattern` counts through those with at least so many
right ends. Everything is drawn afresh.

Source: Duchi, Jordan, Wainwright, JASA 2018, section 4.2; even dimensions as in Nguyên et al. 2016. That `agree` may
be more than half of the coordinates is hubbub's. Proofs: spec/mechanisms/duchi_vector.md.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise, product
from math import comb
from typing import ClassVar

from hubbub.encoders.base import (
    SCALE,
    Answer,
    Law,
    Payload,
    Prices,
    Words,
    below,
    check,
    fresh,
    fresh_linkage,
    ratio,
)
from hubbub.encoders.levels import level
from hubbub.encoders.vector import Coordinates, fits

MAX_BITS = 32  # one word draws one of all patterns


@lru_cache(maxsize=4096)
def at_least(bits: int, ones: int) -> int:
    """How many patterns of so many bits have at least so many ones."""
    return sum(comb(bits, k) for k in range(max(0, ones), bits + 1))


def pattern(number: int, bits: int, ones: int) -> tuple[int, ...]:
    """The pattern with this number among those with at least so many ones, those that begin with 0 first."""
    found = []
    for left in reversed(range(bits)):
        zeros = at_least(left, ones)
        bit = int(number >= zeros)
        number, ones = number - bit * zeros, ones - bit
        found.append(bit)
    return tuple(found)


@dataclass(frozen=True)
class DuchiVector(Coordinates):
    """A vector of a few bounded numbers; values: spec/coordinates.md."""

    name: ClassVar[str] = "duchi_vector"
    public: ClassVar[int] = 0
    dimension: int
    ticks: int
    agree: int
    keep: int

    def __post_init__(self) -> None:
        fits(self.dimension, self.ticks, MAX_BITS)
        check("agree", self.agree, 1, self.dimension)
        # A pattern that agrees must be likelier than one that does not, or nothing is told.
        check("keep", self.keep, (SCALE * self.patterns[0] >> self.dimension) + 1, SCALE - 1)

    @property
    def patterns(self) -> tuple[int, int]:
        """How many agree, and how many do not."""
        agreeing = at_least(self.dimension, self.agree)
        return agreeing, 2**self.dimension - agreeing

    @property
    def radices(self) -> tuple[int, ...]:
        """A bit for each coordinate."""
        return (2,) * self.dimension

    @property
    def linkage_bits(self) -> float:
        """Most that a steady device's report tells about its next."""
        (p, q), apart = self.chances(), min(self.patterns)
        distance = float((p - q) * apart)
        return fresh_linkage(self.size, distance, distance * ratio(p, q))

    def report(self, answer: Answer, words: Words) -> Payload:
        """Words for each coordinate's end (none where each tick is one), for which patterns, and one of each kind."""
        ends = [level(tick, self.ticks, 1, words) for tick in answer]
        agrees = words(1)[0] < self.keep
        inside, outside = (below(count, words) for count in self.patterns)
        if agrees:
            right: Sequence[int] = pattern(inside, self.dimension, self.agree)
        else:  # fewer than `agree` right ends: at least so many wrong ones
            right = [1 - wrong for wrong in pattern(outside, self.dimension, self.dimension - self.agree + 1)]
        return tuple(int(end == bit) for end, bit in zip(ends, right, strict=True))

    def chances(self) -> tuple[Fraction, Fraction]:
        """Exact chance of one pattern that agrees, and of one that does not."""
        agreeing, others = self.patterns
        return Fraction(self.keep, SCALE * agreeing), Fraction(SCALE - self.keep, SCALE * others)

    def gain(self) -> Fraction:
        """By how much likelier the right end of a coordinate is sent than the wrong one."""
        p, q = self.chances()
        return (p - q) * comb(self.dimension - 1, self.agree - 1)

    def possible(self, payload: Payload) -> bool:
        """Any bits."""
        return True

    def chance(self, value: int, payload: Payload) -> Fraction:
        """Exact chance of one payload: of any number of coordinates."""
        (p, q), zero = self.chances(), Fraction(0)
        right = [Fraction(1)]  # chance of so many ends that are those sent
        for bit, tick in zip(payload, self.coordinates(value), strict=True):
            chance = Fraction(tick if bit else self.ticks - tick, self.ticks)
            right = [a * chance + b * (1 - chance) for a, b in pairwise((zero, *right, zero))]
        return q + (p - q) * sum(right[self.agree :])

    def law(self, value: int, public: Payload = ()) -> Law:
        """Exact chance of each of the 2**dimension payloads: for few coordinates only."""
        return {payload: self.chance(value, payload) for payload in product((0, 1), repeat=self.dimension)}

    def prices(self, windows: int) -> Prices:
        """In nats; see spec/prices.md."""
        return fresh(ratio(*self.chances()), windows)

    def canonical(self) -> tuple[int, ...]:
        """(dimension, ticks, agree, keep)."""
        return (self.dimension, self.ticks, self.agree, self.keep)
