"""What a metric will be worth: half-widths of its 95 % intervals for the worst crowd, and what would narrow them.

One window of n reports: margin = z se. Of all crowds with a mean, that with the share x at the upper end of the range
and all others at the lower one has the largest variance, since the mean square of a report is convex in the value. With
V(v) that of a report of v, and at the worst x,

    n se² = (1 - x) V(lower) + x V(upper) + x (1 - x) (upper - lower)².

Of a vector it is that of each coordinate; of categories that of a rare one, as most of them are, wherever the others
stand. Of few reports intervals are a little wider: of numbers by one per cent and a half at most from 4 000 on
(decision 0008); of a rare category, where a few devices decide, the more so the less noise there is: with 4 000 fresh
reports grr's are wider by 3 % at epsilon 4 and 30 % at 8.

The mean of D windows has the error that its interval is made of (estimates/combining.py): with d of them in each of the
report_every turns, whose devices are others, and k the share of the answers behind the reports,

    n se² = scale² ((noise + slope k) / D + k (1 - k) sum over turns of d² / D²),

again at the worst k. Of a rare category it is half the width of that interval itself, at an estimate of 0.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import msgspec
import numpy as np

from hubbub.definitions.building import locked
from hubbub.definitions.checks import millionths
from hubbub.definitions.models import Definition
from hubbub.errors import ParameterError
from hubbub.lock import MILLION, Metric
from hubbub.mechanisms import Mechanism, of_metric
from hubbub.mechanisms.base import any_estimate
from hubbub.mechanisms.intervals import score
from hubbub.mechanisms.words import Words

Z, LEVEL = 1.959963984540054, 0.95  # of a 95 % interval
EXAMPLES = (700, 4_000, 50_000)  # devices where expected_devices is missing
SEVERAL = {"hour": (24, "a day"), "day": (7, "a week"), "week": (4, "four weeks")}
EPSILONS = (0.1, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 4.0)  # that are advised
_ENOUGH = 2.0  # beyond it more epsilon buys little for one bit, and is not advised if the target is missed anyway
_NARROWEST = 3  # a range is not advised to shrink by more than this: too many values would be clipped


@dataclass(frozen=True)
class Worth:
    """Half-widths of 95 % intervals for the worst crowd, in the metric's unit.

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
    if _counted(mechanism):
        return Z * math.sqrt(_mean(mechanism, 1, 1) / n)
    low, high = mechanism.bounds
    lower, upper = (float(mechanism.variance(end, 1)) for end in (low, high))
    return Z * math.sqrt(_largest(lower, upper, (high - low) ** 2) / n)


def several(mechanism: Mechanism, n: float, windows: int, report_every: int = 1) -> float:
    """Half-width of the mean of some windows of n reports each, in the unit."""
    if windows == 1:
        return margin(mechanism, n)
    turns = [len(range(turn, windows, report_every)) for turn in range(min(windows, report_every))]
    fresh, shared = 1 / windows, sum(d * d for d in turns) / windows**2
    if not _counted(mechanism) or isinstance(mechanism, Words):
        return Z * math.sqrt(_mean(mechanism, fresh, shared) / n)
    crowd = any_estimate(mechanism).crowd
    noise, slope = fresh * crowd.noise / n, fresh * crowd.slope / n
    low, high, _ = score(np.asarray(-crowd.zero / crowd.scale), noise, slope, shared / n, LEVEL)
    return crowd.scale * float(high - low) / 2


def _counted(mechanism: Mechanism) -> bool:
    """Whether it estimates the shares of several categories, or words."""
    return mechanism.truth(0).ndim > 0 and "vector" not in mechanism.kinds


def _mean(mechanism: Mechanism, fresh: float, shared: float) -> float:
    """Largest variance of a mean over windows of one report each, with these parts of what they draw and share."""
    if isinstance(mechanism, Words):
        kept = mechanism.null_shared(1) ** 2
        return fresh * (mechanism.null_se(1) ** 2 - kept) + shared * kept
    crowd = any_estimate(mechanism).crowd

    def at(truth: float) -> float:
        k = (truth - crowd.zero) / crowd.scale
        return crowd.scale**2 * (fresh * (crowd.noise + crowd.slope * k) + shared * k * (1 - k))

    if _counted(mechanism):
        return at(0)
    low, high = mechanism.bounds
    return _largest(at(low), at(high), shared * (high - low) ** 2)


def _largest(lower: float, upper: float, spread: float) -> float:
    """The largest (1 - x) lower + x upper + x (1 - x) spread of all x in [0, 1]."""
    x = min(max((1 + (upper - lower) / spread) / 2, 0.0), 1.0)
    return (1 - x) * lower + x * upper + x * (1 - x) * spread


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
    """Changes within its limits that, each alone, meet the target, or come nearest; none if it is met or not stated.

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
    margins = [(key, value, _margin(changed, devices)) for key, value, changed in found]
    made = [Cure(key, value, gives, gives <= target) for key, value, gives in margins if gives < math.inf]
    needed = math.ceil(_digits(devices * (now / target) ** 2, up=True))
    return [*made, Cure("expected_devices", needed, now * math.sqrt(devices / needed), True)]


def _margin(definition: Definition, devices: int) -> float:
    """Half-width of one window, in the unit; inf where no mechanism is within the limits of a changed definition."""
    try:
        metric = locked("any", definition)
    except ParameterError:
        return math.inf
    return margin(of_metric(metric), devices / definition.report_every)


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
    higher = [epsilon for epsilon in EPSILONS if epsilon > definition.epsilon]
    kept = definition.permanent_epsilon or 0
    changed = [
        msgspec.structs.replace(definition, epsilon=epsilon, permanent_epsilon=kept if kept > epsilon else None)
        for epsilon in higher
    ]
    for epsilon, change in zip(higher, changed, strict=True):
        if _margin(change, definition.expected_devices or 1) <= (definition.target_margin or 0):
            yield "epsilon", epsilon, change
            return
    for epsilon, change in reversed(list(zip(higher, changed, strict=True))):
        if epsilon <= _ENOUGH and _margin(change, definition.expected_devices or 1) < math.inf:
            yield "epsilon", epsilon, change
            return


def _digits(number: float, *, up: bool) -> float:
    """A positive number with two significant digits, rounded up or down."""
    unit = 10.0 ** (math.floor(math.log10(number)) - 1)
    return (math.ceil(number / unit - 1e-9) if up else math.floor(number / unit + 1e-9)) * unit
