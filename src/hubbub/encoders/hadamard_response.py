"""Hadamard response: a row of signs for each category, and a report that more often than not is one of its pluses.

Categories stand in blocks of block - 1, and every block has outputs of its own, `block` of them, a power of two. Column
y of a block is a plus for the category in row r, 1 <= r < block, if y and r have an even number of binary ones in
common: half of the block's outputs. With chance keep / 2**32 the device sends one of the pluses of its own category,
else one of all other outputs, each as likely. With h = block / 2 and K outputs in all, p = keep / (2**32 h) and
q = (1 - keep / 2**32) / (K - h), the loss of one report is ln(p / q). Everything is drawn afresh.

One block is for small epsilon; smaller blocks trade a sharper hit for less overlap at larger ones.

Source: Acharya, Sun, Zhang, AISTATS 2019. Proofs: spec/mechanisms/hadamard_response.md.
"""

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
from hubbub.errors import ParameterError

MAX_SIZE = 65_536


@dataclass(frozen=True)
class HadamardResponse:
    """One of `size` categories; values: their indices."""

    name: ClassVar[str] = "hadamard_response"
    kinds: ClassVar[tuple[str, ...]] = ("choice", "histogram")
    public: ClassVar[int] = 0
    public_bits: ClassVar[float] = 0.0
    memo: ClassVar[int] = 0
    size: int
    block: int
    keep: int

    def __post_init__(self) -> None:
        check("size", self.size, 2, MAX_SIZE)
        check("block", self.block, 2, largest_block(self.size))
        if self.block & (self.block - 1):
            raise ParameterError("block", self.block, "a power of two")
        check("keep", self.keep, SCALE // (2 * self.blocks) + 1, SCALE - 1)

    @property
    def blocks(self) -> int:
        """How many blocks hold all categories."""
        return -(-self.size // (self.block - 1))

    @property
    def outputs(self) -> int:
        """K, how many different reports there are."""
        return self.blocks * self.block

    @property
    def radices(self) -> tuple[int, ...]:
        """One field: an output."""
        return (self.outputs,)

    @property
    def linkage_bits(self) -> float:
        """Most that a steady device's report tells about its next."""
        p, q = self.chances()
        shared = 2 if self.blocks == 1 else 1  # half of the pluses are shared within a block, none between two
        distance = float(self.block // 2 * (p - q) / shared)
        return fresh_linkage(self.size, distance, distance * ratio(p, q))

    def permanent(self, value: int, prf: Prf) -> Answer:
        """No words: everything is drawn afresh."""
        held(value, self.size)
        return (value,)

    def report(self, answer: Answer, words: Words) -> Payload:
        """Two words: whether it is one of the own pluses, and which output it is."""
        home, row = self.row(answer[0])
        half, start = self.block // 2, home * self.block
        hit = words(1)[0] < self.keep
        place = below(self.outputs - half, words)
        if not hit and place >= half:  # an output of another block
            other = place - half
            return (other + self.block * (other >= start),)
        # Any bits but one, and that one as the parity wants it.
        place %= half
        low = (1 << row.bit_length() - 1) - 1
        y = (place & ~low) << 1 | (place & low)
        return (start + (y | (low + 1) * ((y & row).bit_count() % 2 == hit)),)

    def row(self, value: int) -> tuple[int, int]:
        """A category's block, and its row there; row 0 is left out, since all of it is pluses."""
        home, row = divmod(value, self.block - 1)
        return home, row + 1

    def chances(self) -> tuple[Fraction, Fraction]:
        """Exact chance of each of the own pluses, and of any other output."""
        keep, half = Fraction(self.keep, SCALE), self.block // 2
        return keep / half, (1 - keep) / (self.outputs - half)

    def possible(self, payload: Payload) -> bool:
        """Any output."""
        return True

    def law(self, value: int, public: Payload = ()) -> Law:
        """Exact chance of each output."""
        (home, row), (p, q) = self.row(value), self.chances()
        return {
            (y,): p if y // self.block == home and (y % self.block & row).bit_count() % 2 == 0 else q
            for y in range(self.outputs)
        }

    def prices(self, windows: int) -> Prices:
        """In nats; see spec/prices.md."""
        return fresh(ratio(*self.chances()), windows)

    def canonical(self) -> tuple[int, ...]:
        """(size, block, keep)."""
        return (self.size, self.block, self.keep)


def largest_block(size: int) -> int:
    """Outputs of a block that holds all categories."""
    return int(1 << size.bit_length())
