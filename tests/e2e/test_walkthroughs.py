"""Walkthroughs are followed to the letter: each command is run, in order, and its output compared with the page's.

In a ```console block a line that begins with "$ " is a command and what follows is its whole output, standard error
included; "..." stands for any text. A command line that ends in "# exit 2" must end so; all others must succeed.
A ```toml or ```python block whose first line is "# save as NAME" is written to that file.
"""

import doctest
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
FOLDERS = "walkthroughs", "tutorial", "how-to"
PAGES = [page for folder in FOLDERS for page in sorted((DOCS / folder).glob("*.md"))]
_BLOCK = re.compile(r"^```(console|toml|python)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_EXIT = re.compile(r"\s+# exit (\d+)$")
_SAVE = re.compile(r"# save as (\S+)\n")


@dataclass(frozen=True)
class Step:
    command: str
    expected: str
    code: int


def steps(page: str) -> Iterator[Step | tuple[str, str]]:
    for kind, text in _BLOCK.findall(page):
        if kind != "console":
            if saved := _SAVE.match(text):
                yield saved[1], text[saved.end() :]
            continue
        for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
            command, _, expected = part.partition("\n")
            found = _EXIT.search(command)
            yield Step(_EXIT.sub("", command), expected, int(found[1]) if found else 0)


def matches(expected: str, got: str) -> bool:
    return doctest.OutputChecker().check_output(expected, got, doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)


def test_there_are_walkthroughs() -> None:
    assert {page.parent.name for page in PAGES} == set(FOLDERS)
    assert not matches("one\n", "two\n")


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """An empty folder; what a page left running, its process ids in files such as server.pid, is ended."""
    yield tmp_path
    for file in tmp_path.glob("*.pid"):
        with suppress(OSError, ValueError):
            os.kill(int(file.read_text()), signal.SIGKILL)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_walkthrough(page: Path, folder: Path) -> None:
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    environment = {**os.environ, "PATH": path, "COLUMNS": "100", "NO_COLOR": "1", "TERM": "dumb"}
    commands = 0
    for step in steps(page.read_text("utf-8")):
        if isinstance(step, tuple):
            (folder / step[0]).write_text(step[1], "utf-8")
            continue
        done = subprocess.run(
            ["bash", "-c", step.command],
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=120,
        )
        assert done.returncode == step.code, f"$ {step.command}\n{done.stdout}"
        assert matches(step.expected, done.stdout), f"$ {step.command}\n--- page\n{step.expected}--- got\n{done.stdout}"
        commands += 1
    assert commands
