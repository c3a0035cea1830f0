"""Domains of mechanisms that count categories: labels of a choice, buckets of a number, or just so many of them."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from hubbub.errors import ParameterError, PrivateValueError
from hubbub.lock import NONE
from hubbub.mechanisms.base import clean, number
from hubbub.mechanisms.estimate import Ints

MAX_UNIT = 2.0**53  # beyond it neighbouring whole numbers are no longer apart
MAX_CATEGORIES = 65_536


@dataclass(frozen=True)
class Categories:
    """What each value stands for.

    Attributes:
        size: Number of categories.
        lower: Where the first bucket begins, in the unit.
        step: Width of a bucket.
        labels: Of a choice, without `none`, which is category 0 there; empty for buckets.
    """

    size: int
    lower: float
    step: float
    labels: tuple[str, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all categories: labels, or the range of each bucket; none where they are plain numbers."""
        if self.labels:
            return (NONE, *self.labels)
        if (self.lower, self.step) == (0, 1):
            return ()
        ends = [f"{self.lower + i * self.step:.15g}" for i in range(self.size + 1)]
        return tuple(f"{ends[i]} to {ends[i + 1]}" for i in range(self.size))

    def index(self, values: ArrayLike) -> Ints:
        """(n,) labels, or numbers in the unit, -> categories.

        A text that is no label is category 0, `none`; numbers beyond the range go to the first or last bucket.

        Raises:
            PrivateValueError: One of them is neither text nor a finite number, as the domain wants it; named by
                position only.
        """
        if not self.labels:
            numbers = np.asarray(clean(values, "numbers", "iuf"), float)
            # Clipped first: a quotient of finite numbers may be infinite.
            top = self.lower + self.size * self.step
            ticks = np.floor((np.clip(numbers, self.lower, top) - self.lower) / self.step)
            return np.asarray(np.clip(ticks, 0, self.size - 1), np.int64)
        known = {label: i + 1 for i, label in enumerate(self.labels)} | {NONE: 0}
        given = (
            list(values) if isinstance(values, Sequence | np.ndarray) and not isinstance(values, str | bytes) else None
        )
        if given is None:
            raise PrivateValueError("values must be a flat sequence of labels")
        for i, value in enumerate(given):
            if not isinstance(value, str):
                raise PrivateValueError(f"values[{i}] must be a label")
        return np.array([known.get(value, 0) for value in given], np.int64)


def categories(
    categories: Sequence[str] | int | None,
    lower: float | None,
    upper: float | None,
    buckets: int | None,
    most: int = MAX_CATEGORIES,
) -> Categories:
    """The domain that these keys say: labels, a number of categories, or buckets of a range.

    Args:
        categories: Labels beside `none`, or how many categories there are, numbered from 0.
        lower: Where the first bucket begins.
        upper: Where the last one ends.
        buckets: How many there are.
        most: Most categories that the mechanism can have.

    Raises:
        ParameterError: Neither or both are given, or something is out of its range.
    """
    if categories is not None:
        for name, value in (("lower", lower), ("upper", upper), ("buckets", buckets)):
            if value is not None:
                raise ParameterError(name, value, "left out beside categories")
        if isinstance(categories, int | np.integer) and not isinstance(categories, bool):
            _count("categories", categories, most)
            return Categories(int(categories), 0, 1, ())
        labels = _labels(categories, most)
        return Categories(len(labels) + 1, 0, 1, labels)
    if buckets is None:
        raise ParameterError("categories", categories, "labels or their number; or lower, upper and buckets")
    _count("buckets", buckets, most)
    for name, value in (("lower", lower), ("upper", upper)):
        number(name, value, -MAX_UNIT, MAX_UNIT)
    assert lower is not None  # else refused by `number`
    assert upper is not None
    if not upper > lower:
        raise ParameterError("upper", upper, f"> lower = {lower}")
    return Categories(buckets, lower, (upper - lower) / buckets, ())


def _count(name: str, value: object, most: int) -> None:
    if not isinstance(value, int | np.integer) or isinstance(value, bool) or not 2 <= value <= most:
        raise ParameterError(name, value, f"an integer in [2, {most}]")


def _labels(given: object, most: int) -> tuple[str, ...]:
    expected = f"1 to {most - 1} different labels, none of them {NONE!r}"
    if isinstance(given, str) or not isinstance(given, Sequence):
        raise ParameterError("categories", given, expected)
    labels = tuple(given)
    text = all(isinstance(label, str) and label for label in labels)
    if not text or not 1 <= len(labels) < most or len(set(labels)) < len(labels) or NONE in labels:
        raise ParameterError("categories", given, expected)
    return labels
