"""Mechanisms that are for simulation only: exact constants, and draws that have them. No device may know them."""

import math
from typing import Any

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm

from hubbub import encoders, mechanisms
from hubbub.errors import ParameterError, PrivateValueError
from hubbub.mechanisms import research
from hubbub.mechanisms.research import PrivUnit, PrivUnitG

BOTH: tuple[Any, ...] = (PrivUnit, PrivUnitG)
DRAWS = 40_000


def unit(dimension: int) -> Any:
    """A unit vector with different coordinates."""
    vector = np.arange(1.0, dimension + 1) * (-1.0) ** np.arange(dimension)
    return vector / np.linalg.norm(vector)


def test_none_is_registered_or_goes_unwarned() -> None:
    assert not any("unit" in name for name in (*encoders.registry, *mechanisms.registry))
    for module in (research, *(__import__(cls.__module__, fromlist=["*"]) for cls in BOTH)):
        assert "NOT FOR DEVICES" in str(module.__doc__)


@pytest.mark.parametrize(
    ("cls", "epsilon", "error"),
    [(PrivUnit, 1, 629.3), (PrivUnit, 4, 42.82), (PrivUnitG, 1, 633.0), (PrivUnitG, 4, 43.5)],
)
def test_errors_at_a_hundred_dimensions(cls: Any, epsilon: float, error: float) -> None:
    found = cls.from_epsilon(epsilon, dimension=100)
    assert found.squared_error == pytest.approx(error, abs=0.05)
    assert found.epsilon == pytest.approx(epsilon, rel=1e-12)
    for share in np.linspace(0, 0.99, 100):
        p, q = (1 / (1 + math.exp(-part)) for part in (epsilon * (1 - share), epsilon * share))
        assert cls(100, p, q).squared_error >= found.squared_error * (1 - 1e-9)


@pytest.mark.parametrize("d", [2, 3, 16, 100])
def test_a_cut_in_the_middle_is_the_hemisphere(d: int) -> None:
    half = PrivUnit.from_cut(d, 0, 1 / (1 + math.exp(-1)))
    ways = math.exp(math.lgamma((d + 1) / 2) - math.lgamma(d / 2))
    assert 1 / half.m == pytest.approx(math.sqrt(math.pi) * ways / math.tanh(0.5), rel=1e-9)
    assert half.epsilon == pytest.approx(1, rel=1e-9)
    assert d != 100 or half.squared_error == pytest.approx(730.9, abs=0.05)


@pytest.mark.parametrize("d", [3, 5, 16])
def test_means_are_integrals(d: int) -> None:
    mechanism = PrivUnit.from_cut(d, 0.2, 0.7)
    power = (d - 3) / 2

    def mean(low: float, high: float) -> float:
        total = quad(lambda w: (1 - w * w) ** power, low, high)[0]
        return float(quad(lambda w: w * (1 - w * w) ** power, low, high)[0] / total)

    assert mechanism.cut == pytest.approx(0.2, rel=1e-9)
    assert mechanism.m == pytest.approx(0.7 * mean(0.2, 1) + 0.3 * mean(-1, 0.2), rel=1e-7)


@pytest.mark.parametrize("cls", BOTH)
@pytest.mark.parametrize(("d", "epsilon"), [(2, 1.0), (3, 4.0), (10, 2.0), (50, 0.5)])
def test_draws_have_the_mean_and_the_error(cls: Any, d: int, epsilon: float) -> None:
    """Each coordinate's mean, the squared error and its rate above the cut; false alarm 1e-5 for each of them."""
    mechanism, u = cls.from_epsilon(epsilon, dimension=d), unit(d)
    reports = mechanism.randomise(np.tile(u, (DRAWS, 1)), np.random.default_rng([d, int(10 * epsilon)]))
    z = norm.isf(5e-6)
    estimate = mechanism.estimate(reports)
    assert (np.abs(estimate.value - u) <= z * estimate.se).all()
    errors = ((reports - u) ** 2).sum(axis=1)
    slack = z * errors.std() / math.sqrt(DRAWS) + 1e-9 * mechanism.squared_error
    assert abs(errors.mean() - mechanism.squared_error) <= slack + 2 * z * math.sqrt(d / DRAWS) / mechanism.m
    above = np.mean(reports @ u * mechanism.m >= mechanism.cut)
    assert abs(above - mechanism.p) <= z * math.sqrt(mechanism.p * (1 - mechanism.p) / DRAWS)
    if cls is PrivUnit:
        assert np.linalg.norm(reports, axis=1) == pytest.approx(np.full(DRAWS, 1 / mechanism.m))


@pytest.mark.parametrize("cls", BOTH)
def test_bad_parameters_and_vectors(cls: Any) -> None:
    for name, bad in (("dimension", 1), ("dimension", 2.0), ("epsilon", 0), ("epsilon", 17), ("epsilon", math.nan)):
        with pytest.raises(ParameterError, match=f"^{name} must be"):
            cls.from_epsilon(**{"epsilon": 1, "dimension": 3, name: bad})
    for p, q in ((0.5, 0.5), (1, 0.5), (0.5, 1), (0.4, 0.6), (0.6, math.nan)):
        with pytest.raises(ParameterError):
            cls(3, p, q)
    mechanism, rng = cls.from_epsilon(1, dimension=3), np.random.default_rng(1)
    for rows in ([[1, 0, 0], [1, 1, 0]], [[1, 0, 0], [math.nan, 0, 0]]):
        with pytest.raises(PrivateValueError, match=r"vectors\[1\]"):
            mechanism.randomise(rows, rng)
    for wrong in (np.array([1, 0, 0]), np.array([[1, 0]])):
        with pytest.raises(PrivateValueError):
            mechanism.randomise(wrong, rng)
        with pytest.raises(ParameterError, match=r"reports\.shape"):
            mechanism.estimate(wrong)
    with pytest.raises(ParameterError, match=r"reports\.shape"):
        mechanism.estimate(np.zeros((0, 3)))
