"""Statistical checks: they tie samplers to the exact law, with fixed seeds and a stated false-alarm rate.

Run with a seed of its own, a right mechanism fails each of them at most once in a million times.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from hubbub.encoders.base import Law, Payload
from hubbub.mechanisms.base import Mechanism
from hubbub.mechanisms.estimate import Ints
from hubbub.testing.mechanisms.cases import (
    Case,
    as_reports,
    bulk,
    hold,
    laws,
    looked_at,
    mean_under,
    simulated,
)
from hubbub.testing.words import GeneratorWords

SEED = 20_261_202
FALSE_ALARM = 1e-6
DRAWS = 150_000  # people for each value
OFF = 0.1  # relative error of epsilon that must be seen
LEAST, MOST = 0.5, 6.0  # epsilons at which so many draws can show it
LIVES = 1_000  # simulated summaries
CROWD = 40  # devices in each
FEW = 10.0  # cells that expect fewer are counted together

Cells = list[tuple[float, float]]  # seen, expected
Drawn = dict[Payload | None, int]


def check_draws_follow_the_law(case: Case) -> None:
    """Chi-square over all reports of all values; false alarm 1e-6."""
    mechanism = case.build()
    chance = _fit(mechanism, _draw(mechanism))
    hold(chance >= FALSE_ALARM, f"draws as far from the law as these have chance {chance:.1e}")


def check_draws_can_fail(case: Case) -> None:
    """The same draws do not pass as those of a tenth less or a tenth more epsilon: the check before sees both sides."""
    mechanism = case.build()
    drawn = _draw(mechanism)
    for factor in (1 - OFF, 1 + OFF):
        other = case.build(factor)
        side = (other.epsilon > mechanism.epsilon) == (factor > 1) and other.epsilon != mechanism.epsilon
        hold(side, f"epsilon times {factor} gives {other.epsilon}, beside {mechanism.epsilon}")
        chance = _fit(other, drawn)
        hold(chance < FALSE_ALARM, f"draws pass as those of epsilon times {factor}, with chance {chance:.1e}")


def check_simulate(case: Case) -> None:
    """Simulated summaries are distributed as those of encoding each device; false alarm 1e-6, shared by the parts.

    Each count by chi-square against its exact law where all devices hold one value; mean and variance of the estimate
    where they hold different ones.
    """
    mechanism = case.build()
    rng, values = np.random.default_rng(SEED), looked_at(mechanism.encoder)
    size = len(values)
    chosen = sorted({0, size // 2, size - 1})
    part = FALSE_ALARM / (len(chosen) + 2)
    found = laws(mechanism)
    for i in chosen:
        crowd = CROWD * np.eye(size, dtype=np.int64)[i]
        chance = _count_by_count(mechanism, found[i], _live(mechanism, crowd, rng))
        hold(chance >= part, f"simulated counts of value {values[i]} this far from their law have chance {chance:.1e}")
    _moments(mechanism, np.arange(1, size + 1), rng, part)


def _draw(mechanism: Mechanism) -> list[Drawn]:
    """How often each payload of the law is drawn, for each value; any other payload counts as None."""
    source = GeneratorWords(np.random.default_rng(SEED))
    payloads = list(laws(mechanism)[0])
    found: list[Drawn] = []
    for value in looked_at(mechanism.encoder):
        reports = bulk(mechanism, np.full(DRAWS, value), source)
        times = [int(np.count_nonzero((reports == payload).all(axis=1))) for payload in as_reports(payloads)]
        drawn: Drawn = dict(zip(payloads, times, strict=True))
        found.append(drawn | {None: DRAWS - sum(times)})
    return found


def _fit(mechanism: Mechanism, drawn: Sequence[Drawn]) -> float:
    """Chance of draws at least this far from the mechanism's laws, which may speak of other payloads."""
    cells: list[Cells] = []
    for times, law in zip(drawn, laws(mechanism), strict=True):
        expected: dict[Payload | None, float] = {payload: DRAWS * float(chance) for payload, chance in law.items()}
        cells.append([(times.get(key, 0), expected.get(key, 0)) for key in {**times, **expected}])
    return chi_square(cells)


def chi_square(tables: Sequence[Cells]) -> float:
    """Chance of deviations at least as large as in these tables together."""
    from scipy.stats import chi2

    statistic, freedom = 0.0, 0
    for table in tables:
        if any(seen and not expected for seen, expected in table):
            return 0.0
        cells: Cells = []
        for seen, expected in sorted(table, key=lambda cell: cell[1]):
            if cells and cells[-1][1] < FEW:
                seen, expected = seen + cells[-1][0], expected + cells.pop()[1]
            cells.append((seen, expected))
        statistic += sum((seen - expected) ** 2 / expected for seen, expected in cells)
        freedom += len(cells) - 1
    return float(chi2.sf(statistic, freedom))


def _live(mechanism: Mechanism, crowd: Ints, rng: np.random.Generator) -> NDArray[np.int64]:
    """Counts of simulated summaries, shape (LIVES, *counts_shape)."""
    summaries = [simulated(mechanism, crowd, rng) for _ in range(LIVES)]
    hold({summary.n for summary in summaries} == {int(crowd.sum())}, "a simulated summary has another n than devices")
    return np.array([summary.counts for summary in summaries])


def _count_by_count(mechanism: Mechanism, law: Law, counts: NDArray[np.int64]) -> float:
    """Chance of counts at least this far from the law, where CROWD devices follow it; the least over all counts."""
    alone = np.array([mechanism.summarise(as_reports([payload])).counts for payload in law]).reshape(len(law), -1)
    weights = np.array([float(chance) for chance in law.values()])
    worst = []
    for column, seen in zip(alone.T, counts.reshape(LIVES, -1).T, strict=True):
        low, step = int(column.min()), np.bincount(column - column.min(), weights)
        sums = np.ones(1)
        for _ in range(CROWD):
            sums = np.convolve(sums, step)
        hold(bool((seen >= CROWD * low).all()), "a simulated count is below what devices can give")
        times = np.bincount(seen - CROWD * low, minlength=len(sums))
        hold(len(times) == len(sums), "a simulated count is above what devices can give")
        worst.append(chi_square([list(zip(times.tolist(), (LIVES * sums).tolist(), strict=True))]))
    return min(1.0, min(worst) * len(worst))


def _moments(mechanism: Mechanism, crowd: Ints, rng: np.random.Generator, part: float) -> None:
    """Mean and variance of the estimate, where devices are given and only their reports are drawn."""
    from scipy.stats import chi2, norm

    n = int(crowd.sum())
    summaries = [simulated(mechanism, crowd, rng) for _ in range(LIVES)]
    values = np.array([mechanism.estimate(summary).value for summary in summaries])
    found = laws(mechanism)
    truth = sum(k * mechanism.truth(v) for v, k in zip(looked_at(mechanism.encoder), crowd, strict=True)) / n
    each = [mean_under(mechanism, law, 2) - mean_under(mechanism, law) ** 2 for law in found]
    variance = np.asarray(sum(k * one for k, one in zip(crowd, each, strict=True)) / n**2)
    part /= variance.size
    far = np.abs(values.mean(axis=0) - truth) / np.sqrt(variance / LIVES)
    hold(
        bool((far <= norm.isf(part / 2)).all()),
        f"the mean of simulated estimates is {far.max():.1f} errors off",
    )
    ratio = (LIVES - 1) * values.var(axis=0, ddof=1) / variance
    low, high = chi2.ppf(part / 2, LIVES - 1), chi2.isf(part / 2, LIVES - 1)
    hold(bool(((low <= ratio) & (ratio <= high)).all()), f"simulated variance / exact = {ratio / (LIVES - 1)}")
