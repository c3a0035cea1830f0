"""Every mechanism is whole: encoder, spec page and vectors carry its name, and none of them stands without it."""

from pathlib import Path

import pytest

from hubbub import encoders, mechanisms

SPEC = Path(__file__).parents[2] / "spec"
NAMES = sorted(mechanisms.registry)


def test_there_are_mechanisms() -> None:
    assert NAMES


@pytest.mark.parametrize("name", NAMES)
def test_has_all_its_places(name: str) -> None:
    assert mechanisms.registry[name].name == name
    assert mechanisms.registry[name].__module__ == f"hubbub.mechanisms.{name}"
    assert encoders.registry[name].name == name
    assert encoders.registry[name].__module__ == f"hubbub.encoders.{name}"
    for place in (SPEC / "mechanisms" / f"{name}.md", SPEC / "vectors" / f"{name}.json"):
        assert place.is_file(), f"{name} has no {place.relative_to(SPEC.parent)}"


def test_no_place_lacks_its_mechanism() -> None:
    assert sorted(encoders.registry) == NAMES
    assert sorted(page.stem for page in (SPEC / "mechanisms").glob("*.md")) == NAMES
