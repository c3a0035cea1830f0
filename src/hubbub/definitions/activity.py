"""Means among those that have something to report: the yes/no that a device reports beside the number.

`active = true` makes two metrics of one: the mean over all devices, and under its name with `.active` whether anything
was recorded. What a mean gives away is shared evenly between the two, so that they cost no more together than it says.
"""

from collections.abc import Iterator, Mapping

import msgspec

from hubbub.definitions.forms import MAX_NAME
from hubbub.definitions.models import Definition
from hubbub.definitions.problems import Problem, toml
from hubbub.lock import ACTIVE


def problems(metrics: Mapping[str, Definition]) -> Iterator[Problem]:
    """What keeps metrics from having a second report."""
    for name, definition in metrics.items():
        if not definition.active:
            continue
        where = f"metrics.{toml(name)}"
        if name + ACTIVE in metrics:
            problem = f"is the name under which {name} reports whether anything was recorded"
            yield Problem(f"metrics.{toml(name + ACTIVE)}", "", problem, "give the metric another name")
        if len(name + ACTIVE) > MAX_NAME:
            problem = f"leaves no room for {ACTIVE} behind a name of {len(name)} characters"
            yield Problem(f"{where}.active", "true", problem, f"write a name of at most {MAX_NAME - len(ACTIVE)}")
        if definition.rotation:
            problem = f"cannot stand beside rotation = {toml(definition.rotation)}: a turn has room for one report"
            yield Problem(f"{where}.active", "true", problem, "write report_every in place of rotation")


def paired(metrics: Mapping[str, Definition]) -> dict[str, Definition]:
    """The definitions with one more behind each that has a second report."""
    found = {}
    for name, definition in metrics.items():
        found[name] = definition
        if definition.active:
            found[name + ACTIVE] = _second(name, definition)
    return found


def source(name: str, metrics: Mapping[str, Definition]) -> str:
    """The metric that feeds this one of `paired`; empty where the app does."""
    return "" if name in metrics else name.removesuffix(ACTIVE)


def _second(name: str, definition: Definition) -> Definition:
    domain: dict[str, object] = dict.fromkeys(("lower", "upper", "bucket", "mechanism", "aggregate", "target_margin"))
    return msgspec.structs.replace(
        definition,
        **domain,
        kind="boolean",
        unit="",
        step=1.0,
        description=f"Whether anything was recorded for {name}",
    )
