"""Stochastic rounding and randomised response: a number goes to one of few levels, which lies with a known chance.

A tick goes to one of top + 1 levels, so that the level is tick * top / ticks on average. The level is sent with chance
keep / 2**32, and otherwise one of the others, each as likely. Everything is drawn afresh.

Source: Kairouz, Bonawitz, Ramage, ICML 2016 (the response). Proofs: spec/mechanisms/stochastic_grr.md.
"""

from dataclasses import dataclass
from typing import ClassVar

from hubbub.encoders.levels import Window, Windowed, cut


@dataclass(frozen=True)
class StochasticGrr(Windowed):
    """A bounded number; values: ticks in [0, ticks]."""

    name: ClassVar[str] = "stochastic_grr"
    ticks: int
    top: int
    keep: int

    def __post_init__(self) -> None:
        cut(self.ticks, self.top)
        _ = self.window  # refuses what does not fit

    @property
    def window(self) -> Window:
        """The answers to each level: windows of one output, the level itself."""
        return Window(self.top, 1, 1, self.keep)

    def canonical(self) -> tuple[int, ...]:
        """(ticks, top, keep)."""
        return (self.ticks, self.top, self.keep)
