"""The mean among those that recorded anything: a row of its own, made of the two reports of a metric with `active`.

With m the mean over all devices and s the share that recorded anything, both of one window and segment, it is m / s
with Fieller's interval (`hubbub.mechanisms.ratio`). Nobody can tell which two reports are of one device, nor how many
devices sent both, so the covariance of m and s is taken as 0. It is m (1 - s) / n at most, and what would come off for
it at the true ratio, 2 (m / s) Cov = 2 m² (1 - s) / (s n), is never below 0: the interval is not too narrow for that.
"""

import math
from collections.abc import Iterable, Mapping
from typing import Any

from hubbub.estimates.spots import Spot, spots
from hubbub.lock import ACTIVE, shown
from hubbub.mechanisms.ratio import Ratio, mean_active
from hubbub.store import Store

AMONG = "among active"  # stands as the category of these rows
Place = tuple[str, int, str]  # encoding hash of the metric that feeds, window, segment


def seconds(store: Store, metric: str | None, found: Iterable[Spot], **asked: Any) -> Mapping[Place, Spot]:
    """The shares that belong to means, by the place of the mean.

    Args:
        store: Where the summaries are.
        metric: The metric whose spots were asked for; None: all were.
        found: What was found.
        asked: What else was asked, as for `spots`.
    """
    if metric is not None:
        name = metric + ACTIVE
        known = any(entry.metric.name == name and entry.metric.source for entry in store.locks())
        found = spots(store, metric=name, **asked) if known else ()
    return {(s.definition.metric.source, s.window, s.segment): s for s in found if s.definition.metric.source}


def place(spot: Spot) -> Place:
    """Where the share that belongs to a mean is found."""
    return spot.definition.metric.hash, spot.window, spot.segment


def figures(mean: Spot, share: Spot, now: float, level: float) -> dict[str, Any]:
    """What a row says of the mean among those that recorded anything, given that neither part is withheld."""
    low, high = mean.definition.mechanism.bounds
    above, below = (spot.definition.mechanism.estimate(spot.summary(now)) for spot in (mean, share))
    ratio = mean_active(above, below, both=0)
    ends, certain = (low, high), ratio.form(level) == "interval"  # beyond its range no such mean can be
    if certain:
        ends = ratio.interval(level)
    known: dict[str, float | None] = {"value": None, "se": None, "se_shared": None, "tidied": None}
    if math.isfinite(ratio.value):  # it is not where the estimated share is exactly 0
        errors = (_se(ratio, float(m), float(s)) for m, s in ((above.se, below.se), (above.se_shared, below.se_shared)))
        known = dict(zip(known, (ratio.value, *errors, min(max(ratio.value, low), high)), strict=True))
    wide = not certain or ends[1] - ends[0] > high - low
    state = "too_uncertain" if wide else ""
    return {**known, "ci_low": ends[0], "ci_high": ends[1], "method": "fieller", "state": state}


def prices(mean: Spot, share: Spot) -> dict[str, Any]:
    """What both reports give away together; how far liars move the ratio has no bound."""
    both = (mean.definition.mechanism, share.definition.mechanism)
    return {
        "epsilon": shown(math.fsum(one.epsilon for one in both)),
        "permanent_epsilon": shown(math.fsum(one.permanent_epsilon for one in both)),
        "manipulation_per_percent": None,
    }


def _se(ratio: Ratio, above: float, below: float) -> float:
    """To first order, without the covariance."""
    return math.hypot(above, ratio.value * below) / abs(ratio.denominator)
