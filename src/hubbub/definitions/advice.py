"""What lint says of a registry that is accepted: what each metric will be worth, and the few things to think over."""

import datetime
import math
from collections.abc import Iterator
from dataclasses import dataclass

import msgspec

from hubbub.definitions.building import build, locked
from hubbub.definitions.models import Definition, Registry, duration
from hubbub.definitions.selecting import select
from hubbub.definitions.worth import EXAMPLES, Cure, Worth, cures, worth
from hubbub.encoders.rappor import Rappor
from hubbub.lock import Metric
from hubbub.mechanisms.base import default_permanent
from hubbub.mechanisms.choosing import Considered
from hubbub.privacy import nats
from hubbub.privacy.prices import plural

ALIKE = 1 + 1e-6  # mechanisms miss the epsilon that they are asked for by less
_PER_BIT = 1.2  # permanent loss of a bit from which on hiding its changes costs no more than their own loss
_CYCLES = {"hour": (168, "hours of the week"), "day": (7, "days of the week")}


@dataclass(frozen=True)
class Review:
    """What lint says of one metric.

    Attributes:
        name: The metric.
        worth: For `expected_devices`, or for three examples where it is missing.
        target: Half-width that is wanted, in the unit; None if not stated.
        cures: What would meet the target, if it is missed.
        warnings: Things to think over, most metrics have none.
        considered: Mechanisms that were looked at, the chosen one first.
    """

    name: str
    worth: tuple[Worth, ...]
    target: float | None
    cures: tuple[Cure, ...]
    warnings: tuple[str, ...]
    considered: tuple[Considered, ...]


def review(registry: Registry, today: datetime.date) -> list[Review]:
    """What lint says of each metric; `today` in UTC, for those that have ended.

    Raises:
        DefinitionErrors: A mechanism refuses a definition.
    """
    lock = build(registry)
    return [_review(lock.metrics[name], definition, today) for name, definition in registry.metrics.items()]


def _review(metric: Metric, definition: Definition, today: datetime.date) -> Review:
    crowds = EXAMPLES if definition.expected_devices is None else (definition.expected_devices,)
    return Review(
        metric.name,
        tuple(worth(metric, devices) for devices in crowds),
        definition.target_margin,
        tuple(cures(definition)),
        tuple(warnings(metric, definition, today)),
        select(definition).considered,
    )


def warnings(metric: Metric, definition: Definition, today: datetime.date) -> Iterator[str]:
    """What is allowed and seldom meant."""
    if definition.expires <= today:
        yield f"has ended on {definition.expires} and measures nothing; renew it: hubbub registry renew"
    yield from _panels(definition)
    yield from _losses(metric, definition)
    ticks = metric.encoder.size - 1
    if definition.bucket and ticks % definition.bucket:
        reach = math.ceil(ticks / definition.bucket) * definition.bucket
        yield (
            f"bucket = {definition.bucket} does not divide the {ticks} steps of the range: intervals are those of "
            f"{reach} steps, {100 * (reach / ticks - 1):.2g} % wider than with a bucket that does"
        )
    if duration(definition.grace) < 3 * 86_400:
        yield f'grace = "{definition.grace}" leaves out devices that come back later: "14d" lets nearly all in'
    if definition.expected_devices is not None:
        reports = definition.expected_devices / metric.report_every / len(metric.segments)
        if reports < metric.min_reports:
            each = "each segment of a window" if len(metric.segments) > 1 else "a window"
            yield (
                f"nothing will be shown: {each} gets about {plural(round(reports), 'report')}, "
                f"fewer than min_reports = {metric.min_reports}"
            )


def _panels(definition: Definition) -> Iterator[str]:
    cycle, noun = _CYCLES.get(definition.window, (1, ""))
    if (common := math.gcd(definition.report_every, cycle)) > 1:
        yield (
            f"report_every = {definition.report_every} shares the factor {common} with the {cycle} {noun}: "
            f"the same devices would always answer for the same ones; write {_coprime(definition.report_every, cycle)}"
        )


def _coprime(number: int, cycle: int) -> int:
    return next(r for r in range(number, 0, -1) if math.gcd(r, cycle) == 1)


def _losses(metric: Metric, definition: Definition) -> Iterator[str]:
    if definition.strategy == "fresh":
        return
    memo = metric.prices
    plain = msgspec.structs.replace(
        definition, strategy="fresh", permanent_epsilon=None, bucket=None, changes_visible=False
    )
    fresh = locked(metric.name, plain).prices
    if all(cheap <= dear * ALIKE for cheap, dear in zip(fresh[1:], memo[1:], strict=True)):
        yield (
            'strategy = "fresh" would give away less: the device sends only '
            f"{plural(metric.reports, 'report')} in the metric's life"
        )
    elif definition.changes_visible:
        if metric.prices.life < math.inf:
            yield "changes_visible = true changes nothing: permanent_epsilon > epsilon, so changes are hidden"
    elif memo.change > 2.1 * definition.epsilon:
        usual = f"{default_permanent(definition.epsilon):g} or leave it out"
        if isinstance(metric.encoder, Rappor):  # twice as many bits as hashes differ, each with its part of the losses
            usual = f"{max(2 * definition.epsilon, _PER_BIT * 2 * metric.encoder.hashes):g}"
        yield (
            f"one changed window costs up to {nats(memo.change)}: permanent_epsilon = {definition.permanent:g} is too "
            f"close to epsilon = {definition.epsilon:g}; write {usual}"
        )
