"""Without a browser its tests are left out; where one must be there, they fail."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
TEST = "tests/e2e/browser/test_looking.py::test_a_page_that_is_not_there_is_a_fault"


@pytest.mark.parametrize(("needed", "told"), [("", "1 skipped"), ("yes", "1 error")])
def test_no_browser(needed: str, told: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", TEST],
        cwd=ROOT,
        env={**os.environ, "PATH": str(tmp_path), "HUBBUB_BROWSER": needed},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert told in done.stdout.splitlines()[-1]
    assert "no browser: none of chromium" in done.stdout
