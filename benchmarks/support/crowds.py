"""Crowds that are simulated many times: how far estimates are off, and how often intervals hold the truth."""

from collections.abc import Iterator

import numpy as np

from hubbub.mechanisms import Mechanism
from hubbub.mechanisms.estimate import Estimate, Reals
from hubbub.mechanisms.outputs import Outputs, mean_of
from hubbub.mechanisms.piecewise_vector import PiecewiseVector
from hubbub.simulation import DISTRIBUTIONS, measure, named

LISTED = 1 << 20  # values of a mechanism that are all drawn from
BLOCK = 1_000  # crowds at a time


def population(mechanism: Mechanism, kind: str) -> tuple[Reals, Reals]:
    """Chances of the values by a named distribution, and the truth; of 64 values where there are too many to list."""
    if mechanism.encoder.size <= LISTED:
        chances = named(mechanism, kind)
    else:
        chances = DISTRIBUTIONS[kind](64)
        chances /= chances.sum()
    held = np.flatnonzero(chances)
    return chances, np.tensordot(chances[held], np.array([mechanism.truth(int(value)) for value in held]), 1)


def crowds(mechanism: Mechanism, kind: str, n: int, runs: int, rng: np.random.Generator) -> tuple[float, float, float]:
    """N times the mean squared error over many crowds, measured and exact, and the standard error of the first."""
    chances, truth = population(mechanism, kind)
    if mechanism.encoder.size <= LISTED:
        one = measure(mechanism, chances, n, runs, rng)
        return one.measured, one.exact, one.noise
    found = [mechanism.estimate(mechanism.simulate(rng.multinomial(n, chances), rng)).value for _ in range(runs)]
    squares = n * np.mean((np.array(found) - truth) ** 2, axis=1)
    return float(squares.mean()), float(np.mean(mechanism.variance(truth, 1))), float(squares.std() / (runs - 1) ** 0.5)


def holding(mechanism: Mechanism, kind: str, n: int, runs: int, level: float, rng: np.random.Generator) -> float:
    """Share of the intervals of many crowds that hold the truth, the least of all categories."""
    chances, truth = population(mechanism, kind)
    holds = np.zeros(truth.shape)
    for estimate in estimates(mechanism, chances, n, runs, rng):
        low, high = estimate.interval(level)
        holds += ((low <= truth) & (truth <= high)).reshape(-1, *truth.shape).sum(axis=0)
    return float(holds.min() / runs)


def estimates(mechanism: Mechanism, chances: Reals, n: int, runs: int, rng: np.random.Generator) -> Iterator[Estimate]:
    """Of so many crowds: one by one, or as rows of blocks where a report is one of a few outputs about each number."""
    if isinstance(mechanism, Outputs | PiecewiseVector):
        law = outputs(mechanism, chances)
        for start in range(0, runs, BLOCK):
            counts = rng.multinomial(n, law, (min(BLOCK, runs - start), len(law)))
            yield mean_of(mechanism.channel, counts, n, mechanism.lower, mechanism.unit)
    else:
        for _ in range(runs):
            yield mechanism.estimate(mechanism.simulate(rng.multinomial(n, chances), rng))


def outputs(mechanism: Outputs | PiecewiseVector, chances: Reals) -> Reals:
    """(numbers, outputs) chances of what a device of the crowd sends about each: a value's lie between two levels'."""
    channel, held = mechanism.channel, np.flatnonzero(chances)
    at = np.array([np.atleast_1d(mechanism.truth(int(value))) for value in held]) - mechanism.lower
    low = np.clip((at / mechanism.unit).astype(int), 0, channel.top - 1)
    up = np.clip(at / mechanism.unit - low, 0, 1)[..., None]
    return np.tensordot(chances[held], channel.chances[low] * (1 - up) + channel.chances[low + 1] * up, 1)
