"""The libraries that hubbub is measured beside, in an environment of their own, made on first use outside the checkout.

It lies in the user's cache, named after what stands in peers.lock, and everything in it is checked against the hashes
there. Another lock is another environment.
"""

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

PYTHON = (3, 11)  # the newest that pure-ldp runs on
LOCK = Path(__file__).with_name("peers.lock")
BUILD = Path(__file__).parents[2] / "requirements" / "build.lock"  # multi-freq-ldpy is published as source
INSTALL = ("-m", "pip", "--disable-pip-version-check", "--no-input", "install", "-qq", "--require-hashes")


def python() -> Path:
    """The environment's interpreter.

    Raises:
        SystemExit: There is no Python of the right version.
    """
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    folder = cache / "hubbub" / f"peers-{hashlib.sha256(LOCK.read_bytes()).hexdigest()[:12]}"
    found, ready = folder / "bin" / "python", folder / "ready"
    if not ready.exists():
        print(f"making an environment for pure-ldp and multi-freq-ldpy in {folder}", file=sys.stderr)
        subprocess.run([_base(), "-m", "venv", "--clear", str(folder)], check=True)
        subprocess.run([str(found), *INSTALL, "--no-build-isolation", "-r", str(BUILD)], check=True)
        rest = ("--no-build-isolation", "--use-pep517", "-r", str(LOCK))
        subprocess.run([str(found), *INSTALL, *rest], check=True)
        ready.touch()
    return found


def _base() -> str:
    if sys.version_info[:2] == PYTHON:
        return sys.executable
    name = "python" + ".".join(map(str, PYTHON))
    if found := shutil.which(name):
        return found
    raise SystemExit(f"pure-ldp and multi-freq-ldpy need {name}, and there is none on the path")
