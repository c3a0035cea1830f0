"""Numbers on levels: what several encoders of a bounded number have in common.

The range [0, ticks] is cut evenly by top + 1 levels. A tick goes to one of the two levels beside it, so that the level
is tick * top / ticks on average, exactly.

A window answers a level with one of shift * top + width outputs: with chance keep / 2**32 one of the `width` that begin
at shift * level, otherwise one of all others, each as likely. The mean output grows evenly with the level.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from hubbub.encoders.base import (
    SCALE,
    Answer,
    Law,
    Payload,
    Prf,
    Prices,
    Words,
    below,
    check,
    fresh,
    fresh_linkage,
    held,
    ratio,
)
from hubbub.errors import ParameterError

MAX_TICKS = SCALE - 1
MAX_OUTPUTS = 4096


def cut(ticks: int, top: int) -> None:
    """Refuse levels that do not fit the ticks.

    Raises:
        ParameterError: One of them is no integer, or out of its range.
    """
    check("ticks", ticks, 1, MAX_TICKS)
    check("top", top, 1, min(ticks, MAX_OUTPUTS - 1))


def level(value: int, ticks: int, top: int, words: Words) -> int:
    """The level that a tick goes to: one word, or none where each tick is a level."""
    return value if top == ticks else (value * top + below(ticks, words)) // ticks


def beside(value: int, ticks: int, top: int) -> list[tuple[int, Fraction]]:
    """The levels that a tick may go to, with their chances."""
    low, rest = divmod(value * top, ticks)
    up = Fraction(rest, ticks)
    return [(low, 1 - up), (low + 1, up)] if rest else [(low, Fraction(1))]


@dataclass(frozen=True)
class Window:
    """The answers to the levels in [0, top]."""

    top: int
    shift: int
    width: int
    keep: int

    def __post_init__(self) -> None:
        check("shift", self.shift, 1, MAX_OUTPUTS)
        check("width", self.width, 1, MAX_OUTPUTS)
        if self.outputs > MAX_OUTPUTS:
            raise ParameterError("width", self.width, f"at most {MAX_OUTPUTS} - {self.shift} * {self.top}")
        # Inside must be likelier than outside, or nothing is told.
        check("keep", self.keep, SCALE * self.width // self.outputs + 1, SCALE - 1)

    @property
    def outputs(self) -> int:
        """How many there are."""
        return self.shift * self.top + self.width

    @property
    def others(self) -> int:
        """Outputs outside a window."""
        return self.shift * self.top

    def pick(self, level: int, stays: bool, inside: int, outside: int) -> int:
        """The output: the `inside`-th of the level's window if it stays, else the `outside`-th of the others."""
        start = self.shift * level
        return start + inside if stays else outside + self.width * (outside >= start)

    def answer(self, level: int, words: Words) -> int:
        """Three words (stays, inside, outside), two where the window is one output wide."""
        stays = words(1)[0] < self.keep
        inside = below(self.width, words) if self.width > 1 else 0
        return self.pick(level, stays, inside, below(self.others, words))

    def chances(self) -> tuple[Fraction, Fraction]:
        """Exact chance of an output inside the window, and outside."""
        return Fraction(self.keep, SCALE * self.width), Fraction(SCALE - self.keep, SCALE * self.others)

    def law(self, levels: list[tuple[int, Fraction]]) -> list[Fraction]:
        """Exact chance of each output, where the levels have these chances."""
        p, q = self.chances()
        law = [q] * self.outputs
        for at, chance in levels:
            for output in range(self.shift * at, self.shift * at + self.width):
                law[output] += chance * (p - q)
        return law

    def loss(self) -> float:
        """Log ratio of the chances: output 0 has the larger chance at level 0 and the smaller one at the top."""
        return ratio(*self.chances())

    def apart(self) -> Fraction:
        """Total variation distance of the levels 0 and top: no two are further apart."""
        p, q = self.chances()
        return (p - q) * min(self.width, self.others)


class OnTicks:
    """An encoder of a bounded number that draws everything afresh; values: ticks in [0, ticks]."""

    kinds: ClassVar[tuple[str, ...]] = ("mean",)
    public: ClassVar[int] = 0
    public_bits: ClassVar[float] = 0.0
    memo: ClassVar[int] = 0
    ticks: int

    @property
    def size(self) -> int:
        """Number of values."""
        return self.ticks + 1

    def permanent(self, value: int, prf: Prf) -> Answer:
        """No words: everything is drawn afresh."""
        held(value, self.size)
        return (value,)


class Windowed(OnTicks, ABC):
    """An encoder that answers levels by one window; subclasses say by which."""

    top: int

    @property
    @abstractmethod
    def window(self) -> Window:
        """The answers to each level."""

    @property
    def radices(self) -> tuple[int, ...]:
        """One field: an output."""
        return (self.window.outputs,)

    @property
    def linkage_bits(self) -> float:
        """Most that a steady device's report tells about its next."""
        distance = float(self.window.apart())
        return fresh_linkage(self.size, distance, distance * self.window.loss())

    def report(self, answer: Answer, words: Words) -> Payload:
        """One word for the level unless each tick is one, then those of its window."""
        return (self.window.answer(level(answer[0], self.ticks, self.top, words), words),)

    def possible(self, payload: Payload) -> bool:
        """Any output."""
        return True

    def law(self, value: int, public: Payload = ()) -> Law:
        """Exact chance of each output."""
        chances = self.window.law(beside(value, self.ticks, self.top))
        return {(output,): chance for output, chance in enumerate(chances)}

    def prices(self, windows: int) -> Prices:
        """In nats; see spec/prices.md."""
        return fresh(self.window.loss(), windows)
