"""Numbers that are known to grow."""

import numpy as np
from numpy.typing import ArrayLike

from hubbub.postprocessing.arrays import Reals, flat, positive


def isotonic(values: ArrayLike, weights: ArrayLike | None = None) -> Reals:
    """(k,) the non-decreasing numbers that are nearest to these, squared distances times the weights.

    Neighbours in the wrong order are replaced by their mean, until none are. For a distribution function, which grows.

    Biased: where the truth hardly grows, the first of a row of neighbours downwards and the last upwards.

    Raises:
        ParameterError: Not flat arrays of finite numbers of one length, or weights not > 0.
    """
    y = flat("values", values)
    w = positive("weights", weights, y.size)
    means: list[float] = []
    masses: list[float] = []
    lengths: list[int] = []
    for value, weight in zip(y.tolist(), w.tolist(), strict=True):
        mean, mass, length = value, weight, 1
        while means and means[-1] >= mean:
            before, heavy = means.pop(), masses.pop()
            mean = (before * heavy + mean * mass) / (heavy + mass)
            mass, length = heavy + mass, lengths.pop() + length
        means.append(mean)
        masses.append(mass)
        lengths.append(length)
    return np.repeat(means, lengths)
