"""The client of an app: takes values in, seals windows that ended, and carries sealed reports to the collector.

Everything is said in the state before it is said on the wire: a window's value is kept until the clock has left the
window, then one transaction turns it into a report and forgets it, and only stored reports are posted.
"""

import _thread
import math
import os
import threading
import time
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from types import MappingProxyType

from hubbub.client import consent as consents
from hubbub.client import hosting
from hubbub.client.consent import Choice
from hubbub.client.ledger import Ledger
from hubbub.client.memory import MemoryState
from hubbub.client.policy import Policy, enforce, resolve
from hubbub.client.recorder import Recorder, Setup
from hubbub.client.reporter import Preview, form, segment
from hubbub.client.sender import Desk, Sender
from hubbub.client.sqlite import SqliteState
from hubbub.client.state import State, StateError
from hubbub.client.transport import HttpTransport, Transport
from hubbub.clock import Clock, SystemClock
from hubbub.errors import LockError, ParameterError
from hubbub.lock import Lock, parse

REJOIN_SECONDS = 5.0  # between two tries of a forked child to take the folder over
FORK_SECONDS = 1.0  # that a fork waits for a call that is within the state
_FILES = ("state.db", "secret.json")  # by which a folder is known to hold a state
_NO_DIMENSIONS: Mapping[str, str] = MappingProxyType({})
_SYSTEM_CLOCK = SystemClock()


class Client:
    """One installation of an app.

    It sends exactly one report for each window in which the program ran, the metric's null where nothing valid was
    recorded; the first is for the first window that begins at or after the installation's birth. The program runs in a
    window when the client is made or any of `add`, `set`, `tick`, `flush` is called in it.

    After construction nothing is raised because of a value, the state, the network or the clock; `counters` says what
    was dropped and why. `add` and `set` make one short transaction (the first in a window one more) and never wait for
    the network. Methods may be called from any thread. In a forked child the client drops what it is given, and takes
    the folder over once the parent has let go of it (spec/wire.md, "Processes").

    Args:
        lock: A metrics.lock, which is checked as its file would be, or the path of one.
        endpoint: Address of the collector; see `HttpTransport`.
        policy: "strict", "standard", "research" or limits of the app's own.
        life: Limit on life prices in nats a year, or "unlimited"; the policy "standard" demands it.
        state_dir: Folder for this installation's secret and state. Losing it makes a new installation.
        state: What to use in place of a folder; whoever made it closes it.
        dimensions: Public values by dimension, one for each that a metric of the lock names.
        clock: What tells the time.
        transport: What to send through in place of connections of the client's own; whoever made it closes it.
        background: Whether a thread of the client sends each report at its own time; otherwise the app calls `flush`.
        consent: What holds until the person has chosen: "granted", or "unknown" if the app asks first.
        in_ci: Whether to take part also where the variable `CI` is set, which by itself forbids like `DO_NOT_TRACK`:
            in continuous integration each job mostly is a new installation, and nobody's device.

    Raises:
        LockError: The lock cannot be read or holds something that this release does not know.
        ParameterError: No or two places for the state, a bad endpoint or policy, or a dimension missing or not allowed.
        PolicyError: The lock asks for more than the policy allows.
        StateError: The state cannot be used.
    """

    def __init__(
        self,
        lock: str | os.PathLike[str] | Lock,
        endpoint: str,
        *,
        policy: str | Policy = "standard",
        life: float | str | None = None,
        state_dir: str | os.PathLike[str] | None = None,
        state: State | None = None,
        dimensions: Mapping[str, str] = _NO_DIMENSIONS,
        clock: Clock = _SYSTEM_CLOCK,
        transport: Transport | None = None,
        background: bool = True,
        consent: Choice = "granted",
        in_ci: bool = False,
    ) -> None:
        lock = lock.checked if isinstance(lock, Lock) else _read(lock)
        cells = {name: segment(metric, dimensions) for name, metric in lock.metrics.items()}
        for metric in lock.metrics.values():
            form(metric)
        limits = resolve(policy, life)
        enforce(lock, limits)
        default = consents.check("consent", consent, consents.DEFAULTS)
        self._setup = Setup(lock, limits, cells, clock, default, bool(consents.forbidding(in_ci=in_ci)), background)
        self._endpoint = endpoint
        self._counters: Counter[str] = Counter()
        # Reentrant, since the host may call from a signal handler. The sender's own lock is taken before it.
        self._guard = threading.RLock()  # around the state and the counters
        self._closed = False
        self._parted = False  # in a forked child: the state is the parent's
        self._forker = 0  # the thread that holds the guard while the process forks
        self._rejoin_at = -math.inf
        if (state is None) == (state_dir is None):
            raise ParameterError(
                "state_dir", state_dir, "a folder for this installation's state where no state is given"
            )
        self._folder = None if state_dir is None else Path(state_dir)
        self._own = HttpTransport(endpoint) if transport is None else None
        self._transport: Transport = self._own or transport  # type: ignore[assignment]  # one of the two
        self._open(state)
        hosting.watch(self)

    def __repr__(self) -> str:
        return f"Client(collection={self._setup.lock.collection!r}, endpoint={self._endpoint!r})"

    @property
    def counters(self) -> Mapping[str, int]:
        """How often something was dropped, refused or answered since the start; on the device only, never sent.

        Values that were not recorded: `invalid_value`, `unknown_metric`, `refused_by_policy` (see `ledger`), `denied`
        (no consent), `sealed_window` (the window began before the installation or, the clock having gone back, is
        sealed), `closed` (after `close`; all calls are counted), `forked` (the state is another process's),
        `storage_busy` and `state_failed` (the state could not be used; also when sealing and sending),
        `internal_error` (anything else, such as a clock that fails). Reports that will not be sent: `outbox_full`
        (dropped by the limits on the outbox), `wiped` (consent was denied). Attempts to send: `accepted`, `duplicate`,
        the collector's code or `rejected`, `refused` (another status of HTTP), `unavailable`, `unreadable`,
        `unreachable` and `transport_failed`. What happened to the memory: see spec/ledger.md, "Recovery".
        """
        with self._guard:
            return dict(self._counters + Counter(self._recorder.dropped))

    def add(self, name: str, value: object = 1) -> None:
        """One event of the current window; what several come to is the metric's `aggregate` (spec/registry.md).

        Unless it says otherwise numbers are summed, those of a vector one by one, a yes stays a yes, and of labels and
        words the last counts.
        """
        self._record(name, value, replace=False)

    def set(self, name: str, value: object) -> None:
        """What the current window holds, in place of all that came before.

        A metric that counts takes the number of events, and one that is a share of them a number in [0, 1].
        """
        self._record(name, value, replace=True)

    def tick(self) -> None:
        """Seal the windows that have ended by the clock; the program runs in the current ones."""
        try:
            with self._guard:
                if problem := self._unusable():
                    self._count(problem)
                else:
                    self._recorder.tick()
        except Exception as error:
            self._failed(error)

    def flush(self, timeout: float = 3.0) -> bool:
        """Tick, then post each report of the outbox once, now and in an order drawn for the purpose.

        The times drawn for them do not count, nor what the collector asked to wait: it is the app that sends. An
        attempt that fails for the collector as a whole ends the round; what is left stays for the next.

        Args:
            timeout: Seconds in all; nothing is begun after them.

        Returns:
            Whether the outbox is empty.
        """
        try:
            with self._guard:
                if problem := self._unusable():
                    self._count(problem)
                    return False
            return self._sender.flush(timeout)
        except Exception as error:
            self._failed(error)
            return False

    def consent(self, state: Choice | None = None) -> Choice:
        """What holds, after taking down what the person chose where that is given.

        Denied: values and outbox are wiped, a request under way is broken off and none begins any more; secret, ledger
        and seals stay. Granted again: reports begin with the next window. A denial that cannot be stored
        (`state_failed`) holds until the program ends.

        Args:
            state: "granted" or "denied".

        Raises:
            ParameterError: Another word.
        """
        choice = None if state is None else consents.check("state", state, consents.CHOICES)
        try:
            with self._guard:
                if choice is not None:
                    self._choose(choice)
        except Exception as error:
            self._failed(error)
        return self._recorder.consented

    def ledger(self) -> Ledger:
        """What this installation accepted and gave away, and which metrics it refuses and why."""
        try:
            with self._guard:
                if not self._unusable():
                    self._recorder.ledger = self._recorder.state.ledger()
        except Exception as error:
            self._failed(error)
        return self._recorder.ledger

    def preview(self, name: str, value: object) -> Preview:
        """What would become of a value, for the person at the device; nothing is recorded or sent.

        Raises:
            ParameterError: No such metric.
            PrivateValueError: Not a value of its kind.
        """
        reporters = self._recorder.reporters
        if name not in reporters:
            raise ParameterError("name", name, "a metric of the lock: " + ", ".join(reporters))
        return reporters[name].preview(value)

    def close(self) -> None:
        """End the thread and release connection and folder where they are the client's own. Sends nothing.

        A request under way has a second to be answered. Called by itself at the end of the program.
        """
        self._end(hosting.EXIT_SECONDS)

    # What the process does (hosting.Hosted)

    def leave(self, budget: float) -> None:
        """The process ends."""
        if not self._parted:
            self._end(budget)

    def before_fork(self) -> None:
        """The process is about to fork."""
        if self._guard.acquire(timeout=FORK_SECONDS):
            self._forker = threading.get_ident()

    def after_fork(self, *, child: bool) -> None:
        """The process has forked."""
        guard, held = self._guard, self._forker == threading.get_ident()
        if held:
            self._forker = 0
        if child:
            self._guard = threading.RLock()
            self._parted = True
            self._sender.abandon()
            with suppress(StateError):
                self._recorder.state.abandon()
            held = held and not isinstance(guard, _thread.RLock)  # greenlets came along, and may be waiting for it
        if held:
            guard.release()

    def _end(self, budget: float) -> None:
        self._closed = True
        self._sender.stop(budget)
        if self._guard.acquire(timeout=hosting.EXIT_SECONDS):  # else a disk hangs; the state is then left as it is
            try:
                with suppress(StateError):
                    if self._own_state:
                        self._own_state.close()
            finally:
                self._guard.release()

    # Inside; the caller holds the guard

    def _open(self, state: State | None) -> None:
        """Take up the state that was given, or the one in the folder."""
        own, state = state is None, self._place() if state is None else state
        try:
            self._recorder = Recorder(self._setup, state)
        except BaseException:
            if own:
                state.close()
            raise
        self._own_state = state if own else None
        self._count(self._recorder.recovered)
        asked = self._recorder.tick, self._recorder.until, self._may_send, self._count, self._failed
        desk = Desk(self._guard, self._setup.clock, state, *asked)
        self._sender = Sender(desk, self._transport, own=self._own)
        if self._setup.background and not self._setup.forbidden:
            try:
                self._sender.start()
            except RuntimeError:  # no more threads, or the interpreter is about to end
                self._count("internal_error")

    def _place(self) -> State:
        """The state in the folder. Where nobody may be tracked and there is none yet, none is made."""
        assert self._folder is not None  # else a state was given
        if self._setup.forbidden and not any((self._folder / name).exists() for name in _FILES):
            return MemoryState()
        return SqliteState(self._folder)

    def _unusable(self) -> str:
        """The counter of why the state cannot be used, or nothing."""
        if self._closed:
            return "closed"
        return "forked" if self._parted and not self._rejoined() else ""

    def _rejoined(self) -> bool:
        """In a forked child: take the folder over, if the parent has let go of it."""
        if self._folder is None or time.monotonic() < self._rejoin_at:
            return False
        self._rejoin_at = time.monotonic() + REJOIN_SECONDS
        before = self._recorder
        try:
            self._open(None)
        except StateError:
            return False
        self._parted = False
        for word, times in before.dropped.items():
            self._recorder.dropped[word] += times
        if before.choice == "denied":
            self._choose("denied")
        return True

    def _may_send(self) -> bool:
        return not self._closed and not self._parted and self._recorder.consented == "granted"

    def _choose(self, choice: Choice) -> None:
        if choice == "denied":
            self._recorder.choice = choice  # whatever fails below
            self._sender.halt()
        if problem := self._unusable():
            self._count(problem)
        elif choice == "denied":
            self._recorder.deny()
            self._keep_denial()
        else:
            self._recorder.grant()
            self._sender.resume()

    def _keep_denial(self) -> None:
        """A refusal has to outlive the program, also where nothing was kept in the folder so far."""
        if self._folder is not None and isinstance(self._recorder.state, MemoryState):
            state = SqliteState(self._folder)
            try:
                state.begin(self._setup.lock, self._setup.policy, math.ceil(self._setup.clock.now()))
                state.set_consent("denied")
            finally:
                state.close()

    def _record(self, name: str, value: object, *, replace: bool) -> None:
        try:
            with self._guard:
                self._count(self._unusable() or self._recorder.record(name, value, replace=replace))
                if self._setup.background and self._recorder.ended:
                    self._sender.wake()
        except Exception as error:
            self._failed(error)

    def _count(self, word: str) -> None:
        if word:
            self._counters[word] += 1

    def _failed(self, error: Exception) -> None:
        busy = isinstance(error, StateError) and error.busy
        word = "storage_busy" if busy else "state_failed" if isinstance(error, StateError) else "internal_error"
        with self._guard:
            self._count(word)


def _read(path: str | os.PathLike[str]) -> Lock:
    try:
        return parse(Path(path).read_bytes())
    except OSError as error:
        raise LockError(str(path), f"cannot be read ({error.strerror})", "give the path of a metrics.lock") from None
    except LockError as error:
        raise LockError(f"{path}: {error.where}", error.problem, error.remedy) from None
