"""A relay that mixes: it takes the single reports of many devices into custody and posts them in shuffled batches.

Which device a report came from, and in which order, is gone before the collector sees it. A device is answered as by a
collector that accepted: from then on the mixer answers for the report, and holds it until the collector has.
"""

import json
import os
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable
from struct import unpack

from hubbub.client import HttpTransport, Response
from hubbub.errors import HubbubError, ParameterError
from hubbub.wire import REPORTS_SCHEMA

Entry = bytes  # a report as its device wrote it, the only one of its body
SIZE = 100  # of a batch, as a relay sends it
MAX_SIZE = 500  # of a batch, so that an answer about each of its reports can be read
POST_SECONDS = 30.0  # that one batch may take
PATIENCE_SECONDS = 60.0  # that a collector which takes nothing is tried again
_PAUSES = 0.05, 1.0  # seconds between two tries: at first, and at most
_TAKEN = Response(200, b'{"accepted": 1, "results": []}')
_HEAD = json.dumps({"schema": REPORTS_SCHEMA, "reports": []}).encode().removesuffix(b"]}")
_RETRIED = (408, 429)  # and every status from 500 on


class _HeldUpError(Exception):
    """The collector as a whole took nothing, but may do so later."""


class Mixer:
    """A client's `Transport` for any number of devices of one process.

    Args:
        endpoint: Address of the collector.
        size: Reports in a batch, in [1, 500].
        patience: Seconds for which a collector that takes nothing is tried again.
        revive: Called before each further try; it may start the collector again.
        settled: Called with how many reports have just got an answer for good, by whoever sends.

    Attributes:
        counts: What became of reports so far: `accepted`, `duplicate`, or the collector's code.
        put_off: Codes of those that the last `send` left in custody.
        held: Reports in custody.
    """

    def __init__(
        self,
        endpoint: str,
        *,
        size: int = SIZE,
        patience: float = PATIENCE_SECONDS,
        revive: Callable[[], object] = lambda: None,
        settled: Callable[[int], object] = lambda reports: None,
    ) -> None:
        if not 1 <= size <= MAX_SIZE:
            raise ParameterError("size", size, f"in [1, {MAX_SIZE}]")
        self._endpoint = endpoint
        self._transport = HttpTransport(endpoint)
        self._size = size
        self._patience = patience
        self._revive = revive
        self._settled = settled
        self._guard = threading.Lock()  # around `held`
        self.counts: Counter[str] = Counter()
        self.put_off: Counter[str] = Counter()
        self.held: list[Entry] = []

    def post(self, body: bytes, timeout: float) -> Response:
        """Take a device's report into custody."""
        self.take([body[body.index(b"[") + 1 : body.rindex(b"]")]])
        return _TAKEN

    def take(self, entries: Iterable[Entry]) -> None:
        """Take over what another mixer held."""
        with self._guard:
            self.held += entries

    def send(self) -> None:
        """Post everything that is held, in an order drawn for the purpose; what the collector puts off stays held.

        One thread may be in here while others hand over more, which waits for the next call.

        Raises:
            HubbubError: The collector takes nothing, for longer than the patience lasts or by its own word for good.
        """
        with self._guard:
            waiting, self.held = self.held, []
        waiting = _shuffled(waiting)
        put_off: list[Entry] = []
        self.put_off.clear()
        try:
            while waiting:
                again = self._posted(batch := waiting[-self._size :])
                put_off += again
                del waiting[-self._size :]
                self._settled(len(batch) - len(again))
        finally:
            self.take(waiting + put_off)

    def halt(self) -> None:
        """Break off what another thread sends; what was not acknowledged stays held."""
        self._patience = 0.0
        self._transport.halt()

    def close(self) -> None:
        """Close the connection."""
        self._transport.close()

    def _posted(self, batch: list[Entry]) -> list[Entry]:
        """Post a batch until it is answered; the reports that the collector puts off."""
        body = _HEAD + b", ".join(batch) + b"]}"
        began, pause = time.monotonic(), _PAUSES[0]
        while True:
            try:
                return self._answered(batch, self._transport.post(body, POST_SECONDS))
            except (OSError, _HeldUpError) as error:
                if time.monotonic() > began + self._patience:
                    raise HubbubError(f"the collector at {self._endpoint} takes no reports: {_reason(error)}") from None
            time.sleep(pause)
            pause = min(2 * pause, _PAUSES[1])
            self._revive()

    def _answered(self, batch: list[Entry], response: Response) -> list[Entry]:
        if response.status in _RETRIED or response.status >= 500:
            raise _HeldUpError(f"it answers with status {response.status}")
        if response.status != 200:
            problem = f"status {response.status}{_title(response.body)}"
            raise HubbubError(f"the collector at {self._endpoint} refuses reports: {problem}")
        try:
            answer = json.loads(response.body)
            accepted, results = answer["accepted"], answer["results"]
            words = [(result["index"], result["status"], result.get("code", "")) for result in results]
            again = [batch[index] for index, status, _ in words if status == "retry"]
            if accepted + len(words) != len(batch):
                raise ValueError
        except (ValueError, TypeError, LookupError, AttributeError, RecursionError):
            raise _HeldUpError("what answers there is no collector") from None
        self.counts["accepted"] += accepted
        for _, status, code in words:
            counts = self.put_off if status == "retry" else self.counts
            counts["duplicate" if status == "duplicate" else str(code or status)] += 1
        return again


def _shuffled(entries: list[Entry]) -> list[Entry]:
    """The same in an order drawn for the purpose: by keys that are read at once, which is quicker."""
    keys = unpack(f"{len(entries)}Q", os.urandom(8 * len(entries)))
    return [entries[place] for place in sorted(range(len(entries)), key=keys.__getitem__)]


def _reason(error: Exception) -> str:
    return (getattr(error, "strerror", None) or str(error) or type(error).__name__).lower()


def _title(body: bytes) -> str:
    """What a collector says about a request that it does not take."""
    try:
        return f" ({json.loads(body)['title']})"
    except (ValueError, TypeError, LookupError, RecursionError):
        return ""
