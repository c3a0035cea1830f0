"""One open state and what an app records in it: windows that run, are sealed when they end, or are wiped.

Everything here is called with the client's guard held, and may raise `StateError`.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

from hubbub.client import consent, schedule
from hubbub.client.consent import Choice
from hubbub.client.policy import Policy
from hubbub.client.reporter import Reporter, about
from hubbub.client.state import Held, Report, Running, State, is_time
from hubbub.clock import Clock
from hubbub.lock import ACTIVE, Lock

_NEVER = (math.inf, -math.inf)


@dataclass(frozen=True)
class Setup:
    """What an app gave its client, checked."""

    lock: Lock
    policy: Policy
    cells: Mapping[str, str]  # the device's segment of each metric
    clock: Clock
    default: Choice  # what holds until the person has chosen
    forbidden: bool  # the environment does not allow anything to be sent
    background: bool  # a thread seals what has ended, so that recording need not wait for the disk


class Recorder:
    """One open state.

    Args:
        setup: The client's.
        state: Nothing has begun in it yet since it was opened.

    Raises:
        StateError: The state cannot be used.
    """

    def __init__(self, setup: Setup, state: State) -> None:
        self.state = state
        self._setup = setup
        now = setup.clock.now()
        installation = state.begin(setup.lock, setup.policy, now)
        self.recovered = installation.recovered
        self.ledger = installation.ledger
        self.choice = state.consent()
        self.ended = True  # windows may have ended that are not sealed
        self.dropped: dict[str, int] = {"outbox_full": 0, "wiped": 0}  # reports that will not be sent
        self._refused = frozenset(installation.ledger.refused)
        self._to_wipe = True  # where consent is denied: it may have been since the last start
        self._span = _NEVER  # [from, to) in which the running windows stay the same
        self._filled = -math.inf  # windows that ended by then and never ran were filled in, where a metric wants that
        self._hidden = any(metric.presence == "hidden" for metric in setup.lock.metrics.values())
        self.reporters = {
            name: Reporter(metric, setup.lock.collection, installation.secret, setup.cells[name])
            for name, metric in setup.lock.metrics.items()
        }
        self._fed = {name for name, metric in setup.lock.metrics.items() if metric.source}
        self._feeds = {name.removesuffix(ACTIVE): name for name in self._fed}
        self._hashes = {name: reporter.form.hash for name, reporter in self.reporters.items()}
        self.advance(now, seal=not setup.background)

    @property
    def consented(self) -> Choice:
        """What holds now."""
        return consent.effective(self.choice, self._setup.default, self._setup.forbidden)

    def record(self, name: str, value: object, *, replace: bool) -> str:
        """Record a value in the current window; the counter of what kept it from that, or nothing."""
        now = self._setup.clock.now()
        self.advance(now, seal=not self._setup.background)
        reporter = self.reporters.get(name)
        if reporter is None or name in self._fed:
            return "unknown_metric"
        read = (reporter.form.read if replace else reporter.form.added)(value)
        if read is None:
            return "invalid_value"
        if self.consented == "denied":
            return "denied"
        if fed := self._feeds.get(name):  # also where `name` itself is refused, for then its yes is true all the same
            self._put(fed, 1.0, now, replace=True)
        return self._put(name, read, now, replace=replace)

    def _put(self, name: str, read: Held, now: float, *, replace: bool) -> str:
        if name in self._refused:
            return "refused_by_policy"
        reporter = self.reporters[name]
        running = reporter.around(now)
        if not reporter.reports(running):
            return ""  # outside the metric's life, or not this device's turn
        merge = reporter.form.kind.put(read, replace=replace)
        return "" if self.state.record(running, merge) else "sealed_window"

    def tick(self) -> float:
        """Run in the current windows and seal what has ended by the clock; when the next window ends."""
        self.advance(self._setup.clock.now(), seal=True)
        return math.inf if self.consented == "denied" else self._span[1]

    def until(self, report: Report) -> float:
        """When a report ceases to be taken, unix seconds; long ago where it is about no window of this lock."""
        try:
            metric, encoding, window = about(report.body)
        except ValueError:  # the disk has damaged it: the collector will say so
            return -math.inf
        reporter = self.reporters.get(metric)
        return reporter.until(window) if reporter and reporter.form.hash.startswith(encoding) else -math.inf

    def advance(self, now: float, *, seal: bool) -> None:
        """Run in the current windows, and seal what has ended or leave that to whoever asks with `seal`."""
        within = self._span[0] <= now < self._span[1]
        if self.consented == "denied":
            # A denial that the environment makes is over with it: what it lasted for is sealed, never filled in.
            if self._to_wipe or (self._hidden and not within):
                self.dropped["wiped"] += self.state.stored().reports
                self.state.wipe(now)
                self._to_wipe = False
                if is_time(now):
                    self._span = self._around(now)
            return
        seal = seal and (self.ended or not within)
        if seal:
            self._fill(now)
            self.state.seal(now, partial(self._encode, now), self._hashes)
            self.ended = False
        if not within:
            current = [(reporter.around(now), reporter) for reporter in self.reporters.values()]
            self.state.run([running for running, reporter in current if reporter.reports(running)])
            self._span = self._around(now)
            self.ended = self.ended or not seal
        if seal and (waiting := self.state.outbox()):
            before = schedule.too_old([report.sealed for report in waiting], now)
            self.dropped["outbox_full"] += self.state.trim(schedule.MAX_REPORTS, schedule.MAX_BYTES, before)

    def deny(self) -> None:
        """From now on nothing is recorded or sent, also if none of this can be written."""
        self.choice, self._to_wipe = "denied", True
        self.state.set_consent("denied")
        self.advance(self._setup.clock.now(), seal=True)

    def grant(self) -> None:
        """From now on windows are reported, the running one only if nothing was denied while it ran."""
        now = self._setup.clock.now()
        self.advance(now, seal=True)  # what ended until now ended without consent
        if self.consented == "denied":
            self.state.wipe(now)
            self._span = _NEVER
        self.state.set_consent("granted")
        self.choice = "granted"
        self.advance(now, seal=True)

    def _around(self, now: float) -> tuple[float, float]:
        """The time [from, to) around `now` in which no metric's window begins or ends."""
        current = [reporter.around(now) for reporter in self.reporters.values()]
        starts, stops = (one.start for one in current), (one.stop for one in current)
        return max(starts, default=-math.inf), min(stops, default=math.inf)

    def _fill(self, now: float) -> None:
        """Let windows in which the program never ran be sealed as if it had run and nothing had been recorded."""
        missed = [one for reporter in self.reporters.values() for one in reporter.missed(now, self._filled)]
        if missed:
            self.state.run(missed)
        self._filled = now

    def _encode(self, now: float, running: Running) -> Report | None:
        """The report of a window that has ended; None where nobody has agreed to it."""
        reporter = self.reporters.get(running.metric)
        return reporter.encode(running, now) if reporter and self.consented == "granted" else None
