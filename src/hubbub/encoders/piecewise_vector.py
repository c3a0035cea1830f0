"""Piecewise for vectors: a few coordinates, drawn without looking at them, each answered by a window of outputs.

The device draws `sampled` of the coordinates, which are public, and answers each as the encoder `piecewise` would. With
p and q the chances of one output inside and outside a window, the loss of one report is sampled ln(p / q). Everything
is drawn afresh, the coordinates too.

The coordinates b_0 < b_1 < ... travel as the fields b_i - i, each in [0, dimension - sampled]. Where all are asked
there are none of these fields.

Source: Wang et al., ICDE 2019, here on integers. Proofs: spec/mechanisms/piecewise_vector.md.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise, product
from math import prod
from typing import ClassVar

from hubbub.encoders.base import Answer, Law, Payload, Prices, Words, below, check, fresh, fresh_linkage, ratio
from hubbub.encoders.levels import Window, beside, cut, level
from hubbub.encoders.vector import Coordinates, fits

MAX_SAMPLED = 64


@dataclass(frozen=True)
class PiecewiseVector(Coordinates):
    """A vector of bounded numbers; values: spec/coordinates.md."""

    name: ClassVar[str] = "piecewise_vector"
    dimension: int
    ticks: int
    sampled: int
    top: int
    shift: int
    width: int
    keep: int

    def __post_init__(self) -> None:
        fits(self.dimension, self.ticks)
        check("sampled", self.sampled, 1, min(self.dimension, MAX_SAMPLED))
        cut(self.ticks, self.top)
        _ = self.window  # refuses what does not fit

    @property
    def window(self) -> Window:
        """The answers to each level."""
        return Window(self.top, self.shift, self.width, self.keep)

    @property
    def public(self) -> int:
        """A field for each coordinate that is asked, unless all are."""
        return self.sampled if self.sampled < self.dimension else 0

    @property
    def radices(self) -> tuple[int, ...]:
        """Which coordinates, then an output for each of them."""
        return (self.dimension - self.sampled + 1,) * self.public + (self.window.outputs,) * self.sampled

    @property
    def linkage_bits(self) -> float:
        """Most that a steady device's report tells about its next."""
        one = self.window.apart()
        distance = float(1 - (1 - one) ** self.sampled)
        return fresh_linkage(self.size, distance, self.sampled * float(one) * self.window.loss())

    def report(self, answer: Answer, words: Words) -> Payload:
        """Words for each coordinate that is drawn, by Floyd's method, then those of `piecewise` for each, in order."""
        drawn: set[int] = set()
        if self.public:
            for top in range(self.dimension - self.sampled, self.dimension):
                one = below(top + 1, words)
                drawn.add(top if one in drawn else one)
        asked = sorted(drawn) or range(self.dimension)
        window = self.window
        outputs = [window.answer(level(answer[b], self.ticks, self.top, words), words) for b in asked]
        return (*(b - i for i, b in enumerate(asked[: self.public])), *outputs)

    def asked(self, public: Payload) -> Sequence[int]:
        """The coordinates that the public fields say, in order."""
        return [field + i for i, field in enumerate(public)] or range(self.dimension)

    def possible(self, payload: Payload) -> bool:
        """Any outputs of coordinates that are all different."""
        return all(one <= other for one, other in pairwise(payload[: self.public]))

    def chance(self, value: int, payload: Payload) -> Fraction:
        """Exact chance of one set of outputs, given the coordinates: of any number of them."""
        each = zip(self._each(value, payload[: self.public]), payload[self.public :], strict=True)
        return prod((law[output] for law, output in each), start=Fraction(1))

    def law(self, value: int, public: Payload = ()) -> Law:
        """Exact chance of each set of outputs of these coordinates, the first ones by default: for few only."""
        public = public or (0,) * self.public
        each = self._each(value, public)
        return {
            (*public, *outputs): prod((law[y] for law, y in zip(each, outputs, strict=True)), start=Fraction(1))
            for outputs in product(range(self.window.outputs), repeat=self.sampled)
        }

    def _each(self, value: int, public: Payload) -> list[list[Fraction]]:
        """The chances of each output about each coordinate that is asked."""
        ticks = self.coordinates(value)
        return [self.window.law(beside(ticks[b], self.ticks, self.top)) for b in self.asked(public)]

    def prices(self, windows: int) -> Prices:
        """In nats; see spec/prices.md."""
        p, q = self.window.chances()
        return fresh(ratio(p**self.sampled, q**self.sampled), windows)

    def canonical(self) -> tuple[int, ...]:
        """(dimension, ticks, sampled, top, shift, width, keep)."""
        return (self.dimension, self.ticks, self.sampled, self.top, self.shift, self.width, self.keep)
