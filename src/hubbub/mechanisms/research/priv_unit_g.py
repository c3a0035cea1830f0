"""PrivUnitG: PrivUnit with normal numbers in place of a direction. FOR SIMULATION, NOT FOR DEVICES: see the package.

Every component of a random direction is taken as normal with the variance 1 / d, so reports are not all of one length.
Source: Asi, Feldman, Talwar, ICML 2022, arXiv 2205.02466.
"""

import math
from statistics import NormalDist

import numpy as np

from hubbub.mechanisms.estimate import Reals
from hubbub.mechanisms.research.sphere import Sphere, across

NORMAL = NormalDist()


class PrivUnitG(Sphere):
    """Almost as exact as PrivUnit, and easier to draw and to analyse."""

    @property
    def cut(self) -> float:
        """The normal quantile of q, over the root of the dimension."""
        return NORMAL.inv_cdf(self.q) / math.sqrt(self.dimension)

    @property
    def m(self) -> float:
        """Mean component along the vector."""
        return NORMAL.pdf(NORMAL.inv_cdf(self.q)) * self.lean / math.sqrt(self.dimension)

    @property
    def squared_error(self) -> float:
        """From the mean square of the component along the vector, and d - 1 others of the variance 1 / d."""
        z = NORMAL.inv_cdf(self.q)
        along = (1 + z * NORMAL.pdf(z) * self.lean) / self.dimension
        return (along + (self.dimension - 1) / self.dimension) / self.m**2 - 1

    def drawn(self, vectors: Reals, rng: np.random.Generator) -> Reals:
        """(n, dimension) vectors of about the length 1."""
        from scipy.special import ndtri

        along = ndtri(self.component(len(vectors), rng))[:, None]
        return np.asarray((along * vectors + across(vectors, rng)) / math.sqrt(self.dimension))
