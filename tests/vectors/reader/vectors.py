"""spec/coordinates.md and the mechanisms for vectors."""

import math
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from itertools import product
from typing import Any

from tests.vectors.reader import prices
from tests.vectors.reader.device import Device, Streams, Words
from tests.vectors.reader.estimates import coin, each, scored, together
from tests.vectors.reader.intervals import means
from tests.vectors.reader.levels import Piecewise
from tests.vectors.reader.words import SCALE, choose, need

Ticks = Sequence[int]


class Vectors(Device):
    """Coordinates, ends, blocks and linkage."""

    dimension: int
    ticks: int

    def sizes(self, dimension: int, ticks: int, most: int = 4096) -> None:
        need(2 <= dimension <= most)
        need(1 <= ticks < SCALE)
        self.dimension, self.ticks, self.size = dimension, ticks, (ticks + 1) ** dimension
        self.ends = 0 if ticks == 1 else 1  # words for one

    def permanent(self, value: int, streams: Streams) -> Ticks:
        need(0 <= value < self.size)
        return [value // (self.ticks + 1) ** j % (self.ticks + 1) for j in range(self.dimension)]

    def end(self, tick: int, words: Words) -> int:
        return tick if self.ticks == 1 else int(tick + choose(self.ticks, words) >= self.ticks)

    def share(self, value: int, j: int) -> Fraction:
        """Where a coordinate lies in its range."""
        return Fraction(self.permanent(value, lambda *_: iter([]))[j], self.ticks)

    def _both(self, value: Any, words: Words) -> Sequence[int]:
        """A vector of a bulk is its ticks."""
        need(len(value) == self.dimension)
        need(all(0 <= tick <= self.ticks for tick in value))
        return self.report(value, words)

    def linked(self, distance: Fraction, nats: Decimal) -> Decimal:
        return min(
            self.dimension * prices.bits(Decimal(self.ticks + 1).ln()), prices.bits(prices.exact(distance) * nats)
        )

    def rows(self, found: Sequence[Mapping[str, Any]]) -> Any:
        """Estimates of coordinates, side by side."""
        columns = {key: [row[key] for row in found] for key in found[0]}
        return {**columns, "method": together(columns["method"])}


class Harmony(Vectors):
    """harmony.md."""

    length = 3
    public = 1

    def __init__(self, dimension: int, ticks: int, low: int) -> None:
        self.sizes(dimension, ticks)
        need(1 <= low < 2**31)
        self.low, self.q = low, Fraction(low, SCALE)
        self.radices, self.bounds = [dimension, 2], [dimension, *[ticks] * self.ends, 1]

    def report(self, answer: Ticks, words: Words) -> list[int]:
        j = choose(self.dimension, words)
        return [j, self.end(answer[j], words) ^ (next(words) < self.low)]

    def law(self, value: int, public: Sequence[int]) -> Mapping[tuple[int, ...], Fraction]:
        one = self.q + (1 - 2 * self.q) * self.share(value, public[0])
        return {(public[0], 0): 1 - one, (public[0], 1): one}

    def apart(self) -> tuple[Decimal, Fraction, Decimal]:
        return prices.apart({(0,): self.q, (1,): 1 - self.q}, {(0,): 1 - self.q, (1,): self.q})

    def linkage_bits(self) -> Decimal:
        return self.linked(*self.apart()[1:])

    def estimate(
        self, n: int, counts: Sequence[int], level: float, lower: Fraction, step: Fraction, simultaneous: bool
    ) -> Any:
        need(n)
        need(len(counts) == 2 * self.dimension)
        asked, ones = counts[: self.dimension], counts[self.dimension :]
        need(all(0 <= one <= all_ for one, all_ in zip(ones, asked, strict=True)))
        need(sum(asked) == n)
        c, span = self.dimension / (1 - 2 * self.q), self.ticks * step
        means = [c * (2 * one - all_) / n for one, all_ in zip(ones, asked, strict=True)]
        spread = [max(c * c * all_ / n - mean**2, Fraction(0)) / n for all_, mean in zip(asked, means, strict=True)]
        noise = (c * c / self.dimension - 1) / 4
        shares = [(1 + mean) / 2 for mean in means]
        found = scored(
            shares,
            [float(span / 2) * math.sqrt(one) for one in spread],
            n,
            [noise] * self.dimension,
            [Fraction(0)] * self.dimension,
            level,
            simultaneous,
        )
        moved = {key: [float(lower + span * Fraction(x)) for x in found[key]] for key in ("low", "high")}
        values = [float(lower + span * share) for share in shares]
        return {**found, **moved, "value": values, "se_shared": [float(span) * x for x in found["se_shared"]]}


class DuchiVector(Vectors):
    """duchi_vector.md."""

    length = 4

    def __init__(self, dimension: int, ticks: int, agree: int, keep: int) -> None:
        self.sizes(dimension, ticks, 32)
        need(1 <= agree <= dimension)
        self.agree, self.keep = agree, keep
        agreeing = sum(math.comb(dimension, k) for k in range(agree, dimension + 1))
        others = sum(math.comb(dimension, k) for k in range(agree))
        need(keep * 2**dimension > SCALE * agreeing)
        need(keep < SCALE)
        self.sets = agreeing, others
        self.p, self.q = Fraction(keep, SCALE * agreeing), Fraction(SCALE - keep, SCALE * others)
        self.radices = [2] * dimension
        self.bounds = [*[ticks] * dimension * self.ends, 1, agreeing, others]

    def report(self, answer: Ticks, words: Words) -> list[int]:
        ends = [self.end(tick, words) for tick in answer]
        agrees, inside, outside = next(words) < self.keep, *(choose(count, words) for count in self.sets)
        if agrees:
            right = self.pattern(inside, self.agree)
        else:
            right = [1 - bit for bit in self.pattern(outside, self.dimension - self.agree + 1)]
        return [end if own else 1 - end for end, own in zip(ends, right, strict=True)]

    def pattern(self, place: int, ones: int) -> list[int]:
        """Bit by bit; where they are few, by listing all of them."""
        if self.dimension <= 8:
            every = [bits for bits in product((0, 1), repeat=self.dimension) if sum(bits) >= ones]
            return list(every[place])
        found: list[int] = []
        for left in range(self.dimension - 1, -1, -1):
            zeros = sum(math.comb(left, k) for k in range(left + 1) if k >= ones)
            found.append(int(place >= zeros))
            if found[-1]:
                place, ones = place - zeros, ones - 1
        return found

    def law(self, value: int, public: Sequence[int]) -> Mapping[tuple[int, ...], Fraction]:
        every = list(product((0, 1), repeat=self.dimension))
        shares = [self.share(value, j) for j in range(self.dimension)]
        ends = {v: math.prod(s if bit else 1 - s for s, bit in zip(shares, v, strict=True)) for v in every}
        return {bits: sum((self.given(v, bits) * chance for v, chance in ends.items()), Fraction(0)) for bits in every}

    def given(self, ends: Sequence[int], bits: Sequence[int]) -> Fraction:
        return self.p if sum(a == b for a, b in zip(ends, bits, strict=True)) >= self.agree else self.q

    def apart(self) -> tuple[Decimal, Fraction, Decimal]:
        worst, distance = prices.log(self.p / self.q), (self.p - self.q) * min(self.sets)
        return worst, distance, prices.exact(distance) * worst

    def linkage_bits(self) -> Decimal:
        return self.linked(*self.apart()[1:])

    def estimate(
        self, n: int, counts: Sequence[int], level: float, lower: Fraction, step: Fraction, simultaneous: bool
    ) -> Any:
        need(n)
        need(len(counts) == self.dimension)
        need(all(0 <= count <= n for count in counts))
        ways = [sum(math.comb(self.dimension, k) * (2 * k - self.dimension) for k in some) for some in self.halves()]
        gain = (self.p * ways[0] + self.q * ways[1]) / self.dimension
        level = each(level, self.dimension, simultaneous)
        span = self.ticks * step
        return self.rows([coin(n, ones, level, lower, span, (1 - gain) / 2, Fraction(0)) for ones in counts])

    def halves(self) -> Iterator[range]:
        yield range(self.agree, self.dimension + 1)
        yield range(self.agree)


class PiecewiseVector(Vectors):
    """piecewise_vector.md."""

    length = 7

    def __init__(self, dimension: int, ticks: int, sampled: int, top: int, shift: int, width: int, keep: int) -> None:
        self.sizes(dimension, ticks)
        need(1 <= sampled <= min(dimension, 64))
        self.sampled, self.one = sampled, Piecewise(ticks, top, shift, width, keep)
        self.public = 0 if sampled == dimension else sampled
        self.radices = [*[dimension - sampled + 1] * self.public, *list(self.one.radices) * sampled]
        draws = range(dimension - sampled + 1, dimension + 1) if self.public else []
        self.bounds = [*draws, *list(self.one.bounds) * sampled]

    def report(self, answer: Ticks, words: Words) -> list[int]:
        drawn: list[int] = []
        for bound in self.bounds[: self.public]:
            j = choose(bound, words)
            drawn.append(bound - 1 if j in drawn else j)
        asked = sorted(drawn) if self.public else list(range(self.dimension))
        outputs = [self.one.report([answer[j]], words)[0] for j in asked]
        return [j - place for place, j in enumerate(asked)][: self.public] + outputs

    def law(self, value: int, public: Sequence[int]) -> Mapping[tuple[int, ...], Fraction]:
        asked = [field + place for place, field in enumerate(public)] if self.public else range(self.dimension)
        ticks = self.permanent(value, lambda *_: iter([]))
        laws = [self.one.law(ticks[j], []) for j in asked]
        return {
            (*public, *(y for (y,) in outputs)): math.prod(
                (law[y] for law, y in zip(laws, outputs, strict=True)), start=Fraction(1)
            )
            for outputs in product(laws[0], repeat=self.sampled)
        }

    def prices(self, windows: int) -> Any:
        return prices.fresh(self.sampled * self.one.apart()[0], windows)

    def linkage_bits(self) -> Decimal:
        _, distance, nats = self.one.apart()
        return self.linked(1 - (1 - distance) ** self.sampled, self.sampled * nats)

    def estimate(
        self, n: int, counts: Sequence[int], level: float, lower: Fraction, step: Fraction, simultaneous: bool
    ) -> Any:
        need(n)
        outputs, top = self.one.radices[0], self.one.top
        need(len(counts) == self.dimension * outputs)
        need(all(count >= 0 for count in counts))
        need(sum(counts) == n * self.sampled)
        table = [counts[start : start + outputs] for start in range(0, len(counts), outputs)]
        need(all(sum(row) <= n for row in table))
        share, half = Fraction(self.sampled, self.dimension), Fraction(top, 2)
        stands = [*(half + (w - half) / share for w in self.one.meanings()), half]
        unit, upper = self.ticks * step / top, lower + self.ticks * step
        sent = [*(any(self.one.row(at)[y] for at in range(top + 1)) for y in range(outputs)), share < 1]
        found = []
        for row in table:
            every = [*row, n - sum(row)]
            m = sum((w * count for w, count in zip(stands, every, strict=True)), Fraction(0)) / n
            spread = sum(((w - m) ** 2 * count for w, count in zip(stands, every, strict=True)), Fraction(0)) / n
            value = lower + unit * m
            held = min(max(value, lower), upper)
            (low, high), method = means(stands, every, sent, each(level, self.dimension, simultaneous))
            found.append(
                {
                    "value": float(value),
                    "se": float(unit) * math.sqrt(spread / n),
                    "se_shared": math.sqrt((held - lower) * (upper - held) / n),
                    "low": float(lower) + float(unit) * low,
                    "high": float(lower) + float(unit) * high,
                    "method": method,
                }
            )
        return self.rows(found)
