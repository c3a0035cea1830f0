"""A crowd of pretend devices for a registry: real clients that live along the clock of a collector in dev mode.

Each has a secret of its own, is born as the crowd comes together, runs in every window and reports it over HTTP when it
is over. What it would say is made up (`pretend`), so the truth can be laid beside what the collector makes of it.
"""

import json
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hubbub.client import Client, MemoryState, Response
from hubbub.clock import Clock, ManualClock
from hubbub.errors import HubbubError
from hubbub.estimates import Row
from hubbub.lock import ACTIVE, Lock, Metric
from hubbub.replay.devices import nobodys
from hubbub.replay.events import Calls, calls
from hubbub.replay.mixer import Mixer
from hubbub.replay.pretend import Habits, habits, has_second, places
from hubbub.replay.truths import truths
from hubbub.windows import iso
from hubbub.wire import TRAVELLING_HASH

DEFAULT_WINDOWS = {"hour": 24, "day": 7, "week": 2}  # by the longest window of the registry
_PATIENCE = 10.0  # seconds for which a collector that takes nothing is tried again
_LOOK = 0.1  # seconds between two looks at the clock
Progress = Callable[[float], None]  # simulated time that is behind us, unix seconds


@dataclass(frozen=True)
class Plan:
    """Which windows a crowd that is born at `born` will report until `end`, both in unix seconds."""

    born: float
    end: int
    spans: Mapping[Metric, range]
    left_out: Mapping[str, str]  # metrics without a window in this time, and why


class Key(NamedTuple):
    """What an outcome and its row have in common."""

    metric: str
    hash: str  # as it travels
    start: str
    segment: str
    category: str


@dataclass(frozen=True)
class Outcome:
    """One window, segment and category (empty where there is none): what the devices that reported had to say."""

    metric: Metric
    window: int
    segment: str
    category: str
    sent: int
    truth: float
    truth_clipped: float

    @property
    def key(self) -> Key:
        """By which its row is found; see `key_of`."""
        start = iso(self.metric.windows.start(self.window))
        return Key(self.metric.name, self.metric.hash[:TRAVELLING_HASH], start, self.segment, self.category)


@dataclass
class Crowd:
    """All that a crowd has to tell, as far as it came.

    Attributes:
        outcomes: Windows whose reports have all been posted.
        answers: What became of the reports so far: `accepted`, `duplicate`, or the collector's code.
        waiting: Reports that the collector put off.
        interrupted: Whether Ctrl-C ended it.
    """

    outcomes: list[Outcome] = field(default_factory=list)
    answers: Counter[str] = field(default_factory=Counter)
    waiting: int = 0
    interrupted: bool = False


def key_of(row: Row) -> Key:
    """By which its outcome is found."""
    return Key(row.metric, row.hash, row.window_start, row.segment, row.category or "")


def plan(lock: Lock, now: float, count: int | None = None) -> Plan:
    """What devices that are born now will report within `count` windows.

    The window that runs at birth is not reported, so counting begins with the one after it.

    Args:
        lock: The metrics.
        now: Unix seconds by the collector's clock.
        count: Whole windows of the longest length among metrics that have not expired; see `DEFAULT_WINDOWS`.
    """
    fed = {m for m in lock.metrics.values() if not m.source or m.name.removesuffix(ACTIVE) in lock.metrics}
    going = {metric: metric.windows.index(now) + 1 for metric in lock.metrics.values() if metric in fed}
    going = {metric: first for metric, first in going.items() if first < metric.life.stop}
    cut = max((metric.windows for metric in going), key=lambda windows: windows.length, default=None)
    end = 0 if cut is None else cut.end(cut.index(now) + (DEFAULT_WINDOWS[cut.name] if count is None else count))
    spans: dict[Metric, range] = {}
    left_out: dict[str, str] = {}
    for metric in lock.metrics.values():
        span = range(max(going.get(metric, metric.life.stop), metric.life.start), metric.life.stop)
        span = range(span.start, min(span.stop, metric.windows.index(end)))
        if metric not in fed:
            left_out[metric.name] = f"{metric.name.removesuffix(ACTIVE)}, of which it tells, is no metric of this lock"
        elif span:
            spans[metric] = span
        elif metric in going:
            left_out[metric.name] = f"its first {metric.window} is not over by then (starts = {metric.starts})"
        else:
            left_out[metric.name] = f"its last {metric.window} has begun already (expires = {metric.expires})"
    return Plan(now, max((m.windows.end(span[-1]) for m, span in spans.items()), default=end), spans, left_out)


def run(
    lock: Lock,
    plan: Plan,
    endpoint: str,
    clock: Clock,
    *,
    devices: int,
    seed: int = 0,
    words: Sequence[str] = (),
    progress: Progress = lambda now: None,
) -> Crowd:
    """Let devices live through the windows of a plan, until it is over or Ctrl-C.

    A crowd that is too large for the clock falls behind it and catches up within the metrics' grace: each window is
    lived through by all devices, in order.

    Args:
        lock: The metrics.
        plan: Which of their windows.
        endpoint: Where devices post.
        clock: The collector's.
        devices: How many.
        seed: Another one makes other devices.
        words: What they say where words are asked for, the commonest first; made up by default.
        progress: Told by what time they are.

    Raises:
        HubbubError: The collector takes nothing any more, or refuses all reports of a time.
        ParameterError: The metrics have no place for a device in common.
    """
    crowd = Crowd()
    mixer = Mixer(endpoint, patience=_PATIENCE)
    try:
        _Life(lock, plan, endpoint, clock, mixer, devices, seed, words, progress, crowd).live()
    except KeyboardInterrupt:
        crowd.interrupted = True
    finally:
        mixer.close()
    crowd.answers, crowd.waiting = mixer.counts, len(mixer.held)
    return crowd


class _Window:
    """One metric's window, and who reported it."""

    def __init__(self, habits: Habits, index: int, *, second: bool) -> None:
        self.metric = habits.metric
        self.index = index
        self.reported = np.zeros(len(habits), bool)
        self._habits = habits
        self._said = habits.said(index)
        self._second = second

    def calls(self) -> Iterator[Calls]:
        """What is recorded for it, device by device."""
        recorded, told = self._said.recorded.tolist(), self._habits.told(self._said.values)
        made = calls(self.metric)
        return (made(value) if at_all else () for value, at_all in zip(told, recorded, strict=True))

    def outcomes(self, segments: NDArray[np.str_]) -> Iterable[Outcome]:
        """The truth of each segment from which reports came."""
        for segment in self.metric.segments:
            among = self.reported & (segments == segment)
            if sent := int(among.sum()):
                for truth in truths(self._habits, self._said, among, second=self._second):
                    yield Outcome(self.metric, self.index, segment, truth.category, sent, truth.raw, truth.clipped)


class _Life:
    """The devices, from birth to their last report."""

    def __init__(
        self,
        lock: Lock,
        plan: Plan,
        endpoint: str,
        clock: Clock,
        mixer: Mixer,
        devices: int,
        seed: int,
        words: Sequence[str],
        progress: Progress,
        crowd: Crowd,
    ) -> None:
        self._plan = plan
        self._clock = clock
        self._mixer = mixer
        self._progress = progress
        self._crowd = crowd
        lock = Lock(lock.collection, {metric.name: metric for metric in plan.spans})
        where = places(lock, devices, seed)
        self._segments = {
            metric.name: np.array(["/".join(place[name] for name, _ in metric.dimensions) for place in where])
            for metric in plan.spans
        }
        self._lock = lock
        self._habits = {metric.name: habits(lock, metric, devices, seed, words) for metric in plan.spans}
        self._still = ManualClock(plan.born)  # stands while all of them run, so that they live through the same
        with nobodys():
            self._clients = [
                Client(
                    lock,
                    endpoint,
                    policy="research",
                    state=MemoryState(),
                    dimensions=place,
                    clock=self._still,
                    transport=self,
                    background=False,
                )
                for place in where
            ]
        self._windows: dict[tuple[str, int], _Window] = {}  # that are not told yet
        self._posted: list[tuple[str, int]] = []  # of the device that runs

    def post(self, body: bytes, timeout: float) -> Response:
        """A device's report, for the mixer: the transport of all of them, which looks at what is reported."""
        self._posted += [(report["metric"], report["window"]) for report in json.loads(body)["reports"]]
        return self._mixer.post(body, timeout)

    def live(self) -> None:
        """Run through the windows of the plan, one after the other."""
        begin: dict[int, list[tuple[Metric, int]]] = {self._plan.end: []}
        for metric, span in self._plan.spans.items():
            begin.setdefault(metric.windows.end(span[-1]), [])
            for index in span:
                begin.setdefault(metric.windows.start(index), []).append((metric, index))
        moments = sorted(begin)
        for moment, following in zip(moments, [*moments[1:], self._plan.end + 1], strict=True):
            begun = [self._window(metric, index) for metric, index in begin[moment]]
            self._windows |= {(window.metric.name, window.index): window for window in begun}
            self._wait(moment)
            self._still.set(min(self._clock.now(), following - 1))
            self._run(begun, moment, following)

    def _window(self, metric: Metric, index: int) -> _Window:
        return _Window(self._habits[metric.name], index, second=has_second(self._lock, metric))

    def _run(self, begun: list[_Window], start: int, end: int) -> None:
        """The program runs on all devices: it records what has begun, and sends what is over."""
        recorded = [(window.metric.name, window.calls()) for window in begun]
        for device, client in enumerate(self._clients):
            for name, each in recorded:
                for whole, value in next(each):
                    (client.set if whole else client.add)(name, value)
            client.flush()
            while self._posted:
                self._windows[self._posted.pop()].reported[device] = True
            if device % 100 == 0:
                self._progress(min(self._clock.now(), start + (end - start) * device / len(self._clients)))
        self._send()
        for key, window in list(self._windows.items()):
            if window.metric.windows.end(window.index) <= self._still.now():
                self._crowd.outcomes += window.outcomes(self._segments[window.metric.name])
                del self._windows[key]

    def _send(self) -> None:
        before = self._mixer.counts.copy()
        self._mixer.send()
        told = self._mixer.counts - before + self._mixer.put_off
        if told and not (told["accepted"] or told["duplicate"]):
            codes = ", ".join(f"{count} {code}" for code, count in sorted(told.items()))
            raise HubbubError(f"the collector refuses all reports of the devices: {codes}{_hint(told)}")

    def _wait(self, until: float) -> None:
        while (now := self._clock.now()) < until:
            self._progress(now)
            time.sleep(_LOOK)


def _hint(told: Mapping[str, int]) -> str:
    return "; its clock stands behind, so it was started anew" if "too_early" in told else ""
