"""RAPPOR: shares of words by regression over Bloom filters; what is sent stands in the encoder of the same name."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hubbub.encoders.base import SCALE
from hubbub.encoders.rappor import Rappor as Device
from hubbub.encoders.words import SIZE
from hubbub.errors import ParameterError
from hubbub.mechanisms.base import Reports, WordSource, asked, held, number, second_round, threshold
from hubbub.mechanisms.columns import blocks, ones_of
from hubbub.mechanisms.estimate import Crowd, Ints, Reals
from hubbub.mechanisms.places import places
from hubbub.mechanisms.words import Square, Words, bit_variance, bits_within, cell_moments, cell_square
from hubbub.summary import Summary


@dataclass(frozen=True)
class Rappor(Words):
    """Words from disguised Bloom filters; the one mechanism for words that keeps permanent answers."""

    name: ClassVar[str] = Device.name
    kinds: ClassVar[tuple[str, ...]] = Device.kinds
    memo: ClassVar[bool] = True
    nowhere: ClassVar[bool] = True
    source: ClassVar[str] = "Erlingsson, Pihur, Korolova, CCS 2014"
    examples: ClassVar[tuple[Mapping[str, Any], ...]] = (
        {"bits": 2, "hashes": 1, "cohorts": 2, "permanent_epsilon": 2.5},
        {"bits": 3, "hashes": 1, "cohorts": 1},
    )
    encoder: Device

    @classmethod
    def from_epsilon(
        cls,
        epsilon: float,
        *,
        permanent_epsilon: float | None = None,
        bits: int = 128,
        hashes: int = 1,
        cohorts: int = 16,
    ) -> Self:
        """Loss of one report at most epsilon, of a device that never changes at most permanent_epsilon.

        Both rounds lie about a 1 as often as about a 0. With one loss, fewer hashes are more exact: each shares it.

        Args:
            epsilon: Loss of one report, nats.
            permanent_epsilon: Loss of a device that never changes, nats; None: no permanent answers, and cohorts drawn
                afresh.
            bits: Of the filter, a multiple of hashes.
            hashes: Bits that a word sets.
            cohorts: Groups of devices whose words set other bits, a power of two; its logarithm travels in the clear.

        Raises:
            ParameterError: A parameter out of its range.
        """
        asked(epsilon, permanent_epsilon)
        Device(bits, hashes, cohorts, 0, 1, 2, 0)  # refuses them by name, before they are divided by
        one, always = epsilon / (2 * hashes), (permanent_epsilon or epsilon) / (2 * hashes)
        low = threshold(always) - 2
        while low < 1 or Device(bits, hashes, cohorts, low, 0, SCALE, 1).prices(1).steady > (
            permanent_epsilon or epsilon
        ):
            low += 1
        if permanent_epsilon is None:
            return cls(Device(bits, hashes, cohorts, 0, low, SCALE - low, 0))
        flip = max(0, second_round(one, always, low) - 2)
        while Device(bits, hashes, cohorts, low, flip, SCALE - flip, 1).prices(1).report > epsilon:
            flip += 1
        return cls(Device(bits, hashes, cohorts, low, flip, SCALE - flip, 1))

    @classmethod
    def from_probabilities(cls, f: float, p: float, q: float, *, bits: int, hashes: int, cohorts: int) -> Self:
        """The parameters of the paper, each rounded to a multiple of 2**-32; the losses follow.

        Args:
            f: Chance that a permanent bit is drawn by coin, in (0, 1).
            p: Chance that a report sends 1 for a permanent 0.
            q: Chance that it sends 1 for a permanent 1, more than p.
            bits: Of the filter, a multiple of hashes.
            hashes: Bits that a word sets.
            cohorts: Groups of devices, a power of two.

        Raises:
            ParameterError: A parameter out of its range.
        """
        for name, chance in (("f", f), ("p", p), ("q", q)):
            number(name, chance, 0, 1)
        if not 2**-30 <= f < 1 - 2**-30:
            raise ParameterError("f", f, "a number in (0, 1)")
        if not p < q:
            raise ParameterError("q", q, f"> p = {p}")
        low, zero, one = round(f * SCALE / 2), round(p * SCALE), round(q * SCALE)
        return cls(Device(bits, hashes, cohorts, low, zero, one, 1))

    @property
    def square(self) -> Square:
        """Mean square of a report's z."""
        return cell_square(self.encoder.cohorts, *self._chances())

    @property
    def per_one(self) -> float:
        """Most by which one report can move its own z."""
        off, on = self._chances()
        return self.encoder.cohorts / (on - off)

    @property
    def counts_shape(self) -> tuple[int, ...]:
        """Reports of each cohort, and ones of each of its bits."""
        return (self.encoder.cohorts, 1 + self.encoder.bits)

    def crowd(self) -> Crowd:
        """Windows share cohorts and permanent answers, whose variance at a share t is base + rows t - t²."""
        if not self.encoder.memo:
            return super().crowd()
        base, slope = self.square
        kept = cell_square(self.encoder.cohorts, *map(float, self.encoder.entries()))
        scale = math.sqrt(kept.slope**2 + 4 * kept.base)
        zero = (kept.slope - scale) / 2
        noise = (base - kept.base + (slope - kept.slope) * zero) / scale**2
        return Crowd(zero, scale, noise, (slope - kept.slope) / scale)

    def moments(self, summary: Summary) -> tuple[Reals, Reals]:
        """(rows, bits) mean and variance of z over the reports."""
        return cell_moments(summary, *self._chances())

    def within(self, summary: Summary) -> tuple[Reals, Reals]:
        """(cohorts, bits) shares within each cohort, and (cohorts, 1) its reports."""
        return bits_within(summary, *self._chances())

    def alone(self, share: ArrayLike) -> Reals:
        """Variance of one report about a bit of its own cohort that this share of the devices sets."""
        return bit_variance(share, *self._chances())

    def null_shared(self, n: int) -> float:
        """The part of `null_se` that comes from permanent answers."""
        if not self.encoder.memo:
            return super().null_shared(n)
        off, on = map(float, self.encoder.entries())
        return self._null(lambda share: bit_variance(share, off, on), n)

    def randomise(self, values: Ints, source: WordSource) -> Reports:
        """(n,) -> (n, 1 + bits); words for the cohort, both permanent streams and the report, a block at a time.

        Raises:
            PrivateValueError: Values outside [0, size); named by position only.
        """
        e = self.encoder
        held(values, SIZE)
        wide = 1 + (1 + 2 * e.memo) * e.bits
        reports = np.empty((len(values), 1 + e.bits), np.min_scalar_type(e.cohorts - 1))
        for block in blocks(len(values), wide):
            part = values[block]
            words = source.words(len(part) * wide).reshape(len(part), wide)
            cohorts = words[:, 0] & np.uint32(e.cohorts - 1)
            people = np.flatnonzero(part)  # who has a word
            ones = people[:, None], places(e.shape, cohorts[people].astype(np.int64), part[people])
            streams = words[:, 1:].reshape(len(part), wide // e.bits, e.bits)
            reports[block, 0], reports[block, 1:] = cohorts, self._sent(streams, ones)
        return reports

    def summarise(self, reports: Reports) -> Summary:
        """(n, 1 + bits) -> reports of each cohort, and ones of each of its bits.

        Raises:
            ParameterError: The reports are not a cohort and its bits each.
        """
        return Summary(len(reports), ones_of(reports, self.encoder.radices))

    def simulate(self, truth_counts: ArrayLike, rng: np.random.Generator, values: ArrayLike | None = None) -> Summary:
        """(k,) devices of each of k values -> a summary: given the cohorts the bits are independent, so binomial.

        Args:
            truth_counts: Devices of each value.
            rng: What draws.
            values: The values; None: 0, 1, 2, ...

        Raises:
            ParameterError: Not one count per value.
            PrivateValueError: Values outside [0, size); named by position only.
        """
        cohorts, cells = self.standing(truth_counts, rng, values)
        off, on = self._chances()
        ones = rng.binomial(cells, on) + rng.binomial(cohorts[:, None] - cells, off)
        return Summary(int(cohorts.sum()), np.column_stack([cohorts, ones]).astype(np.int64))

    def _sent(self, streams: NDArray[np.uint32], ones: tuple[Ints, Ints]) -> NDArray[np.bool_]:
        """(n, streams, bits) words, and which bits are set, -> (n, bits) what is sent."""
        e = self.encoder
        if e.memo:
            kept = streams[:, 0] < np.uint32(e.low)
            kept[ones] = streams[:, 1][ones] >= np.uint32(e.low)
        else:
            kept = np.zeros((len(streams), e.bits), np.bool_)
            kept[ones] = True
        words = streams[:, -1]
        return np.asarray((words < np.uint32(e.zero)) | (kept & (words <= np.uint32(e.one - 1))))

    def _chances(self) -> tuple[float, float]:
        off, on = self.encoder.chances()
        return float(off), float(on)
