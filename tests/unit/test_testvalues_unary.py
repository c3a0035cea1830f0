"""Expected numbers from 50-digit arithmetic, to 10⁻⁶, of the mechanisms that send a bit for each category."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from hubbub.mechanisms.oue import Oue
from hubbub.mechanisms.subset_selection import SubsetSelection
from hubbub.mechanisms.sue import Sue

TABLE = Path(__file__).parents[3] / "shared" / "testvalues.json"
GROUPS = {"SUE", "OUE", "SS"}

ROWS: dict[str, tuple[str, Callable[[], float]]] = {
    "T020": ("0.6224593312019", lambda: Sue.from_epsilon(1, categories=5).support.own),
    "T021": ("3.917698089033", lambda: float(Sue.from_epsilon(1, categories=5).variance(0, 1))),
    "T022": ("0.2689414213700", lambda: Oue.from_epsilon(1, categories=5).support.other),
    "T036": ("0.5013443529745", lambda: hundred().support.own),
    "T038": ("3.599534851841", lambda: float(hundred().variance(0.01, 1)) - 0.01 * 0.99),  # of given devices
}


def hundred() -> SubsetSelection:
    mechanism = SubsetSelection.from_epsilon(1, categories=100)
    assert mechanism.encoder.omega == 27
    return mechanism


@pytest.mark.parametrize("identity", ROWS)
def test_value(identity: str) -> None:
    value, compute = ROWS[identity]
    assert compute() == pytest.approx(float(value), rel=1e-6)


def test_no_row_is_forgotten() -> None:
    if not TABLE.is_file():
        pytest.skip("the table of expected values is not kept beside this checkout")
    table = json.loads(TABLE.read_text(encoding="utf-8"))
    expected = {entry["id"]: entry["value"] for entry in table if entry["group"] in GROUPS}
    assert {entry["group"] for entry in table} >= GROUPS
    assert {identity: value for identity, (value, _) in ROWS.items()} == expected
