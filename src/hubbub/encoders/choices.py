"""One of several answers, kept for ever and repeated with noise: two rounds of generalised randomised response.

Each round repeats what it is given with one chance and else gives one of the other answers, each as likely. Two rounds
one on top of the other are a round of the same kind. Proofs: spec/prices.md, "One permanent choice".
"""

import math
from fractions import Fraction
from functools import lru_cache

from hubbub.encoders.base import SCALE, Prices, linkage, ratio, up

CANCELLED = 2**-50  # of p - q: more than is lost where two logarithms nearly cancel


def stays(keep: int, answers: int) -> tuple[Fraction, Fraction]:
    """Exact chances to repeat one of so many answers, keep / SCALE, and to give a certain other one."""
    return Fraction(keep, SCALE), Fraction(SCALE - keep, SCALE * (answers - 1))


def stays_twice(keep: int, again: int, answers: int) -> tuple[Fraction, Fraction]:
    """Exact chances of the own answer, and of a certain other one, over both rounds."""
    (p1, q1), (p2, q2) = stays(keep, answers), stays(again, answers)
    return p1 * p2 + (1 - p1) * q2, q1 * p2 + (1 - q1) * q2


def kept_choice(keep: int, again: int, answers: int, entries: int, windows: int) -> Prices:
    """Prices of permanent answers that each report repeats with chance again / SCALE (spec/prices.md).

    Args:
        keep: Share of permanent answers that are the entry's own, out of SCALE.
        again: Share of reports that repeat the permanent answer, out of SCALE.
        answers: How many there are to choose from.
        entries: Permanent answers that values can lead to, each with an own answer of its own.
        windows: Reports in the metric's life.
    """
    report, steady, change, hidden = _losses(keep, again, answers)
    evenly = windows * change * (1 - 1 / answers) + min(entries, windows) * hidden
    life = min(windows * change, evenly) if windows else 0.0
    return Prices(up(report), up(steady), up(change), up(life))


@lru_cache(maxsize=1024)
def _losses(keep: int, again: int, answers: int) -> tuple[float, float, float, float]:
    """Losses of one report, for ever and by one change; how far an even choice diverges from the permanent answer."""
    rounds = stays_twice(keep, again, answers), stays(keep, answers), stays(again, answers)
    report, steady, change = (ratio(p, q) for p, q in rounds)
    p, q = rounds[1]
    even = -(_log(answers * p) + (answers - 1) * _log(answers * q)) / answers
    return report, steady, change, even + float(p - q) * CANCELLED


def kept_linkage(again: int, answers: int) -> float:
    """Most bits that two reports of one permanent answer share (spec/prices.md, "Linkage").

    Args:
        again: Share of reports that repeat it, out of SCALE.
        answers: How many there are to choose from.
    """
    p, q = stays(again, answers)
    if answers == 2:
        return linkage(q)
    nats = float(p) * _log(answers * p) + ((answers - 1) * float(q) * _log(answers * q) if q else 0.0)
    return float(p - q) * (nats + float(p - q) * CANCELLED) / math.log(2) * (1 + 1e-12)


def _log(number: Fraction) -> float:
    """The logarithm, to a few ulp also near 1."""
    return math.log1p(float(number - 1)) if abs(number - 1) < 0.5 else math.log(number)
