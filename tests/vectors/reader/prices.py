"""spec/prices.md: prices and linkage, with logarithms of fifty digits."""

from collections import Counter
from collections.abc import Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

from tests.vectors.reader.words import SCALE

Law = Mapping[tuple[int, ...], Fraction]


def exact(number: Fraction) -> Decimal:
    return Decimal(number.numerator) / Decimal(number.denominator)


def log(number: Fraction) -> Decimal:
    return exact(number).ln()


def bits(nats: Decimal) -> Decimal:
    return nats / Decimal(2).ln()


def worst(p: Fraction, q: Fraction) -> Decimal:
    """Worst log ratio of two coins with chances p < q."""
    return max(log(q / p), log((1 - p) / (1 - q)))


def fresh(one: Decimal, windows: int) -> Any:
    """Everything drawn afresh."""
    added = float(windows * one)
    return {"report": float(one), "steady": added, "change": float(one), "life": added}


def kept(one: Decimal, steady: Decimal, flip: int, entries: Sequence[Fraction], windows: int) -> Any:
    """One permanent bit, flipped each time."""
    if not flip:
        return {"report": float(one), "steady": float(steady), "change": None, "life": None}
    change = log(Fraction(SCALE - flip, flip))
    hidden = sorted((log(1 / (4 * p * (1 - p))) / 2 for p in entries), reverse=True)
    whole_life = min(windows * change, change * windows / 2 + sum(hidden[: min(len(entries), windows)]))
    return {"report": float(one), "steady": float(steady), "change": float(change), "life": float(whole_life)}


def coin_linkage(crossing: Fraction) -> Decimal:
    """One hidden bit in two reports, each of which flips it with this chance."""
    differ = 2 * crossing * (1 - crossing)
    return 1 + sum((exact(p) * bits(log(p)) for p in (differ, 1 - differ) if p), Decimal(0))


def fresh_linkage(size: int, distance: Fraction, nats: Decimal) -> Decimal:
    """Distance and divergence of two values' laws, and never more than the value itself."""
    return min(bits(Decimal(size).ln()), bits(exact(distance) * nats))


def apart(one: Law, other: Law) -> tuple[Decimal, Fraction, Decimal]:
    """Worst log ratio, total variation distance and Kullback-Leibler divergence of two laws."""
    pairs = Counter((p, other[payload]) for payload, p in one.items())
    distance = sum((times * abs(p - q) for (p, q), times in pairs.items()), Fraction(0)) / 2
    nats = sum((times * exact(p) * log(p / q) for (p, q), times in pairs.items()), Decimal(0))
    return max(abs(log(p / q)) for p, q in pairs), distance, nats
