"""What all one-bit mechanisms share: a report is 1 with a chance that is linear in the truth.

With chance q at the lower end of a range `span` wide and p at its upper end, the estimate is
lower + span (ones/n - q) / (p - q), and its variance span² r (1 - r) / (n (p - q)²) at a rate of ones r.
"""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from hubbub.encoders.base import Encoder, Law, Payload
from hubbub.errors import ParameterError
from hubbub.mechanisms.base import Reports
from hubbub.mechanisms.estimate import Crowd, Estimate, Reals
from hubbub.summary import Summary


@dataclass(frozen=True)
class Line:
    """A coin's chance as a line over the truth: q at `lower`, p at `lower + span`; `a` is q before the flips."""

    lower: float
    span: float
    q: float
    p: float
    a: float

    def rate(self, truth: ArrayLike) -> Reals:
        """Chance of a 1 at this truth."""
        return np.asarray(self.q + (np.asarray(truth, float) - self.lower) / self.span * (self.p - self.q))


class Coin(ABC):
    """Summaries and estimates of a mechanism whose report is one coin; subclasses say along which `line`."""

    memo: ClassVar[bool] = True
    encoder: Encoder

    @property
    @abstractmethod
    def line(self) -> Line:
        """The coin's chance over the truth."""

    @property
    def epsilon(self) -> float:
        """Loss of one report, in nats."""
        return self.encoder.prices(1).report

    @property
    def permanent_epsilon(self) -> float:
        """Loss of a device that never changes, for ever, in nats; inf if everything is fresh."""
        return self.encoder.prices(1).steady if self.encoder.memo else math.inf

    @property
    def change_epsilon(self) -> float:
        """Loss of one changed window, in nats."""
        return self.encoder.prices(1).change

    @property
    def counts_shape(self) -> tuple[int, ...]:
        """One number: the ones."""
        return ()

    def law(self, value: int, public: Payload = ()) -> Law:
        """The encoder's exact law."""
        return self.encoder.law(value, public)

    def summarise(self, reports: Reports) -> Summary:
        """(n, 1) -> the number of ones.

        Raises:
            ParameterError: The reports are not one bit each.
        """
        if reports.ndim != 2 or reports.shape[1] != 1:
            raise ParameterError("reports.shape", reports.shape, "(n, 1)")
        if reports.dtype.kind not in "biu":
            raise ParameterError("reports.dtype", str(reports.dtype), "a type of integers")
        if reports.size and (reports.max() > 1 or (reports.dtype.kind == "i" and reports.min() < 0)):
            raise ParameterError("reports", f"{reports.min()} to {reports.max()}", "0 or 1")
        return Summary(len(reports), np.array(np.count_nonzero(reports), np.int64))

    def estimate(self, summary: Summary) -> Estimate:
        """Unbiased mean per report, in the metric's unit, shape ().

        Raises:
            ParameterError: No reports, or more ones than reports.
        """
        if summary.n < 1:
            raise ParameterError("summary.n", summary.n, ">= 1")
        if ((summary.counts < 0) | (summary.counts > summary.n)).any():
            raise ParameterError("summary.counts", summary.counts.tolist(), f"in [0, {summary.n}]")
        line, rate = self.line, summary.counts / summary.n
        per_one = line.span / (line.p - line.q)
        value = np.asarray(line.lower + (rate - line.q) * per_one)
        se = np.asarray(per_one * np.sqrt(rate * (1 - rate) / summary.n))
        kept_per_one = line.span / (1 - 2 * line.a)
        kept_at_zero = line.lower - line.a * kept_per_one
        kept = np.clip((value - kept_at_zero) / kept_per_one, 0, 1)
        shared = np.asarray(kept_per_one * np.sqrt(kept * (1 - kept) / summary.n))
        flip = (1 - kept_per_one / per_one) / 2
        return Estimate(
            value=value,
            se=se,
            se_shared=shared,
            n=summary.n,
            crowd=Crowd(kept_at_zero, kept_per_one, flip * (1 - flip) / (1 - 2 * flip) ** 2),
            per_one=per_one,
            ones=summary.counts,
            at_zero=line.lower - line.q * per_one,
        )

    def variance(self, truth: ArrayLike, n: int) -> Reals:
        """Exact variance of the estimate from n independent devices whose mean is `truth`, in the unit squared.

        Raises:
            ParameterError: n < 1.
        """
        if n < 1:
            raise ParameterError("n", n, ">= 1")
        line = self.line
        rate = line.rate(truth)
        return np.asarray((line.span / (line.p - line.q)) ** 2 * rate * (1 - rate) / n)

    def simulate(self, truth_counts: ArrayLike, rng: np.random.Generator) -> Summary:
        """(size,) devices per value -> a summary: one binomial draw per value.

        Raises:
            ParameterError: Not one count per value.
        """
        counts = np.asarray(truth_counts)
        if counts.shape != (self.encoder.size,):
            raise ParameterError("truth_counts.shape", counts.shape, f"({self.encoder.size},), one per value")
        if counts.dtype.kind not in "iu" or counts.min() < 0:
            raise ParameterError("truth_counts", f"{counts.min()} of type {counts.dtype}", "whole numbers >= 0")
        held = np.flatnonzero(counts)
        chances = np.array([float(self.encoder.law(int(value))[(1,)]) for value in held])
        ones = rng.binomial(counts[held].astype(np.int64), chances)
        return Summary(int(counts.sum()), np.array(ones.sum(), np.int64))
