"""spec/mechanisms/hadamard_response.md."""

from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

from tests.vectors.reader.device import Device, Words
from tests.vectors.reader.estimates import held, scored, spread
from tests.vectors.reader.prices import apart
from tests.vectors.reader.words import SCALE, choose, need


class HadamardResponse(Device):
    length = 3

    def __init__(self, size: int, block: int, keep: int) -> None:
        need(2 <= size <= 65_536)
        need(block in [2**bits for bits in range(1, 18)])
        need(block // 2 <= size)
        self.size, self.block, self.keep, self.half = size, block, keep, block // 2
        self.blocks = len(range(0, size, block - 1))
        self.outputs = self.blocks * block
        need(2 * self.blocks * keep > SCALE)
        need(keep < SCALE)
        self.radices, self.bounds = [self.outputs], [1, self.outputs - self.half]
        self.u = Fraction(keep, SCALE)
        self.w = (1 - self.u) / (2 * self.blocks - 1)

    def sign(self, value: int, output: int) -> int:
        """1 for a plus, -1 for another output of the block, 0 for one of another block."""
        home, row = divmod(value, self.block - 1)
        if output // self.block != home:
            return 0
        common = bin(output % self.block & (row + 1)).count("1")
        return 1 if common % 2 == 0 else -1

    def report(self, answer: Sequence[int], words: Words) -> list[int]:
        value = answer[0]
        wanted = 1 if next(words) < self.keep else -1
        place = choose(self.outputs - self.half, words)
        if wanted < 0 and place >= self.half:
            return [[y for y in range(self.outputs) if not self.sign(value, y)][place - self.half]]
        width = self.block.bit_length() - 1
        top = (value % (self.block - 1) + 1).bit_length()  # places from the right
        start = value // (self.block - 1) * self.block
        for y in range(start, start + self.block):
            written = f"{y - start:0{width}b}"
            rest = written[: width - top] + written[width - top + 1 :]
            if self.sign(value, y) == wanted and int(rest or "0", 2) == place % self.half:
                return [y]
        raise AssertionError

    def law(self, value: int, public: Sequence[int]) -> dict[tuple[int, ...], Fraction]:
        p, q = self.u / self.half, self.w / self.half
        return {(y,): p if self.sign(value, y) == 1 else q for y in range(self.outputs)}

    def apart(self) -> tuple[Decimal, Fraction, Decimal]:
        """The first and the last value are in different blocks, if there are any."""
        return apart(self.law(0, []), self.law(self.size - 1, []))

    def support(self) -> tuple[Fraction, Fraction]:
        return self.u, Fraction(1, 2)

    def supports(self, n: int, counts: Sequence[int]) -> Sequence[int]:
        need(len(counts) == self.outputs)
        need(all(0 <= one <= n for one in counts))
        return [sum(c for y, c in enumerate(counts) if self.sign(v, y) == 1) for v in range(self.size)]

    def estimate(
        self, n: int, counts: Sequence[int], level: float, lower: Fraction, step: Fraction, simultaneous: bool
    ) -> Any:
        if self.blocks == 1:
            return super().estimate(n, counts, level, lower, step, simultaneous)
        need(n)
        pluses = self.supports(n, counts)
        others = [sum(c for y, c in enumerate(counts) if self.sign(v, y) == -1) for v in range(self.size)]
        one = 1 / (self.u - self.w)  # what a plus adds to n times the value
        values = [one * (a - b) / n for a, b in zip(pluses, others, strict=True)]
        near = [Fraction(a + b, n) for a, b in zip(pluses, others, strict=True)]
        rest = [held((x - 2 * self.w) * one - held(value)) for x, value in zip(near, values, strict=True)]
        noises = [one**2 * (2 * self.w + x / one) for x in rest]
        slopes = [one - 1] * self.size
        ses = spread([one**2 * x for x in near], values, n)
        return scored(values, ses, n, noises, slopes, level, simultaneous, guessed=True)
