"""Expected numbers of the mechanisms for vectors, to 10⁻⁶: through the library, or as what a wrong formula has given.

The rows come from a table that is kept beside the checkout; where it is there, none of these groups may be forgotten.
"""

import math
from collections.abc import Callable
from itertools import product
from typing import Any

import pytest

from hubbub.mechanisms.duchi_vector import DuchiVector
from hubbub.mechanisms.harmony import Harmony
from hubbub.mechanisms.research import PrivUnit
from tests.unit.testvalues import complete

GROUPS = {"DuchiMD", "PrivUnit", "Harmony"}

ROWS: dict[str, tuple[str, Callable[[], Any]]] = {}


def row(identity: str, value: str, compute: Callable[[], Any]) -> None:
    ROWS[identity] = value, compute


def reach(d: int) -> float:
    """B of the papers: what a report says about each coordinate, in half ranges, at a loss of 1."""
    return float(1 / DuchiVector.from_epsilon(1, dimension=d, agree=(d + 1) // 2).encoder.gain())


def ties_on_both_sides() -> float:
    """The loss where a payload that agrees in one of two coordinates is drawn with either set, each even in itself."""
    chances = {}
    for sent in product((-1, 1), repeat=2):
        agreed = sum(sent)  # with (1, 1)
        chances[sent] = math.e / (math.e + 1) / 3 * (agreed >= 0) + 1 / (math.e + 1) / 3 * (agreed <= 0)
    return math.log(max(chances.values()) / min(chances.values()))


row("T086", "5.327906827477", lambda: reach(2))
row("T087", "4.327906827477", lambda: reach(3))
row("T088", "6.770542436636", lambda: reach(4))
row("T089", "1.313261687518", ties_on_both_sides)
row("T103", "0.6487190559224", lambda: PrivUnit.from_cut(16, 0.1, 0.6).q)
row("T104", "0.1025399973194", lambda: PrivUnit.from_cut(16, 0.1, 0.6).m)
row("T105", "1.018878529665", lambda: PrivUnit.from_cut(16, 0.1, 0.6).epsilon)
row("T106", "94.10720010200", lambda: PrivUnit.from_cut(16, 0.1, 0.6).squared_error)
row("T107", "0.5000000000000", lambda: PrivUnit.from_cut(3, 0.4, 0.8).m)
row("T111", "37.21155501465", lambda: Harmony.from_epsilon(1, dimension=8).variance(0.5, 1))


@pytest.mark.parametrize("identity", ROWS)
def test_value(identity: str) -> None:
    value, compute = ROWS[identity]
    assert float(compute()) == pytest.approx(float(value), rel=1e-6)


def test_no_row_is_forgotten() -> None:
    complete(GROUPS, ROWS)
