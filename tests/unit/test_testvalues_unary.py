"""Expected numbers from 50-digit arithmetic, to 10⁻⁶, of the mechanisms that send a bit for each category."""

import math
from collections.abc import Callable

import pytest

from hubbub.encoders.base import SCALE
from hubbub.mechanisms.oue import Oue
from hubbub.mechanisms.subset_selection import SubsetSelection
from hubbub.mechanisms.sue import Sue
from hubbub.mechanisms.unary import Unary
from tests.unit.testvalues import complete

GROUPS = {"SUE", "OUE", "SS", "L-OSUE"}

ROWS: dict[str, tuple[str, Callable[[], float]]] = {
    "T020": ("0.6224593312019", lambda: Sue.from_epsilon(1, categories=5).support.own),
    "T021": ("3.917698089033", lambda: float(Sue.from_epsilon(1, categories=5).variance(0, 1))),
    "T022": ("0.2689414213700", lambda: Oue.from_epsilon(1, categories=5).support.other),
    "T036": ("0.5013443529745", lambda: hundred().support.own),
    "T159": ("3.682694376831", lambda: kept(Oue, 2, 1)),
    "T038": ("3.599534851841", lambda: float(hundred().variance(0.01, 1)) - 0.01 * 0.99),  # of given devices
}


def hundred() -> SubsetSelection:
    mechanism = SubsetSelection.from_epsilon(1, categories=100)
    assert mechanism.encoder.omega == 27
    return mechanism


def kept(cls: type[Unary], always: float, epsilon: float) -> float:
    """Variance of a rare category, of one report, with permanent answers."""
    return float(cls.from_epsilon(epsilon, permanent_epsilon=always, categories=5).variance(0, 1))


def half_in_the_second_round(p: float, q: float, epsilon: float) -> float:
    """The same where the first round is p and q and the second, as published, sends 1 by coin for a permanent 1."""
    low, high = 0.0, 0.5
    for _ in range(200):  # the chance of sending 1 for a permanent 0; a larger one loses less
        zero = (low + high) / 2
        one, other = (zero + chance * (0.5 - zero) for chance in (p, q))
        loss = math.log(one * (1 - other) / (other * (1 - one)))
        low, high = (zero, high) if loss > epsilon else (low, zero)
    return other * (1 - other) / (one - other) ** 2


def test_other_names_of_two_rounds() -> None:
    """L-SUE is basic RAPPOR and L-OSUE is oue; L-OUE and L-SOUE send a 1 by coin and are worse than either."""
    a = math.exp(2)
    assert kept(Sue, 2, 1) == pytest.approx(3.918, abs=5e-4)
    assert kept(Oue, 2, 1) == pytest.approx(3.683, abs=5e-4)
    assert half_in_the_second_round(0.5, 1 / (a + 1), 1) == pytest.approx(4.467, abs=5e-4)
    root = math.exp(1)
    assert half_in_the_second_round(root / (root + 1), 1 / (root + 1), 1) == pytest.approx(3.889, abs=5e-4)


@pytest.mark.parametrize(("always", "most"), [(1, 0.763), (2, 1.660), (4, 3.604)])
def test_a_second_round_by_coin_cannot_lose_more(always: float, most: float) -> None:
    """Where a permanent 0 is never sent as 1 the loss of one report is at its most; both rounds of oue reach all."""
    p, q = 0.5, 1 / (math.exp(always) + 1)
    one, other = p / 2, q / 2
    assert math.log(one * (1 - other) / (other * (1 - one))) == pytest.approx(most, abs=5e-4)
    assert Oue.from_epsilon(0.99 * always, permanent_epsilon=always, categories=3).epsilon > most


@pytest.mark.parametrize(("always", "epsilon"), [(2, 1), (5, 2), (3, 1.2), (1, 0.3)])
def test_second_rounds_are_those_of_the_papers(always: float, epsilon: float) -> None:
    """The published numbers are chances of sending a permanent bit as it is."""
    a, x = math.exp(always), math.exp(epsilon)
    sue = Sue.from_epsilon(epsilon, permanent_epsilon=always, categories=9).encoder
    oue = Oue.from_epsilon(epsilon, permanent_epsilon=always, categories=9).encoder
    p1 = math.exp(always / 2) / (1 + math.exp(always / 2))
    kept_sue = (1 / (1 + math.exp(-epsilon / 2)) - (1 - p1)) / (2 * p1 - 1)
    assert 1 - sue.flip / SCALE == pytest.approx(kept_sue, rel=1e-7)
    assert 1 - oue.flip / SCALE == pytest.approx((a * x - 1) / (a - x + a * x - 1), rel=1e-7)


@pytest.mark.parametrize("identity", ROWS)
def test_value(identity: str) -> None:
    value, compute = ROWS[identity]
    assert compute() == pytest.approx(float(value), rel=1e-6)


def test_no_row_is_forgotten() -> None:
    complete(GROUPS, ROWS)
