"""Tidying: each step against brute force or another solver, and twice is once."""

import math
from collections.abc import Sequence
from itertools import combinations, pairwise
from typing import Any

import numpy as np
import pytest
from scipy.optimize import isotonic_regression
from scipy.stats import beta, binom

from hubbub.errors import ParameterError
from hubbub.mechanisms.d_bit_flip import DBitFlip
from hubbub.mechanisms.estimate import Reals
from hubbub.mechanisms.grr import Grr
from hubbub.mechanisms.oue import Oue
from hubbub.mechanisms.square_wave import SquareWave
from hubbub.postprocessing import clip, consistent, em, ems, isotonic, norm_sub, quantiles, simplex

RNG = np.random.default_rng(20_261_210)


def some_shares(count: int, size: int) -> list[Reals]:
    return [RNG.dirichlet(np.ones(size)) + RNG.normal(0, RNG.uniform(0, 1), size) for _ in range(count)]


def test_clip_moves_what_is_outside_to_the_end() -> None:
    assert clip([-0.2, 0.3, 1.7]).tolist() == [0, 0.3, 1]
    assert clip([[-3.0, 3.0]], -1, 2).tolist() == [[-1, 2]]
    assert clip(clip([-5.0, 5.0])).tolist() == [0, 1]


@pytest.mark.parametrize("size", [1, 2, 4, 6])
def test_simplex_is_the_nearest_of_all_supports(size: int) -> None:
    """Every choice of which shares are 0, solved by itself; the nearest one that is >= 0."""
    for y in some_shares(20, size):
        v, total = RNG.uniform(0.1, 3, size), RNG.uniform(0.5, 2)
        best = math.inf
        for held in (list(c) for r in range(1, size + 1) for c in combinations(range(size), r)):
            x = np.zeros(size)
            x[held] = y[held] - v[held] * (y[held].sum() - total) / v[held].sum()
            if x.min() >= 0:
                best = min(best, float(((x - y) ** 2 / v).sum()))
        found = simplex(y, v, total)
        assert found.min() >= 0
        assert found.sum() == pytest.approx(total)
        assert ((found - y) ** 2 / v).sum() == pytest.approx(best, rel=1e-9, abs=1e-12)
        assert simplex(found, v, total) == pytest.approx(found, abs=1e-12)


def test_norm_sub_is_what_repeated_subtraction_comes_to() -> None:
    """Clip at 0, spread the rest over what is positive, until nothing is negative; never below 0 at the end."""
    for y in [*some_shares(50, 8), np.array([150, 3, 2, 1, -28, -28.0]) / 100]:
        x = y.copy()
        held = np.ones(x.size, bool)
        while True:
            x = np.where(held, y - (y[held].sum() - 1) / held.sum(), 0)
            if x.min() >= 0:
                break
            held &= x > 0
        assert norm_sub(y) == pytest.approx(x, abs=1e-12)
        assert norm_sub(norm_sub(y)) == pytest.approx(norm_sub(y), abs=1e-12)


@pytest.mark.parametrize("size", [1, 2, 9, 200])
def test_isotonic_is_that_of_another_solver(size: int) -> None:
    for _ in range(20):
        y, w = RNG.normal(np.linspace(0, 1, size), 1), RNG.uniform(0.1, 3, size)
        found = isotonic(y, w)
        assert found == pytest.approx(isotonic_regression(y, weights=w).x, abs=1e-9)
        assert isotonic(found, w) == pytest.approx(found, abs=1e-12)
        assert isotonic(y) == pytest.approx(isotonic_regression(y).x, abs=1e-9)


def leaves_below(shape: Sequence[int]) -> Reals:
    """Every node, root level first, as a row of the leaves that it is the sum of."""
    return np.vstack([np.kron(np.eye(nodes), np.ones(shape[-1] // nodes)) for nodes in shape])


@pytest.mark.parametrize("shape", [(1, 2), (1, 2, 4), (1, 3, 6, 12), (2, 8), (5,)])
def test_consistent_is_weighted_least_squares(shape: tuple[int, ...]) -> None:
    rows, ends = leaves_below(shape), np.cumsum((0, *shape))
    for _ in range(10):
        given, errors = RNG.normal(size=len(rows)), RNG.uniform(0.1, 5, len(rows))
        if len(shape) > 2:
            errors[1] = math.inf
        cut = [slice(a, b) for a, b in pairwise(ends)]
        found = consistent([given[part] for part in cut], [errors[part] for part in cut])
        seen = np.isfinite(errors)
        weights = 1 / np.sqrt(errors[seen])
        leaves = np.linalg.lstsq(rows[seen] * weights[:, None], given[seen] * weights, rcond=None)[0]
        assert np.concatenate(found) == pytest.approx(rows @ leaves, abs=1e-9)
        again = consistent(found, [errors[part] for part in cut])
        assert np.concatenate(again) == pytest.approx(rows @ leaves, abs=1e-9)


def test_a_root_that_is_known_stays() -> None:
    root, leaves = consistent([[1.0], [0.5, 0.3, 0.5]], [0, [1, 1, 2]])
    assert root.tolist() == [1]
    assert leaves == pytest.approx([0.425, 0.225, 0.35])


@pytest.mark.parametrize("size", [2, 8, 20])
def test_em_runs_up_to_the_largest_likelihood(size: int) -> None:
    """Where it stops no share could gain: the conditions of Karush, Kuhn and Tucker."""
    mechanism = SquareWave.from_epsilon(2, categories=size)
    counts = mechanism.simulate(np.arange(size) ** 2 * 5, RNG).counts
    found = em(counts, mechanism.transition, rise=1e-13, move=0, steps=200_000)
    gain = mechanism.transition.T @ (counts / (mechanism.transition @ found)) / counts.sum()
    assert gain.max() < 1 + 1e-4
    assert gain[found > 1e-3] == pytest.approx(1, abs=1e-4)
    assert found.min() >= 0
    assert found.sum() == pytest.approx(1)


def test_each_step_of_em_is_at_least_as_likely() -> None:
    mechanism = SquareWave.from_epsilon(1, categories=12)
    counts = mechanism.simulate(np.arange(12) * 40, RNG).counts
    steps = [em(counts, mechanism.transition, rise=0, move=0, steps=steps) for steps in range(30)]
    likelihoods = [counts @ np.log(mechanism.transition @ shares) for shares in steps]
    assert (np.diff(likelihoods) >= -1e-9).all()
    assert steps[0] == pytest.approx(np.full(12, 1 / 12))


def test_em_undoes_a_channel_without_noise() -> None:
    counts = np.array([4, 0, 6])
    assert em(counts, np.eye(3), rise=0) == pytest.approx(counts / 10)
    assert em([5, 5, 0], np.array([[1, 0], [0, 1], [0, 0]])) == pytest.approx([0.5, 0.5])


def test_ems_smoothes_and_loses_nothing() -> None:
    """One step from even shares with a channel without noise: each count spread 1 : 2 : 1."""
    assert ems([8, 0, 0, 8], np.eye(4), steps=1) == pytest.approx([0.375, 0.125, 0.125, 0.375])
    assert ems([0, 16, 0, 0, 0], np.eye(5), steps=1) == pytest.approx([0.25, 0.5, 0.25, 0, 0])


MECHANISMS: list[tuple[Any, dict[str, Any]]] = [(Grr, {}), (Oue, {}), (DBitFlip, {"d": 4}), (SquareWave, {})]


@pytest.mark.parametrize(("cls", "domain"), MECHANISMS)
@pytest.mark.parametrize("simultaneous", [False, True])
def test_quantiles_are_held(cls: Any, domain: dict[str, Any], simultaneous: bool) -> None:
    """At least as often as said, in 400 crowds: false alarm 10⁻⁶ for each interval, if it held with just 95 %."""
    size, n, runs, level = 12, 3000, 400, 0.95
    mechanism = cls.from_epsilon(1.5, lower=0, upper=1, buckets=size, **domain)
    edges, wanted, rng = np.linspace(0, 1, size + 1), np.array([0.1, 0.5, 0.9]), np.random.default_rng(7)
    share, truth = np.diff(beta(5, 2).cdf(edges)), beta(5, 2).ppf(wanted)
    held, conservative, nearer = np.zeros(3), np.zeros(3), 0
    together = 0
    for _ in range(runs):
        found = mechanism.estimate(mechanism.simulate(rng.multinomial(n, share), rng))
        covariance = mechanism.covariance(np.clip(found.value, 0, 1), n)
        one = quantiles(found.value, edges, wanted, covariance=covariance, level=level, simultaneous=simultaneous)
        wide = quantiles(found.value, edges, wanted, se=found.se, level=level, simultaneous=simultaneous)
        inside = (one.low <= truth) & (truth <= one.high)
        held += inside
        together += bool(inside.all())
        conservative += (wide.low <= truth) & (truth <= wide.high)
        nearer += bool((wide.high - wide.low >= one.high - one.low - 1e-12).all())
    least = binom.ppf(1e-6, runs, level)
    assert (held >= least).all()
    assert (conservative >= least).all()
    assert nearer == runs
    if simultaneous:
        assert together >= least


def test_quantiles_of_certain_shares() -> None:
    """No error: the bucket of the quantile, or the two beside it where it is on an edge."""
    found = quantiles([0.2, 0.3, 0.5], [0, 1, 2, 4], [0.1, 0.2, 0.35, 0.5, 0.75], se=np.zeros(3))
    assert found.value == pytest.approx([0.5, 1, 1.5, 2, 3])
    assert found.low.tolist() == [0, 0, 1, 1, 2]
    assert found.high.tolist() == [1, 2, 2, 4, 4]
    one = quantiles([1.3], [2, 6], [0.25], se=[0.1])
    assert (one.value.tolist(), one.low.tolist(), one.high.tolist()) == ([3], [2], [6])


def test_missing_mass_is_shared_out_evenly() -> None:
    """Shares that add up to 0.7 are not a distribution that ends at 0.7."""
    some = quantiles([0.1, 0.2, 0.4], [0, 1, 2, 3], [0.5], se=np.zeros(3))
    assert some.value == pytest.approx(quantiles([0.2, 0.3, 0.5], [0, 1, 2, 3], [0.5], se=np.zeros(3)).value)


def test_an_end_is_where_the_first_bound_fails() -> None:
    """Later edges that look as if they were below do not count: they are not what the coverage rests on."""
    shares = np.array([0.4, -0.35, 0.15, 0.8])
    found = quantiles(shares, range(5), [0.3], se=np.zeros(4))
    assert found.low.tolist() == [0]
    assert found.high.tolist() == [4]


BAD: list[tuple[Any, tuple[Any, ...], dict[str, Any], str]] = [
    (clip, ([1.0], 1, 0), {}, "high"),
    (clip, (["a"],), {}, "values"),
    (clip, ([math.nan],), {}, "values"),
    (norm_sub, ([],), {}, "values"),
    (norm_sub, ([[1.0]],), {}, "values"),
    (norm_sub, ([1.0],), {"total": 0}, "total"),
    (simplex, ([1.0, math.inf],), {}, "values"),
    (simplex, ([1.0, 2.0], [1.0]), {}, "variances"),
    (simplex, ([1.0, 2.0], [1.0, 0.0]), {}, "variances"),
    (isotonic, ([1.0, 2.0], [1.0, -1.0]), {}, "weights"),
    (consistent, ([], []), {}, "variances"),
    (consistent, ([[1.0], [1.0]], [1]), {}, "variances"),
    (consistent, ([[1.0, 2.0], [1.0, 1.0, 1.0]], [1, 1]), {}, "levels[1]"),
    (consistent, ([[1.0], [1.0, 1.0]], [1, 0]), {}, "variances[1]"),
    (consistent, ([[1.0, 2.0], [1.0, 1.0]], [0, 1]), {}, "variances[0]"),
    (consistent, ([[1.0], [1.0, 1.0]], [1, math.inf]), {}, "variances[1]"),
    (consistent, ([[1.0], [1.0, 1.0]], [1, math.nan]), {}, "variances[1]"),
    (em, ([1, 2], [[0.5, 0.5], [0.5, 0.6]]), {}, "transition"),
    (em, ([1, 2], [[1.5, 0.5], [-0.5, 0.5]]), {}, "transition"),
    (em, ([1, 2], [1.0, 1.0]), {}, "transition"),
    (em, ([1, 2, 3], np.eye(2)), {}, "counts"),
    (em, ([0, 0], np.eye(2)), {}, "counts"),
    (em, ([1, -1], np.eye(2)), {}, "counts"),
    (ems, ([1, 1, 1], [[1, 0], [0, 1], [0, 0]]), {}, "counts"),
    (quantiles, ([0.5, 0.5], [0, 1], [0.5]), {"se": [0, 0]}, "edges"),
    (quantiles, ([0.5, 0.5], [0, 1, 1], [0.5]), {"se": [0, 0]}, "edges"),
    (quantiles, ([0.5, 0.5], [0, 1, 2], [0.0]), {"se": [0, 0]}, "probabilities"),
    (quantiles, ([0.5, 0.5], [0, 1, 2], [0.5]), {}, "covariance"),
    (quantiles, ([0.5, 0.5], [0, 1, 2], [0.5]), {"se": [0, 0], "covariance": np.eye(2)}, "covariance"),
    (quantiles, ([0.5, 0.5], [0, 1, 2], [0.5]), {"covariance": np.eye(3)}, "covariance"),
    (quantiles, ([0.5, 0.5], [0, 1, 2], [0.5]), {"se": [0, -1]}, "se"),
    (quantiles, ([0.5, 0.5], [0, 1, 2], [0.5]), {"se": [0, 0], "level": 1}, "level"),
]


@pytest.mark.parametrize(("function", "args", "kwargs", "name"), BAD)
def test_bad_parameters_are_refused(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], name: str) -> None:
    with pytest.raises(ParameterError) as caught:
        function(*args, **kwargs)
    assert f"{caught.value.name}.".startswith((f"{name}.", f"{name}["))
