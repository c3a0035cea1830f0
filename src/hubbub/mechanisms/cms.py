"""Count mean sketch: shares of words from the means of their cells; see the encoder of the same name."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import exp, floor
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from hubbub.encoders.base import SCALE
from hubbub.encoders.cms import Cms as Device
from hubbub.encoders.words import SIZE
from hubbub.mechanisms.base import Reports, WordSource, asked, held
from hubbub.mechanisms.columns import blocks, ones_of
from hubbub.mechanisms.estimate import Ints, Reals
from hubbub.mechanisms.oracle import all_fresh
from hubbub.mechanisms.places import places
from hubbub.mechanisms.sketch import BITS, HASHES, Noise, Sketch, refuse_cohorts
from hubbub.mechanisms.words import Square, bit_variance, bits_within, cell_moments, cell_square
from hubbub.summary import Summary


@dataclass(frozen=True)
class Cms(Sketch):
    """Words from reports of a row of bits."""

    name: ClassVar[str] = Device.name
    kinds: ClassVar[tuple[str, ...]] = Device.kinds
    source: ClassVar[str] = "Apple, Learning with privacy at scale, 2017, count mean sketch"
    examples: ClassVar[tuple[Mapping[str, Any], ...]] = ({"bits": 2, "hashes": 2}, {"bits": 4, "hashes": 1})
    encoder: Device

    @classmethod
    def from_epsilon(
        cls,
        epsilon: float,
        *,
        permanent_epsilon: float | None = None,
        bits: int = BITS,
        hashes: int = HASHES,
        cohorts: int | None = None,
    ) -> Self:
        """Loss of one report at most epsilon.

        Args:
            epsilon: Loss of one report, nats.
            permanent_epsilon: Must be left out.
            bits: Places in a row, a power of two.
            hashes: Rows, a power of two.
            cohorts: Must be left out.

        Raises:
            ParameterError: A parameter out of its range.
        """
        asked(epsilon, None)
        all_fresh(permanent_epsilon)
        refuse_cohorts(cohorts)
        flip = max(1, floor(SCALE / (exp(epsilon / 2) + 1)))
        while Device(bits, hashes, flip).prices(1).report > epsilon:
            flip += 1
        return cls(Device(bits, hashes, flip))

    @property
    def square(self) -> Square:
        """Mean square of a report's z."""
        return cell_square(self.encoder.hashes, *self._chances())

    @property
    def per_one(self) -> float:
        """Most by which one report can move its own z."""
        q, p = self._chances()
        return self.encoder.hashes / (p - q)

    @property
    def noise(self) -> Noise:
        """Variance of a report about a word."""
        q, p = self._chances()
        return Noise(1 / (4 * (p - q) ** 2), 0.5)

    @property
    def counts_shape(self) -> tuple[int, ...]:
        """Reports of each row, and ones of each of its bits."""
        return (self.encoder.hashes, 1 + self.encoder.bits)

    def moments(self, summary: Summary) -> tuple[Reals, Reals]:
        """(rows, bits) mean and variance of z over the reports."""
        return cell_moments(summary, *self._chances())

    def within(self, summary: Summary) -> tuple[Reals, Reals]:
        """(rows, bits) shares within each row, and (rows, 1) its reports."""
        return bits_within(summary, *self._chances())

    def alone(self, share: ArrayLike) -> Reals:
        """Variance of one report about a place of its own row at which this share of the devices stands."""
        return bit_variance(share, *self._chances())

    def randomise(self, values: Ints, source: WordSource) -> Reports:
        """(n,) -> (n, 1 + bits); a word for the row and one for each bit, read a block of people at a time.

        Raises:
            PrivateValueError: Values outside [0, size); named by position only.
        """
        e = self.encoder
        held(values, SIZE)
        reports = np.empty((len(values), 1 + e.bits), np.min_scalar_type(e.hashes - 1))
        for block in blocks(len(values), 1 + e.bits):
            part = values[block]
            words = source.words(len(part) * (1 + e.bits)).reshape(len(part), 1 + e.bits)
            rows = words[:, 0] & np.uint32(e.hashes - 1)
            sent = words[:, 1:] < np.uint32(e.flip)
            sent[np.arange(len(part)), places(e.shape, rows.astype(np.int64), part)[:, 0]] ^= True
            reports[block, 0], reports[block, 1:] = rows, sent
        return reports

    def summarise(self, reports: Reports) -> Summary:
        """(n, 1 + bits) -> reports of each row, and ones of each of its bits.

        Raises:
            ParameterError: The reports are not a row and its bits each.
        """
        return Summary(len(reports), ones_of(reports, self.encoder.radices))

    def simulate(self, truth_counts: ArrayLike, rng: np.random.Generator, values: ArrayLike | None = None) -> Summary:
        """(k,) devices of each of k values -> a summary: given the rows the bits are independent, so counts binomial.

        Args:
            truth_counts: Devices of each value.
            rng: What draws.
            values: The values; None: 0, 1, 2, ...

        Raises:
            ParameterError: Not one count per value.
            PrivateValueError: Values outside [0, size); named by position only.
        """
        rows, cells = self.standing(truth_counts, rng, values)
        q, p = self._chances()
        ones = rng.binomial(cells, p) + rng.binomial(rows[:, None] - cells, q)
        return Summary(int(rows.sum()), np.column_stack([rows, ones]).astype(np.int64))

    def _chances(self) -> tuple[float, float]:
        return self.encoder.flip / SCALE, 1 - self.encoder.flip / SCALE
