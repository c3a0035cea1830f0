"""Two metrics and their reports, for suites that need some."""

from dataclasses import replace
from typing import Any

from hubbub.encoders.base import Encoder
from hubbub.lock import MILLION, Lock, Metric
from hubbub.mechanisms import registry
from hubbub.store import Report, WindowKey
from hubbub.windows import midnight
from hubbub.wire import TRAVELLING_HASH

DAY = 86_400
STARTS, EXPIRES = "2026-12-01", "2027-01-01"
FIRST, LAST = midnight(STARTS) // DAY, midnight(EXPIRES) // DAY - 1  # days that may be reported
GRACE = 14 * DAY


def end(window: int) -> int:
    """First second after a day."""
    return (window + 1) * DAY


def minutes(*, epsilon: float = 1.0, upper: int = 480, **changes: Any) -> Metric:
    """A memoised mean with two segments: the editor's minutes a day."""
    mechanism = registry["one_bit_mean"].from_epsilon(epsilon, permanent_epsilon=2 * epsilon, upper=upper)
    metric = _metric("editor.minutes", "mean", mechanism.encoder)
    return replace(metric, **{"unit": "min", "dimensions": (("channel", ("stable", "beta")),), **changes})


def late(*, epsilon: float = 1.0, **changes: Any) -> Metric:
    """A fresh yes or no without segments."""
    encoder = registry["randomized_response"].from_epsilon(epsilon).encoder
    return replace(_metric("flight.late", "boolean", encoder), **changes)


def lock(*metrics: Metric, collection: str = "editor") -> Lock:
    """These metrics together."""
    return Lock(collection, {metric.name: metric for metric in metrics})


def key(metric: Metric, window: int = FIRST) -> WindowKey:
    """A window of a metric."""
    return WindowKey(metric.name, metric.hash[:TRAVELLING_HASH], window)


def stored(
    metric: Metric, count: int, *, ones: int = 0, window: int = FIRST, segment: str = "", start: int = 0
) -> list[Report]:
    """Reports with the ids from `start` on, the first of them ones."""
    return [Report(key(metric, window), start + i, segment, "80" if i < ones else "00") for i in range(count)]


def _metric(name: str, kind: str, encoder: Encoder) -> Metric:
    return Metric(
        name=name,
        version=1,
        kind=kind,
        encoder=encoder,
        lower=0,
        step=MILLION,
        unit="",
        labels=(),
        window="day",
        starts=STARTS,
        expires=EXPIRES,
        grace=GRACE,
        report_every=1,
        rotation="",
        presence="ran",
        seal="window_end",
        dimensions=(),
        min_reports=100,
        description="For tests",
        purpose="Testing",
        owners=("tests@example.org",),
    )
