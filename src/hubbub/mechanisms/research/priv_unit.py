"""PrivUnit: a unit vector is answered by one from a cap around it. FOR SIMULATION, NOT FOR DEVICES: see the package.

The component w of a random direction has a density proportional to (1 - w²)^((d - 3) / 2). Source: Bhowmick, Duchi,
Freudiger, Kapoor, Rogers 2018, arXiv 1812.00984. With the cut at 0 it is Duchi's hemisphere mechanism.
"""

import math
from typing import Self

import numpy as np

from hubbub.mechanisms.base import number
from hubbub.mechanisms.estimate import Reals
from hubbub.mechanisms.research.sphere import Sphere, across


class PrivUnit(Sphere):
    """Reports all of the length 1 / m."""

    @classmethod
    def from_cut(cls, dimension: int, cut: float, p: float) -> Self:
        """The mechanism of the paper: its gamma, in [0, 1), and p.

        Raises:
            ParameterError: A parameter out of its range.
        """
        from scipy.special import betainc

        number("cut", cut, 0, 1)
        half = (dimension - 1) / 2
        return cls(dimension, p, max(0.5, float(betainc(half, half, (1 + cut) / 2))))

    @property
    def cut(self) -> float:
        """Gamma of the paper."""
        return float(self._components(np.array(self.q)))

    @property
    def m(self) -> float:
        """Mean component along the vector: an integral of w times a power of 1 - w²."""
        half = (self.dimension - 1) / 2
        beta = math.lgamma(0.5) + math.lgamma(half) - math.lgamma(half + 0.5)
        return math.exp(half * math.log1p(-(self.cut**2)) - beta) / (self.dimension - 1) * self.lean

    @property
    def squared_error(self) -> float:
        """A report of the length 1 / m whose mean has the length 1."""
        return 1 / self.m**2 - 1

    def drawn(self, vectors: Reals, rng: np.random.Generator) -> Reals:
        """(n, dimension) unit vectors."""
        along = self._components(self.component(len(vectors), rng))[:, None]
        rest = across(vectors, rng)
        return np.asarray(along * vectors + np.sqrt(1 - along**2) * rest / np.linalg.norm(rest, axis=1, keepdims=True))

    def _components(self, chances: Reals) -> Reals:
        """Below which a random direction's component is with these chances."""
        from scipy.special import betaincinv

        half = (self.dimension - 1) / 2
        return np.asarray(2 * betaincinv(half, half, chances) - 1)
