"""spec/words.md, and the pages of the mechanisms for words."""

import hashlib
import math
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from itertools import product
from typing import Any

from tests.vectors.reader.device import Device, Streams, Words
from tests.vectors.reader.estimates import above, scored, spread
from tests.vectors.reader.prices import bits, exact, fresh, fresh_linkage, kept_bits, log, shared_bits
from tests.vectors.reader.words import SCALE, choose, fields, need


def sha256(items: Sequence[str | int]) -> str:
    """Bits of a hash, as text."""
    digest = hashlib.sha256(bytes.fromhex(fields(items))).hexdigest()
    return f"{int(digest, 16):0256b}"


def word(word: str) -> int:
    return max(1, int(sha256(["hubbub/1", "word", word])[:53], 2)) if word else 0


class Rows(Device):
    """What the mechanisms for words have in common."""

    name: str
    size = 2**53
    rows: int
    places: int
    segments = 1

    def powers(self, *sizes: int) -> None:
        need(all(size > 0 and bin(size).count("1") == 1 for size in sizes))

    def stands(self, row: int, value: int) -> list[int]:
        """One place for each segment."""
        found, wide = [], self.places // self.segments
        for segment in range(self.segments):
            shape: list[str | int] = [self.name, self.places, self.segments, self.rows, row, segment]
            digest = sha256(["hubbub/1", "place", *shape])
            a, b, c = (int(digest[64 * i : 64 * i + 64], 2) for i in range(3))
            high, low = divmod(value, 2**32)
            x = ((a + high) * (b + low) + c) % 2**64 // 2**32
            found.append(segment * wide + math.floor(Fraction(x * wide, 2**32)))
        return found

    def one_by_one(self, ones: Sequence[Fraction], row: int) -> dict[tuple[int, ...], Fraction]:
        """The law of independent bits after the row."""
        every = product((0, 1), repeat=len(ones))
        return {
            (row, *sent): math.prod((p if bit else 1 - p for bit, p in zip(sent, ones, strict=True)), start=Fraction(1))
            for sent in every
        }

    def bits_of(self, n: int, counts: Sequence[int], p: Fraction, q: Fraction) -> tuple[list[Fraction], list[Fraction]]:
        """Means of z and of its square, from reports and ones of each row."""
        need(len(counts) == self.rows * (1 + self.places))
        rows = [counts[i : i + 1 + self.places] for i in range(0, len(counts), 1 + self.places)]
        need(sum(row[0] for row in rows) == n)
        need(all(0 <= one <= row[0] for row in rows for one in row))
        values, squares = [], []
        for row in rows:
            for ones in row[1:]:
                z = [self.rows * (bit - q) / (p - q) for bit in (0, 1)]
                values.append(((row[0] - ones) * z[0] + ones * z[1]) / n)
                squares.append(((row[0] - ones) * z[0] ** 2 + ones * z[1] ** 2) / n)
        return values, squares

    def square(self, p: Fraction, q: Fraction) -> tuple[Fraction, Fraction]:
        """The mean of z² over the share."""
        return self.rows * q * (1 - q) / (p - q) ** 2, self.rows * (1 - 2 * q) / (p - q)


class Rappor(Rows):
    length = 7
    public = 1
    name = "rappor"

    def __init__(self, bits: int, hashes: int, cohorts: int, low: int, zero: int, one: int, memo: int) -> None:
        need(memo in (0, 1))
        need(1 <= hashes <= 16)
        need(2 * hashes <= bits <= 4096)
        need(bits % hashes == 0)
        self.powers(cohorts)
        need(cohorts <= 1024)
        need(1 <= low < 2**31 if memo else low == 0)
        need(1 <= one <= SCALE)
        need(0 <= zero < one)
        need(memo or (zero and one < SCALE))
        self.places, self.segments, self.rows = bits, hashes, cohorts
        self.low, self.thresholds, self.memo = low, (zero, one), memo
        self.radices = [cohorts, *[2] * bits]
        self.bounds = [1] * (1 + bits * (3 if memo else 1))
        self.lie, self.z, self.o = (Fraction(t, SCALE) for t in (low, zero, one))
        self.q = (1 - self.lie) * self.z + self.lie * self.o
        self.p = self.lie * self.z + (1 - self.lie) * self.o

    def filter(self, cohort: int, value: int) -> list[int]:
        ones = self.stands(cohort, value) if value else []
        return [place in ones for place in range(self.places)]

    def permanent(self, value: int, streams: Streams) -> list[int]:
        need(0 <= value < self.size)
        if not self.memo:
            return [value]
        cohort = choose(self.rows, streams("cohort", self.rows))
        lies = []
        for state in (0, 1):
            stream = streams("memo", state)
            lies.append([next(stream) < self.low for _ in range(self.places)])
        return [cohort, *(int(bit != lies[bit][place]) for place, bit in enumerate(self.filter(cohort, value)))]

    def report(self, answer: Sequence[int], words: Words) -> list[int]:
        if self.memo:
            cohort, kept = answer[0], list(answer[1:])
        else:
            cohort = choose(self.rows, words)
            kept = self.filter(cohort, answer[0])
        return [cohort, *(int(next(words) < self.thresholds[bit]) for bit in kept)]

    def law(self, value: int, public: Sequence[int]) -> dict[tuple[int, ...], Fraction]:
        return self.one_by_one([self.p if bit else self.q for bit in self.filter(public[0], value)], public[0])

    def one(self) -> Decimal:
        return self.segments * log(self.p * (1 - self.q) / (self.q * (1 - self.p)))

    def public_bits(self) -> Decimal:
        return bits(Decimal(self.rows).ln()) if self.memo else Decimal(0)

    def linkage_bits(self) -> Decimal:
        nats = exact(self.p - self.q) * self.one()
        if not self.memo:
            grown = self.one().exp()
            return fresh_linkage(self.size, Fraction((grown - 1) / (grown + 1)), nats)
        shared = [shared_bits(kept, (self.z, self.o)) for kept in (self.lie, 1 - self.lie)]
        first = min(Decimal(53), bits(nats))
        return first + self.segments * max(shared) + (self.places - self.segments) * shared[0]

    def prices(self, windows: int) -> Any:
        if not self.memo:
            return fresh(self.one(), windows)
        steady, entries = 2 * self.segments * log((1 - self.lie) / self.lie), (self.lie, 1 - self.lie)
        return kept_bits(self.one(), steady, (self.z, self.o), entries, self.segments, self.places, windows)

    def estimate(
        self, n: int, counts: Sequence[int], level: float, lower: Fraction, step: Fraction, simultaneous: bool
    ) -> Any:
        need(n)
        values, squares = self.bits_of(n, counts, self.p, self.q)
        line, ses = self.square(self.p, self.q), spread(squares, values, n)
        if self.memo:
            kept, _ = self.square(1 - self.lie, self.lie)
            return above(values, ses, n, line, (kept, Fraction(self.rows)), level, simultaneous)
        each = len(values)
        return scored(values, ses, n, [line[0]] * each, [line[1] - 1] * each, level, simultaneous)


class Sketch(Rows):
    """cms.md and hcms.md."""

    length = 3

    def __init__(self, bits: int, hashes: int, flip: int) -> None:
        need(2 <= bits <= 2**16)
        need(hashes <= 2**16)
        self.powers(bits, hashes)
        need(bits * hashes <= 2**26)
        need(1 <= flip < 2**31)
        self.places, self.rows, self.flip, self.g = bits, hashes, flip, Fraction(flip, SCALE)
        self.sized()

    def sized(self) -> None:
        """Radices, and words of a report."""
        raise NotImplementedError

    def moments(self, n: int, counts: Sequence[int]) -> tuple[list[Fraction], list[Fraction]]:
        """Means of z and of its square."""
        raise NotImplementedError

    def line(self) -> tuple[Fraction, Fraction]:
        """The mean of z² over the share."""
        raise NotImplementedError

    def estimate(
        self, n: int, counts: Sequence[int], level: float, lower: Fraction, step: Fraction, simultaneous: bool
    ) -> Any:
        need(n)
        values, squares = self.moments(n, counts)
        base, slope = self.line()
        each = len(values)
        return scored(values, spread(squares, values, n), n, [base] * each, [slope - 1] * each, level, simultaneous)


class Cms(Sketch):
    public = 1
    name = "cms"

    def sized(self) -> None:
        self.radices, self.bounds = [self.rows, *[2] * self.places], [1] * (1 + self.places)

    def report(self, answer: Sequence[int], words: Words) -> list[int]:
        row = choose(self.rows, words)
        right = [int([place] == self.stands(row, answer[0])) for place in range(self.places)]
        return [row, *(1 - bit if next(words) < self.flip else bit for bit in right)]

    def law(self, value: int, public: Sequence[int]) -> dict[tuple[int, ...], Fraction]:
        own = self.stands(public[0], value)
        return self.one_by_one([1 - self.g if [place] == own else self.g for place in range(self.places)], public[0])

    def apart(self) -> tuple[Decimal, Fraction, Decimal]:
        loss = 2 * log((1 - self.g) / self.g)
        return loss, 1 - 2 * self.g, exact(1 - 2 * self.g) * loss

    def moments(self, n: int, counts: Sequence[int]) -> tuple[list[Fraction], list[Fraction]]:
        return self.bits_of(n, counts, 1 - self.g, self.g)

    def line(self) -> tuple[Fraction, Fraction]:
        return self.square(1 - self.g, self.g)


class Hcms(Sketch):
    public = 2
    name = "hcms"

    def sized(self) -> None:
        self.radices, self.bounds = [self.rows, self.places, 2], [1, 1, 1]

    def plus(self, column: int, place: int) -> bool:
        return bin(column & place).count("1") % 2 == 0

    def report(self, answer: Sequence[int], words: Words) -> list[int]:
        row, column = choose(self.rows, words), choose(self.places, words)
        sign = self.plus(column, self.stands(row, answer[0])[0])
        return [row, column, int(sign != (next(words) < self.flip))]

    def law(self, value: int, public: Sequence[int]) -> dict[tuple[int, ...], Fraction]:
        row, column = public
        sign = self.plus(column, self.stands(row, value)[0])
        return {(row, column, bit): self.g if bit != sign else 1 - self.g for bit in (0, 1)}

    def apart(self) -> tuple[Decimal, Fraction, Decimal]:
        loss, half = log((1 - self.g) / self.g), (1 - 2 * self.g) / 2
        return loss, half, exact(half) * loss

    def moments(self, n: int, counts: Sequence[int]) -> tuple[list[Fraction], list[Fraction]]:
        need(len(counts) == 2 * self.rows * self.places)
        need(all(one >= 0 for one in counts))
        need(sum(counts) == n)
        big = self.rows / (1 - 2 * self.g)
        values, squares = [], []
        for row in range(self.rows):
            pairs = [counts[2 * i : 2 * i + 2] for i in range(row * self.places, (row + 1) * self.places)]
            for place in range(self.places):
                signs = (b - a if self.plus(column, place) else a - b for column, (a, b) in enumerate(pairs))
                values.append(sum(signs, Fraction(0)) * big / n)
                squares.append(big**2 * sum(map(sum, pairs)) / n)
        return values, squares

    def line(self) -> tuple[Fraction, Fraction]:
        return self.rows / (1 - 2 * self.g) ** 2, Fraction(0)
