"""Local hashing with a small pool of seeds: few enough to count the reports of each, and exactly balanced.

With g a prime and t the digits that the largest category has in base g, a seed stands for a number of at most t digits
whose first digit is 1, and the hash of a value is the sum of the products of its digits and the seed's, modulo g. Two
different values have the same hash under exactly (g**(t - 1) - 1) / (g - 1) of the (g**t - 1) / (g - 1) seeds,
whichever they are, so the pool adds no error of its own; no smaller one is balanced like this for g**t categories.

`memo`: a device has one seed for ever and keeps one answer for each hash, its own or, with chance lie / 2**32 each,
another one; each report replaces it once more, with chance flip / 2**32 for each other hash. Few seeds are shared by
many devices; those of `olh` would name a device. Otherwise everything is drawn afresh and flip is 0.

Sources: Wang, Blocki, Li, Jha, USENIX Security 2017; pools of seeds: Cormode, Maddock, Maple, VLDB 2021;
permanent seeds and answers: Arcolezi, Pinzón, Palamidessi, Gambs, EDBT 2023.
Proofs: spec/mechanisms/olh_pool.md; why this pool: docs/decisions/0006-seed-pools.md.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from hubbub.encoders.base import (
    SCALE,
    Answer,
    Payload,
    Prf,
    Prices,
    Words,
    below,
    check,
    held,
)
from hubbub.encoders.choices import kept_choice, kept_linkage, stays_twice
from hubbub.encoders.hashed import Hashed, is_prime
from hubbub.errors import ParameterError

MAX_SIZE = 65_536
MAX_CELLS = 2**20  # numbers that one estimate transforms, g ** (t + 1)


@dataclass(frozen=True)
class OlhPool(Hashed):
    """One of `size` categories; values: their indices."""

    name: ClassVar[str] = "olh_pool"
    flip: int
    memo: int

    def __post_init__(self) -> None:
        super().__post_init__()
        check("memo", self.memo, 0, 1)
        check("flip", self.flip, 0, self.memo * ((SCALE - 1) // self.g))

    def _fits(self) -> None:
        check("size", self.size, 2, MAX_SIZE)
        check("g", self.g, 2, MAX_CELLS)
        if not is_prime(self.g) or self.g ** (self.digits + 1) > MAX_CELLS:
            raise ParameterError("g", self.g, f"a prime with g ** {self.digits + 1} <= {MAX_CELLS}")

    @property
    def digits(self) -> int:
        """t, the digits of the largest category in base g."""
        t = 1
        while self.g**t < self.size:
            t += 1
        return t

    @property
    def seeds(self) -> int:
        """Numbers of 1, 2, ..., t digits that begin with 1."""
        return int((self.g**self.digits - 1) // (self.g - 1))

    @property
    def collisions(self) -> Fraction:
        """Share of the seeds that are at right angles to the difference of two values."""
        return Fraction(self.g ** (self.digits - 1) - 1, self.g**self.digits - 1)

    @property
    def public_bits(self) -> float:
        """The seed, where it is permanent."""
        return math.log2(self.seeds) if self.memo else 0.0

    @property
    def linkage_bits(self) -> float:
        """Most that a steady device's report tells about its next, beside the seed."""
        return kept_linkage(self.rounds()[1], self.g) if self.memo else super().linkage_bits

    def permanent(self, value: int, prf: Prf) -> Answer:
        """The seed, of `pool`, and the answer to the value's hash, one word, where `memo`; no words otherwise."""
        held(value, self.size)
        if not self.memo:
            return (value,)
        seed = below(self.seeds, prf("pool"))
        own = self.hash(seed, value)
        return seed, self._disguised(own, self.lie, prf("memo", own))

    def report(self, answer: Answer, words: Words) -> Payload:
        """One word where `memo`, two otherwise (seed, lie)."""
        if not self.memo:
            return super().report(answer, words)
        seed, kept = answer
        return seed, self._disguised(kept, self.flip, words)

    def rounds(self) -> tuple[int, int]:
        """Shares of words that keep a hash in the first round and in the second one."""
        return SCALE - (self.g - 1) * self.lie, SCALE - (self.g - 1) * self.flip

    def chances(self) -> tuple[Fraction, Fraction]:
        """Exact chance of the own hash, and of any other one, over both rounds."""
        return stays_twice(*self.rounds(), self.g)

    def prices(self, windows: int) -> Prices:
        """In nats; see spec/prices.md."""
        if not self.memo:
            return super().prices(windows)
        return kept_choice(*self.rounds(), self.g, min(self.g, self.size), windows)

    def canonical(self) -> tuple[int, ...]:
        """(size, g, lie, flip, memo)."""
        return (self.size, self.g, self.lie, self.flip, self.memo)

    def hash(self, seed: int, value: int) -> int:
        """Products of digits."""
        first, total = 1, 0
        while seed >= first:
            seed, first = seed - first, first * self.g
        digits = first + seed
        while value:
            total += digits % self.g * (value % self.g)
            digits, value = digits // self.g, value // self.g
        return total % self.g
