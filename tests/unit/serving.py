"""`hubbub serve` as a process of its own, for tests that need a real one."""

import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from hubbub.clock import FileClock
from hubbub.lock import Lock, dump

PATIENCE = 30  # seconds after which a test has failed, however slow the machine
_LINES = re.compile(
    r"hubbub: listening on http://127\.0\.0\.1:([1-9][0-9]*)(?: \(dev\))?\n"
    r"hubbub: reading on http://127\.0\.0\.1:([1-9][0-9]*)(?: \(dev\))?\n"
)


class Serving:
    """A collector on a free port of 127.0.0.1; as a context manager it is killed at the end whatever happens."""

    def __init__(self, folder: Path, *locks: Lock, now: float | None, options: tuple[str, ...] = ()) -> None:
        self.store, self.port, self.read_port = folder / "store.db", 0, 0
        self._options = ["--store", str(self.store), *options]
        if now is not None:
            self.clock = FileClock(folder / "clock")
            self.clock.set(now)
            self._options += ["--clock", str(folder / "clock")]
        for number, lock in enumerate(locks):
            path = folder / f"metrics-{number}.lock"
            path.write_text(dump(lock), "utf-8")
            self._options += ["--lock", str(path)]

    def command(self, *options: str) -> list[str]:
        return [sys.executable, "-m", "hubbub", "serve", *self._options, *options]

    def fails(self, *options: str) -> str:
        """What it says when it cannot start: on stderr, with exit code 2 and no traceback."""
        command = self.command("--port", "0", "--read-port", "0", *options)
        result = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)
        assert (result.returncode, result.stdout) == (2, "")
        assert result.stderr.startswith("hubbub: ")
        assert "Traceback" not in result.stderr
        return result.stderr.strip()

    def start(self) -> None:
        """Start it, again on the same port if it ran before."""
        command = self.command("--port", str(self.port), "--read-port", str(self.read_port))
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
        )
        assert self.process.stdout is not None
        lines = self.process.stdout.readline() + self.process.stdout.readline()
        found = _LINES.fullmatch(lines)
        assert found, lines + self.stop(signal.SIGKILL)[2]
        self.port, self.read_port = int(found[1]), int(found[2])

    def children(self) -> dict[str, int]:
        """Process ids of its children, by the package they run."""
        found = {}
        for path in Path("/proc").glob("[0-9]*/stat"):
            try:
                parent = int(path.read_text().rpartition(")")[2].split()[1])
                words = path.with_name("cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            for name in (b"hubbub.collector", b"hubbub.dashboard"):
                if parent == self.process.pid and name in words:
                    found[name.decode()] = int(path.parent.name)
        return found

    def stop(self, number: signal.Signals) -> tuple[int, str, str]:
        """End it by a signal; its exit code and what else it printed."""
        self.process.send_signal(number)
        out, err = self.process.communicate(timeout=PATIENCE)
        return self.process.returncode, out, err

    def kill(self) -> None:
        """Kill all of it, as a machine does that runs out of memory or power."""
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.communicate(timeout=PATIENCE)

    def get(self, path: str) -> tuple[int, Any]:
        """Status and content of an answer of the read listener, parsed if it is JSON."""
        connection = http.client.HTTPConnection("127.0.0.1", self.read_port, timeout=PATIENCE)
        try:
            connection.request("GET", path)
            answer = connection.getresponse()
            content = answer.read()
            return answer.status, json.loads(content) if "json" in answer.headers["content-type"] else content.decode()
        finally:
            connection.close()

    def connection(self) -> http.client.HTTPConnection:
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)

    def post(self, content: bytes, headers: dict[str, str] | None = None) -> tuple[int, Any]:
        connection = self.connection()
        try:
            connection.request("POST", "/v1/reports", content, headers or {"content-type": "application/json"})
            answer = connection.getresponse()
            return answer.status, json.loads(answer.read())
        finally:
            connection.close()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)  # the children too, whatever became of the parent
        self.process.communicate()


def listens(port: int) -> bool:
    """Whether somebody accepts connections there."""
    try:
        socket.create_connection(("127.0.0.1", port), timeout=PATIENCE).close()
    except ConnectionError:
        return False
    return True


def within(condition: Callable[[], bool], seconds: float = PATIENCE) -> bool:
    """Whether a condition comes true in time; it is looked at again and again."""
    until = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > until:
            return False
        time.sleep(0.02)
    return True
