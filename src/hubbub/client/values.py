"""What an app gives for a window and the encoder's value of it, by kind of metric.

A value that is none of its kind is no error of the host program: it is not recorded, and the caller counts it.
Specification: spec/registry.md.
"""

import math
import numbers
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from hubbub.encoders.words import value_of
from hubbub.lock import MILLION, NONE, Metric

Read = Callable[[object], float | None]  # what the app gives -> what a window holds, None where it is no value
Index = Callable[[float], int]  # what a window holds -> the encoder's value


@dataclass(frozen=True)
class Kind:
    """How one kind of metric takes values; what a window holds is a float."""

    read: Callable[[Metric], Read]
    merge: Callable[[float, float], float]  # what the window holds once `add` has put a value on top of another
    index: Callable[[Metric], Index]
    null: float  # what stands for a window in which nothing valid was recorded

    def put(self, value: float, *, replace: bool) -> Callable[[float | None], float]:
        """How a window that holds something, or nothing yet, takes a further value."""
        return lambda held: value if replace or held is None else self.merge(held, value)


def _yes_or_no(value: object) -> float | None:
    try:
        return next((number for number in (0.0, 1.0) if value == number), None)
    except Exception:  # whatever the host's object does when compared, it is no yes or no
        return None


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        return None
    try:
        number = float(value)
    except Exception:  # an integer beyond a double, or a host's own type
        return None
    return number if math.isfinite(number) else None


def _grid(metric: Metric) -> Index:
    lower, step, ticks = metric.lower / MILLION, metric.step / MILLION, metric.encoder.size - 1
    upper = lower + ticks * step

    def index(value: float) -> int:
        if value <= lower:
            return 0
        # A sum of finite doubles may be infinite, so the ends are decided before any arithmetic.
        return ticks if value >= upper else min(ticks, math.floor((value - lower) / step + 0.5))

    return index


def _label(metric: Metric) -> Read:
    known = {label: float(i) for i, label in enumerate((NONE, *metric.labels))}
    return lambda value: known.get(value) if isinstance(value, str) else None


def _buckets(metric: Metric) -> Index:
    lower, step, last = metric.lower / MILLION, metric.step / MILLION, metric.encoder.size - 1
    upper = lower + (last + 1) * step

    def index(value: float) -> int:
        if value <= lower:
            return 0
        # A sum of finite doubles may be infinite, so the ends are decided before any arithmetic.
        return last if value >= upper else min(last, math.floor((value - lower) / step))

    return index


def _word(value: object) -> float | None:
    try:
        return float(value_of(value)) if isinstance(value, str) else None
    except UnicodeEncodeError:
        return None


def _always(read: Read) -> Callable[[Metric], Read]:
    return lambda metric: read


KINDS: Mapping[str, Kind] = {
    "boolean": Kind(_always(_yes_or_no), max, lambda metric: int, 0.0),
    "mean": Kind(_always(_number), operator.add, _grid, 0.0),
    "choice": Kind(_label, lambda held, value: value, lambda metric: int, 0.0),
    "words": Kind(_always(_word), lambda held, value: value, lambda metric: int, 0.0),
    "histogram": Kind(_always(_number), operator.add, _buckets, 0.0),
}
