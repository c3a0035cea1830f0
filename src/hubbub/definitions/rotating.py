"""Metrics that take turns: what a group must have in common, and each member as the panel that it is for a device.

The members of a group of m follow one another in order of their names. A member is then a panel of length m whose turn
comes as many windows after the device's as there are members before it: `report_every` = m, and its rank beside the
group's name in `rotation`. Specification: spec/windows.md, "Turns".
"""

from collections.abc import Iterator, Mapping

import msgspec

from hubbub.definitions.activity import paired
from hubbub.definitions.models import Definition
from hubbub.definitions.problems import Problem, toml
from hubbub.lock import MAX_EVERY


def groups(metrics: Mapping[str, Definition]) -> Mapping[str, list[str]]:
    """The members of each group, in the order of their turns."""
    found: dict[str, list[str]] = {}
    for name in sorted(metrics):
        if group := metrics[name].rotation:
            found.setdefault(group, []).append(name)
    return found


def problems(metrics: Mapping[str, Definition]) -> Iterator[Problem]:
    """What keeps metrics from taking turns."""
    for group, names in groups(metrics).items():
        first = metrics[names[0]]
        if len(names) == 1:
            near = f"metrics.{toml(names[0])}.rotation"
            remedy = "give another metric the same rotation, or remove it"
            yield Problem(near, toml(group), "is a group of one: it has nothing to take turns with", remedy)
        elif len(names) > MAX_EVERY:
            problem = f"is a group of {len(names)} metrics, more than {MAX_EVERY}"
            yield Problem(f"metrics.{toml(names[0])}.rotation", toml(group), problem, "make two groups of it")
        for name in names:
            metric, where = metrics[name], f"metrics.{toml(name)}"
            if metric.window != first.window:
                problem = f"is not the {toml(first.window)} of {names[0]}, with which it takes turns"
                yield Problem(f"{where}.window", toml(metric.window), problem, "give all of a group the same window")
            if metric.report_every != 1:
                problem = f"has no meaning beside rotation = {toml(group)}: its turn comes once in {len(names)} windows"
                yield Problem(f"{where}.report_every", toml(metric.report_every), problem, "remove one of the two")


def placed(metrics: Mapping[str, Definition]) -> dict[str, Definition]:
    """The definitions as devices go by them: each report with its own, and in `rotation` the rank in the group."""
    found = paired(metrics)
    for group, names in groups(metrics).items():
        for rank, name in enumerate(names):
            turns = {"report_every": len(names), "rotation": f"{group}:{rank}"}
            found[name] = msgspec.structs.replace(metrics[name], **turns)
    return found
