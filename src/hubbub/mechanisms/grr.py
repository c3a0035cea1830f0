"""Generalised randomised response: share = (c/n - q) / (p - q); what is sent stands in the encoder of the same name."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import floor
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hubbub.encoders.base import SCALE
from hubbub.encoders.choices import stays
from hubbub.encoders.grr import MAX_SIZE
from hubbub.encoders.grr import Grr as Device
from hubbub.mechanisms.base import Reports, WordSource, asked, below, held
from hubbub.mechanisms.categories import categories as domain
from hubbub.mechanisms.estimate import Ints
from hubbub.mechanisms.oracle import Oracle, Support, crowd_of, fields, gain_again, lies
from hubbub.summary import Summary


@dataclass(frozen=True)
class Grr(Oracle):
    """Shares of few categories: the best oracle while there are fewer than 3 e^epsilon + 2 of them.

    With permanent answers this is L-GRR of the literature, but with a second round that uses all of epsilon.
    """

    name: ClassVar[str] = Device.name
    kinds: ClassVar[tuple[str, ...]] = Device.kinds
    memo: ClassVar[bool] = True
    source: ClassVar[str] = "Kairouz, Bonawitz, Ramage, ICML 2016, k-RR"
    examples: ClassVar[tuple[Mapping[str, Any], ...]] = (
        {"categories": ("red", "green")},
        {"categories": 2},
        {"lower": -1, "upper": 1, "buckets": 4},
        {"categories": 2, "permanent_epsilon": 2.5},
        {"categories": 3, "permanent_epsilon": 1.0},
    )
    encoder: Device

    @classmethod
    def from_epsilon(
        cls,
        epsilon: float,
        *,
        permanent_epsilon: float | None = None,
        categories: Sequence[str] | int | None = None,
        lower: float | None = None,
        upper: float | None = None,
        buckets: int | None = None,
    ) -> Self:
        """Losses at most as asked; permanent_epsilon = None draws everything afresh.

        Args:
            epsilon: Loss of one report, nats.
            permanent_epsilon: Loss of a device that never changes, nats.
            categories: Labels beside `none`, or a number of categories.
            lower: Where the first bucket begins, instead of categories.
            upper: Where the last bucket ends.
            buckets: How many there are.

        Raises:
            ParameterError: A parameter out of its range.
        """
        asked(epsilon, permanent_epsilon)
        d = domain(categories, lower, upper, buckets, MAX_SIZE)
        keep = SCALE - lies(permanent_epsilon or epsilon, d.size - 1)
        if permanent_epsilon is None:
            return cls(Device(d.size, keep, 0, 0), d.lower, d.step, d.labels)
        gain = gain_again(epsilon, d.size, stays(keep, d.size))
        again = min(SCALE, floor(SCALE * (1 + (d.size - 1) * gain) / d.size) + 1)
        while Device(d.size, keep, again, 1).prices(1).report > epsilon:
            again -= 1
        return cls(Device(d.size, keep, again, 1), d.lower, d.step, d.labels)

    @property
    def support(self) -> Support:
        """A report supports the category that it is."""
        p, q = self.encoder.chances()
        return Support(float(p), float(q), 0.0, 0.0)

    @property
    def permanent_support(self) -> Support:
        """A permanent answer supports the category that it is."""
        if not self.encoder.memo:
            return super().permanent_support
        p, q = stays(self.encoder.keep, self.encoder.size)
        return Support(float(p), float(q))

    @property
    def counts_shape(self) -> tuple[int, ...]:
        """Reports of each category."""
        return (self.encoder.size,)

    def supports(self, summary: Summary) -> Ints:
        """(size,) reports of each category."""
        return summary.counts

    def randomise(self, values: Ints, source: WordSource) -> Reports:
        """(n,) -> (n, 1); two words a person (stays, which other), and two more for the second round where memo.

        Raises:
            PrivateValueError: Values outside [0, size); named by position only.
        """
        e = self.encoder
        held(values, e.size)
        words = source.words(2 * (1 + e.memo) * len(values)).reshape(len(values), 1 + e.memo, 2)
        sent = self._disguised(values, e.keep, words[:, 0], source)
        return (self._disguised(sent, e.again, words[:, 1], source) if e.memo else sent)[:, None]

    def _disguised(self, categories: Ints, keep: int, words: NDArray[np.uint32], source: WordSource) -> Ints:
        """(n,) categories and (n, 2) words -> (n,) categories after one round."""
        other = below(self.encoder.size - 1, words[:, 1], source)
        other += other >= categories
        return np.where(words[:, 0] < keep, categories, other)

    def summarise(self, reports: Reports) -> Summary:
        """(n, 1) -> how many reports each category got.

        Raises:
            ParameterError: The reports are not one category each.
        """
        column = fields(reports, self.encoder.radices)[:, 0]
        return Summary(len(reports), np.bincount(column, minlength=self.encoder.size).astype(np.int64))

    def simulate(self, truth_counts: ArrayLike, rng: np.random.Generator) -> Summary:
        """(size,) devices per value -> a summary: a share p - q of reports, binomial, stays; the others say anything.

        Raises:
            ParameterError: Not one count per value.
        """
        k, (p, q) = self.encoder.size, self.encoder.chances()
        crowd = crowd_of(truth_counts, k)
        stays = rng.binomial(crowd, float(p - q))
        n = int(crowd.sum())
        anything = rng.multinomial(n - int(stays.sum()), np.full(k, 1 / k))
        return Summary(n, np.asarray(stays + anything, np.int64))
