"""A collector of one's own, run as another process for the length of a replay."""

import re
import subprocess
import sys
from pathlib import Path
from types import TracebackType
from typing import Self

from hubbub.errors import HubbubError

_LISTENING = re.compile(r"hubbub: listening on http://127\.0\.0\.1:(\d+)")
_READING = re.compile(r"hubbub: reading on http://127\.0\.0\.1:(\d+)")
_STARTS = 3  # times that a collector which died is started again
_STOP_SECONDS = 10


class Collector:
    """`hubbub serve` on a store of its own and a free port of 127.0.0.1; a context manager that ends it."""

    def __init__(self, lock: Path, store: Path, clock: Path) -> None:
        self._command = [sys.executable, "-m", "hubbub", "serve", "--lock", str(lock), "--store", str(store)]
        self._command += ["--clock", str(clock), "--with-parent"]
        self._process: subprocess.Popen[str] | None = None
        self._port = self._read_port = 0
        self.restarts = 0

    @property
    def endpoint(self) -> str:
        """Where devices post."""
        return f"http://127.0.0.1:{self._port}"

    @property
    def read_endpoint(self) -> str:
        """Where its dashboard and its estimates are."""
        return f"http://127.0.0.1:{self._read_port}"

    @property
    def pid(self) -> int:
        """The serving process."""
        return self._running().pid

    def __enter__(self) -> Self:
        try:
            self._start()
        except BaseException:  # Ctrl-C among them, while it starts
            self._stop()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop()

    def revive(self) -> bool:
        """Start it again on the same port and store if it has died; whether that was needed.

        Raises:
            HubbubError: It died too often.
        """
        if self._running().poll() is None:
            return False
        code = self._end()
        if self.restarts == _STARTS:
            raise HubbubError(f"the collector ended by itself {_STARTS + 1} times (exit code {code})")
        self.restarts += 1
        self._start()
        return True

    def _start(self) -> None:
        command = [*self._command, "--port", str(self._port), "--read-port", str(self._read_port)]
        self._process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, start_new_session=True
        )
        assert self._process.stdout is not None
        found = _LISTENING.match(self._process.stdout.readline()), _READING.match(self._process.stdout.readline())
        if found[0] is None or found[1] is None:
            self._process.kill()
            raise HubbubError(f"the collector did not start (exit code {self._end()})")
        self._port, self._read_port = int(found[0][1]), int(found[1][1])

    def _stop(self) -> None:
        if self._process is None:
            return
        self._process.terminate()
        try:
            self._process.wait(_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
        self._end()

    def _end(self) -> int:
        """Wait for the process, which is ending, and let go of its output; its exit code."""
        process = self._running()
        code = process.wait()
        assert process.stdout is not None
        process.stdout.close()
        return code

    def _running(self) -> "subprocess.Popen[str]":
        assert self._process is not None
        return self._process
