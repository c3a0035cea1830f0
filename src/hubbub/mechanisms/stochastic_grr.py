"""Stochastic rounding and randomised response; what is sent stands in the encoder of the same name."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from hubbub.encoders.base import check
from hubbub.encoders.levels import MAX_OUTPUTS, MAX_TICKS
from hubbub.encoders.stochastic_grr import StochasticGrr as Device
from hubbub.mechanisms.base import asked
from hubbub.mechanisms.grid import ticks_of
from hubbub.mechanisms.oracle import all_fresh
from hubbub.mechanisms.window import Candidates, Windows

LEVELS = 256  # one byte


@dataclass(frozen=True)
class StochasticGrr(Windows):
    """Mean of a number in [lower, upper] on a grid, from few levels: two of them are the one-bit mean."""

    name: ClassVar[str] = Device.name
    kinds: ClassVar[tuple[str, ...]] = Device.kinds
    source: ClassVar[str] = "Kairouz, Bonawitz, Ramage, ICML 2016, k-RR"
    examples: ClassVar[tuple[Mapping[str, Any], ...]] = (
        {"lower": 0, "upper": 2},
        {"lower": -2, "upper": 2.5, "step": 1.5, "levels": 3},
        {"lower": 0, "upper": 4, "levels": 5},
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
        levels: int | None = None,
    ) -> Self:
        """Loss of one report at most epsilon.

        Args:
            epsilon: Loss of one report, nats.
            permanent_epsilon: Must be left out.
            lower: Least value, in the unit; smaller ones are clipped.
            upper: Largest value, a whole number of steps above `lower`; larger ones are clipped.
            step: Distance of two grid points; values in between are rounded, a bias of at most step / 2.
            levels: How many, at most one for each grid point; those of the least worst variance by default.

        Raises:
            ParameterError: A parameter out of its range.
        """
        asked(epsilon, None)
        all_fresh(permanent_epsilon)
        ticks = ticks_of(lower, upper, step, MAX_TICKS)
        if levels is None:
            top = np.arange(1.0, min(ticks, LEVELS - 1) + 1)
        else:
            check("levels", levels, 2, min(ticks + 1, MAX_OUTPUTS))
            top = np.array([levels - 1.0])
        found = Candidates(top, np.ones_like(top), np.ones_like(top))
        window = found.window(found.best(found.squares(epsilon).worst(top, top < ticks)), epsilon)
        return cls(Device(ticks, window.top, window.keep), lower, step)
