"""What the vectors ask, one module for each file of spec/vectors; the answers come from hubbub."""

from collections.abc import Iterable, Mapping
from typing import Any

Case = tuple[str, Mapping[str, Any], str]  # operation, input, which mistake it would catch
Rows = Iterable[tuple[Mapping[str, Any], str]]

WORDS = 2**32
SECRET = bytes(range(32)).hex()
OTHER_SECRET = bytes(range(255, 223, -1)).hex()
MINUTES = {  # the example of spec/registry.md
    "collection": "editor-desktop",
    "metric": "editor.minutes",
    "hash": "91e3ba24febd013c2b5155748646b00e8754524c0e76a64cd3a5e26840e98c96",
}


def cases_of(op: str, rows: Rows, **shared: Any) -> list[Case]:
    """Cases of one operation that share a part of their input."""
    return [(op, {**shared, **given}, note) for given, note in rows]
