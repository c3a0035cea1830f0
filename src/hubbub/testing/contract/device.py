"""An SDK behind its adapter: a process with a folder and a clock of its own, that can be killed and begun again."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

_SILENT = ("DO_NOT_TRACK", "CI")  # what the environment of the tests must not decide


class Device:
    """One installation and the program on it.

    Args:
        command: The adapter's program and its arguments.
        folder: Where its state, its clock and copies of it lie.
    """

    def __init__(self, command: Sequence[str], folder: Path) -> None:
        self._command = command
        self._folder = folder
        self._process: subprocess.Popen[str] | None = None
        self.state = folder / "state"
        self.clock = folder / "clock"

    def set_clock(self, now: float) -> None:
        """Whatever runs sees this time from now on."""
        draft = self.clock.with_suffix(".new")
        draft.write_text(f"{now:.6f}\n", "ascii")
        draft.replace(self.clock)

    def ask(self, **command: Any) -> Mapping[str, Any]:
        """One command to the adapter, and its answer.

        Raises:
            RuntimeError: The adapter ended.
        """
        assert self._process is not None, "the program does not run"
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with suppress(BrokenPipeError):
            self._process.stdin.write(json.dumps(command) + "\n")
            self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"the adapter ended at {command}")
        answer: Mapping[str, Any] = json.loads(line)
        return answer

    def begin(self, environment: Mapping[str, str]) -> None:
        """Start the program."""
        self.end()
        inherited = {name: value for name, value in os.environ.items() if name not in _SILENT}
        self._process = subprocess.Popen(
            self._command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**inherited, **environment},
        )

    def end(self) -> None:
        """Let the program end as programs do."""
        self._gone(kill=False)

    def kill(self) -> None:
        """End it without a chance to do anything more."""
        self._gone(kill=True)

    def _gone(self, *, kill: bool) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        if kill:
            process.kill()
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                with suppress(BrokenPipeError):
                    stream.close()
        process.wait(timeout=30)

    def remove(self, names: Sequence[str]) -> None:
        """Files of the state that get lost, each with what lies beside it under the same name."""
        for name in names:
            for path in self.state.glob(f"{name}*"):
                path.unlink()

    def damage(self, name: str) -> None:
        """Overwrite the middle of a file."""
        path = self.state / name
        content = bytearray(path.read_bytes())
        start = len(content) // 4
        content[start : start + len(content) // 2] = b"\xa5" * (len(content) // 2)
        path.write_bytes(content)

    def save(self, name: str) -> None:
        """A backup of the folder, by whatever copies files."""
        shutil.copytree(self.state, self._folder / f"copy-{name}")

    def restore(self, name: str) -> None:
        """What a backup held, in place of what is there."""
        for path in self.state.iterdir():
            path.unlink()
        shutil.copytree(self._folder / f"copy-{name}", self.state, dirs_exist_ok=True)

    def restore_anew(self, name: str) -> None:
        """What a backup held, in a folder made anew: what was there is gone."""
        self.state.rename(self.state.with_name(f"{self.state.name}-before-{name}"))  # so that the new one is no reuse
        shutil.copytree(self._folder / f"copy-{name}", self.state)

    def clone(self) -> None:
        """Go on in a copy of the folder, as another machine does that was made from an image of this one."""
        self.state = Path(shutil.copytree(self.state, self.state.with_name(self.state.name + "-clone")))


def python_adapter() -> list[str]:
    """The command of the Python SDK's adapter."""
    return [sys.executable, "-m", "hubbub.testing.contract.adapter"]
