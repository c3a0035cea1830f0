"""The program that draws charts in the browser: Vega, Vega-Lite and Vega-Embed out of the package vl-convert.

It is made once, by a process of its own that ends at once, since making it takes 160 MB, and kept packed in the user's
cache folder under the version of vl-convert. Where that folder cannot be used it is kept in memory alone. What others
could have written there is not taken, since it runs in the pages.
"""

import gzip
import os
import stat
import subprocess
import sys
import tempfile
import threading
import zlib
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from hubbub.errors import HubbubError

_SECONDS = 120.0  # for making it; it takes one or two
_PROGRAM = "import sys, vl_convert; sys.stdout.buffer.write(vl_convert.javascript_bundle().encode())"
_SIGN = b"vegaEmbed"  # in every bundle
_LARGEST = 1 << 24  # bytes; it has one million


class BundleError(HubbubError):
    """The program cannot be made."""


def vega_version() -> str | None:
    """Version of vl-convert; None where it is not installed."""
    try:
        return version("vl-convert-python")
    except PackageNotFoundError:
        return None


def cache_folder() -> Path | None:
    """Where hubbub keeps what can be made again."""
    given = os.environ.get("XDG_CACHE_HOME", "")
    if given and Path(given).is_absolute():
        return Path(given) / "hubbub"
    try:
        return Path.home() / ".cache" / "hubbub"
    except RuntimeError:  # nobody's
        return None


class Bundle:
    """The program, made when it is first asked for."""

    def __init__(self, name: str) -> None:
        self._name = f"{name}.js.gz"
        self._turn = threading.Lock()
        self._packed: bytes | None = None

    def packed(self) -> bytes:
        """The program, compressed by gzip.

        Raises:
            BundleError: It cannot be made.
        """
        with self._turn:
            if self._packed is None:
                folder = cache_folder()
                self._packed = _kept(folder / self._name) if folder else None
                if self._packed is None:
                    self._packed = gzip.compress(_made(), 9, mtime=0)
                    if folder:
                        _keep(folder / self._name, self._packed)
            return self._packed


def _kept(path: Path) -> bytes | None:
    try:
        with os.fdopen(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb") as file:
            found = os.fstat(file.fileno())
            others = found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
            if not stat.S_ISREG(found.st_mode) or found.st_uid != os.geteuid() or others:
                return None
            packed = file.read(_LARGEST)
        unpacking = zlib.decompressobj(wbits=31)  # gzip's form
        content = unpacking.decompress(packed, _LARGEST)
        return packed if unpacking.eof and not unpacking.unused_data and _SIGN in content else None
    except (OSError, zlib.error):
        return None


def _keep(path: Path, packed: bytes) -> None:
    draft = None
    try:
        path.parent.mkdir(mode=stat.S_IRWXU, parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        draft = Path(name)
        with os.fdopen(handle, "wb") as file:
            file.write(packed)
        draft.replace(path)
    except OSError:  # then it is made again by the next process
        if draft is not None:
            draft.unlink(missing_ok=True)


def _made() -> bytes:
    command = [sys.executable, "-P", "-c", _PROGRAM]  # -P: nothing is imported from the working directory
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=_SECONDS
        )
    except (OSError, subprocess.TimeoutExpired):
        raise BundleError("the charts' program cannot be made: vl-convert does not run") from None
    if done.returncode or _SIGN not in done.stdout:
        raise BundleError(f"the charts' program cannot be made: vl-convert ended with {done.returncode}")
    return done.stdout
