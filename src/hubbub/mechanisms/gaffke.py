"""Intervals for the mean of what reports stand for, where that is one of finitely many numbers: Gaffke's bound.

So many reports stand for each weight. The upper end is a quantile of the mean weight under a Dirichlet law with these
counts and one more at the largest weight; the lower end is its mirror, with one more at the least weight. The extra
one stands for what no report has shown yet. For two weights these are the ends of Clopper and Pearson. For many
reports they are those of a normal interval, moved by the skewness of the reports and half a step wider. Nothing is
assumed about the crowd: where ten devices hold what is rare a normal interval is several points short. That this one
never is has not been proved, nor has anybody found a case (Learned-Miller, Thomas); what it covers here is measured.

The chance that the mean exceeds t comes from a saddlepoint; for two weights and levels from 0.90 to 0.99 it is at most
7 % less than that of Clopper and Pearson and 0.1 % more. It needs no search of its own: each v beyond the largest
weight is that of one t. With a the N counts, the extra one included, and y = U (w - t),

    U  = sum a / (v - w) / N          r² = 2 sum a log(1 - y)          u² = sum a (y / (1 - y))²
    t  = sum a w / (v - w) / (N U)    chance 1 - Phi(r + log(u / r) / r)

Sources: Gaffke, Mathematical Methods of Statistics 14 (2005) 451-467; Learned-Miller, Thomas, arXiv:1905.06208;
Lugannani, Rice, Advances in Applied Probability 12 (1980) 475-490. Figures: docs/decisions/0008-means.md.
"""

from statistics import NormalDist

import numpy as np

from hubbub.mechanisms.estimate import Ints, Reals

GAFFKE = "gaffke"  # name of the method
LEAST = 0.01  # of r: a level near 0 has the mean itself for an end, where r is 0
NEAR = 1e-11  # of log r
STEPS = 100


def gaffke(weights: Reals, counts: Ints, level: float) -> tuple[Reals, Reals]:
    """Lower and upper ends for the mean of what a report stands for, one pair for each row.

    Args:
        weights: At least two different finite ones, shape (k,).
        counts: Reports that stand for each, shape (rows, k), at least one in each row.
        level: In (0, 1).

    Returns:
        Within the weights, shape (rows,) each.
    """
    z = NormalDist().inv_cdf(0.5 + level / 2)
    low, high = (_upper(side, counts, z) for side in (-weights, weights))
    return -low, high


def _upper(weights: Reals, counts: Ints, z: float) -> Reals:
    """Upper ends, shape (rows,): r + log(u / r) / r = z, by Newton's steps for log r over x = log(v - largest weight).

    Log r is concave in x and falls, so that steps from a large v do not overshoot.
    """
    place = int(weights.argmax())
    a = counts.astype(float)
    a[:, place] += 1
    total = a.sum(axis=1)
    gap = weights[place] - weights  # from the largest, downwards
    below = a @ gap / total  # the mean, likewise
    off = below[:, None] - gap  # from the mean, upwards
    spread = np.sqrt((a * off**2).sum(axis=1) / total)
    alike = spread == 0  # at the largest, where the end is then
    x, rise = np.log(np.where(alike, 1, spread) * np.sqrt(total) / max(z, LEAST)), np.zeros(len(a))
    for _ in range(STEPS):
        d = np.exp(x)
        near = 1 / (gap + d[:, None])
        mean = (a * near).sum(axis=1) / total
        rise = (a * near * off).sum(axis=1) / (total * mean)
        y = mean[:, None] * (off - rise[:, None])
        square = np.where(alike, 1, 2 * (a * np.log1p(-y)).sum(axis=1))
        r, u = np.sqrt(square), np.where(alike, 1, np.sqrt((a * (y / (1 - y)) ** 2).sum(axis=1)))
        wanted = np.maximum(z - np.log(u / r) / r, LEAST)
        slope = np.where(alike, 1, -d * (a * (near * y) ** 2).sum(axis=1) / mean / square)
        left = np.where(alike, 0, np.log(r / wanted))
        x -= left / slope
        if np.abs(left).max(initial=0) < NEAR:
            break
    return np.asarray(weights[place] - below + rise, float)
