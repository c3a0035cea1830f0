"""spec/mechanisms: the two encoders, one device or many at a time, and their laws."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from itertools import count
from typing import Any

from tests.vectors.reader.words import SCALE, Counted, choose, need, stream

Words = Iterator[int]
Streams = Callable[..., Words]


class OneBit:
    """What both pages have in common.

    Attributes:
        entries: Chances of a 1 of the permanent bits.
        ends: Chances of a 1 of the first round at the lowest and at the highest value.
        reach: Where the line from the first entry to the last one ends, in grid points.
    """

    size: int
    entries: list[Fraction]
    ends: list[Fraction]
    reach: Fraction

    def __init__(self, low: int, flip: int, memo: int) -> None:
        need(memo in (0, 1))
        need(1 <= low < 2**31)
        need(0 <= flip < 2**31)
        need(memo or not flip)
        self.low, self.flip, self.memo = low, flip, memo

    def first(self, value: int, streams: Streams) -> int:
        """The first round of a value."""
        raise NotImplementedError

    def one(self, value: int) -> Fraction:
        """The chance of a 1 in the first round."""
        raise NotImplementedError

    def permanent(self, value: int, streams: Streams) -> int:
        need(0 <= value < self.size)
        return self.first(value, streams) if self.memo else value

    def report(self, answer: int, words: Words) -> int:
        return answer ^ (next(words) < self.flip) if self.memo else self.first(answer, lambda *_: words)

    def rows(self, length: int, values: Sequence[int], words: Words) -> Iterator[tuple[int, list[int]]]:
        """Each device's value with its row of the block."""
        return zip(values, [[next(words) for _ in range(length + self.memo)] for _ in values], strict=True)

    def bulk(self, values: Sequence[int], words: Words) -> Iterator[int]:
        raise NotImplementedError

    def both(self, value: int, row: list[int]) -> int:
        """Both rounds from one row."""
        words = iter(row)
        return self.report(self.permanent(value, lambda *_: words), words)


class RandomizedResponse(OneBit):
    """randomized_response.md."""

    def __init__(self, low: int, flip: int, memo: int) -> None:
        super().__init__(low, flip, memo)
        self.size, self.reach = 2, Fraction(1)
        self.entries = self.ends = [Fraction(low, SCALE), 1 - Fraction(low, SCALE)]

    def first(self, value: int, streams: Streams) -> int:
        return value ^ (next(streams("memo", value)) < self.low)

    def one(self, value: int) -> Fraction:
        return self.entries[value]

    def bulk(self, values: Sequence[int], words: Words) -> Iterator[int]:
        return (self.both(value, row) for value, row in self.rows(1, values, words))


class OneBitMean(OneBit):
    """one_bit_mean.md."""

    def __init__(self, ticks: int, bucket: int, low: int, rise: int, flip: int, memo: int) -> None:
        super().__init__(low, flip, memo)
        need(1 <= ticks < SCALE)
        need(1 <= bucket <= ticks)
        top = next(k for k in count(ticks // bucket) if k * bucket >= ticks)
        need(top <= 4096)
        need(2 * low + top * rise == SCALE)
        self.size, self.bucket, self.reach = ticks + 1, bucket, Fraction(top * bucket)
        self.thresholds = [low + k * rise for k in range(top + 1)]
        self.entries = [Fraction(threshold, SCALE) for threshold in self.thresholds]
        self.ends = [self.one(0), self.one(ticks)]

    def first(self, value: int, streams: Streams) -> int:
        entry = (value + choose(self.bucket, streams("alpha"))) // self.bucket
        return int(next(streams("memo", entry)) < self.thresholds[entry])

    def one(self, value: int) -> Fraction:
        if self.bucket > 10_000:  # too many alphas to go through: the two entries that they lead to
            entry, up = divmod(value, self.bucket)
            share = Fraction(up, self.bucket)
            return (1 - share) * self.entries[entry] + (share * self.entries[entry + 1] if up else 0)
        return sum((self.entries[(value + a) // self.bucket] for a in range(self.bucket)), Fraction(0)) / self.bucket

    def bulk(self, values: Sequence[int], words: Words) -> Iterator[int]:
        rows = list(self.rows(2, values, words))
        while refused := [row for _, row in rows if row[0] >= SCALE - SCALE % self.bucket]:
            for row in refused:
                row[0] = next(words)
        return (self.both(value, row) for value, row in rows)


_ENCODERS: Mapping[str, tuple[int, Callable[..., OneBit]]] = {
    "randomized_response": (3, RandomizedResponse),
    "one_bit_mean": (6, OneBitMean),
}


def device(encoder: str, integers: Sequence[int]) -> OneBit:
    length, made = _ENCODERS[encoder]
    need(len(integers) == length)
    return made(*integers)


def exact(number: Fraction) -> Decimal:
    return Decimal(number.numerator) / Decimal(number.denominator)


def encoder(**which: Any) -> Any:
    e = device(**which)
    crossing = Fraction(e.flip if e.memo else e.low, SCALE)
    differ = 2 * crossing * (1 - crossing)
    entropy = -sum(exact(p) * exact(p).ln() / Decimal(2).ln() for p in (differ, 1 - differ) if p)
    return {"size": e.size, "radices": [2], "public": 0, "public_bits": 0.0, "linkage_bits": float(1 - entropy)}


def permanent(value: int, secret: str, collection: str, metric: str, hash: str, **which: Any) -> list[int]:
    return [device(**which).permanent(value, lambda p, *key: stream(secret, collection, metric, hash, p, key))]


def answer(value: int, words: Mapping[str, list[int]], **which: Any) -> Any:
    tapes = {name: Counted(given) for name, given in words.items()}
    bit = device(**which).permanent(value, lambda *name: tapes["/".join(map(str, name))])
    return {"answer": [bit], "used": {name: tape.used for name, tape in tapes.items() if tape.used}}


def report(answer: list[int], words: list[int], **which: Any) -> Any:
    tape = Counted(words)
    return {"payload": [device(**which).report(answer[0], tape)], "used": tape.used}


def bulk(values: list[int], words: list[int], **which: Any) -> Any:
    tape = Counted(words)
    return {"payloads": [[bit] for bit in device(**which).bulk(values, tape)], "used": tape.used}


def flipped(one: Fraction, flip: int) -> Fraction:
    """The chance of a 1 after the second round."""
    return one * Fraction(SCALE - flip, SCALE) + (1 - one) * Fraction(flip, SCALE)


def law(value: int, **which: Any) -> dict[str, str]:
    e = device(**which)
    one = flipped(e.one(value), e.flip)
    return {str(bit): f"{p.numerator}/{p.denominator}" for bit, p in enumerate((1 - one, one))}
