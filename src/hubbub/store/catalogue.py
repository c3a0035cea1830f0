"""The metrics that a store or a collector knows, looked up by what a report carries."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from hubbub.encoders.base import Payload
from hubbub.encoders.vector import of_vectors
from hubbub.errors import LockError, PayloadError
from hubbub.lock import Metric
from hubbub.mechanisms import Mechanism, of_metric
from hubbub.store.base import Entry, WindowKey
from hubbub.summary import Summary
from hubbub.windows import Windows
from hubbub.wire import TRAVELLING_HASH, unpack

_REMEMBERED = 4096  # payloads of one metric whose decoding is kept


@dataclass(frozen=True, eq=False)
class Definition:
    """A locked metric with all that each of its reports asks for, worked out once."""

    metric: Metric

    @cached_property
    def hash(self) -> str:
        """The encoding hash as it travels."""
        return self.metric.hash[:TRAVELLING_HASH]

    @cached_property
    def mechanism(self) -> Mechanism:
        """What sums up and estimates."""
        return of_metric(self.metric)

    @cached_property
    def categories(self) -> tuple[str, ...]:
        """Names of its categories or coordinates, in their order; none where its estimate is one number."""
        if self.metric.kind == "vector":
            return self.metric.labels or tuple(map(str, range(of_vectors(self.metric.encoder).dimension)))
        known = getattr(self.mechanism, "categories", None)
        if known is None:
            return ()
        return known.names or tuple(map(str, range(known.size)))

    @cached_property
    def life(self) -> range:
        """Windows that may be reported."""
        return self.metric.life

    @cached_property
    def windows(self) -> Windows:
        """How time is cut."""
        return self.metric.windows

    @cached_property
    def segments(self) -> frozenset[str]:
        """Segments that a report may name."""
        return frozenset(self.metric.segments)

    @cached_property
    def _decoded(self) -> dict[str, Payload]:
        return {}

    def decode(self, payload: str) -> Payload:
        """The fields behind a payload as it travels.

        Raises:
            PayloadError: It is not one that the metric's encoder could have sent.
        """
        fields = self._decoded.get(payload)
        if fields is None:
            fields = unpack(payload, self.metric.encoder.radices)
            if not self.metric.encoder.possible(fields):
                raise PayloadError("no device can have sent the payload")
            if len(self._decoded) < _REMEMBERED:
                self._decoded[payload] = fields
        return fields

    def summarise(self, payloads: Iterable[str]) -> Summary:
        """The summary of these payloads; of none, the neutral element.

        Raises:
            PayloadError: One of them is not of this metric.
        """
        fields = [self.decode(payload) for payload in payloads]
        return self.mechanism.summarise(np.array(fields, np.int64).reshape(-1, len(self.metric.encoder.radices)))


class Catalogue:
    """Metrics of several locks side by side.

    A metric belongs to one collection, and one version of it is one encoding: anything else is two locks that do not
    fit together.
    """

    def __init__(self, entries: Iterable[Entry] = ()) -> None:
        self._collections: dict[str, str] = {}
        self._hashes: dict[tuple[str, int], str] = {}
        self._definitions: dict[tuple[str, str], list[Definition]] = {}
        for entry in entries:
            self.add(entry)

    def add(self, entry: Entry) -> None:
        """Take in a metric.

        Raises:
            LockError: It does not fit what is there.
        """
        metric, where = entry.metric, f'metrics."{entry.metric.name}"'
        collection = self._collections.setdefault(metric.name, entry.collection)
        if collection != entry.collection:
            raise LockError(
                where,
                f"is known as a metric of the collection {collection!r}, here of {entry.collection!r}",
                "give each collection a store and a collector of its own",
            )
        version = self._hashes.setdefault((metric.name, metric.version), metric.hash)
        if version != metric.hash:
            raise LockError(
                f"{where}.version",
                f"{metric.version} is known with another encoding (hash {version[:8]}…, here {metric.hash[:8]}…)",
                "raise the version in metrics.toml and build again",
            )
        definition = Definition(metric)
        same = self._definitions.setdefault((metric.name, definition.hash), [])
        if all(metric != other.metric for other in same):
            same.insert(0, definition)
            same.sort(key=lambda other: -other.metric.version)

    def __contains__(self, metric: object) -> bool:
        return metric in self._collections

    def names(self) -> list[str]:
        """Names of the metrics, sorted."""
        return sorted(self._collections)

    def known(self, metric: str, hash_: str) -> bool:
        """Whether some version of the metric has this encoding."""
        return (metric, hash_) in self._definitions

    def find(self, key: WindowKey) -> Definition | None:
        """The metric as it is defined for this window, None if the window is in no version's life.

        Where several versions of one encoding hold it, the highest counts; of equal ones, the one added last.
        """
        for definition in self._definitions.get(key[:2], ()):
            if key.window in definition.life:
                return definition
        return None

    def holding(self, key: WindowKey) -> list[Definition]:
        """Every definition of this encoding whose life has this window, the one that counts first.

        The hash leaves dimensions out: releases that differ in them report side by side, each with its own segments.
        """
        return [found for found in self._definitions.get(key[:2], ()) if key.window in found.life]
