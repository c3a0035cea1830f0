"""What mechanisms of a bounded number share that answer with one of finitely many outputs.

Each output y stands for a number w(y), chosen so that the mean of w over the law of any value is that value. The
estimate is the mean of w over the reports, and error and interval come from their own spread. A value lies between
two of top + 1 evenly spaced levels, and its law is the mixture of theirs: so the mean square of a report is a chain of
straight lines over the levels, and its variance at a value x is that chain less x².
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar, Protocol, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hubbub.encoders.base import Encoder, Law, Payload
from hubbub.errors import ParameterError
from hubbub.mechanisms.base import Reports, WordSource, below
from hubbub.mechanisms.estimate import Crowd, Estimate, Ints, Reals
from hubbub.mechanisms.gaffke import GAFFKE, gaffke
from hubbub.mechanisms.grid import Grid, Ticked
from hubbub.mechanisms.oracle import checked, crowd_of, devices, fields
from hubbub.summary import Summary


@dataclass(frozen=True, eq=False)
class Channel:
    """Levels in, outputs out.

    Attributes:
        chances: Of each output at each level, shape (top + 1, outputs).
        weights: What each output stands for, in levels, shape (outputs,).
    """

    chances: Reals
    weights: Reals
    squares: Reals = field(init=False)  # mean square of a report at each level, shape (top + 1,)

    def __post_init__(self) -> None:
        object.__setattr__(self, "squares", self.chances @ self.weights**2)

    @property
    def top(self) -> int:
        """The last level."""
        return len(self.squares) - 1

    def variance(self, at: ArrayLike) -> Reals:
        """Variance of one report at places in [0, top], between levels too."""
        x = np.clip(np.asarray(at, float), 0, self.top)
        return np.asarray(np.interp(x, np.arange(self.top + 1), self.squares) - x * x)

    def worst(self) -> float:
        """Largest variance of one report anywhere in [0, top]."""
        low, slope = np.arange(self.top), np.diff(self.squares)
        peaks = np.clip(slope / 2, low, low + 1)
        return float(self.variance(peaks).max())


class Levelled(Ticked, Protocol):
    """An encoder that rounds ticks to levels."""

    @property
    def top(self) -> int:
        """The last of them."""
        ...


@dataclass(frozen=True, eq=False)
class Mean(Estimate):
    """Means whose reports stand for one of finitely many numbers: `gaffke`, or a count of ones where they are but two.

    Attributes:
        stands: What each output stands for, in the units of the crowd, shape (outputs,).
        counts: Reports of each output, shape (*value.shape, outputs).
    """

    stands: Reals = field(default_factory=lambda: np.zeros(0))
    counts: Ints = field(default_factory=lambda: np.zeros(0, np.int64))

    def methods(self) -> list[str]:
        """Name of the method of each mean's own interval, in their order."""
        return [GAFFKE] * self.value.size if self.ones is None else super().methods()

    def pick(self, category: int) -> Self:
        """One of the means, shape ()."""
        return replace(super().pick(category), counts=self.counts[category])

    def _ends(self, level: float, simultaneous: bool) -> tuple[Reals, Reals, str]:
        if self.ones is not None:
            return super()._ends(level, simultaneous)
        level = self._each(level, simultaneous)
        ends = gaffke(self.stands, self.counts.reshape(-1, len(self.stands)), level)
        low, high = (self.crowd.zero + self.crowd.scale * end.reshape(self.value.shape) for end in ends)
        return np.asarray(low), np.asarray(high), GAFFKE


def mean_of(channel: Channel, counts: Ints, n: int, lower: float, unit: float) -> Mean:
    """Means from the reports of each output, shape (..., outputs), n in each row; `unit`: between two levels."""
    weights, upper = channel.weights, lower + unit * channel.top
    usual = weights[counts.argmax(axis=-1)]  # differences from it are exact where all reports are alike
    mean = usual + ((weights - usual[..., None]) * counts).sum(axis=-1) / n
    spread = ((weights - mean[..., None]) ** 2 * counts).sum(axis=-1) / n
    value = np.asarray(lower + unit * mean)
    held = np.clip(value, lower, upper)
    sent = channel.chances.any(axis=0) | counts.reshape(-1, len(weights)).any(axis=0)
    low, *between, high = np.unique(weights[sent])
    return Mean(
        value=value,
        se=np.asarray(unit * np.sqrt(spread / n)),
        se_shared=np.sqrt((held - lower) * (upper - held) / n),
        n=n,
        crowd=Crowd(lower, upper - lower, channel.worst() / channel.top**2, exact=False),
        per_one=unit * float(high - low),
        ones=None if between else np.asarray((counts * (weights == high)).sum(axis=-1)),
        at_zero=lower + unit * float(low),
        stands=weights / channel.top,
        counts=counts,
    )


@dataclass(frozen=True)
class Outputs(Grid, ABC):
    """Summaries and estimates from a `channel`; subclasses, frozen dataclasses too, say how reports are drawn."""

    memo: ClassVar[bool] = False
    encoder: Levelled
    lower: float
    step: float

    @property
    @abstractmethod
    def channel(self) -> Channel:
        """Its levels and outputs."""

    @abstractmethod
    def randomise(self, values: Ints, source: WordSource) -> Reports:
        """(n,) -> (n, fields): row i is what the encoder sends from the same words, persons in order."""

    @classmethod
    def from_encoder(cls, encoder: Encoder, *, lower: float = 0, step: float = 1, labels: Sequence[str] = ()) -> Self:
        """The mechanism of a locked metric.

        Raises:
            ParameterError: Another mechanism's encoder.
        """
        if getattr(encoder, "name", None) != cls.name:  # type: ignore[attr-defined]
            raise ParameterError("encoder", encoder, f"a {cls.name}")  # type: ignore[attr-defined]
        return cls(encoder, lower, step)  # type: ignore[arg-type]

    @property
    def unit(self) -> float:
        """Distance of two levels, in the metric's unit."""
        return self.encoder.ticks * self.step / self.encoder.top

    @property
    def epsilon(self) -> float:
        """Loss of one report, in nats."""
        return self.encoder.prices(1).report

    @property
    def permanent_epsilon(self) -> float:
        """Everything is fresh: inf."""
        return math.inf

    @property
    def change_epsilon(self) -> float:
        """Loss of one changed window, in nats."""
        return self.encoder.prices(1).change

    @property
    def counts_shape(self) -> tuple[int, ...]:
        """Reports of each output."""
        return self.channel.weights.shape

    def law(self, value: int, public: Payload = ()) -> Law:
        """The encoder's exact law."""
        return self.encoder.law(value, public)

    def levels(self, values: Ints, column: NDArray[np.uint32], source: WordSource) -> Ints:
        """The level that each value goes to, by a column of words."""
        e = self.encoder
        return (values * e.top + below(e.ticks, column, source)) // e.ticks

    def outputs(self, reports: Reports) -> Ints:
        """(n, fields) within their radices -> (n,) their outputs as numbers from 0."""
        return np.asarray(reports[:, 0], np.int64)

    def summarise(self, reports: Reports) -> Summary:
        """(n, fields) -> how many reports each output got.

        Raises:
            ParameterError: The reports are not one output each.
        """
        found = self.outputs(fields(reports, self.encoder.radices))
        return Summary(len(reports), np.bincount(found, minlength=self.counts_shape[0]).astype(np.int64))

    def estimate(self, summary: Summary) -> Estimate:
        """Unbiased mean per report, in the metric's unit, shape ().

        Raises:
            ParameterError: No reports, or counts that so many reports cannot have.
        """
        counts, n = checked(summary).counts, summary.n
        if counts.sum() != n:
            raise ParameterError("summary.counts", f"{counts.sum()} in all", f"{n} in all")
        return mean_of(self.channel, counts, n, self.lower, self.unit)

    def variance(self, truth: ArrayLike, n: int) -> Reals:
        """Exact variance of the estimate from n devices that all hold `truth`, in the unit squared.

        Devices that hold different values with this mean have more of it, by the spread of their values at least.

        Raises:
            ParameterError: n < 1.
        """
        at = (np.asarray(truth, float) - self.lower) / self.unit
        return np.asarray(self.unit**2 * self.channel.variance(at) / devices(n))

    def simulate(self, truth_counts: ArrayLike, rng: np.random.Generator) -> Summary:
        """(size,) devices per value -> a summary: binomial between two levels, then multinomial for each level.

        Raises:
            ParameterError: Not one count per value.
        """
        e, channel = self.encoder, self.channel
        crowd = crowd_of(truth_counts, e.size)
        held = np.flatnonzero(crowd)
        low, rest = np.divmod(held * e.top, e.ticks)
        up = rng.binomial(crowd[held], rest / e.ticks)
        at = np.zeros(e.top + 2, np.int64)
        np.add.at(at, low, crowd[held] - up)
        np.add.at(at, low + 1, up)
        counts = rng.multinomial(at[:-1], channel.chances).sum(axis=0)
        return Summary(int(crowd.sum()), counts.astype(np.int64))
