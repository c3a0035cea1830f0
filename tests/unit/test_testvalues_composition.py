"""Expected numbers from 50-digit arithmetic, to 10⁻⁶, of losses that add up and of reports that somebody shuffles."""

import math
from collections.abc import Callable

import pytest

from hubbub.privacy.composition import optimal, renyi, zcdp
from hubbub.privacy.shuffling import fmt21, fmt23, fmt23_closed, of_others
from tests.unit.testvalues import complete

GROUPS = {"composition", "RDP", "zCDP", "shuffle"}


def formula_of_another_program() -> float:
    """A closed form that a public program prints, which is looser than the numeric bound; only for comparison."""
    e0, n, delta = math.exp(4), 1e5, 1e-6
    spread = 8 * math.sqrt(e0 * math.log(4 / delta) / n) + 8 * e0 / n
    return math.log1p((1 - 1 / e0) / (1 + 1 / (e0 * (1 + spread))) * spread)


ROWS: dict[str, tuple[str, Callable[[], float]]] = {
    "T161": ("4.774567588108", lambda: optimal(0.1, 100, 1e-6)),
    "T162": ("13.95200753947", lambda: optimal(0.5, 30, 1e-6)),
    "T164": ("0.7353256640555", lambda: renyi(1, 2)),
    "T165": ("0.4621171572600", lambda: zcdp(1)),
    "T168": ("0.1800063677314", lambda: fmt23_closed(1, 10_000, 1e-6)),
    "T169": ("0.5378040242375", formula_of_another_program),
    "T170": ("0.1266144809609", lambda: of_others(1, 1000, 1e-6, 999)),
    "T171": ("0.18241234748", lambda: fmt21(1, 1000, 1e-6)),
    "T172": ("0.14867061635", lambda: fmt23(1, 1000, 1e-6)),
}


@pytest.mark.parametrize("identity", ROWS)
def test_value(identity: str) -> None:
    value, compute = ROWS[identity]
    assert compute() == pytest.approx(float(value), rel=1e-6)


def test_no_row_is_forgotten() -> None:
    complete(GROUPS, ROWS)


def test_the_numeric_bound_is_below_the_formula() -> None:
    assert fmt21(4, 100_000, 1e-6) < formula_of_another_program()
