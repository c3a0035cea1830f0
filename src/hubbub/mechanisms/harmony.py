"""Harmony: mean = middle + (span / 2) dimension mean(z) / (p - q); what is sent stands in the encoder of the same name.

For a coordinate, z is 1 or -1 by its bit in a report about it, and 0 in any other one. A coordinate is drawn with
chance 1 / dimension and then its bit is 1 with a chance that grows evenly from q to p over its range. In units of half
the range the square of what a report says about a coordinate is dimension / (p - q)² on average, whatever is in it: so
the variance at t is that less t².
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from hubbub.encoders.harmony import Harmony as Device
from hubbub.errors import ParameterError
from hubbub.mechanisms.base import Reports, WordSource, asked, threshold
from hubbub.mechanisms.estimate import Crowd, Estimate, Ints, Reals
from hubbub.mechanisms.oracle import all_fresh, checked, devices, fields
from hubbub.mechanisms.subset_selection import accepted, remainder
from hubbub.mechanisms.vector import TICKS, Vectors, grid, rounds
from hubbub.summary import Summary


@dataclass(frozen=True)
class Harmony(Vectors):
    """Means of many coordinates from one bit about one of them: the shortest message, however many there are."""

    name: ClassVar[str] = Device.name
    source: ClassVar[str] = "Nguyên et al. 2016, arXiv 1606.05053"
    examples: ClassVar[tuple[Mapping[str, Any], ...]] = (
        {"dimension": 2, "ticks": 2, "norm": 3},
        {"dimension": 3, "ticks": 1},
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
    ) -> Self:
        """Loss of one report at most epsilon.

        Args:
            epsilon: Loss of one report, nats.
            permanent_epsilon: Must be left out.
            dimension: Coordinates.
            norm: Largest size of a coordinate, in the unit; larger ones are clipped.
            ticks: Steps of the grid of each coordinate, from -norm to norm; values in between are rounded.

        Raises:
            ParameterError: A parameter out of its range.
        """
        asked(epsilon, None)
        all_fresh(permanent_epsilon)
        lower, step = grid(norm, dimension, ticks)
        return cls(Device(dimension, ticks, threshold(epsilon)), lower, step)

    @property
    def counts_shape(self) -> tuple[int, ...]:
        """Reports about each coordinate, and those of them whose bit is 1."""
        return (2, self.encoder.dimension)

    @property
    def square(self) -> float:
        """Mean square of a report about any coordinate, in units of half the range."""
        p, q = self.encoder.chances()
        return self.encoder.dimension / float(p - q) ** 2

    def encode(self, values: Ints, source: WordSource) -> Reports:
        """Three words a person: which coordinate, which end unless each tick is one, whether to lie."""
        e = self.encoder
        bounds = [e.dimension, *[e.ticks] * rounds(e), 1]
        words = source.words(len(values) * len(bounds)).reshape(len(values), len(bounds))
        words = accepted(words, bounds, source)
        drawn = remainder(words[:, 0], e.dimension)
        ends = self.ends(values[np.arange(len(values)), drawn], words[:, 1])
        bits = ends ^ (words[:, -1] < np.uint32(e.low))
        return np.column_stack([drawn, bits]).astype(np.min_scalar_type(e.dimension - 1))

    def summarise(self, reports: Reports) -> Summary:
        """(n, 2) -> how many were about each coordinate, and how many of them said 1.

        Raises:
            ParameterError: The reports are not a coordinate and a bit each.
        """
        wide = self.encoder.dimension
        drawn, bits = fields(reports, self.encoder.radices).T
        zeros, ones = np.bincount(2 * drawn.astype(np.int64) + bits, minlength=2 * wide).reshape(wide, 2).T
        return Summary(len(reports), np.stack([zeros + ones, ones]).astype(np.int64))

    def estimate(self, summary: Summary) -> Estimate:
        """(dimension,) unbiased means per report, in the unit.

        Raises:
            ParameterError: No reports, or counts that so many reports cannot have.
        """
        received, ones = checked(summary).counts
        if (ones > received).any() or received.sum() != summary.n:
            found = f"{int(np.max(ones - received))} more ones than bits, {received.sum()} bits in all"
            raise ParameterError("summary.counts", found, f"at most as many ones as bits, {summary.n} bits in all")
        (p, q), n, half = self.encoder.chances(), summary.n, self.span / 2
        each = self.encoder.dimension / float(p - q)
        mean = each * (2 * ones - received) / n
        spread = np.maximum(each**2 * received / n - mean**2, 0)
        held = np.clip(mean, -1, 1)
        return Estimate(
            value=self.middle + half * mean,
            se=half * np.sqrt(spread / n),
            se_shared=half * np.sqrt((1 - held**2) / n),
            n=n,
            crowd=Crowd(self.lower, self.span, (self.square - 1) / 4),
            per_one=self.span * each,
        )

    def variance(self, truth: ArrayLike, n: int) -> Reals:
        """Exact variance of each mean from n independent devices whose mean is `truth`, in the unit squared.

        Raises:
            ParameterError: n < 1.
        """
        t = (np.asarray(truth, float) - self.middle) / (self.span / 2)
        return np.asarray((self.span / 2) ** 2 * (self.square - t * t) / devices(n))

    def covariance(self, truth: ArrayLike, n: int) -> Reals:
        """(dimension, dimension) exact covariance of the means, as `variance`: no report tells about two of them.

        Raises:
            ParameterError: n < 1.
        """
        t = np.asarray(truth, float) - self.middle
        found = -t[:, None] * t[None, :] / devices(n)
        np.fill_diagonal(found, self.variance(truth, n))
        return np.asarray(found)
