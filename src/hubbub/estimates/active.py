"""The mean among those that recorded anything: a row of its own, made of the two reports of a metric with `active`.

With m the mean over all devices and s the share that recorded anything, both of one window and segment, it is m / s
with Fieller's interval (`hubbub.mechanisms.ratio`). Nobody can tell which two reports are of one device, nor how many
devices sent both, so the covariance of m and s is taken as 0. It is m (1 - s) / n at most, and what would come off for
it at the true ratio, 2 (m / s) Cov = 2 m² (1 - s) / (s n), is never below 0: the interval is not too narrow for that.

Over several windows it is M / S, the mean of the m over that of the s, each window with the same weight: the mean over
the days of active devices. The mean of the windows' own ratios would have no error bound where a share is small. What
windows share nobody can tell, but the standard error of a sum is at most the sum of the standard errors; and that of
m - θ s in one window is at most √(Var m + θ² Var s), as above. So at the true θ, M - θ S is off by no more than if what
`hubbub.estimates.combining` allows M and S were independent, each window taken with the n of the report which came less
often. Where a window's mean may have another sign than θ, its covariance may too: there the errors are added. Proof:
spec/estimates.md.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from hubbub.estimates.combining import mean_of, over
from hubbub.estimates.spots import Spot, spots
from hubbub.lock import ACTIVE, shown
from hubbub.mechanisms.ratio import mean_active
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


def reports(each: Iterable[Spot], now: float) -> int:
    """Reports of whichever has the fewest."""
    return min(spot.summary(now).n for spot in each)


def figures(mean: Spot, share: Spot, now: float, level: float) -> dict[str, Any]:
    """What a row says of the mean among those that recorded anything, given that neither part is withheld."""
    bounds = mean.definition.mechanism.bounds
    above, below = (spot.definition.mechanism.estimate(spot.summary(now)) for spot in (mean, share))
    ratio = mean_active(above, below, both=0)
    if ratio.form(level) != "interval" or ratio.denominator < 0:  # the share cannot be told from 0
        return {**_unknown(bounds), "se_shared": None}
    found = _known(bounds, ratio.value, ratio.interval(level))
    errors = {"se": (above.se, below.se), "se_shared": (above.se_shared, below.se_shared)}
    return {**found, **{key: _se(ratio.value, float(m), ratio.denominator, float(s)) for key, (m, s) in errors.items()}}


def together(pairs: Sequence[Sequence[Spot]], now: float, level: float) -> dict[str, Any]:
    """What a period says of it.

    Args:
        pairs: Mean and share of each window, of both of which reports are known.
        now: Unix seconds.
        level: Chance with which the interval is to hold the truth.
    """
    mean, share = pairs[0]
    bounds = mean.definition.mechanism.bounds
    if len(pairs) == 1:
        found = figures(mean, share, now, level)
        del found["se_shared"]
    else:
        counts = [reports(pair, now) for pair in pairs]
        turns = [spot.window % spot.definition.metric.report_every for spot, _ in pairs]
        above, below = (
            mean_of([spot.definition.mechanism.estimate(spot.summary(now)) for spot in part], counts, turns, level)
            for part in zip(*pairs, strict=True)
        )
        ends = ((part.low, part.value, part.high) for part in (above, below))
        low, high = over(*ends, opposed=0 not in bounds)
        if math.isinf(low):
            found = _unknown(bounds)
        else:
            value, under = float(above.value / below.value), float(below.value)
            found = _known(bounds, value, (float(low), float(high)))
            parts = float(above.se), abs(value) * float(below.se)
            found["se"] = (math.hypot(*parts) if 0 in bounds else sum(parts)) / under
    # Permanent answers about the share pull two ratios the same way, unless their signs may differ.
    found["se_opposed"] = 0.0 if found["se"] is not None and 0 in bounds else found["se"]
    return found


def prices(mean: Spot, share: Spot) -> dict[str, Any]:
    """What both reports give away together; how far liars move the ratio has no bound."""
    both = (mean.definition.mechanism, share.definition.mechanism)
    return {
        "epsilon": shown(math.fsum(one.epsilon for one in both)),
        "permanent_epsilon": shown(math.fsum(one.permanent_epsilon for one in both)),
        "manipulation_per_percent": None,
    }


def _known(bounds: tuple[float, float], value: float, ends: tuple[float, float]) -> dict[str, Any]:
    wide = ends[1] - ends[0] > bounds[1] - bounds[0]
    tidied, state = min(max(value, bounds[0]), bounds[1]), "too_uncertain" if wide else ""
    return {"value": value, "tidied": tidied, **_interval(ends), "state": state}


def _unknown(bounds: tuple[float, float]) -> dict[str, Any]:
    """Beyond the range no such mean can be."""
    return {"value": None, "tidied": None, "se": None, **_interval(bounds), "state": "too_uncertain"}


def _interval(ends: tuple[float, float]) -> dict[str, Any]:
    return {"ci_low": ends[0], "ci_high": ends[1], "method": "fieller"}


def _se(ratio: float, above: float, share: float, below: float) -> float:
    """To first order, without the covariance."""
    return math.hypot(above, ratio * below) / abs(share)
