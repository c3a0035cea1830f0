"""Sending while devices run: the collector is another process, and there may be a core for each."""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from types import TracebackType
from typing import Self

from hubbub.replay.mixer import Mixer

_CROWDED = 2000  # reports among which one is not found: so many are mixed at least, where there are more to come


class Meanwhile:
    """A thread that sends what a mixer holds, as long as devices run; ended and awaited in the end.

    Args:
        mixer: Holds their reports.
        progress: Passed on what `progress` is told.
        on: Whether anything is sent; where a replay is saved, nothing is before that.
    """

    def __init__(self, mixer: Mixer, progress: Callable[[int], None], *, on: bool) -> None:
        self._mixer = mixer
        self._progress = progress
        self._on = on
        self._thread = ThreadPoolExecutor(1)
        self._sending: Future[None] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is not None:
            self._mixer.halt()
        self._thread.shutdown()
        if error is None and self._sending:
            self._sending.result()

    def progress(self, steps: int) -> None:
        """Devices have run."""
        self._progress(steps)
        if self._on and len(self._mixer.held) >= _CROWDED and (self._sending is None or self._sending.done()):
            if self._sending:
                self._sending.result()
            self._sending = self._thread.submit(self._mixer.send)
