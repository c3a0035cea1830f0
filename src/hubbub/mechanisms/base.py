"""The other half of a mechanism: parameters from epsilon, bulk encoding, summaries and estimates."""

import math
import os
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Protocol, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hubbub.encoders.base import SCALE, Encoder, Law, Payload
from hubbub.encoders.vector import Coordinates
from hubbub.errors import ParameterError, PrivateValueError
from hubbub.mechanisms.estimate import Estimate, Ints, Reals
from hubbub.summary import Summary

Reports = NDArray[Any]  # (n, fields)

FIELDS, PEOPLE = 1 << 22, 1 << 18  # payload fields, or people, that are encoded and counted at a time, at most
KEPT = 1 << 24  # bytes
MIN_EPSILON, MAX_EPSILON = 0.001, 16.0  # beyond them the steps of 2**-32 would cost accuracy


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


class Mechanism(Protocol):
    """One mechanism with all its parameters; frozen, shared by both sides, and the only place where they stand."""

    name: ClassVar[str]
    kinds: ClassVar[tuple[str, ...]]
    memo: ClassVar[bool]  # whether it can keep permanent answers
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
        """(size,) devices per value -> a summary with the same distribution as encoding each of them.

        Where there are too many values for that (words): (k,) devices of each of k values, named by a third argument.
        """
        ...


def collect(mechanism: Mechanism, values: Ints, source: WordSource, block: int | None = None) -> Summary:
    """Encode many people and count their reports, so many at a time: memory does not grow with their number.

    Each block of people takes its words as one call of `randomise` does. So the words of all are those of one call for
    everybody, unless one is refused: it is drawn again behind its own block, and what comes after moves up by a word.

    Args:
        mechanism: What encodes and counts them.
        values: Values of all people, shape (n,), or their coordinates, shape (n, dimension).
        source: Where words come from.
        block: People in a block; None: as many as take some megabytes.

    Raises:
        ParameterError: block < 1.
        PrivateValueError: Values outside [0, size), before anybody is encoded; named by position only.
    """
    if block is None:
        block = at_once(mechanism.encoder)
    if not isinstance(block, int) or isinstance(block, bool) or block < 1:
        raise ParameterError("block", block, "an integer >= 1")
    held_by(mechanism.encoder, values)
    keep_memory()
    total = mechanism.summarise(mechanism.randomise(values[:block], source))
    for start in range(block, len(values), block):
        total += mechanism.summarise(mechanism.randomise(values[start : start + block], source))
    return total


def at_once(encoder: Encoder) -> int:
    """People that are encoded and counted at a time: a block is large enough to sort, and small enough to stay near."""
    return max(1, min(PEOPLE, FIELDS // len(encoder.radices)))


def keep_memory() -> None:
    """Have glibc keep memory of arrays that are freed, up to twice `KEPT`, for the next ones.

    It gives memory back to the system above a limit that follows the largest array ever freed. Below that, blocks of
    people would get each page of theirs from the system again, which takes as long as encoding them. Elsewhere this
    does nothing; it writes to no memory.
    """
    np.empty(KEPT, np.uint8)


class _Zeros:
    def words(self, count: int) -> NDArray[np.uint32]:
        return np.zeros(count, np.uint32)


def any_estimate(mechanism: Mechanism) -> Estimate:
    """The estimate from one possible report, for what is the same in all estimates of a mechanism."""
    anyone = as_rows(mechanism.encoder, [0])
    return mechanism.estimate(mechanism.summarise(mechanism.randomise(anyone, _Zeros())))


def as_rows(encoder: Encoder, values: ArrayLike) -> Ints:
    """Values of an encoder as bulk encoding takes them: (n,) integers, or (n, dimension) coordinates of vectors."""
    if isinstance(encoder, Coordinates):
        found, which = np.unique(np.asarray(values), return_inverse=True)
        rows = [encoder.coordinates(int(value)) for value in found]
        return np.array(rows, np.int64).reshape(-1, encoder.dimension)[which]
    return np.asarray(values)


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


def held_by(encoder: Encoder, values: Ints) -> None:
    """Refuse what are no values of this encoder: flat, or coordinates where they are vectors.

    Raises:
        PrivateValueError: They are not; named by position only.
    """
    if not isinstance(encoder, Coordinates):
        held(values, encoder.size)
        return
    wide = encoder.dimension
    if values.ndim != 2 or values.shape[1] != wide or values.dtype.kind not in "iu":
        raise PrivateValueError(f"values must be integers, {wide} for each person")
    if values.size and (values.min() < 0 or values.max() > encoder.ticks):
        person, place = divmod(int(np.argmax((values < 0) | (values > encoder.ticks))), wide)
        raise PrivateValueError(f"values[{person}][{place}] must be in [0, {encoder.ticks}]")


def clean(values: ArrayLike, what: str, types: str) -> Ints | Reals:
    """Values as a flat array of numbers, of one of these numpy types.

    Raises:
        PrivateValueError: One of them is not a finite number; named by position only.
    """
    try:
        array = np.asarray(values)
    except ValueError:
        raise PrivateValueError(f"values must be a flat sequence of {what}") from None
    if array.ndim != 1 or array.dtype.kind not in types:
        raise PrivateValueError(f"values must be a flat sequence of {what}")
    if array.dtype.kind == "f" and (bad := np.flatnonzero(~np.isfinite(array))).size:
        raise PrivateValueError(f"values[{bad[0]}] must be {what}, finite")
    return array


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
