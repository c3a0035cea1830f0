"""What a store knows of its metrics, for whoever reads it."""

from typing import Self

import msgspec

from hubbub.lock import shown
from hubbub.store import Store
from hubbub.store.catalogue import Definition
from hubbub.wire import TRAVELLING_HASH


class Costs(msgspec.Struct, frozen=True):
    """What one installation gives away, in nats, rounded up; null where there is no bound."""

    report: float | None
    steady: float | None
    change: float | None
    life: float | None


class Known(msgspec.Struct, frozen=True):
    """One version of a metric, by the names of its lock.

    `hash`, and `source` where another metric feeds it, as they travel; `grace` in seconds; `lower` and `step` in
    millionths of the unit; `aggregate` also where the lock leaves it out.
    """

    name: str
    version: int
    hash: str
    kind: str
    unit: str
    window: str
    starts: str
    expires: str
    grace: int
    report_every: int
    min_reports: int
    dimensions: list[tuple[str, list[str]]]
    segments: list[str]
    prices: Costs
    description: str
    purpose: str
    owners: list[str]
    encoder: str
    integers: list[int]
    lower: int
    step: int
    labels: list[str]
    rotation: str
    presence: str
    seal: str
    aggregate: str
    source: str
    shuffler: str

    @classmethod
    def of(cls, definition: Definition) -> Self:
        """What there is to know of a definition."""
        metric = definition.metric
        return cls(
            name=metric.name,
            version=metric.version,
            hash=definition.hash,
            kind=metric.kind,
            unit=metric.unit,
            window=metric.window,
            starts=metric.starts,
            expires=metric.expires,
            grace=metric.grace,
            report_every=metric.report_every,
            min_reports=metric.min_reports,
            dimensions=[(name, list(values)) for name, values in metric.dimensions],
            segments=list(metric.segments),
            prices=Costs(*map(shown, metric.prices)),
            description=metric.description,
            purpose=metric.purpose,
            owners=list(metric.owners),
            encoder=metric.encoder.name,
            integers=list(metric.encoder.canonical()),
            lower=metric.lower,
            step=metric.step,
            labels=list(metric.labels),
            rotation=metric.rotation,
            presence=metric.presence,
            seal=metric.seal,
            aggregate=metric.aggregated,
            source=metric.source[:TRAVELLING_HASH],
            shuffler=metric.shuffler,
        )


def metrics(store: Store) -> list[Known]:
    """Every version of every metric that the store ever accepted, by name, newest version first.

    Raises:
        StoreError: The store cannot be read.
    """
    # Of several texts of one version the last counts.
    found = {(entry.metric.name, -entry.metric.version): entry.metric for entry in store.locks()}
    return [Known.of(Definition(found[key])) for key in sorted(found)]
