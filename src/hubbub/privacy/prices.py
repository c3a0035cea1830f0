"""The four prices of a metric as data: what tables and `--json` show."""

import math
from dataclasses import dataclass

from hubbub.client.charges import in_order
from hubbub.encoders.base import Prices
from hubbub.lock import Metric, shown
from hubbub.privacy.words import nats, percent, plural


@dataclass(frozen=True)
class PriceLine:
    """One price of one installation for one metric.

    Attributes:
        key: `report`, `steady`, `change` or `life`, as in the lock.
        label: What it is the price of, in a few words.
        epsilon: Nats, rounded up to six decimals; None where there is no bound.
        odds: The most that even odds can become: `73.2 %`, `practically certain`; `100 %` where there is no bound.
        meaning: What it compares, and by how many reports.
    """

    key: str
    label: str
    epsilon: float | None
    odds: str
    meaning: str

    @property
    def nats(self) -> str:
        """Epsilon as printed, rounded up to three decimals; `no bound` where there is none."""
        return nats(math.inf if self.epsilon is None else self.epsilon)


def of_life(metric: Metric) -> Prices:
    """What the reports of a metric's life tell, in nats: those of the lock, but none above that of any two histories.

    All four are that of one report where the life has one.
    """
    return in_order(metric.prices, metric.reports)


def describe(metric: Metric) -> list[PriceLine]:
    """The four prices of its life, always together and in this order: report, steady, change, life."""
    every = "the one report" if metric.reports == 1 else f"all {metric.reports} reports"
    words = {
        "report": ("one report", "two values, by one report"),
        "steady": (
            "a device that never changes",
            f"two values, by {every} of a device whose value never changes",
        ),
        "change": ("one changed window", f"two histories that differ in one {metric.window} alone"),
        "life": (
            "any two histories, whole life",
            f"any two histories over {plural(len(metric.life), metric.window)}, {plural(metric.reports, 'report')}",
        ),
    }
    return [
        PriceLine(key, words[key][0], shown(price), percent(price), words[key][1])
        for key, price in of_life(metric)._asdict().items()
    ]


def keeps(metric: Metric) -> bool:
    """Whether devices keep permanent answers: only then does a changed window cost more than a report."""
    return metric.prices.change > metric.prices.report
