"""What the tests of definitions share: texts of metrics.toml with single keys changed, and the command line."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from hubbub import cli
from hubbub.cli import output
from hubbub.definitions import Registry, loads

NAME = '"editor.minutes"'
TOP = {"schema": '"hubbub.registry/1"', "collection": '"editor-desktop"'}
BOOLEAN = {
    "version": "1",
    "kind": '"boolean"',
    "description": '"Whether search was used"',
    "purpose": '"Decide where it stands"',
    "owners": '["telemetry@example.org"]',
    "epsilon": "1.0",
    "starts": "2026-12-01",
    "expires": "2027-11-30",
}
MEAN = BOOLEAN | {"kind": '"mean"', "unit": '"min"', "lower": "0", "upper": "480"}


def lines(table: Mapping[str, str | None]) -> str:
    """Keys and values as TOML; None leaves a key out."""
    return "".join(f"{key} = {value}\n" for key, value in table.items() if value is not None)


def text(metric: Mapping[str, str | None], top: Mapping[str, str | None] | None = None, name: str = NAME) -> str:
    """A metrics.toml of one metric."""
    return lines(TOP | dict(top or {})) + f"\n[metrics.{name}]\n" + lines(metric)


def registry(**changes: str | None) -> Registry:
    """The accepted registry of one mean with some keys changed."""
    return loads(text(MEAN | changes).encode(), "metrics.toml")


class Shell:
    """Runs `hubbub registry ...` in this process."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys
        self.out = self.err = ""

    def __call__(self, *words: str | Path) -> int:
        """The exit code; what was printed is in `out` and `err`."""
        self._capsys.readouterr()
        output.console.cache_clear()
        output.log.cache_clear()
        with pytest.raises(SystemExit) as ended:
            cli.main(["registry", *map(str, words)])
        self.out, self.err = self._capsys.readouterr()
        assert isinstance(ended.value.code, int)
        return ended.value.code

    @property
    def prose(self) -> str:
        """What was printed, on one line."""
        return " ".join(self.out.split())
