"""Randomised response: a yes or no that lies with a known chance.

A permanent answer lies with chance low / 2**32, drawn once for yes and once for no; `memo`: each report flips the
answer with chance flip / 2**32. Otherwise the lie is drawn afresh for each report and flip is 0. With a = low / 2**32
and g = flip / 2**32 a report lies with chance q = a (1 - g) + (1 - a) g; loss of one report ln((1 - q) / q).

Source: Warner, JASA 60, 1965; permanent and instantaneous rounds after Erlingsson, Pihur, Korolova, CCS 2014.
Proofs: spec/mechanisms/randomized_response.md.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import ClassVar

from hubbub.encoders.base import (
    SCALE,
    Answer,
    Law,
    Payload,
    Prf,
    Prices,
    Words,
    check,
    fresh,
    held,
    linkage,
    loss,
    two_rounds,
)


@dataclass(frozen=True)
class RandomizedResponse:
    """One bit for a boolean; values: 0 no, 1 yes."""

    name: ClassVar[str] = "randomized_response"
    kinds: ClassVar[tuple[str, ...]] = ("boolean",)
    public: ClassVar[int] = 0
    public_bits: ClassVar[float] = 0.0
    size: ClassVar[int] = 2
    radices: ClassVar[tuple[int, ...]] = (2,)
    low: int
    flip: int
    memo: int

    def __post_init__(self) -> None:
        check("memo", self.memo, 0, 1)
        check("low", self.low, 1, SCALE // 2 - 1)
        check("flip", self.flip, 0, (SCALE // 2 - 1) * self.memo)

    @property
    def linkage_bits(self) -> float:
        """Most that a steady device's report tells about its next."""
        return linkage(Fraction(self.flip if self.memo else self.low, SCALE))

    def permanent(self, value: int, prf: Prf) -> Answer:
        """One word where `memo`, none otherwise."""
        held(value, self.size)
        return (value ^ (prf("memo", value)(1)[0] < self.low),) if self.memo else (value,)

    def report(self, answer: Answer, words: Words) -> Payload:
        """One word."""
        return (answer[0] ^ (words(1)[0] < (self.flip if self.memo else self.low)),)

    def lie(self) -> Fraction:
        """Exact chance that a report differs from the value."""
        a, g = Fraction(self.low, SCALE), Fraction(self.flip, SCALE)
        return a * (1 - g) + (1 - a) * g

    def possible(self, payload: Payload) -> bool:
        """Either bit."""
        return True

    def law(self, value: int, public: Payload = ()) -> Law:
        """Exact chances of 0 and 1."""
        return {(value,): 1 - self.lie(), (1 - value,): self.lie()}

    def prices(self, windows: int) -> Prices:
        """In nats; see spec/prices.md."""
        report, steady = _losses(self)
        if not self.memo:
            return fresh(report, windows)
        return two_rounds(report, steady, self.flip, (self.low, SCALE - self.low), windows)

    def canonical(self) -> tuple[int, ...]:
        """(low, flip, memo)."""
        return (self.low, self.flip, self.memo)


@lru_cache(maxsize=1024)
def _losses(encoder: RandomizedResponse) -> tuple[float, float]:
    """Loss of one report, and of the permanent answer: what prices take longest for, and does not depend on windows."""
    a = Fraction(encoder.low, SCALE)
    return loss(encoder.lie(), 1 - encoder.lie()), loss(a, 1 - a)
