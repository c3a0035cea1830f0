"""The table of scenarios says which test holds each of them: those tests exist, and none of this folder is missing."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

HERE, TESTS = Path(__file__).parent, Path(__file__).parents[1]
ROW = re.compile(r"^\| ([A-HLRW][0-9]+) \| .+ \| ((?:`[^`]+` ?)+) \|$", re.MULTILINE)
NAMED = re.compile(r"`([^`]+)(?:::|#)([^`]+)`")  # a test of a file, or a scenario of the contract
ROWS = {found[1]: NAMED.findall(found[2]) for found in ROW.finditer((HERE / "README.md").read_text("utf-8"))}
NEEDED = (
    *("A1", "A5", "A6", "A8", "A10", "A11", "B1", "B3", "B4", "B6", "B8", "B9", "B12", "B13"),
    *("C1", "C3", "C4", "C6", "C7", "C8", "D1", "D3", "D5", "D9", "E1", "E2", "F1", "H2", "H3"),
    *("R1", "R2", "R3", "R4", "R5", "R6", "R7", "R8", "R9", "R10"),
    *("W8", "W10", "W11", "W12", "W13", "W18", "W21", "W28"),
    *(f"L{number}" for number in range(1, 17)),
)


@cache
def held_by(path: Path) -> frozenset[str]:
    """Names of the tests of a file: functions, and state machines that are given a name."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.Assign):
            found |= {target.id for target in node.targets if isinstance(target, ast.Name)}
    return frozenset(name for name in found if re.match("[Tt]est_?", name))


@pytest.mark.parametrize("scenario", [*NEEDED, *sorted(ROWS.keys() - set(NEEDED))])
def test_scenario_has_its_tests(scenario: str) -> None:
    assert ROWS.get(scenario), f"tests/scenarios/README.md has no row for {scenario}"
    for file, name in ROWS[scenario]:
        if file.endswith(".yaml"):
            assert f"\n  {name}:\n" in (TESTS.parent / file).read_text("utf-8"), f"{scenario}: no {name} in {file}"
            continue
        assert (TESTS / file).is_file(), f"{scenario}: there is no tests/{file}"
        assert name in held_by(TESTS / file), f"{scenario}: there is no {name} in tests/{file}"


def test_scenarios_of_this_folder_are_in_the_table() -> None:
    listed = {(file, name) for tests in ROWS.values() for file, name in tests}
    for path in HERE.glob("test_[a-z]_*.py"):
        for name in held_by(path):
            if (known := re.match(r"test_([a-h][0-9]+)_", name)) is not None:
                scenario = known[1].upper()
                assert (f"scenarios/{path.name}", name) in listed, f"{scenario}: {name} is not in the table"


def test_rows_are_read() -> None:
    lines = [line for line in (HERE / "README.md").read_text("utf-8").splitlines() if re.match(r"\| [A-Z][0-9]", line)]
    assert len(lines) == len(ROWS), "a row is not of the form `| id | seen | tests |`"
