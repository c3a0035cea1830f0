"""Exact coverage of the library's interval, beside that of the interval in the source text.

Reports of a one-bit mean on [0, 1] are counted; at a truth f the count is binomial, so the coverage is a sum over
counts, with no simulation. Counts further than 10 standard deviations (and 10 counts) from their mean are left out.
The source text gives the estimate the variance 1 / (n (exp(epsilon) - 1)²), which lacks a factor between exp(epsilon)
and (exp(epsilon) + 1)² / 4.

Required at level 0.95: at least 0.94 for every n, epsilon and truth, and at least 0.95 on average over n for every
epsilon and truth. "Worst" is over all truths in [0, 1]: between two neighbouring ends of intervals the coverage is
the chance of a fixed run of counts, which is least at one of the two, so the grid of truths is joined by the ends.
"""

import argparse
import json
import math
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray
from scipy.special import bdtr, gammaln

from hubbub.mechanisms.one_bit_mean import OneBitMean
from hubbub.summary import Summary

Reals = NDArray[np.float64]

LEVEL, LEAST, LEAST_MEAN = 0.95, 0.94, 0.95
EPSILONS = (0.25, 0.5, 1.0, 2.0, 4.0)
QUOTED = (0.5, 1.0, 2.0)  # where the source text's interval is known to cover 36 to 87 %
NEAR = (1e-6, 1e-5, 1e-4, 1e-3, 0.003, 0.01)
SHOWN = (0.0, 1e-3, 0.1, 0.25, 0.5, 0.75, 0.9, 1 - 1e-3, 1.0)
BANDS = (30, 100, 300, 1_000, 3_000, 10_000, 50_001)


@dataclass(frozen=True)
class Cell:
    """One epsilon and n.

    Attributes:
        ours: Coverage of the library's interval, one number per truth.
        theirs: The same of the source text's.
        worst: Least coverage of the library's interval over all truths in [0, 1].
        worst_at: That truth.
    """

    ours: Reals
    theirs: Reals
    worst: float
    worst_at: float


Cells = dict[tuple[float, int], Cell]


def sizes(quick: bool) -> tuple[list[int], list[int]]:
    """Numbers of reports: all of them, and those evenly spread on a logarithmic scale."""
    spread = sorted({int(n) for n in np.geomspace(30, 50_000, 25 if quick else 80).round()})
    return sorted({*range(30, 301, 10 if quick else 1), *spread}), spread


def truths() -> Reals:
    return np.unique([*np.linspace(0, 1, 101), *NEAR, *(1 - near for near in NEAR), *SHOWN])


def cell(epsilon: float, n: int, grid: Reals) -> Cell:
    mechanism = OneBitMean.from_epsilon(epsilon, lower=0, upper=1)
    estimate = mechanism.estimate(Summary(n, np.arange(n + 1)))
    lower, upper = estimate.interval(LEVEL)
    half = NormalDist().inv_cdf(0.5 + LEVEL / 2) / (math.expm1(epsilon) * math.sqrt(n))
    rate = mechanism.line.rate(grid)[:, None]
    reach = math.ceil(5 * math.sqrt(n)) + 10
    counts = np.rint(n * rate).astype(int) + np.arange(-reach, reach + 1)
    valid = (counts >= 0) & (counts <= n)
    counts = counts.clip(0, n)
    ways = gammaln(n + 1) - gammaln(counts + 1) - gammaln(n - counts + 1)
    chance = np.exp(ways + counts * np.log(rate) + (n - counts) * np.log1p(-rate)) * valid
    truth = grid[:, None]
    ours = (chance * ((lower[counts] <= truth) & (truth <= upper[counts]))).sum(axis=1)
    theirs = (chance * (np.abs(estimate.value[counts] - truth) <= half)).sum(axis=1)
    worst, worst_at = least(lower, upper, n, mechanism)
    if ours.min() < worst:
        worst, worst_at = float(ours.min()), float(grid[ours.argmin()])
    return Cell(ours, theirs, worst, worst_at)


def least(lower: Reals, upper: Reals, n: int, mechanism: OneBitMean) -> tuple[float, float]:
    """Least coverage just above an upper end or just below a lower one, where a count has dropped out."""
    truth = np.concatenate([upper, lower])
    first = np.concatenate([np.arange(1, n + 2), np.searchsorted(upper, lower)])
    last = np.concatenate([np.searchsorted(lower, upper, "right") - 1, np.arange(-1, n)])
    inside = (truth >= 0) & (truth <= 1)
    if not inside.any():
        return 1.0, math.nan
    truth, first, last = truth[inside], first[inside], last[inside]
    rate = mechanism.line.rate(truth)
    below = np.where(first > 0, bdtr(np.maximum(first - 1, 0), n, rate), 0)
    coverage = np.where(last >= 0, bdtr(np.maximum(last, 0), n, rate), 0) - below
    return float(coverage.min()), float(truth[coverage.argmin()])


def measure(every: Sequence[int], grid: Reals) -> Cells:
    cells, start = {}, time.monotonic()
    for done, n in enumerate(every, 1):
        for epsilon in EPSILONS:
            cells[epsilon, n] = cell(epsilon, n, grid)
        if done % 50 == 0 or n == every[-1]:
            print(f"{done} of {len(every)} sizes, n = {n}, {time.monotonic() - start:.0f} s", file=sys.stderr)
    return cells


def stack(cells: Cells, interval: str, ns: Sequence[int]) -> Reals:
    """Coverage of one of the two intervals, shape (epsilons, n, truths)."""
    return np.array([[getattr(cells[epsilon, n], interval) for n in ns] for epsilon in EPSILONS])


def figures(cells: Cells, every: Sequence[int], spread: Sequence[int], grid: Reals) -> dict[str, object]:
    """What the requirement is about, and whether it is met."""
    epsilon, n = min(cells, key=lambda key: cells[key].worst)
    worst = cells[epsilon, n]
    over_n, over_spread = (stack(cells, "ours", ns).mean(axis=1) for ns in (every, spread))
    row, column = np.unravel_index(over_n.argmin(), over_n.shape)
    theirs = stack(cells, "theirs", every)
    quoted = theirs[[EPSILONS.index(e) for e in QUOTED]].mean(axis=1)
    grid_least = min(float(one.ours.min()) for one in cells.values())
    least_mean = min(float(over_n.min()), float(over_spread.min()))
    return {
        "benchmark": "coverage",
        "level": LEVEL,
        "cells": len(cells) * len(grid),
        "min_coverage": round(worst.worst, 5),
        "min_coverage_at": {"n": n, "epsilon": epsilon, "truth": round(worst.worst_at, 6)},
        "min_coverage_on_grid": round(grid_least, 5),
        "mean_coverage": round(float(over_n.mean()), 5),
        "min_mean_over_n": round(float(over_n.min()), 5),
        "min_mean_over_n_at": {"epsilon": EPSILONS[row], "truth": round(float(grid[column]), 6)},
        "min_mean_over_log_n": round(float(over_spread.min()), 5),
        "source_text_min": round(float(theirs.min()), 5),
        "source_text_max": round(float(theirs.max()), 5),
        "source_text_quoted_min": round(float(quoted.min()), 5),
        "source_text_quoted_max": round(float(quoted.max()), 5),
        "pass": worst.worst >= LEAST and least_mean >= LEAST_MEAN,
    }


def tables(cells: Cells, every: Sequence[int], grid: Reals) -> str:
    head = "".join(f"{f'ε = {epsilon:g}':>18}" for epsilon in EPSILONS)
    lines = [
        f"Coverage in per cent at level {LEVEL:.0%}: this library's interval | the source text's",
        "",
        "worst over all n of the row and all truths from 0 to the top (source text: truths of the grid)",
        f"{'n':<18}{head}",
    ]
    for first, after in pairwise(BANDS):
        ns = [n for n in every if first <= n < after]
        row = "".join(
            pair(min(cells[e, n].worst for n in ns), min(cells[e, n].theirs.min() for n in ns)) for e in EPSILONS
        )
        lines.append(f"{f'{first} to {after - 1}':<18}{row}")
    lines += ["", "mean over n, by truth (share of the range)", f"{'truth':<18}{head}"]
    ours, theirs = (stack(cells, interval, every).mean(axis=1) for interval in ("ours", "theirs"))
    for truth in SHOWN:
        k = int(np.abs(grid - truth).argmin())
        lines.append(f"{truth:<18g}" + "".join(pair(*both) for both in zip(ours[:, k], theirs[:, k], strict=True)))
    lines.append(f"{'worst truth':<18}" + "".join(pair(a.min(), b.min()) for a, b in zip(ours, theirs, strict=True)))
    return "\n".join(lines)


def pair(ours: float, theirs: float) -> str:
    return f"{f'{100 * ours:.2f} | {100 * theirs:.1f}':>18}"


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.coverage", description="Exact coverage of intervals.")
    parser.add_argument("--quick", action="store_true", help="fewer n")
    parser.add_argument("--json", action="store_true", help="only the last line, the key figures as JSON")
    options = parser.parse_args(argv)
    grid = truths()
    every, spread = sizes(options.quick)
    cells = measure(every, grid)
    result = figures(cells, every, spread, grid)
    if not options.json:
        print(tables(cells, every, grid), end="\n\n")
    print(json.dumps(result))
    return 0 if result["pass"] else 1


if __name__ == "__main__":
    sys.exit(main())
