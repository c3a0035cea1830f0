"""What pretend devices answer: each keeps to a habit of its own, and all of them to the days of the week.

Values follow from the seed, the metric's name and the window alone, so a crowd can be made again. They are nobody's:
what travels of them is disguised by the client like any other value.
"""

import math
import zlib
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from hubbub.errors import ParameterError
from hubbub.lock import MILLION, Lock, Metric
from hubbub.windows import windows

Reals = NDArray[np.float64]
Values = NDArray[np.bool_] | Reals  # one for each device

_WEEK = (1.0, 1.05, 1.1, 1.05, 0.95, 0.6, 0.55)  # how busy a day is, Monday first
_NIGHT = 0.25  # how busy the quietest hour is, beside 1.75 for the busiest
_YES = 0.8, 1.6  # Beta: many devices that hardly ever say yes, some that nearly always do; a third on the whole
_TYPICAL, _APART, _VARY = 0.25, 0.7, 0.4  # a usual value, as a share of the range; logarithmic spreads
_SHOCK = 0.06  # logarithmic spread of what all devices have in common in a window
_DAY = windows("day")
KINDS = ("boolean", "mean")  # that values are made up for


class Habits:
    """The values of one metric on a number of devices.

    Args:
        metric: A boolean or a mean.
        devices: How many.
        seed: Another one makes other devices.
    """

    def __init__(self, metric: Metric, devices: int, seed: int) -> None:
        self._metric = metric
        self._devices = devices
        self._key = seed, zlib.crc32(metric.name.encode())
        draws = np.random.default_rng([*self._key, 0])
        if metric.kind == "boolean":
            self._habit: Reals = draws.beta(*_YES, devices)
        else:
            self._habit = _TYPICAL * np.exp(_APART * draws.normal(size=devices))

    def values(self, window: int) -> Values:
        """What each device has to say in a window: yes or no, or a number on the metric's grid, prolonged upwards."""
        draws = np.random.default_rng([*self._key, 1, window])
        busy = self._busy(window) * math.exp(_SHOCK * draws.normal())
        if self._metric.kind == "boolean":
            return np.asarray(draws.random(self._devices) < self._habit * busy)
        lower, step = self._metric.lower / MILLION, self._metric.step / MILLION
        ticks = self._metric.encoder.size - 1
        share = busy * self._habit * np.exp(_VARY * draws.normal(size=self._devices))
        return np.asarray(lower + step * np.floor(share * ticks + 0.5))

    def _busy(self, window: int) -> float:
        """How much is done in a window, 1 on the whole."""
        cut = self._metric.windows
        if cut.length > _DAY.length:
            return 1.0
        day = _DAY.index(cut.start(window))
        rhythm = _WEEK[(day + 3) % 7]  # day 0 was a Thursday
        if cut.length < _DAY.length:
            hour = (cut.start(window) - _DAY.start(day)) / 3600
            rhythm *= 1 - (1 - _NIGHT) * math.cos((hour - 3) / 24 * 2 * math.pi)  # quietest at three
        return rhythm


def places(lock: Lock, devices: int, seed: int) -> list[Mapping[str, str]]:
    """The public dimensions of each device, drawn evenly from what every metric of the lock allows.

    Raises:
        ParameterError: Two metrics name a dimension and have no value of it in common.
    """
    allowed: dict[str, list[str]] = {}
    for metric in lock.metrics.values():
        for name, values in metric.dimensions:
            allowed[name] = [value for value in allowed.get(name, values) if value in values]
            if not allowed[name]:
                raise ParameterError("dimensions", name, "a dimension whose values the lock's metrics have in common")
    draws = np.random.default_rng([seed, 2])
    columns = {name: draws.choice(np.array(values), devices).tolist() for name, values in sorted(allowed.items())}
    return [{name: column[device] for name, column in columns.items()} for device in range(devices)]
