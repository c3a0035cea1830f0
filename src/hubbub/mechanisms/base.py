"""The other half of a mechanism: parameters from epsilon, bulk encoding, summaries and estimates."""

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hubbub.encoders.base import SCALE, Encoder, Law, Payload
from hubbub.errors import ParameterError, PrivateValueError
from hubbub.mechanisms.intervals import binomial
from hubbub.summary import Summary

Ints = NDArray[np.int64]
Reals = NDArray[np.float64]
Reports = NDArray[Any]  # (n, fields)

MIN_EPSILON, MAX_EPSILON = 0.001, 20.0  # beyond them the steps of 2**-32 would cost accuracy


class WordSource(Protocol):
    """Anything that gives words, shape (count,), each uniform on [0, 2**32)."""

    def words(self, count: int) -> NDArray[np.uint32]:
        """The next `count` words."""
        ...


class SystemWords:
    """Words from the operating system, read afresh at each call."""

    def words(self, count: int) -> NDArray[np.uint32]:
        """The next `count` words."""
        return np.frombuffer(os.urandom(4 * count), ">u4").astype(np.uint32)


@dataclass(frozen=True, eq=False)
class Estimate:
    """Means per report (shares for categories), shape () or (size,): unbiased, never clipped.

    Attributes:
        value: Unbiased estimate, in the metric's unit.
        se: Standard error, devices taken as a sample.
        se_shared: What `se` would be at `permanent_epsilon`: the part that windows of one device share.
        n: Reports.
        ones: What the mechanism counted, for intervals: value = at_zero + (ones / n) * per_one.
        at_zero: Value at no ones.
        per_one: Value at only ones, less `at_zero`; what the estimate moves if every report turned.
        kept_at_zero: Value at no ones among the permanent answers behind the reports, for several windows together.
        kept_per_one: Value at only ones among them, less `kept_at_zero`.
    """

    value: Reals
    se: Reals
    se_shared: Reals
    n: int
    ones: Ints
    at_zero: float
    per_one: float
    kept_at_zero: float
    kept_per_one: float

    def interval(self, level: float = 0.95) -> tuple[Reals, Reals]:
        """Lower and upper ends, in the metric's unit, that hold the truth with chance `level`; never clipped."""
        low, high, _ = binomial(self.ones, self.n, level)
        return np.asarray(self.at_zero + low * self.per_one), np.asarray(self.at_zero + high * self.per_one)

    def method(self, level: float = 0.95) -> str:
        """Name of the method behind `interval(level)`."""
        return binomial(self.ones, self.n, level)[2]


class Mechanism(Protocol):
    """One mechanism with all its parameters; frozen, shared by both sides, and the only place where they stand."""

    name: ClassVar[str]
    kinds: ClassVar[tuple[str, ...]]
    source: ClassVar[str]  # paper and section
    examples: ClassVar[tuple[Mapping[str, Any], ...]]  # small domains for the conformance suite

    @property
    def encoder(self) -> Encoder:
        """The device's half."""
        ...

    # Called as from_epsilon(epsilon, *, permanent_epsilon=None, **domain): only this form lets a type checker accept
    # mechanisms whose domain has required keys.
    @classmethod
    def from_epsilon(cls, *args: Any, **kwargs: Any) -> Self:
        """The most useful mechanism whose losses exceed neither epsilon (None: no permanent answers, all is fresh)."""
        ...

    @classmethod
    def from_encoder(cls, encoder: Encoder, *, lower: float = 0, step: float = 1, labels: Sequence[str] = ()) -> Self:
        """The mechanism of a locked metric, `lower` and `step` in its unit."""
        ...

    @property
    def epsilon(self) -> float:
        """Loss of one report, in nats."""
        ...

    @property
    def permanent_epsilon(self) -> float:
        """Loss of a device that never changes, for ever, in nats; inf if everything is fresh."""
        ...

    @property
    def change_epsilon(self) -> float:
        """Loss of one changed window, in nats."""
        ...

    @property
    def bounds(self) -> tuple[float, float]:
        """Least and largest truth, in the metric's unit."""
        ...

    @property
    def counts_shape(self) -> tuple[int, ...]:
        """Shape of `Summary.counts`."""
        ...

    def index(self, values: ArrayLike) -> Ints:
        """(n,) units or labels -> (n,) values, clipped to the domain."""
        ...

    def truth(self, value: int) -> Reals:
        """What `estimate(...).value` is the mean of, for one device with this value."""
        ...

    def law(self, value: int, public: Payload = ()) -> Law:
        """The encoder's exact law."""
        ...

    def randomise(self, values: Ints, source: WordSource) -> Reports:
        """(n,) -> (n, fields): row i is what the encoder sends from the same words, persons in order."""
        ...

    def summarise(self, reports: Reports) -> Summary:
        """(n, fields) -> their summary; no reports give the neutral element."""
        ...

    def estimate(self, summary: Summary) -> Estimate:
        """Unbiased estimate of the mean per report."""
        ...

    def variance(self, truth: ArrayLike, n: int) -> Reals:
        """Exact variance of the estimate from n independent devices whose mean is `truth`."""
        ...

    def simulate(self, truth_counts: ArrayLike, rng: np.random.Generator) -> Summary:
        """(size,) devices per value -> a summary with the same distribution as encoding each of them."""
        ...


def below(bound: int, column: NDArray[np.uint32], source: WordSource) -> Ints:
    """Uniform on [0, bound) from a column of words; refused words are drawn again from the source, in order."""
    column, limit = column.copy(), SCALE - SCALE % bound
    while (bad := np.flatnonzero(column.astype(np.int64) >= limit)).size:
        column[bad] = source.words(bad.size)
    return column.astype(np.int64) % bound


def asked(epsilon: float, permanent_epsilon: float | None) -> None:
    """Refuse a pair of losses that no mechanism can keep.

    Raises:
        ParameterError: Out of range, or the permanent loss is below that of one report.
    """
    number("epsilon", epsilon, MIN_EPSILON, MAX_EPSILON)
    if permanent_epsilon is not None:
        number("permanent_epsilon", permanent_epsilon, MIN_EPSILON, MAX_EPSILON)
        if permanent_epsilon < epsilon:
            raise ParameterError("permanent_epsilon", permanent_epsilon, f">= epsilon = {epsilon}")


def number(name: str, value: object, low: float, high: float) -> None:
    """Refuse anything but a number in [low, high].

    Raises:
        ParameterError: Not a number, or outside.
    """
    if not isinstance(value, int | float) or isinstance(value, bool) or not low <= value <= high:
        raise ParameterError(name, value, f"a number in [{low:g}, {high:g}]")


def held(values: Ints, size: int) -> None:
    """Refuse what are no values of the encoder, before they could travel in the clear.

    Raises:
        PrivateValueError: Not a flat array of integers in [0, size); named by position only.
    """
    if values.ndim != 1 or values.dtype.kind not in "iu":
        raise PrivateValueError("values must be a flat array of integers")
    if values.size and (values.min() < 0 or values.max() >= size):
        position = int(np.argmax((values < 0) | (values >= size)))
        raise PrivateValueError(f"values[{position}] must be in [0, {size})")


def default_permanent(epsilon: float) -> float:
    """Loss of a device that never changes where none is asked for, in nats (why: spec/prices.md)."""
    return min(max(2 * epsilon, 1.2), MAX_EPSILON)


def threshold(epsilon: float, lies: int = 1) -> int:
    """Smallest safe share of words for one lie: two steps up outweigh any rounding of exp."""
    return math.floor(SCALE / (math.exp(epsilon) + lies)) + 2


def second_round(epsilon: float, permanent_epsilon: float | None, low: int) -> int:
    """Share of words that flip a permanent bit of chance `low` so that one report costs at most epsilon.

    0 without a second round: everything fresh, or a permanent loss that is already that of one report.
    """
    if permanent_epsilon is None or permanent_epsilon == epsilon:
        return 0
    a = low / SCALE
    return max(0, math.floor(SCALE * (1 / (math.exp(epsilon) + 1) - a) / (1 - 2 * a))) + 2
