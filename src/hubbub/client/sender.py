"""How sealed reports leave: one request each, at a time of its own, by a thread that the host program never waits for.

The network is used without the client's guard, so that recording a value never waits for it. Specification:
spec/wire.md, section "Sending".
"""

import math
import random
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from hubbub.client import schedule
from hubbub.client.answers import Verdict, judge
from hubbub.client.state import Report, State
from hubbub.client.transport import HttpTransport, Transport
from hubbub.clock import Clock, SystemClock

POST_SECONDS = 30.0  # that one request of the thread may take in all
PATIENCE = 60.0  # seconds after which the thread looks at the clock again: it may have been set, or the machine slept
RESTLESS = 0.1  # ... at a clock that is not the machine's and may run at any speed
_LOT = random.SystemRandom()
_UNREACHABLE = Verdict(terminal=False, held_up=True, word="unreachable")
_BROKEN = Verdict(terminal=False, held_up=True, word="transport_failed")


@dataclass(frozen=True)
class Desk:
    """What a sender needs of its client; all of it is called with the guard held."""

    guard: threading.RLock
    clock: Clock
    state: State
    tick: Callable[[], float]  # seals what has ended; when the next window ends
    until: Callable[[Report], float]  # when a report ceases to be taken
    may_send: Callable[[], bool]
    count: Callable[[str], None]
    failed: Callable[[Exception], None]  # counts what went wrong


class Sender:
    """Posts the outbox of one client.

    Args:
        desk: The client's side.
        transport: What to send through.
        own: Whether the connection is this sender's alone: then each report of the thread gets a new one.
    """

    def __init__(self, desk: Desk, transport: Transport, *, own: HttpTransport | None) -> None:
        self._desk = desk
        self._transport = transport
        self._own = own
        self._agenda = schedule.Agenda(desk.until, desk.state.delay)
        self._sending = threading.RLock()  # around the transport; taken before the guard. See `Client` for reentrance.
        self._wake: threading.Event | None = None  # the thread's; a client without one is a quarter smaller
        self._stopped = False
        self._abandoned = False
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Send from a thread of its own from now on."""
        self._wake = threading.Event()
        self._thread = threading.Thread(target=self._live, args=(self._wake,), name="hubbub", daemon=True)
        self._thread.start()

    def wake(self) -> None:
        """Have the thread look again: there may be something to do."""
        if self._wake:
            self._wake.set()

    def halt(self) -> None:
        """Break off the request that is under way and begin none until `resume`."""
        if self._own:
            self._own.halt()

    def resume(self) -> None:
        """Requests may begin again."""
        if self._own:
            self._own.resume()
        self.wake()

    def stop(self, budget: float) -> None:
        """End the thread. A request that is under way has half of `budget` seconds to be answered, then it is cut."""
        self._stopped = True
        self.wake()
        thread = self._thread
        if thread is not None and thread is not threading.current_thread():
            thread.join(budget / 2)
            if thread.is_alive():
                self.halt()
                thread.join(budget / 2)

    def abandon(self) -> None:
        """After a fork: thread, reports and connection are the parent's.

        Where threads are greenlets they have come along, and go on wherever they were: nothing comes of it.
        """
        self._stopped = self._abandoned = True
        if self._own:
            self._own.forget()
            self._own = None

    def step(self) -> float:
        """Seal what has ended, and post the one report whose time has come; when to look again, by the clock."""
        desk = self._desk
        with self._sending:
            with desk.guard:
                if self._stopped:
                    return math.inf
                boundary = desk.tick()
                if not desk.may_send():
                    return boundary
                now = desk.clock.now()
                found = self._agenda.earliest(desk.state.outbox(), now)
                if found is None or found[1] > now:
                    return boundary if found is None else min(boundary, found[1])
            self._post(found[0], POST_SECONDS)
            self._hang_up()
            return now

    def flush(self, timeout: float) -> bool:
        """Post each report of the outbox once, whatever its time, in an order drawn for the purpose.

        Returns:
            Whether the outbox is empty.
        """
        deadline = time.monotonic() + timeout
        desk = self._desk
        if not self._sending.acquire(timeout=min(timeout, threading.TIMEOUT_MAX) if timeout > 0 else 0):
            return False
        try:
            with desk.guard:
                if self._stopped:
                    return False
                desk.tick()
                waiting = list(desk.state.outbox())
            # The order tells nothing of metrics or times, and no report stands before the others for ever.
            _LOT.shuffle(waiting)
            while waiting and (left := deadline - time.monotonic()) > 0 and self._post(waiting.pop(), left):
                pass
            with desk.guard:
                return not (self._stopped or desk.state.outbox())
        finally:
            self._hang_up()
            self._sending.release()

    def _post(self, report: Report, timeout: float) -> bool:
        """Send one report; False where the collector as a whole does not take any, or none may be sent."""
        desk = self._desk
        with desk.guard:
            if not desk.may_send():
                return False
        header = ""
        try:
            response = self._transport.post(report.body, timeout)
            verdict, header = judge(response), response.retry_after
        except OSError:
            verdict = _UNREACHABLE
        except Exception:  # a transport of the host's own: none of its faults may reach the host's program
            verdict = _BROKEN
        with desk.guard:
            if self._abandoned or not (verdict.terminal or desk.may_send()):
                return False  # the parent's, or cut off by us
            desk.count(verdict.word)
            self._settle(report, verdict, header)
        return not verdict.held_up

    def _settle(self, report: Report, verdict: Verdict, header: str) -> None:
        """Forget the report, or give it another time. The caller holds the guard."""
        if not verdict.held_up:
            self._agenda.answered()
        if verdict.terminal:
            self._desk.state.done(report.id)
            return
        now, attempts = self._desk.clock.now(), report.attempts + 1
        wait = (
            self._agenda.held_up(attempts, schedule.asked_to_wait(header, now), now)
            if verdict.held_up
            else schedule.again(attempts, 0.0)
        )
        self._agenda.moved(report.id)
        self._desk.state.delay(report.id, now + wait)

    def _hang_up(self) -> None:
        if self._own:
            self._own.close()

    def _live(self, wake: threading.Event) -> None:
        patience = PATIENCE if isinstance(self._desk.clock, SystemClock) else RESTLESS
        while not self._stopped:
            try:
                left = self.step() - self._desk.clock.now()
            except Exception as error:  # the thread outlives a full disk, a clock that fails, a locked folder
                left = patience
                self._desk.failed(error)
            wake.wait(min(max(left, 0.0), patience))
            wake.clear()
        # After a fork with greenlets, or a late patch, `threading` does not know this thread: here it takes note of it,
        # and does not complain at its end.
        threading.current_thread()
