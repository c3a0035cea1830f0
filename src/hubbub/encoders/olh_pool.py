"""Local hashing with a small pool of seeds: few enough to count the reports of each, and exactly balanced.

With g a prime and t the digits that the largest category has in base g, a seed stands for a number of at most t digits
whose first digit is 1, and the hash of a value is the sum of the products of its digits and the seed's, modulo g. Two
different values have the same hash under exactly (g**(t - 1) - 1) / (g - 1) of the (g**t - 1) / (g - 1) seeds,
whichever they are, so the pool adds no error of its own; no smaller one is balanced like this for g**t categories.

Sources: Wang, Blocki, Li, Jha, USENIX Security 2017, section 4.4; pools of seeds: Cormode, Maddock, Maple, VLDB 2021.
Proofs: spec/mechanisms/olh_pool.md; why this pool: docs/decisions/0006-seed-pools.md.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from hubbub.encoders.base import check
from hubbub.encoders.hashed import Hashed, is_prime
from hubbub.errors import ParameterError

MAX_SIZE = 65_536
MAX_CELLS = 2**20  # numbers that one estimate transforms, g ** (t + 1)


@dataclass(frozen=True)
class OlhPool(Hashed):
    """One of `size` categories; values: their indices."""

    name: ClassVar[str] = "olh_pool"

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
