"""Estimates of a window, and of many windows together, of devices that keep their permanent answers: drawn exactly.

What an estimate counts of a device over its windows is a sum, and those of all devices are drawn alike from one crowd:
how many of its reports stand for a 1 (the one bit, or the support of one category) before fresh noise, and which of
these the noise turns. The law of the former is the crowd's average of a product over entries, each of which holds one
permanent bit for all windows that lead to it; a Fourier transform gives it. So a fleet is one multinomial and two
binomials, and a hundred thousand of them take a second.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from benchmarks.support.histories import Ints, Reals, publics, sites
from hubbub.encoders.base import SCALE, Encoder
from hubbub.encoders.d_bit_flip import DBitFlip
from hubbub.encoders.grr import Grr
from hubbub.encoders.olh_pool import OlhPool
from hubbub.encoders.one_bit_mean import OneBitMean
from hubbub.encoders.randomized_response import RandomizedResponse
from hubbub.encoders.unary import Unary
from hubbub.mechanisms import Mechanism
from hubbub.mechanisms.base import any_estimate
from hubbub.mechanisms.estimate import Estimate
from hubbub.mechanisms.oracle import Oracle


class Way(NamedTuple):
    """What a device may have drawn for good beside its permanent bits."""

    weight: float
    entries: Ints  # (values,) where a value leads
    ones: Reals  # (entries,) chance that the bit there is a 1


@dataclass(frozen=True)
class Counted:
    """One number that a mechanism estimates, as what it counts.

    Attributes:
        ways: Of devices that are asked at all.
        asked: Share of devices that are, or of reports where that is drawn `anew`.
        anew: Whether each report is asked about something else.
        kept: Whether bits are permanent, or drawn for each report.
        zero: Chance that a report counts where the bit is a 0.
        one: The same where it is a 1.
        centre: What each report that is asked is lessened by before all are summed.
        base: The estimate where sums are 0.
        estimate: Any estimate of this number, for what is the same in all of them.
    """

    ways: tuple[Way, ...]
    asked: float
    anew: bool
    kept: bool
    zero: float
    one: float
    centre: float
    base: float
    estimate: Estimate

    def law(self, held: Ints) -> Reals:
        """(W + 1,) chances of how many of its W reports stand for a 1, for a device of the crowd that is asked.

        Args:
            held: (devices, W) values of the crowd.
        """
        windows = held.shape[1]
        if windows == 1:
            shares = np.bincount(held[:, 0]) / len(held)
            ones = math.fsum(way.weight * float(shares @ way.ones[way.entries[: len(shares)]]) for way in self.ways)
            return np.array([1 - ones, ones])
        powers = np.exp(-2j * math.pi / (windows + 1)) ** np.outer(np.arange(windows + 1), np.arange(windows + 1))
        total = np.zeros(windows + 1, complex)
        for way in self.ways:
            entries = way.entries[held]
            if self.kept:
                visits, times = _visits(entries, len(way.ones))
                factors = (1 - p + p * powers[many] for many, p in zip(visits.T, way.ones.tolist(), strict=True))
            else:
                times = np.ones(len(held), np.int64)
                factors = (1 - p + p * powers[1] for p in way.ones[entries].T[:, :, None])
            total += way.weight * (times @ math.prod(factors, start=np.ones(1))) / len(held)
        law = np.fft.ifft(total).real.clip(0)
        return np.asarray(law / law.sum())

    def draw(self, law: Reals, devices: int, draws: int, rng: np.random.Generator) -> tuple[Reals, Ints]:
        """(draws,) estimates of the mean of W windows of so many devices, and how many of their reports count."""
        windows = len(law) - 1
        asked = np.full(draws, devices) if self.anew or self.asked == 1 else rng.binomial(devices, self.asked, draws)
        ones = rng.multinomial(asked, law) @ np.arange(windows + 1)
        zeros = asked * windows - ones
        if self.anew:
            ones, zeros = rng.binomial(ones, self.asked), rng.binomial(zeros, self.asked)
        counts = rng.binomial(ones, self.one) + rng.binomial(zeros, self.zero)
        sums = counts - self.centre * (ones + zeros)
        return self.base + self.estimate.per_one * sums / (devices * windows), counts

    def variance(self, law: Reals, devices: int) -> float:
        """Exact variance of these estimates."""
        number = np.arange(len(law))
        windows, mean = len(law) - 1, float(law @ number)
        spread = float(law @ (number - mean) ** 2)
        one, zero, share = self.one - self.centre, self.zero - self.centre, self.asked
        own, other = self.one * (1 - self.one), self.zero * (1 - self.zero)
        given = mean * one + (windows - mean) * zero
        noise = mean * own + (windows - mean) * other
        if self.anew:
            skipped = share * (1 - share) * (mean * one**2 + (windows - mean) * zero**2)
            found = spread * (share * (one - zero)) ** 2 + share * noise + skipped
        else:
            found = share * (spread * (one - zero) ** 2 + noise) + share * (1 - share) * given**2
        return float(self.estimate.per_one**2 * found / (devices * windows**2))


def counted(mechanism: Mechanism, category: int | None) -> Counted:
    """The mean, or the share of one category."""
    e, whole = mechanism.encoder, any_estimate(mechanism)
    estimate = whole if category is None else whole.pick(category)
    few = isinstance(e, DBitFlip) and e.d < e.size
    asked = e.d / e.size if isinstance(e, DBitFlip) else 1.0
    ways, zero, one = _permanent(e, category or 0) if e.memo else _fresh(mechanism, category or 0)
    return Counted(
        ways=tuple(ways),
        asked=asked,
        anew=few and not e.memo,
        kept=bool(e.memo),
        zero=zero,
        one=one,
        centre=-estimate.at_zero / estimate.per_one if few else 0.0,
        base=0.0 if few else estimate.at_zero,
        estimate=estimate,
    )


def _visits(entries: Ints, many: int) -> tuple[Ints, Ints]:
    """(devices, W) entries -> how often each is used, (kinds, entries), and by how many devices, (kinds,)."""
    base = entries.shape[1] + 1
    code = sum(((entries == entry).sum(axis=1) * base**entry for entry in range(many)), start=np.zeros(1, np.int64))
    kinds, times = np.unique(code, return_counts=True)
    return np.stack([kinds // base**entry % base for entry in range(many)], axis=1), times


def _permanent(encoder: Encoder, category: int) -> tuple[list[Way], float, float]:
    """What stands for a 1: the set bit, or the answer that is the category's own."""
    ways = []
    for public in publics(encoder):
        at, answer, place = sites(encoder, public), 1, 0
        if isinstance(encoder, Unary):
            place = category
        elif isinstance(encoder, DBitFlip):
            asked = list(encoder.asked(public))
            if category not in asked:
                continue
            place = asked.index(category)
        elif isinstance(encoder, Grr):
            answer = category
        elif isinstance(encoder, OlhPool):
            answer = encoder.hash(public[0], category)
        site = at[place]
        ways += [
            Way(float(weight), led, site.kept[:, answer])
            for weight, led in zip(site.weights, site.entries, strict=True)
        ]
        one, zero = float(site.sent[answer, answer]), float(site.sent[answer - 1, answer])
    total = math.fsum(way.weight for way in ways)
    return [way._replace(weight=way.weight / total) for way in ways], zero, one


def _fresh(mechanism: Mechanism, category: int) -> tuple[list[Way], float, float]:
    """The bit is the value itself, or drawn by it for each report."""
    e = mechanism.encoder
    if isinstance(e, OneBitMean | RandomizedResponse):
        zero, one = e.low / SCALE, 1 - e.low / SCALE
        ones = np.array([(float(e.law(value)[(1,)]) - zero) / (one - zero) for value in range(e.size)])
    else:
        chances = (
            e.chances() if isinstance(e, DBitFlip) else mechanism.support[:2] if isinstance(mechanism, Oracle) else ()
        )
        one, zero = map(float, chances)
        ones = np.array([0.0, 1.0])
        return [Way(1.0, (np.arange(e.size) == category).astype(np.int64), ones)], zero, one
    return [Way(1.0, np.arange(e.size), ones)], zero, one
