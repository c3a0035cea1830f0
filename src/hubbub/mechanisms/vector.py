"""What the mechanisms for vectors share: a grid for each coordinate, crowds, and the mean of each coordinate.

A vector has `dimension` coordinates in [-norm, norm], each on a grid of `ticks` steps: (n, dimension) ticks are what
bulk encoding takes. All coordinates are estimated at once, each without bias and with its own standard error.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Protocol, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hubbub.encoders.base import SCALE, Encoder, Law, Payload
from hubbub.encoders.vector import MAX_DIMENSION, Coordinates, fits
from hubbub.errors import ParameterError, PrivateValueError
from hubbub.mechanisms.base import Reports, WordSource, as_rows, held_by, number
from hubbub.mechanisms.categories import MAX_UNIT
from hubbub.mechanisms.estimate import Ints, Reals
from hubbub.mechanisms.grid import Grid
from hubbub.mechanisms.oracle import crowd_of
from hubbub.summary import Summary

PEOPLE = 1 << 14  # whose words are drawn at a time (spec/coordinates.md)
TICKS = 20_000  # steps of a grid: rounding to it is off by no more than 1/40 000 of the range
MANY = 1 << 16  # values; of more a crowd must say which it means


class Vectorial(Encoder, Protocol):
    """An encoder of vectors."""

    @property
    def dimension(self) -> int:
        """Number of coordinates."""
        ...

    @property
    def ticks(self) -> int:
        """Steps of each."""
        ...

    def coordinates(self, value: int) -> tuple[int, ...]:
        """The ticks that a value stands for."""
        ...


class _Drawn:
    """Words for simulated people."""

    def __init__(self, rng: np.random.Generator) -> None:
        self._rng = rng

    def words(self, count: int) -> NDArray[np.uint32]:
        return self._rng.integers(0, SCALE, count, dtype=np.uint32)


@dataclass(frozen=True)
class Vectors(Grid, ABC):
    """Means of coordinates from reports that are all fresh; subclasses are frozen dataclasses too."""

    memo: ClassVar[bool] = False
    kinds: ClassVar[tuple[str, ...]] = Coordinates.kinds
    encoder: Vectorial
    lower: float
    step: float

    @abstractmethod
    def encode(self, values: Ints, source: WordSource) -> Reports:
        """Reports of a block of people, from one block of words; values are known to be good."""

    @abstractmethod
    def summarise(self, reports: Reports) -> Summary:
        """(n, fields) -> their summary."""

    @property
    @abstractmethod
    def counts_shape(self) -> tuple[int, ...]:
        """Shape of `Summary.counts`."""

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
    def span(self) -> float:
        """Width of each coordinate's range, in the unit."""
        return self.encoder.ticks * self.step

    @property
    def middle(self) -> float:
        """Of each coordinate's range, in the unit."""
        return self.lower + self.span / 2

    def index(self, values: ArrayLike) -> Ints:
        """(n, dimension) numbers in the unit -> ticks, each coordinate clipped and rounded as `Grid.index` says.

        Raises:
            PrivateValueError: Not so many finite numbers for each person; named by position only.
        """
        wide = self.encoder.dimension
        try:
            array = np.asarray(values)
        except ValueError:
            raise PrivateValueError(f"values must be {wide} numbers for each person") from None
        if array.ndim != 2 or array.shape[1] != wide or array.dtype.kind not in "iuf":
            raise PrivateValueError(f"values must be {wide} numbers for each person")
        if array.dtype.kind == "f" and not (finite := np.isfinite(array)).all():
            person, place = divmod(int(np.argmin(finite)), wide)
            raise PrivateValueError(f"values[{person}][{place}] must be a number, finite")
        return super().index(array.ravel()).reshape(array.shape)

    def truth(self, value: int) -> Reals:
        """(dimension,) the coordinates in the unit."""
        return self.lower + self.step * np.array(self.encoder.coordinates(value), float)

    def law(self, value: int, public: Payload = ()) -> Law:
        """The encoder's exact law."""
        return self.encoder.law(value, public)

    def randomise(self, values: Ints, source: WordSource) -> Reports:
        """(n, dimension) -> (n, fields), people in blocks, each of which draws its refused words again.

        Raises:
            PrivateValueError: Values that are no ticks of the grid; named by position only.
        """
        held_by(self.encoder, values)
        starts = range(0, max(len(values), 1), PEOPLE)
        return np.concatenate([self.encode(values[start : start + PEOPLE], source) for start in starts])

    def simulate(self, truth_counts: ArrayLike, rng: np.random.Generator, values: ArrayLike | None = None) -> Summary:
        """(k,) devices of each of k values -> a summary: each of them is encoded, with words from `rng`.

        Args:
            truth_counts: Devices of each value.
            rng: What draws.
            values: (k, dimension) ticks; None: all values, where they are few.

        Raises:
            ParameterError: Not one count per value, or too many values to be meant all.
            PrivateValueError: Values that are no ticks of the grid; named by position only.
        """
        if values is None and self.encoder.size > MANY:
            raise ParameterError("values", None, f"given where there are more than {MANY} of them")
        which = as_rows(self.encoder, range(self.encoder.size)) if values is None else np.asarray(values)
        held_by(self.encoder, which)
        ends = np.cumsum(crowd_of(truth_counts, len(which)))
        n, source = int(ends[-1]), _Drawn(rng)
        total = self.summarise(self.encode(which[:0], source))
        for start in range(0, n, PEOPLE):
            people = np.searchsorted(ends, np.arange(start, min(start + PEOPLE, n)), side="right")
            total += self.summarise(self.encode(which[people], source))
        return total

    def ends(self, values: Ints, words: NDArray[np.uint32]) -> NDArray[np.bool_]:
        """Whether each coordinate goes to the upper end of its range, by a word that was not refused, or none."""
        ticks = self.encoder.ticks
        return np.asarray(values > 0 if ticks == 1 else values + words % np.uint32(ticks) >= ticks)


def rounds(encoder: Vectorial) -> int:
    """Words that take a coordinate to an end of its range: none where each tick is one."""
    return int(encoder.ticks > 1)


def grid(norm: float, dimension: int, ticks: int, most: int = MAX_DIMENSION) -> tuple[float, float]:
    """Lower end and step of a grid of [-norm, norm].

    Raises:
        ParameterError: One of them is out of its range.
    """
    number("norm", norm, 1 / MAX_UNIT, MAX_UNIT)
    fits(dimension, ticks, most)
    return -norm, 2 * norm / ticks
