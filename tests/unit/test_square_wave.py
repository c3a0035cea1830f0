"""Square wave: the window, undoing it without a bias, and the shape of a distribution."""

import math
from typing import Any

import numpy as np
import pytest
from scipy.stats import beta

from hubbub.encoders.base import SCALE
from hubbub.encoders.square_wave import SquareWave as Device
from hubbub.errors import ParameterError
from hubbub.mechanisms.estimate import Reals
from hubbub.mechanisms.grr import Grr
from hubbub.mechanisms.square_wave import SquareWave, half_width, undo_of
from hubbub.postprocessing import em, ems
from hubbub.summary import Summary

KEEP = 3_000_000_000


@pytest.mark.parametrize("epsilon", [0.001, 0.5, 1.0, 2.0, 5.0, 16.0])
@pytest.mark.parametrize("size", [2, 3, 10, 64, 300])
def test_the_width_lets_a_report_tell_the_most(epsilon: float, size: int) -> None:
    """Of all widths, by entropies from the law itself; also where a window is no wider than a bucket."""

    def told(width: int) -> float:
        law = np.array(list(SquareWave.from_epsilon(epsilon, categories=size, width=width).law(0).values()), float)
        return math.log(law.size) + float(law @ np.log(law))

    chosen = SquareWave.from_epsilon(epsilon, categories=size)
    assert told(chosen.encoder.width) >= max(map(told, range(1, size + 1))) - 1e-9
    assert chosen.transition.sum(axis=0) == pytest.approx(np.ones(size), abs=1e-12)
    assert (chosen.transition > 0).all()


def test_the_window_of_small_losses_is_half_the_range() -> None:
    assert half_width(0.001) == pytest.approx(0.5, abs=1e-3)
    assert [half_width(e) for e in (0.1, 1, 4, 16)] == sorted((half_width(e) for e in (0.1, 1, 4, 16)), reverse=True)


def test_windows_of_one_output_are_randomised_response() -> None:
    narrow, grr = SquareWave.from_epsilon(1, categories=5, width=1), Grr.from_epsilon(1, categories=5)
    assert all(narrow.law(value) == grr.law(value) for value in range(5))
    counts = np.array([40, 10, 25, 15, 10])
    assert narrow.estimate(Summary(100, counts)).value == pytest.approx(grr.estimate(Summary(100, counts)).value)


@pytest.mark.parametrize(("size", "width"), [(2, 2), (6, 1), (6, 3), (6, 6), (100, 37), (1024, 524)])
def test_weights_undo_the_window(size: int, width: int) -> None:
    mechanism = SquareWave.from_epsilon(1, categories=size, width=width)
    weights = undo_of(mechanism.encoder.window).weights
    scale = float(np.ptp(weights))
    assert np.abs(weights @ mechanism.transition - np.eye(size)).max() < 1e-12 * scale
    assert weights.sum(axis=0) == pytest.approx(np.ones(size + width - 1), abs=1e-12 * scale)


@pytest.mark.parametrize(("size", "width"), [(6, 3), (9, 4), (5, 5)])
def test_no_other_weights_are_better_at_even_shares(size: int, width: int) -> None:
    """Gauss and Markov: moved any way that keeps them unbiased, they have more variance."""
    mechanism, rng = SquareWave.from_epsilon(1, categories=size, width=width), np.random.default_rng(1)
    weights, chances = undo_of(mechanism.encoder.window).weights, mechanism.transition
    even = chances.mean(axis=1)
    left = np.linalg.svd(chances.T)[2][size:]  # adds nothing to any bucket's mean
    for direction in rng.normal(size=(50, len(left))) @ left:
        assert np.abs(direction @ chances).max() < 1e-12
        assert ((weights + 0.1 * direction) ** 2 @ even > weights**2 @ even).all()
    assert mechanism.variance(np.full(size, 1 / size), 7) == pytest.approx((weights**2 @ even - size**-2) / 7)


@pytest.mark.parametrize(("size", "width"), [(2, 1), (5, 2), (7, 7)])
def test_variances_are_those_of_a_mixed_crowd(size: int, width: int) -> None:
    """The suite looks at crowds of one value."""
    mechanism, rng = SquareWave.from_epsilon(1.5, categories=size, width=width), np.random.default_rng(2)
    share = rng.dirichlet(np.ones(size))
    one = np.array([mechanism.estimate(mechanism.summarise(np.array([[y]]))).value for y in range(size + width - 1)])
    chances = mechanism.transition @ share
    both = one.T @ (one * chances[:, None]) - np.outer(share, share)
    assert mechanism.covariance(share, 20) == pytest.approx(both / 20, rel=1e-9)
    assert mechanism.variance(share, 20) == pytest.approx(np.diag(both) / 20, rel=1e-9)
    rest = np.full(size, (1 - share[0]) / (size - 1))
    rest[0] = share[0]
    assert mechanism.variance(share[0], 20)[0] == pytest.approx(mechanism.variance(rest, 20)[0], rel=1e-12)
    assert mechanism.variance(np.zeros(size), 1) == pytest.approx(mechanism.variance(0, 1), rel=1e-12)


@pytest.mark.parametrize("width", [0, 6, -1, 2.0, True, "2", math.nan])
def test_a_bad_width_is_refused(width: Any) -> None:
    with pytest.raises(ParameterError, match=r"^width must be an integer in \[1, 5\]") as caught:
        SquareWave.from_epsilon(1, categories=5, width=width)
    assert repr(width) in str(caught.value)


@pytest.mark.parametrize(
    "integers",
    [(1, 1, KEEP), (1025, 1, KEEP), (5, 0, KEEP), (5, 6, KEEP), (5, 1, SCALE // 5), (5, 1, SCALE), (5, 2, 0.5)],
)
def test_bad_integers_are_refused(integers: tuple[Any, ...]) -> None:
    with pytest.raises(ParameterError):
        Device(*integers)


def test_labels_have_no_order() -> None:
    with pytest.raises(ParameterError, match="categories"):
        SquareWave.from_epsilon(1, categories=("red", "green"))  # type: ignore[arg-type]


def test_too_many_buckets_are_refused() -> None:
    with pytest.raises(ParameterError, match=r"buckets must be an integer in \[2, 1024\]"):
        SquareWave.from_epsilon(1, lower=0, upper=1, buckets=1025)


def test_fewer_outputs_than_reports_are_refused() -> None:
    mechanism = SquareWave.from_epsilon(1, categories=4, width=2)
    with pytest.raises(ParameterError, match=r"summary\.counts"):
        mechanism.estimate(Summary(9, np.array([1, 2, 3, 1, 1])))


def test_loss_is_as_asked() -> None:
    """Never more, and within two steps of 2⁻³² of it."""
    rng = np.random.default_rng(3)
    for _ in range(500):
        epsilon, size = float(rng.uniform(0.001, 16)), int(rng.integers(2, 1025))
        mechanism, e = SquareWave.from_epsilon(epsilon, categories=size), math.exp(epsilon)
        assert 0 <= epsilon - mechanism.epsilon <= 2 * (e + size - 1) ** 2 / (e * SCALE) + 1e-9


@pytest.mark.parametrize("epsilon", [1.0, 4.0])
def test_intervals_hold(epsilon: float) -> None:
    """Of frequent, rare and absent buckets, few devices; so rarely short of 95 %: false alarm 10⁻⁶ for each of them.

    Value and standard error alone would hold the absent bucket in about half of the summaries at ε = 4.
    """
    size, n, runs = 16, 50, 1500
    mechanism, rng = SquareWave.from_epsilon(epsilon, categories=size), np.random.default_rng(4)
    share = np.full(size, 0.03)
    share[[0, 1, 15]] = 0.5, 0.11, 0.0
    held = np.zeros(size)
    for _ in range(runs):
        found = mechanism.estimate(mechanism.simulate(rng.multinomial(n, share), rng))
        low, high = found.interval()
        held += (low <= share) & (share <= high)
    assert (held / runs > 0.95 - 4.75 * math.sqrt(0.95 * 0.05 / runs)).all()


def test_intervals_allow_for_a_noise_that_is_a_guess() -> None:
    """Where the bounds on it are close they cut what the reports show of it, so the score interval alone is short.

    That holds the buckets in the middle in 92.7 % of these summaries. False alarm 10⁻⁵ for a fresh seed.
    """
    size, n, runs, middle = 64, 100, 2000, slice(28, 37)
    mechanism, rng = SquareWave.from_epsilon(0.5, categories=size), np.random.default_rng(8)
    share = 1 / np.arange(1, size + 1)
    share /= share.sum()
    held = np.zeros(size)
    for _ in range(runs):
        low, high = mechanism.estimate(mechanism.simulate(rng.multinomial(n, share), rng)).interval()
        held += (low <= share) & (share <= high)
    assert held[middle].mean() / runs > 0.94


def test_one_category_is_that_of_the_table() -> None:
    """Its own noise goes along with it."""
    mechanism = SquareWave.from_epsilon(1, lower=0, upper=2, buckets=6)
    found = mechanism.estimate(mechanism.simulate(np.arange(6) * 20, np.random.default_rng(5)))
    low, high = found.interval()
    for bucket in range(6):
        alone = found.pick(bucket)
        assert np.allclose(alone.interval(), (low[bucket], high[bucket]), rtol=0, atol=1e-12)
        assert found.methods()[bucket] == alone.method()


def test_maximum_likelihood_finds_the_shape() -> None:
    """The reference values of Beta(5, 2), 200 000 devices, ε = 1, are one draw each: within four standard deviations.

    False alarm below 10⁻⁴ for a fresh seed. Raw shares are twice as far, more buckets help smoothing.
    """
    rng, n = np.random.default_rng(6), 200_000
    far: dict[int, Reals] = {}
    for size in (64, 128):
        mechanism = SquareWave.from_epsilon(1, lower=0, upper=1, buckets=size)
        share = np.diff(beta(5, 2).cdf(np.linspace(0, 1, size + 1)))
        rows = []
        for _ in range(20):
            summary = mechanism.simulate(rng.multinomial(n, share), rng)
            tried = (em(summary.counts, mechanism.transition), ems(summary.counts, mechanism.transition))
            found = (*tried, mechanism.estimate(summary).value)
            rows.append([float(np.abs(np.cumsum(one - share)).sum()) / size for one in found])
        far[size] = np.array(rows)
    (likely, smooth, raw), spread = far[64].mean(axis=0), far[64].std(axis=0, ddof=1)
    assert abs(likely - 0.0049) < 4 * spread[0]
    assert abs(smooth - 0.0111) < 4 * spread[1]
    assert likely < smooth < raw
    assert far[128][:, 1].mean() < 0.7 * smooth
