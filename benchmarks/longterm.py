"""What a quarter of daily reports tells by scheme and strategy, and what a year of it costs.

The crowd is that of 5 000 students of the Open University (OULAD, Kuzilek, Hlosta, Zdrahal 2017, CC BY 4.0) and the
84 days of their clicks; who has left clicks 0 times. Fleets of as many devices are drawn from it, each with its
permanent answers, and report every day, in turns of 5 and of 28 days, or one of six metrics a day. Beside the errors of
a day and of a month (28 days, by the rules of `hubbub.estimates.combining`): how often the interval holds the crowd's
own mean, and how wide it is beside the one that knows the exact variance, permanent answers, turns and real clicks
included.

Nothing is approximated but this: where the noise of a report hangs on the share itself, that of a turn's days is taken
at their mean.

Required at level 0.95: at least 0.945 in every cell; with the fewer draws of `--quick`, that less four standard errors
of the simulation. Days are judged by the mean over all days.
"""

import argparse
import json
import math
import os
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from statistics import NormalDist
from typing import Any

import numpy as np

from benchmarks.support import page
from benchmarks.support.histories import Ints, Reals
from benchmarks.support.months import Counted, counted
from benchmarks.support.turns import STRATEGIES, Strategy
from hubbub.encoders.base import Prices
from hubbub.estimates.combining import combine
from hubbub.mechanisms import Mechanism, registry
from hubbub.privacy import nats

TABLE = Path(__file__).parents[2] / "shared" / "data" / "oulad_clicks_daily.parquet"
COLUMNS = ("clicks", "pages", "c_homepage", "c_oucontent", "c_forumng", "c_quiz")  # six metrics that take turns
DEVICES, DAYS, MONTH, YEAR = 5_000, 84, 28, 365
MOST, BUCKETS = 40, 8
EPSILON, PERMANENT = 1.0, 2.0
LEVEL, LEAST, DRAWS, FEW = 0.95, 0.945, 100_000, 1_000
Z = NormalDist().inv_cdf(0.5 + LEVEL / 2)
SEED = 20_261_208
HISTOGRAM: dict[str, Any] = {"lower": 0, "upper": MOST, "buckets": BUCKETS}
SCHEMES: dict[str, tuple[str, dict[str, Any]]] = {
    "mean: one_bit_mean": ("one_bit_mean", {"lower": 0, "upper": MOST}),
    "share: randomized_response": ("randomized_response", {}),
    "histogram: grr": ("grr", HISTOGRAM),
    "histogram: oue": ("oue", HISTOGRAM),
    "histogram: sue": ("sue", HISTOGRAM),
    "histogram: olh_pool": ("olh_pool", HISTOGRAM),
    "histogram: d_bit_flip d=4": ("d_bit_flip", HISTOGRAM | {"d": BUCKETS // 2}),
}


@dataclass(frozen=True)
class Span:
    """Estimates of days, or of months, of one number.

    Attributes:
        squared: Mean squared error.
        exact: What that must be.
        covered: Share of the intervals that hold the truth; the least of months, the mean of days.
        width: Of the intervals, out of that of those which know the exact variance.
    """

    squared: float
    exact: float
    covered: float
    width: float


@dataclass(frozen=True)
class Row:
    """A scheme with a strategy: over days or months, and over the buckets."""

    scheme: str
    memo: bool
    strategy: str
    day: Span
    month: Span
    prices: Prices

    @property
    def name(self) -> str:
        return f"{self.scheme} {'memo' if self.memo else 'fresh'}, {self.strategy}"


@cache
def clicks(column: str) -> Ints:
    """(devices, days) of what they clicked."""
    import pandas as pd

    table = pd.read_parquet(TABLE, columns=["device", "day", column])
    found = np.zeros((DEVICES, DAYS), np.int64)
    found[table["device"].rank(method="dense").astype(int) - 1, table["day"]] = table[column]
    return found


def mechanism(scheme: str, memo: bool) -> Mechanism:
    name, keys = SCHEMES[scheme]
    return registry[name].from_epsilon(EPSILON, permanent_epsilon=PERMANENT if memo else None, **keys)


def crowd(scheme: str, held: Ints) -> tuple[Ints, Reals]:
    """Values of the crowd, (devices, days), and the truth of each day, (days, numbers)."""
    if scheme.startswith("share"):
        values = (held > 0).astype(np.int64)
    elif scheme.startswith("mean"):
        values = np.minimum(held, MOST)
    else:
        values = np.minimum(held * BUCKETS // MOST, BUCKETS - 1)
        return values, (values[:, :, None] == np.arange(BUCKETS)).mean(axis=0)
    return values, values.mean(axis=0)[:, None]


def sizes(every: int) -> list[int]:
    """Devices of each turn."""
    return [DEVICES // every + (turn < DEVICES % every) for turn in range(every)]


def days(told: Counted, values: Ints, truth: Reals, every: int, draws: int, rng: np.random.Generator) -> Span:
    """Every day by itself."""
    squared, exact, covered, width = [], [], [], []
    for day in range(DAYS):
        n, law = sizes(every)[day % every], told.law(values[:, [day]])
        value, counts = told.draw(law, n, -(-draws // DAYS), rng)
        ones = counts if told.estimate.ones is not None else None
        low, high = replace(told.estimate, value=value, n=n, ones=ones).interval(LEVEL)
        inside = (low <= truth[day]) & (truth[day] <= high)
        variance = told.variance(law, n)
        squared.append(float(((value - truth[day]) ** 2).mean()))
        exact.append(variance)
        covered.append(float(inside.mean()))
        width.append(float((high - low).mean()) / (2 * Z * math.sqrt(variance)))
    return Span(*(float(np.mean(each)) for each in (squared, exact, covered, width)))


def months(told: Counted, values: Ints, truth: Reals, every: int, draws: int, rng: np.random.Generator) -> Span:
    """Every four weeks together."""
    crowd, spans = told.estimate.crowd, []
    for first in range(0, DAYS, MONTH):
        turns = np.arange(first, first + MONTH) % every
        estimates, variance, reports = np.empty((draws, MONTH)), 0.0, np.empty(MONTH)
        for turn in range(every):
            mine, n = np.flatnonzero(turns == turn), sizes(every)[turn]
            law = told.law(values[:, first + mine])
            estimates[:, mine] = told.draw(law, n, draws, rng)[0][:, None]
            variance += told.variance(law, n) * (len(mine) / MONTH) ** 2
            reports[mine] = n
        kept = (estimates - crowd.zero) / crowd.scale
        mean = combine(kept, reports, turns, noise=crowd.noise, slope=crowd.slope, level=LEVEL)
        value, low, high = (crowd.zero + crowd.scale * end for end in (mean.value, mean.low, mean.high))
        target = truth[first : first + MONTH].mean()
        squared, inside = ((value - target) ** 2).mean(), ((low <= target) & (target <= high)).mean()
        width = float((high - low).mean()) / (2 * Z * math.sqrt(variance))
        spans.append(Span(float(squared), variance, float(inside), width))
    return together(spans)


def together(spans: Sequence[Span]) -> Span:
    """Errors and widths on average, and the least coverage."""
    return Span(
        float(np.mean([one.squared for one in spans])),
        float(np.mean([one.exact for one in spans])),
        min(one.covered for one in spans),
        float(np.mean([one.width for one in spans])),
    )


def measure(scheme: str, memo: bool, strategy: Strategy, draws: int) -> Row:
    """Metrics that take turns: errors and widths are those of the first, coverage is the least of all."""
    held = mechanism(scheme, memo)
    rng = np.random.default_rng([SEED, *f"{scheme} {memo} {strategy.name}".encode()])
    day, month = [], []
    for column in COLUMNS[: strategy.members]:
        values, truth = crowd(scheme, clicks(column))
        numbers = range(truth.shape[1]) if scheme.startswith("histogram") else [None]
        found: tuple[list[Span], list[Span]] = [], []
        for place, number in enumerate(numbers):
            told = counted(held, number)
            for spans, judge in zip(found, (days, months), strict=True):
                spans.append(judge(told, values, truth[:, place], strategy.every, draws, rng))
        day.append(together(found[0]))
        month.append(together(found[1]))
    first = [replace(spans[0], covered=min(one.covered for one in spans)) for spans in (day, month)]
    return Row(scheme, memo, strategy.name, first[0], first[1], strategy.charged(held.encoder, YEAR))


def table(rows: Sequence[Row]) -> str:
    head = (
        "scheme, strategy",
        *(f"{span}: {what}" for span in ("day", "month") for what in ("error", "covered", "width")),
    )
    lines = []
    for row in rows:
        unit = (1.0, "") if row.scheme.startswith("mean") else (100.0, " pt")
        cells = [row.name]
        for span in (row.day, row.month):
            cells += [
                f"{unit[0] * math.sqrt(span.squared):.3g}{unit[1]}",
                f"{100 * span.covered:.2f} %",
                f"{span.width:.2f}",
            ]
        lines.append([*cells, *map(nats, row.prices)])
    return page.table((*head, "report", "steady", "change", "year"), lines)


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.longterm", description="A quarter of daily reports.")
    parser.add_argument("--quick", action="store_true", help="fewer draws")
    parser.add_argument("--json", action="store_true", help="only the last line, the key figures as JSON")
    parser.add_argument("--write", action="store_true", help="put the table into docs/reference/benchmarks.md")
    options = parser.parse_args(argv)
    if not TABLE.is_file():
        print(f"skipped: {TABLE.name} is not kept beside this checkout", file=sys.stderr)
        print(json.dumps({"benchmark": "longterm", "skipped": True}))
        return 0
    about, start = page.machine(), time.monotonic()
    draws = FEW if options.quick else DRAWS
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        jobs = [pool.submit(measure, *cell, draws) for cell in cells()]
        rows = []
        for done, job in enumerate(jobs, 1):
            rows.append(job.result())
            if done % 8 == 0:
                print(f"{done} of {len(jobs)} rows, {time.monotonic() - start:.0f} s", file=sys.stderr)
    text = (
        f"{about}. {DEVICES} devices, {DAYS} days, ε = {EPSILON:g}, permanent ε = {PERMANENT:g}, {draws} draws of "
        f"each month, and as many of all days. Mean of 0 to {MOST} clicks, share of devices with any, histogram of "
        f"{BUCKETS} buckets. Error: root mean square, in clicks or in points of a share (pt), of all buckets. Covered: "
        "the least of months, buckets and metrics; of days on average. Width: of the interval, out of that which knows "
        "the exact variance. Prices of a year, nats; of the rotation those of all six metrics together."
        f"\n\n{table(rows)}"
    )
    if options.write:
        page.write("longterm", text)
    if not options.json:
        print(text)
    last = figures(rows, draws, about) | {"seconds": round(time.monotonic() - start)}
    print(json.dumps(last, ensure_ascii=False))
    return 0 if last["pass"] else 1


def cells() -> Iterator[tuple[str, bool, Strategy]]:
    for scheme in SCHEMES:
        for memo in (True, False):
            for strategy in STRATEGIES:
                yield scheme, memo, strategy


def figures(rows: Sequence[Row], draws: int, about: str) -> dict[str, Any]:
    allowance = 4 * math.sqrt(LEVEL * (1 - LEVEL) / draws) if draws < DRAWS else 0.0
    spans = [(f"{row.name}, {which}", span) for row in rows for which, span in (("day", row.day), ("month", row.month))]
    short = [f"{name}: {100 * span.covered:.2f} %" for name, span in spans if span.covered < LEAST - allowance]
    name, worst = min(spans, key=lambda pair: pair[1].covered)
    off = [math.sqrt(span.squared / span.exact) for _, span in spans]
    return {
        "benchmark": "longterm",
        "about": about,
        "draws": draws,
        "rows": len(rows),
        "min_coverage": round(worst.covered, 4),
        "min_coverage_at": name,
        "error_over_exact": [round(min(off), 4), round(max(off), 4)],
        "width_over_exact": [
            round(min(span.width for _, span in spans), 3),
            round(max(span.width for _, span in spans), 3),
        ],
        "memo_over_fresh_daily": {scheme: ratio for scheme in SCHEMES if (ratio := _memo_over_fresh(rows, scheme))},
        "short": short,
        "pass": not short,
    }


def _memo_over_fresh(rows: Sequence[Row], scheme: str) -> list[float]:
    """Exact errors of a day and a month where devices report daily."""
    memo, fresh = (
        [row for row in rows if (row.scheme, row.memo, row.strategy) == (scheme, kept, STRATEGIES[0].name)]
        for kept in (True, False)
    )
    return [
        round(math.sqrt(a.exact / b.exact), 3)
        for one, other in zip(memo, fresh, strict=True)
        for a, b in ((one.day, other.day), (one.month, other.month))
    ]


if __name__ == "__main__":
    sys.exit(main())
