"""Hadamard count mean sketch: shares of words from one bit a report; see the encoder of the same name."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hubbub.encoders.base import SCALE
from hubbub.encoders.hcms import Hcms as Device
from hubbub.encoders.words import SIZE
from hubbub.errors import ParameterError
from hubbub.mechanisms.base import Reports, WordSource, asked, held, threshold
from hubbub.mechanisms.columns import blocks
from hubbub.mechanisms.estimate import Ints, Reals
from hubbub.mechanisms.oracle import all_fresh, checked, fields
from hubbub.mechanisms.places import places
from hubbub.mechanisms.sketch import BITS, HASHES, Noise, Sketch, refuse_cohorts
from hubbub.mechanisms.words import Square
from hubbub.summary import Summary

DEVICES = 1 << 20  # whose columns are drawn at a time


@dataclass(frozen=True)
class Hcms(Sketch):
    """Words from reports of one bit, its row and its column."""

    name: ClassVar[str] = Device.name
    kinds: ClassVar[tuple[str, ...]] = Device.kinds
    source: ClassVar[str] = "Apple, Learning with privacy at scale, 2017, Hadamard count mean sketch"
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
        flip = threshold(epsilon) - 2
        while flip < 1 or Device(bits, hashes, flip).prices(1).report > epsilon:
            flip += 1
        return cls(Device(bits, hashes, flip))

    @property
    def square(self) -> Square:
        """Mean square of a report's z: of its own row's cells it is always the same."""
        return Square(self.encoder.hashes * self._scale**2, 0.0)

    @property
    def per_one(self) -> float:
        """Most by which one report can move its own z."""
        return 2 * self.encoder.hashes * self._scale

    @property
    def noise(self) -> Noise:
        """Variance of a report about a word."""
        return Noise(self._scale**2, 0.0)

    @property
    def counts_shape(self) -> tuple[int, ...]:
        """Zeros and ones of each column of each row."""
        return (self.encoder.hashes, self.encoder.bits, 2)

    def checked(self, summary: Summary) -> Summary:
        """The summary, if so many reports can have it.

        Raises:
            ParameterError: They cannot, or there are none.
        """
        if checked(summary).counts.sum() != summary.n:
            raise ParameterError("summary.counts", f"{summary.counts.sum()} in all", f"{summary.n}, one per report")
        return summary

    def moments(self, summary: Summary) -> tuple[Reals, Reals]:
        """(rows, bits) mean and variance of z over the reports."""
        gain, n = self.encoder.hashes * self._scale, summary.n
        reports, signs = self._signs(summary)
        mean = signs / n
        pluses, minuses = (reports + signs) / 2, (reports - signs) / 2
        variance = ((n - reports) * mean**2 + pluses * (1 - mean) ** 2 + minuses * (1 + mean) ** 2) / n
        return gain * mean, gain**2 * variance

    def within(self, summary: Summary) -> tuple[Reals, Reals]:
        """(rows, bits) shares within each row, and (rows, 1) its reports."""
        reports, signs = self._signs(summary)
        return self._scale * signs / np.maximum(reports, 1), reports

    def alone(self, share: ArrayLike) -> Reals:
        """Variance of one report about a place of its own row at which this share of the devices stands."""
        return np.asarray(self._scale**2 - np.square(share))

    def randomise(self, values: Ints, source: WordSource) -> Reports:
        """(n,) -> (n, 3); three words a person (row, column, wrong), read a block of people at a time.

        Raises:
            PrivateValueError: Values outside [0, size); named by position only.
        """
        e = self.encoder
        held(values, SIZE)
        reports = np.empty((len(values), 3), np.uint32)
        for block in blocks(len(values), 3):
            part = values[block]
            words = source.words(3 * len(part)).reshape(len(part), 3)
            rows, columns = words[:, 0] & np.uint32(e.hashes - 1), words[:, 1] & np.uint32(e.bits - 1)
            at = places(e.shape, rows.astype(np.int64), part)[:, 0].astype(np.uint32)
            reports[block, 0], reports[block, 1] = rows, columns
            reports[block, 2] = even(at & columns) ^ (words[:, 2] < np.uint32(e.flip))
        return reports

    def summarise(self, reports: Reports) -> Summary:
        """(n, 3) -> zeros and ones of each column of each row.

        Raises:
            ParameterError: The reports are not a row, a column and a bit each.
        """
        sent = fields(reports, self.encoder.radices)
        rows, bits, _ = self.counts_shape
        at = (sent[:, 0].astype(np.int64) * bits + sent[:, 1]) * 2 + sent[:, 2]
        return Summary(len(reports), np.bincount(at, minlength=rows * bits * 2).reshape(self.counts_shape))

    def simulate(self, truth_counts: ArrayLike, rng: np.random.Generator, values: ArrayLike | None = None) -> Summary:
        """(k,) devices of each of k values -> a summary: devices at one place differ in nothing, so places are drawn.

        Args:
            truth_counts: Devices of each value.
            rng: What draws.
            values: The values; None: 0, 1, 2, ...

        Raises:
            ParameterError: Not one count per value.
            PrivateValueError: Values outside [0, size); named by position only.
        """
        rows, cells = self.standing(truth_counts, rng, values)
        bits, wrong = self.encoder.bits, self.encoder.flip / SCALE
        counts = np.zeros((len(rows), 2 * bits), np.int64)
        for row, standing in enumerate(cells):
            ends = np.cumsum(standing)
            for start in range(0, int(rows[row]), DEVICES):
                people = np.arange(start, min(start + DEVICES, int(rows[row])))
                at = np.searchsorted(ends, people, side="right").astype(np.uint32)
                columns = rng.integers(bits, size=len(people), dtype=np.uint32)
                sent = even(at & columns) ^ (rng.random(len(people)) < wrong)
                counts[row] += np.bincount(2 * columns.astype(np.int64) + sent, minlength=2 * bits)
        return Summary(int(rows.sum()), counts.reshape(self.counts_shape))

    def _signs(self, summary: Summary) -> tuple[Reals, Reals]:
        """(rows, 1) reports of each row, and (rows, bits) pluses less minuses among them for each place."""
        zeros, ones = summary.counts[:, :, 0].astype(float), summary.counts[:, :, 1]
        return (zeros + ones).sum(axis=1, keepdims=True), transformed(ones - zeros)

    @property
    def _scale(self) -> float:
        """What a plus stands for: 1 / (1 - 2 g)."""
        return SCALE / (SCALE - 2 * self.encoder.flip)


def even(numbers: NDArray[np.uint32]) -> NDArray[np.bool_]:
    """(n,) numbers below 2**16 -> whether they have an even number of binary ones."""
    folded = numbers.copy()
    for shift in (8, 4, 2, 1):
        folded ^= folded >> np.uint32(shift)
    return np.asarray(folded & np.uint32(1) == 0)


def transformed(rows: Reals) -> Reals:
    """(k, m) -> (k, m) their Hadamard transforms, m a power of two; not normalised.

    The matrix of m is the Kronecker product of two smaller ones, so a row written as a matrix is multiplied by either.
    """
    k, m = rows.shape
    right = 1 << m.bit_length() // 2
    left = m // right
    return np.asarray(_hadamard(left) @ rows.reshape(k, left, right) @ _hadamard(right)).reshape(k, m)


def _hadamard(m: int) -> Reals:
    """(m, m) -1 where row and column have an odd number of binary ones in common, 1 elsewhere."""
    numbers = np.arange(m, dtype=np.uint32)
    return np.where(even(numbers[:, None] & numbers), 1.0, -1.0)
