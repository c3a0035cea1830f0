"""`hubbub serve` as a process of its own, for tests that need a real one."""

import http.client
import json
import re
import signal
import subprocess
import sys
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from hubbub.clock import FileClock
from hubbub.lock import Lock, dump

PATIENCE = 30  # seconds after which a test has failed, however slow the machine
_LINE = re.compile(r"hubbub: listening on http://127\.0\.0\.1:([1-9][0-9]*)\n")


class Serving:
    """A collector on a free port of 127.0.0.1; as a context manager it is killed at the end whatever happens."""

    def __init__(self, folder: Path, *locks: Lock, now: float, options: tuple[str, ...] = ()) -> None:
        self.store, self.port = folder / "store.db", 0
        self.clock = FileClock(folder / "clock")
        self.clock.set(now)
        self._options = ["--store", str(self.store), "--clock", str(folder / "clock"), *options]
        for number, lock in enumerate(locks):
            path = folder / f"metrics-{number}.lock"
            path.write_text(dump(lock), "utf-8")
            self._options += ["--lock", str(path)]

    def command(self, *options: str) -> list[str]:
        return [sys.executable, "-m", "hubbub", "serve", *self._options, *options]

    def fails(self, *options: str) -> str:
        """What it says when it cannot start: on stderr, with exit code 2 and no traceback."""
        command = self.command("--port", "0", *options)
        result = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)
        assert (result.returncode, result.stdout) == (2, "")
        assert result.stderr.startswith("hubbub: ")
        assert "Traceback" not in result.stderr
        return result.stderr.strip()

    def start(self) -> None:
        """Start it, again on the same port if it ran before."""
        command = self.command("--port", str(self.port))
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        found = _LINE.fullmatch(line)
        assert found, line + self.stop(signal.SIGKILL)[2]
        self.port = int(found[1])

    def stop(self, number: signal.Signals) -> tuple[int, str, str]:
        """End it by a signal; its exit code and what else it printed."""
        self.process.send_signal(number)
        out, err = self.process.communicate(timeout=PATIENCE)
        return self.process.returncode, out, err

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
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()
