"""Registries: what is known, what is registered, what entry points bring, and when they are looked at."""

from typing import Any

import pytest

from hubbub.encoders import registry as module_registry
from hubbub.encoders.registering import Registry
from hubbub.errors import ParameterError


class One:
    name = "one"


class Two:
    name = "two"


class Other:
    name = "one"


class Point:
    """An entry point that brings `Two`."""

    def load(self) -> Any:
        return Two


@pytest.fixture
def looks(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The groups of entry points that were asked for."""
    asked: list[str] = []

    def entry_points(group: str) -> list[Point]:
        asked.append(group)
        return [Point()]

    monkeypatch.setattr("hubbub.encoders.registering.entry_points", entry_points)
    return asked


def test_what_is_known_is_found_without_looking_further(looks: list[str]) -> None:
    assert Registry("a.group", [One])["one"] is One
    assert looks == []


def test_entry_points_are_looked_at_once_and_only_when_needed(looks: list[str]) -> None:
    found: Registry[Any] = Registry("a.group", [One])
    assert found["two"] is Two
    assert list(found) == ["one", "two"]
    assert len(found) == 2
    assert "three" not in found
    assert looks == ["a.group"]


def test_a_name_is_taken_once(looks: list[str]) -> None:
    found: Registry[Any] = Registry("a.group", [One])
    found.register(One)
    with pytest.raises(ParameterError, match="name must be one that no other mechanism has; got 'one'"):
        found.register(Other)
    assert found["one"] is One


def test_unknown_names_are_key_errors() -> None:
    with pytest.raises(KeyError):
        module_registry["no_such_encoder"]
