"""Expected numbers from 50-digit arithmetic, to 10⁻⁶, of permanent choices, and what the papers' parameters would give.

Rows of parameters as they were published are formulas of this file: hubbub takes none of them, since for more than two
answers the second round of the papers loses less than it may, at the price of variance.
"""

import math
from collections.abc import Callable

import pytest

from hubbub.encoders.base import SCALE
from hubbub.encoders.grr import Grr as GrrDevice
from hubbub.mechanisms.grr import Grr
from hubbub.mechanisms.olh_pool import OlhPool
from hubbub.privacy import exact_life
from tests.unit.testvalues import complete

GROUPS = {"LOLOHA", "L-GRR"}


def published_again(permanent: float, epsilon: float, answers: int) -> float:
    """The papers' chance to repeat the permanent answer: GRR at ln((A X - 1) / (A - X)), exact for two answers only."""
    a, x = math.exp(permanent), math.exp(epsilon)
    odds = (a * x - 1) / (a - x)
    return odds / (odds + answers - 1)


def published(permanent: float, epsilon: float, answers: int) -> Grr:
    """Devices with it."""
    exact = Grr.from_epsilon(epsilon, permanent_epsilon=permanent, categories=answers).encoder
    again = round(SCALE * published_again(permanent, epsilon, answers))
    return Grr.from_encoder(GrrDevice(answers, exact.keep, again, 1))


def published_hashes(permanent: float, epsilon: float) -> float:
    """The papers' number of hashes of least variance, before it is rounded, for that second round."""
    a, x = math.exp(permanent), math.exp(epsilon)
    root = math.sqrt(a**4 - 14 * a**2 - 12 * a**2 * x**2 + 12 * a * x + 12 * a**3 * x + 1)
    return (root - a**2 + 6 * a - 6 * x + 1) / (6 * (a - x))


def four_windows() -> float:
    return exact_life(OlhPool.from_epsilon(0.5, permanent_epsilon=1, categories=50, g=2).encoder, 4)


def exact_again() -> float:
    return Grr.from_epsilon(2, permanent_epsilon=5, categories=96).encoder.again / SCALE


ROWS: dict[str, tuple[str, Callable[[], float]]] = {
    "T144": ("2.034386678506", four_windows),
    "T146": ("2.791797239702", lambda: published_hashes(2, 1)),
    "T147": ("16.74602002368", lambda: published_hashes(5, 3)),
    "T149": ("0.3122505664907", lambda: published_again(2, 1, 10)),
    "T151": ("0.6993522131497", lambda: published(2, 1, 10).epsilon),
    "T153": ("0.07559780471330", lambda: published_again(5, 2, 96)),
    "T154": ("0.1123798377853", exact_again),
}


@pytest.mark.parametrize("identity", ROWS)
def test_value(identity: str) -> None:
    value, compute = ROWS[identity]
    assert compute() == pytest.approx(float(value), rel=1e-6)


def test_no_row_is_forgotten() -> None:
    complete(GROUPS, ROWS)


@pytest.mark.parametrize(
    ("permanent", "epsilon", "answers", "lost", "variance", "least"),
    [(2, 1, 10, 0.699, 9.77, 3.63), (5, 2, 96, 1.607, 6.22, 2.48), (3, 1.2, 360, 0.136, 16898, 67.1)],
)
def test_what_the_published_second_round_costs(
    permanent: float, epsilon: float, answers: int, lost: float, variance: float, least: float
) -> None:
    """A report could lose epsilon and loses less; nothing is gained by it but a cheaper change."""
    theirs = published(permanent, epsilon, answers)
    ours = Grr.from_epsilon(epsilon, permanent_epsilon=permanent, categories=answers)
    assert theirs.epsilon == pytest.approx(lost, abs=5.1e-4)
    assert float(theirs.variance(0, 1)) == pytest.approx(variance, rel=2e-3)
    assert float(ours.variance(0, 1)) == pytest.approx(least, rel=2e-3)
    assert ours.epsilon == pytest.approx(epsilon, rel=1e-6)
    assert theirs.change_epsilon < ours.change_epsilon
    x = math.exp(epsilon)
    assert float(ours.variance(0, 1)) == pytest.approx((answers - 2 + x) / (x - 1) ** 2, rel=1e-5)


def test_for_two_answers_both_are_the_same() -> None:
    theirs, ours = published(2, 1, 2), Grr.from_epsilon(1, permanent_epsilon=2, categories=2)
    assert theirs.epsilon == pytest.approx(ours.epsilon, rel=1e-8)
