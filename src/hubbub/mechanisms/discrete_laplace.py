"""Discrete Laplace: the mean of what the outputs stand for; what is sent stands in the encoder of the same name.

With noise of ratio a the ends stand for -a / (1 - a) and top + a / (1 - a), which is where an output would lie on
average if it were not clamped, and all others for themselves. Thresholds are whole words, so that this holds up to
about one of them; what the outputs stand for is the solution of the equations of unbiasedness, one for each level.
"""

import math
from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar, Self

import numpy as np

from hubbub.encoders.base import SCALE, up
from hubbub.encoders.discrete_laplace import MAX_TOP, ends
from hubbub.encoders.discrete_laplace import DiscreteLaplace as Device
from hubbub.encoders.levels import MAX_TICKS
from hubbub.errors import ParameterError
from hubbub.mechanisms.base import Reports, WordSource, asked, held
from hubbub.mechanisms.estimate import Ints
from hubbub.mechanisms.grid import ticks_of
from hubbub.mechanisms.oracle import all_fresh
from hubbub.mechanisms.outputs import Channel, Outputs

NEAR = SCALE // 128  # how far the ratio may be moved to make up for rounded tails: less is enough
EXACT = 1e-9  # largest bias, in levels, that counts as rounding


@dataclass(frozen=True)
class DiscreteLaplace(Outputs):
    """Mean of a number in [lower, upper] on a grid, each with noise of its own that anyone can picture."""

    name: ClassVar[str] = Device.name
    kinds: ClassVar[tuple[str, ...]] = Device.kinds
    source: ClassVar[str] = "Ghosh, Roughgarden, Sundararajan, STOC 2009"
    examples: ClassVar[tuple[Mapping[str, Any], ...]] = (
        {"lower": 0, "upper": 4},
        {"lower": -2, "upper": 2.5, "step": 1.5, "levels": 3},
        {"lower": 0, "upper": 1},
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
        levels: int = MAX_TOP + 1,
    ) -> Self:
        """Loss of one report at most epsilon.

        Args:
            epsilon: Loss of one report, nats.
            permanent_epsilon: Must be left out.
            lower: Least value, in the unit; smaller ones are clipped.
            upper: Largest value, a whole number of steps above `lower`; larger ones are clipped.
            step: Distance of two grid points; values in between are rounded, a bias of at most step / 2.
            levels: At most so many; never more than grid points, nor than whole words can hold noise for.

        Raises:
            ParameterError: A parameter out of its range.
        """
        asked(epsilon, None)
        all_fresh(permanent_epsilon)
        ticks = ticks_of(lower, upper, step, MAX_TICKS)
        if isinstance(levels, bool) or not isinstance(levels, int) or not 2 <= levels <= MAX_TOP + 1:
            raise ParameterError("levels", levels, f"an integer in [2, {MAX_TOP + 1}]")
        top = min(ticks, levels - 1, most_levels(epsilon) - 1)
        near = math.floor(SCALE * math.exp(-epsilon / top))
        ratios = range(near, min(near + NEAR, SCALE - 1))
        ratio = ratios[bisect_left(ratios, True, key=lambda ratio: up(ends(top, ratio)) <= epsilon)]
        return cls(Device(ticks, top, ratio), lower, step)

    @property
    def channel(self) -> Channel:
        """Its levels and outputs."""
        return _channel(self.encoder)

    def randomise(self, values: Ints, source: WordSource) -> Reports:
        """(n,) -> (n, 1); one word for the level unless each tick is one, then one for the noise.

        Raises:
            PrivateValueError: Values outside [0, size); named by position only.
        """
        e = self.encoder
        held(values, e.size)
        rounds = int(e.top < e.ticks)
        words = source.words(len(values) * (1 + rounds)).reshape(len(values), 1 + rounds)
        at = self.levels(values, words[:, 0], source) if rounds else values
        noise = np.searchsorted(np.array(e.thresholds, np.uint32), words[:, -1], side="right") - e.top
        return np.asarray(np.clip(at + noise, 0, e.top), np.min_scalar_type(e.top))[:, None]


def most_levels(epsilon: float) -> int:
    """Levels at which whole words still hold the noise of this loss: see "Unbiased" on the mechanism's page."""
    return 1 + max(1, int(min(1000 * epsilon, 16_384 * epsilon * math.exp(-epsilon / 2))))


@lru_cache(maxsize=32)
def _channel(e: Device) -> Channel:
    """Chances, and what each output stands for."""
    chances = np.array([e.row(at) for at in range(e.top + 1)]) / SCALE
    levels = np.arange(e.top + 1.0)
    try:
        weights = np.linalg.solve(chances, levels)
        weights += np.linalg.solve(chances, levels - chances @ weights)
    except np.linalg.LinAlgError:
        weights = np.full(e.top + 1, np.inf)
    if not np.abs(chances @ weights - levels).max() <= EXACT:
        raise ParameterError("encoder", e, "one from whose reports the mean can be told")
    return Channel(chances, weights)
