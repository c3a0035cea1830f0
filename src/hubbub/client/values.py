"""What an app gives for a window and the encoder's value of it, by kind of metric and what its values come to.

A value that is none of its kind is no error of the host program: it is not recorded, and the caller counts it.
Specification: spec/registry.md.
"""

import math
import numbers
import operator
from collections.abc import Callable, Mapping, Set
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, Generic, TypeVar

from hubbub.client.state import Held
from hubbub.encoders.vector import of_vectors
from hubbub.encoders.words import value_of
from hubbub.lock import MILLION, NONE, Metric

H = TypeVar("H", bound=Held)
Read = Callable[[object], H | None]  # what the app gives -> what a window holds, None where it is no value
Index = Callable[[H], int]  # what a window holds -> the encoder's value
Vector = tuple[float, ...]
_MANY = 12  # labels that a message names


@dataclass(frozen=True)
class Kind(Generic[H]):
    """How one kind of metric takes values; H is what a window holds."""

    read: Callable[[Metric], Read[H]]  # what is given for the whole window
    merge: Callable[[H, H], H]  # what the window holds once `add` has put a value on top of another
    index: Callable[[Metric], Index[H]]
    null: Callable[[Metric], H]  # what stands for a window in which nothing valid was recorded
    event: Callable[[Metric], Read[H]] | None = None  # what is given for one event of several, where that differs

    @property
    def added(self) -> Callable[[Metric], Read[H]]:
        """What `add` takes."""
        return self.event or self.read

    def put(self, value: H, *, replace: bool) -> Callable[[H | None], H]:
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


def _vector(metric: Metric) -> Read[Vector]:
    dimension = of_vectors(metric.encoder).dimension

    def read(value: object) -> Vector | None:
        if isinstance(value, str | bytes | bytearray | Mapping | Set):  # the latter have no order
            return None
        try:
            given: Any = value
            if len(given) != dimension:
                return None
            found = [_number(one) for one in islice(given, dimension + 1)]  # whatever the length was said to be
        except Exception:  # nothing that has a length and an order, or a host's own type
            return None
        known = tuple(number for number in found if number is not None)
        return known if len(known) == len(found) == dimension else None

    return read


def _sums(held: Vector, value: Vector) -> Vector:
    return tuple(map(operator.add, held, value))


def _coordinates(metric: Metric) -> Index[Vector]:
    encoder = of_vectors(metric.encoder)
    tick = _ticks(metric, encoder.ticks)
    return lambda held: encoder.value([tick(number) for number in held])


def _grid(metric: Metric) -> Index[float]:
    return _ticks(metric, metric.encoder.size - 1)


def _ticks(metric: Metric, ticks: int) -> Index[float]:
    lower, step = metric.lower / MILLION, metric.step / MILLION
    upper = lower + ticks * step

    def index(value: float) -> int:
        if value <= lower:
            return 0
        # A sum of finite doubles may be infinite, so the ends are decided before any arithmetic.
        return ticks if value >= upper else min(ticks, math.floor((value - lower) / step + 0.5))

    return index


def _label(metric: Metric) -> Read[float]:
    known = {label: float(i) for i, label in enumerate((NONE, *metric.labels))}
    return lambda value: known.get(value) if isinstance(value, str) else None


def _buckets(metric: Metric) -> Index[float]:
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


def _always(read: Read[H]) -> Callable[[Metric], Read[H]]:
    return lambda metric: read


def _zero(metric: Metric) -> float:
    return 0.0


def _no_yes(metric: Metric) -> Vector:
    return (1.0, 0.0)


def _none(metric: Metric) -> Vector:
    return (0.0, 1.0)


def _zeros(metric: Metric) -> Vector:
    return (0.0,) * of_vectors(metric.encoder).dimension


def _one(value: object) -> float | None:
    return None if _number(value) is None else 1.0


def _share(value: object) -> Vector | None:
    number = _number(value)
    number = _yes_or_no(value) if number is None else number
    return (1.0, number) if number is not None and 0 <= number <= 1 else None


def _event(value: object) -> Vector | None:
    known = _yes_or_no(value)
    return None if known is None else (1.0, known)


def _shared(index: Callable[[Metric], Index[float]]) -> Callable[[Metric], Index[Vector]]:
    def of(metric: Metric) -> Index[Vector]:
        place = index(metric)
        return lambda held: place(held[1] / held[0])

    return of


def _labels(metric: Metric) -> Read[Vector]:
    read = _label(metric)

    def count(value: object) -> Vector | None:
        known = read(value)
        return None if known is None else (known, 1.0)

    return count


def _counted(held: Vector, value: Vector) -> Vector:
    """Labels and how often each was seen, (label, count, label, count, ...), in the order in which they came first."""
    label, times = value
    labels = held[::2]
    if label not in labels:
        return held + value
    place = 2 * labels.index(label) + 1
    return (*held[:place], held[place] + times, *held[place + 1 :])


def _most(held: Vector) -> int:
    counts = held[1::2]
    return int(held[2 * counts.index(max(counts))])  # of several, the one that was seen first


def _first(held: H, value: H) -> H:
    return held


def _last(held: H, value: H) -> H:
    return value


KINDS: Mapping[str, Kind[Any]] = {
    "boolean": Kind(_always(_yes_or_no), max, lambda metric: int, _zero),
    "mean": Kind(_always(_number), operator.add, _grid, _zero),
    "choice": Kind(_label, _last, lambda metric: int, _zero),
    "words": Kind(_always(_word), _last, lambda metric: int, _zero),
    "histogram": Kind(_always(_number), operator.add, _buckets, _zero),
    "vector": Kind(_vector, _sums, _coordinates, _zeros),
}
_MERGES: Mapping[str, Callable[[Any, Any], Any]] = {
    **{"all": min, "max": max, "first": _first, "last": _last},
    **{"count": operator.add, "share": _sums, "most": _counted},
}


def kind_of(metric: Metric) -> Kind[Any]:
    """How a metric takes values."""
    kind, word = KINDS[metric.kind], metric.aggregate
    if word:
        kind = replace(kind, merge=_MERGES[word])
    if word == "count":
        return replace(kind, event=_always(_one))
    if word == "share":
        index = _shared(kind.index)
        return replace(kind, read=_always(_share), event=_always(_event), index=index, null=_no_yes)
    return replace(kind, read=_labels, index=lambda metric: _most, null=_none) if word == "most" else kind


def wanted(metric: Metric) -> str:
    """What a whole window of the metric takes, in words for whoever gave something else; of public things alone."""
    if metric.kind == "boolean":
        return "yes or no"
    if metric.kind == "words":
        return "a word"
    if metric.kind == "choice":
        labels = (*metric.labels, NONE)
        more = f", … and {len(labels) - _MANY} more" if len(labels) > _MANY else ""
        return f"one of {', '.join(labels[:_MANY])}{more}"
    if metric.aggregate == "share":
        return "a number from 0 to 1, or yes or no"
    many = of_vectors(metric.encoder).dimension if metric.kind == "vector" else 0
    ticks = of_vectors(metric.encoder).ticks if many else metric.encoder.size - (metric.kind != "histogram")
    low, high = (f"{(metric.lower + tick * metric.step) / MILLION:g}" for tick in (0, ticks))
    scale = f"from {low} to {high} {metric.unit}".rstrip()
    return f"{many} numbers, each {scale}" if many else f"a number {scale}; it is clipped to that range"
