"""One-bit mean: lower + span (ones/n - q) / (p - q); what is sent stands in the encoder of the same name."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from hubbub.encoders.base import SCALE, Encoder, check
from hubbub.encoders.one_bit_mean import MAX_ENTRIES, MAX_TICKS
from hubbub.encoders.one_bit_mean import OneBitMean as Device
from hubbub.errors import ParameterError
from hubbub.mechanisms.base import Reports, WordSource, asked, below, held, second_round, threshold
from hubbub.mechanisms.coin import Coin, Line
from hubbub.mechanisms.estimate import Ints
from hubbub.mechanisms.grid import Grid, ticks_of


@dataclass(frozen=True)
class OneBitMean(Grid, Coin):
    """Mean of a number in [lower, upper] on a grid; `lower` and `step` in the metric's unit."""

    name: ClassVar[str] = Device.name
    kinds: ClassVar[tuple[str, ...]] = Device.kinds
    source: ClassVar[str] = "Ding, Kulkarni, Yekhanin, NeurIPS 2017, 1BitMean"
    examples: ClassVar[tuple[Mapping[str, Any], ...]] = (
        {"lower": 0, "upper": 6},
        {"lower": -2, "upper": 5, "bucket": 3, "permanent_epsilon": 2.5},
        {"lower": 0, "upper": 2, "step": 0.5, "permanent_epsilon": 1.0},
    )
    encoder: Device
    lower: float
    step: float

    @classmethod
    def from_epsilon(
        cls,
        epsilon: float,
        *,
        permanent_epsilon: float | None = None,
        lower: float = 0,
        upper: float,
        step: float = 1,
        bucket: int | None = None,
    ) -> Self:
        """Losses at most as asked; permanent_epsilon = None draws everything afresh.

        Args:
            epsilon: Loss of one report, nats.
            permanent_epsilon: Loss of a device that never changes, nats.
            lower: Least value, in the unit; smaller ones are clipped.
            upper: Largest value, a whole number of steps above `lower`; larger ones are clipped.
            step: Distance of two grid points; values in between are rounded, a bias of at most step / 2.
            bucket: Steps that share a permanent answer; the whole range by default, which is the most private and
                costs no accuracy within one window. Where it does not divide the range the variance is that of the
                next multiple.

        Raises:
            ParameterError: A parameter out of its range.
        """
        asked(epsilon, permanent_epsilon)
        ticks = ticks_of(lower, upper, step, MAX_TICKS)
        if bucket is not None and permanent_epsilon is None:
            raise ParameterError("bucket", bucket, "left out where nothing is permanent")
        bucket = ticks if bucket is None else bucket
        check("bucket", bucket, -(-ticks // MAX_ENTRIES), ticks)
        entries = -(-ticks // bucket)
        rise = (SCALE - 2 * threshold(permanent_epsilon or epsilon)) // entries
        rise -= entries * rise % 2
        low = (SCALE - entries * rise) // 2
        flip = second_round(epsilon, permanent_epsilon, low)
        return cls(Device(ticks, bucket, low, rise, flip, int(permanent_epsilon is not None)), lower, step)

    @classmethod
    def from_encoder(cls, encoder: Encoder, *, lower: float = 0, step: float = 1, labels: Sequence[str] = ()) -> Self:
        """The mechanism of a locked metric.

        Raises:
            ParameterError: Another mechanism's encoder.
        """
        if not isinstance(encoder, Device):
            raise ParameterError("encoder", encoder, f"a {cls.name}")
        return cls(encoder, lower, step)

    @property
    def line(self) -> Line:
        """The coin's chance over the mean; the range ends where the last bucket does."""
        e = self.encoder
        span = e.top * e.bucket * self.step
        q = float(e.law(0)[(1,)])
        return Line(self.lower, span, q, 1 - q, e.low / SCALE if e.memo else 0.0)

    def randomise(self, values: Ints, source: WordSource) -> Reports:
        """(n,) -> (n, 1); three words a person where memo (alpha, entry, flip), two otherwise (alpha, coin).

        Raises:
            PrivateValueError: Values outside [0, size); named by position only.
        """
        e = self.encoder
        held(values, e.size)
        words = source.words(len(values) * (2 + e.memo)).reshape(len(values), 2 + e.memo)
        entry = (values + below(e.bucket, words[:, 0], source)) // e.bucket
        bits = words[:, 1] < e.low + entry * e.rise
        if e.memo:
            bits ^= words[:, 2] < e.flip
        return bits.view(np.uint8)[:, None]
