"""spec/mechanisms/grr.md."""

from collections.abc import Sequence
from fractions import Fraction

from tests.vectors.reader.device import Device, Words
from tests.vectors.reader.words import SCALE, choose, need


class Grr(Device):
    length = 2

    def __init__(self, size: int, keep: int) -> None:
        need(2 <= size <= 65_536)
        need(keep * size > SCALE)
        need(keep < SCALE)
        self.size, self.keep, self.radices, self.bounds = size, keep, [size], [1, size - 1]
        self.p = Fraction(keep, SCALE)
        self.q = (1 - self.p) / (size - 1)

    def report(self, answer: Sequence[int], words: Words) -> list[int]:
        stays = next(words) < self.keep
        others = [*range(answer[0]), *range(answer[0] + 1, self.size)]
        other = others[choose(self.size - 1, words)]
        return [answer[0] if stays else other]

    def law(self, value: int, public: Sequence[int]) -> dict[tuple[int, ...], Fraction]:
        return {(sent,): self.p if sent == value else self.q for sent in range(self.size)}

    def support(self) -> tuple[Fraction, Fraction]:
        return self.p, self.q
