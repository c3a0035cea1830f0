"""What an accepted definition costs an installation: the windows that were charged, and their prices in nats.

A charge knows the integers of its encoder, so that it can be priced again when its metric ends early, long after the
definition has left the lock. Specification: spec/ledger.md.
"""

import datetime
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise

from hubbub.encoders import registry
from hubbub.encoders.base import Encoder, Prices, up
from hubbub.errors import ParameterError
from hubbub.lock import Metric
from hubbub.windows import midnight, windows

DAY = 86_400
NOTHING = Prices(0.0, 0.0, 0.0, 0.0)


@dataclass(frozen=True, slots=True)
class Charge:
    """The windows of one definition, wholly inside [begins, ends) in unix seconds, that one secret may report."""

    version: int
    hash: str
    under: str  # names the secret (`Ledger.under`): permanent answers of two secrets are not the same
    encoder: str
    integers: tuple[int, ...]
    window: str
    report_every: int
    begins: int
    ends: int
    expires: int  # where the definition ends at the latest, whatever a lock with the same version says later
    stated: Prices  # as they were at acceptance
    group: str = ""  # of metrics that take turns: no window is reported by two of them

    @property
    def windows(self) -> range:
        """The windows charged."""
        return windows(self.window).inside(self.begins, self.ends)

    @property
    def reports(self) -> int:
        """Most reports among these windows."""
        return self._turns(len(self.windows))

    @property
    def prices(self) -> Prices:
        """What these windows give away."""
        return self._price(self.reports)

    @property
    def life_by_year(self) -> Mapping[int, float]:
        """Life prices of the windows that begin in each calendar year (UTC); their sum is not below `prices.life`."""
        years = _windows_by_year(self.window, self.begins, self.ends)
        return {year: self._price(self._turns(n)).life for year, n in years}

    def allows(self, start: int, stop: int) -> bool:
        """Whether a window is among those charged."""
        return self.begins <= start and stop <= self.ends

    def cut(self, at: int) -> "Charge":
        """The charge once nothing that ends after `at` will be reported."""
        return replace(self, ends=min(self.ends, max(self.begins, at)))

    def together(self, reports: int) -> float:
        """What so many reports give away by themselves, whatever the values; a charge of no windows costs nothing."""
        if not self.windows:
            return 0.0
        prices = self._price(reports)
        return prices.report if reports == 1 else prices.life

    def steady(self, reports: int) -> float:
        """Steady price of this many reports of a value that never changes."""
        return self._price(reports).steady

    def _turns(self, count: int) -> int:
        return -(-count // self.report_every)

    def _price(self, reports: int) -> Prices:
        return _price(self.encoder, self.integers, self.stated, reports)


def charge(metric: Metric, under: str, begins: int, expires: int) -> Charge:
    """The charge for all windows of a definition from `begins` until `expires`, in unix seconds."""
    return replace(_charge(metric, begins, expires), under=under)


@lru_cache(maxsize=1024)  # a process may hold many clients of one lock
def _charge(metric: Metric, begins: int, expires: int) -> Charge:
    encoder, ends = metric.encoder, max(begins, expires)
    turns = -(-len(windows(metric.window).inside(begins, ends)) // metric.report_every)
    return Charge(
        metric.version,
        metric.hash,
        "",
        encoder.name,
        encoder.canonical(),
        metric.window,
        metric.report_every,
        begins,
        ends,
        expires,
        _of(type(encoder), encoder.canonical(), turns) if turns else NOTHING,
        metric.group,
    )


def whole(metric: Metric) -> Charge:
    """The charge for a definition's whole life."""
    return charge(metric, "", midnight(metric.starts), midnight(metric.expires))


def in_order(prices: Prices, reports: int) -> Prices:
    """Prices as people are shown them: what one report tells bounds everything told by it, and a life all within it.

    Bounds for many reports may stand above what few can tell. Policies, locks and sums of what is charged go by the
    prices as they are, which cover renewals.
    """
    life = prices.report if reports == 1 else prices.life
    return Prices(*(min(price, life) for price in prices))


def per_day(charges: Mapping[str, Charge]) -> Mapping[str, float]:
    """What all reports about one day give away, by metric or by group of metrics that take turns.

    Args:
        charges: Of metrics that are measured at the same time, by name.
    """
    found = {}
    for label, members in grouped(charges).items():
        one = members[0]
        rounds, rest = divmod(max(1, DAY // windows(one.window).length), one.report_every)
        # Whose turn comes once more is the secret's choice: reckon with those for whom that costs most.
        ordered = sorted(members, key=lambda each: each.together(rounds) - each.together(rounds + 1))
        found[label] = math.fsum(each.together(rounds + (i < rest)) for i, each in enumerate(ordered))
    return found


def change(charges: Mapping[str, Charge]) -> Mapping[str, float]:
    """Change prices by metric or by group: where metrics take turns, one of them alone reports the changed window."""
    return {label: max(one.prices.change for one in members) for label, members in grouped(charges).items()}


def grouped(charges: Mapping[str, Charge]) -> Mapping[str, Sequence[Charge]]:
    """Charges by metric or by group: what shares out the windows stands together."""
    groups: dict[str, list[Charge]] = {}
    for name, one in charges.items():
        groups.setdefault(f"rotation {one.group}" if one.group else name, []).append(one)
    return groups


def steady(charges: Iterable[Charge]) -> float:
    """Steady price of one metric name: what permanent answers show is paid once for each secret and encoding."""
    groups: dict[tuple[str, str], tuple[Charge, int]] = {}
    for one in charges:
        key = one.under, one.hash
        groups[key] = one, one.reports + (groups[key][1] if key in groups else 0)
    return math.fsum(one.steady(reports) for one, reports in groups.values())


def _price(name: str, integers: tuple[int, ...], stated: Prices, reports: int) -> Prices:
    if reports == 0:
        return NOTHING
    try:
        return _of(registry[name], integers, reports)
    except (KeyError, ParameterError, TypeError):
        # An encoder of another release: histories of n reports differ in n of them at most, each at the price of one.
        return stated._replace(life=min(stated.life, up(reports * stated.change)))


@lru_cache(maxsize=4096)
def _of(kind: type[Encoder], integers: tuple[int, ...], reports: int) -> Prices:
    return kind(*integers).prices(reports)


@lru_cache(maxsize=4096)
def _windows_by_year(window: str, begins: int, ends: int) -> tuple[tuple[int, int], ...]:
    """How many windows wholly inside [begins, ends) begin in each calendar year."""
    cut = windows(window)
    charged = cut.inside(begins, ends)
    if not charged:
        return ()
    years = range(_year(cut.start(charged[0])), _year(cut.start(charged[-1])) + 1)
    borders = [charged.start, *(_first_in(window, year) for year in years[1:]), charged.stop]
    counts = (after - before for before, after in pairwise(borders))
    return tuple((year, n) for year, n in zip(years, counts, strict=True) if n)


def _year(second: int) -> int:
    return (datetime.datetime(1970, 1, 1) + datetime.timedelta(seconds=second)).year


@lru_cache(maxsize=256)
def _first_in(window: str, year: int) -> int:
    """The first window that begins in the year or after it."""
    cut = windows(window)
    return -((cut.origin - midnight(f"{year:04d}-01-01")) // cut.length)
