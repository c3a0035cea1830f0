"""Expected numbers of local hashing and Hadamard response, to 10⁻⁶; see test_testvalues.py."""

import math
from collections.abc import Callable

import numpy as np
import pytest

from hubbub.mechanisms.hadamard_response import HadamardResponse
from hubbub.mechanisms.olh import Olh
from tests.unit.testvalues import complete

GROUPS = {"OLH", "BLH", "HR"}
MANY = 65_521  # the most categories: the values are those of the limit of infinitely many


def olh(epsilon: float, g: int) -> Olh:
    return Olh.from_epsilon(epsilon, categories=MANY, g=g)


def rare(mechanism: Olh) -> float:
    """n·Var of a category that nobody has, if two categories agreed under 1/g of the seeds."""
    p, s = float(mechanism.encoder.chances()[0]), 1 / mechanism.encoder.g
    return s * (1 - s) / (p - s) ** 2


def best_g() -> float:
    """Best without rounding, e + 1, from the chances of a report."""
    p, q = olh(1, 4).encoder.chances()
    return float(p / q) + 1


def hadamard() -> HadamardResponse:
    return HadamardResponse.from_epsilon(1, categories=10, block=16)


def hadamard_variance() -> float:
    """n·Var of a share of 0.1 among given devices: without f (1 - f), that devices are a sample."""
    return float(hadamard().variance(np.full(10, 0.1), 1)[0]) - 0.1 * 0.9


ROWS: dict[str, tuple[str, Callable[[], float]]] = {
    "T026": ("3.718281828459", best_g),
    "T028": ("3.691654617457", lambda: rare(olh(1, 4))),
    "T029": ("0.7245913890681", lambda: rare(olh(2, 8))),
    "T030": ("4.682694376831", lambda: rare(olh(1, 2))),
    "T033": ("0.09138232232875", lambda: float(max(hadamard().law(0).values()))),
    "T034": ("4.582694376831", hadamard_variance),
}


@pytest.mark.parametrize("identity", ROWS)
def test_value(identity: str) -> None:
    value, compute = ROWS[identity]
    assert compute() == pytest.approx(float(value), rel=1e-6)


def test_no_row_is_forgotten() -> None:
    complete(GROUPS, ROWS)


@pytest.mark.parametrize(("epsilon", "g"), [(1, 4), (2, 8), (1, 2)])
def test_seeds_that_agree_less_often_vary_less(epsilon: float, g: int) -> None:
    mechanism = olh(epsilon, g)
    assert rare(mechanism) * (1 - 2e-4) < mechanism.variance(0, 1) < rare(mechanism)


def test_hadamard_response_of_one_block_is_binary_local_hashing() -> None:
    e = math.e
    assert hadamard().variance(0, 1) == pytest.approx(((e + 1) / (e - 1)) ** 2, rel=1e-6)
