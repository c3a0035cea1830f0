"""The lines in which lint says what a metric will be worth."""

import math
from collections.abc import Sequence

from hubbub.definitions.advice import Review
from hubbub.definitions.worth import SEVERAL, Cure, Worth
from hubbub.lock import Metric

_EVERY = {"hour": "an hour", "day": "a day", "week": "a week"}


def worth_lines(metric: Metric, found: Review) -> list[str]:
    """What the metric is worth, and its target with what would meet it."""
    lines = [_crowds(metric, found.worth)] + ([] if found.target is None else [_target(metric, found, found.target)])
    lines += [line for line in (found.halves, found.turns) if line]
    return lines + ([_mechanism(found)] if len(found.considered) > 1 else [])


def _mechanism(found: Review) -> str:
    """Which mechanism was chosen, and why each other one was not."""
    chosen, *others = found.considered
    return f"mechanism {chosen.name}; not " + "; ".join(f"{other.name}: {other.rejected}" for other in others)


def _crowds(metric: Metric, crowds: Sequence[Worth]) -> str:
    every = _EVERY[metric.window]
    first, *more = crowds
    text = f"with {_devices(first.devices)} {every} ± {amount(metric, first.margin)}"
    worst = "for a rare one of them" if metric.encoder.size > 2 and metric.shares else "at worst"
    worst = f"for each coordinate {worst}" if metric.kind == "vector" else worst
    if more:
        text += "".join(f", with {spaced(w.devices)} ± {amount(metric, w.margin)}" for w in more)
        return f"{text} {worst}; write expected_devices for yours"
    if not metric.shares:
        text += f"{_unit(metric)} ({_rounded(100 * first.share)} % of the range)"
    text += f" {worst}; {SEVERAL[metric.window][1]} ± {amount(metric, first.several)}"
    if len(metric.segments) > 1:
        text += f"; in each of {len(metric.segments)} segments ± {amount(metric, first.segment)}"
    return text


def _target(metric: Metric, found: Review, target: float) -> str:
    goal = f"target ± {amount(metric, target)}"
    if len(found.worth) > 1:
        enough = [w.devices for w in found.worth if w.margin <= target]
        return f"{goal} met with {_devices(enough[0])}" if enough else f"{goal} missed by all of them"
    if found.worth[0].margin <= target:
        return f"{goal} met"
    several = f", but met by the mean of {SEVERAL[metric.window][1]}" if found.worth[0].several <= target else ""
    return f"{goal} missed{several}; cheapest cures: " + ", ".join(_cure(metric, cure) for cure in found.cures)


def _cure(metric: Metric, cure: Cure) -> str:
    words = {"expected_devices": _devices(int(cure.value)), "rotation": "no rotation"}
    change = words.get(cure.key, f"{cure.key} {cure.value:g}")
    return f"{change} → ± {amount(metric, cure.margin)}"


def _devices(count: int) -> str:
    return "1 device" if count == 1 else f"{spaced(count)} devices"


def _unit(metric: Metric) -> str:
    return f" {metric.unit}" if metric.unit else ""


def amount(metric: Metric, margin: float) -> str:
    """A half-width with two or three digits: in the unit, for shares in points."""
    if metric.shares:
        return f"{_rounded(100 * margin)} points"
    return _rounded(margin)


def _rounded(number: float) -> str:
    """Two significant digits, three from 100 on."""
    if number < 9.95:
        return f"{number:.2g}"
    return spaced(round(number, min(0, 2 - math.floor(math.log10(number)))))


def spaced(count: float) -> str:
    """A whole number in groups of three digits."""
    return f"{round(count):,}".replace(",", " ")
