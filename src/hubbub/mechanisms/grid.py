"""Domains of mechanisms for a bounded number: a grid lower + tick * step, ticks in [0, ticks]."""

from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike

from hubbub.encoders.base import Encoder
from hubbub.errors import ParameterError
from hubbub.mechanisms.base import clean, number
from hubbub.mechanisms.categories import MAX_UNIT
from hubbub.mechanisms.estimate import Ints, Reals


class Ticked(Encoder, Protocol):
    """An encoder whose values are ticks."""

    @property
    def ticks(self) -> int:
        """The last of them."""
        ...


class Grid:
    """What each tick stands for, `lower` and `step` in the metric's unit."""

    encoder: Ticked
    lower: float
    step: float

    @property
    def bounds(self) -> tuple[float, float]:
        """(lower, upper)."""
        return self.lower, self.lower + self.encoder.ticks * self.step

    def index(self, values: ArrayLike) -> Ints:
        """(n,) numbers in the unit -> ticks: the first or last beyond the range, else floor((x - lower) / step + 0.5).

        Raises:
            PrivateValueError: One of them is not a finite number; named by position only.
        """
        low, high = self.bounds
        numbers = np.clip(np.asarray(clean(values, "numbers", "iuf"), float), low, high)
        ticks = np.floor((numbers - low) / self.step + 0.5)
        ticks[numbers >= high] = self.encoder.ticks
        return np.asarray(np.minimum(ticks, self.encoder.ticks), np.int64)

    def truth(self, value: int) -> Reals:
        """The tick in the metric's unit."""
        return np.array(self.lower + value * self.step)


def ticks_of(lower: float, upper: float, step: float, most: int) -> int:
    """Steps from `lower` to `upper`.

    Raises:
        ParameterError: One of them is not a finite number, or the range is not a whole number of steps in [1, most].
    """
    for name, value in (("lower", lower), ("upper", upper), ("step", step)):
        number(name, value, -MAX_UNIT, MAX_UNIT)
    if not step > 0:
        raise ParameterError("step", step, "> 0")
    ticks = round(min((upper - lower) / step, most + 1))
    if not 1 <= ticks <= most or abs(lower + ticks * step - upper) > 1e-6 * step:
        raise ParameterError("upper", upper, f"a whole number of steps of {step} above lower = {lower}")
    return ticks
