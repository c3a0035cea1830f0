"""What N devices can tell: the table of both READMEs, from exact variances.

    python docs/scripts/worth.py en      (or zh) prints it as Markdown

With n reports of variance v each, the half-width of a 95 % interval is z √(v / n), z = 1.96.

- Yes/no and mean: `variance` of the mechanisms that devices run, at the truth that is worst.
- Shares of one of k: the mechanism that is chosen of those that draw everything afresh, devices spread evenly.
- Words: the smallest share that stands out, as often as not, among so many candidates if a word that nobody uses may do
  so in one window out of twenty, for all of them together (Bonferroni): RAPPOR with fresh noise, 1024 bits, one hash.
"""

import argparse
import math
from collections.abc import Callable
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from hubbub.mechanisms.choosing import choose
from hubbub.mechanisms.one_bit_mean import OneBitMean
from hubbub.mechanisms.randomized_response import RandomizedResponse
from hubbub.mechanisms.rappor import Rappor

EPSILON, PERMANENT = 1.0, 2.0
DEVICES = (700, 4_000, 50_000, 2_000_000)
MINUTES = 480  # upper end of the range of the mean, as `hubbub init` writes it
CANDIDATES = 100_000
BITS = 1024  # of a filter
FALSE_ALARM = 0.05  # for all candidates together
Z = NormalDist().inv_cdf(0.975)

Row = tuple[Callable[[int], float], int, str]  # half-width or floor by devices; shown units in one; how it is written


def yes_no(n: int, truth: float = 0.5) -> float:
    """Half-width of a share, 0 to 1."""
    mechanism = RandomizedResponse.from_epsilon(EPSILON, permanent_epsilon=PERMANENT)
    return Z * math.sqrt(float(mechanism.variance(truth, n)))


def mean(n: int, truth: float | None = None, upper: int = MINUTES) -> float:
    """Half-width of a mean of 0 to `upper`, in its unit; the worst truth by default."""
    mechanism = OneBitMean.from_epsilon(EPSILON, permanent_epsilon=PERMANENT, upper=upper)
    return Z * math.sqrt(float(mechanism.variance(upper / 2 if truth is None else truth, n)))


def category(k: int) -> Callable[[int], float]:
    """Half-width of the share of one of k, each with the share 1 / k."""
    mechanism = choose("choice", EPSILON, categories=k).mechanism
    variance = float(mechanism.variance(np.full(k, 1 / k), 1)[0])
    return lambda n: Z * math.sqrt(variance / n)


def floor(n: int) -> float:
    """Smallest share at which a word stands out among the candidates, with chance one half."""
    return Rappor.from_epsilon(EPSILON, bits=BITS).detection_floor(n, CANDIDATES, 1 - FALSE_ALARM)


class Text(NamedTuple):
    """The words of one language; braces stand for a number."""

    head: str
    devices: tuple[str, ...]
    points: str
    minutes: str
    least: str
    rows: tuple[str, ...]


TEXT = {
    "en": Text(
        "95 % interval, one window, ε = 1",
        ("700 devices", "4 000", "50 000", "2 million"),
        "± {} points",
        "± {} min",
        "from {} %",
        (
            "**yes/no**: the share of yes",
            f"**mean** of 0 to {MINUTES} minutes",
            "**20 buckets**: the share of each",
            "**100 categories**: the share of each",
            "**words** found among 100 000",
        ),
    ),
    "zh": Text(
        "95 % 置信区间，单个窗口，ε = 1",
        ("700 台设备", "4 000 台", "5 万台", "200 万台"),
        "± {} 个百分点",
        "± {} 分钟",
        "占比 ≥ {} %",
        (
            "**是非题**：回答“是”的占比",
            f"**均值**：0 到 {MINUTES} 分钟",
            "**20 个桶的直方图**：每个桶的占比",
            "**100 个类别**：每个类别的占比",
            "**词语**：从 10 万个候选词中识别出来",
        ),
    ),
}


def table(language: str) -> str:
    """The table in Markdown."""
    text = TEXT[language]
    rows: list[Row] = [
        (yes_no, 100, text.points),
        (mean, 1, text.minutes),
        (category(20), 100, text.points),
        (category(100), 100, text.points),
        (floor, 100, text.least),
    ]
    lines = [_line(text.head, *text.devices), "|---" * (1 + len(DEVICES)) + "|"]
    for name, (compute, unit, form) in zip(text.rows, rows, strict=True):
        lines.append(_line(name, *(form.format(figures(unit * compute(n))) for n in DEVICES)))
    return "\n".join(lines)


def figures(number: float) -> str:
    """A number with two significant digits."""
    digits = 1 - math.floor(math.log10(float(f"{number:.1e}")))
    return f"{round(number, digits):.{max(0, digits)}f}"


def _line(*cells: str) -> str:
    return "| " + " | ".join(cells) + " |"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="What N devices can tell, as Markdown.")
    parser.add_argument("language", choices=sorted(TEXT))
    print(table(parser.parse_args().language))
