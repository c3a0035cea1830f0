"""Shares that are not negative, and that add up to 1."""

import numpy as np
from numpy.typing import ArrayLike

from hubbub.errors import ParameterError
from hubbub.postprocessing.arrays import Reals, finite, flat, positive


def clip(values: ArrayLike, low: float = 0.0, high: float = 1.0) -> Reals:
    """Values outside [low, high] moved to the nearer end.

    Biased towards the inside: the mean of a share that is truly 0 rises from 0 to 0.4 of its standard error. The sum of
    many small shares rises with their number.

    Raises:
        ParameterError: Not finite numbers, or low > high.
    """
    if not low <= high:
        raise ParameterError("high", high, f">= low = {low}")
    return np.clip(finite("values", values), low, high)


def norm_sub(values: ArrayLike, total: float = 1.0) -> Reals:
    """(k,) shares, of which all that stay positive are lowered or raised by one and the same amount; the others are 0.

    Their sum is `total`. These are the shares nearest to the estimates: `simplex` with equal variances.

    Biased: small shares upwards, since estimates below 0 become 0, and in return large ones downwards, all by the same
    amount. Ratios of shares are not kept.

    Raises:
        ParameterError: Not a flat array of finite numbers, or total <= 0.
    """
    return simplex(values, total=total)


def simplex(values: ArrayLike, variances: ArrayLike | None = None, total: float = 1.0) -> Reals:
    """(k,) the shares >= 0 with this sum that are nearest to the estimates, squared distances over their variances.

    Biased as `norm_sub`, but what has to be moved is moved most where an estimate is most uncertain. Only the
    variances' proportions matter; all are alike by default.

    Raises:
        ParameterError: Not flat arrays of finite numbers of one length, variances not > 0, or total <= 0.
    """
    y = flat("values", values)
    v = positive("variances", variances, y.size)
    if not total > 0:
        raise ParameterError("total", total, "> 0")
    # The nearest are max(0, y - shift v): those with the largest y / v stay positive.
    order = np.argsort(-y / v, kind="stable")
    shifts = (np.cumsum(y[order]) - total) / np.cumsum(v[order])
    last = np.flatnonzero(y[order] / v[order] > shifts)[-1]
    return np.asarray(np.maximum(y - shifts[last] * v, 0))
