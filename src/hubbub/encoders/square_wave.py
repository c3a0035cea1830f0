"""Square wave: a bucket is answered by a window of outputs that moves along with it.

Bucket v is answered by one of size - 1 + width outputs: with chance keep / 2**32 by one of the `width` that begin at v,
otherwise by one of the size - 1 others, each as likely. With p and q the chances of one output inside and outside the
window, the loss of one report is ln(p / q). Neighbouring buckets have nearly the same law: this keeps the shape of a
distribution better than its single shares. Everything is drawn afresh.

Source: Li and others, SIGMOD 2020, here on integers. Proofs: spec/mechanisms/square_wave.md.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from hubbub.encoders.base import Answer, Law, Payload, Prf, Prices, Words, check, fresh, fresh_linkage, held
from hubbub.encoders.levels import Window

MAX_SIZE = 1024


@dataclass(frozen=True)
class SquareWave:
    """One of `size` buckets of a number; values: their indices."""

    name: ClassVar[str] = "square_wave"
    kinds: ClassVar[tuple[str, ...]] = ("histogram",)
    public: ClassVar[int] = 0
    public_bits: ClassVar[float] = 0.0
    memo: ClassVar[int] = 0
    size: int
    width: int
    keep: int

    def __post_init__(self) -> None:
        check("size", self.size, 2, MAX_SIZE)
        check("width", self.width, 1, self.size)
        _ = self.window  # refuses what does not fit

    @property
    def window(self) -> Window:
        """The answers to each bucket."""
        return Window(self.size - 1, 1, self.width, self.keep)

    @property
    def radices(self) -> tuple[int, ...]:
        """One field: an output."""
        return (self.window.outputs,)

    @property
    def linkage_bits(self) -> float:
        """Most that a steady device's report tells about its next."""
        distance = float(self.window.apart())
        return fresh_linkage(self.size, distance, distance * self.window.loss())

    def permanent(self, value: int, prf: Prf) -> Answer:
        """No words: everything is drawn afresh."""
        held(value, self.size)
        return (value,)

    def report(self, answer: Answer, words: Words) -> Payload:
        """Three words (stays, inside, outside), two where the window is one output wide."""
        return (self.window.answer(answer[0], words),)

    def possible(self, payload: Payload) -> bool:
        """Any output."""
        return True

    def law(self, value: int, public: Payload = ()) -> Law:
        """Exact chance of each output."""
        return {(output,): chance for output, chance in enumerate(self.window.law([(value, Fraction(1))]))}

    def prices(self, windows: int) -> Prices:
        """In nats; see spec/prices.md."""
        return fresh(self.window.loss(), windows)

    def canonical(self) -> tuple[int, ...]:
        """(size, width, keep)."""
        return (self.size, self.width, self.keep)
