"""One-bit mean: a coin whose chance grows linearly with the value.

The grid [0, ticks] is cut into K = ceil(ticks / bucket) buckets. With alpha uniform on [0, bucket) the value v goes to
entry k = floor((v + alpha) / bucket), which is v / bucket on average. Entry k is 1 with chance (low + k rise) / 2**32
where 2 low + K rise = 2**32, so the chance is exactly linear in v, also where the last bucket reaches beyond `ticks`.
`memo`: alpha and the entries are permanent and each report flips the bit with chance flip / 2**32. Otherwise everything
is drawn afresh and flip is 0.

Source: Ding, Kulkarni, Yekhanin, NeurIPS 2017. Proofs: spec/mechanisms/one_bit_mean.md.
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
    below,
    check,
    fresh,
    held,
    linkage,
    loss,
    two_rounds,
)
from hubbub.errors import ParameterError

MAX_ENTRIES = 4096  # K: beyond it the linear thresholds would cost accuracy
MAX_TICKS = SCALE - 1


@dataclass(frozen=True)
class OneBitMean:
    """One bit for the mean of a bounded number; values: ticks in [0, ticks]."""

    name: ClassVar[str] = "one_bit_mean"
    kinds: ClassVar[tuple[str, ...]] = ("mean",)
    public: ClassVar[int] = 0
    public_bits: ClassVar[float] = 0.0
    radices: ClassVar[tuple[int, ...]] = (2,)
    ticks: int
    bucket: int
    low: int
    rise: int
    flip: int
    memo: int

    def __post_init__(self) -> None:
        check("memo", self.memo, 0, 1)
        check("ticks", self.ticks, 1, MAX_TICKS)
        check("bucket", self.bucket, -(-self.ticks // MAX_ENTRIES), self.ticks)
        check("low", self.low, 1, SCALE // 2 - 1)
        check("rise", self.rise, 1, SCALE)
        if self.rise * self.top != SCALE - 2 * self.low:
            raise ParameterError("rise", self.rise, f"(2**32 - 2 low) / {self.top}, exactly")
        check("flip", self.flip, 0, (SCALE // 2 - 1) * self.memo)

    @property
    def size(self) -> int:
        """Number of values."""
        return self.ticks + 1

    @property
    def top(self) -> int:
        """K, the index of the last entry."""
        return -(-self.ticks // self.bucket)

    @property
    def linkage_bits(self) -> float:
        """Most that a steady device's report tells about its next."""
        return linkage(Fraction(self.flip if self.memo else self.low, SCALE))

    def permanent(self, value: int, prf: Prf) -> Answer:
        """Two words where `memo` (alpha, entry), none otherwise."""
        held(value, self.size)
        if not self.memo:
            return (value,)
        entry = (value + below(self.bucket, prf("alpha"))) // self.bucket
        return (int(prf("memo", entry)(1)[0] < self.low + entry * self.rise),)

    def report(self, answer: Answer, words: Words) -> Payload:
        """One word where `memo`, two otherwise (alpha, coin)."""
        if self.memo:
            return (answer[0] ^ (words(1)[0] < self.flip),)
        entry = (answer[0] + below(self.bucket, words)) // self.bucket
        return (int(words(1)[0] < self.low + entry * self.rise),)

    def possible(self, payload: Payload) -> bool:
        """Either bit."""
        return True

    def law(self, value: int, public: Payload = ()) -> Law:
        """Exact chances of 0 and 1, over alpha too."""
        one = self._chance(value, self.flip)
        return {(0,): 1 - one, (1,): one}

    def _chance(self, value: int, flip: int) -> Fraction:
        """Exact chance of a 1: linear in the value, since alpha leads it to `value / bucket` on average."""
        a, g = Fraction(self.low, SCALE) + Fraction(value * self.rise, self.bucket * SCALE), Fraction(flip, SCALE)
        return a * (1 - g) + (1 - a) * g

    def prices(self, windows: int) -> Prices:
        """In nats; see spec/prices.md. A last bucket that reaches beyond `ticks` makes one report cheaper."""
        report, steady = _losses(self)
        if not self.memo:
            return fresh(report, windows)
        entries = (self.low + k * self.rise for k in range(self.top + 1))
        return two_rounds(report, steady, self.flip, entries, windows)

    def canonical(self) -> tuple[int, ...]:
        """(ticks, bucket, low, rise, flip, memo)."""
        return (self.ticks, self.bucket, self.low, self.rise, self.flip, self.memo)


@lru_cache(maxsize=1024)
def _losses(encoder: OneBitMean) -> tuple[float, float]:
    """Loss of one report, and of the permanent bit: what prices take longest for, and does not depend on windows."""
    report, steady = (
        loss(encoder._chance(0, flip), encoder._chance(encoder.ticks, flip)) for flip in (encoder.flip, 0)
    )
    return report, steady
