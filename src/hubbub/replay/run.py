"""Replay a table of real values through real devices, HTTP and a collector, and lay truth beside estimate.

A device runs in the windows in which it has a row, once in the middle of each, and once more in the moment after the
last window of the table. It is then that it hands over what it has sealed, to a mixer that posts shuffled batches.
Both sides follow one simulated clock, so the collector refuses what comes later than grace, as it would in life.
"""

import json
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from hubbub.client import Response, Transport
from hubbub.clock import FileClock, ManualClock
from hubbub.encoders.base import Answer
from hubbub.errors import HubbubError, ParameterError
from hubbub.estimates import rows
from hubbub.lock import Lock, Metric, dump
from hubbub.replay.collector import Collector
from hubbub.replay.devices import Devices, Fleet, middle
from hubbub.replay.given import Given
from hubbub.replay.meanwhile import Meanwhile
from hubbub.replay.mixer import PATIENCE_SECONDS, SIZE, Mixer
from hubbub.replay.outcomes import LEVEL, Outcome, outcomes, told_by, told_together, truths
from hubbub.replay.saved import Place, Saved
from hubbub.store import open_store
from hubbub.windows import iso

STORE, _LOCK, _CLOCK = "hubbub.db", "metrics.lock", "clock"
_PAUSE = 1.0  # seconds until reports are sent again that the collector has put off
_EXPECTED = frozenset({"accepted", "duplicate", "too_late"})  # what may become of a report
_FAULT = "this is a fault of hubbub, please report it"
Progress = Callable[[int], None]  # of `steps`, those since the last call; called from two threads
Seen = Callable[[Metric, Outcome], None]  # a window whose reports come in


@dataclass(frozen=True)
class Trace:
    """One device's own view of a window, as only it could show it."""

    window_start: str
    value: float
    answer: Answer
    sent: str | None  # None: it was not the device's turn


@dataclass(frozen=True)
class Series:
    """One metric.

    Attributes:
        crowd: Devices that stand for one of the table; above one they are pretend.
        outcomes: By window and, within it, segment; all devices of a window together are its last, unless a collector
            that was given tells of segments alone.
        problem: Why there are no estimates, empty where there are.
    """

    metric: Metric
    crowd: int
    outcomes: tuple[Outcome, ...]
    problem: str = ""

    @property
    def whole(self) -> tuple[Outcome, ...]:
        """Windows with all their devices together."""
        return tuple(outcome for outcome in self.outcomes if outcome.truth.segment is None)


@dataclass(frozen=True)
class Replay:
    """All that a replay has to tell.

    Attributes:
        series: By metric.
        traces: What one device saw, of the first metric.
        reports: Reports that the collector acknowledged.
        restarts: How often its own collector had to be started again.
        checked: Whether what arrived was held against what the table says must have.
        read_endpoint: Where the estimates can be looked at.
    """

    series: tuple[Series, ...]
    traces: tuple[Trace, ...]
    reports: int
    seconds: float
    restarts: int
    checked: bool
    read_endpoint: str


def steps(fleets: Sequence[Fleet], lock: Lock) -> int:
    """What there is to do: each run of a device is a step, and so is each report that is answered."""
    reports = (
        fleet.table.rows * fleet.crowd // lock.metrics[name].report_every for fleet in fleets for name in fleet.tables
    )
    return sum(fleet.runs for fleet in fleets) + sum(reports)


@contextmanager
def replay(
    fleets: Sequence[Fleet],
    lock: Lock,
    *,
    store: Path | None = None,
    saved: Saved | None = None,
    given: Given | None = None,
    progress: Progress = lambda steps: None,
    seen: Seen | None = None,
) -> Iterator[Replay]:
    """Give each device of the tables its own client and let it report; the collector runs until the block ends.

    Args:
        fleets: Devices and what they measure; all metrics have windows of one length.
        lock: The definitions of these metrics.
        store: Where the store of the collector is put in the end, a file that is not there yet.
        saved: What a killed replay goes on from; one fleet alone.
        given: A collector that runs already; one is started for the purpose by default.
        progress: Called as steps are done; see `steps`.
        seen: Called with each window as its reports come in; of a collector that was started here.

    Raises:
        HubbubError: The collector cannot be reached or refuses reports, or does not hold what it must.
        ParameterError: There is something at `store`, or its folder is not there; a pretend crowd for a real collector.
    """
    lock = Lock(lock.collection, {name: lock.metrics[name] for fleet in fleets for name in fleet.tables})
    began = time.monotonic()
    if given and given.real and (crowd := max(fleet.crowd for fleet in fleets)) > 1:
        expected = f"1: {given.endpoint} keeps real reports, among which pretended ones would never be found again"
        raise ParameterError("crowd", crowd, expected)
    if store is not None and (store.exists() or not store.parent.is_dir()):
        raise ParameterError("store", str(store), "a file that is not there yet, in a folder that is")
    with ExitStack() as outer:
        folder = saved.folder if saved else Path(outer.enter_context(_temporary(store)))
        with ExitStack() as stack:
            clock = _Clock(None if given else folder / _CLOCK)
            place = saved.place if saved else Place()
            if place.done is not None and not given and not (folder / STORE).exists():
                raise HubbubError(f"{folder / STORE}: is missing; start again with an empty folder")
            clock.set(_time(fleets, lock, min(fleets[0].table.windows) if place.done is None else place.done))
            collector = given or stack.enter_context(_started(folder, lock))
            mixer = Mixer(collector.endpoint, size=SIZE, revive=collector.revive, settled=progress)
            stack.callback(mixer.close)
            run = _Run(fleets, lock, clock, mixer, saved, place)
            look = _look(run, folder / STORE, seen) if seen and not given else lambda window: None
            run.all(progress, look)
            series = _series(fleets, lock, clock, given, folder / STORE)
            if not given:
                _check(series, mixer.counts)
            restarts = collector.restarts if isinstance(collector, Collector) else 0
            reports = mixer.counts["accepted"] + mixer.counts["duplicate"]
            told = time.monotonic() - began
            yield Replay(series, run.traces(), reports, told, restarts, not given, collector.read_endpoint)
        if store is not None:
            (folder / STORE).rename(store)


class _Clock:
    """The time on both sides: of the devices in this process, and in a file for the collector that follows it."""

    def __init__(self, path: Path | None) -> None:
        self.devices = ManualClock()
        self._file = FileClock(path) if path else None

    def set(self, now: float) -> None:
        self.devices.set(now)
        if self._file:
            self._file.set(now)


class _Watch:
    """A transport that remembers what one device sent: its own payloads, by metric and window."""

    def __init__(self, transport: Transport, sent: dict[str, str]) -> None:
        self._transport = transport
        self._sent = sent

    def post(self, body: bytes, timeout: float) -> Response:
        for report in json.loads(body)["reports"]:
            self._sent[_label(report["metric"], report["window"])] = report["payload"]
        return self._transport.post(body, timeout)


class _Run:
    """The devices of all fleets from the first window to the end, one window after the other."""

    def __init__(
        self, fleets: Sequence[Fleet], lock: Lock, clock: _Clock, mixer: Mixer, saved: Saved | None, place: Place
    ) -> None:
        if saved and len(fleets) != 1:
            raise ParameterError("fleets", len(fleets), "one alone where the replay is saved")
        self.fleets, self.lock, self.clock = fleets, lock, clock
        self._mixer, self._saved, self._place = mixer, saved, place
        self._end = max(max(fleet.table.windows) for fleet in fleets) + 1
        self._shown = _most_seen(fleets[0])
        watched = self._shown, _Watch(mixer, place.sent)
        self._devices = [
            Devices(fleet, lock, mixer, clock.devices, saved=saved, watched=watched if fleet is fleets[0] else None)
            for fleet in fleets
        ]

    def all(self, progress: Progress, look: Callable[[int], None]) -> None:
        """Run, window by window, what has not been run yet; `look` is called with each window once the next has run."""
        windows = sorted({window for fleet in self.fleets for window in fleet.table.windows})
        done = self._place.done
        if done is not None and self._saved:
            self._mixer.counts = self._place.counts
            runs = sum(self._runs(window) for window in (*windows, self._end) if window <= done)
            progress(runs + self._mixer.counts.total())
            self._mixer.take(self._saved.held())
            self._send()
        before: int | None = None
        for window in (*windows, self._end):
            if done is None or window > done:
                self.clock.set(_time(self.fleets, self.lock, window))
                self._step(window, progress)
                if before is not None:
                    look(before)
            before = window
        until = time.monotonic() + PATIENCE_SECONDS
        while self._mixer.held:
            if time.monotonic() > until:
                codes = ", ".join(f"{count} {code}" for code, count in sorted(self._mixer.put_off.items()))
                raise HubbubError(f"the collector puts off reports: {codes}")
            time.sleep(_PAUSE)
            self._send()
        if self._saved:
            self._saved.keep({}, ())

    def traces(self) -> tuple[Trace, ...]:
        """What the device with most rows saw of the first metric."""
        name, table = next(iter(self.fleets[0].tables.items()))
        client, cut = self._devices[0].client(self._shown), self.lock.metrics[name].windows
        rows = ((window, row[self._shown]) for window, row in table.windows.items() if self._shown in row)
        return tuple(
            Trace(
                iso(cut.start(window)),
                value,
                client.preview(name, bool(value) if self.lock.metrics[name].kind == "boolean" else value).answer,
                self._place.sent.get(_label(name, window)),
            )
            for window, value in rows
        )

    def _runs(self, window: int) -> int:
        if window == self._end:
            return sum(fleet.devices for fleet in self.fleets)
        return sum(len(fleet.table.windows.get(window, ())) * fleet.crowd for fleet in self.fleets)

    def _step(self, window: int, progress: Progress) -> None:
        with Meanwhile(self._mixer, progress, on=not self._saved) as meanwhile:
            changed = [
                devices.end(meanwhile.progress) if window == self._end else devices.run(window, meanwhile.progress)
                for devices in self._devices
            ]
        if self._saved:
            self._place.done, self._place.counts = window, self._mixer.counts
            self._saved.keep(changed[0], self._mixer.held)
        self._send()

    def _send(self) -> None:
        self._mixer.send()
        if unexpected := {word: n for word, n in self._mixer.counts.items() if n and word not in _EXPECTED}:
            told = ", ".join(f"{n} {word}" for word, n in sorted(unexpected.items()))
            raise HubbubError(f"the collector refuses reports: {told}")


def _time(fleets: Sequence[Fleet], lock: Lock, window: int) -> float:
    """When devices run in a window, or come back once the last has ended."""
    cut = lock.metrics[next(iter(fleets[0].tables))].windows
    last = max(max(fleet.table.windows) for fleet in fleets)
    return middle(cut, window) if window <= last else cut.start(window)


def _temporary(store: Path | None) -> "tempfile.TemporaryDirectory[str]":
    """A folder that is gone in the end; beside the store that comes out of it, so that it gets there whole."""
    return tempfile.TemporaryDirectory(prefix=".hubbub-", dir=store.parent if store else None)


def _started(folder: Path, lock: Lock) -> Collector:
    path = folder / _LOCK
    path.write_text(dump(lock), "utf-8")
    return Collector(path, folder / STORE, folder / _CLOCK)


def _look(run: _Run, store: Path, seen: Seen) -> Callable[[int], None]:
    """Tell of a window as far as its reports have come."""
    true = {
        (name, truth.window): truth
        for fleet in run.fleets
        for name, table in fleet.tables.items()
        for truth in truths(table, run.lock.metrics[name], fleet.crowd)
        if truth.segment is None
    }

    def look(window: int) -> None:
        now = run.clock.devices.now()
        with open_store(store, read_only=True) as opened:
            for name, metric in run.lock.metrics.items():
                if (name, window) in true and not metric.dimensions:
                    start, end = metric.windows.start(window), metric.windows.end(window)
                    found = told_by(rows(opened, now=now, metric=name, start=start, end=end, level=LEVEL), metric)
                    for outcome in outcomes(found, [true[name, window]], metric):
                        seen(metric, outcome)

    return look


def _series(fleets: Sequence[Fleet], lock: Lock, clock: _Clock, given: Given | None, store: Path) -> tuple[Series, ...]:
    """What came of each metric; the clock of a collector of one's own is moved to where nothing can change any more."""
    spans = {name: (min(f.table.windows), max(f.table.windows)) for f in fleets for name in f.tables}
    if not given:
        clock.set(
            max(lock.metrics[name].windows.end(last) + lock.metrics[name].grace for name, (_, last) in spans.items())
        )
    found = []
    for fleet in fleets:
        for name, table in fleet.tables.items():
            metric, problem = lock.metrics[name], ""
            start, end = metric.windows.start(spans[name][0]), metric.windows.end(spans[name][1])
            if given:
                try:
                    told = told_by(given.rows(metric, start, end), metric)
                except HubbubError as error:
                    told, problem = {}, str(error)
            else:
                with open_store(store, read_only=True) as opened:
                    told = told_by(rows(opened, now=clock.devices.now(), metric=name, level=LEVEL), metric)
                    told |= told_together(opened, metric) if metric.dimensions else ()
            true = truths(table, metric, fleet.crowd, grace=not given)
            if given and metric.dimensions:  # it tells of segments alone
                true = [truth for truth in true if truth.segment is not None]
            found.append(Series(metric, fleet.crowd, tuple(outcomes(told, true, metric)), problem))
    return tuple(found)


def _check(series: Sequence[Series], counts: Mapping[str, int]) -> None:
    """Hold what the collector counts against what the table says must have arrived, and what it acknowledged.

    Raises:
        HubbubError: Something was lost or counted twice.
    """
    for one in series:
        for outcome in one.outcomes:
            n, most = outcome.n, outcome.truth.arrived
            if n > most or (n < most and one.metric.report_every == 1):
                where = f"{one.metric.name}, window from {outcome.window_start}"
                raise HubbubError(f"{where}: {n} reports are counted where {most} must have arrived; {_FAULT}")
    held = sum(outcome.n for one in series for outcome in one.whole)
    if held != (told := counts["accepted"] + counts["duplicate"]):
        raise HubbubError(f"{held} reports are counted where {told} were acknowledged; {_FAULT}")


def _most_seen(fleet: Fleet) -> str:
    """The device with a row in most windows: the one whose own bits are shown."""
    seen: dict[str, int] = {}
    for row in fleet.table.windows.values():
        for device in row:
            seen[device] = seen.get(device, 0) + 1
    return max(seen, key=lambda device: seen[device])


def _label(metric: str, window: int) -> str:
    return f"{metric} {window}"
