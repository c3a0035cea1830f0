"""Write spec/vectors/*.json from the cases and what hubbub answers to them: `python -m tests.vectors.write [NAME ...]`.

The files are the same on every machine and at every run; tests/vectors/test_vectors.py holds the committed ones to
that, and tests/vectors/reader.py reads them a second time without hubbub.
"""

import argparse
import importlib
import json
import pkgutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.vectors import cases
from tests.vectors.library import RefusedError, answer

VECTORS = Path(__file__).parents[2] / "spec" / "vectors"
SCHEMA = "hubbub.vectors/1"
NAMES = tuple(sorted(module.name for module in pkgutil.iter_modules(cases.__path__)))


def entries(name: str) -> list[dict[str, Any]]:
    """The entries of one file, answered by hubbub."""
    made = []
    for op, given, note in importlib.import_module(f"tests.vectors.cases.{name}").cases():
        entry = {"note": note, "op": op, "input": given}
        try:
            made.append(entry | {"output": answer(op, given)})
        except RefusedError:
            made.append(entry | {"refused": True})
    return made


def text(name: str) -> str:
    """The file as it is committed: a line for each part of an entry, so that a change can be read."""
    body = ",\n".join(_lines(entry) for entry in entries(name))
    return f'{{"schema": "{SCHEMA}", "name": "{name}", "entries": [\n{body}\n]}}\n'


def _lines(entry: Mapping[str, Any]) -> str:
    parts = [f"{json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}" for key, value in entry.items()]
    return " {" + ",\n  ".join(parts) + "}"


def main() -> None:
    """Write the named files, or all of them."""
    parser = argparse.ArgumentParser(prog="python -m tests.vectors.write", description="Write spec/vectors/*.json.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(NAMES))
    parser.add_argument("--to", type=Path, default=VECTORS, metavar="FOLDER", help="write into another folder")
    arguments = parser.parse_args()
    if unknown := set(arguments.names) - set(NAMES):
        parser.error(f"no cases for {', '.join(sorted(unknown))}; there are {', '.join(NAMES)}")
    for name in arguments.names or NAMES:
        path = arguments.to / f"{name}.json"
        path.write_text(text(name), "utf-8")
        print(path)


if __name__ == "__main__":
    main()
