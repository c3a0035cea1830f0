"""Losses in words, for sentences; what even odds can become is `hubbub.client.odds`, which devices show too.

Nothing here is ever rounded down.
"""

import math
from decimal import ROUND_CEILING, Decimal

from hubbub.client.odds import CERTAIN, percent, posterior

__all__ = ["CERTAIN", "bits", "in_words", "nats", "percent", "posterior"]


def in_words(epsilon: float) -> str:
    """A loss inside a sentence: `from even odds to 73.2 %`, `from even odds to practical certainty`, `no bound`."""
    if math.isinf(epsilon):
        return "no bound"
    return "from even odds to " + ("practical certainty" if epsilon > CERTAIN else percent(epsilon))


def nats(epsilon: float) -> str:
    """A loss as printed: rounded up to three decimals, `1.409`; `no bound` where there is none."""
    return "no bound" if math.isinf(epsilon) else str(Decimal(repr(epsilon)).quantize(Decimal("0.001"), ROUND_CEILING))


def bits(count: float) -> str:
    """Bits as printed: rounded up to hundredths, `4.86`."""
    return f"{math.ceil(100 * count) / 100:g}"
