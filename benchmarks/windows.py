"""Coverage of the interval for the mean of several windows, and its width beside the exact one.

Fleets are drawn from a population of devices that are steady, alike, drift, cross, jump or, in a fleet that begins with
a fiftieth of its devices, have a value in the first window alone (launching) or in all but that (rising); each has its
permanent answers, reports in its windows, and the library makes the mean of them. Beside the library's interval: what
the plain formula of `se` and `se_shared` covers ("plain"), and what an analyst gets who takes windows for independent
("naive"). The width is that of the library's interval out of the one that knows the exact standard error. The last
column is the difference of the second half of the windows and the first.

Simulation draws, for every device at once, how many devices go each way through their permanent answers, so that 10^5
fleets of 10^4 devices take a second and nothing is approximated. All cells take twenty minutes.

Required at level 0.95: at least 0.945 in every cell, for the mean and for the difference; with the fewer draws of
`--quick`, that less four standard errors of the simulation.
"""

import argparse
import json
import math
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from hubbub.encoders.base import SCALE
from hubbub.encoders.randomized_response import RandomizedResponse as Bit
from hubbub.estimates.combining import apart, combine
from hubbub.mechanisms.one_bit_mean import OneBitMean
from hubbub.mechanisms.randomized_response import RandomizedResponse
from hubbub.summary import Summary

Reals = NDArray[np.float64]
Ints = NDArray[np.int64]
Path = tuple[int, ...]  # a device's value in each window
Mechanism = OneBitMean | RandomizedResponse

LEVEL, LEAST, SEED = 0.95, 0.945, 20_261_205
Z = NormalDist().inv_cdf(0.5 + LEVEL / 2)
DRAWS = 100_000
TICKS = 480
PRICES = ((0.5, 1.2), (1.0, 2.0), (4.0, 8.0), (1.0, None))
BEHAVIOURS = ("steady", "alike", "drifting", "crossing", "jumping", "launching", "rising")
SHARES = (0.0, 0.02, 0.5)  # the mean of all values, out of the range
PATTERNS = ((7, 1), (28, 1), (7, 7), (28, 7))  # windows, report_every
SIZES = (20, 100, 1000, 10_000)  # reports in a window


@dataclass(frozen=True)
class Cell:
    """One population, sampled.

    Attributes:
        cohorts: (devices, windows in which they report); devices of different cohorts are different.
        turns: The turn of each window.
        fleet: "whole" in every window; "weekends": a fifth of it then; "launch": a fiftieth in the first window.
    """

    mechanism: str
    epsilon: float
    permanent: float | None
    buckets: int
    behaviour: str
    share: float
    windows: int
    every: int
    size: int
    fleet: str = "whole"

    @property
    def cohorts(self) -> list[tuple[int, list[int]]]:
        match self.fleet:
            case "weekends":
                few, more = self.size // 5, [t for t in range(self.windows) if t % 7 < 5]
            case "launch" if self.every == 1:
                few, more = self.size // 50, list(range(1, self.windows))
            case "launch":
                first = (self.size // 50, [0])
                return [
                    first,
                    *((self.size, list(range(t or self.every, self.windows, self.every))) for t in range(self.every)),
                ]
            case _:
                return [(self.size, list(range(t, self.windows, self.every))) for t in range(self.every)]
        return [(self.size - few, more), (few, list(range(self.windows)))]

    @property
    def name(self) -> str:
        prices = f"{self.epsilon:g}/{'–' if self.permanent is None else f'{self.permanent:g}'}"
        name = f"{self.mechanism}{self.buckets if self.buckets > 1 else ''} {prices} {self.behaviour} {self.share:g}"
        return f"{name} n={self.size} {self.fleet} D={self.windows} r={self.every}"


@dataclass(frozen=True)
class Result:
    cell: Cell
    covered: float
    plain: float
    naive: float
    width: float
    apart: float  # coverage of the difference; nan where the values of the two halves are opposed


@cache
def mechanism(cell: Cell) -> Mechanism:
    if cell.mechanism == "share":
        return RandomizedResponse.from_epsilon(cell.epsilon, permanent_epsilon=cell.permanent)
    bucket = TICKS // cell.buckets if cell.permanent else None
    return OneBitMean.from_epsilon(cell.epsilon, permanent_epsilon=cell.permanent, upper=TICKS, bucket=bucket)


def population(cell: Cell) -> list[tuple[float, Path]]:
    """Weights of paths whose values are `share` of the top, on average over devices and windows, or in the first."""
    top = mechanism(cell).encoder.size - 1
    span, days = min(1.0, 2 * cell.share), range(cell.windows)
    match cell.behaviour:
        case "steady":
            return [(1 - cell.share, (0,) * cell.windows), (cell.share, (top,) * cell.windows)]
        case "launching":
            return [(1 - cell.share, (0,) * cell.windows), (cell.share, (top,) + (0,) * (cell.windows - 1))]
        case "rising":
            return [(1 - cell.share, (0,) * cell.windows), (cell.share, (0,) + (top,) * (cell.windows - 1))]
        case "alike":
            return [(1.0, (round(cell.share * top),) * cell.windows)]
        case "jumping" | "crossing" | "drifting" if top == 1:
            return [(1 - span, (0,) * cell.windows), *((span / 4, path) for path in _switching(cell))]
        case "jumping":
            return [(0.5, tuple(round(span * top) * ((t + turn) % 2) for t in days)) for turn in (0, 1)]
        case "crossing":
            up = tuple(round(span * top * (t + 0.5) / cell.windows) for t in days)
            return [(0.5, up), (0.5, up[::-1])]
    climb = [round(span * top / 2 * t / cell.windows) for t in days]
    return [(0.5, tuple(climb)), (0.5, tuple(round(span * top / 2) + tick for tick in climb))]


def _switching(cell: Cell) -> Iterator[Path]:
    """Four ways through yes and no."""
    for k in range(4):
        match cell.behaviour:
            case "jumping":
                yield tuple((t + k) % 2 for t in range(cell.windows))
            case "crossing":
                yield tuple(int((t < cell.windows / 2) == (k % 2 == 0)) for t in range(cell.windows))
            case _:
                yield tuple(int(t >= (k + 0.5) * cell.windows / 4) for t in range(cell.windows))


def ways(cell: Cell, path: Path) -> dict[Path, float]:
    """Chances of each way through permanent bits, over alpha and the bits, for a device with these values."""
    encoder = mechanism(cell).encoder
    values = np.array(path)
    found: dict[Path, float] = {}
    if isinstance(encoder, Bit):
        entries, alphas, chance = values[:, None], np.array([1]), [encoder.low, SCALE - encoder.low]
    else:
        each = (values[:, None] + np.arange(encoder.bucket)) // encoder.bucket
        entries, alphas = np.unique(each, axis=1, return_counts=True)
        chance = [encoder.low + k * encoder.rise for k in range(encoder.top + 1)]
    for column, alpha in zip(entries.T, alphas / alphas.sum(), strict=True):
        visited = sorted(set(column.tolist()))
        for bits in product((0, 1), repeat=len(visited)):
            kept = dict(zip(visited, bits, strict=True))
            weight = math.prod(chance[k] / SCALE if bit else 1 - chance[k] / SCALE for k, bit in kept.items())
            way = tuple(kept[k] for k in column.tolist())
            found[way] = found.get(way, 0.0) + alpha * weight
    return found


def draw(cell: Cell, draws: int, rng: np.random.Generator) -> tuple[Ints, Ints, Reals]:
    """Ones, shape (draws, D), reports, shape (D,), and the exact covariance of the counts."""
    encoder = mechanism(cell).encoder
    flip = encoder.flip / SCALE if encoder.memo else float(encoder.law(0)[(1,)])
    ones, reports = np.zeros((draws, cell.windows), np.int64), np.zeros(cell.windows, np.int64)
    covariance = np.zeros((cell.windows, cell.windows))
    for devices, windows in cell.cohorts:
        if not windows or not devices:
            continue
        chances: dict[Path, float] = {}
        for weight, path in population(cell):
            part = tuple(path[t] for t in windows)
            # Without permanent answers what windows share is the value itself: a bit that is 1 at the top.
            for way, chance in (ways(cell, part) if encoder.memo else _unkept(cell, part)).items():
                chances[way] = chances.get(way, 0.0) + weight * chance
        bits, weights = np.array(list(chances)), np.array(list(chances.values()))
        weights /= weights.sum()
        kept = rng.multinomial(devices, weights, size=draws) @ bits
        ones[:, windows] += rng.binomial(kept, 1 - flip) + rng.binomial(devices - kept, flip)
        reports[windows] += devices
        share = weights @ bits
        both = (bits * weights[:, None]).T @ bits - np.outer(share, share)
        both *= (1 - 2 * flip) ** 2
        rate = flip + (1 - 2 * flip) * share
        both[np.diag_indices(len(windows))] = rate * (1 - rate)
        covariance[np.ix_(windows, windows)] += devices * both
    return ones, reports, covariance


def _unkept(cell: Cell, path: Path) -> dict[Path, float]:
    """Fresh answers: the bit that is flipped is 1 with chance value / top, drawn in every window."""
    top = mechanism(cell).encoder.size - 1
    between = [value / top for value in path if 0 < value < top]
    if not between:
        return {tuple(value // top for value in path): 1.0}
    raise ValueError("fresh populations hold the ends of the range alone")


def measure(cell: Cell, draws: int, rng: np.random.Generator) -> Result:
    ones, reports, covariance = draw(cell, draws, rng)
    held = mechanism(cell)
    whole = held.estimate(Summary(1, np.array(0)))
    zero, scale, per_one = whole.crowd.zero, whole.crowd.scale, whole.per_one
    value = whole.at_zero + ones / reports * per_one
    truth = np.array([[float(held.truth(tick)) for tick in path] for _, path in population(cell)])
    truths = np.array([weight for weight, _ in population(cell)]) @ truth
    kept, turns, noise = (value - zero) / scale, np.arange(cell.windows) % cell.every, whole.crowd.noise
    mean = combine(kept, reports, turns, noise=noise, level=LEVEL)
    target = (truths.mean() - zero) / scale
    exact = per_one / scale * math.sqrt((covariance / np.outer(reports, reports)).sum()) / cell.windows
    se = per_one / scale * np.sqrt(ones / reports * (1 - ones / reports) / reports)
    shared = np.sqrt(np.clip(kept, 0, 1) * (1 - np.clip(kept, 0, 1)) / reports)
    together = sum(shared[:, turns == turn].sum(1) ** 2 for turn in range(cell.every))
    plain = np.sqrt(np.maximum(se**2 - shared**2, 0).sum(1) + together) / cell.windows
    naive = np.sqrt((se**2).sum(1)) / cell.windows
    halves = np.array_split(np.arange(cell.windows), 2)
    ends = []
    for half in halves:
        one = combine(kept[:, half], reports[half], turns[half], noise=noise, level=LEVEL)
        ends.append((one.low, one.value, one.high))
    low, high = apart(ends[1], ends[0])
    rise = (truths[halves[1]].mean() - truths[halves[0]].mean()) / scale
    return Result(
        cell,
        covered=_share((mean.low <= target) & (target <= mean.high)),
        plain=_share(np.abs(mean.value - target) <= Z * plain),
        naive=_share(np.abs(mean.value - target) <= Z * naive),
        width=float((mean.high - mean.low).mean() / (2 * Z * exact)),
        apart=math.nan if cell.behaviour == "crossing" else _share((low <= rise) & (rise <= high)),
    )


def _share(inside: NDArray[np.bool_]) -> float:
    return float(inside.mean())


def cells(quick: bool) -> Iterator[Cell]:
    """All of them, or a choice."""
    for (kind, buckets), (epsilon, permanent) in product((("mean", 1), ("share", 1)), PRICES):
        for behaviour, share, (windows, every), size in product(BEHAVIOURS[:-2], SHARES, PATTERNS, SIZES):
            few = every == 1 and size < 100  # no metric publishes a crowd of 20
            fresh = permanent is None and behaviour not in ("steady", "jumping")
            odd = permanent is None and behaviour == "jumping" and share != 0.5 and kind == "mean"
            if few or fresh or odd or (kind == "share" and behaviour == "alike"):
                continue
            if quick and (share == 0.0 or size == 1000 or epsilon == 0.5 or windows == every):
                continue
            yield Cell(kind, epsilon, permanent, buckets, behaviour, share, windows, every, size)
    for behaviour, share, windows in product(("steady", "drifting"), (0.1, 0.5), (7,) if quick else (7, 28)):
        yield Cell("mean", 1.0, 2.0, 4, behaviour, share, windows, 1, 1000)
        yield Cell("mean", 1.0, 2.0, 1, behaviour, share, windows, 1, 1000, "weekends")
    for (epsilon, permanent), share, size in product(
        ((4.0, None), (1.0, 2.0), (4.0, 8.0)), (0.02, 0.5), (1000, 10_000)
    ):
        for behaviour, windows in product(("launching", "steady"), (7,) if quick else (7, 28)):
            yield Cell("share", epsilon, permanent, 1, behaviour, share, windows, 1, size, "launch")
    for share, size, every in product((0.005, 0.02, 0.1), (2500, 10_000), (1, 7)):
        yield Cell("share", 8.0, None, 1, "rising", share, 7, every, size, "launch")


def table(results: Sequence[Result]) -> str:
    """The least coverage and the mean width, by behaviour and pattern."""
    lines = [
        f"Least coverage in per cent at level {LEVEL:.0%} over mechanisms, prices, truths and sizes; median width out",
        "of the exact one",
        "",
        f"{'devices':<10}{'D':>3}{'r':>3}{'cells':>7}{'mean':>9}{'plain':>9}{'naive':>9}{'difference':>12}{'width':>8}",
    ]
    for behaviour, (windows, every) in product(BEHAVIOURS, PATTERNS):
        some = [r for r in results if (r.cell.behaviour, r.cell.windows, r.cell.every) == (behaviour, windows, every)]
        if not some:
            continue
        covered, plain, naive, halves = (
            f"{100 * min((getattr(r, what) for r in some if not math.isnan(getattr(r, what))), default=math.nan):.2f}"
            for what in ("covered", "plain", "naive", "apart")
        )
        width = float(np.median([r.width for r in some]))
        lines.append(
            f"{behaviour:<10}{windows:>3}{every:>3}{len(some):>7}{covered:>9}{plain:>9}{naive:>9}{halves:>12}{width:>8.2f}"
        )
    return "\n".join(lines)


def figures(results: Sequence[Result], draws: int) -> dict[str, object]:
    allowance = 4 * math.sqrt(LEVEL * (1 - LEVEL) / draws) if draws < DRAWS else 0.0
    worst = min(results, key=lambda r: r.covered)
    halves = min((r for r in results if not math.isnan(r.apart)), key=lambda r: r.apart)
    steady = [r for r in results if r.cell.behaviour == "steady"]
    return {
        "benchmark": "windows",
        "level": LEVEL,
        "draws": draws,
        "cells": len(results),
        "min_coverage": worst.covered,
        "min_coverage_at": worst.cell.name,
        "min_difference": halves.apart,
        "min_difference_at": halves.cell.name,
        "min_plain": min(r.plain for r in results),
        "min_naive": min(r.naive for r in results),
        "median_width_steady": round(float(np.median([r.width for r in steady])), 4),
        "max_width_steady": round(max(r.width for r in steady), 4),
        "pass": min(worst.covered, halves.apart) >= LEAST - allowance,
    }


def run(quick: bool, draws: int) -> list[Result]:
    rng, start, chosen = np.random.default_rng(SEED), time.monotonic(), list(cells(quick))
    results = []
    for done, cell in enumerate(chosen, 1):
        results.append(measure(cell, draws, rng))
        if done % 50 == 0 or done == len(chosen):
            print(f"{done} of {len(chosen)} cells, {time.monotonic() - start:.0f} s", file=sys.stderr)
    return results


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.windows", description="Coverage over several windows.")
    parser.add_argument("--quick", action="store_true", help="fewer cells and draws")
    parser.add_argument("--json", action="store_true", help="only the last line, the key figures as JSON")
    options = parser.parse_args(argv)
    draws = 10_000 if options.quick else DRAWS
    results = run(options.quick, draws)
    if not options.json:
        print(table(results), end="\n\n")
        for result in sorted(results, key=lambda r: min(r.covered, r.apart if r.apart > 0 else 1))[:5]:
            print(f"{result.cell.name}: mean {result.covered:.4f}, difference {result.apart:.4f}")
    last = figures(results, draws)
    print(json.dumps(last))
    return 0 if last["pass"] else 1


if __name__ == "__main__":
    sys.exit(main())
