"""What an app records on a pretend device so that a window comes to a value: a few events, by the metric's aggregate.

There are several events wherever one alone would not tell aggregates apart: a sum has two halves, a last value another
one before it. All of them go through `add` and, for counts of many, `set`, as in an app.
"""

from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import lru_cache
from typing import Any

from hubbub.lock import MILLION, NONE, Metric
from hubbub.replay.pretend import EVENTS

Call = tuple[bool, Any]  # whether it is `set`, else `add`; what is given
Calls = tuple[Call, ...]
MOST = 20  # events that are counted one by one; of more the app sets the number


def calls(metric: Metric) -> Callable[[Any], Calls]:
    """What is recorded on a device for a value, which `Habits.told` gave."""
    if metric.kind in ("choice", "words"):
        return _named(metric)
    if metric.kind == "vector":
        return _halves if metric.aggregated == "sum" else _after_ones
    step = metric.step / MILLION
    return {**_COMMON, "max": lambda value: _added(value, value - step), "last": _last(metric, step)}[metric.aggregated]


def _added(*values: Any) -> Calls:
    return tuple((False, value) for value in values)


def _sum(value: float) -> Calls:
    return _added(value / 2, value / 2)  # exact, unlike other parts


def _count(value: float) -> Calls:
    events = int(value)
    return _added(*[1] * events) if events <= MOST else ((True, events - 1), (False, 1))


@lru_cache(maxsize=EVENTS**2)
def _share(value: float) -> Calls:
    part = Fraction(value).limit_denominator(EVENTS)
    return _added(*[i < part.numerator for i in range(part.denominator)])


_COMMON: Mapping[str, Callable[[Any], Calls]] = {
    "any": lambda value: _added(value, False),
    "all": lambda value: _added(value, True),
    "sum": _sum,
    "count": _count,
    "share": _share,
}


def _last(metric: Metric, step: float) -> Callable[[Any], Calls]:
    if metric.kind == "boolean":
        return lambda value: _added(not value, value)
    return lambda value: _added(value + step, value)


def _halves(value: list[float]) -> Calls:
    half = [number / 2 for number in value]
    return _added(half, half)


def _after_ones(value: list[float]) -> Calls:
    return _added([1.0] * len(value), value)


def _named(metric: Metric) -> Callable[[str], Calls]:
    other = metric.labels[0] if metric.kind == "choice" else "another"
    order: Mapping[str, Callable[[str], Calls]] = {
        "last": lambda value: _added(other, value),
        "first": lambda value: _added(value, other, other),
        "most": lambda value: _added(other, value, value, NONE),
    }
    return order[metric.aggregated]
