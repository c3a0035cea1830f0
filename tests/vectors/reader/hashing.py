"""spec/mechanisms/olh.md and olh_pool.md."""

from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from itertools import count
from typing import Any

from tests.vectors.reader.device import Device, Streams, Words
from tests.vectors.reader.prices import bits, choice, choice_linkage, exact, log
from tests.vectors.reader.words import SCALE, choose, need


def prime(n: int) -> bool:
    return n > 1 and not any(n % divisor == 0 for divisor in range(2, n) if divisor * divisor <= n)


def digits(n: int, base: int) -> list[int]:
    """The lowest one first."""
    return [n % base, *digits(n // base, base)] if n else []


class Hashing(Device):
    """What both pages have in common."""

    length = 3
    public = 1

    def __init__(self, size: int, g: int, lie: int) -> None:
        self.size, self.g, self.lie = size, g, lie
        self.fit()
        need(lie >= 1)
        need(g * lie < SCALE)
        self.radices, self.bounds = [self.seeds, g], [self.seeds, 1]
        self.q = Fraction(lie, SCALE)
        self.p = 1 - (g - 1) * self.q

    def fit(self) -> None:
        raise NotImplementedError

    @property
    def seeds(self) -> int:
        raise NotImplementedError

    @property
    def alike(self) -> Fraction:
        """The share of seeds under which two categories have one hash."""
        raise NotImplementedError

    def hash(self, seed: int, value: int) -> int:
        raise NotImplementedError

    def report(self, answer: Sequence[int], words: Words) -> list[int]:
        seed = choose(self.seeds, words)
        return [seed, self.told(self.hash(seed, answer[0]), self.lie, words)]

    def told(self, own: int, lie: int, words: Words) -> int:
        """One round."""
        word, others = next(words), [hash_ for hash_ in range(self.g) if hash_ != own]
        return own if word >= len(others) * lie else others[word % len(others)]

    def law(self, value: int, public: Sequence[int]) -> dict[tuple[int, ...], Fraction]:
        own = self.hash(public[0], value)
        return {(public[0], sent): self.p if sent == own else self.q for sent in range(self.g)}

    def apart(self) -> tuple[Decimal, Fraction, Decimal]:
        """Under some seeds two chances of the laws differ."""
        distance = (1 - self.alike) * (self.p - self.q)
        return log(self.p / self.q), distance, exact(distance) * log(self.p / self.q)

    def support(self) -> tuple[Fraction, Fraction]:
        return self.p, self.alike * self.p + (1 - self.alike) * self.q


class Olh(Hashing):
    def fit(self) -> None:
        need(2 <= self.size <= 65_521)
        need(2 <= self.g <= self.residues)

    @cached_property
    def residues(self) -> int:
        return next(n for n in count(self.size) if prime(n))

    @property
    def seeds(self) -> int:
        return self.residues * (self.residues - 1)

    @property
    def alike(self) -> Fraction:
        times = Counter(residue * self.g // self.residues for residue in range(self.residues))
        return sum(
            (Fraction(n, self.residues) * Fraction(n - 1, self.residues - 1) for n in times.values()), Fraction(0)
        )

    def hash(self, seed: int, value: int) -> int:
        a, b = seed // self.residues + 1, seed % self.residues
        ends = [Fraction(j * self.residues, self.g) for j in range(1, self.g)]
        return bisect_right(ends, (a * value + b) % self.residues)


class OlhPool(Hashing):
    length = 5

    def __init__(self, size: int, g: int, lie: int, flip: int, memo: int) -> None:
        super().__init__(size, g, lie)
        need(memo in (0, 1))
        need(0 <= flip * g < SCALE if memo else flip == 0)
        self.flip, self.memo = flip, memo
        self.first = self.p, self.q
        self.second = 1 - (g - 1) * Fraction(flip, SCALE), Fraction(flip, SCALE)
        if memo:
            self.bounds = [self.seeds, 1, 1]
            again, other = self.second
            self.p, self.q = (chance * again + (1 - chance) * other for chance in self.first)

    def public_bits(self) -> Decimal:
        return bits(Decimal(self.seeds).ln()) if self.memo else Decimal(0)

    def linkage_bits(self) -> Decimal:
        return choice_linkage((*self.second, self.g)) if self.memo else super().linkage_bits()

    def prices(self, windows: int) -> Any:
        if not self.memo:
            return super().prices(windows)
        return choice((*self.first, self.g), (*self.second, self.g), min(self.size, self.g), windows)

    def permanent(self, value: int, streams: Streams) -> list[int]:
        need(0 <= value < self.size)
        if not self.memo:
            return [value]
        seed = choose(self.seeds, streams("pool"))
        own = self.hash(seed, value)
        return [seed, self.told(own, self.lie, streams("memo", own))]

    def report(self, answer: Sequence[int], words: Words) -> list[int]:
        if not self.memo:
            return super().report(answer, words)
        return [answer[0], self.told(answer[1], self.flip, words)]

    def kept(self) -> tuple[Fraction, Fraction]:
        p, q = self.first
        return (p, self.alike * p + (1 - self.alike) * q) if self.memo else super().kept()

    def fit(self) -> None:
        need(2 <= self.size <= 65_536)
        need(prime(self.g))
        need(self.g ** (self.places + 1) <= 2**20)

    @cached_property
    def places(self) -> int:
        return len(digits(self.size - 1, self.g))

    @cached_property
    def numbers(self) -> list[list[int]]:
        """The digits of what each seed stands for."""
        written = (digits(n, self.g) for n in range(1, self.g**self.places))
        return [number for number in written if number[-1] == 1]

    @property
    def seeds(self) -> int:
        return len(self.numbers)

    @property
    def alike(self) -> Fraction:
        return Fraction(sum(self.hash(seed, 0) == self.hash(seed, 1) for seed in range(self.seeds)), self.seeds)

    def hash(self, seed: int, value: int) -> int:
        pairs = zip(self.numbers[seed], digits(value, self.g), strict=False)
        return sum(one * other for one, other in pairs) % self.g

    def supports(self, n: int, counts: Sequence[int]) -> Sequence[int]:
        need(len(counts) == self.seeds * self.g)
        need(all(0 <= one <= n for one in counts))
        rows = [counts[start : start + self.g] for start in range(0, len(counts), self.g)]
        return [sum(row[self.hash(seed, value)] for seed, row in enumerate(rows)) for value in range(self.size)]
