"""What lint says of a registry that is accepted: what each metric will be worth, and the few things to think over."""

import contextlib
import datetime
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from hubbub.definitions.building import build, locked
from hubbub.definitions.document import Registry
from hubbub.definitions.forms import duration
from hubbub.definitions.models import Definition
from hubbub.definitions.rotating import groups, placed
from hubbub.definitions.selecting import select
from hubbub.definitions.worth import EPSILONS, EXAMPLES, Cure, Worth, cures, worth
from hubbub.errors import ParameterError
from hubbub.lock import ACTIVE, Lock, Metric
from hubbub.mechanisms.base import MAX_EPSILON, default_permanent
from hubbub.mechanisms.choosing import Considered
from hubbub.privacy import nats, null
from hubbub.privacy.words import bits, in_bits, plural

ALIKE = 1 + 1e-6  # mechanisms miss the epsilon that they are asked for by less
_DEAR = 2.1  # times epsilon: from here on a changed window is dear; the default of one bit stays below
_ONE_OF = 10  # bits that must be missing to single a device out, so that it is one of a thousand: a choice, no theorem
_MANY = 1_000_000  # devices, where their number is not told
_NO_LIMITS: dict[str, Any] = {"max_bits": None, "max_change": None, "max_life": None}  # where only prices are compared
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
        turns: What its group of metrics that take turns costs and gains; empty where it has none.
        halves: How `active = true` divides what is allowed between two reports; empty without it.
    """

    name: str
    worth: tuple[Worth, ...]
    target: float | None
    cures: tuple[Cure, ...]
    warnings: tuple[str, ...]
    considered: tuple[Considered, ...]
    turns: str = ""
    halves: str = ""


def review(registry: Registry, today: datetime.date) -> list[Review]:
    """What lint says of each metric; `today` in UTC, for those that have ended.

    Raises:
        DefinitionErrors: A mechanism refuses a definition.
    """
    lock, found = build(registry), placed(registry.metrics)
    members = groups(registry.metrics)
    turns = {group: _turns(group, {name: found[name] for name in names}, lock) for group, names in members.items()}
    return [
        _review(lock.metrics[name], definition, today, turns.get(definition.rotation.partition(":")[0], ""), lock)
        for name, definition in found.items()
    ]


def _review(metric: Metric, definition: Definition, today: datetime.date, turns: str, lock: Lock) -> Review:
    crowds = EXAMPLES if definition.expected_devices is None else (definition.expected_devices,)
    return Review(
        metric.name,
        tuple(worth(metric, devices) for devices in crowds),
        definition.target_margin,
        tuple(cures(definition)),
        # They are those of what feeds it.
        () if metric.source else (*warnings(metric, definition, today), *_shown(metric, lock)),
        select(definition).considered,
        turns,
        _halves(metric, definition) if definition.active and not metric.source else "",
    )


def _halves(metric: Metric, definition: Definition) -> str:
    """What each of two reports has of the epsilon that is written once."""
    kept = "" if definition.permanent is None else f" and of permanent_epsilon = {definition.permanent:g}"
    return (
        f"active = true: two reports for each {metric.window}, this one and that of {metric.name}{ACTIVE}, each with "
        f"half of epsilon = {definition.epsilon:g}{kept}"
    )


def _turns(group: str, members: Mapping[str, Definition], lock: Lock) -> str:
    """What it is worth that metrics take turns, beside the same metrics with a report each in every window."""
    alone = [
        locked(name, msgspec.structs.replace(definition, report_every=1, rotation="", **_NO_LIMITS)).prices
        for name, definition in members.items()
    ]
    together = [lock.metrics[name].prices for name in members]
    window = lock.metrics[next(iter(members))].window
    change = f"{nats(max(one.change for one in together))} instead of {nats(math.fsum(one.change for one in alone))}"
    life = f"{nats(math.fsum(one.life for one in together))} instead of {nats(math.fsum(one.life for one in alone))}"
    return (
        f"takes turns in {group} ({', '.join(members)}): one report for each {window} instead of {len(members)}, "
        f"intervals of one {window} {math.sqrt(len(members)):.2g} times as wide; for the group, one changed {window} "
        f"costs epsilon {change}, the whole life {life}"
    )


def warnings(metric: Metric, definition: Definition, today: datetime.date) -> Iterator[str]:
    """What is allowed and seldom meant."""
    if definition.expires <= today:
        yield f"has ended on {definition.expires} and measures nothing; renew it: hubbub registry renew"
    yield from _panels(definition)
    yield from _absent(metric, definition)
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
    yield from _recognised(metric, definition)
    if definition.expected_devices is not None:
        reports = definition.expected_devices / metric.report_every / len(metric.segments)
        if reports < metric.min_reports:
            each = "each segment of a window" if len(metric.segments) > 1 else "a window"
            yield (
                f"nothing will be shown: {each} gets about {plural(round(reports), 'report')}, "
                f"fewer than min_reports = {metric.min_reports}"
            )


def _recognised(metric: Metric, definition: Definition) -> Iterator[str]:
    """Where two reports of a steady device tell so much that it is not one of a thousand that could be meant.

    Its turn is among what they tell: only those with the same one report in a window (spec/prices.md, "Linkage"); and
    its segment, as if all were of one size.
    """
    devices = max(1, (definition.expected_devices or _MANY) // len(metric.segments))
    own, turn = _told(metric), math.log2(metric.report_every)
    if _hidden(own + turn, devices):
        return
    public = metric.encoder.public_bits + turn
    clear = f", {bits(public)} of them in the clear" if public else ""
    which = f" (its turn is one of {metric.report_every})" if turn else ""
    each = " of a segment" if len(metric.segments) > 1 else ""
    yield (
        f"a report of a steady device tells up to {in_bits(own + turn)} about its next{clear}{which}; among "
        f"{devices} devices{each} that leaves less than {2**_ONE_OF} that it could be: "
        f"{_crowd(metric, definition, devices)}"
    )


def _told(metric: Metric) -> float:
    """Bits that a report of a steady device tells about its next, besides its turn."""
    return metric.encoder.public_bits + metric.encoder.linkage_bits


def _hidden(told: float, devices: int) -> bool:
    """Whether so many bits leave a thousand devices of so many; or half of them, however few."""
    return told <= max(0.0, math.log2(devices) - _ONE_OF) or told < 1


def _crowd(metric: Metric, definition: Definition, devices: int) -> str:
    """What would leave more devices that could be meant."""
    if metric.report_every == 1:
        return _quieter(metric, definition, devices)
    own = _told(metric)
    turns = math.floor(devices / 2 ** (_ONE_OF + own))
    fewer = "make its group smaller" if metric.group else "write a lower report_every"
    if turns > 1:
        return f"{fewer}, at most {turns}"
    return fewer if _hidden(own, devices) else f"{fewer}, and {_quieter(metric, definition, devices)}"


def _quieter(metric: Metric, definition: Definition, devices: int) -> str:
    """The best other mechanism and the largest lower epsilon whose reports, in every window, leave enough devices."""
    free = msgspec.structs.replace(definition, mechanism=None)
    mechanisms = (msgspec.structs.replace(definition, mechanism=one.name) for one in select(free).considered)
    lower = (epsilon for epsilon in reversed(EPSILONS) if epsilon < definition.epsilon)
    epsilons = (msgspec.structs.replace(definition, epsilon=epsilon) for epsilon in lower)
    found = []
    if other := _first(metric.name, mechanisms, devices):
        found.append(f'take mechanism = "{other.mechanism}"')
    if other := _first(metric.name, epsilons, devices):
        found.append(f"write epsilon = {other.epsilon:g}")
    return (
        " or ".join(found) or f"ask for less: no other mechanism alone and no epsilon from {EPSILONS[0]:g} on is enough"
    )


def _first(name: str, changed: Iterator[Definition], devices: int) -> Definition | None:
    """The first of these definitions, within their limits, whose reports leave a thousand of so many devices."""
    for definition in changed:
        with contextlib.suppress(ParameterError):
            if _hidden(_told(locked(name, definition)), devices):
                return definition
    return None


def _absent(metric: Metric, definition: Definition) -> Iterator[str]:
    if metric.presence == "hidden":
        yield (
            f'presence = "hidden" counts each {metric.window} in which the program did not run as {null(metric)}; '
            f"devices that stay away for longer than grace = {definition.grace} still show, and are missing"
        )


def _shown(metric: Metric, lock: Lock) -> Iterator[str]:
    """Where other metrics tell what this one hides."""
    ran = [other for other in lock.metrics.values() if other.presence == "ran" and not other.source]
    if metric.presence == "ran" or not ran:
        return
    ran.sort(key=lambda other: not metric.group or other.group != metric.group)  # those of its own group first
    own = f" of its own group {metric.group}" if metric.group and ran[0].group == metric.group else ""
    others = f" (and {plural(len(ran) - 1, 'other metric')})" if len(ran) > 1 else ""
    yield (
        f'presence = "hidden" hides little here: reports of {ran[0].name}{own}{others} with presence = "ran" tell in '
        "which windows the program ran; write hidden there too"
    )


def _panels(definition: Definition) -> Iterator[str]:
    cycle, noun = _CYCLES.get(definition.window, (1, ""))
    every = definition.report_every
    if (common := math.gcd(every, cycle)) == 1:
        return
    shared, same = f"shares the factor {common} with the {cycle} {noun}", "the same devices would always answer for"
    if definition.rotation:
        less, more = _coprime(range(every, 0, -1), cycle), _coprime(range(every, every + cycle), cycle)
        size = f"{less} or {more}" if less > 1 else f"{more}"
        yield f"its group of {every} metrics {shared}: {same} it at the same ones; make it a group of {size}"
    else:
        yield f"report_every = {every} {shared}: {same} the same ones; write {_coprime(range(every, 0, -1), cycle)}"


def _coprime(numbers: range, cycle: int) -> int:
    return next(number for number in numbers if math.gcd(number, cycle) == 1)


def _losses(metric: Metric, definition: Definition) -> Iterator[str]:
    if definition.strategy == "fresh":
        return
    memo = metric.prices
    plain = msgspec.structs.replace(
        definition, strategy="fresh", permanent_epsilon=None, bucket=None, changes_visible=False, **_NO_LIMITS
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
    elif memo.change > _DEAR * definition.epsilon / definition.reports:
        usual = " (the default)" if definition.permanent_epsilon is None else ""
        yield (
            f"one changed window costs up to {nats(memo.change)}: permanent_epsilon = {definition.permanent:g}{usual} "
            f"is too close to epsilon = {definition.epsilon:g}{_enough(metric, definition)}"
        )


def _enough(metric: Metric, definition: Definition) -> str:
    """The default, or a number of halves, at which this mechanism hides changes about as well as values."""
    usual = definition.reports * default_permanent(definition.epsilon / definition.reports)
    for permanent in (usual, *(half / 2 for half in range(math.floor(2 * usual) + 1, 2 * int(MAX_EPSILON) + 1))):
        changed = msgspec.structs.replace(
            definition, mechanism=metric.encoder.name, permanent_epsilon=permanent, **_NO_LIMITS
        )
        if locked(metric.name, changed).prices.change <= _DEAR * definition.epsilon / definition.reports:
            return f"; write {permanent:g}" + " or leave it out" * (permanent == usual)
    return ""
