"""A folder that belongs to one installation and to one process at a time, and what can be told about its past.

Files are for their owner alone. What turns out to be damaged is put aside under another name, never deleted here.
"""

import fcntl
import os
from contextlib import suppress
from pathlib import Path

from hubbub.client.state import StateError

LOCK_FILE = "state.lock"
MAX_ASIDE = 3  # damaged files of one name that are kept; the last is replaced when there are more
_MACHINE_IDS = ("/etc/machine-id", "/var/lib/dbus/machine-id")


class Folder:
    """The folder, held by this process until `release` or its death.

    Args:
        path: Made where it is missing.

    Raises:
        StateError: It cannot be written or locked, or another process (or client) uses it.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        try:
            self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._lock = os.open(self.path / LOCK_FILE, os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            raise StateError(str(self.path), f"cannot be written ({error.strerror})") from None
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self.abandon()
            remedy = "give each process a state_dir of its own, or let one of them record for all"
            raise StateError(str(self.path), "in use by another process", remedy, busy=True) from None
        except OSError as error:
            self.abandon()
            raise StateError(str(self.path), f"cannot be locked ({error.strerror})") from None

    def release(self) -> None:
        """Let another process use the folder."""
        if self._lock >= 0:
            with suppress(OSError):
                fcntl.flock(self._lock, fcntl.LOCK_UN)
        self.abandon()

    def abandon(self) -> None:
        """Forget the lock without giving it up: after a fork it is the parent's."""
        lock, self._lock = self._lock, -1
        if lock >= 0:
            with suppress(OSError):
                os.close(lock)

    def put_aside(self, name: str, *companions: str) -> None:
        """Rename a damaged file and what belongs to it.

        Raises:
            StateError: It cannot be renamed.
        """
        taken = [number for number in range(1, MAX_ASIDE) if not (self.path / aside(name, number)).exists()]
        new = aside(name, taken[0] if taken else MAX_ASIDE)
        try:
            for suffix in ("", *companions):
                with suppress(FileNotFoundError):
                    (self.path / (name + suffix)).replace(self.path / (new + suffix))
        except OSError as error:
            raise StateError(str(self.path), f"{name} is damaged and cannot be renamed ({error.strerror})") from None

    def has_aside(self) -> bool:
        """Whether anything was ever put aside here."""
        return any(self.path.glob(aside("*", "*")))

    def delete_aside(self) -> None:
        """Delete what was put aside: it may hold values."""
        for found in self.path.glob(aside("*", "*")):
            with suppress(OSError):
                found.unlink()

    def replace(self, name: str, data: bytes) -> None:
        """Put a file in place as a whole, on the disk when this returns.

        Raises:
            StateError: It cannot be written; the old file is then as it was.
        """
        draft = self.path / (name + ".new")
        try:
            handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            try:
                os.write(handle, data)
                os.fsync(handle)
            finally:
                os.close(handle)
            draft.replace(self.path / name)
            folder = os.open(self.path, os.O_RDONLY)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)
        except OSError as error:
            with suppress(OSError):
                draft.unlink()
            raise StateError(str(self.path), f"{name} cannot be written ({error.strerror})") from None

    def stamp(self, name: str) -> str:
        """What changes whenever a file is written, copied or restored, and cannot be set back; empty without it."""
        try:
            found = (self.path / name).stat()
        except OSError:
            return ""
        return f"{found.st_ino}:{found.st_ctime_ns}"

    def identity(self) -> str:
        """What a copy of the folder, on this machine or another, does not have in common with it.

        Raises:
            StateError: The folder is gone.
        """
        return identity(self.path)


def identity(path: Path) -> str:
    """What a copy of a file or folder, on this machine or another, does not have in common with it.

    Raises:
        StateError: It is gone.
    """
    try:
        found = path.stat()
    except OSError as error:
        raise StateError(str(path), f"cannot be read ({error.strerror})") from None
    born = getattr(found, "st_birthtime", "")  # where the system tells it
    return f"{_machine()}:{found.st_ino}:{born}"


def aside(name: str, number: int | str) -> str:
    """The name of a damaged file once it is put aside."""
    return f"{name}.corrupt-{number}"


def _machine() -> str:
    for path in _MACHINE_IDS:
        with suppress(OSError):
            return Path(path).read_text("ascii", errors="replace").strip()
    return ""
