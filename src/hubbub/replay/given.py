"""A collector that runs already, at an address: what time it is there, what it takes, where its estimates are read."""

import math

from hubbub.answers.remote import Listener
from hubbub.answers.sources import Span
from hubbub.clock import Clock, SystemClock
from hubbub.errors import ParameterError
from hubbub.estimates import Row
from hubbub.lock import Metric
from hubbub.replay.dev import admit
from hubbub.replay.health import ask, next_port
from hubbub.replay.table import Table

_MARGIN = 60.0  # real seconds in which a replay's first reports should have arrived
_REMEDY = 'give the address that `hubbub serve` prints after "listening on"'


class Given:
    """The collector at an address, and its read listener: by default the next port.

    Attributes:
        real: Whether it keeps real reports, among which pretend devices would never be found again.

    Raises:
        HubbubError: Nothing answers there, or no collector.
        ParameterError: Not an address.
    """

    def __init__(self, endpoint: str, read_endpoint: str = "") -> None:
        self.endpoint = endpoint.rstrip("/")
        mode, simulated = ask(self.endpoint, _REMEDY)
        self.real = mode != "dev"
        self.clock: Clock = simulated or SystemClock()
        self._speed = simulated.speed if simulated else 1.0  # seconds that pass there in one
        self.read_endpoint = read_endpoint or next_port(self.endpoint)

    def last(self, metric: Metric) -> int:
        """The latest window that has ended there."""
        return metric.windows.index(self.clock.now()) - 1

    def check(self, table: Table, metric: Metric, after: int | None = None) -> None:
        """Refuse, before anything is sent, what the collector would.

        Args:
            table: What is to be replayed.
            metric: What its values are for.
            after: Windows up to this one have been sent before.

        Raises:
            ParameterError: Windows that are older than grace, with how many would fit.
            HubbubError: The collector does not take this metric as it is defined here.
        """
        windows = [window for window in table.windows if after is None or window > after]
        if not windows:
            return
        late = self.clock.now() + _MARGIN * self._speed - metric.grace
        if metric.windows.end(windows[0]) <= late:
            every = list(table.windows)
            oldest = math.floor((late - metric.windows.origin) / metric.windows.length)
            room = every[-1] - oldest  # how far apart the first and the last may be
            fit = sum(window - every[0] < room for window in every)
            days = metric.grace / 86_400
            most = f"at most {fit}" if fit else "left out, since not one would arrive in time"
            expected = f"{most}: older windows would be refused, for the metric's grace is {days:g} days"
            raise ParameterError("--windows", len(every), expected)
        admit(self.endpoint, {(metric, windows[0]), (metric, windows[-1])}, _REMEDY)

    def rows(self, metric: Metric, start: int, end: int) -> list[Row]:
        """Its estimates of the windows in [start, end), in unix seconds.

        Raises:
            HubbubError: The read listener cannot be reached, or is none.
        """
        with Listener(self.read_endpoint) as listener:
            return listener.rows(metric.name, Span(start, end), None, 0.95)

    def revive(self) -> bool:
        """Somebody else looks after it."""
        return False
