"""What PrivUnit and PrivUnitG share. FOR SIMULATION AND COMPARISON, NOT FOR DEVICES: see the package.

A unit vector u is answered by a vector whose component along u is likely to be above a cut: with chance p it is drawn
from the law of a random direction's component given that it is above, which has the chance 1 - q, else given that it is
below. What is across u is drawn without looking at it. The loss is ln(p / (1 - p)) + ln(q / (1 - q)). The answer is
divided by the mean m of the component along u, which makes it unbiased.
"""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from hubbub.encoders.base import check
from hubbub.errors import ParameterError, PrivateValueError
from hubbub.mechanisms.base import asked, number
from hubbub.mechanisms.estimate import Crowd, Estimate, Reals

MAX_DIMENSION = 1 << 20
NEAR = 1e-9  # how far from 1 the length of a unit vector may be
SPLITS = 64  # ways to split epsilon that are tried before the best is narrowed down


@dataclass(frozen=True)
class Sphere(ABC):
    """Answers to unit vectors.

    Attributes:
        dimension: Of the vectors.
        p: Chance that the component along the vector is above the cut.
        q: Chance that that of a random direction is below it.
    """

    dimension: int
    p: float
    q: float

    def __post_init__(self) -> None:
        check("dimension", self.dimension, 2, MAX_DIMENSION)
        number("p", self.p, 0.5, 1)
        number("q", self.q, 0.5, 1)
        if not (0.5 <= self.p < 1 and 0.5 <= self.q < 1 and self.p + self.q > 1):
            raise ParameterError("p, q", (self.p, self.q), "each in [1/2, 1), and one of them above 1/2")

    @classmethod
    def from_epsilon(cls, epsilon: float, *, dimension: int) -> Self:
        """The split of epsilon between p and q of the least error.

        Raises:
            ParameterError: A parameter out of its range.
        """
        from scipy.optimize import minimize_scalar

        asked(epsilon, None)

        def split(share: float) -> tuple[float, float]:
            return 1 / (1 + math.exp(-epsilon * (1 - share))), 1 / (1 + math.exp(-epsilon * share))

        def error(share: float) -> float:
            return cls(dimension, *split(share)).squared_error

        shares = np.linspace(0, 1, SPLITS + 1)[:-1]
        best = int(np.argmin([error(share) for share in shares]))
        around = shares[max(best - 1, 0)], shares[min(best + 1, SPLITS - 1)]
        return cls(dimension, *split(float(minimize_scalar(error, bounds=around, method="bounded").x)))

    @property
    def epsilon(self) -> float:
        """Loss of one report, in nats, were all arithmetic exact."""
        return math.log(self.p / (1 - self.p)) + math.log(self.q / (1 - self.q))

    @property
    @abstractmethod
    def cut(self) -> float:
        """Where the component of a random direction is with chance q below."""

    @property
    @abstractmethod
    def m(self) -> float:
        """Mean component along the vector, before it is divided by that."""

    @property
    @abstractmethod
    def squared_error(self) -> float:
        """Mean squared distance of one report from its vector."""

    @abstractmethod
    def drawn(self, vectors: Reals, rng: np.random.Generator) -> Reals:
        """(n, dimension) answers before they are divided by m."""

    def randomise(self, vectors: ArrayLike, rng: np.random.Generator) -> Reals:
        """(n, dimension) unit vectors -> (n, dimension) reports, each with its vector as mean.

        Raises:
            PrivateValueError: They are no such vectors; named by position only.
        """
        rows = np.asarray(vectors, float)
        if rows.ndim != 2 or rows.shape[1] != self.dimension:
            raise PrivateValueError(f"vectors must be {self.dimension} numbers for each person")
        far = ~(np.abs(np.linalg.norm(rows, axis=1) - 1) <= NEAR)
        if far.any():
            raise PrivateValueError(f"vectors[{int(np.argmax(far))}] must have the length 1")
        return self.drawn(rows, rng) / self.m

    def estimate(self, reports: ArrayLike) -> Estimate:
        """(n, dimension) reports -> (dimension,) unbiased means, with standard errors from their own spread.

        Raises:
            ParameterError: No reports, or of another dimension.
        """
        rows = np.asarray(reports, float)
        if rows.ndim != 2 or rows.shape[1] != self.dimension or not len(rows):
            raise ParameterError("reports.shape", rows.shape, f"(n, {self.dimension}), n >= 1")
        n, value = len(rows), rows.mean(axis=0)
        return Estimate(
            value=value,
            se=rows.std(axis=0) / math.sqrt(n),
            se_shared=np.sqrt((1 - np.clip(value, -1, 1) ** 2) / n),
            n=n,
            crowd=Crowd(-1.0, 2.0, self.squared_error / 4, exact=False),
            per_one=2 / self.m,
        )

    def component(self, n: int, rng: np.random.Generator) -> Reals:
        """(n,) chances below which components along the vector lie: above q with chance p."""
        above, place = rng.random(n) < self.p, rng.random(n)
        return np.asarray(np.where(above, self.q + (1 - self.q) * place, self.q * place))

    @property
    def lean(self) -> float:
        """By which the density at the cut is multiplied: p / (1 - q) - (1 - p) / q."""
        return self.p / (1 - self.q) - (1 - self.p) / self.q


def across(vectors: Reals, rng: np.random.Generator) -> Reals:
    """(n, dimension) standard normal vectors, without what is along each vector."""
    noise = rng.standard_normal(vectors.shape)
    return np.asarray(noise - (noise * vectors).sum(axis=1, keepdims=True) * vectors)
