"""Shares from the counts of disguised reports, by maximum likelihood.

Reports of bucket v give output y with the chance T[y, v]. Expectation maximisation starts with even shares and
multiplies each share by how much likelier its outputs were seen than the present shares make them, over and over; the
likelihood grows at each step. `ems` smoothes the shares between two steps.

Source: Li and others, SIGMOD 2020.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from hubbub.errors import ParameterError
from hubbub.postprocessing.arrays import Reals, finite, flat

RISE = 1e-3  # log-likelihood, in nats, that a step must gain


def em(
    counts: ArrayLike, transition: ArrayLike, *, rise: float = RISE, move: float | None = None, steps: int = 10_000
) -> Reals:
    """(k,) shares >= 0 that add up to 1 and make the counts about as likely as any do.

    Biased, as all shares that cannot be negative are; and the mass of a smooth distribution gathers in spikes, the more
    the longer it runs. Stopping early, as the default does, leaves the start shining through: shares lean to even ones.
    Sums over ranges are much better than single shares.

    Args:
        counts: Reports of each output, (outputs,).
        transition: Chance of each output from each bucket, (outputs, k).
        rise: It stops when a step gains less of the log-likelihood, in nats,
        move: or when the shares move by less, their absolute changes added up; None: one over the number of reports.
        steps: Most steps.

    Raises:
        ParameterError: No reports, negative counts, a transition that is none or does not fit, or an output that was
            seen and that no bucket gives.
    """
    return _climb(counts, transition, rise, move, steps, lambda shares: shares)


def ems(
    counts: ArrayLike, transition: ArrayLike, *, rise: float = RISE, move: float | None = None, steps: int = 10_000
) -> Reals:
    """(k,) shares >= 0 that add up to 1, as `em`, but smoothed after each step.

    A share is spread 1 : 2 : 1 over the one before, itself and the one after; what would leave at an end stays there.

    Biased towards a smooth distribution: peaks are lowered and steps are rounded off, by a few buckets' width,
    which more reports do not cure but more buckets do. In return no spikes come up.

    Args:
        counts: Reports of each output, (outputs,).
        transition: Chance of each output from each bucket, (outputs, k).
        rise: It stops when a step changes the log-likelihood by less, in nats,
        move: or when the shares move by less, their absolute changes added up; None: one over the number of reports.
        steps: Most steps.

    Raises:
        ParameterError: As `em`.
    """
    return _climb(counts, transition, rise, move, steps, _smooth)


def _smooth(shares: Reals) -> Reals:
    padded = np.pad(shares, 1, mode="edge")
    return np.asarray((padded[:-2] + 2 * shares + padded[2:]) / 4)


def _climb(
    counts: ArrayLike,
    transition: ArrayLike,
    rise: float,
    move: float | None,
    steps: int,
    between: Callable[[Reals], Reals],
) -> Reals:
    seen, chances = _checked(counts, transition)
    weights = seen / seen.sum()
    least = 1 / seen.sum() if move is None else move
    shares = np.full(chances.shape[1], 1 / chances.shape[1])
    mixed = chances @ shares
    likelihood = seen @ np.log(mixed)
    for _ in range(steps):
        after = between(shares * (weights / mixed @ chances))
        mixed = chances @ after
        before, likelihood = likelihood, seen @ np.log(mixed)
        moved, shares = np.abs(after - shares).sum(), after
        if abs(likelihood - before) < rise or moved < least:
            break
    return np.asarray(shares / shares.sum())


def _checked(counts: ArrayLike, transition: ArrayLike) -> tuple[Reals, Reals]:
    """Counts above 0, and the chances of these outputs."""
    chances = finite("transition", transition)
    if chances.ndim != 2 or not chances.size:
        raise ParameterError("transition.shape", chances.shape, "(outputs, k)")
    if chances.min() < 0 or np.abs(chances.sum(axis=0) - 1).max() > 1e-9:
        raise ParameterError("transition", float(chances.min()), "chances, each column with the sum 1")
    seen = flat("counts", counts, len(chances))
    if seen.min() < 0 or not seen.sum():
        raise ParameterError("counts", float(seen.min()), "numbers >= 0, not all of them 0")
    if not chances[seen > 0].any(axis=1).all():
        raise ParameterError(
            "counts", "reports of an output that no bucket gives", "reports of the outputs of a bucket"
        )
    return seen[seen > 0], chances[seen > 0]
