"""What a new lock changes: whether it asks devices for more, draws permanent answers again, or breaks a series."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date

from hubbub.definitions.facts import facts, permanent
from hubbub.lock import Lock, Metric
from hubbub.privacy import nats

_TEXT = {"version", "description", "purpose", "owners", "unit", "shuffler"}
_PRICES = {
    "report": "one report",
    "steady": "a device that never changes",
    "change": "one changed window",
    "life": "the whole life",
}


@dataclass(frozen=True)
class Change:
    """What becomes of one metric.

    Attributes:
        name: The metric.
        status: `added`, `removed`, `changed`, `text only` (nothing that devices or the collector go by) or `unchanged`.
        versions: Old and new version; None where there is none.
        keys: What changed, each with its old and new value as text.
        more: In what respects it asks devices for more; empty if it does not.
        redraws: Whether permanent answers are drawn again, which is among `more` too.
        breaks: Whether a new series begins: old and new estimates are not of the same thing.
    """

    name: str
    status: str
    versions: tuple[int | None, int | None]
    keys: tuple[tuple[str, str, str], ...] = ()
    more: tuple[str, ...] = ()
    redraws: bool = False
    breaks: bool = False


def compare(old: Lock, new: Lock) -> list[Change]:
    """What becomes of each metric, by name; in another collection everything begins anew."""
    moved = old.collection != new.collection
    changes = []
    for name in sorted(old.metrics.keys() | new.metrics.keys()):
        before, after = old.metrics.get(name), new.metrics.get(name)
        if before and after:
            changes.append(_change(before, after, moved))
        elif after:
            asked = f"a new metric: epsilon {nats(after.prices.report)} for each report"
            changes.append(Change(name, "added", (None, after.version), more=(asked,)))
        elif before:
            changes.append(Change(name, "removed", (before.version, None)))
    return changes


def _change(old: Metric, new: Metric, moved: bool) -> Change:
    before, after = facts(old), facts(new)
    keys = tuple(
        (key, before.get(key, ""), after.get(key, ""))
        for key in before | after
        if before.get(key, "") != after.get(key, "")
    )
    breaks = old.hash != new.hash
    serious = moved or any(key not in _TEXT for key, _, _ in keys)
    redraws = permanent(old) and (breaks or moved)
    more = list(_more(old, new))
    if redraws:
        both = f"{nats(old.prices.steady)} + {nats(new.prices.steady)}"
        more.append(f"permanent answers are drawn again: epsilon {both} for a device that never changes")
    return Change(
        new.name,
        "changed" if serious else "text only" if keys else "unchanged",
        (old.version, new.version),
        keys,
        tuple(more),
        redraws,
        breaks,
    )


def _more(old: Metric, new: Metric) -> Iterator[str]:
    for name, label in _PRICES.items():
        before, after = getattr(old.prices, name), getattr(new.prices, name)
        if after > before * (1 + 1e-9):
            yield f"{label}: epsilon {nats(before)} -> {nats(after)}"
    if new.windows.length < old.windows.length:
        yield f"smaller windows: {old.window} -> {new.window}"
    if new.report_every < old.report_every:
        yield f"more turns: report_every {old.report_every} -> {new.report_every}"
    if new.presence != old.presence and new.presence == "hidden":
        yield f"reports for each {new.window} in which the program did not run, too: presence = hidden"
    before, after = _days(old), _days(new)
    if after > before:
        yield f"longer life: {before} -> {after} days"
    elif new.expires > old.expires:
        yield f"measured until {new.expires} instead of {old.expires}"
    known = dict(old.dimensions)
    for name, values in new.dimensions:
        if added := [value for value in values if value not in known.get(name, ())]:
            yield f"more in the clear: {name} = {', '.join(added)}"


def _days(metric: Metric) -> int:
    return (date.fromisoformat(metric.expires) - date.fromisoformat(metric.starts)).days
