"""The four prices of a metric as data: what tables and `--json` show."""

import math
from dataclasses import dataclass

from hubbub.lock import Metric, shown
from hubbub.privacy.words import nats, percent


@dataclass(frozen=True)
class PriceLine:
    """One price of one installation for one metric.

    Attributes:
        key: `report`, `steady`, `change` or `life`, as in the lock.
        label: What it is the price of, in a few words.
        epsilon: Nats, rounded up to six decimals as in the lock; None where there is no bound.
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


def describe(metric: Metric) -> list[PriceLine]:
    """The four prices, always together and in this order: report, steady, change, life."""
    words = {
        "report": ("one report", "two values, by one report"),
        "steady": (
            "a device that never changes, for ever",
            f"two values, by all {plural(metric.reports, 'report')} of a device whose value never changes",
        ),
        "change": ("one changed window", f"two histories that differ in one {metric.window} alone"),
        "life": (
            "any two histories, whole life",
            f"any two histories over {plural(len(metric.life), metric.window)}, {plural(metric.reports, 'report')}",
        ),
    }
    return [
        PriceLine(key, words[key][0], shown(price), percent(price), words[key][1])
        for key, price in metric.prices._asdict().items()
    ]


def keeps(metric: Metric) -> bool:
    """Whether devices keep permanent answers: only then does a changed window cost more than a report."""
    return metric.prices.change > metric.prices.report


def plural(count: int, noun: str) -> str:
    """`1 day`, `364 days`."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
