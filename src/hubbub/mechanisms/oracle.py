"""What frequency oracles share: each report supports some categories, its own more often than any other.

A report supports the device's own category with chance p and any other one with chance q. With c_v supports of category
v among n reports, the share of v is estimated by (c_v / n - q) / (p - q), and its variance is r (1 - r) / (n (p - q)²)
at r = q + f (p - q), where f is the true share and devices are a sample. Where answers are kept, p and q are chances
over both rounds; the permanent answers alone support categories with chances of their own.

Source: Wang, Blocki, Li, Jha, USENIX Security 2017 ("pure" protocols).
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike

from hubbub.encoders.base import SCALE, Encoder, Law, Payload
from hubbub.errors import ParameterError
from hubbub.mechanisms.base import Reports
from hubbub.mechanisms.categories import Categories
from hubbub.mechanisms.estimate import Crowd, Estimate, Ints, Reals
from hubbub.summary import Summary


class Support(NamedTuple):
    """Chances that a report supports a category."""

    own: float  # p, the device's own
    other: float  # q, any other one
    pair_own: float | None = None  # its own and a certain other one; None: not the same for all pairs
    pair_other: float | None = None  # two certain others


@dataclass(frozen=True)
class Shares:
    """A mechanism that estimates the share of each category.

    Subclasses are frozen dataclasses too, with the field `encoder`.
    """

    memo: ClassVar[bool] = False
    encoder: Encoder
    lower: float
    step: float
    labels: tuple[str, ...]

    @classmethod
    def from_encoder(cls, encoder: Encoder, *, lower: float = 0, step: float = 1, labels: Sequence[str] = ()) -> Self:
        """The mechanism of a locked metric.

        Raises:
            ParameterError: Another mechanism's encoder, or labels that are not one fewer than its categories.
        """
        if getattr(encoder, "name", None) != cls.name:  # type: ignore[attr-defined]
            raise ParameterError("encoder", encoder, f"a {cls.name}")  # type: ignore[attr-defined]
        if labels and len(labels) != encoder.size - 1:
            raise ParameterError("labels", len(labels), f"{encoder.size - 1} of them, or none")
        return cls(encoder, lower, step, tuple(labels))

    @property
    def categories(self) -> Categories:
        """What each value stands for."""
        return Categories(self.encoder.size, self.lower, self.step, self.labels)

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
    def bounds(self) -> tuple[float, float]:
        """A share."""
        return 0.0, 1.0

    def index(self, values: ArrayLike) -> Ints:
        """(n,) labels, or numbers in the unit, -> categories; see `Categories.index`."""
        return self.categories.index(values)

    def truth(self, value: int) -> Reals:
        """(size,) 1 for the own category, 0 for the others."""
        return np.asarray(np.eye(1, self.encoder.size, value)[0], float)

    def law(self, value: int, public: Payload = ()) -> Law:
        """The encoder's exact law."""
        return self.encoder.law(value, public)


@dataclass(frozen=True)
class Oracle(Shares, ABC):
    """Estimates of a mechanism whose reports support categories; subclasses say with which chances."""

    @property
    @abstractmethod
    def support(self) -> Support:
        """The chances of a support."""

    @property
    def permanent_support(self) -> Support:
        """The chances of a support by what is behind the reports: permanent answers, or the values themselves."""
        return Support(1.0, 0.0)

    @property
    def opposed(self) -> float:
        """How negative the covariance can be with which permanent answers to two values support a category."""
        return 0.0

    @abstractmethod
    def supports(self, summary: Summary) -> Ints:
        """(size,) how many reports support each category."""

    def estimate(self, summary: Summary) -> Estimate:
        """(size,) unbiased shares.

        Raises:
            ParameterError: No reports, or counts that so many reports cannot have.
        """
        counts = self.supports(checked(summary))
        (p, q), (p1, q1) = self.support[:2], self.permanent_support[:2]
        n, per_one, kept_per_one = summary.n, 1 / (p - q), 1 / (p1 - q1)
        rate = counts / n
        value = (rate - q) * per_one
        kept = np.clip(q1 + value / kept_per_one, 0, 1)  # share of the permanent answers that support it
        gain = kept_per_one / per_one
        q2 = q - q1 * gain  # chance that a report supports what its permanent answer does not
        p2 = q2 + gain
        return Estimate(
            value=value,
            se=per_one * np.sqrt(rate * (1 - rate) / n),
            se_shared=kept_per_one * np.sqrt(kept * (1 - kept) / n),
            n=n,
            crowd=Crowd(
                -q1 * kept_per_one,
                kept_per_one,
                q2 * (1 - q2) / gain**2,
                (p2 * (1 - p2) - q2 * (1 - q2)) / gain**2,
                opposed=self.opposed,
            ),
            per_one=per_one,
            ones=counts,
            at_zero=-q * per_one,
            labels=self.categories.names,
        )

    def variance(self, truth: ArrayLike, n: int) -> Reals:
        """Exact variance of each share from n independent devices that hold it with chance `truth`.

        Raises:
            ParameterError: n < 1.
        """
        p, q = self.support[:2]
        rate = q + np.asarray(truth, float) * (p - q)
        return np.asarray(rate * (1 - rate) / (devices(n) * (p - q) ** 2))

    def covariance(self, truth: ArrayLike, n: int) -> Reals:
        """(size, size) exact covariance of the shares, as `variance`.

        Raises:
            ParameterError: n < 1, or a mechanism whose pairs of categories are not all alike.
        """
        p, q, own, other = self.support
        if own is None or other is None:
            raise ParameterError("mechanism", type(self).__name__, "one whose pairs of categories are alike")
        f = np.asarray(truth, float)
        rate = q + f * (p - q)
        both = other + (f[:, None] + f[None, :]) * (own - other)
        np.fill_diagonal(both, rate)
        return np.asarray((both - rate[:, None] * rate[None, :]) / (devices(n) * (p - q) ** 2))


def checked(summary: Summary) -> Summary:
    """The summary, if there is something to estimate from it.

    Raises:
        ParameterError: No reports, or counts outside [0, n].
    """
    if summary.n < 1:
        raise ParameterError("summary.n", summary.n, ">= 1")
    if ((summary.counts < 0) | (summary.counts > summary.n)).any():
        raise ParameterError(
            "summary.counts", f"{summary.counts.min()} to {summary.counts.max()}", f"in [0, {summary.n}]"
        )
    return summary


def devices(n: int) -> int:
    """n, if it is a number of devices.

    Raises:
        ParameterError: n < 1.
    """
    if n < 1:
        raise ParameterError("n", n, ">= 1")
    return n


def fields(reports: Reports, radices: Sequence[int]) -> Reports:
    """The reports, if they are (n, fields) integers within their radices.

    Raises:
        ParameterError: They are not.
    """
    if reports.ndim != 2 or reports.shape[1] != len(radices):
        raise ParameterError("reports.shape", reports.shape, f"(n, {len(radices)})")
    if reports.dtype.kind not in "biu":
        raise ParameterError("reports.dtype", str(reports.dtype), "a type of integers")
    if len(set(radices)) == 1:  # one comparison for all of them
        low, high = (int(reports.min()), int(reports.max())) if reports.size else (0, 0)
        if low < 0 or high >= radices[0]:
            raise ParameterError("reports", f"{low} to {high}", f"fields in [0, {radices[0]})")
    else:
        for i, radix in enumerate(radices):
            column = reports[:, i]
            if column.size and not 0 <= int(column.min()) <= int(column.max()) < radix:
                seen = f"{column.min()} to {column.max()} in column {i}"
                raise ParameterError("reports", seen, f"fields in [0, {radix}) there")
    return reports


def crowd_of(truth_counts: ArrayLike, size: int) -> Ints:
    """(size,) devices for each value.

    Raises:
        ParameterError: Not one whole number >= 0 for each value.
    """
    counts = np.asarray(truth_counts)
    if counts.shape != (size,):
        raise ParameterError("truth_counts.shape", counts.shape, f"({size},), one per value")
    if counts.dtype.kind not in "iu" or counts.min() < 0:
        raise ParameterError("truth_counts", f"{counts.min()} of type {counts.dtype}", "whole numbers >= 0")
    return counts.astype(np.int64)


def all_fresh(permanent_epsilon: float | None) -> None:
    """Refuse permanent answers where a mechanism has none.

    Raises:
        ParameterError: They are asked for.
    """
    if permanent_epsilon is not None:
        raise ParameterError("permanent_epsilon", permanent_epsilon, "left out: this mechanism draws everything afresh")


def lies(epsilon: float, others: int, share: int = 1) -> int:
    """Safe number of words, out of 2**32, that lead to any of `others` outcomes of which the truth is worth e^epsilon.

    Two steps above others / (share e^epsilon + others) outweigh any rounding of exp.
    """
    return math.floor(SCALE * others / (share * math.exp(epsilon) + others)) + 2


def gain_again(epsilon: float, answers: int, first: tuple[Fraction, Fraction]) -> float:
    """By how much a second round of so many answers must tell its own from another for epsilon in all, at most.

    Args:
        epsilon: Loss of one report over both rounds, nats.
        answers: Of generalised randomised response.
        first: Chances of the own answer and of a certain other one in the first round.
    """
    odds = math.expm1(epsilon)
    return min(1.0, odds / (odds + answers) / float(first[0] - first[1]))
