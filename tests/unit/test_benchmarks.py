"""What benchmarks compute beside timing: the least coverage, the chance of an error, tables in the docs."""

import numpy as np
import pytest
from scipy.stats import binom

from benchmarks import accuracy
from benchmarks.support import page
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
