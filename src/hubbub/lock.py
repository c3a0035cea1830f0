"""metrics.lock: what a device and a collector know of a collection's metrics. Standard library only.

`hubbub registry build` writes the file; everything else only reads it. Reading is strict: an unknown key, a value out
of range, a hash or a price that does not follow from the integers refuses the whole lock, since a definition that is
not understood completely must not be answered. Specification: spec/registry.md.
"""

import json
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any

from hubbub import forms
from hubbub.encoders import registry
from hubbub.encoders.base import Encoder, Prices
from hubbub.encoders.vector import Coordinates, of_vectors
from hubbub.errors import LockError, ParameterError
from hubbub.prf import encoding_hash
from hubbub.windows import NAMES, Windows, midnight, windows

SCHEMA = "hubbub.lock/1"
KINDS = ("boolean", "mean", "choice", "histogram", "words", "vector")
SHARES = ("boolean", "choice", "histogram", "words")  # kinds whose numbers are shares of devices
COLLECTION = re.compile(r"[a-z][a-z0-9_-]{0,63}")
NAME = re.compile(r"(?=.{1,64}\Z)[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)*")
DIMENSION = re.compile(r"[a-z][a-z0-9_]{0,31}")
ROTATION = re.compile(r"([a-z][a-z0-9_]{0,31}:(0|[1-9][0-9]{0,2}))?")
LABEL = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,63}")
AGGREGATES: Mapping[str, tuple[str, ...]] = {  # what several values in one window come to; the first unless stated
    "boolean": ("any", "all", "last"),
    "mean": ("sum", "count", "max", "last", "share"),
    "choice": ("last", "first", "most"),
    "histogram": ("sum", "count", "max", "last", "share"),
    "words": ("last",),
    "vector": ("sum", "last"),
}
ACTIVE = ".active"  # ends the name of a yes/no that tells whether anything was recorded for the metric before it
PRESENCES = ("ran", "hidden")  # windows in which the program never ran: left out, or filled in with the null
NONE = "none"  # value 0 of every choice: nothing to report, or nothing that has a label
MILLION = 1_000_000  # lower and step are kept in millionths of the unit
MAX_LIFE = 400 * 86_400  # seconds between starts and expires
MAX_CELLS = 64  # segments of one metric
MIN_GRACE, MAX_GRACE = 3600, 90 * 86_400  # seconds
MAX_EVERY = 400
MAX_FILLED, MAX_FILLED_BYTES = 500, 1 << 19  # windows filled in at one time and their bodies: half of an outbox
MAX_INTEGER = 2**53 - 1
_UNEDITED = "bring back the file that was built, from version control"
MAX_TEXT = 1000  # characters of a description or purpose


@dataclass(frozen=True)
class Metric:
    """One metric as devices encode it; `lower` and `step` in millionths of the unit, `grace` in seconds."""

    name: str
    version: int
    kind: str
    encoder: Encoder
    lower: int
    step: int
    unit: str
    labels: tuple[str, ...]
    window: str
    starts: str
    expires: str
    grace: int
    report_every: int
    rotation: str
    presence: str
    seal: str
    dimensions: tuple[tuple[str, tuple[str, ...]], ...]
    min_reports: int
    description: str
    purpose: str
    owners: tuple[str, ...]
    aggregate: str = ""  # empty: the first of its kind
    source: str = ""  # encoding hash of the metric that feeds it, whose name is this one's without `ACTIVE`

    @cached_property
    def hash(self) -> str:
        """Encoding hash, 64 hex digits: all that shapes a report's law or its meaning, and nothing else."""
        return encoding_hash(
            ":".join(filter(None, (self.kind, self.aggregate, self.source))),  # as it was before there were others
            self.encoder.name,
            *self.encoder.canonical(),
            self.lower,
            self.step,
            *self.labels,
            self.window,
            self.report_every,
            self.rotation,
            self.presence,
            self.seal,
        )

    @property
    def aggregated(self) -> str:
        """What several values in one window come to."""
        return self.aggregate or AGGREGATES[self.kind][0]

    @property
    def shares(self) -> bool:
        """Whether its numbers are shares of devices, and no amounts in a unit."""
        return self.kind in SHARES

    @property
    def windows(self) -> Windows:
        """How time is cut for this metric."""
        return windows(self.window)

    @property
    def life(self) -> range:
        """Windows that may be reported: those wholly inside [starts, expires)."""
        return self.windows.inside(midnight(self.starts), midnight(self.expires))

    @property
    def reports(self) -> int:
        """Most reports that one device sends in the metric's life."""
        return -(-len(self.life) // self.report_every)

    @property
    def filled(self) -> int:
        """Most windows that a device fills in at one time: those that it missed and can still report."""
        seconds = self.windows.length * self.report_every
        return -(-self.grace // seconds) if self.presence == "hidden" else 0

    @property
    def body(self) -> int:
        """Most bytes in which one report without a segment travels."""
        return 180 + len(self.name) + -(-sum((radix - 1).bit_length() for radix in self.encoder.radices) // 8) * 2

    @property
    def group(self) -> str:
        """The group of metrics that it takes turns with; empty where it takes none."""
        return self.rotation.partition(":")[0]

    @property
    def rank(self) -> int:
        """By how many windows its turn comes after that of the first in its group; 0 where it has none."""
        return int(self.rotation.partition(":")[2] or 0)

    @property
    def prices(self) -> Prices:
        """What one installation gives away, in nats, recomputed from the integers."""
        return self.encoder.prices(self.reports)

    @property
    def segments(self) -> tuple[str, ...]:
        """Every segment, values joined by `/` in the order of the dimensions; one empty segment without dimensions."""
        return tuple("/".join(cell) for cell in product(*(values for _, values in self.dimensions)))


@dataclass(frozen=True)
class Lock:
    """The metrics of one collection, by name."""

    collection: str
    metrics: Mapping[str, Metric]


def parse(text: str | bytes) -> Lock:
    """Read a metrics.lock.

    Raises:
        LockError: Malformed, another schema, an unknown key, or something that does not follow from the integers.
    """
    try:
        tree = json.loads(text, object_pairs_hook=forms.once, parse_constant=forms.constant)
    except (ValueError, RecursionError) as error:
        if isinstance(error, LockError):
            raise
        raise LockError("metrics.lock", f"not JSON ({error})") from None
    top = forms.table("metrics.lock", tree, {"schema", "collection", "metrics"})
    if top["schema"] != SCHEMA:
        raise LockError("schema", f"{top['schema']!r} is not {SCHEMA!r}", "build it with a release that fits this one")
    forms.matches("collection", top["collection"], COLLECTION)
    if not isinstance(top["metrics"], dict):
        raise LockError("metrics", "must be a table of metrics")
    metrics = {name: _metric(name, entry) for name, entry in top["metrics"].items()}
    _rotating(metrics)
    _fed(metrics)
    for name, problem, remedy in overfull(metrics):
        raise LockError(f'metrics."{name}".presence', problem, remedy)
    return Lock(top["collection"], metrics)


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


def dump(lock: Lock) -> str:
    """The text of a metrics.lock: JSON, sorted keys, one final newline; `parse` reads it back to an equal lock."""
    metrics = {name: _entry(metric) for name, metric in lock.metrics.items()}
    tree = {"schema": SCHEMA, "collection": lock.collection, "metrics": metrics}
    return json.dumps(tree, indent=2, sort_keys=True, ensure_ascii=False) + "\n"


def shown(price: float) -> float | None:
    """A price as locks and tables show it: rounded up to six decimals, None where there is no bound."""
    return None if math.isinf(price) else math.ceil(price * MILLION) / MILLION


def _entry(metric: Metric) -> dict[str, object]:
    plain = {key: getattr(metric, key) for key in _CHECKS if hasattr(metric, key)}
    stated = {key: getattr(metric, key) for key in _OPTIONAL if getattr(metric, key)}
    return (
        plain
        | stated
        | {
            "encoder": metric.encoder.name,
            "integers": list(metric.encoder.canonical()),
            "prices": {key: shown(price) for key, price in metric.prices._asdict().items()},
        }
    )


def _metric(name: str, entry: object) -> Metric:
    forms.matches("metrics", name, NAME)
    where = f'metrics."{name}"'
    table = forms.table(where, entry, _CHECKS.keys(), _OPTIONAL.keys())
    for key, check in {**_CHECKS, **_OPTIONAL}.items():
        if key in table:
            check(f"{where}.{key}", table[key])
    try:
        encoder = registry[table["encoder"]](*table["integers"])
    except (ParameterError, TypeError) as error:
        raise LockError(f"{where}.integers", f"no {table['encoder']} has them ({error})") from None
    derived = {"hash", "encoder", "integers", "prices"}
    metric = Metric(name=name, encoder=encoder, **{k: _frozen(v) for k, v in table.items() if k not in derived})
    _consistent(where, metric)
    if metric.hash != table["hash"]:
        raise LockError(f"{where}.hash", "does not fit the definition, which was edited after it was built", _UNEDITED)
    for key, price in metric.prices._asdict().items():
        if not _same(stated := table["prices"][key], shown(price)):
            raise LockError(f"{where}.prices.{key}", f"{stated} is not the {shown(price)} of the integers", _UNEDITED)
    return metric


def _consistent(where: str, metric: Metric) -> None:
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
    if metric.presence == "hidden" and metric.dimensions:
        problem = 'cannot stand beside presence = "hidden": windows filled in later would carry the values of that time'
        raise LockError(f"{where}.dimensions", problem, 'build it without dimensions, or with presence = "ran"')
    cells = math.prod(len(values) for _, values in metric.dimensions)
    if cells > MAX_CELLS:
        raise LockError(f"{where}.dimensions", f"{cells} cells are more than {MAX_CELLS}")


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
            raise LockError(where, f"rank {metric.rank} is not below report_every = {metric.report_every}", _UNEDITED)
        other = first.setdefault(metric.group, metric)
        if (metric.window, metric.report_every) != (other.window, other.report_every):
            raise LockError(where, f"window and report_every are not those of {other.name} in its group", _UNEDITED)
        if (twin := taken.setdefault((metric.group, metric.rank), name)) != name:
            raise LockError(where, f"{metric.rotation!r} is that of {twin} too", _UNEDITED)


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


def _fed(metrics: Mapping[str, Metric]) -> None:
    """Hold each metric that another one feeds against it, where both are there."""
    for name, metric in metrics.items():
        source = metrics.get(name.removesuffix(ACTIVE))
        if not metric.source or source is None:
            continue
        where = f'metrics."{name}"'
        if metric.source != source.hash or source.kind != "mean":
            raise LockError(f"{where}.source", f"is not the hash of {source.name}, a mean", _UNEDITED)
        for key in _ALIKE:
            if getattr(metric, key) != getattr(source, key):
                raise LockError(f"{where}.{key}", f"is not that of {source.name}, which feeds it", _UNEDITED)


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


def _same(a: float | None, b: float | None) -> bool:
    return a is b if a is None or b is None else abs(a - b) <= 2e-6 + 1e-9 * b


def _frozen(value: Any) -> Any:
    return tuple(_frozen(item) for item in value) if isinstance(value, list) else value


def _encoder(where: str, value: object) -> None:
    if not isinstance(value, str) or value not in registry:
        raise LockError(where, f"{value!r} is not one of " + ", ".join(map(repr, registry)))


def _dimension(where: str, value: object) -> None:
    if not isinstance(value, list) or len(value) != 2:
        raise LockError(where, "must be a pair of a name and its values")
    forms.matches(where, value[0], DIMENSION)
    forms.items(forms.form(LABEL), 1)(where, value[1])
    if len(set(value[1])) != len(value[1]):
        raise LockError(where, "a value stands twice")


def _prices(where: str, value: object) -> None:
    for key, price in forms.table(where, value, set(Prices._fields)).items():
        number = isinstance(price, int | float) and not isinstance(price, bool)
        if price is not None and not (number and 0 <= price <= MAX_INTEGER):
            raise LockError(f"{where}.{key}", f"{price!r} is not a price")


_HASH = forms.form(re.compile(r"[0-9a-f]{64}"))
_CHECKS: Mapping[str, forms.Check] = {
    "version": forms.integer(1, MAX_INTEGER),
    "hash": _HASH,
    "kind": forms.choice(KINDS),
    "encoder": _encoder,
    "integers": forms.items(forms.integer(0, MAX_INTEGER)),
    "lower": forms.integer(-MAX_INTEGER, MAX_INTEGER),
    "step": forms.integer(1, MAX_INTEGER),
    "unit": forms.text(32),
    "labels": forms.items(forms.text(64, 1)),
    "window": forms.choice(NAMES),
    "starts": forms.date,
    "expires": forms.date,
    "grace": forms.integer(MIN_GRACE, MAX_GRACE),
    "report_every": forms.integer(1, MAX_EVERY),
    "rotation": forms.form(ROTATION),
    "presence": forms.choice(PRESENCES),
    "seal": forms.choice(("window_end",)),
    "dimensions": forms.items(_dimension),
    "min_reports": forms.integer(1, MAX_INTEGER),
    "prices": _prices,
    "description": forms.text(MAX_TEXT, 1),
    "purpose": forms.text(MAX_TEXT, 1),
    "owners": forms.items(forms.text(254, 1), 1),
}
_OPTIONAL: Mapping[str, forms.Check] = {  # later releases; left out where they say nothing
    "aggregate": forms.choice(sorted({word for words in AGGREGATES.values() for word in words})),
    "source": _HASH,
}
_ALIKE = ("version", "window", "starts", "expires", "report_every", "rotation", "presence", "seal", "dimensions")
