"""Made-up words for pretend devices: three syllables each, of no language."""

import numpy as np

MADE = 200
_SYLLABLES = [first + second for first in "lmnrtv" for second in "aeiou"]


def made(seed: int) -> tuple[str, ...]:
    """So many different words, the same for a seed; the first is to be the commonest."""
    draws = np.random.default_rng([seed, 4])
    size = len(_SYLLABLES)
    numbers = draws.choice(size**3, MADE, replace=False).tolist()
    return tuple("".join(_SYLLABLES[number // size**place % size] for place in range(3)) for number in numbers)
