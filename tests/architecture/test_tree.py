"""What no file of the repository may contain, and what its locks must."""

import re
import shutil
import subprocess
import sys
import tomllib
from importlib.metadata import version
from pathlib import Path

import pytest
from packaging.requirements import Requirement

import hubbub

ROOT = Path(__file__).parents[2]
LOCKS = sorted((ROOT / "requirements").glob("*.lock"))
BIG = 500_000  # bytes: the largest lock has less than half
BUILT = re.compile(r"\.(?!ci$).*|build|dist|node_modules|__pycache__")

# Written as classes of one character so that this file does not match itself.
FORBIDDEN = re.compile(
    r"/wor[k]/|/roo[t]/|/tm[p]/[a-z]+/|/hom[e]/|/User[s]/"
    r"|pypi\.or[g]|pythonhosted\.or[g]|npmjs\.(?:or[g]|co[m])|debian\.or[g]"
)
PIN = re.compile(r"^([a-z0-9-]+)==([^ ]+)", re.MULTILINE)


def tracked() -> list[Path]:
    """Files of the repository; without git (an unpacked archive), those outside hidden and built folders."""
    if (ROOT / ".git").exists() and shutil.which("git"):
        command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        names = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
        return [ROOT / name for name in names.split("\0") if name and (ROOT / name).is_file()]
    every = (path for path in ROOT.rglob("*") if path.is_file())
    return [path for path in every if not any(map(BUILT.fullmatch, path.relative_to(ROOT).parts[:-1]))]


def pins(lock: Path) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for name, pinned in PIN.findall(lock.read_text(encoding="utf-8")):
        found.setdefault(name, set()).add(pinned)
    return found


def asked() -> list[Requirement]:
    """Every requirement of another project that pyproject.toml names."""
    table = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    lists = [*table["project"]["optional-dependencies"].values(), *table["dependency-groups"].values()]
    return [need for need in map(Requirement, sum(lists, table["build-system"]["requires"])) if need.name != "hubbub"]


def test_no_file_names_a_machine_or_a_registry() -> None:
    files = tracked()
    assert len(files) > 20
    found = [
        f"{path.relative_to(ROOT)}: {match[0]}"
        for path in files
        if (match := FORBIDDEN.search(path.read_bytes().decode("utf-8", errors="ignore")))
    ]
    assert found == []


def test_no_name_looks_like_an_option_and_no_file_is_big() -> None:
    files = {path.relative_to(ROOT): path.stat().st_size for path in tracked()}
    assert [str(path) for path in files if any(part.startswith("-") for part in path.parts)] == []
    assert [f"{path}: {size} bytes" for path, size in files.items() if size > BIG] == []


def test_a_test_that_hangs_is_ended_and_named(tmp_path: Path) -> None:
    (tmp_path / "test_hanging.py").write_text("import threading\ndef test_for_ever(): threading.Event().wait()\n")
    options = ["-c", str(ROOT / "pyproject.toml"), "-p", "no:cacheprovider", "-o", "faulthandler_timeout=0.2"]
    command = [sys.executable, "-m", "pytest", *options, str(tmp_path / "test_hanging.py")]
    ended = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert ended.returncode == 1
    assert "in test_for_ever" in ended.stderr


def test_version_is_the_built_one() -> None:
    assert hubbub.__version__ == version("hubbub")


def test_locks_hold_what_pyproject_asks_for() -> None:
    locked = pins(ROOT / "requirements" / "dev.lock")
    for need in asked():
        assert locked.get(need.name), f"make lock: {need.name} is not in requirements/dev.lock"
        assert all(pinned in need.specifier for pinned in locked[need.name]), f"make lock: {need}"


def test_third_parties_are_named() -> None:
    table = (ROOT / "THIRD_PARTY.md").read_text(encoding="utf-8")
    assert [need.name for need in asked() if f"| {need.name} |" not in table] == []


@pytest.mark.parametrize("lock", LOCKS, ids=lambda lock: lock.name)
def test_locks_agree_and_are_hashed(lock: Path) -> None:
    everything = pins(ROOT / "requirements" / "dev.lock")
    assert pins(lock).items() <= everything.items()
    blocks = re.split(r"^(?=[a-z0-9-]+==)", lock.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
    assert blocks
    assert all("--hash=sha256:" in block for block in blocks)


def test_there_are_three_locks() -> None:
    assert [lock.name for lock in LOCKS] == ["build.lock", "demo.lock", "dev.lock"]
