"""How often the interval of a mean among the active over several windows holds the truth.

Fleets are drawn with their permanent answers, each device with a path of its own through days on which it recorded
something and days on which it did not; some reports are lost, those about the mean and those about the share by
themselves. Coverage is required to be 0.945 less four standard errors of the simulation, which for a cell at 0.945 is a
false alarm of 3e-5, with fixed seeds.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product

import numpy as np
import pytest

from benchmarks.windows import LEAST, LEVEL, TICKS, Cell, Ints, Path, Reals, Z, mechanism, ways
from hubbub.encoders.base import SCALE
from hubbub.estimates.combining import apart, combine, over
from hubbub.mechanisms import Estimate
from hubbub.summary import Summary

DRAWS = 8000
ALLOWED = LEAST - 4 * math.sqrt(LEVEL * (1 - LEVEL) / DRAWS)
WINDOWS = 14
DAYS = range(WINDOWS)
OFF = -1  # recorded nothing
Crowd = Sequence[tuple[float, Path]]  # weights of paths, in ticks


def path(*pattern: int) -> Path:
    return tuple(pattern[day % len(pattern)] for day in DAYS)


CROWDS: Mapping[str, Crowd] = {
    "steady": ((0.5, path(OFF)), (0.3, path(0)), (0.2, path(TICKS))),
    "all active": ((0.6, path(0)), (0.4, path(TICKS))),
    # A device's value on one day is negatively correlated with its being active on another.
    "by turns": ((0.3, path(OFF, 0)), (0.2, path(OFF, TICKS)), (0.3, path(0, OFF)), (0.2, path(TICKS, OFF))),
    "weekends": (
        (0.5, path(240, 240, 240, 240, 240, OFF, OFF)),
        (0.2, path(TICKS)),
        (0.3, path(OFF, OFF, OFF, OFF, OFF, 0, TICKS)),
    ),
    "growing": ((0.5, path(OFF)), (0.5, tuple(20 + 20 * day for day in DAYS))),
    # On every third day the mean is negative; with `zero`, those that recorded nothing are above it.
    "both signs": ((0.4, path(OFF)), (0.6, path(TICKS, TICKS, 0))),
    "rare": ((0.95, path(OFF)), (0.04, path(0)), (0.01, path(TICKS))),
}
# Devices out of a hundred, and the days of which their reports of mean and share come.
BOTH, LOSING = ((100, DAYS, DAYS),), ((50, DAYS, DAYS), (20, DAYS, range(0, WINDOWS, 3)), (30, range(4, WINDOWS), DAYS))


@dataclass(frozen=True)
class Case:
    crowd: str
    epsilon: float
    permanent: float | None
    devices: int
    every: int = 1
    lost: bool = False
    zero: int = 0  # the tick that stands for 0

    def part(self, kind: str) -> Cell:
        """As one of the two metrics."""
        return Cell(kind, self.epsilon, self.permanent, 1, "", 0.0, WINDOWS, self.every, self.devices)


CASES = [
    *(Case("both signs", epsilon, 2 * epsilon, 2000, zero=240) for epsilon in (1.0, 4.0)),
    *(Case(crowd, 1.0, 2.0, 2000) for crowd in CROWDS if crowd not in ("rare", "both signs")),
    *(Case(crowd, 4.0, 8.0, 300) for crowd in CROWDS if crowd != "both signs"),
    *(Case(crowd, 2.0, 4.0, 10_000, lost=True) for crowd in CROWDS if crowd != "both signs"),
    *(Case(crowd, 1.0, 2.0, 10_000, every=7) for crowd in ("steady", "all active")),
    Case("steady", 1.0, None, 2000),
    Case("all active", 1.0, None, 2000),
]


def draw(case: Case, rng: np.random.Generator) -> tuple[list[Ints], list[Ints]]:
    """Ones, shape (draws, D), and reports, shape (D,), of mean and share."""
    cells = [case.part("mean"), case.part("share")]
    ones = [np.zeros((DRAWS, WINDOWS), np.int64) for _ in cells]
    reports = [np.zeros(WINDOWS, np.int64) for _ in cells]
    for turn, (hundredth, *comes) in product(range(case.every), LOSING if case.lost else BOTH):
        # Who reports in one turn is another device than who reports in the next.
        seen = [[day for day in days if day % case.every == turn] for days in comes]
        devices = case.devices * hundredth // 100
        chances: dict[tuple[Path, Path], float] = {}
        for weight, values in CROWDS[case.crowd]:
            kept = [
                held(cells[0], tuple(ticks(case, values[day]) for day in seen[0])),
                held(cells[1], tuple(int(values[day] != OFF) for day in seen[1])),
            ]
            for (mean, p), (share, q) in product(kept[0].items(), kept[1].items()):
                chances[mean, share] = chances.get((mean, share), 0.0) + weight * p * q
        weights = np.array(list(chances.values()))
        drawn = rng.multinomial(devices, weights / weights.sum(), size=DRAWS)
        for i, days in enumerate(seen):
            bits = drawn @ np.array([way[i] for way in chances]).reshape(len(chances), len(days))
            flip = flips(cells[i])
            ones[i][:, days] += rng.binomial(bits, 1 - flip) + rng.binomial(devices - bits, flip)
            reports[i][days] += devices
    return ones, reports


def ticks(case: Case, value: int) -> int:
    return case.zero if value == OFF else value


def held(cell: Cell, values: Path) -> Mapping[Path, float]:
    """Chances of each way through the bits that windows share: permanent ones, or else what is true."""
    if mechanism(cell).encoder.memo:
        return ways(cell, values)
    top = mechanism(cell).encoder.size - 1
    assert {0, top} >= set(values)  # what lies between is drawn afresh
    return {tuple(value // top for value in values): 1.0}


def flips(cell: Cell) -> float:
    encoder = mechanism(cell).encoder
    return encoder.flip / SCALE if encoder.memo else float(encoder.law(0)[(1,)])


def truth(case: Case, days: Sequence[int] = DAYS) -> float:
    above = below = 0.0
    for weight, values in CROWDS[case.crowd]:
        above += weight * sum(ticks(case, values[day]) - case.zero for day in days)
        below += weight * sum(values[day] != OFF for day in days)
    return step(case) * above / below


def step(case: Case) -> float:
    return float(mechanism(case.part("mean")).truth(1))


def parts(
    case: Case, ones: Sequence[Ints], reports: Sequence[Ints], days: Sequence[int]
) -> list[tuple[Reals, Reals, Reals]]:
    """Low end, value and high end of both means, as the library makes them: each window with the smaller n."""
    fewest = np.minimum(*reports)[list(days)]
    found = []
    for i, kind in enumerate(("mean", "share")):
        one: Estimate = mechanism(case.part(kind)).estimate(Summary(1, np.array(0)))
        values = one.at_zero + (ones[i] / reports[i])[:, list(days)] * one.per_one
        kept = (values - one.crowd.zero) / one.crowd.scale
        turns = [day % case.every for day in days]
        mean = combine(kept, fewest, turns, noise=one.crowd.noise, slope=one.crowd.slope, level=LEVEL)
        lower = one.crowd.zero - (step(case) * case.zero if kind == "mean" else 0)
        low, value, high = (lower + one.crowd.scale * end for end in (mean.low, mean.value, mean.high))
        found.append((low, value, high))
    return found


def covered(low: Reals, high: Reals, target: float) -> float:
    return float(((low <= target) & (target <= high)).mean())


def independent(case: Case, ones: Sequence[Ints], reports: Sequence[Ints]) -> tuple[Reals, Reals]:
    """What somebody would get who takes windows for independent."""
    found = []
    for i, kind in enumerate(("mean", "share")):
        one = mechanism(case.part(kind)).estimate(Summary(1, np.array(0)))
        rate = ones[i] / reports[i]
        value = one.at_zero - (step(case) * case.zero if kind == "mean" else 0) + rate.mean(axis=1) * one.per_one
        off = Z * one.per_one * np.sqrt((rate * (1 - rate) / reports[i]).sum(axis=1)) / WINDOWS
        found.append((value - off, value, value + off))
    return over(*found)


def ratio(case: Case, days: Sequence[int]) -> tuple[Reals, Reals, Reals]:
    """Low end, value and high end of the ratio over these days."""
    mean, share = parts(case, *drawn(case), days)
    low, high = over(mean, share, opposed=case.zero > 0)
    return low, mean[1] / share[1], high


@cache
def drawn(case: Case) -> tuple[list[Ints], list[Ints]]:
    return draw(case, np.random.default_rng([20_261_207, CASES.index(case)]))


@pytest.mark.parametrize("case", CASES, ids=str)
def test_coverage(case: Case) -> None:
    low, value, high = ratio(case, DAYS)
    assert np.isfinite(low).mean() > 0.99  # it is not held because nothing is said
    assert covered(low, high, truth(case)) >= ALLOWED
    # What it would be blind to: an interval half as wide, and windows taken for independent.
    if case.crowd not in ("by turns", "weekends", "both signs"):  # there windows share far less than they could
        assert covered(value - (value - low) / 2, value + (high - value) / 2, truth(case)) < ALLOWED
    if case.every == 1:
        assert covered(*independent(case, *drawn(case)), truth(case)) < ALLOWED


def test_it_is_not_wide_without_need() -> None:
    """Where nothing is given away by the bounds: all active, steady, so that share and mean are uncorrelated."""
    tight = [case for case in CASES if case.crowd == "all active" and not case.lost and case.devices > 300]
    assert len(tight) == 3
    for case in tight:
        low, value, high = ratio(case, DAYS)
        assert np.median(high - low) < 1.05 * 2 * Z * value.std()


@pytest.mark.parametrize("case", CASES, ids=str)
def test_differences(case: Case) -> None:
    """Of the second week and the first; what is above the mean among the active tends to stay so in all crowds here."""
    (before, after), weeks = (ratio(case, days) for days in (DAYS[:7], DAYS[7:])), (DAYS[:7], DAYS[7:])
    low, high = apart(after, before)
    assert covered(low, high, truth(case, weeks[1]) - truth(case, weeks[0])) >= ALLOWED
