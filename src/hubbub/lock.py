"""metrics.lock: what a device and a collector know of a collection's metrics. Standard library only.

`hubbub registry build` writes the file; everything else only reads it. Reading is strict: an unknown key, a value out
of range, a hash or a price that does not follow from the integers refuses the whole lock, since a definition that is
not understood completely must not be answered. Specification: spec/registry.md.
"""

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any

from hubbub.encoders import registry
from hubbub.encoders.base import Encoder, Prices
from hubbub.errors import LockError, ParameterError
from hubbub.prf import encoding_hash
from hubbub.windows import NAMES, Windows, midnight, windows

SCHEMA = "hubbub.lock/1"
KINDS = ("boolean", "mean", "choice", "histogram", "words", "vector")
SHARES = ("boolean", "choice", "histogram", "words")  # kinds whose numbers are shares of devices
COLLECTION = re.compile(r"[a-z][a-z0-9_-]{0,63}")
NAME = re.compile(r"(?=.{1,64}\Z)[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)*")
DIMENSION = re.compile(r"[a-z][a-z0-9_]{0,31}")
LABEL = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,63}")
NONE = "none"  # value 0 of every choice: nothing to report, or nothing that has a label
MILLION = 1_000_000  # lower and step are kept in millionths of the unit
MAX_LIFE = 400 * 86_400  # seconds between starts and expires
MAX_CELLS = 64  # segments of one metric
MIN_GRACE, MAX_GRACE = 3600, 90 * 86_400  # seconds
MAX_EVERY = 400
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

    @cached_property
    def hash(self) -> str:
        """Encoding hash, 64 hex digits: all that shapes a report's law or its meaning, and nothing else."""
        return encoding_hash(
            self.kind,
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
        tree = json.loads(text, object_pairs_hook=_once, parse_constant=_constant)
    except (ValueError, RecursionError) as error:
        if isinstance(error, LockError):
            raise
        raise LockError("metrics.lock", f"not JSON ({error})") from None
    top = _table("metrics.lock", tree, {"schema", "collection", "metrics"})
    if top["schema"] != SCHEMA:
        raise LockError("schema", f"{top['schema']!r} is not {SCHEMA!r}", "build it with a release that fits this one")
    _matches("collection", top["collection"], COLLECTION)
    if not isinstance(top["metrics"], dict):
        raise LockError("metrics", "must be a table of metrics")
    return Lock(top["collection"], {name: _metric(name, entry) for name, entry in top["metrics"].items()})


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
    return plain | {
        "encoder": metric.encoder.name,
        "integers": list(metric.encoder.canonical()),
        "prices": {key: shown(price) for key, price in metric.prices._asdict().items()},
    }


def _metric(name: str, entry: object) -> Metric:
    _matches("metrics", name, NAME)
    where = f'metrics."{name}"'
    table = _table(where, entry, set(_CHECKS))
    for key, check in _CHECKS.items():
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
    if metric.kind not in metric.encoder.kinds:
        raise LockError(f"{where}.encoder", f"{metric.encoder.name} does not encode the kind {metric.kind}")
    if metric.kind in ("boolean", "words") and (metric.lower, metric.step) != (0, MILLION):
        raise LockError(f"{where}.step", f"a metric of kind {metric.kind} has lower = 0 and step = 1000000")
    _labelled(where, metric)
    cells = math.prod(len(values) for _, values in metric.dimensions)
    if cells > MAX_CELLS:
        raise LockError(f"{where}.dimensions", f"{cells} cells are more than {MAX_CELLS}")


def _labelled(where: str, metric: Metric) -> None:
    """Hold the labels against the encoder: a choice has one fewer than values, the first of which is `none`."""
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


def _same(a: float | None, b: float | None) -> bool:
    return a is b if a is None or b is None else abs(a - b) <= 2e-6 + 1e-9 * b


def _frozen(value: Any) -> Any:
    return tuple(_frozen(item) for item in value) if isinstance(value, list) else value


def _once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    table: dict[str, object] = {}
    for key, value in pairs:
        if key in table:
            raise LockError(key, "the key stands twice")
        table[key] = value
    return table


def _constant(word: str) -> object:
    raise LockError("metrics.lock", f"{word} is not a number of JSON")


def _table(where: str, value: object, keys: set[str]) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise LockError(where, "must be a table")
    for key in sorted(value.keys() - keys):
        raise LockError(f"{where}.{key}", "unknown key", "use a release of hubbub that knows it")
    for key in sorted(keys - value.keys()):
        raise LockError(f"{where}.{key}", "is missing")
    return value


def _matches(where: str, value: object, pattern: re.Pattern[str]) -> None:
    if not isinstance(value, str) or not pattern.fullmatch(value):
        raise LockError(where, f"{value!r} does not have the form {pattern.pattern}")


def _integer(low: int, high: int) -> Callable[[str, object], None]:
    def check(where: str, value: object) -> None:
        if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
            raise LockError(where, f"{value!r} is not an integer in [{low}, {high}]")

    return check


def _text(longest: int, least: int = 0) -> Callable[[str, object], None]:
    def check(where: str, value: object) -> None:
        if not isinstance(value, str) or not least <= len(value) <= longest:
            raise LockError(where, f"must be text of {least} to {longest} characters")
        if not value.isprintable():  # it is shown to whoever reviews the lock
            raise LockError(where, "holds characters that cannot be printed, such as line ends or control codes")

    return check


def _choice(options: Sequence[str]) -> Callable[[str, object], None]:
    def check(where: str, value: object) -> None:
        if value not in options or not isinstance(value, str):
            raise LockError(where, f"{value!r} is not one of " + ", ".join(map(repr, options)))

    return check


def _encoder(where: str, value: object) -> None:
    if not isinstance(value, str) or value not in registry:
        raise LockError(where, f"{value!r} is not one of " + ", ".join(map(repr, registry)))


def _form(pattern: re.Pattern[str]) -> Callable[[str, object], None]:
    return lambda where, value: _matches(where, value, pattern)


def _list(check: Callable[[str, object], None], least: int = 0) -> Callable[[str, object], None]:
    def checks(where: str, value: object) -> None:
        if not isinstance(value, list) or len(value) < least:
            raise LockError(where, f"must be a list of at least {least}")
        for i, item in enumerate(value):
            check(f"{where}[{i}]", item)

    return checks


def _date(where: str, value: object) -> None:
    try:
        midnight(value)  # type: ignore[arg-type]
    except ParameterError as error:
        raise LockError(where, str(error)) from None


def _dimension(where: str, value: object) -> None:
    if not isinstance(value, list) or len(value) != 2:
        raise LockError(where, "must be a pair of a name and its values")
    _matches(where, value[0], DIMENSION)
    _list(_form(LABEL), 1)(where, value[1])
    if len(set(value[1])) != len(value[1]):
        raise LockError(where, "a value stands twice")


def _prices(where: str, value: object) -> None:
    for key, price in _table(where, value, set(Prices._fields)).items():
        number = isinstance(price, int | float) and not isinstance(price, bool)
        if price is not None and not (number and 0 <= price <= MAX_INTEGER):
            raise LockError(f"{where}.{key}", f"{price!r} is not a price")


_CHECKS: Mapping[str, Callable[[str, object], None]] = {
    "version": _integer(1, MAX_INTEGER),
    "hash": _form(re.compile(r"[0-9a-f]{64}")),
    "kind": _choice(KINDS),
    "encoder": _encoder,
    "integers": _list(_integer(0, MAX_INTEGER)),
    "lower": _integer(-MAX_INTEGER, MAX_INTEGER),
    "step": _integer(1, MAX_INTEGER),
    "unit": _text(32),
    "labels": _list(_text(64, 1)),
    "window": _choice(NAMES),
    "starts": _date,
    "expires": _date,
    "grace": _integer(MIN_GRACE, MAX_GRACE),
    "report_every": _integer(1, MAX_EVERY),
    "rotation": _choice(("",)),
    "presence": _choice(("ran",)),
    "seal": _choice(("window_end",)),
    "dimensions": _list(_dimension),
    "min_reports": _integer(1, MAX_INTEGER),
    "prices": _prices,
    "description": _text(MAX_TEXT, 1),
    "purpose": _text(MAX_TEXT, 1),
    "owners": _list(_text(254, 1), 1),
}
