"""Registries of every kind and aggregate, for the tests of `hubbub crowd`."""

from hubbub.definitions import build, loads
from hubbub.lock import AGGREGATES, Lock
from tests.unit.definitions_support import BOOLEAN, TOP, lines

_RANGE = {"lower": "0", "upper": "40"}
_OF_KIND = {
    "boolean": {},
    "mean": _RANGE | {"step": "0.5", "unit": '"h"'},
    "choice": {"categories": '["light", "dark", "sepia", "contrast"]'},
    "histogram": _RANGE | {"buckets": "8", "unit": '"h"'},
    "words": {"strategy": '"fresh"'},
    "vector": {"dimension": "3", "norm": "2", "coordinates": '["x", "y", "z"]', "strategy": '"fresh"'},
}
_SHARE = {"upper": "1", "unit": '""'}
NAMES = [f"{kind}.{word}" for kind, aggregates in AGGREGATES.items() for word in aggregates] + ["active"]


def everything(*names: str, **changes: str) -> Lock:
    """A lock of metrics `app.KIND.AGGREGATE`, all by default, and of `app.active`, a mean with a second report."""
    text = lines(TOP)
    for name in names or NAMES:
        kind, _, aggregate = name.partition(".")
        second = kind == "active"
        keys = BOOLEAN | {"kind": f'"{"mean" if second else kind}"'} | _OF_KIND["mean" if second else kind]
        if second:
            keys |= {"active": "true"}
        elif aggregate:
            keys |= {"aggregate": f'"{aggregate}"'}
        if aggregate == "share":
            keys |= _SHARE | ({"step": "0.01"} if kind == "mean" else {})
        text += f'\n[metrics."app.{name}"]\n' + lines(keys | changes)
    return build(loads(text.encode(), "metrics.toml"))
