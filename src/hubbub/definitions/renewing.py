"""Prolonging a metric: the next version with new dates, written into metrics.toml with its comments kept."""

import datetime
import difflib
from dataclasses import dataclass
from pathlib import Path

import tomlkit

from hubbub.definitions.building import locked, replace
from hubbub.definitions.document import Registry
from hubbub.definitions.facts import permanent
from hubbub.definitions.problems import DefinitionErrors, Problem, toml
from hubbub.definitions.reading import load, loads
from hubbub.definitions.rotating import placed
from hubbub.lock import Metric


@dataclass(frozen=True)
class Renewal:
    """One metric before and after; both have the same encoding hash."""

    old: Metric
    new: Metric

    @property
    def keeps_answers(self) -> bool:
        """Whether there are permanent answers, which stay as they are."""
        return permanent(self.old)


def renew(path: str | Path, name: str, expires: datetime.date, starts: datetime.date | None = None) -> Renewal:
    """Raise a metric's version and set its dates in the file; nothing else in it changes.

    Args:
        path: A metrics.toml.
        name: The metric.
        expires: The day on which measuring ends, later than before.
        starts: The first day; as it was if left out.

    Raises:
        DefinitionErrors: The file or the dates are wrong; nothing was written.
    """
    registry = load(path)
    if name not in registry.metrics:
        near = difflib.get_close_matches(name, registry.metrics, 1) or list(registry.metrics)
        remedy = f"name one of its metrics, such as {near[0]}"
        raise DefinitionErrors(registry.file, [Problem(f"metrics.{toml(name)}", "", "there is no such metric", remedy)])
    old = registry.metrics[name]
    if expires <= old.expires:
        problem = f"is not later than it was, {old.expires}"
        remedy = "write a later date; to end a metric earlier, edit the file: its version may stay"
        raise _error(registry, name, "expires", expires, problem, remedy)
    starts = starts or old.starts
    earliest = expires - datetime.timedelta(days=400)
    if starts < earliest:
        problem = f"is more than 400 days after starts = {starts}"
        raise _error(registry, name, "expires", expires, problem, f"give --starts {earliest} or later")
    document = tomlkit.parse(Path(path).read_bytes().decode("utf-8-sig"))
    table = document["metrics"][name]
    for key, value in (("version", old.version + 1), ("starts", starts), ("expires", expires)):
        if table[key] != value:
            table[key] = value
    text = tomlkit.dumps(document).encode()
    before, after = placed(registry.metrics), placed(loads(text, registry.file).metrics)
    renewed = Renewal(locked(name, before[name]), locked(name, after[name]))
    assert renewed.old.hash == renewed.new.hash
    replace(path, text)
    return renewed


def _error(registry: Registry, name: str, key: str, value: object, problem: str, remedy: str) -> DefinitionErrors:
    return DefinitionErrors(registry.file, [Problem(f"metrics.{toml(name)}.{key}", toml(value), problem, remedy)])
