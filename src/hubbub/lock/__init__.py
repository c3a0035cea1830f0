"""metrics.lock: what a device and a collector know of a collection's metrics. Standard library only.

`hubbub registry build` writes the file; everything else only reads it. Reading is strict: an unknown key, a value out
of range, a hash or a price that does not follow from the integers refuses the whole lock, since a definition that is
not understood completely must not be answered. Specification: spec/registry.md.
"""

from hubbub.lock.checks import overfull
from hubbub.lock.metric import (
    ACTIVE,
    AGGREGATES,
    COLLECTION,
    DIMENSION,
    KINDS,
    LABEL,
    MAX_CELLS,
    MAX_EVERY,
    MAX_FILLED,
    MAX_GRACE,
    MAX_INTEGER,
    MAX_LIFE,
    MAX_SHUFFLER,
    MAX_TEXT,
    MILLION,
    MIN_GRACE,
    NAME,
    NONE,
    SHARES,
    Metric,
)
from hubbub.lock.reading import Lock, dump, parse, shown

__all__ = [
    "ACTIVE",
    "AGGREGATES",
    "COLLECTION",
    "DIMENSION",
    "KINDS",
    "LABEL",
    "MAX_CELLS",
    "MAX_EVERY",
    "MAX_FILLED",
    "MAX_GRACE",
    "MAX_INTEGER",
    "MAX_LIFE",
    "MAX_SHUFFLER",
    "MAX_TEXT",
    "MILLION",
    "MIN_GRACE",
    "NAME",
    "NONE",
    "SHARES",
    "Lock",
    "Metric",
    "dump",
    "overfull",
    "parse",
    "shown",
]
