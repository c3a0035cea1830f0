"""Metrics that end early: a file of the operator's, read again whenever it changes.

    "editor.minutes" = 2027-01-01        # the first day that is no longer reported

It can only shorten what the locks say. `GET /v1/stopped` shows it; the collector takes no report of a window that ends
later.
"""

import datetime
import logging
import os
import tomllib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from hubbub.errors import HubbubError
from hubbub.windows import midnight


class StoppedError(HubbubError):
    """The file cannot be read, or says something about no metric."""


class Stopped:
    """What the file at `path` says; without a file, nothing ends early.

    Args:
        path: A TOML file of metric names and dates.
        known: Whether a metric of this name is taken.

    Raises:
        StoppedError: The file cannot be used. Later on a file that cannot be used changes nothing, and is logged.
    """

    def __init__(self, path: str | os.PathLike[str] | None, known: Callable[[str], bool]) -> None:
        self._path = None if path is None else Path(path)
        self._known = known
        self._seen: tuple[int, ...] | None = None
        self.dates: Mapping[str, str] = {}
        self.ends: Mapping[str, int] = {}
        if self._path is not None:
            self._seen = _state(self._path)
            self._read(self._path)

    def refresh(self) -> None:
        """Read the file again if it has changed."""
        if self._path is None or (state := _state(self._path)) == self._seen:
            return
        self._seen = state
        try:
            self._read(self._path)
        except StoppedError as error:
            logging.getLogger(__name__).error("hubbub: %s; what it said before holds", error)

    def _read(self, path: Path) -> None:
        try:
            tree = tomllib.loads(path.read_text("utf-8"))
        except OSError as error:
            raise StoppedError(f"{path}: cannot be read ({os.strerror(error.errno or 0).lower()})") from None
        except ValueError as error:
            raise StoppedError(f"{path}: not TOML ({error})") from None
        dates = {}
        for name, value in _entries(tree):
            if not self._known(name):
                raise StoppedError(f"{path}: {name!r} is a metric of no lock that is served")
            if not isinstance(value, datetime.date) or isinstance(value, datetime.datetime):
                raise StoppedError(f"{path}: {name} must be a date such as 2027-01-01; got {value!r}")
            dates[name] = value.isoformat()
        self.dates = dict(sorted(dates.items()))
        self.ends = {name: midnight(date) for name, date in dates.items()}


def _entries(tree: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, object]]:
    """Names and values; without quotation marks, TOML makes a table of each dot."""
    for key, value in tree.items():
        if isinstance(value, dict):
            yield from _entries(value, f"{prefix}{key}.")
        else:
            yield prefix + key, value


def _state(path: Path) -> tuple[int, ...] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino
