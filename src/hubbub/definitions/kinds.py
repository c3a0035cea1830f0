"""The kinds of metrics.toml, each with the keys that say which values it has."""

from collections.abc import Mapping
from typing import NamedTuple


class Domain(NamedTuple):
    """Keys that say which values a kind has."""

    required: tuple[str, ...]
    optional: tuple[str, ...] = ()


KINDS: Mapping[str, Domain] = {
    "boolean": Domain(()),
    "mean": Domain(("lower", "upper"), ("unit", "step", "bucket", "active")),
    "choice": Domain(("categories",)),
    "histogram": Domain(("lower", "upper", "buckets"), ("unit",)),
    "words": Domain((), ("bits", "hashes", "cohorts")),
    "vector": Domain(("dimension", "norm"), ("unit", "coordinates")),
}
