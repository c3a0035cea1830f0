"""spec/prices.md: prices and linkage, with logarithms of fifty digits."""

from collections import Counter
from collections.abc import Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

from tests.vectors.reader.words import SCALE

Law = Mapping[tuple[int, ...], Fraction]
Chances = tuple[Fraction, Fraction, int]  # of the own answer, of another one, and how many answers there are


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


def choice(first: Chances, second: Chances, entries: int, windows: int) -> Any:
    """One permanent choice, each report of it told again."""
    (p1, q1, k), (p2, q2, _) = first, second
    p, q = p1 * p2 + (1 - p1) * q2, q1 * p2 + (1 - q1) * q2
    losses = {"report": float(log(p / q)), "steady": float(log(p1 / q1))}
    if not q2:
        return losses | {"change": None, "life": None}
    change, hidden = log(p2 / q2), -(log(k * p1) + (k - 1) * log(k * q1)) / k
    evenly = change * windows * (k - 1) / k + min(entries, windows) * hidden
    return losses | {"change": float(change), "life": float(min(windows * change, evenly))}


def choice_linkage(second: Chances) -> Decimal:
    """One permanent choice in two reports."""
    p, q, k = second
    if k == 2:
        return coin_linkage(q)
    nats = sum((times * exact(x) * log(k * x) for times, x in ((1, p), (k - 1, q)) if x), Decimal(0))
    return exact(p - q) * bits(nats)


def kept_bits(
    one: Decimal,
    steady: Decimal,
    sent: tuple[Fraction, Fraction],
    entries: tuple[Fraction, Fraction],
    sets: int,
    places: int,
    windows: int,
) -> Any:
    """Two permanent bits for each place, of a bit that is not set and of one that is, and what is sent for 0 and 1."""
    if sent[0] == 0 or sent[1] == 1:
        none = {"change": None, "life": None if windows else 0.0}
        return {"report": float(one), "steady": float(steady), **none}
    each = worst(*sent)
    odds = max(entries[1] / (1 - entries[1]), (1 - entries[1]) / entries[1])
    first, again = log(1 + odds), (exact(odds) + (-each).exp()).ln()
    change, used = each * min(2 * sets, places), sets * windows
    halves = sum((log(1 / (4 * p * (1 - p))) / 2 for p in entries), Decimal(0))
    whole_life = min(
        windows * change,
        places * (each * windows / 2 + halves),
        used * each + min(places, 2 * used) * again + min(places, used) * (first - again),
    )
    return {"report": float(one), "steady": float(steady), "change": float(change), "life": float(whole_life)}


def shared_bits(kept: Fraction, sent: tuple[Fraction, Fraction]) -> Decimal:
    """Mutual information of two reports of one permanent bit, which is 1 with chance `kept`."""
    once = [1 - sent[0] - kept * (sent[1] - sent[0]), sent[0] + kept * (sent[1] - sent[0])]
    total = Decimal(0)
    for first, second in ((0, 0), (0, 1), (1, 0), (1, 1)):
        joint = sum(
            (
                share * (t if first else 1 - t) * (t if second else 1 - t)
                for share, t in zip((1 - kept, kept), sent, strict=True)
            ),
            Fraction(0),
        )
        total += exact(joint) * bits(log(joint / (once[first] * once[second]))) if joint else 0
    return total


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
