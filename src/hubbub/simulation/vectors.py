"""Mechanisms for vectors, measured: each coordinate's error beside its exact one.

A crowd is drawn, with repetition, from a list of vectors. With t the mean of a coordinate over the list, n times the
mean squared error of its estimate is the mean over the list of (variance of a report of a device that holds x) +
(x - t)².
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

import numpy as np

from hubbub.errors import ParameterError
from hubbub.mechanisms import Mechanism
from hubbub.mechanisms.estimate import Ints
from hubbub.mechanisms.vector import Vectors
from hubbub.simulation.crowds import weights
from hubbub.simulation.run import Measured, Progress, check, errors, measured

if TYPE_CHECKING:
    import pandas

VECTORS = 1000  # of a named distribution


@dataclass(frozen=True)
class CoordinateMeasured(Measured):
    """Of one coordinate; `coordinate` is its name."""

    coordinate: str


def made_vectors(mechanism: Vectors, name: str, rng: np.random.Generator) -> Ints:
    """(1000, dimension) ticks: each coordinate by itself has the named distribution, and none tells of another.

    Raises:
        ParameterError: No such distribution.
    """
    encoder = mechanism.encoder
    at = (np.arange(VECTORS) + 0.5) / VECTORS
    ticks = np.searchsorted(np.cumsum(weights(encoder.ticks + 1, name)), at).clip(0, encoder.ticks)
    return np.stack([rng.permutation(ticks) for _ in range(encoder.dimension)], axis=1)


def vectors_of(mechanism: Vectors, columns: "pandas.DataFrame") -> Ints:
    """(rows, dimension) ticks of a table, a column for each coordinate.

    Raises:
        PrivateValueError: A cell is no finite number; named by position only.
    """
    return mechanism.index(columns.to_numpy())


def measure_vectors(
    mechanism: Vectors,
    crowd: Ints,
    names: list[str],
    n: int,
    runs: int,
    rng: np.random.Generator,
    progress: Progress = lambda runs: None,
) -> list[CoordinateMeasured]:
    """Run it on crowds of n devices drawn from a list of vectors.

    Args:
        mechanism: Of vectors.
        crowd: (k, dimension) ticks, one of which each device draws.
        names: Of the coordinates.
        n: Devices in each run.
        runs: How many there are.
        rng: What draws.
        progress: Told after each run.

    Raises:
        ParameterError: Not one name for each coordinate, n outside [1, 10**15], or runs < 2.
    """
    check(n, runs)
    if len(names) != crowd.shape[1]:
        raise ParameterError("names", names, f"{crowd.shape[1]} names")
    whole = cast("Mechanism", mechanism)  # its subclasses are
    held = mechanism.lower + mechanism.step * np.asarray(crowd, float)
    truth = held.mean(axis=0)
    exact = (whole.variance(held, 1) + (held - truth) ** 2).mean(axis=0)
    even = np.full(len(crowd), 1 / len(crowd))
    seen = list(errors(whole, lambda: mechanism.simulate(rng.multinomial(n, even), rng, crowd), truth, runs, progress))
    squares, holds = (np.array(part) for part in zip(*seen, strict=True))
    found = []
    for place, name in enumerate(names):
        covered = holds[:, place].mean(keepdims=True)
        one = measured(whole, n, n * squares[:, place], float(exact[place]), covered)
        found.append(CoordinateMeasured(**vars(one), coordinate=name))
    return found
