"""The score interval: its ends are the outermost shares that lie z of their own standard errors from the estimate."""

from statistics import NormalDist

import numpy as np
import pytest

from hubbub.mechanisms.intervals import score


@pytest.mark.parametrize("n", [1, 10, 400, 100_000])
def test_ends_are_the_last_that_are_near(n: int) -> None:
    rng, z = np.random.default_rng(n), NormalDist().inv_cdf(0.95)
    for _ in range(60):
        value = rng.uniform(-1, 2)
        noise = 10 ** rng.uniform(-3, 1) / n
        slope = rng.choice([0, rng.uniform(-0.9, 3)]) * noise
        low, high, method = score(value, noise, slope, 1 / n, 0.9)
        reach = 1 + z * np.sqrt(noise + abs(slope) + 1 / n)
        shares = np.linspace(min(value, 0) - reach, max(value, 1) + reach, 200_001)
        inside = np.clip(shares, 0, 1)
        near = shares[(value - shares) ** 2 <= z**2 * (noise + slope * inside + inside * (1 - inside) / n)]
        step = shares[1] - shares[0]
        assert low <= near.min() + step
        assert high >= near.max() - step
        if method == "wilson":
            assert low >= near.min() - step
            assert high <= near.max() + step


def test_an_end_beyond_one_has_the_variance_of_one() -> None:
    """Not that of zero, which may be a third of it."""
    _, high, _ = score(0.3, 0.5, 1.0, 0.1, 0.95)
    assert high >= 0.3 + 1.959 * 1.5**0.5
