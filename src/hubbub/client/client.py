"""The client of an app: takes values in, seals windows that ended, and carries sealed reports to the collector.

Everything is said in the state before it is said on the wire: a window's value is kept until the clock has left the
window, then one transaction turns it into a report and forgets it, and only stored reports are posted.
"""

import math
import os
import random
import threading
import time
from collections import Counter
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from types import MappingProxyType

from hubbub.client.answers import judge
from hubbub.client.reporter import Preview, Reporter, form, segment
from hubbub.client.state import Report, Running, SqliteState, State, StateError
from hubbub.client.transport import HttpTransport, Transport
from hubbub.clock import Clock, SystemClock
from hubbub.errors import LockError, ParameterError
from hubbub.lock import Lock, parse

_NO_DIMENSIONS: Mapping[str, str] = MappingProxyType({})
_SYSTEM_CLOCK = SystemClock()
_LOT = random.SystemRandom()


class Client:
    """One installation of an app.

    It sends exactly one report for each window in which the program ran, the metric's null where nothing valid was
    recorded; the first is for the first window that begins at or after the installation's birth. The program runs in a
    window when the client is made or any of `add`, `set`, `tick`, `flush` is called in it. After construction nothing
    is raised because of a value, the state or the network; `counters` says what was dropped and why. Methods may be
    called from any thread.

    Args:
        lock: A metrics.lock, or the path of one.
        endpoint: Address of the collector; see `HttpTransport`.
        state_dir: Folder for this installation's secret and state. Losing it makes a new installation.
        state: What to use in place of a folder; whoever made it closes it.
        dimensions: Public values by dimension, one for each that a metric of the lock names.
        clock: What tells the time.
        transport: What to send through in place of a connection of the client's own; whoever made it closes it.

    Raises:
        LockError: The lock cannot be read or holds something that this release does not know.
        ParameterError: No or two places for the state, a bad endpoint, or a dimension missing or not allowed.
        StateError: The state cannot be used.
    """

    def __init__(
        self,
        lock: str | os.PathLike[str] | Lock,
        endpoint: str,
        *,
        state_dir: str | os.PathLike[str] | None = None,
        state: State | None = None,
        dimensions: Mapping[str, str] = _NO_DIMENSIONS,
        clock: Clock = _SYSTEM_CLOCK,
        transport: Transport | None = None,
    ) -> None:
        lock = lock if isinstance(lock, Lock) else _read(lock)
        cells = {name: segment(metric, dimensions) for name, metric in lock.metrics.items()}
        hashes = {name: form(metric).hash for name, metric in lock.metrics.items()}
        self._collection = lock.collection
        self._endpoint = endpoint
        self._clock = clock
        self._counters: Counter[str] = Counter()
        self._span = (math.inf, -math.inf)  # [from, to) in which the running windows stay the same
        # Reentrant, since the host may call from a signal handler; the second is taken before the first.
        self._guard = threading.RLock()  # around the state and the counters
        self._sending = threading.RLock()  # around the transport
        with ExitStack() as opened:
            if transport is None:
                transport = HttpTransport(endpoint)
                opened.callback(transport.close)
            if state is None and state_dir is not None:
                state = SqliteState(state_dir)
                opened.callback(state.close)
            elif state is None or state_dir is not None:
                raise ParameterError(
                    "state_dir", state_dir, "a folder for this installation's state where no state is given"
                )
            self._transport, self._state = transport, state
            now = clock.now()
            secret = state.begin(lock.collection, hashes, math.ceil(now))
            self._reporters = {
                name: Reporter(metric, lock.collection, secret, cells[name]) for name, metric in lock.metrics.items()
            }
            self._advance(now)
            self._opened = opened.pop_all()

    def __repr__(self) -> str:
        return f"Client(collection={self._collection!r}, endpoint={self._endpoint!r})"

    @property
    def counters(self) -> Mapping[str, int]:
        """How often something was dropped, refused or answered since the start; on the device only.

        For calls of the app: `invalid_value`, `unknown_metric`, `state_failed`, and `sealed_window` where the
        window began before the installation or, the clock having gone back, is sealed. For attempts to send:
        `accepted`, `duplicate`, the collector's code or `rejected`, `refused` (another status of HTTP), `unavailable`,
        `unreadable` and `unreachable`.
        """
        with self._guard:
            return dict(self._counters)

    def add(self, name: str, value: object = 1) -> None:
        """Add to what the current window holds: numbers are summed, a yes stays a yes."""
        self._record(name, value, replace=False)

    def set(self, name: str, value: object) -> None:
        """Replace what the current window holds."""
        self._record(name, value, replace=True)

    def tick(self) -> None:
        """Seal the windows that have ended by the clock; the program runs in the current ones."""
        try:
            with self._guard:
                self._advance(self._clock.now())
        except StateError:
            self._count("state_failed")

    def flush(self, timeout: float = 3.0) -> bool:
        """Tick, then post each report of the outbox once, in an order drawn for the purpose.

        An attempt that fails for the collector as a whole ends the round; what is left stays for the next.

        Args:
            timeout: Seconds in all; nothing is begun after them.

        Returns:
            Whether the outbox is empty.
        """
        deadline = time.monotonic() + timeout
        with self._sending:
            try:
                with self._guard:
                    self._advance(self._clock.now())
                    waiting = list(self._state.outbox())
                # The order tells nothing of metrics or times, and no report stands before the others for ever.
                _LOT.shuffle(waiting)
                while waiting and (left := deadline - time.monotonic()) > 0 and self._post(waiting.pop(), left):
                    pass
                with self._guard:
                    return not self._state.outbox()
            except StateError:
                self._count("state_failed")
                return False

    def preview(self, name: str, value: object) -> Preview:
        """What would become of a value, for the person at the device; nothing is recorded or sent.

        Raises:
            ParameterError: No such metric.
            PrivateValueError: Not a value of its kind.
        """
        if name not in self._reporters:
            raise ParameterError("name", name, "a metric of the lock: " + ", ".join(self._reporters))
        return self._reporters[name].preview(value)

    def close(self) -> None:
        """Release connection and folder where they are the client's own. Sends nothing: only ended windows are due."""
        with self._sending, self._guard:
            self._opened.close()

    def _record(self, name: str, value: object, *, replace: bool) -> None:
        try:
            with self._guard:
                problem = self._recorded(name, value, replace)
        except StateError:
            problem = "state_failed"
        if problem:
            self._count(problem)

    def _recorded(self, name: str, value: object, replace: bool) -> str:
        """Record a value in the current window; the counter of what kept it from that, or nothing."""
        now = self._clock.now()
        self._advance(now)
        reporter = self._reporters.get(name)
        if reporter is None:
            return "unknown_metric"
        read = reporter.form.kind.read(value)
        if read is None:
            return "invalid_value"
        running = reporter.around(now)
        if not reporter.reports(running):
            return ""  # outside the metric's life, or not this device's turn
        merge = reporter.form.kind.put(read, replace=replace)
        return "" if self._state.record(name, running.start, merge) else "sealed_window"

    def _advance(self, now: float) -> None:
        """Seal what has ended and run in the current windows. The caller holds the guard."""
        if self._span[0] <= now < self._span[1]:
            return
        self._state.seal(now, self._encode)
        current = [(reporter.around(now), reporter) for reporter in self._reporters.values()]
        self._state.run([running for running, reporter in current if reporter.reports(running)])
        starts, stops = [running.start for running, _ in current], [running.stop for running, _ in current]
        self._span = (max(starts, default=-math.inf), min(stops, default=math.inf))

    def _encode(self, running: Running) -> Report | None:
        reporter = self._reporters.get(running.metric)
        return reporter.encode(running) if reporter else None

    def _post(self, report: Report, timeout: float) -> bool:
        """Send one report; False where the collector as a whole does not take any."""
        try:
            verdict = judge(self._transport.post(report.body, timeout))
        except OSError:
            self._count("unreachable")
            return False
        self._count(verdict.word)
        if verdict.terminal:
            with self._guard:
                self._state.done(report.id)
        return not verdict.held_up

    def _count(self, word: str) -> None:
        with self._guard:
            self._counters[word] += 1


def _read(path: str | os.PathLike[str]) -> Lock:
    try:
        return parse(Path(path).read_bytes())
    except OSError as error:
        raise LockError(str(path), f"cannot be read ({error.strerror})", "give the path of a metrics.lock") from None
    except LockError as error:
        raise LockError(f"{path}: {error.where}", error.problem, error.remedy) from None
