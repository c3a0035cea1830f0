"""Hybrid: the mean of what the outputs stand for, by the coin; what is sent stands in the encoder of the same name."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar, Self

import numpy as np

from hubbub.encoders.base import SCALE
from hubbub.encoders.hybrid import Hybrid as Device
from hubbub.encoders.levels import MAX_TICKS, Window
from hubbub.errors import ParameterError
from hubbub.mechanisms.base import Reports, WordSource, asked, below, held, threshold
from hubbub.mechanisms.estimate import Ints
from hubbub.mechanisms.grid import ticks_of
from hubbub.mechanisms.oracle import all_fresh
from hubbub.mechanisms.outputs import Channel, Outputs
from hubbub.mechanisms.window import Squares, candidates, channel_of, keep_of, pick

OUTPUTS = 128  # with the coin, one byte
TIE = 1e-9  # a gain that is only rounding


@dataclass(frozen=True)
class Hybrid(Outputs):
    """Mean of a number in [lower, upper] on a grid: the least variance of all from a loss of about 0.61 on."""

    name: ClassVar[str] = Device.name
    kinds: ClassVar[tuple[str, ...]] = Device.kinds
    source: ClassVar[str] = "Wang et al., ICDE 2019"
    examples: ClassVar[tuple[Mapping[str, Any], ...]] = (
        {"lower": 0, "upper": 2, "outputs": 4, "width": 2},
        {"lower": -2, "upper": 1, "step": 1.5, "outputs": 2},
    )
    encoder: Device

    @classmethod
    def from_epsilon(
        cls,
        epsilon: float,
        *,
        permanent_epsilon: float | None = None,
        lower: float = 0,
        upper: float,
        step: float = 1,
        outputs: int = OUTPUTS,
        width: int | None = None,
    ) -> Self:
        """Coin and window of the least worst variance, for a loss of one report of at most epsilon.

        Args:
            epsilon: Loss of one report, nats.
            permanent_epsilon: Must be left out.
            lower: Least value, in the unit; smaller ones are clipped.
            upper: Largest value, a whole number of steps above `lower`; larger ones are clipped.
            step: Distance of two grid points; values in between are rounded, a bias of at most step / 2.
            outputs: Most different outputs beside the bit.
            width: How many of them a window holds, at most half of them; what is best by default.

        Raises:
            ParameterError: A parameter out of its range.
        """
        asked(epsilon, None)
        all_fresh(permanent_epsilon)
        ticks = ticks_of(lower, upper, step, MAX_TICKS)
        found, low = candidates(ticks, outputs, width), threshold(epsilon)
        A, _, C = found.squares(epsilon)
        share = 1 / A  # then the mean square is l² and something that does not depend on l
        alone = 1 / np.tanh(epsilon / 2) ** 2 / 4  # of the bit, as a share of the squared range
        constant = share * C + (1 - share) * (alone - 1 / 4) * found.top**2
        variance = Squares(np.ones_like(A), np.zeros_like(A), constant).worst(found.top, found.top < ticks)
        best = found.best(variance)
        if variance[best] < alone * (1 - TIE):
            window, weight = found.window(best, epsilon), round(SCALE * float(share[best]))
        else:
            window, weight = Window(1, 1, 1, keep_of(epsilon, 1, 1)), 0
        return cls(Device(ticks, window.top, window.shift, window.width, window.keep, low, weight), lower, step)

    @property
    def channel(self) -> Channel:
        """Its levels and outputs: the two of the bit come first."""
        return _channel(self.encoder)

    def randomise(self, values: Ints, source: WordSource) -> Reports:
        """(n,) -> (n, 2); five words a person (coin, level, stays, inside, outside).

        Raises:
            PrivateValueError: Values outside [0, size); named by position only.
        """
        e, window = self.encoder, self.encoder.window
        held(values, e.size)
        words = source.words(5 * len(values)).reshape(len(values), 5)
        coin = words[:, 0] < e.share
        at = (values * np.where(coin, e.top, 1) + below(e.ticks, words[:, 1], source)) // e.ticks
        inside, outside = below(e.width, words[:, 3], source), below(window.others, words[:, 4], source)
        bit = at ^ (words[:, 2] < e.low)
        output = np.where(coin, pick(window, at, words[:, 2] < e.keep, inside, outside), bit)
        return np.column_stack([coin, output]).astype(np.min_scalar_type(window.outputs - 1))

    def outputs(self, reports: Reports) -> Ints:
        """(n, 2) within their radices -> (n,) their outputs as numbers from 0, the two of the bit first.

        Raises:
            ParameterError: An output that the bit does not have.
        """
        coin, output = np.asarray(reports, np.int64).T
        if ((coin == 0) & (output > 1)).any():
            raise ParameterError("reports[:, 1]", int(output[coin == 0].max()), "0 or 1 where the coin is 0")
        return np.asarray(output + 2 * coin)


@lru_cache(maxsize=32)
def _channel(e: Device) -> Channel:
    """Both parts on the levels of the window; the law of the bit is linear in the level."""
    bit, window = channel_of(e.bit), channel_of(e.window)
    place, share = np.linspace(0, 1, e.top + 1)[:, None], e.share / SCALE
    alone = (1 - place) * bit.chances[0] + place * bit.chances[1]
    return Channel(
        np.hstack([(1 - share) * alone, share * window.chances]), np.concatenate([e.top * bit.weights, window.weights])
    )
