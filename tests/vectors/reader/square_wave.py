"""spec/mechanisms/square_wave.md."""

from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

from tests.vectors.reader.device import Device, Words
from tests.vectors.reader.estimates import held, scored, spread
from tests.vectors.reader.prices import exact, log
from tests.vectors.reader.words import SCALE, choose, need

Matrix = list[list[Fraction]]


class SquareWave(Device):
    length = 3

    def __init__(self, size: int, width: int, keep: int) -> None:
        need(2 <= size <= 1024)
        need(1 <= width <= size)
        self.size, self.width, self.keep = size, width, keep
        self.outputs = size - 1 + width
        need(keep * self.outputs > SCALE * width)
        need(keep < SCALE)
        self.radices = [self.outputs]
        self.bounds = [1, *[width] * (width > 1), size - 1]
        self.p, self.q = Fraction(keep, SCALE * width), Fraction(SCALE - keep, SCALE * (size - 1))

    def window(self, value: int) -> range:
        return range(value, value + self.width)

    def report(self, answer: Sequence[int], words: Words) -> list[int]:
        stays = next(words) < self.keep
        inside = choose(self.width, words) if self.width > 1 else 0
        outside = choose(self.size - 1, words)
        window = self.window(answer[0])
        others = [output for output in range(self.outputs) if output not in window]
        return [window[inside] if stays else others[outside]]

    def law(self, value: int, public: Sequence[int]) -> dict[tuple[int, ...], Fraction]:
        return {(y,): self.p if y in self.window(value) else self.q for y in range(self.outputs)}

    def apart(self) -> tuple[Decimal, Fraction, Decimal]:
        alone = len(set(self.window(0)) - set(self.window(self.size - 1)))
        distance = alone * (self.p - self.q)
        return log(self.p / self.q), distance, exact(distance) * log(self.p / self.q)

    def estimate(
        self, n: int, counts: Sequence[int], level: float, lower: Fraction, step: Fraction, simultaneous: bool
    ) -> Any:
        need(n)
        need(len(counts) == self.outputs)
        need(min(counts) >= 0)
        need(sum(counts) == n)
        buckets = range(self.size)
        chances = [list(self.law(value, []).values()) for value in buckets]
        even = [sum(column) / self.size for column in zip(*chances, strict=True)]
        weighed = [[t / d for t, d in zip(row, even, strict=True)] for row in chances]
        weights = solve([[dot(one, other) for other in chances] for one in weighed], weighed)
        squared = [[w * w for w in row] for row in weights]
        rates = [Fraction(count, n) for count in counts]
        values, squares = [dot(row, rates) for row in weights], [dot(row, rates) for row in squared]
        noises, slopes = [], []
        for v in buckets:
            own, *others = [dot(squared[v], chances[x]) for x in sorted(buckets, key=lambda x, v=v: x != v)]  # type: ignore[misc]
            kept = held(values[v])
            noise = (squares[v] - kept * own) / max(1 - kept, Fraction(1, n))
            noises.append(min(max(noise, min(others)), max(others)))
            slopes.append(own - noises[v] - 1)
        return scored(values, spread(squares, values, n), n, noises, slopes, level, simultaneous, guessed=True)


def dot(one: Sequence[Fraction], other: Sequence[Fraction]) -> Fraction:
    return sum((a * b for a, b in zip(one, other, strict=True)), Fraction(0))


def solve(left: Matrix, right: Matrix) -> Matrix:
    """X with left X = right, by elimination."""
    rows = [[*a, *b] for a, b in zip(left, right, strict=True)]
    for place in range(len(rows)):
        pivot = next(row for row in range(place, len(rows)) if rows[row][place])
        rows[place], rows[pivot] = rows[pivot], rows[place]
        rows[place] = [cell / rows[place][place] for cell in rows[place]]
        for row in range(len(rows)):
            if row != place:
                factor = rows[row][place]
                rows[row] = [a - factor * b for a, b in zip(rows[row], rows[place], strict=True)]
    return [row[len(rows) :] for row in rows]
