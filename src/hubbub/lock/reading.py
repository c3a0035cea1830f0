"""Reading and writing metrics.lock, and what may stand at each of its keys."""

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from hubbub import forms
from hubbub.encoders import registry
from hubbub.encoders.base import Prices
from hubbub.errors import LockError, ParameterError
from hubbub.lock import checks
from hubbub.lock.checks import UNEDITED
from hubbub.lock.metric import (
    AGGREGATES,
    COLLECTION,
    DIMENSION,
    KINDS,
    LABEL,
    MAX_EVERY,
    MAX_GRACE,
    MAX_INTEGER,
    MAX_SHUFFLER,
    MAX_TEXT,
    MILLION,
    MIN_GRACE,
    NAME,
    PRESENCES,
    ROTATION,
    Metric,
)
from hubbub.windows import NAMES

SCHEMA = "hubbub.lock/1"


@dataclass(frozen=True)
class Lock:
    """The metrics of one collection, by name.

    Whoever makes one by hand can write into it what no metrics.lock may say; see `checked`.
    """

    collection: str
    metrics: Mapping[str, Metric]

    @cached_property
    def checked(self) -> "Lock":
        """This lock as `parse` reads it from what `dump` writes; worked out once for each lock.

        Raises:
            LockError: It would be refused as a file, or is not what the file would say.
        """
        read = parse(dump(self))
        for name, metric in self.metrics.items():
            if read.metrics.get(name) != metric:
                raise LockError(f'metrics."{name}"', "is not what a metrics.lock would say of it", UNEDITED)
        return read


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
    checks.together(metrics)
    return Lock(top["collection"], metrics)


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
    checks.alone(where, metric)
    if metric.hash != table["hash"]:
        raise LockError(f"{where}.hash", "does not fit the definition, which was edited after it was built", UNEDITED)
    for key, price in metric.prices._asdict().items():
        if not _same(stated := table["prices"][key], shown(price)):
            raise LockError(f"{where}.prices.{key}", f"{stated} is not the {shown(price)} of the integers", UNEDITED)
    return metric


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
    "shuffler": forms.text(MAX_SHUFFLER, 1),
}
