"""Expected numbers from 50-digit arithmetic, to 10⁻⁶, of the mechanisms of histograms."""

import math
from collections.abc import Callable

import numpy as np
import pytest

from hubbub.mechanisms.d_bit_flip import DBitFlip
from hubbub.mechanisms.square_wave import half_width
from hubbub.summary import Summary
from tests.unit.testvalues import complete

GROUPS = {"dBitFlip", "SW"}


def four() -> DBitFlip:
    return DBitFlip.from_epsilon(1, categories=32, d=4)


def estimate(n: int, received: int, ones: int) -> float:
    counts = np.array([[received] * 32, [ones] * 32])
    return float(four().estimate(Summary(n, counts)).value[0])


ROWS: dict[str, tuple[str, Callable[[], float]]] = {
    "T076": ("0.6224593312019", lambda: float(four().encoder.chances()[0])),
    "T077": ("0.09170118349264", lambda: estimate(100_000, 12_500, 5_000)),
    # Of given devices: without the sampling of them.
    "T078": ("0.0003169158471226", lambda: float(four().variance(0.05, 100_000)) - 0.05 * 0.95 / 100_000),
    "T099": ("0.2560829375015", lambda: half_width(1)),
    "T101": ("1.136305121590", lambda: math.e / (2 * half_width(1) * math.e + 1)),  # density of the continuous window
}


@pytest.mark.parametrize("identity", ROWS)
def test_value(identity: str) -> None:
    value, compute = ROWS[identity]
    assert compute() == pytest.approx(float(value), rel=1e-6)


def test_no_row_is_forgotten() -> None:
    complete(GROUPS, ROWS)
