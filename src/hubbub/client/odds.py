"""Losses in words: how far a report, or many, can move somebody who held two possibilities to be equally likely.

Evidence that loses at most epsilon nats multiplies the odds between any two possibilities by at most e^epsilon, so even
odds become at most 1 / (1 + e^-epsilon). Nothing here is ever rounded down.
"""

import math

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
