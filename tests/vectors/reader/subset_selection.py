"""spec/mechanisms/subset_selection.md."""

from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from itertools import product
from math import comb

from tests.vectors.reader.device import Device, Words
from tests.vectors.reader.prices import apart
from tests.vectors.reader.words import SCALE, choose, need


class SubsetSelection(Device):
    length = 3

    def __init__(self, size: int, omega: int, keep: int) -> None:
        need(2 <= size <= 65_536)
        need(1 <= omega < size)
        need(keep * size > SCALE * omega)
        need(keep < SCALE)
        self.size, self.omega, self.keep, self.radices = size, omega, keep, [2] * size
        self.bounds = [1, *(top + 1 for top in range(size - 1 - omega, size - 1)), omega]
        self.p = Fraction(keep, SCALE)

    def report(self, answer: Sequence[int], words: Words) -> list[int]:
        numbered = list(range(self.size - 1))
        if answer[0] < self.size - 1:
            numbered[answer[0]] = self.size - 1
        stays = next(words) < self.keep
        drawn: list[int] = []
        for bound in self.bounds[1:-1]:
            number = choose(bound, words)
            drawn.append(bound - 1 if number in drawn else number)
        left = choose(self.omega, words)
        chosen = [numbered[number] for place, number in enumerate(drawn) if not (stays and place == left)]
        return [int(category in chosen or (stays and category == answer[0])) for category in range(self.size)]

    def sets(self, own: int) -> Fraction:
        """Chance of one set, which holds the own category or not."""
        if own:
            return self.p / comb(self.size - 1, self.omega - 1)
        return (1 - self.p) / comb(self.size - 1, self.omega)

    def law(self, value: int, public: Sequence[int]) -> dict[tuple[int, ...], Fraction]:
        every = (sent for sent in product((0, 1), repeat=self.size) if sum(sent) == self.omega)
        return {sent: self.sets(sent[value]) for sent in every}

    def apart(self) -> tuple[Decimal, Fraction, Decimal]:
        """By whether a set holds the one category, the other, both or neither: sets alike in this are as likely."""
        kinds: dict[tuple[int, ...], int] = {}
        for one, other in product((0, 1), repeat=2):
            rest = self.omega - one - other
            if 0 <= rest <= self.size - 2:
                kinds[one, other] = comb(self.size - 2, rest)
        first = {kind: times * self.sets(kind[0]) for kind, times in kinds.items()}
        second = {kind: times * self.sets(kind[1]) for kind, times in kinds.items()}
        return apart(first, second)

    def support(self) -> tuple[Fraction, Fraction]:
        return self.p, (self.omega - self.p) / (self.size - 1)
