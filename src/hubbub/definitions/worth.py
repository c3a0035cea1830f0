"""What a metric will be worth: half-widths of its 95 % intervals for the worst truth, and what would narrow them.

One window of n reports: margin = z se with se at the truth that is worst, which for one bit is the middle of the range;
for categories that of a rare one, as most of them are; for a vector that of each coordinate, wherever it is largest.
Several windows of the same devices share the noise of their permanent answers (se_shared), so with D windows

    SE(mean) = sqrt(sum over turns of (d (se² - se_shared²) + (d se_shared)²)) / D,

where d windows belong to each of the report_every turns and devices of different turns are different devices.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import msgspec
import numpy as np

from hubbub.definitions.building import locked
from hubbub.definitions.checks import millionths
from hubbub.definitions.models import Definition
from hubbub.lock import MILLION, Metric
from hubbub.mechanisms import Mechanism, of_metric
from hubbub.mechanisms.base import any_estimate
from hubbub.mechanisms.words import Words

Z = 1.959963984540054  # of a 95 % interval
EXAMPLES = (700, 4_000, 50_000)  # devices where expected_devices is missing
SEVERAL = {"hour": (24, "a day"), "day": (7, "a week"), "week": (4, "four weeks")}
_EPSILONS = (0.1, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 4.0)
_ENOUGH = 2.0  # beyond it more epsilon buys little for one bit, and is not advised if the target is missed anyway
_NARROWEST = 3  # a range is not advised to shrink by more than this: too many values would be clipped


@dataclass(frozen=True)
class Worth:
    """Half-widths of 95 % intervals for the worst truth, in the metric's unit.

    Attributes:
        devices: Devices that run in one window.
        margin: Of one window, all segments together.
        share: `margin` out of the range.
        segment: Of one window in one of equally large segments.
        several: Of the mean of `windows` windows.
        windows: As many as SEVERAL says.
    """

    devices: int
    margin: float
    share: float
    segment: float
    several: float
    windows: int


@dataclass(frozen=True)
class Cure:
    """One change that narrows the interval of one window: the key with its new value, and the margin that it gives."""

    key: str
    value: float
    margin: float
    enough: bool


def margin(mechanism: Mechanism, n: float) -> float:
    """Half-width of one window of n reports, in the unit."""
    return Z * _errors(mechanism)[0] / math.sqrt(n)


def several(mechanism: Mechanism, n: float, windows: int, report_every: int = 1) -> float:
    """Half-width of the mean of some windows of n reports each, in the unit."""
    se, shared = _errors(mechanism)
    turns = [len(range(turn, windows, report_every)) for turn in range(min(windows, report_every))]
    total = sum(d * (se**2 - shared**2) + (d * shared) ** 2 for d in turns)
    return Z * math.sqrt(total / n) / windows


def _errors(mechanism: Mechanism) -> tuple[float, float]:
    """(se, se_shared) of one report in the middle of the range, or of a rare category where there are several."""
    if isinstance(mechanism, Words):
        return mechanism.null_se(1), 0.0
    crowd = any_estimate(mechanism).crowd
    if mechanism.truth(0).ndim and "vector" not in mechanism.kinds:
        kept = np.clip(-crowd.zero / crowd.scale, 0, 1)  # share of the permanent answers that a rare one has
        shared = crowd.scale * np.sqrt(kept * (1 - kept))
        return float(np.sqrt(mechanism.variance(np.zeros_like(mechanism.truth(0)), 1)).max()), float(np.max(shared))
    truths = (*mechanism.bounds, crowd.zero + crowd.scale / 2)
    worst = max(truths, key=lambda truth: float(mechanism.variance(truth, 1)))
    kept = (worst - crowd.zero) / crowd.scale
    return float(mechanism.variance(worst, 1)) ** 0.5, crowd.scale * math.sqrt(max(0.0, kept * (1 - kept)))


def worth(metric: Metric, devices: int) -> Worth:
    """What a metric gives with so many devices in a window."""
    mechanism = of_metric(metric)
    low, high = mechanism.bounds
    n = devices / metric.report_every
    one, windows = margin(mechanism, n), SEVERAL[metric.window][0]
    return Worth(
        devices,
        one,
        one / (high - low),
        one * math.sqrt(len(metric.segments)),
        several(mechanism, n, windows, metric.report_every),
        windows,
    )


def cures(definition: Definition) -> list[Cure]:
    """Changes that, each alone, meet the target, or come nearest; none if it is met or not stated.

    The largest `upper` or `norm`, the smallest `epsilon`, a `report_every` of 1 or no `rotation`, the number of
    devices.
    """
    if definition.target_margin is None or definition.expected_devices is None:
        return []
    devices, target = definition.expected_devices, definition.target_margin
    now = _margin(definition, devices)
    if now <= target:
        return []
    found = [*_upper(definition, now), *_norm(definition, now), *_epsilon(definition)]
    if definition.report_every > 1:
        key = "rotation" if definition.rotation else "report_every"
        found.append((key, 1.0, msgspec.structs.replace(definition, report_every=1, rotation="")))
    made = [Cure(key, value, m := _margin(changed, devices), m <= target) for key, value, changed in found]
    needed = math.ceil(_digits(devices * (now / target) ** 2, up=True))
    return [*made, Cure("expected_devices", needed, now * math.sqrt(devices / needed), True)]


def _margin(definition: Definition, devices: int) -> float:
    return margin(of_metric(locked("any", definition)), devices / definition.report_every)


def _upper(definition: Definition, now: float) -> Iterator[tuple[str, float, Definition]]:
    if definition.kind != "mean":
        return
    lower, step = millionths(definition.lower or 0), millionths(definition.step)
    span = millionths(definition.upper or 0) - lower
    wanted = max(span * (definition.target_margin or 0) / now, span / _NARROWEST)
    ticks = int(_digits(wanted, up=False)) // step
    if ticks:
        upper = (lower + ticks * step) / MILLION
        yield "upper", upper, msgspec.structs.replace(definition, upper=upper, bucket=None)


def _norm(definition: Definition, now: float) -> Iterator[tuple[str, float, Definition]]:
    if definition.kind != "vector":
        return
    norm = millionths(definition.norm or 0)
    wanted = max(norm * (definition.target_margin or 0) / now, norm / _NARROWEST)
    smaller = int(_digits(wanted, up=False)) / MILLION  # of two digits: it can be cut into steps
    if smaller:
        yield "norm", smaller, msgspec.structs.replace(definition, norm=smaller)


def _epsilon(definition: Definition) -> Iterator[tuple[str, float, Definition]]:
    """The smallest that meets the target; otherwise the largest that is still advised."""
    higher = [epsilon for epsilon in _EPSILONS if epsilon > definition.epsilon]
    changed = [msgspec.structs.replace(definition, epsilon=epsilon, permanent_epsilon=None) for epsilon in higher]
    for epsilon, change in zip(higher, changed, strict=True):
        if _margin(change, definition.expected_devices or 1) <= (definition.target_margin or 0):
            yield "epsilon", epsilon, change
            return
    advised = [pair for pair in zip(higher, changed, strict=True) if pair[0] <= max(_ENOUGH, definition.epsilon)]
    for epsilon, change in advised[-1:]:
        yield "epsilon", epsilon, change


def _digits(number: float, *, up: bool) -> float:
    """A positive number with two significant digits, rounded up or down."""
    unit = 10.0 ** (math.floor(math.log10(number)) - 1)
    return (math.ceil(number / unit - 1e-9) if up else math.floor(number / unit + 1e-9)) * unit
