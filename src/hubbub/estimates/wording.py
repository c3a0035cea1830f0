"""How estimates are written for people: states in words, numbers to as many digits as their intervals are worth."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol, Self

from hubbub.lock import SHARES

STATES: Mapping[str, str] = {
    "open": "the window has not ended, or reports still come and are too few so far",
    "empty": "no reports came",
    "suppressed": "fewer reports came than the metric's min_reports",
    "too_uncertain": "the interval is wider than all that the value can be",
    "provisional": "reports may still come, so the figures may still change",
    "final": "no more reports are taken",
}


class Interval(Protocol):
    """Anything that has an interval, or none."""

    @property
    def ci_low(self) -> float | None:
        """Its lower end."""
        ...

    @property
    def ci_high(self) -> float | None:
        """Its upper end."""
        ...


@dataclass(frozen=True)
class Scale:
    """How a metric's numbers are written: shares in per cent, means in their unit, to two digits of the half-width.

    Whole numbers keep three digits of it. `digits` is negative where numbers end in zeros: -3 for thousands.
    """

    factor: float
    digits: int
    unit: str

    @classmethod
    def of(cls, kind: str, unit: str, rows: Iterable[Interval]) -> Self:
        """What fits these rows of a metric of this kind and unit."""
        factor, shown = (100.0, " %") if kind in SHARES else (1.0, f" {unit}" if unit else "")
        halves = sorted(
            factor * (row.ci_high - row.ci_low) / 2
            for row in rows
            if row.ci_low is not None and row.ci_high is not None
        )
        half = halves[len(halves) // 2] if halves else 1.0
        digits = 1 - math.floor(math.log10(half)) if half > 0 else 1
        return cls(factor, digits if digits >= 0 else digits + 1, shown)

    def bare(self, number: float | None) -> str:
        """The number alone, or a dash where nothing may be shown."""
        return "–" if number is None else f"{round(number * self.factor, self.digits) + 0.0:.{max(0, self.digits)}f}"

    def text(self, number: float | None) -> str:
        """The number with its unit."""
        return self.bare(number) + ("" if number is None else self.unit)

    def interval(self, low: float | None, high: float | None) -> str:
        """Both ends with one unit."""
        return "–" if low is None else f"{self.bare(low)} to {self.bare(high)}{self.unit}"


def category(kind: str, unit: str, name: str | None) -> str:
    """What stands for a category: a bucket with both ends and the unit; `all` beside those with a mean of their own."""
    if name is None:
        return "all"
    if kind != "histogram":
        return name
    ends = f"{name} to {int(name) + 1}" if name.isdecimal() else name  # buckets from 0 in steps of 1 are numbers
    return f"{ends} {unit}".rstrip()
