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
from hubbub.client.reporter import Reporter
from hubbub.client.state import Report, Running, State
from hubbub.clock import Clock
from hubbub.lock import Lock

_NEVER = (math.inf, -math.inf)


@dataclass(frozen=True)
class Setup:
    """What an app gave its client, checked."""

    lock: Lock
    policy: Policy
    cells: Mapping[str, str]  # the device's segment of each metric
    clock: Clock
    default: Choice  # what holds until the person has chosen
    forbidden: bool  # the environment asks not to be tracked
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
        self.reporters = {
            name: Reporter(metric, setup.lock.collection, installation.secret, setup.cells[name])
            for name, metric in setup.lock.metrics.items()
        }
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
        if reporter is None:
            return "unknown_metric"
        if name in self._refused:
            return "refused_by_policy"
        read = reporter.form.read(value)
        if read is None:
            return "invalid_value"
        if self.consented == "denied":
            return "denied"
        running = reporter.around(now)
        if not reporter.reports(running):
            return ""  # outside the metric's life, or not this device's turn
        merge = reporter.form.kind.put(read, replace=replace)
        return "" if self.state.record(running, merge) else "sealed_window"

    def tick(self) -> float:
        """Run in the current windows and seal what has ended by the clock; when the next window ends."""
        self.advance(self._setup.clock.now(), seal=True)
        return math.inf if self.consented == "denied" else self._span[1]

    def advance(self, now: float, *, seal: bool) -> None:
        """Run in the current windows, and seal what has ended or leave that to whoever asks with `seal`."""
        if self.consented == "denied":
            if self._to_wipe:
                self.dropped["wiped"] += self.state.stored().reports
                self.state.wipe(now)
                self._to_wipe = False
            return
        within = self._span[0] <= now < self._span[1]
        if seal and (self.ended or not within):
            self.state.seal(now, partial(self._encode, now), self._hashes)
            before = now - schedule.MAX_AGE
            self.dropped["outbox_full"] += self.state.trim(schedule.MAX_REPORTS, schedule.MAX_BYTES, before)
            self.ended = False
        if not within:
            current = [(reporter.around(now), reporter) for reporter in self.reporters.values()]
            self.state.run([running for running, reporter in current if reporter.reports(running)])
            starts, stops = [running.start for running, _ in current], [running.stop for running, _ in current]
            self._span = (max(starts, default=-math.inf), min(stops, default=math.inf))
            self.ended = self.ended or not seal

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

    def _encode(self, now: float, running: Running) -> Report | None:
        """The report of a window that has ended; None where nobody has agreed to it."""
        reporter = self.reporters.get(running.metric)
        return reporter.encode(running, now) if reporter and self.consented == "granted" else None
