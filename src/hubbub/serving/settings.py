"""What the parent tells its children: one line of JSON."""

import ipaddress
import json
from dataclasses import asdict, dataclass
from typing import Self

from hubbub.clock import Clock, FileClock, ScaledClock, SystemClock

DEV_SPEED = 8640.0  # seconds that pass in one with --dev: a day in 10 s


@dataclass(frozen=True)
class Settings:
    """How a child is to serve.

    Attributes:
        store: Path of the SQLite file.
        dev: Whether the store is one of `serve --dev`, and its clock runs ahead from `origin`.
        origin: When `serve` was started, unix seconds.
        clock: File that holds the time; the machine's clock, or that of --dev, if None.
        locks: Text of each metrics.lock.
        stopped: File that says which metrics end early.
        ingest: Where devices post.
        read: Where estimates are read.
    """

    store: str
    dev: bool = False
    origin: float = 0.0
    clock: str | None = None
    locks: tuple[str, ...] = ()
    stopped: str | None = None
    ingest: str = ""
    read: str = ""

    def time(self) -> Clock:
        """The clock; all processes that are given these settings agree about the time."""
        if self.clock is not None:
            return FileClock(self.clock)
        return ScaledClock(DEV_SPEED, self.origin, self.origin) if self.dev else SystemClock()

    def dump(self) -> bytes:
        """One line that `load` reads."""
        return json.dumps(asdict(self)).encode() + b"\n"

    @classmethod
    def load(cls, line: bytes) -> Self:
        """The settings behind `dump`."""
        fields = json.loads(line)
        return cls(**{**fields, "locks": tuple(fields["locks"])})


def is_loopback(host: str) -> bool:
    """Whether a host, as it stands in an option or a request, means this machine and no other."""
    try:
        return host.lower() == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
