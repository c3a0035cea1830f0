"""What local hashing shares: a public seed, and generalised randomised response of the value's hash under it.

A report is (seed, hash). The seed is uniform on [0, seeds) and drawn without looking at the value; it names a function
from values to [0, g). The hash is the value's own with chance p = 1 - (g - 1) lie / 2**32 and each other one with
chance q = lie / 2**32, so the loss of one report is ln(p / q) whatever the seed. The functions are such that any two
values have the same hash under the same share of the seeds, which makes the estimate exact and not only right on
average over hash functions. Everything is drawn afresh, the seed too, unless a subclass says otherwise.
"""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
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


@dataclass(frozen=True)
class Hashed(ABC):
    """One of `size` categories, told by its hash under a public seed; subclasses say which functions there are."""

    name: ClassVar[str]
    kinds: ClassVar[tuple[str, ...]] = ("choice", "histogram")
    public: ClassVar[int] = 1
    size: int
    g: int
    lie: int

    def __post_init__(self) -> None:
        self._fits()
        check("lie", self.lie, 1, (SCALE - 1) // self.g)

    @abstractmethod
    def _fits(self) -> None:
        """Refuse a size, or a number of hashes, that there are no functions for."""

    @property
    @abstractmethod
    def seeds(self) -> int:
        """How many functions there are."""

    @property
    @abstractmethod
    def collisions(self) -> Fraction:
        """Share of the seeds under which two different values have the same hash; the same for all pairs."""

    @abstractmethod
    def hash(self, seed: int, value: int) -> int:
        """The value's hash, in [0, g)."""

    @property
    def radices(self) -> tuple[int, ...]:
        """(seeds, g)."""
        return (self.seeds, self.g)

    @property
    def linkage_bits(self) -> float:
        """Most that a steady device's report tells about its next."""
        p, q = self.chances()
        distance = float((1 - self.collisions) * (p - q))
        return fresh_linkage(self.size, distance, distance * ratio(p, q))

    def permanent(self, value: int, prf: Prf) -> Answer:
        """No words: everything is drawn afresh."""
        held(value, self.size)
        return (value,)

    def report(self, answer: Answer, words: Words) -> Payload:
        """Two words: the seed, and whether the hash is a lie and which."""
        seed = below(self.seeds, words)
        return seed, self._disguised(self.hash(seed, answer[0]), self.lie, words)

    def _disguised(self, own: int, lie: int, words: Words) -> int:
        """One word: whether this hash is replaced, each other one with chance lie / SCALE, and by which."""
        word = words(1)[0]
        if word >= (self.g - 1) * lie:
            return own
        other = word % (self.g - 1)  # uniform: so many words are a multiple of it
        return other + (other >= own)

    def chances(self) -> tuple[Fraction, Fraction]:
        """Exact chance of the own hash, and of any other one."""
        q = Fraction(self.lie, SCALE)
        return 1 - (self.g - 1) * q, q

    def supports(self) -> tuple[Fraction, Fraction]:
        """Exact chance that a report's hash is that of the own category, and of a certain other one."""
        p, q = self.chances()
        return p, q + self.collisions * (p - q)

    def possible(self, payload: Payload) -> bool:
        """Any hash under any seed."""
        return True

    def law(self, value: int, public: Payload = ()) -> Law:
        """Exact chance of each hash under this seed."""
        seed = public[0] if public else 0
        own, (p, q) = self.hash(seed, value), self.chances()
        return {(seed, y): p if y == own else q for y in range(self.g)}

    def prices(self, windows: int) -> Prices:
        """In nats; see spec/prices.md."""
        return fresh(ratio(*self.chances()), windows)

    def canonical(self) -> tuple[int, ...]:
        """(size, g, lie)."""
        return (self.size, self.g, self.lie)


def is_prime(n: int) -> bool:
    """Whether n >= 2 has no divisor but itself."""
    return all(n % divisor for divisor in range(2, math.isqrt(n) + 1))
