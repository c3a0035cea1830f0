"""Piecewise: a number is answered by a window of outputs that moves along with it.

A tick goes to one of top + 1 levels, a level to one of shift * top + width outputs: with chance keep / 2**32 to one of
the `width` that begin at shift * level, otherwise to one of the others. With p and q the chances of one output inside
and outside the window, the loss of one report is ln(p / q). Everything is drawn afresh.

Source: Wang et al., ICDE 2019, here on integers. Proofs: spec/mechanisms/piecewise.md.
"""

from dataclasses import dataclass
from typing import ClassVar

from hubbub.encoders.levels import Window, Windowed, cut


@dataclass(frozen=True)
class Piecewise(Windowed):
    """A bounded number; values: ticks in [0, ticks]."""

    name: ClassVar[str] = "piecewise"
    ticks: int
    top: int
    shift: int
    width: int
    keep: int

    def __post_init__(self) -> None:
        cut(self.ticks, self.top)
        _ = self.window  # refuses what does not fit

    @property
    def window(self) -> Window:
        """The answers to each level."""
        return Window(self.top, self.shift, self.width, self.keep)

    def canonical(self) -> tuple[int, ...]:
        """(ticks, top, shift, width, keep)."""
        return (self.ticks, self.top, self.shift, self.width, self.keep)
