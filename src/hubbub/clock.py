"""Clocks: unix time in seconds from the system, a test, a file shared by processes, or a sped-up system."""

import math
import os
import time
from pathlib import Path
from typing import Protocol

from hubbub.errors import ParameterError


class Clock(Protocol):
    """Anything that tells unix time."""

    def now(self) -> float:
        """Seconds since 1970-01-01T00:00:00Z."""
        ...


class SystemClock:
    """The machine's clock."""

    def now(self) -> float:
        """Seconds since the epoch by the machine's clock."""
        return time.time()


class ManualClock:
    """A clock that stands still until it is set."""

    def __init__(self, start: float = 0.0) -> None:
        self._now = float(start)

    def now(self) -> float:
        """Seconds since the epoch as last set."""
        return self._now

    def set(self, now: float) -> None:
        """Move the clock to `now`, forwards or backwards."""
        self._now = float(now)


class FileClock:
    """A clock that several processes share: unix seconds as text in a file, replaced atomically by whoever sets it."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path = Path(path)

    def now(self) -> float:
        """Seconds since the epoch as last written to the file.

        Raises:
            ParameterError: The file is missing or does not hold a number.
        """
        try:
            now = float(self._path.read_text("ascii"))
            if not math.isfinite(now):
                raise ValueError
        except (OSError, ValueError):
            raise ParameterError("clock", str(self._path), "a readable file that holds unix seconds") from None
        return now

    def set(self, now: float) -> None:
        """Write `now` for every process that reads the file."""
        draft = self._path.with_name(self._path.name + ".new")
        draft.write_text(f"{now:.6f}\n", "ascii")
        draft.replace(self._path)


class ScaledClock:
    """The machine's clock sped up: `speed` simulated seconds pass in each real one, from `start` on.

    Args:
        speed: Simulated seconds in a real one.
        start: What it shows at `origin`; by default the real time.
        origin: Real unix seconds; by default now. Clocks of several processes agree if they share it.

    Attributes:
        speed, start, origin: As given, so that another process can be told.
    """

    def __init__(self, speed: float, start: float | None = None, origin: float | None = None) -> None:
        if not speed > 0:
            raise ParameterError("speed", speed, "> 0")
        self.speed = speed
        self.origin = time.time() if origin is None else origin
        self.start = self.origin if start is None else start

    def now(self) -> float:
        """Seconds since the epoch in simulated time."""
        return self.start + (time.time() - self.origin) * self.speed
