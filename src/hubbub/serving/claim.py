"""One `hubbub serve` per store: a file beside it, locked for as long as anyone takes reports into the store.

The lock is the kernel's and belongs to the open file, which the parent shares with the process that takes reports: it
is free when both are gone, however they went.
"""

import fcntl
import os
import time
from pathlib import Path
from types import TracebackType
from typing import Self

from hubbub.errors import HubbubError

SUFFIX = ".serving"
_PAUSE_SECONDS = 0.05


class ClaimError(HubbubError):
    """The store is another collector's, or its folder cannot be written."""


class Claim:
    """The right to take reports into the store at `store`; a context manager that gives it back.

    Args:
        store: The SQLite file.
        patience: Seconds to wait for a collector that is ending.

    Raises:
        ClaimError: Another collector takes reports into it, or the folder cannot be written.
    """

    def __init__(self, store: str, patience: float) -> None:
        self._path = Path(store + SUFFIX)
        deadline = time.monotonic() + patience
        while (descriptor := self._open(store)) is None:
            if time.monotonic() > deadline:
                raise ClaimError(f"{store}: another `hubbub serve` takes reports into it{self._holder()}")
            time.sleep(_PAUSE_SECONDS)
        self.descriptor = descriptor
        os.truncate(descriptor, 0)
        os.write(descriptor, f"{os.getpid()}\n".encode())

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._path.unlink(missing_ok=True)
        os.close(self.descriptor)

    def _open(self, store: str) -> int | None:
        """The locked file; None if somebody else has it, or removed it before it was locked here."""
        try:
            descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o644)
        except OSError as error:
            reason = os.strerror(error.errno or 0).lower()
            raise ClaimError(f"{store}: cannot be opened for writing ({self._path.name}: {reason})") from None
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.path.samestat(os.fstat(descriptor), self._path.stat()):
                return descriptor
        except (BlockingIOError, FileNotFoundError):
            pass
        os.close(descriptor)
        return None

    def _holder(self) -> str:
        try:
            return f" (process {int(self._path.read_text('ascii'))})"
        except (OSError, ValueError):
            return ""
