"""NAME and NAME.active of `active = true`: what both give away together, since one event shows in both.

Prices add up. A move shows on a device if either permanent answer differs; the two come from keys of their own, so they
are independent.
"""

from collections.abc import Mapping
from operator import add

from hubbub.encoders.base import Prices
from hubbub.lock import ACTIVE, Metric
from hubbub.privacy.changes import percent_of, visible
from hubbub.privacy.pictures import amount, each
from hubbub.privacy.prices import of_life
from hubbub.privacy.words import a, cost, in_words, nats


def partner(metric: Metric, metrics: Mapping[str, Metric]) -> Metric | None:
    """The other one of NAME and NAME.active in the same lock; None where there is none."""
    other = metrics.get(metric.name.removesuffix(ACTIVE) if metric.source else metric.name + ACTIVE)
    if other is None:
        return None
    mean, told = _ordered(metric, other)
    return other if told.source == mean.hash else None


def both(metric: Metric, other: Metric) -> list[str]:
    """Sentences of less than 200 characters, the same for either: joint prices, and how many a first use shows on."""
    mean, _ = _ordered(metric, other)
    prices, window = Prices(*map(add, of_life(metric), of_life(other))), mean.window
    ends = mean.lower, mean.lower + (mean.encoder.size - 1) * mean.step
    most = "" if 0 in ends else "at most "  # no value is then both at an end of the range and nothing
    lines = [
        f"One event shows in {mean.name} and its {ACTIVE}; both reports of {a(window)} cost "
        f"epsilon {most}{nats(prices.report)}, {in_words(prices.report)}.",
        f"Of {mean.name} and its {ACTIVE}, at most: one changed {window} {cost(prices.change)}, "
        f"never changing {cost(prices.steady)}, any two histories {cost(prices.life)}.",
    ]
    return lines + _first_use(*_ordered(metric, other))


def _first_use(mean: Metric, told: Metric) -> list[str]:
    """From nothing recorded to the end of the range that is farther away."""
    last = mean.encoder.size - 1
    null = min(max(0, -mean.lower // mean.step), last)
    value = last if last - null >= null else 0
    shares = visible(mean.encoder, null, value), visible(told.encoder, 0, 1)
    few = mean.reports == 1 or of_life(mean).steady < mean.prices.steady  # reports, for a change to show in time
    if few or not mean.encoder.memo or shares[0] is None or shares[1] is None:
        return []
    share = 1 - (1 - shares[0]) * (1 - shares[1])
    return [
        f"From nothing to {amount(mean, value)}{each(mean)} for good, as at first use, moves both: visible in time on "
        f"{percent_of(share)} of devices, by either or both."
    ]


def _ordered(metric: Metric, other: Metric) -> tuple[Metric, Metric]:
    """The mean, and the yes or no that it feeds."""
    return (other, metric) if metric.source else (metric, other)
