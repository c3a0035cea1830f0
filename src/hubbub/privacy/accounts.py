"""What one installation gives away over so many windows, as data: exact where it is known, the bound beside it."""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from hubbub.client.charges import in_order
from hubbub.encoders.base import check
from hubbub.errors import ParameterError
from hubbub.lock import Metric, shown
from hubbub.privacy.life import MAX_WINDOWS, closest_life
from hubbub.privacy.pattern import same_pattern

_MOST_PATTERNS = 8


@dataclass(frozen=True)
class Account:
    """Losses in nats, rounded up to six decimals; None where there is no bound.

    Attributes:
        metric: Its name; empty for a sum over metrics.
        group: Of metrics that take turns, that it belongs to; empty where it takes none, and in a sum.
        window: What they are: `hour`, `day` or `week`; empty in a sum over metrics whose windows differ.
        windows: Windows that are counted, no more than the metric's life has; 0 in such a sum.
        reports: Most reports of one device in them.
        report: One report.
        steady: A device that never changes, in these windows: never more than `life`.
        change: One changed window; never more than `life`.
        life: Any two histories: the closed bound that devices reckon with, or the price of one report where it is one.
        exact_life: The same by the least that is known; never more than `life`.
        exact: Whether `exact_life` is exact; otherwise it is an upper bound.
        same_pattern: Two histories that come back to a value exactly when the other does, with 1, 2, 3, ... distinct
            entries, for any number of reports; empty where nothing is kept or it is not known.
    """

    metric: str
    group: str
    window: str
    windows: int
    reports: int
    report: float | None
    steady: float | None
    change: float | None
    life: float | None
    exact_life: float | None
    exact: bool
    same_pattern: tuple[float, ...]


def account(metric: Metric, windows: int | None = None) -> Account:
    """The prices of one metric over so many of its windows, or its life where that has fewer; its life by default.

    Raises:
        ParameterError: windows outside [1, 20 000].
    """
    most = len(metric.life)
    if windows is not None:
        check("windows", windows, 1, MAX_WINDOWS)
        most = min(most, windows)
    reports = -(-most // metric.report_every)
    prices = in_order(metric.encoder.prices(reports), reports)
    report, steady, change, life = map(shown, prices)
    closest = closest_life(metric.encoder, reports)
    return Account(
        metric.name,
        metric.group,
        metric.window,
        most,
        reports,
        report,
        steady,
        change,
        life,
        shown(min(closest.price, prices.life)),
        closest.exact,
        _patterns(metric),
    )


def together(accounts: Sequence[Account]) -> Account:
    """What one installation gives away by several metrics: each price is summed for itself (sequential composition).

    Of metrics that take turns only one reports a changed window, so each group counts with its dearest change.
    """
    counted = {(each.window, each.windows) for each in accounts}
    window, windows = counted.pop() if len(counted) == 1 else ("", 0)
    return Account(
        "",
        "",
        window,
        windows,
        sum(each.reports for each in accounts),
        _sum(each.report for each in accounts),
        _sum(each.steady for each in accounts),
        _sum(_changes(accounts)),
        _sum(each.life for each in accounts),
        _sum(each.exact_life for each in accounts),
        all(each.exact for each in accounts),
        (),
    )


def _changes(accounts: Sequence[Account]) -> Iterator[float | None]:
    """Change prices by metric or by group, as `hubbub.client.charges.change` has them."""
    groups: dict[str, list[float | None]] = {}
    for each in accounts:
        if each.group:
            groups.setdefault(each.group, []).append(each.change)
        else:
            yield each.change
    for prices in groups.values():
        known = [price for price in prices if price is not None]
        yield max(known) if len(known) == len(prices) else None


def _patterns(metric: Metric) -> tuple[float, ...]:
    try:
        found = [same_pattern(metric.encoder, distinct) for distinct in range(1, _MOST_PATTERNS + 1)]
    except ParameterError:
        return ()
    return tuple(math.ceil(price * 1e6) / 1e6 for i, price in enumerate(found) if i == 0 or price > found[i - 1])


def _sum(prices: Iterable[float | None]) -> float | None:
    every = list(prices)
    known = [price for price in every if price is not None]
    return round(math.fsum(known), 6) if len(known) == len(every) else None  # whole millionths, so exactly
