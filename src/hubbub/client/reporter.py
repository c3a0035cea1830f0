"""One metric on one device: in which windows it reports, and the report of a window that has ended."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

from hubbub import prf
from hubbub.client import schedule
from hubbub.client.state import Report, Running
from hubbub.client.values import KINDS, Index, Kind, Read, kind_of, wanted
from hubbub.encoders.base import Answer, Payload, below
from hubbub.errors import LockError, ParameterError, PrivateValueError
from hubbub.lock import Metric
from hubbub.windows import Windows
from hubbub.wire import REPORTS_SCHEMA, TRAVELLING_HASH, pack


class Preview(NamedTuple):
    """What would become of a value, for the person at the device; it never leaves it."""

    value: int  # the encoder's, clipped to its range
    answer: Answer  # what the device answers for ever in its place
    payload: Payload  # one possible report of it: the noise is drawn anew each time

    def __repr__(self) -> str:
        return f"{type(self).__name__}(not shown)"  # it may end in a log


@dataclass(frozen=True)
class Form:
    """What follows from a definition alone, worked out once for all devices of a process."""

    hash: str
    kind: Kind[Any]
    read: Read[Any]  # what is given for a whole window
    added: Read[Any]  # what is given for one event of several
    index: Index[Any]
    null: Any  # what stands for a window in which nothing valid was recorded
    windows: Windows
    life: range


@lru_cache(maxsize=1024)
def form(metric: Metric) -> Form:
    """The form of a locked metric.

    Raises:
        LockError: A kind that this release does not know how to take values for.
    """
    if metric.kind not in KINDS:
        where = f'metrics."{metric.name}".kind'
        raise LockError(where, f"no mechanism for {metric.kind!r} in this release", "use one that has it")
    kind = kind_of(metric)
    takes = kind.read(metric), kind.added(metric), kind.index(metric), kind.null(metric)
    return Form(metric.hash, kind, *takes, metric.windows, metric.life)


def segment(metric: Metric, dimensions: Mapping[str, str]) -> str:
    """The cell of this device: values joined by `/` in the order of the definition.

    Raises:
        ParameterError: A dimension of the metric is missing, or its value is not one that the definition allows.
    """
    for name, allowed in metric.dimensions:
        if dimensions.get(name) not in allowed:
            expected = f"one of {', '.join(map(repr, allowed))} (metric {metric.name})"
            raise ParameterError(f"dimensions[{name!r}]", dimensions.get(name), expected)
    return "/".join(dimensions[name] for name, _ in metric.dimensions)


def travelling(metric: Metric, report_id: str, window: int, cell: str, payload: Payload) -> bytes:
    """The bytes in which one report travels."""
    entry = {
        "id": report_id,
        "metric": metric.name,
        "hash": metric.hash[:TRAVELLING_HASH],
        "window": window,
        "segment": cell,
        "payload": pack(payload, metric.encoder.radices),
    }
    return json.dumps({"schema": REPORTS_SCHEMA, "reports": [entry]}).encode()


def about(body: bytes) -> tuple[str, str, int]:
    """Metric, the encoding hash as it travels, and window of a body that `travelling` made.

    Raises:
        ValueError: It is none.
    """
    try:
        (entry,) = json.loads(body)["reports"]
        return str(entry["metric"]), str(entry["hash"]), int(entry["window"])
    except (TypeError, LookupError, OverflowError):
        raise ValueError("no body of a report") from None


class Reporter:
    """A metric of the lock with the device's secret and segment."""

    def __init__(self, metric: Metric, collection: str, secret: bytes, cell: str) -> None:
        self.form = form(metric)
        self._metric = metric
        self._cell = cell
        self._last: Running | None = None  # the window that was asked for last
        self._prf = prf.device_prf(secret, collection, metric.name, self.form.hash)
        # A device has one turn, whatever the metric; it follows from the secret and never from data.
        every = metric.report_every
        turn = below(every, prf.device_prf(secret, collection, "", "")("turn", every)) if every > 1 else 0
        self._turn = (turn + metric.rank) % every

    def around(self, now: float) -> Running:
        """The window that `now` falls into, with nothing recorded yet."""
        last = self._last
        if last is None or not last.start <= now < last.stop:
            windows = self.form.windows
            window = windows.index(now)
            last = Running(self._metric.name, self.form.hash, windows.start(window), windows.end(window), self._cell)
            self._last = last
        return last

    def reports(self, running: Running) -> bool:
        """Whether the window lies in the metric's life and it is the device's turn."""
        return self._asked(self.form.windows.index(running.start))

    def missed(self, now: float, since: float) -> list[Running]:
        """Windows that have ended and are to be filled in where the program never ran in them, the newest last.

        Their reports are nulls; the state keeps out what was reported, is sealed or was never charged.

        Args:
            now: Unix seconds; what can no longer arrive by then is left out.
            since: Only windows that end after it.
        """
        if self._metric.presence != "hidden":
            return []
        cut, name, encoding = self.form.windows, self._metric.name, self.form.hash
        late = max(since, now - self._metric.grace)  # what ended by then
        ended = range(max(self.form.life.start, cut.index(late)), min(self.form.life.stop, cut.index(now)))
        return [
            Running(name, encoding, cut.start(window), cut.end(window), self._cell)
            for window in ended
            if self._asked(window)
        ]

    def _asked(self, window: int) -> bool:
        """Whether the window is in the metric's life, and the device's turn for it."""
        return window in self.form.life and window % self._metric.report_every == self._turn

    def encode(self, running: Running, now: float) -> Report | None:
        """The one report of a window that has ended, with noise drawn now; None where the device has none to give.

        It has none for what is no window of this definition, whatever the state says.

        The time at which it is to travel is drawn with it, and depends on nothing but `now`, the window and the grace.
        """
        whole = self.around(running.start)
        if (running.hash, running.start, running.stop) != (whole.hash, whole.start, whole.stop):
            return None
        if not self.reports(running):
            return None
        encoder = self._metric.encoder
        value = self.form.index(self.form.null if running.value is None else running.value)
        payload = encoder.report(encoder.permanent(value, self._prf), prf.os_words)
        window = self.form.windows.index(running.start)
        report_id = prf.report_id(self._prf, window)
        body = travelling(self._metric, report_id, window, running.segment, payload)
        due = schedule.first(now, self.form.windows.length, self.until(window))
        return Report(report_id, body, due)

    def until(self, window: int) -> float:
        """When the report of a window ceases to be taken, unix seconds."""
        return self.form.windows.end(window) + self._metric.grace

    def preview(self, value: object) -> Preview:
        """What would become of `value` if it were all that a window holds.

        Raises:
            PrivateValueError: It is no value of this kind.
        """
        read = self.form.read(value)
        if read is None:
            problem = f"value of {self._metric.name} is not one that a {self._metric.kind} takes"
            raise PrivateValueError(f"{problem}; give {wanted(self._metric)}")
        index = self.form.index(read)
        answer = self._metric.encoder.permanent(index, self._prf)
        return Preview(index, answer, self._metric.encoder.report(answer, prf.os_words))
