"""The table of expected values, which is kept beside the checkout where it is kept at all."""

import json
from collections.abc import Mapping, Set
from pathlib import Path
from typing import Any

import pytest

TABLE = Path(__file__).parents[3] / "shared" / "testvalues.json"


def complete(groups: Set[str], rows: Mapping[str, tuple[str, Any]]) -> None:
    """Every row of these groups is among the rows, with its value, and no other one is."""
    if not TABLE.is_file():
        pytest.skip("the table of expected values is not kept beside this checkout")
    table = json.loads(TABLE.read_text(encoding="utf-8"))
    expected = {entry["id"]: entry["value"] for entry in table if entry["group"] in groups}
    assert {entry["group"] for entry in table} >= groups
    assert {identity: value for identity, (value, _) in rows.items()} == expected
