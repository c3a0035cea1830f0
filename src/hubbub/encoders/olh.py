"""Optimal local hashing: the value's hash under a fresh public seed, then randomised response among the g hashes.

With P the smallest prime that is not below the number of categories, a seed stands for a pair (a, b), a in [1, P), b in
[0, P), and the hash is floor(((a value + b) mod P) g / P). Two different values go to every pair of different residues
equally often, so they have the same hash under exactly the same share of the seeds as any other two. g = 2 is binary
local hashing.

Source: Wang, Blocki, Li, Jha, USENIX Security 2017. Proofs: spec/mechanisms/olh.md.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from typing import ClassVar

from hubbub.encoders.base import check
from hubbub.encoders.hashed import Hashed, is_prime

MAX_SIZE = 65_521  # the largest prime P for which one word chooses one of P (P - 1) seeds


@dataclass(frozen=True)
class Olh(Hashed):
    """One of `size` categories; values: their indices."""

    name: ClassVar[str] = "olh"
    public_bits: ClassVar[float] = 0.0
    memo: ClassVar[int] = 0

    def _fits(self) -> None:
        check("size", self.size, 2, MAX_SIZE)
        check("g", self.g, 2, self.prime)

    @property
    def prime(self) -> int:
        """P, the number of residues."""
        return prime_from(self.size)

    @property
    def seeds(self) -> int:
        """Seed (a - 1) P + b for each pair (a, b)."""
        return self.prime * (self.prime - 1)

    @property
    def collisions(self) -> Fraction:
        """Share of the pairs of different residues that have the same hash."""
        return Fraction(sum(n * (n - 1) for n in residues(self.prime, self.g)), self.seeds)

    def hash(self, seed: int, value: int) -> int:
        """The hash of the residue a value + b."""
        a, b = divmod(seed, self.prime)
        return ((a + 1) * value + b) % self.prime * self.g // self.prime


@lru_cache(maxsize=256)
def prime_from(size: int) -> int:
    """The smallest prime that is at least `size`."""
    return size if is_prime(size) else prime_from(size + 1)


def residues(prime: int, g: int) -> tuple[int, ...]:
    """How many residues have each hash; they differ by one at most."""
    starts = [-(-j * prime // g) for j in range(g + 1)]
    return tuple(end - start for start, end in pairwise(starts))
