"""Who may import whom: the layers, and what a device can run with the standard library alone."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src"
DEVICE = ("errors", "clock", "windows", "encoders", "prf", "wire", "lock", "client")

LOADS_ALL = """
import importlib, pkgutil, sys
before = set(sys.modules)
sys.path.insert(0, sys.argv[1])
module = importlib.import_module(sys.argv[2])
for part in pkgutil.walk_packages(getattr(module, "__path__", []), module.__name__ + "."):
    if not part.name.endswith("__main__"):
        importlib.import_module(part.name)
print(*sorted({name.partition(".")[0] for name in set(sys.modules) - before}))
"""


def interpreted(*arguments: str) -> set[str]:
    """The words that a fresh interpreter prints."""
    result = subprocess.run([sys.executable, *arguments], capture_output=True, text=True, timeout=60, check=False)
    assert result.returncode == 0, result.stderr
    return set(result.stdout.split())


def files_of(module: str) -> list[Path]:
    path = SOURCE / "hubbub" / module
    return sorted(path.rglob("*.py")) if path.is_dir() else [path.with_suffix(".py")]


def imported(path: Path) -> set[str]:
    """Top-level packages named by any import statement of a file, those inside functions included."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names.update(alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            names.add((node.module or "").partition(".")[0])
    return names


def test_arrows_point_down() -> None:
    command = [str(Path(sys.executable).with_name("lint-imports")), "--no-cache", "--no-logo"]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)
    assert result.returncode == 0, result.stdout + result.stderr
    assert " kept, 0 broken" in result.stdout


@pytest.mark.parametrize("module", DEVICE)
def test_device_runs_without_site_packages(module: str) -> None:
    loaded = interpreted("-I", "-S", "-c", LOADS_ALL, str(SOURCE), f"hubbub.{module}")
    assert loaded - sys.stdlib_module_names == {"hubbub"}


@pytest.mark.parametrize("module", DEVICE)
def test_device_names_nothing_but_the_standard_library(module: str) -> None:
    files = files_of(module)
    assert files
    for path in files:
        assert imported(path) <= sys.stdlib_module_names | {"hubbub"}, path


def test_import_hubbub_imports_nothing() -> None:
    probe = "import sys; before = set(sys.modules); sys.path.insert(0, sys.argv[1]); import hubbub; "
    probe += "print(*set(sys.modules) - before)"
    assert interpreted("-I", "-S", "-c", probe, str(SOURCE)) == {"hubbub"}


@pytest.mark.parametrize(
    ("module", "heavy"),
    [
        ("hubbub.summary", {"scipy", "pandas", "numba"}),
        ("hubbub.mechanisms", {"scipy", "pandas", "numba"}),
        ("hubbub.cli", {"numpy", "scipy", "pandas", "numba", "starlette", "uvicorn"}),
    ],
)
def test_heavy_packages_are_imported_inside_functions(module: str, heavy: set[str]) -> None:
    assert not heavy & interpreted("-c", f"import sys, {module}; print(*sys.modules)")
