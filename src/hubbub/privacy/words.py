"""Losses in words, for sentences; what even odds can become, and plurals, devices show too: `hubbub.client`.

No loss is ever rounded down.
"""

import math
from decimal import ROUND_CEILING, Decimal

from hubbub.client.odds import CERTAIN, percent, posterior
from hubbub.client.wording import a, plural

__all__ = ["CERTAIN", "a", "bits", "cost", "in_bits", "in_words", "nats", "percent", "plural", "posterior"]


def in_words(epsilon: float) -> str:
    """A loss inside a sentence: `from even odds to 73.2 %`, `from even odds to practical certainty`, `no bound`."""
    if math.isinf(epsilon):
        return "no bound"
    return "from even odds to " + ("practical certainty" if epsilon > CERTAIN else percent(epsilon))


def cost(epsilon: float) -> str:
    """The same in short: `epsilon 1.409`; `no bound` where there is none."""
    return nats(epsilon) if math.isinf(epsilon) else f"epsilon {nats(epsilon)}"


def nats(epsilon: float) -> str:
    """A loss as printed: rounded up to three decimals, `1.409`; `no bound` where there is none."""
    return "no bound" if math.isinf(epsilon) else str(Decimal(repr(epsilon)).quantize(Decimal("0.001"), ROUND_CEILING))


def bits(count: float) -> str:
    """Bits as printed: rounded up to hundredths, `4.86`."""
    return f"{math.ceil(100 * count) / 100:g}"


def in_bits(count: float) -> str:
    """The same inside a sentence: `4.86 bits`, `1 bit`."""
    printed = bits(count)
    return f"{printed} bit" if printed == "1" else f"{printed} bits"
