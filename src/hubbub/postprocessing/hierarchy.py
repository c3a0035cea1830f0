"""A tree of estimates, each part's and that of the whole, made to agree.

From the leaves up, each node's own estimate and the sum of its children are averaged with weights of one over their
variances. From the root down, what is then left between a node and the sum of its children is spread over the
children in proportion to their variances. The two passes give the weighted least squares solution.

Source: Hay, Rastogi, Miklau, Suciu, VLDB 2010; with unequal variances: Cormode, Kulkarni, Srivastava, PVLDB 12 (2019).
"""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike

from hubbub.errors import ParameterError
from hubbub.postprocessing.arrays import Reals, flat


def consistent(levels: Sequence[ArrayLike], variances: Sequence[ArrayLike]) -> list[Reals]:
    """Estimates of all nodes of a tree of which each is the sum of its children, nearest to those given.

    Unbiased where the given ones are, for it is linear, and if they are independent no other linear estimate has less
    variance; the errors of different nodes hang together afterwards. It makes nothing positive.

    Args:
        levels: Estimates from the root down. Each level has a multiple of the nodes of the one before, and the children
            of a node stand next to each other.
        variances: Of each estimate, or one for all of a level: > 0, inf where there is no estimate (any number stands
            for it), or 0 at a single root whose value is known.

    Returns:
        The levels again.

    Raises:
        ParameterError: Levels that are no tree, or variances out of range.
    """
    found = [flat(f"levels[{i}]", level) for i, level in enumerate(levels)]
    if not found or len(variances) != len(found):
        raise ParameterError("variances", len(variances), f"one entry for each of {len(found)} levels, at least one")
    for i, (upper, lower) in enumerate(pairwise(found)):
        if lower.size % upper.size:
            raise ParameterError(f"levels[{i + 1}]", lower.size, f"a multiple of {upper.size}, the nodes above")
    spread = [_variances(i, given, found[i].size) for i, given in enumerate(variances)]
    if np.isinf(spread[-1]).any():
        raise ParameterError(f"variances[{len(found) - 1}]", np.inf, "finite at the leaves")
    for i in range(len(found) - 2, -1, -1):
        sums, errors = (part.reshape(found[i].size, -1).sum(axis=1) for part in (found[i + 1], spread[i + 1]))
        share = errors / (spread[i] + errors)  # 0 where there is no estimate of its own
        found[i] = sums + share * np.where(share > 0, found[i] - sums, 0)
        spread[i] = errors * (1 - share)
    for i in range(len(found) - 1):
        lower, errors = (part.reshape(found[i].size, -1) for part in (found[i + 1], spread[i + 1]))
        left = (found[i] - lower.sum(axis=1)) / errors.sum(axis=1)
        found[i + 1] = (lower + left[:, None] * errors).ravel()
    return found


def _variances(level: int, given: ArrayLike, size: int) -> Reals:
    array = np.asarray(given, float)
    least = 0 if level == 0 and size == 1 else np.nextafter(0, 1)
    if array.shape not in ((), (size,)):
        raise ParameterError(f"variances[{level}].shape", array.shape, f"() or ({size},)")
    if not (array >= least).all():
        raise ParameterError(f"variances[{level}]", float(array.min()), "> 0, or 0 at a single root")
    return np.broadcast_to(array, (size,)).copy()
