"""spec/mechanisms: numbers that go to levels, and are answered by one of several outputs."""

import math
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

from tests.vectors.reader import prices
from tests.vectors.reader.device import Device, Words
from tests.vectors.reader.intervals import means
from tests.vectors.reader.words import SCALE, choose, need

Chances = Sequence[Fraction]


class Levelled(Device):
    """What the four pages have in common: ticks, levels, and estimates.md, "Means of several outputs"."""

    ticks: int
    top: int

    @abstractmethod
    def row(self, level: int) -> Chances:
        """The law of a level, over all outputs."""

    @abstractmethod
    def meanings(self) -> Chances:
        """What each output stands for, in levels."""

    def cut(self, ticks: int, top: int) -> None:
        need(0 < ticks < SCALE)
        need(0 < top <= min(ticks, 4095))
        self.ticks, self.top, self.size = ticks, top, ticks + 1
        self.bounds = [ticks] if top < ticks else []

    def level(self, value: int, words: Words) -> int:
        """README.md, "Levels"."""
        return value if self.top == self.ticks else (value * self.top + choose(self.ticks, words)) // self.ticks

    def mixed(self, value: int, rows: Sequence[Chances]) -> Chances:
        """The law of a value, from those of evenly spaced levels."""
        place = Fraction(value * (len(rows) - 1), self.ticks)
        low = math.floor(place)
        above = rows[min(low + 1, len(rows) - 1)]
        return [(1 - place + low) * a + (place - low) * b for a, b in zip(rows[low], above, strict=True)]

    def law(self, value: int, public: Sequence[int]) -> Mapping[tuple[int, ...], Fraction]:
        chances = self.mixed(value, [self.row(level) for level in range(self.top + 1)])
        return {(output,): chance for output, chance in enumerate(chances)}

    def apart(self) -> tuple[Decimal, Fraction, Decimal]:
        return prices.apart(self.law(0, []), self.law(self.ticks, []))

    def estimate(
        self, n: int, counts: Sequence[int], level: float, lower: Fraction, step: Fraction, simultaneous: bool
    ) -> Any:
        need(n)
        stands = self.meanings()
        need(len(counts) == len(stands))
        need(all(count >= 0 for count in counts))
        need(sum(counts) == n)
        m = sum((w * count for w, count in zip(stands, counts, strict=True)), Fraction(0)) / n
        spread = sum(((w - m) ** 2 * count for w, count in zip(stands, counts, strict=True)), Fraction(0)) / n
        unit, upper = self.ticks * step / self.top, lower + self.ticks * step
        value, held = lower + unit * m, min(max(lower + unit * m, lower), upper)
        rows = [self.row(at) for at in range(self.top + 1)]
        (low, high), method = means(stands, counts, [any(column) for column in zip(*rows, strict=True)], level)
        return {
            "value": float(value),
            "se": float(unit) * math.sqrt(spread / n),
            "se_shared": math.sqrt((held - lower) * (upper - held) / n),
            "low": float(lower) + float(unit) * low,
            "high": float(lower) + float(unit) * high,
            "method": method,
        }


class Window:
    """A window on levels: piecewise.md."""

    def __init__(self, top: int, shift: int, width: int, keep: int) -> None:
        need(1 <= shift <= 4096)
        need(1 <= width <= 4096)
        self.shift, self.width, self.keep, self.others = shift, width, keep, shift * top
        self.outputs = self.others + width
        need(self.outputs <= 4096)
        need(keep * self.outputs > SCALE * width)
        need(keep < SCALE)

    def sent(self, level: int, word: int, inside: int, outside: int) -> int:
        window = range(self.shift * level, self.shift * level + self.width)
        return window[inside] if word < self.keep else [y for y in range(self.outputs) if y not in window][outside]

    def row(self, level: int) -> Chances:
        window = range(self.shift * level, self.shift * level + self.width)
        p, q = Fraction(self.keep, SCALE * self.width), Fraction(SCALE - self.keep, SCALE * self.others)
        return [p if y in window else q for y in range(self.outputs)]


def straight(first: Chances, last: Chances, top: int) -> Chances:
    """Meanings that grow evenly with the output, such that the mean is 0 under one law and `top` under another."""
    zero, full = (sum((y * p for y, p in enumerate(row)), Fraction(0)) for row in (first, last))
    return [top * (y - zero) / (full - zero) for y in range(len(first))]


class Piecewise(Levelled):
    """piecewise.md."""

    length = 5

    def __init__(self, ticks: int, top: int, shift: int, width: int, keep: int) -> None:
        self.cut(ticks, top)
        self.window = Window(top, shift, width, keep)
        self.radices = [self.window.outputs]
        self.bounds = [*self.bounds, 1, *([width] if width > 1 else []), self.window.others]

    def report(self, answer: Sequence[int], words: Words) -> list[int]:
        level, word = self.level(answer[0], words), next(words)
        inside = choose(self.window.width, words) if self.window.width > 1 else 0
        return [self.window.sent(level, word, inside, choose(self.window.others, words))]

    def row(self, level: int) -> Chances:
        return self.window.row(level)

    def meanings(self) -> Chances:
        return straight(self.row(0), self.row(self.top), self.top)


class StochasticGrr(Piecewise):
    """stochastic_grr.md."""

    length = 3

    def __init__(self, ticks: int, top: int, keep: int) -> None:
        super().__init__(ticks, top, 1, 1, keep)


class Hybrid(Levelled):
    """hybrid.md."""

    length = 7
    public = 1

    def __init__(self, ticks: int, top: int, shift: int, width: int, keep: int, low: int, share: int) -> None:
        self.cut(ticks, top)
        need(1 <= low < 2**31)
        need(0 <= share <= SCALE)
        self.window, self.low, self.share = Window(top, shift, width, keep), low, share
        self.radices = [2, self.window.outputs]
        self.bounds = [1, ticks, 1, width, self.window.others]

    def report(self, answer: Sequence[int], words: Words) -> list[int]:
        coin, place, word = next(words) < self.share, choose(self.ticks, words), next(words)
        inside, outside = choose(self.window.width, words), choose(self.window.others, words)
        if coin:
            return [1, self.window.sent((answer[0] * self.top + place) // self.ticks, word, inside, outside)]
        return [0, (answer[0] + place) // self.ticks ^ (word < self.low)]

    def bit(self) -> list[Chances]:
        lie = Fraction(self.low, SCALE)
        return [[1 - lie, lie], [lie, 1 - lie]]

    def law(self, value: int, public: Sequence[int]) -> Mapping[tuple[int, ...], Fraction]:
        (coin,) = public
        rows = [self.window.row(level) for level in range(self.top + 1)] if coin else self.bit()
        return {(coin, output): chance for output, chance in enumerate(self.mixed(value, rows))}

    def apart(self) -> tuple[Decimal, Fraction, Decimal]:
        heads = Fraction(self.share, SCALE)
        laws = []
        for value in (0, self.ticks):
            parts = ((coin, chance) for coin, chance in ((0, 1 - heads), (1, heads)) if chance)
            laws.append({k: c * p for coin, c in parts for k, p in self.law(value, [coin]).items()})
        return prices.apart(*laws)

    def row(self, level: int) -> Chances:
        heads, place, (none, one) = Fraction(self.share, SCALE), Fraction(level, self.top), self.bit()
        bit = [(1 - heads) * ((1 - place) * a + place * b) for a, b in zip(none, one, strict=True)]
        return [*bit, *(heads * p for p in self.window.row(level))]

    def meanings(self) -> Chances:
        window = straight(self.window.row(0), self.window.row(self.top), self.top)
        none, one = self.bit()
        return [*straight(none, one, self.top), *window]


class DiscreteLaplace(Levelled):
    """discrete_laplace.md."""

    length = 3

    def __init__(self, ticks: int, top: int, ratio: int) -> None:
        self.cut(ticks, top)
        need(top <= 255)
        need(1 <= ratio < SCALE)
        self.radices, self.bounds = [top + 1], [*self.bounds, 1]
        fine = [SCALE**2 * ratio // (SCALE + ratio)]
        for _ in range(top - 1):
            fine.append(fine[-1] * ratio // SCALE)
        self.tails = [x // SCALE for x in fine]
        below = [*reversed(self.tails), *(SCALE - t for t in self.tails)]  # words that lead to -top or less, and so on
        exactly = {z: high - low for z, low, high in zip(range(1 - top, top), below, below[1:], strict=False)}
        need(self.tails[-1] and min(exactly.values()) > 0)
        need(max(exactly.values()) * self.tails[-1] <= min(exactly.values()) * (SCALE - self.tails[0]))
        self.below, self.exactly = below, exactly

    def report(self, answer: Sequence[int], words: Words) -> list[int]:
        level, word = self.level(answer[0], words), next(words)
        noise = sum(threshold <= word for threshold in self.below) - self.top
        return [min(max(level + noise, 0), self.top)]

    def row(self, level: int) -> Chances:
        words = [0] * (self.top + 1)
        for z, share in [*self.exactly.items(), (-self.top, self.tails[-1]), (self.top, self.tails[-1])]:
            words[min(max(level + z, 0), self.top)] += share
        return [Fraction(share, SCALE) for share in words]

    def meanings(self) -> Chances:
        """By elimination."""
        table = [[*self.row(level), Fraction(level)] for level in range(self.top + 1)]
        for i, row in enumerate(table):
            row[:] = [x / row[i] for x in row]
            for other in table[:i] + table[i + 1 :]:
                other[:] = [x - other[i] * y for x, y in zip(other, row, strict=True)]
        return [row[-1] for row in table]

    def apart(self) -> tuple[Decimal, Fraction, Decimal]:
        worst = Fraction(SCALE - self.tails[0], self.tails[-1])
        distance = (worst - 1) / (worst + 1)
        return prices.log(worst), distance, prices.exact(distance) * prices.log(worst)
