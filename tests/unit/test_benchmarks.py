"""What benchmarks compute beside timing: the least coverage, the chance of an error, tables in the docs."""

from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

from benchmarks import accuracy, peers
from benchmarks.support import crowds, page
from hubbub.encoders.base import SCALE
from hubbub.mechanisms import registry
from hubbub.mechanisms.base import any_estimate
from hubbub.mechanisms.intervals import binomial


def test_least_coverage_is_that_of_all_truths() -> None:
    for name in ("one_bit_mean", "grr"):
        mechanism = accuracy.built(name, 1.0)
        one, (low, high) = any_estimate(mechanism), mechanism.bounds
        n, counts = 30, np.arange(31)
        truths, coverage = accuracy._at_ends(mechanism, n)
        grid = np.unique(np.concatenate([np.linspace(low, high, 5001), truths * (1 + 1e-12), truths * (1 - 1e-12)]))
        grid = grid[(grid >= low) & (grid <= high)]
        lower, upper = (one.at_zero + one.per_one * end for end in binomial(counts, n, accuracy.LEVEL)[:2])
        held = (lower <= grid[:, None]) & (grid[:, None] <= upper)
        summed = (held * binom.pmf(counts, n, (grid[:, None] - one.at_zero) / one.per_one)).sum(axis=1)
        assert summed.min() == pytest.approx(coverage.min(), abs=1e-9)


def test_chance_of_an_error() -> None:
    """Uniform where errors are what they should be; small where they are off by a tenth of the variance."""
    rng = np.random.default_rng(1)
    chances, off = [], []
    for _ in range(2000):
        squares = rng.standard_normal((500, 4)) ** 2
        noise = float(squares.mean(axis=1).std() / 499**0.5)
        chances.append(accuracy.agreement(float(squares.mean()), 1.0, noise, 2000))
        off.append(accuracy.agreement(float(squares.mean()), 1.2, noise, 2000))
    assert abs(np.mean(np.array(chances) < 0.05) - 0.05) < 0.02  # four standard errors
    assert np.mean(np.array(off) < 1e-3) > 0.9


def test_known_digits() -> None:
    assert accuracy.rounds_to(3.68269, "3.683")
    assert not accuracy.rounds_to(3.6836, "3.683")
    assert accuracy.rounds_to(2432.4, "2432")
    for name, known in accuracy.KNOWN.items():
        for epsilon, figure in zip(accuracy.EPSILONS, known, strict=True):
            assert accuracy.rounds_to(accuracy.FORMULAS[name](epsilon), figure), (name, epsilon)


def test_tables_take_the_place_of_those_before() -> None:
    text = "a\n<!-- x -->\nold\n<!-- /x -->\nb\n"
    assert page.fill(text, "x", "new\\1") == "a\n<!-- x -->\n\nnew\\1\n\n<!-- /x -->\nb\n"
    assert page.fill(page.fill(text, "x", "one"), "x", "two") == page.fill(text, "x", "two")
    with pytest.raises(ValueError, match="0 times"):
        page.fill(text, "y", "new")
    for name in ("peers", "accuracy"):
        page.fill(page.PAGE.read_text("utf-8"), name, "new")
    assert page.table(("a", "bc"), [("1", "2")]) == "| a | bc |\n|---|---:|\n| 1 |  2 |"


@pytest.mark.parametrize("epsilon", [0.5, 2.0])
@pytest.mark.parametrize("name", ["stochastic_grr", "piecewise", "hybrid", "discrete_laplace"])
def test_crowds_drawn_in_blocks_have_the_law_of_their_devices(name: str, epsilon: float) -> None:
    mechanism: Any = registry[name].from_epsilon(epsilon, upper=6)
    chances = np.array([0.4, 0, 0.1, 0.2, 0, 0, 0.3])
    expected = np.zeros(mechanism.counts_shape)
    coin = getattr(mechanism.encoder, "share", 0) / SCALE
    for public, part in (((0,), 1 - coin), ((1,), coin)) if name == "hybrid" else (((), 1),):
        for value, share in enumerate(chances):
            for payload, chance in mechanism.law(value, public).items():
                expected[mechanism.outputs(np.array([payload]))[0]] += part * share * float(chance)
    assert crowds.outputs(mechanism, chances) == pytest.approx(expected[None], abs=1e-12)


def test_coordinates_drawn_in_blocks_have_the_error_of_whole_reports() -> None:
    """Means of 20 000 estimates of both sorts, and their squares: a z of 5 is a false alarm in 10⁵."""
    mechanism, rng = registry["piecewise_vector"].from_epsilon(2, dimension=2, ticks=2), np.random.default_rng(7)
    chances = np.arange(9) / 36
    blocks = np.concatenate([one.value for one in crowds.estimates(mechanism, chances, 50, 20_000, rng)])
    truth = np.tensordot(chances, np.array([mechanism.truth(value) for value in range(9)]), 1)
    alone = np.array(
        [mechanism.estimate(mechanism.simulate(rng.multinomial(50, chances), rng)).value for _ in range(5_000)]
    )
    for found in (blocks, alone):
        assert np.abs((found.mean(axis=0) - truth) / found.std(axis=0) * len(found) ** 0.5).max() < 5
    squares = [(found - truth) ** 2 for found in (blocks, alone)]
    noise = sum(one.var(axis=0) / len(one) for one in squares) ** 0.5
    assert np.abs((squares[0].mean(axis=0) - squares[1].mean(axis=0)) / noise).max() < 5


def test_a_rate_that_does_not_exist_is_no_figure_and_misses_no_target() -> None:
    rates = dict.fromkeys(("client", "words", "system", "system_words", "server", "device", "simulate"), 1e4)
    own = {**rates, "decode": float("nan"), "peak": 1.0, "mse": 1.0, "exact": 2.0}
    other = {"client": 500.0, "server": 2000.0, "peak": 1.0, "mse": 1.0, "people": 10.0}
    cell = peers.Cell(peers.PROTOCOLS[0], 128, 1000, own, {peers.PURE: other})
    assert cell.missed == ["server"]
    assert peers.Cell(cell.protocol, 128, 1000, {**own, "client": 4e3, "system": 5e3}, cell.peers).missed == [
        "client",
        "server",
    ]
    head, _, first, second = peers.rates([cell]).splitlines()
    place = [column.strip() for column in head.split("|")].index("decode/s")
    assert [line.split("|")[place].strip() for line in (first, second)] == ["", ""]
    shown = peers.rates([peers.Cell(cell.protocol, 128, 1000, {**own, "decode": 1234.0}, cell.peers)])
    assert shown.splitlines()[2].split("|")[place].strip() == "1.23k"
