"""What the pages of spec/mechanisms have in common: one device or many at a time, laws, prices, estimates.

A page's class says what is its own: its integers, words and law, and what a report supports. Where its law is too long
to be written down it also says how far two values' laws are `apart`.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any, ClassVar

from tests.vectors.reader import prices
from tests.vectors.reader.estimates import shares
from tests.vectors.reader.words import SCALE, need

Words = Iterator[int]
Streams = Callable[..., Words]


class Device:
    """A mechanism that draws everything afresh.

    Attributes:
        length: How many integers it takes.
        public: How many fields of a payload are drawn without looking at the value.
        size: How many values there are.
        radices: One for each field.
        bounds: For each word of a device the bound that it is drawn below; 1 where no word is refused.
    """

    length: ClassVar[int]
    public = 0
    size: int
    radices: Sequence[int]
    bounds: Sequence[int]

    def report(self, answer: Sequence[int], words: Words) -> Sequence[int]:
        raise NotImplementedError

    def law(self, value: int, public: Sequence[int]) -> Mapping[tuple[int, ...], Fraction]:
        raise NotImplementedError

    def support(self) -> tuple[Fraction, Fraction]:
        """Chances that a report supports the own category, and any other one."""
        raise NotImplementedError

    def kept(self) -> tuple[Fraction, Fraction]:
        """The same chances of what is behind the reports: permanent answers, or the categories themselves."""
        return Fraction(1), Fraction(0)

    def supports(self, n: int, counts: Sequence[int]) -> Sequence[int]:
        """How many reports support each category."""
        need(len(counts) == self.size)
        return counts

    def apart(self) -> tuple[Decimal, Fraction, Decimal]:
        """Worst log ratio, distance and divergence of two values' laws."""
        zeros = [0] * self.public
        return prices.apart(self.law(0, zeros), self.law(1, zeros))

    def public_bits(self) -> Decimal:
        return Decimal(0)

    def linkage_bits(self) -> Decimal:
        _, distance, nats = self.apart()
        return prices.fresh_linkage(self.size, distance, nats)

    def prices(self, windows: int) -> Any:
        return prices.fresh(self.apart()[0], windows)

    def permanent(self, value: int, streams: Streams) -> Sequence[int]:
        need(0 <= value < self.size)
        return [value]

    def bulk(self, values: Sequence[int], words: Words) -> list[Sequence[int]]:
        """A row of words for each device, refused ones of the whole block again behind it, word after word."""
        rows = [[next(words) for _ in self.bounds] for _ in values]
        for place, bound in enumerate(self.bounds):
            while refused := [row for row in rows if row[place] >= SCALE - SCALE % bound]:
                for row in refused:
                    row[place] = next(words)
        return [self._both(value, iter(row)) for value, row in zip(values, rows, strict=True)]

    def _both(self, value: int, words: Words) -> Sequence[int]:
        """Both rounds from one row."""
        return self.report(self.permanent(value, lambda *_: words), words)

    def estimate(
        self, n: int, counts: Sequence[int], level: float, lower: Fraction, step: Fraction, simultaneous: bool
    ) -> Any:
        need(n)
        found = self.supports(n, counts)
        need(all(0 <= count <= n for count in found))
        return shares(found, n, *self.support(), level, simultaneous, self.kept())
