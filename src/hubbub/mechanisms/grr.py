"""Generalised randomised response: share = (c/n - q) / (p - q); what is sent stands in the encoder of the same name."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from hubbub.encoders.base import SCALE
from hubbub.encoders.grr import MAX_SIZE
from hubbub.encoders.grr import Grr as Device
from hubbub.mechanisms.base import Reports, WordSource, asked, below, held
from hubbub.mechanisms.categories import categories as domain
from hubbub.mechanisms.estimate import Ints
from hubbub.mechanisms.oracle import Oracle, Support, all_fresh, crowd_of, fields, lies
from hubbub.summary import Summary


@dataclass(frozen=True)
class Grr(Oracle):
    """Shares of few categories: the best oracle while there are fewer than 3 e^epsilon + 2 of them."""

    name: ClassVar[str] = Device.name
    kinds: ClassVar[tuple[str, ...]] = Device.kinds
    source: ClassVar[str] = "Kairouz, Bonawitz, Ramage, ICML 2016, section 3"
    examples: ClassVar[tuple[Mapping[str, Any], ...]] = (
        {"categories": ("red", "green")},
        {"categories": 2},
        {"lower": -1, "upper": 1, "buckets": 4},
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
        """Loss of one report at most epsilon.

        Args:
            epsilon: Loss of one report, nats.
            permanent_epsilon: Must be left out.
            categories: Labels beside `none`, or a number of categories.
            lower: Where the first bucket begins, instead of categories.
            upper: Where the last bucket ends.
            buckets: How many there are.

        Raises:
            ParameterError: A parameter out of its range.
        """
        asked(epsilon, None)
        all_fresh(permanent_epsilon)
        d = domain(categories, lower, upper, buckets, MAX_SIZE)
        return cls(Device(d.size, SCALE - lies(epsilon, d.size - 1)), d.lower, d.step, d.labels)

    @property
    def support(self) -> Support:
        """A report supports the category that it is."""
        p, q = self.encoder.chances()
        return Support(float(p), float(q), 0.0, 0.0)

    @property
    def counts_shape(self) -> tuple[int, ...]:
        """Reports of each category."""
        return (self.encoder.size,)

    def supports(self, summary: Summary) -> Ints:
        """(size,) reports of each category."""
        return summary.counts

    def randomise(self, values: Ints, source: WordSource) -> Reports:
        """(n,) -> (n, 1); two words a person (stays, which other).

        Raises:
            PrivateValueError: Values outside [0, size); named by position only.
        """
        e = self.encoder
        held(values, e.size)
        words = source.words(2 * len(values)).reshape(len(values), 2)
        other = below(e.size - 1, words[:, 1], source)
        other += other >= values
        return np.where(words[:, 0] < e.keep, values, other)[:, None]

    def summarise(self, reports: Reports) -> Summary:
        """(n, 1) -> how many reports each category got.

        Raises:
            ParameterError: The reports are not one category each.
        """
        column = fields(reports, self.encoder.radices)[:, 0]
        return Summary(len(reports), np.bincount(column, minlength=self.encoder.size).astype(np.int64))

    def simulate(self, truth_counts: ArrayLike, rng: np.random.Generator) -> Summary:
        """(size,) devices per value -> a summary: who stays is binomial, the others spread evenly.

        Raises:
            ParameterError: Not one count per value.
        """
        k = self.encoder.size
        crowd = crowd_of(truth_counts, k)
        stays = rng.binomial(crowd, float(self.encoder.chances()[0]))
        counts = stays.astype(np.int64)
        for value in np.flatnonzero(crowd - stays):
            spread = rng.multinomial(crowd[value] - stays[value], np.full(k - 1, 1 / (k - 1)))
            counts += np.insert(spread, value, 0)
        return Summary(int(crowd.sum()), counts)
