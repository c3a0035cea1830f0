"""Windows: numbered, half-open stretches of UTC time in which a device reports at most once per metric.

Window w of a length covers [start(w), end(w)) in unix seconds. Hours and days count from 1970-01-01T00:00:00Z; weeks
begin on Monday, so week 0 began on 1970-01-05. Specification: spec/windows.md.
"""

import datetime
import math
from dataclasses import dataclass

from hubbub.errors import ParameterError

_LENGTHS = {"hour": 3600, "day": 86_400, "week": 604_800}
_ORIGINS = {"hour": 0, "day": 0, "week": 345_600}
NAMES = tuple(_LENGTHS)
MAX_SKEW = 600  # seconds by which a device's clock may run ahead of the collector's


@dataclass(frozen=True)
class Windows:
    """One way of cutting time: window w is [origin + w length, origin + (w + 1) length) in unix seconds."""

    name: str
    length: int
    origin: int

    def index(self, now: float) -> int:
        """The window that `now`, in unix seconds, falls into."""
        return math.floor((now - self.origin) / self.length)

    def start(self, window: int) -> int:
        """First second of the window."""
        return self.origin + window * self.length

    def end(self, window: int) -> int:
        """First second after the window."""
        return self.start(window + 1)

    def inside(self, starts: int, expires: int) -> range:
        """Windows that lie wholly inside [starts, expires), given in unix seconds."""
        first = -((self.origin - starts) // self.length)
        return range(first, max(first, (expires - self.origin) // self.length))


def windows(name: str) -> Windows:
    """The windows called `hour`, `day` or `week`.

    Raises:
        ParameterError: No such length.
    """
    if name not in _LENGTHS:
        raise ParameterError("window", name, "one of " + ", ".join(NAMES))
    return Windows(name, _LENGTHS[name], _ORIGINS[name])


def midnight(date: str) -> int:
    """Unix seconds at which the ISO date `date` begins in UTC.

    Raises:
        ParameterError: Not of the form YYYY-MM-DD, or no such day.
    """
    try:
        day = datetime.date.fromisoformat(date)
        if day.isoformat() != date:
            raise ValueError
    except (ValueError, TypeError):
        raise ParameterError("date", date, "an ISO date such as 2026-12-01") from None
    return (day.toordinal() - datetime.date(1970, 1, 1).toordinal()) * 86_400


def iso(seconds: int) -> str:
    """Whole unix seconds as an RFC 3339 UTC time such as 2026-12-02T00:00:00Z."""
    return datetime.datetime.fromtimestamp(seconds, datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
