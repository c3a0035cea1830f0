"""Whether the demonstration's intervals hold the clipped truth as often as they say: 40 runs of each of its metrics.

A run here is one without HTTP: every device of the demonstration's tables gets a secret of its own, and what it sends
of each day comes out of the encoder that a client runs, from its permanent words and fresh ones. The reports of a day
are summed up and estimated by the code that answers behind a collector. Secrets and words follow from a seed, so that
a verdict can be had again.

Required: of the 14 days of 40 runs, no fewer intervals hold the truth than an interval of exactly 95 % would fall
below in one of 1 000 repetitions (FALSE_ALARM, for each metric). Days of a run are not independent, since devices
repeat their permanent answers: two days have at most the correlation se_shared² / se², and the limit is drawn from
normal errors with just that, which is more than aircraft that do not fly every day have. Intervals half as wide must
fail.
"""

import argparse
import json
import random
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist, fmean

import numpy as np

from hubbub.definitions import build
from hubbub.lock import Metric
from hubbub.mechanisms import Estimate, of_metric
from hubbub.prf import SECRET_BYTES, device_prf
from hubbub.replay import LEVEL, Fleet, flights
from hubbub.replay.outcomes import truths

RUNS, QUICK_RUNS = 40, 12
FALSE_ALARM = 0.001
_REPEATS = 20_000


@dataclass(frozen=True)
class Coverage:
    """One metric.

    Attributes:
        intervals: Days of all runs.
        holding: Of them, those that hold the clipped truth.
        narrow: The same of intervals half as wide.
        least: What `holding` must not be below.
    """

    metric: str
    intervals: int
    holding: int
    narrow: int
    least: int

    @property
    def passed(self) -> bool:
        return self.narrow < self.least <= self.holding


def measure(names: Sequence[str], runs: int, seed: int = 1) -> Iterator[Coverage]:
    """Coverage of these metrics of the demonstration."""
    lock = build(flights.registry(), None)
    for fleet in flights.fleets():
        for name in fleet.tables:
            if name in names:
                lot = random.Random(f"{seed} {name}")
                metric = lock.metrics[name]
                estimates = [_run(fleet, metric, lock.collection, lot) for _ in range(runs)]
                yield _coverage(fleet, metric, estimates)


def _run(fleet: Fleet, metric: Metric, collection: str, lot: random.Random) -> dict[int, Estimate]:
    """Estimates of every day from one draw of all secrets and all noise."""
    encoder, mechanism, hash_ = metric.encoder, of_metric(metric), metric.hash
    table = fleet.tables[metric.name]
    days = list(table.windows)
    rows: dict[str, list[tuple[int, int]]] = {}
    for window, row in table.windows.items():
        for device, value in zip(row, mechanism.index(np.array(list(row.values()))), strict=True):
            rows.setdefault(device, []).append((window, int(value)))
    sent: dict[int, list[tuple[int, ...]]] = {day: [] for day in days}

    def words(count: int) -> list[int]:
        return [lot.getrandbits(32) for _ in range(count)]

    for values in rows.values():
        for _ in range(fleet.crowd):
            prf = device_prf(lot.randbytes(SECRET_BYTES), collection, metric.name, hash_)
            for day, value in values:
                sent[day].append(encoder.report(encoder.permanent(value, prf), words))
    return {day: mechanism.estimate(mechanism.summarise(np.array(reports))) for day, reports in sent.items()}


def _coverage(fleet: Fleet, metric: Metric, estimates: Sequence[Mapping[int, Estimate]]) -> Coverage:
    true = {truth.window: truth.clipped for truth in truths(fleet.tables[metric.name], metric)}
    holding = narrow = 0
    for run in estimates:
        for day, estimate in run.items():
            low, high = map(float, estimate.interval(LEVEL))
            holding += low <= true[day] <= high
            middle, quarter = (low + high) / 2, (high - low) / 4
            narrow += middle - quarter <= true[day] <= middle + quarter
    shared = fmean(float(e.se_shared) ** 2 / float(e.se) ** 2 for run in estimates for e in run.values())
    return Coverage(metric.name, len(estimates) * len(true), holding, narrow, least(len(estimates), len(true), shared))


def least(runs: int, days: int, correlation: float) -> int:
    """How many intervals of exactly `LEVEL` hold the truth with a chance of at least 1 - FALSE_ALARM."""
    rng = np.random.default_rng(7)
    reach = NormalDist().inv_cdf(0.5 + LEVEL / 2)
    counts = np.zeros(_REPEATS, np.int64)
    for _ in range(runs):
        common = rng.standard_normal((_REPEATS, 1)) * correlation**0.5
        error = common + rng.standard_normal((_REPEATS, days)) * (1 - correlation) ** 0.5
        counts += (np.abs(error) <= reach).sum(axis=1)
    return int(np.sort(counts)[int(FALSE_ALARM * _REPEATS)])


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.demo_coverage", description="Coverage of the demo.")
    parser.add_argument("--quick", action="store_true", help=f"{QUICK_RUNS} runs, without the pretend crowd")
    parser.add_argument("--json", action="store_true", help="only the last line, the key figures as JSON")
    options = parser.parse_args(argv)
    names = [flights.LATE, flights.MINUTES, flights.DELAY]
    runs = QUICK_RUNS if options.quick else RUNS
    started, found = time.monotonic(), []
    for one in measure(names if options.quick else [*names, flights.CROWD], runs):
        found.append(one)
        if not options.json:
            share, limit = one.holding / one.intervals, one.least / one.intervals
            narrow = one.narrow / one.intervals
            print(
                f"{one.metric:22} {one.holding} of {one.intervals} hold the clipped truth: {share:.1%}, at least"
                f" {limit:.1%} required; half as wide {narrow:.1%}; {time.monotonic() - started:.0f} s"
            )
    result = {
        "benchmark": "demo_coverage",
        "runs": runs,
        "false_alarm": FALSE_ALARM,
        "share": {one.metric: round(one.holding / one.intervals, 4) for one in found},
        "least": {one.metric: round(one.least / one.intervals, 4) for one in found},
        "share_half_as_wide": {one.metric: round(one.narrow / one.intervals, 4) for one in found},
        "pass": all(one.passed for one in found),
    }
    print(json.dumps(result))
    return 0 if result["pass"] else 1


if __name__ == "__main__":
    sys.exit(main())
