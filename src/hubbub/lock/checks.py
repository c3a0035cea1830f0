"""Whether what a metrics.lock says fits together: kinds, labels, vectors, turns, feeding, hidden windows.

`hubbub.forms` checks each value by itself before. Standard library only.
"""

import math
from collections.abc import Iterator, Mapping

from hubbub.encoders.vector import Coordinates, of_vectors
from hubbub.errors import LockError
from hubbub.lock.metric import (
    ACTIVE,
    AGGREGATES,
    MAX_CELLS,
    MAX_FILLED,
    MAX_FILLED_BYTES,
    MAX_LIFE,
    MILLION,
    NONE,
    Metric,
)
from hubbub.windows import midnight

UNEDITED = "bring back the file that was built, from version control"
_ALIKE = ("version", "window", "starts", "expires", "report_every", "rotation", "presence", "seal", "dimensions")


def alone(where: str, metric: Metric) -> None:
    """Hold the parts of one metric against each other.

    Raises:
        LockError: They do not fit; it names the key under `where`.
    """
    life = midnight(metric.expires) - midnight(metric.starts)
    if not 0 < life <= MAX_LIFE:
        raise LockError(f"{where}.expires", f"{metric.expires} is not 1 to 400 days after starts = {metric.starts}")
    if not metric.life:
        raise LockError(
            f"{where}.expires", f"no whole {metric.window} lies between {metric.starts} and {metric.expires}"
        )
    vectors = isinstance(metric.encoder, Coordinates)
    if metric.kind not in metric.encoder.kinds or (metric.kind == "vector" and not vectors):
        raise LockError(f"{where}.encoder", f"{metric.encoder.name} does not encode the kind {metric.kind}")
    if metric.kind in ("boolean", "words") and (metric.lower, metric.step) != (0, MILLION):
        raise LockError(f"{where}.step", f"a metric of kind {metric.kind} has lower = 0 and step = 1000000")
    _labelled(where, metric)
    _aggregating(where, metric)
    if metric.shuffler and (metric.encoder.memo or metric.encoder.public_bits):
        problem = "cannot stand beside permanent answers: mixed or not, they come again and can be told by that"
        raise LockError(f"{where}.shuffler", problem, 'build it without shuffler, or with strategy = "fresh"')
    if metric.presence == "hidden" and metric.dimensions:
        problem = 'cannot stand beside presence = "hidden": windows filled in later would carry the values of that time'
        raise LockError(f"{where}.dimensions", problem, 'build it without dimensions, or with presence = "ran"')
    cells = math.prod(len(values) for _, values in metric.dimensions)
    if cells > MAX_CELLS:
        raise LockError(f"{where}.dimensions", f"{cells} cells are more than {MAX_CELLS}")


def together(metrics: Mapping[str, Metric]) -> None:
    """Hold the metrics of one lock, each of which fits by itself, against each other.

    Raises:
        LockError: Two do not fit, or what is filled in after an absence is too much for a device's outbox.
    """
    _rotating(metrics)
    _fed(metrics)
    for name, problem, remedy in overfull(metrics):
        raise LockError(f'metrics."{name}".presence', problem, remedy)


def overfull(metrics: Mapping[str, Metric]) -> Iterator[tuple[str, str, str]]:
    """Why windows in which the program did not run cannot all be filled in at one time, so that an absence would show.

    Yields:
        The metric that fills in the most, what is too much for a device's outbox, and what to change.
    """
    hidden = {name: metric for name, metric in metrics.items() if metric.presence == "hidden"}
    for noun, most, filled in (
        ("windows", MAX_FILLED, {name: metric.filled for name, metric in hidden.items()}),
        ("bytes", MAX_FILLED_BYTES, {name: metric.filled * metric.body for name, metric in hidden.items()}),
    ):
        if (total := sum(filled.values())) > most:
            first, *others = sorted(filled, key=lambda name: (-filled[name], name))
            named = ", ".join(f"{name} {filled[name]}" for name in (first, *others[:2]))
            more = f" and {len(others) - 2} more" if len(others) > 2 else ""
            problem = f"after an absence devices would fill in {total} {noun} at one time, more than {most}"
            remedy = 'write a shorter grace, a longer window, a higher report_every, or presence = "ran"'
            yield first, f"{problem} ({named}{more}): it would show", remedy
            return


def _labelled(where: str, metric: Metric) -> None:
    """Hold the labels against the encoder: a choice has one fewer than values, the first of which is `none`."""
    if metric.kind == "vector":
        _named(where, metric, of_vectors(metric.encoder))
        return
    if metric.kind != "choice":
        if metric.labels:
            raise LockError(f"{where}.labels", f"a {metric.kind} has none")
        return
    if (metric.lower, metric.step) != (0, MILLION):
        raise LockError(f"{where}.step", "a choice has lower = 0 and step = 1000000")
    if len(set(metric.labels)) != len(metric.labels) or NONE in metric.labels:
        raise LockError(f"{where}.labels", f"must be different from each other and from {NONE!r}")
    if len(metric.labels) != metric.encoder.size - 1:
        raise LockError(f"{where}.labels", f"must be {metric.encoder.size - 1}, one fewer than the encoder's values")


def _named(where: str, metric: Metric, encoder: Coordinates) -> None:
    """Hold a vector's range and its names, which it need not have, against the encoder."""
    if -2 * metric.lower != encoder.ticks * metric.step:
        raise LockError(f"{where}.step", f"{encoder.ticks} steps do not lead from lower to -lower")
    if metric.labels and not len(set(metric.labels)) == len(metric.labels) == encoder.dimension:
        raise LockError(f"{where}.labels", f"must be {encoder.dimension} that differ, or none")


def _aggregating(where: str, metric: Metric) -> None:
    """Hold what a window's values come to against the kind and the range."""
    first, *others = AGGREGATES[metric.kind]
    if metric.aggregate and metric.aggregate not in others:
        known = ", ".join(map(repr, others)) or "none"
        raise LockError(
            f"{where}.aggregate", f"{metric.aggregate!r} is not one of {known}", f"leave it out for {first!r}"
        )
    if metric.aggregate == "share":
        parts = metric.encoder.size - (metric.kind == "mean")
        if (metric.lower, parts * metric.step) != (0, MILLION):
            raise LockError(f"{where}.aggregate", "a share lies between lower = 0 and upper = 1")
    if metric.source and (metric.kind != "boolean" or metric.aggregate or not metric.name.endswith(ACTIVE)):
        raise LockError(f"{where}.source", f"feeds yes or no under a name that ends with {ACTIVE!r}, and nothing else")


def _rotating(metrics: Mapping[str, Metric]) -> None:
    """Hold metrics that take turns against each other: no window may be the turn of two of a group.

    Members may be missing, as where a collector keeps each metric for itself.
    """
    first: dict[str, Metric] = {}
    taken: dict[tuple[str, int], str] = {}
    for name, metric in metrics.items():
        if not metric.group:
            continue
        where = f'metrics."{name}".rotation'
        if metric.rank >= metric.report_every:
            raise LockError(where, f"rank {metric.rank} is not below report_every = {metric.report_every}", UNEDITED)
        other = first.setdefault(metric.group, metric)
        if (metric.window, metric.report_every) != (other.window, other.report_every):
            raise LockError(where, f"window and report_every are not those of {other.name} in its group", UNEDITED)
        if (twin := taken.setdefault((metric.group, metric.rank), name)) != name:
            raise LockError(where, f"{metric.rotation!r} is that of {twin} too", UNEDITED)


def _fed(metrics: Mapping[str, Metric]) -> None:
    """Hold each metric that another one feeds against it, where both are there."""
    for name, metric in metrics.items():
        source = metrics.get(name.removesuffix(ACTIVE))
        if not metric.source or source is None:
            continue
        where = f'metrics."{name}"'
        if metric.source != source.hash or source.kind != "mean":
            raise LockError(f"{where}.source", f"is not the hash of {source.name}, a mean", UNEDITED)
        for key in _ALIKE:
            if getattr(metric, key) != getattr(source, key):
                raise LockError(f"{where}.{key}", f"is not that of {source.name}, which feeds it", UNEDITED)
