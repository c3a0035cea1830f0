"""The committed vectors: what hubbub writes now, what the second reading says, and what the schema allows."""

import ast
import json
import math
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from tests.vectors import library, reader, write

FILES = sorted(path.stem for path in write.VECTORS.glob("*.json"))
SCHEMA = json.loads((write.VECTORS.parent / "schemas" / "vectors.json").read_text("utf-8"))


def entries(name: str) -> list[dict[str, Any]]:
    content = json.loads((write.VECTORS / f"{name}.json").read_text("utf-8"))
    assert content["name"] == name
    assert len(content["entries"]) > 20
    return list(content["entries"])


def agrees(found: Any, expected: Any) -> bool:
    """Whether two answers agree: exactly, but for numbers with a decimal point (spec/README.md, "Vectors")."""
    if isinstance(expected, float) and isinstance(found, float):
        return math.isclose(found, expected, rel_tol=1e-9, abs_tol=0 if expected else 1e-12)
    if type(found) is not type(expected):
        return False
    if isinstance(expected, dict):
        return found.keys() == expected.keys() and all(agrees(found[key], expected[key]) for key in expected)
    if isinstance(expected, list):
        return len(found) == len(expected) and all(map(agrees, found, expected))
    return bool(found == expected)


def answered(entry: dict[str, Any], by: Any) -> dict[str, Any]:
    """What a program says to the question of an entry."""
    try:
        return {"output": by.answer(entry["op"], entry["input"])}
    except by.RefusedError:
        return {"refused": True}


def fits(entry: dict[str, Any], found: dict[str, Any]) -> bool:
    """Whether an answer is that of the entry."""
    return ("refused" in entry) == ("refused" in found) and agrees(found.get("output"), entry.get("output"))


def test_there_is_a_file_for_every_set_of_cases() -> None:
    assert list(write.NAMES) == FILES
    assert len(FILES) >= 5


@pytest.mark.parametrize("name", FILES)
def test_committed_is_what_hubbub_writes_now(name: str) -> None:
    path = write.VECTORS / f"{name}.json"
    assert path.read_text("utf-8") == write.text(name), "run `make vectors` and read what has changed"
    assert path.stat().st_size < 60_000


@pytest.mark.parametrize("name", FILES)
def test_second_reading_agrees(name: str) -> None:
    wrong = [entry for entry in entries(name) if not fits(entry, answered(entry, reader))]
    assert not wrong


@pytest.mark.parametrize("name", FILES)
def test_hubbub_agrees(name: str) -> None:
    wrong = [entry for entry in entries(name) if not fits(entry, answered(entry, library))]
    assert not wrong


@pytest.mark.parametrize("name", FILES)
def test_files_fit_their_schema(name: str) -> None:
    content = json.loads((write.VECTORS / f"{name}.json").read_text("utf-8"))
    assert [error.message for error in Draft202012Validator(SCHEMA).iter_errors(content)] == []


@pytest.mark.parametrize("name", FILES)
def test_each_entry_says_once_what_it_is_for(name: str) -> None:
    asked = [json.dumps([entry["op"], entry["input"]], sort_keys=True) for entry in entries(name)]
    assert len(set(asked)) == len(asked)
    kinds = {(entry["op"], "refused" in entry) for entry in entries(name)}
    assert name == "prf" or any(refused for _, refused in kinds)


def test_every_operation_is_asked_for() -> None:
    asked = {entry["op"] for name in FILES for entry in entries(name)}
    assert asked == set(reader.OPERATIONS)
    assert asked == set(SCHEMA["$defs"])


def spoiled(value: Any) -> Iterator[Any]:
    """The same answer with one thing wrong in it, each in turn."""
    match value:
        case bool():
            yield not value
        case int() | None:
            yield (value or 0) + 1
        case float():
            yield value * (1 + 1e-8) if value else 1e-11
        case str():
            yield value[:-1] + ("0" if value[-1:] != "0" else "1")
        case dict():
            yield {**value, "more": 0}
            yield from ({**value, key: wrong} for key, item in value.items() for wrong in spoiled(item))
        case list():
            yield [*value, 0]
            yield from ([*value[:i], wrong, *value[i + 1 :]] for i, item in enumerate(value) for wrong in spoiled(item))


@pytest.mark.parametrize("name", FILES)
def test_second_reading_notices_any_change(name: str) -> None:
    for entry in entries(name):
        found = answered(entry, reader)
        if "refused" in entry:
            assert not fits({"output": 0}, found), entry
            continue
        assert not fits({"refused": True}, found), entry
        wrong = list(spoiled(entry["output"]))
        assert wrong
        assert not any(fits({"output": other}, found) for other in wrong), entry


def test_the_second_reading_is_independent() -> None:
    files = sorted(Path(reader.__file__).parent.glob("*.py"))
    assert len(files) > 5
    named = set()
    for node in (node for path in files for node in ast.walk(ast.parse(path.read_text("utf-8")))):
        if isinstance(node, ast.Import):
            named |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            module = node.module or ""
            named.add("reader" if module.startswith("tests.vectors.reader") else module.partition(".")[0])
    assert "reader" in named
    assert named <= sys.stdlib_module_names | {"reader"}
