"""What pretend devices say: each keeps to a habit of its own, and all of them to the days of the week.

Values follow from the seed, the metric's name and the window alone, so a crowd can be made again. They are nobody's:
what travels of them is disguised by the client like any other value.
"""

import math
import zlib
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hubbub.encoders.vector import of_vectors
from hubbub.errors import ParameterError
from hubbub.lock import ACTIVE, MILLION, NONE, Lock, Metric
from hubbub.replay.vocabulary import made
from hubbub.simulation.crowds import weights
from hubbub.windows import windows

Reals = NDArray[np.float64]
Flags = NDArray[np.bool_]
Values = Flags | Reals | NDArray[np.int64]

EVENTS = 8  # most of those that a share is of
_WEEK = (1.0, 1.05, 1.1, 1.05, 0.95, 0.6, 0.55)  # how busy a day is, Monday first
_NIGHT = 0.25  # how busy the quietest hour is, beside 1.75 for the busiest
_YES = 0.8, 1.6  # Beta: many devices that hardly ever say yes, some that nearly always do; a third on the whole
_EAGER = 2.0, 1.0  # Beta: how often a device has anything to record for a mean with `active`; two thirds on the whole
_TYPICAL, _APART, _VARY = 0.25, 0.7, 0.4  # a usual value, as a share of the range; logarithmic spreads
_SHOCK = 0.06  # logarithmic spread of what all devices have in common in a window
_KEEPS = 50  # windows for which a device has the same usual label or word
_SILENT = 0.08  # chance that nothing has a label in a window of usual business
_CENTRE, _SIDE, _DRIFT = 0.5, 0.2, 0.1  # of a coordinate, as shares of the norm: where it lies, and normal spreads
_DAY = windows("day")


class Said(NamedTuple):
    """What devices say in a window.

    Attributes:
        values: (devices,) yes or no, numbers in the unit, or places among `Names.names`; (devices, dimension) numbers
            of vectors.
        recorded: (devices,) whether each recorded anything; where it did not, its value is the metric's null.
    """

    values: Values
    recorded: Flags


class Habits(ABC):
    """The values of one metric on a number of devices.

    Args:
        metric: Of which kind, the subclass says.
        devices: How many.
        seed: Another one makes other devices.
    """

    def __init__(self, metric: Metric, devices: int, seed: int) -> None:
        self.metric = metric
        self._devices = devices
        self._key = seed, zlib.crc32(metric.name.encode())
        self._everyone = np.ones(devices, bool)

    def __len__(self) -> int:
        return self._devices

    @abstractmethod
    def said(self, window: int) -> Said:
        """What each device has to say in a window."""

    def told(self, values: Values) -> Iterator[Any]:
        """The same as an app would give it, device by device."""
        yield from values.tolist()

    def _draws(self, *which: int) -> np.random.Generator:
        return np.random.default_rng([*self._key, *which])

    def _common(self, window: int, draws: np.random.Generator) -> float:
        """How much is done in a window on all devices."""
        return busy(self.metric, window) * math.exp(_SHOCK * draws.normal())


class YesNo(Habits):
    """Of a boolean: each device says yes with a chance of its own."""

    def __init__(self, metric: Metric, devices: int, seed: int) -> None:
        super().__init__(metric, devices, seed)
        self._chance: Reals = self._draws(0).beta(*_YES, devices)

    def said(self, window: int) -> Said:
        """Yes or no."""
        draws = self._draws(1, window)
        common = self._common(window, draws)
        return Said(np.asarray(draws.random(self._devices) < self._chance * common), self._everyone)


class Numbers(Habits):
    """Of a mean or a histogram: each device has a usual value, from which it strays; some lie above the range.

    Args:
        metric: A mean or a histogram.
        devices: How many.
        seed: Another one makes other devices.
        idle: Whether devices record nothing in some windows, each as often as it is its way.
    """

    def __init__(self, metric: Metric, devices: int, seed: int, *, idle: bool = False) -> None:
        super().__init__(metric, devices, seed)
        self._habit: Reals = _TYPICAL * np.exp(_APART * self._draws(0).normal(size=devices))
        self._eager: Reals | None = self._draws(3).beta(*_EAGER, devices) if idle else None

    def said(self, window: int) -> Said:
        """Numbers in the unit; those of a mean lie on its grid, prolonged upwards."""
        draws = self._draws(1, window)
        common = self._common(window, draws)
        share = common * self._habit * np.exp(_VARY * draws.normal(size=self._devices))
        values = self._shares(share, draws) if self.metric.aggregated == "share" else self._amounts(share)
        if self._eager is None:
            return Said(values, self._everyone)
        recorded = np.asarray(self._draws(2, window).random(self._devices) < self._eager * common)
        return Said(np.where(recorded, values, 0.0), recorded)

    def _amounts(self, share: Reals) -> Reals:
        lower, step = self.metric.lower / MILLION, self.metric.step / MILLION
        if self.metric.kind == "histogram":
            values = lower + step * self.metric.encoder.size * share
        else:
            values = lower + step * np.floor(share * (self.metric.encoder.size - 1) + 0.5)
        if self.metric.aggregated == "count":
            values = np.maximum(np.floor(values + 0.5), 0.0)
        return np.asarray(values)

    def _shares(self, share: Reals, draws: np.random.Generator) -> Reals:
        """Of a few events each, so that they can be recorded one by one."""
        events = draws.integers(1, EVENTS + 1, self._devices)
        return np.asarray(np.minimum(np.floor(share * events + 0.5), events) / events)


class Names(Habits):
    """Of a choice or of words: each device has a usual one by Zipf's law, and seldom gets another.

    Args:
        metric: A choice or one of words.
        devices: How many.
        seed: Another one makes other devices.
        names: What they say, the commonest first.

    Attributes:
        names: What each place stands for; the first is said where nothing was recorded.
    """

    def __init__(self, metric: Metric, devices: int, seed: int, names: Sequence[str]) -> None:
        super().__init__(metric, devices, seed)
        self.names = (NONE if metric.kind == "choice" else "", *names)
        self._chances = weights(len(names), "zipf")
        self._phase = self._draws(0).random(devices)  # not all of them change at one time

    def said(self, window: int) -> Said:
        """Places among `names`."""
        era, part = divmod(window, _KEEPS)
        later = self._phase + part / _KEEPS >= 1
        usual = np.where(later, self._usual(era + 1), self._usual(era))
        silent = self._draws(1, window).random(self._devices) < _SILENT / busy(self.metric, window)
        return Said(np.where(silent, 0, usual), ~silent)

    def told(self, values: Values) -> Iterator[str]:
        """The labels or words."""
        return (self.names[place] for place in values.tolist())

    def _usual(self, era: int) -> NDArray[np.int64]:
        return 1 + self._draws(2, era).choice(len(self._chances), self._devices, p=self._chances)


class Points(Habits):
    """Of a vector: each coordinate lies elsewhere, each device beside it, and moves a little from window to window."""

    def __init__(self, metric: Metric, devices: int, seed: int) -> None:
        super().__init__(metric, devices, seed)
        draws, self._dimension = self._draws(0), of_vectors(metric.encoder).dimension
        centres = draws.uniform(-_CENTRE, _CENTRE, self._dimension).astype(np.float32)
        self._usual = centres + _SIDE * draws.standard_normal((devices, self._dimension), np.float32)

    def said(self, window: int) -> Said:
        """Points of the grid, none of them beyond the norm."""
        draws = self._draws(1, window)
        strayed = self._usual + _DRIFT * draws.standard_normal(self._usual.shape, np.float32)
        ticks = of_vectors(self.metric.encoder).ticks
        place = np.floor((np.clip(strayed, -1, 1) + 1.0) / 2 * ticks + 0.5).astype(np.float64)
        return Said(self.metric.lower / MILLION + self.metric.step / MILLION * place, self._everyone)

    def told(self, values: Values) -> Iterator[list[float]]:
        """The coordinates."""
        return (row.tolist() for row in values)


class Active(Habits):
    """Of the second report of a mean with `active`: yes where anything was recorded; nothing is for it itself."""

    def __init__(self, metric: Metric, devices: int, seed: int, mean: Habits) -> None:
        super().__init__(metric, devices, seed)
        self._mean = mean

    def said(self, window: int) -> Said:
        """Yes or no."""
        return Said(self._mean.said(window).recorded, ~self._everyone)


def habits(lock: Lock, metric: Metric, devices: int, seed: int, words: Sequence[str] = ()) -> Habits:
    """The habits of devices for one metric of a lock.

    Args:
        lock: Tells which means have a second report.
        metric: One of its metrics; where it is such a report, the lock has the mean too.
        devices: How many.
        seed: Another one makes other devices.
        words: What they say where words are asked for, the commonest first; made up by default.
    """
    if metric.source:
        mean = habits(lock, lock.metrics[metric.name.removesuffix(ACTIVE)], devices, seed)
        return Active(metric, devices, seed, mean)
    if metric.kind == "boolean":
        return YesNo(metric, devices, seed)
    if metric.kind in ("mean", "histogram"):
        return Numbers(metric, devices, seed, idle=has_second(lock, metric))
    if metric.kind == "vector":
        return Points(metric, devices, seed)
    return Names(metric, devices, seed, metric.labels if metric.kind == "choice" else words or made(seed))


def has_second(lock: Lock, metric: Metric) -> bool:
    """Whether a second report tells on which devices anything was recorded for a metric."""
    second = lock.metrics.get(metric.name + ACTIVE)
    return second is not None and bool(second.source)


def busy(metric: Metric, window: int) -> float:
    """How much is done in a window, 1 on the whole."""
    cut = metric.windows
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
