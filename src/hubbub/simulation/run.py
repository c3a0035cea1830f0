"""Measure a mechanism: crowds are drawn from a distribution, each is simulated, its errors held beside the exact ones.

With n devices drawn from chances f, the squared error of an estimate has the mean `variance(truth, n)`, where `truth`
is that of the distribution. For a mean, whose variance may depend on more than the truth, it is the variance of a
report of a device drawn from the distribution.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from hubbub.errors import ParameterError
from hubbub.mechanisms import Mechanism
from hubbub.mechanisms.estimate import Reals
from hubbub.summary import Summary

MOST = 10**15  # devices: what is counted stays exact
Progress = Callable[[int], None]  # runs done since the last call


@dataclass(frozen=True)
class Measured:
    """What many runs of one mechanism gave.

    Attributes:
        mechanism: Its name.
        n: Devices in each run.
        runs: How many there were.
        measured: n times the mean squared error, in the unit squared, over runs and categories.
        exact: What it should be.
        noise: Standard error of `measured`, from the runs.
        coverage: Share of intervals of level 0.95 that hold the truth.
        worst: Least coverage of one category.
    """

    mechanism: str
    n: int
    runs: int
    measured: float
    exact: float
    noise: float
    coverage: float
    worst: float


def measure(
    mechanism: Mechanism,
    chances: Reals,
    n: int,
    runs: int,
    rng: np.random.Generator,
    progress: Progress = lambda runs: None,
) -> Measured:
    """Run it on crowds of n devices whose values have these chances, shape (size,).

    Raises:
        ParameterError: Not one chance for each value, n outside [1, 10**15], or runs < 2.
    """
    size = mechanism.encoder.size
    if chances.shape != (size,):
        raise ParameterError("chances.shape", chances.shape, f"({size},), one per value")
    check(n, runs)
    held = np.flatnonzero(chances)
    truths = np.array([mechanism.truth(int(value)) for value in held])
    truth = np.tensordot(chances[held], truths, 1)

    def draw() -> Summary:
        return mechanism.simulate(rng.multinomial(n, chances), rng)

    each, covered = [], np.zeros(truth.size)
    for squares, holds in errors(mechanism, draw, truth, runs, progress):
        each.append(n * squares.mean())
        covered += holds / runs
    return measured(mechanism, n, np.array(each), exact_error(mechanism, chances[held], truths, truth), covered)


def errors(
    mechanism: Mechanism, draw: Callable[[], Summary], truth: Reals, runs: int, progress: Progress
) -> Iterator[tuple[Reals, Reals]]:
    """Of each of so many crowds, part by part: squared errors, and whether intervals of level 0.95 hold the truth."""
    for _ in range(runs):
        estimate = mechanism.estimate(draw())
        low, high = estimate.interval(0.95)
        squares = np.atleast_1d((estimate.value - truth) ** 2)
        yield squares, np.atleast_1d((low <= truth) & (truth <= high)).astype(float)
        progress(1)


def measured(mechanism: Mechanism, n: int, each: Reals, exact: float, covered: Reals) -> Measured:
    """What runs gave: (runs,) n times their mean squared errors, and (parts,) shares of intervals that hold."""
    noise = float(each.std() / (len(each) - 1) ** 0.5)
    return Measured(
        mechanism.name, n, len(each), float(each.mean()), exact, noise, float(covered.mean()), float(covered.min())
    )


def check(n: int, runs: int) -> None:
    """Refuse what cannot be measured.

    Raises:
        ParameterError: n outside [1, 10**15], or runs < 2.
    """
    if not 1 <= n <= MOST:
        raise ParameterError("n", n, f"in [1, {MOST}]")
    if runs < 2:
        raise ParameterError("runs", runs, ">= 2")


def exact_error(mechanism: Mechanism, chances: Reals, truths: Reals, truth: Reals) -> float:
    """N times the exact mean squared error: the variance of one report of a device drawn with these chances."""
    if truths.ndim > 1:
        return float(np.mean(mechanism.variance(truth, 1)))
    of_each = np.array([float(mechanism.variance(one, 1)) for one in truths])
    return float(chances @ (of_each + (truths - truth) ** 2))
