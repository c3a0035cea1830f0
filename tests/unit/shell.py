"""The command line in this process."""

from collections.abc import Callable

import pytest

from hubbub import cli
from hubbub.cli import output

Shell = Callable[..., tuple[int, str, str]]


def commands(capsys: pytest.CaptureFixture[str]) -> Shell:
    """Runs a command; its exit code, and what it printed on stdout and stderr."""

    def run(*words: str) -> tuple[int, str, str]:
        output.console.cache_clear()
        output.log.cache_clear()
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            cli.main(words)
        assert isinstance(ended.value.code, int)
        return ended.value.code, *capsys.readouterr()

    return run
