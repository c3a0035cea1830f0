"""Losses in words: how far a report, or many, can move somebody who held two possibilities for equally likely.

Evidence that loses at most epsilon nats multiplies the odds between any two possibilities by at most e^epsilon, so even
odds become at most 1 / (1 + e^-epsilon). Nothing here is ever rounded down.
"""

import math
from decimal import ROUND_CEILING, Decimal

from hubbub.errors import ParameterError

CERTAIN = math.log(9999)  # nats beyond which even odds may become more than 99.99 %


def posterior(epsilon: float) -> float:
    """The most that even odds can become, in [0.5, 1].

    Raises:
        ParameterError: A negative loss, or not a number.
    """
    if not epsilon >= 0:
        raise ParameterError("epsilon", epsilon, "a loss in nats, >= 0")
    return 1 / (1 + math.exp(-epsilon))


def percent(epsilon: float) -> str:
    """The posterior as printed, rounded up: `73.2 %`, `99.96 %`, `practically certain`, and `100 %` for no bound."""
    chance = posterior(epsilon)
    if math.isinf(epsilon):
        return "100 %"
    if epsilon > CERTAIN:
        return "practically certain"
    share = math.ceil(chance * 1000) / 10
    return f"{share if share < 100 else min(99.99, math.ceil(chance * 10_000) / 100):g} %"


def in_words(epsilon: float) -> str:
    """A loss inside a sentence: `from even odds to 73.2 %`, `from even odds to practical certainty`, `no bound`."""
    if math.isinf(epsilon):
        return "no bound"
    return "from even odds to " + ("practical certainty" if epsilon > CERTAIN else percent(epsilon))


def nats(epsilon: float) -> str:
    """A loss as printed: rounded up to three decimals, `1.409`; `no bound` where there is none."""
    return "no bound" if math.isinf(epsilon) else str(Decimal(repr(epsilon)).quantize(Decimal("0.001"), ROUND_CEILING))
