"""Hybrid: a public coin says whether a number is answered by a window of outputs or by one bit.

The coin falls on the window with chance share / 2**32, without a look at the value, and is sent along. The window is
that of `piecewise`, with the integers top, shift, width and keep. The bit is that of `one_bit_mean` with one bucket:
the tick goes to 0 or 1, tick / ticks on average, and lies with chance low / 2**32. The loss of one report is the larger
of the two parts'. Everything is drawn afresh.

Source: Wang et al., ICDE 2019, here on integers. Proofs: spec/mechanisms/hybrid.md.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from hubbub.encoders.base import (
    SCALE,
    Answer,
    Law,
    Payload,
    Prices,
    Words,
    below,
    check,
    fresh,
    fresh_linkage,
)
from hubbub.encoders.levels import OnTicks, Window, beside, cut


@dataclass(frozen=True)
class Hybrid(OnTicks):
    """A bounded number; values: ticks in [0, ticks]."""

    name: ClassVar[str] = "hybrid"
    public: ClassVar[int] = 1
    ticks: int
    top: int
    shift: int
    width: int
    keep: int
    low: int
    share: int

    def __post_init__(self) -> None:
        cut(self.ticks, self.top)
        check("low", self.low, 1, SCALE // 2 - 1)
        check("share", self.share, 0, SCALE)
        _ = self.window  # refuses what does not fit

    @property
    def window(self) -> Window:
        """The answers to each level where the coin is 1."""
        return Window(self.top, self.shift, self.width, self.keep)

    @property
    def bit(self) -> Window:
        """The answers to the levels 0 and 1 where the coin is 0."""
        return Window(1, 1, 1, SCALE - self.low)

    @property
    def parts(self) -> list[tuple[Window, Fraction]]:
        """Both of them, by the coin, with their chances."""
        share = Fraction(self.share, SCALE)
        return [(self.bit, 1 - share), (self.window, share)]

    @property
    def radices(self) -> tuple[int, ...]:
        """Two fields: the coin, and an output."""
        return (2, self.window.outputs)

    @property
    def linkage_bits(self) -> float:
        """Most that a steady device's report tells about its next."""
        used = [(part.apart(), chance, part.loss()) for part, chance in self.parts if chance]
        distance = sum(float(apart * chance) for apart, chance, _ in used)
        return fresh_linkage(self.size, distance, sum(float(apart * chance) * loss for apart, chance, loss in used))

    def report(self, answer: Answer, words: Words) -> Payload:
        """Five words, whatever the coin says (coin, level, stays, inside, outside)."""
        coin = words(1)[0] < self.share
        place, word = below(self.ticks, words), words(1)[0]
        inside, outside = below(self.width, words), below(self.window.others, words)
        if coin:
            at = (answer[0] * self.top + place) // self.ticks
            return (1, self.window.pick(at, word < self.keep, inside, outside))
        return (0, (answer[0] + place) // self.ticks ^ (word < self.low))

    def possible(self, payload: Payload) -> bool:
        """A coin that can fall so, with an output of its part."""
        coin, output = payload
        part, chance = self.parts[coin]
        return chance > 0 and output < part.outputs

    def law(self, value: int, public: Payload = ()) -> Law:
        """Exact chance of each output, given the coin."""
        coin = public[0] if public else 0
        part, _ = self.parts[coin]
        chances = part.law(beside(value, self.ticks, part.top))
        return {(coin, output): chance for output, chance in enumerate(chances)}

    def prices(self, windows: int) -> Prices:
        """In nats; see spec/prices.md."""
        return fresh(max(part.loss() for part, chance in self.parts if chance), windows)

    def canonical(self) -> tuple[int, ...]:
        """(ticks, top, shift, width, keep, low, share)."""
        return (self.ticks, self.top, self.shift, self.width, self.keep, self.low, self.share)
