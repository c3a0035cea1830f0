"""spec/prices.md: the four prices, with logarithms of fifty digits."""

from decimal import Decimal
from fractions import Fraction
from typing import Any

from tests.vectors.reader.mechanisms import device, exact, flipped
from tests.vectors.reader.words import SCALE


def worst(p: Fraction, q: Fraction) -> Decimal:
    """Worst log ratio of two coins with chances p < q."""
    return max(exact(q / p).ln(), exact((1 - p) / (1 - q)).ln())


def prices(windows: int, **which: Any) -> Any:
    e = device(**which)
    one = worst(flipped(e.ends[0], e.flip), flipped(e.ends[1], e.flip))
    if not e.memo:
        added = float(windows * one)
        return {"report": float(one), "steady": added, "change": float(one), "life": added}
    steady = worst(e.ends[0], e.ends[1])
    if not e.flip:
        return {"report": float(one), "steady": float(steady), "change": None, "life": None}
    change = exact(Fraction(SCALE - e.flip, e.flip)).ln()
    hidden = sorted((exact(1 / (4 * p * (1 - p))).ln() / 2 for p in e.entries), reverse=True)
    whole_life = min(windows * change, change * windows / 2 + sum(hidden[: min(len(e.entries), windows)]))
    return {"report": float(one), "steady": float(steady), "change": float(change), "life": float(whole_life)}
