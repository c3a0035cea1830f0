"""What one installation gives away over so many windows, as data: exact where it is known, the bound beside it."""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from hubbub.errors import ParameterError
from hubbub.lock import Metric, shown
from hubbub.privacy.life import exact_life
from hubbub.privacy.pattern import same_pattern

MAX_WINDOWS = 20_000  # two years of hours
_MOST_PATTERNS = 8


@dataclass(frozen=True)
class Account:
    """Losses in nats, rounded up to six decimals; None where there is no bound.

    Attributes:
        metric: Its name; empty for a sum over metrics.
        group: Of metrics that take turns, that it belongs to; empty where it takes none, and in a sum.
        windows: Windows that are counted; 0 in a sum over metrics whose windows differ.
        reports: Most reports of one device in them.
        report: One report.
        steady: A device that never changes, in these windows: never more than `life`.
        change: One changed window; never more than `life`.
        life: Any two histories, closed bound: what devices reckon with.
        exact_life: The same, exact where it is known; never more than `life`.
        same_pattern: Two histories that come back to a value exactly when the other does, with 1, 2, 3, ... distinct
            entries, for any number of reports; empty where nothing is kept or it is not known.
    """

    metric: str
    group: str
    windows: int
    reports: int
    report: float | None
    steady: float | None
    change: float | None
    life: float | None
    exact_life: float | None
    same_pattern: tuple[float, ...]


def account(metric: Metric, windows: int | None = None) -> Account:
    """The prices of one metric over so many windows; those of its life by default.

    Raises:
        ParameterError: windows outside [1, 20 000].
    """
    windows = len(metric.life) if windows is None else windows
    if not 1 <= windows <= MAX_WINDOWS:
        raise ParameterError("windows", windows, f"in [1, {MAX_WINDOWS}]")
    reports = -(-windows // metric.report_every)
    prices = metric.encoder.prices(reports)
    # Over few reports the bound of any two histories may be below those that say for how long they hold.
    report, steady, change, life = (shown(min(price, prices.life)) for price in prices)
    exact = shown(min(exact_life(metric.encoder, reports), prices.life))
    return Account(metric.name, metric.group, windows, reports, report, steady, change, life, exact, _patterns(metric))


def together(accounts: Sequence[Account]) -> Account:
    """What one installation gives away by several metrics: each price is summed for itself (sequential composition).

    Of metrics that take turns only one reports a changed window, so each group counts with its dearest change.
    """
    windows = {each.windows for each in accounts}
    return Account(
        "",
        "",
        windows.pop() if len(windows) == 1 else 0,
        sum(each.reports for each in accounts),
        _sum(each.report for each in accounts),
        _sum(each.steady for each in accounts),
        _sum(_changes(accounts)),
        _sum(each.life for each in accounts),
        _sum(each.exact_life for each in accounts),
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
