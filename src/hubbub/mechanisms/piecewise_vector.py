"""Piecewise for vectors: the mean of what a report says; what is sent stands in the encoder of the same name.

About a coordinate that is asked, an output y that stands for w(y) says middle + (dimension / sampled) (w(y) - middle),
and a report that does not ask says middle. So a report is, for each coordinate, one of outputs + 1 outcomes whose mean
is that coordinate: the channel of `outputs.py`, with one outcome more.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from math import ceil
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike

from hubbub.encoders.base import check
from hubbub.encoders.levels import Window
from hubbub.encoders.piecewise_vector import MAX_SAMPLED
from hubbub.encoders.piecewise_vector import PiecewiseVector as Device
from hubbub.errors import ParameterError
from hubbub.mechanisms.base import Reports, WordSource, asked
from hubbub.mechanisms.estimate import Estimate, Ints, Reals
from hubbub.mechanisms.oracle import all_fresh, checked, devices, fields
from hubbub.mechanisms.outputs import Channel, mean_of
from hubbub.mechanisms.piecewise import OUTPUTS
from hubbub.mechanisms.subset_selection import accepted, remainder
from hubbub.mechanisms.vector import TICKS, Vectors, grid
from hubbub.mechanisms.window import Candidates, candidates, channel_of, pick
from hubbub.summary import Summary


@dataclass(frozen=True)
class PiecewiseVector(Vectors):
    """Means of many coordinates from a few of them in each report: best where epsilon is large or most are near 0."""

    name: ClassVar[str] = Device.name
    source: ClassVar[str] = "Wang et al., ICDE 2019"
    examples: ClassVar[tuple[Mapping[str, Any], ...]] = (
        {"dimension": 2, "ticks": 2, "norm": 3, "sampled": 1, "outputs": 2},
        {"dimension": 2, "ticks": 1, "sampled": 2, "outputs": 2},
    )
    encoder: Device

    @classmethod
    def from_epsilon(
        cls,
        epsilon: float,
        *,
        permanent_epsilon: float | None = None,
        dimension: int,
        norm: float = 1.0,
        ticks: int = TICKS,
        sampled: int | None = None,
        outputs: int = OUTPUTS,
        width: int | None = None,
    ) -> Self:
        """Of the numbers of coordinates to ask, and of windows, those of the least worst variance.

        Args:
            epsilon: Loss of one report, nats.
            permanent_epsilon: Must be left out.
            dimension: Coordinates.
            norm: Largest size of a coordinate, in the unit; larger ones are clipped.
            ticks: Steps of the grid of each coordinate, from -norm to norm; values in between are rounded.
            sampled: Coordinates that a report is about, at most 64, each with its share of epsilon; what is best by
                default.
            outputs: Most different answers about one coordinate.
            width: How many of them a window holds, at most half of them; what is best by default.

        Raises:
            ParameterError: A parameter out of its range.
        """
        asked(epsilon, None)
        all_fresh(permanent_epsilon)
        lower, step = grid(norm, dimension, ticks)
        if sampled is not None:
            check("sampled", sampled, 1, min(dimension, MAX_SAMPLED))
        found, tried = candidates(ticks, outputs, width), (sampled,) if sampled else range(1, ceil(epsilon) + 1)
        every = (_best(found, ticks, dimension, count, epsilon) for count in tried if count <= dimension)
        best = min(every, key=lambda one: one.worst)
        return cls(Device(dimension, ticks, best.sampled, *_integers(best.window)), lower, step)

    @property
    def counts_shape(self) -> tuple[int, ...]:
        """Reports of each output about each coordinate."""
        return (self.encoder.dimension, self.encoder.window.outputs)

    @property
    def channel(self) -> Channel:
        """What a report says about one coordinate, in levels; the last outcome is that it is not asked."""
        return _channel_of(self.encoder.window, self.encoder.dimension, self.encoder.sampled)

    @property
    def unit(self) -> float:
        """Distance of two levels, in the metric's unit."""
        return self.span / self.encoder.top

    def encode(self, values: Ints, source: WordSource) -> Reports:
        """Words of a person: one for each coordinate that is drawn, then those of `piecewise` for each, in order."""
        e, window = self.encoder, self.encoder.window
        rounded, wide = int(e.top < e.ticks), int(window.width > 1)
        each = [*[e.ticks] * rounded, 1, *[window.width] * wide, window.others]
        bounds = [*range(e.dimension - e.public + 1, e.dimension + 1), *each * e.sampled]
        words = source.words(len(values) * len(bounds)).reshape(len(values), len(bounds))
        words = accepted(words, bounds, source)
        coordinates = self._drawn(words[:, : e.public])
        answers = words[:, e.public :].reshape(len(values), e.sampled, len(each))
        at = np.take_along_axis(values, coordinates, axis=1)
        if rounded:
            at = (at * e.top + answers[:, :, 0] % np.uint32(e.ticks)) // e.ticks
        inside = remainder(answers[:, :, rounded + 1], window.width) if wide else 0
        outside = remainder(answers[:, :, -1], window.others)
        sent = pick(window, at, answers[:, :, rounded] < np.uint32(window.keep), inside, outside)
        fields = (coordinates - np.arange(e.sampled))[:, : e.public]
        return np.hstack([fields, sent]).astype(np.min_scalar_type(max(e.radices) - 1))

    def summarise(self, reports: Reports) -> Summary:
        """(n, fields) -> how many reports gave each output about each coordinate.

        Raises:
            ParameterError: The reports are not outputs of different coordinates.
        """
        e, (wide, outputs) = self.encoder, self.counts_shape
        public, sent = np.split(fields(reports, e.radices), [e.public], axis=1)
        if (public[:, 1:] < public[:, :-1]).any():
            raise ParameterError("reports", "coordinates out of order", "different coordinates in increasing order")
        coordinates = np.arange(e.sampled) + (public.astype(np.int64) if e.public else 0)
        counts = np.bincount((coordinates * outputs + sent).ravel(), minlength=wide * outputs)
        return Summary(len(reports), counts.reshape(wide, outputs).astype(np.int64))

    def estimate(self, summary: Summary) -> Estimate:
        """(dimension,) unbiased means per report, in the unit.

        Raises:
            ParameterError: No reports, or counts that so many reports cannot have.
        """
        counts, n, e = checked(summary).counts, summary.n, self.encoder
        asked = counts.sum(axis=1)
        if asked.sum() != n * e.sampled or asked.max() > n:
            found = f"{asked.sum()} answers in all, {asked.max()} about one coordinate"
            raise ParameterError("summary.counts", found, f"{n * e.sampled} in all, at most {n} about each")
        return mean_of(self.channel, np.column_stack([counts, n - asked]), n, self.lower, self.unit)

    def variance(self, truth: ArrayLike, n: int) -> Reals:
        """Exact variance of each mean from n devices that all hold `truth`, in the unit squared.

        Devices that hold different values with this mean have more of it.

        Raises:
            ParameterError: n < 1.
        """
        at = (np.asarray(truth, float) - self.lower) / self.unit
        return np.asarray(self.unit**2 * self.channel.variance(at) / devices(n))

    def _drawn(self, words: Reports) -> Ints:
        """(n, sampled) the coordinates that each person is asked about, in order, by Floyd's method."""
        e = self.encoder
        if not e.public:
            return np.broadcast_to(np.arange(e.sampled), (len(words), e.sampled))
        drawn = np.empty((len(words), e.sampled), np.int64)
        for place, top in enumerate(range(e.dimension - e.sampled, e.dimension)):
            one = remainder(words[:, place], top + 1)
            twice = (drawn[:, :place] == one[:, None]).any(axis=1)
            drawn[:, place] = np.where(twice, top, one)
        return np.sort(drawn, axis=1)


class _Found(NamedTuple):
    worst: float
    sampled: int
    window: Window


def _best(found: Candidates, ticks: int, dimension: int, sampled: int, epsilon: float) -> _Found:
    """The window of the least worst variance where so many coordinates are asked.

    In levels, with c the middle and f = dimension / sampled, a report about a coordinate at l has the variance
    f (A l² + (1 - A) top l + C - top l + c²) - (l - c)²; at the ends, or between the first two levels.
    """
    f, top, squares = dimension / sampled, found.top, found.squares(epsilon / sampled)
    rise = f * squares.A * (1 - top) + top
    between = np.clip(rise / 2, 0, 1) * (top < ticks)
    worst = (f * (squares.C + top**2 / 4) + between * rise - between**2) / top**2 - 0.25
    place = found.best(worst)
    return _Found(float(worst[place]), sampled, found.window(place, epsilon / sampled))


def _integers(window: Window) -> tuple[int, int, int, int]:
    return window.top, window.shift, window.width, window.keep


@lru_cache(maxsize=32)
def _channel_of(window: Window, dimension: int, sampled: int) -> Channel:
    answers, share, middle = channel_of(window), sampled / dimension, window.top / 2
    chances = np.column_stack([share * answers.chances, np.full(window.top + 1, 1 - share)])
    return Channel(chances, np.append(middle + (answers.weights - middle) / share, middle))
