"""Scenarios as they stand in YAML: one file a subject, each scenario once for every value of its `each`."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Step = Mapping[str, Any]


@dataclass(frozen=True)
class Scenario:
    """What is done with an SDK, and what is expected of it.

    Attributes:
        name: `file/scenario`, with the value of `each` behind it where there is one.
        about: What holds, in a sentence.
        steps: Each with one key, the command.
        locks: Folder of the locks that it names.
    """

    name: str
    about: str
    steps: tuple[Step, ...]
    locks: Path

    def __str__(self) -> str:
        return self.name


def load(folder: Path) -> list[Scenario]:
    """All scenarios of a folder, in order of their files.

    Raises:
        ValueError: A file does not have the form that spec/contract/README.md says.
    """
    found: list[Scenario] = []
    for path in sorted(folder.glob("*.yaml")):
        tree = _read(path)
        if not isinstance(tree, dict) or tree.get("schema") != "hubbub.contract/1":
            raise ValueError(f"{path.name}: no hubbub.contract/1")
        for name, entry in tree["scenarios"].items():
            found += _each(f"{path.stem}/{name}", entry, folder / "locks")
    return found


def _read(path: Path) -> Any:
    """YAML in which times are text, as they are in JSON."""
    import yaml

    class Loader(yaml.SafeLoader):
        pass

    Loader.yaml_implicit_resolvers = {
        first: [(tag, form) for tag, form in pairs if tag != "tag:yaml.org,2002:timestamp"]
        for first, pairs in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }
    return yaml.load(path.read_text("utf-8"), Loader)


def _each(name: str, entry: Mapping[str, Any], locks: Path) -> Iterator[Scenario]:
    if unknown := entry.keys() - {"about", "each", "steps"}:
        raise ValueError(f"{name}: unknown {sorted(unknown)}")
    for step in entry["steps"]:
        if not isinstance(step, dict) or len(step) != 1:
            raise ValueError(f"{name}: a step has one key, not {step!r}")
    if "each" not in entry:
        yield Scenario(name, entry["about"], tuple(entry["steps"]), locks)
        return
    for value in entry["each"]:
        yield Scenario(f"{name}[{value}]", entry["about"], tuple(_filled(entry["steps"], value)), locks)


def _filled(tree: Any, value: Any) -> Any:
    """The tree with `$each` replaced."""
    if isinstance(tree, dict):
        return {key: _filled(one, value) for key, one in tree.items()}
    if isinstance(tree, list):
        return [_filled(one, value) for one in tree]
    return value if tree == "$each" else tree
