"""What is found of a language: words of real frequencies through each mechanism, beside its exact detection floor.

Each device has one word, drawn by its frequency in an English dictionary of 82 834 words; the most frequent of them are
the candidates. Summaries are drawn (`simulate`), which follow the law of encoding each device. Before anything is drawn
the exact floor says how many words can be found as often as not; recall is of these, precision is the share of words
shown that are no accident: whose true share is above half of the floor.
"""

import argparse
import csv
import gzip
import json
import resource
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from hubbub.mechanisms.base import default_permanent
from hubbub.mechanisms.cms import Cms
from hubbub.mechanisms.estimate import Reals
from hubbub.mechanisms.hcms import Hcms
from hubbub.mechanisms.rappor import Rappor
from hubbub.mechanisms.words import Words, values_of

TABLE = Path(__file__).parents[2] / "shared" / "data" / "words_en_counts.csv.gz"
EPSILON = 1.0
REPORTS = 1_000_000
CANDIDATES = 10_000
MANY = 100_000  # candidates of the largest run: words of the table, and others that nobody has
RUNS = 10
LEVEL = 0.95


@dataclass(frozen=True)
class Found:
    """What one mechanism found, on average over runs.

    Attributes:
        name: Of the mechanism.
        candidates: Words that were looked for.
        floor: Share that is found as often as not, exact.
        above: Candidates whose true share reaches it.
        shown: Words in the table.
        recall: Share of those above the floor that are shown.
        precision: Share of those shown that are no accident.
        far: Largest distance of an estimate from the truth, in its standard errors.
        unallocated: Share of the devices that has none of the words shown.
        simulated: Seconds for drawing a summary.
        decoded: Seconds for decoding it.
    """

    name: str
    candidates: int
    floor: float
    above: int
    shown: float
    recall: float
    precision: float
    far: float
    unallocated: float
    simulated: float
    decoded: float


def dictionary() -> tuple[list[str], Reals]:
    """Words, the most frequent first, and their shares."""
    with gzip.open(TABLE, "rt", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    counts = np.array([int(row["count"]) for row in rows], float)
    return [row["word"] for row in rows], counts / counts.sum()


def mechanisms() -> list[Words]:
    return [
        Rappor.from_epsilon(EPSILON, permanent_epsilon=default_permanent(EPSILON)),
        Cms.from_epsilon(EPSILON),
        Hcms.from_epsilon(EPSILON),
    ]


def measure(
    mechanism: Words, words: Sequence[str], shares: Reals, candidates: Sequence[str], n: int, runs: int
) -> Found:
    true = dict(zip(words, shares.tolist(), strict=True))
    floor = mechanism.detection_floor(n, len(candidates), LEVEL)
    above = {word for word in candidates if true.get(word, 0) >= floor}
    values, rng, figures = values_of(words), np.random.default_rng(20_261_206), []
    for run in range(runs):
        start = time.monotonic()
        summary = mechanism.simulate(rng.multinomial(n, shares), rng, values)
        drawn = time.monotonic()
        table = mechanism.decode(summary, candidates, level=LEVEL)
        ended = time.monotonic()
        real = [true.get(word, 0) for word in table.words]
        right = sum(share >= floor / 2 for share in real)
        far = np.abs((table.share - real) / table.se).max(initial=0)
        shown = len(table.words)
        recall = len(above & set(table.words)) / max(1, len(above))
        figures.append([shown, recall, right / max(1, shown), far, table.unallocated, drawn - start, ended - drawn])
        print(f"{mechanism.name}: run {run + 1} of {runs}", file=sys.stderr)
    average = np.mean(figures, axis=0).tolist()
    average[3] = float(np.max(figures, axis=0)[3])
    return Found(mechanism.name, len(candidates), floor, len(above), *average)


def lines(found: Sequence[Found], n: int) -> str:
    head = (
        f"{n} devices, epsilon {EPSILON:g}, level {LEVEL:g} (Bonferroni)\n\n"
        f"{'':<8}{'candidates':>11}{'floor':>9}{'above it':>10}{'shown':>8}{'recall':>9}{'precision':>11}"
        f"{'worst z':>9}{'other':>8}{'simulate':>10}{'decode':>9}"
    )
    body = (
        f"{one.name:<8}{one.candidates:>11}{f'{100 * one.floor:.3f} %':>9}{one.above:>10}{one.shown:>8.1f}"
        f"{f'{100 * one.recall:.1f} %':>9}{f'{100 * one.precision:.1f} %':>11}{one.far:>9.2f}"
        f"{f'{100 * one.unallocated:.1f} %':>8}{f'{one.simulated:.2f} s':>10}{f'{one.decoded:.2f} s':>9}"
        for one in found
    )
    return "\n".join([head, *body])


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.words", description="Words found, beside the floor.")
    parser.add_argument("--quick", action="store_true", help="three runs, and no larger list")
    parser.add_argument("--json", action="store_true", help="only the last line, the key figures as JSON")
    options = parser.parse_args(argv)
    if not TABLE.is_file():
        print(f"skipped: {TABLE.name} is not kept beside this checkout", file=sys.stderr)
        print(json.dumps({"benchmark": "words", "skipped": True}))
        return 0
    words, shares = dictionary()
    runs = 3 if options.quick else RUNS
    found = [measure(each, words, shares, words[:CANDIDATES], REPORTS, runs) for each in mechanisms()]
    if not options.quick:
        many = [*words, *(f"nobody's {i}" for i in range(MANY - len(words)))]
        found += [measure(each, words, shares, many, REPORTS, 1) for each in mechanisms()]
    result = {
        "benchmark": "words",
        "reports": REPORTS,
        "epsilon": EPSILON,
        "peak_memory_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
        **{
            f"{one.name}_{one.candidates}": {
                "floor": round(one.floor, 6),
                "above": one.above,
                "recall": round(one.recall, 4),
                "precision": round(one.precision, 4),
                "decode_s": round(one.decoded, 3),
            }
            for one in found
        },
    }
    if not options.json:
        print(lines(found, REPORTS), end="\n\n")
    print(json.dumps(result))
    return 0


if __name__ == "__main__":
    sys.exit(main())
