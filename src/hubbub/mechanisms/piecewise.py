"""Piecewise: the mean of what the outputs stand for; what is sent stands in the encoder of the same name."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from hubbub.encoders.levels import MAX_TICKS
from hubbub.encoders.piecewise import Piecewise as Device
from hubbub.mechanisms.base import asked
from hubbub.mechanisms.grid import ticks_of
from hubbub.mechanisms.oracle import all_fresh
from hubbub.mechanisms.window import Windows, candidates

OUTPUTS = 256  # one byte; more would lower the variance by less than two per cent up to a loss of 12


@dataclass(frozen=True)
class Piecewise(Windows):
    """Mean of a number in [lower, upper] on a grid: better than one bit from a loss of about 1.2 on."""

    name: ClassVar[str] = Device.name
    kinds: ClassVar[tuple[str, ...]] = Device.kinds
    source: ClassVar[str] = "Wang et al., ICDE 2019"
    examples: ClassVar[tuple[Mapping[str, Any], ...]] = (
        {"lower": -2, "upper": 2.5, "step": 1.5, "outputs": 5, "width": 2},
        {"lower": 0, "upper": 3, "outputs": 4},
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
        """The window of the least worst variance, for a loss of one report of at most epsilon.

        Args:
            epsilon: Loss of one report, nats.
            permanent_epsilon: Must be left out.
            lower: Least value, in the unit; smaller ones are clipped.
            upper: Largest value, a whole number of steps above `lower`; larger ones are clipped.
            step: Distance of two grid points; values in between are rounded, a bias of at most step / 2.
            outputs: Most different reports.
            width: How many of them a window holds, at most half of them; what is best by default.

        Raises:
            ParameterError: A parameter out of its range.
        """
        asked(epsilon, None)
        all_fresh(permanent_epsilon)
        ticks = ticks_of(lower, upper, step, MAX_TICKS)
        found = candidates(ticks, outputs, width)
        window = found.window(found.best(found.squares(epsilon).worst(found.top, found.top < ticks)), epsilon)
        return cls(Device(ticks, window.top, window.shift, window.width, window.keep), lower, step)
