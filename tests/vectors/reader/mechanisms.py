"""spec/mechanisms: the one-bit mechanisms, and what is asked of every mechanism."""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from itertools import count
from typing import Any

from tests.vectors.reader import prices as price
from tests.vectors.reader.d_bit_flip import DBitFlip
from tests.vectors.reader.device import Device, Streams, Words
from tests.vectors.reader.estimates import coin
from tests.vectors.reader.grr import Grr
from tests.vectors.reader.hadamard_response import HadamardResponse
from tests.vectors.reader.hashing import Olh, OlhPool
from tests.vectors.reader.levels import DiscreteLaplace, Hybrid, Piecewise, StochasticGrr
from tests.vectors.reader.places import Cms, Hcms, Rappor
from tests.vectors.reader.square_wave import SquareWave
from tests.vectors.reader.subset_selection import SubsetSelection
from tests.vectors.reader.unary import Oue, Sue
from tests.vectors.reader.vectors import DuchiVector, Harmony, PiecewiseVector
from tests.vectors.reader.words import SCALE, Counted, choose, need, stream


class OneBit(Device):
    """What both pages have in common.

    Attributes:
        entries: Chances of a 1 of the permanent bits.
        ends: Chances of a 1 of the first round at the lowest and at the highest value.
        reach: Where the line from the first entry to the last one ends, in grid points.
    """

    radices = (2,)
    entries: list[Fraction]
    ends: list[Fraction]
    reach: Fraction

    def __init__(self, low: int, flip: int, memo: int, bounds: Sequence[int]) -> None:
        need(memo in (0, 1))
        need(1 <= low < 2**31)
        need(0 <= flip < 2**31)
        need(memo or not flip)
        self.low, self.flip, self.memo = low, flip, memo
        self.bounds = [*bounds, *[1] * memo]

    def first(self, value: int, streams: Streams) -> int:
        """The first round of a value."""
        raise NotImplementedError

    def one(self, value: int) -> Fraction:
        """The chance of a 1 in the first round."""
        raise NotImplementedError

    def flipped(self, one: Fraction) -> Fraction:
        """The chance of a 1 after the second round."""
        return one * Fraction(SCALE - self.flip, SCALE) + (1 - one) * Fraction(self.flip, SCALE)

    def permanent(self, value: int, streams: Streams) -> list[int]:
        need(0 <= value < self.size)
        return [self.first(value, streams) if self.memo else value]

    def report(self, answer: Sequence[int], words: Words) -> list[int]:
        return [answer[0] ^ (next(words) < self.flip) if self.memo else self.first(answer[0], lambda *_: words)]

    def law(self, value: int, public: Sequence[int]) -> dict[tuple[int, ...], Fraction]:
        one = self.flipped(self.one(value))
        return {(0,): 1 - one, (1,): one}

    def linkage_bits(self) -> Decimal:
        return price.coin_linkage(Fraction(self.flip if self.memo else self.low, SCALE))

    def prices(self, windows: int) -> Any:
        one = price.worst(*map(self.flipped, self.ends))
        if not self.memo:
            return price.fresh(one, windows)
        return price.kept(one, price.worst(*self.ends), self.flip, self.entries, windows)

    def estimate(
        self, n: int, counts: Sequence[int], level: float, lower: Fraction, step: Fraction, simultaneous: bool
    ) -> Any:
        need(n)
        (ones,) = counts
        need(0 <= ones <= n)
        a = self.entries[0] if self.memo else Fraction(0)
        return coin(n, ones, level, lower, self.reach * step, self.flipped(self.entries[0]), a)


class RandomizedResponse(OneBit):
    """randomized_response.md."""

    length = 3

    def __init__(self, low: int, flip: int, memo: int) -> None:
        super().__init__(low, flip, memo, [1])
        self.size, self.reach = 2, Fraction(1)
        self.entries = self.ends = [Fraction(low, SCALE), 1 - Fraction(low, SCALE)]

    def first(self, value: int, streams: Streams) -> int:
        return value ^ (next(streams("memo", value)) < self.low)

    def one(self, value: int) -> Fraction:
        return self.entries[value]


class OneBitMean(OneBit):
    """one_bit_mean.md."""

    length = 6

    def __init__(self, ticks: int, bucket: int, low: int, rise: int, flip: int, memo: int) -> None:
        super().__init__(low, flip, memo, [bucket, 1])
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


_DEVICES: Mapping[str, type[Device]] = {
    "randomized_response": RandomizedResponse,
    "one_bit_mean": OneBitMean,
    "discrete_laplace": DiscreteLaplace,
    "hybrid": Hybrid,
    "piecewise": Piecewise,
    "stochastic_grr": StochasticGrr,
    "grr": Grr,
    "hadamard_response": HadamardResponse,
    "olh": Olh,
    "olh_pool": OlhPool,
    "oue": Oue,
    "d_bit_flip": DBitFlip,
    "square_wave": SquareWave,
    "subset_selection": SubsetSelection,
    "sue": Sue,
    "cms": Cms,
    "hcms": Hcms,
    "rappor": Rappor,
    "duchi_vector": DuchiVector,
    "harmony": Harmony,
    "piecewise_vector": PiecewiseVector,
}


def device(encoder: str, integers: Sequence[int]) -> Device:
    made = _DEVICES[encoder]
    need(len(integers) == made.length)
    return made(*integers)


def encoder(**which: Any) -> Any:
    e = device(**which)
    return {
        "size": e.size,
        "radices": list(e.radices),
        "public": e.public,
        "public_bits": float(e.public_bits()),
        "linkage_bits": float(e.linkage_bits()),
    }


def permanent(value: int, secret: str, collection: str, metric: str, hash: str, **which: Any) -> list[int]:
    def streams(purpose: str, *key: int) -> Words:
        whose = ("", "") if purpose == "cohort" else (metric, hash)
        return stream(secret, collection, *whose, purpose, key)

    return list(device(**which).permanent(value, streams))


def answer(value: int, words: Mapping[str, list[int]], **which: Any) -> Any:
    tapes = {name: Counted(given) for name, given in words.items()}
    kept = device(**which).permanent(value, lambda *name: tapes["/".join(map(str, name))])
    return {"answer": list(kept), "used": {name: tape.used for name, tape in tapes.items() if tape.used}}


def report(answer: list[int], words: list[int], **which: Any) -> Any:
    tape = Counted(words)
    return {"payload": list(device(**which).report(answer, tape)), "used": tape.used}


def bulk(values: list[int], words: list[int], **which: Any) -> Any:
    tape = Counted(words)
    return {"payloads": [list(payload) for payload in device(**which).bulk(values, tape)], "used": tape.used}


def law(value: int, public: Sequence[int] | None = None, **which: Any) -> dict[str, str]:
    e = device(**which)
    need(0 <= value < e.size)
    chances = e.law(value, [0] * e.public if public is None else public)
    return {",".join(map(str, payload)): f"{p.numerator}/{p.denominator}" for payload, p in chances.items()}


def prices(windows: int, **which: Any) -> Any:
    return device(**which).prices(windows)


def estimate(
    n: int,
    level: float,
    lower: int,
    step: int,
    ones: int | None = None,
    counts: list[int] | None = None,
    simultaneous: bool = False,
    **which: Any,
) -> Any:
    grid = Fraction(lower, 10**6), Fraction(step, 10**6)
    given = counts if ones is None else [ones]
    assert given is not None
    return device(**which).estimate(n, given, level, *grid, simultaneous)
