"""What the unary encodings share: a report supports the categories whose bits are set; the bits are independent."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import exp, floor
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from hubbub.encoders.base import SCALE
from hubbub.encoders.unary import MAX_SIZE
from hubbub.encoders.unary import Unary as Device
from hubbub.mechanisms.base import Reports, WordSource, asked, held
from hubbub.mechanisms.categories import categories as domain
from hubbub.mechanisms.columns import blocks, count_ones
from hubbub.mechanisms.estimate import Ints
from hubbub.mechanisms.oracle import Oracle, Support, all_fresh, crowd_of
from hubbub.summary import Summary


@dataclass(frozen=True)
class Unary(Oracle):
    """Shares of categories from a bit for each; subclasses say which device sends them."""

    kinds: ClassVar[tuple[str, ...]] = Device.kinds
    examples: ClassVar[tuple[Mapping[str, Any], ...]] = (
        {"categories": ("red", "green")},
        {"lower": -1, "upper": 1, "buckets": 2},
    )
    device: ClassVar[type[Device]]
    other: ClassVar[float]  # part of the loss that is between 1 and 0 of another category's bit
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
        lie = floor(SCALE / (exp(cls.other * epsilon) + 1))
        while cls.device(d.size, lie).prices(1).report > epsilon:
            lie += 1
        return cls(cls.device(d.size, lie), d.lower, d.step, d.labels)

    @property
    def support(self) -> Support:
        """A report supports the categories whose bits are set."""
        p, q = map(float, self.encoder.chances())
        return Support(p, q, p * q, q * q)

    @property
    def counts_shape(self) -> tuple[int, ...]:
        """Ones of each bit."""
        return (self.encoder.size,)

    def supports(self, summary: Summary) -> Ints:
        """(size,) ones of each bit."""
        return summary.counts

    def randomise(self, values: Ints, source: WordSource) -> Reports:
        """(n,) -> (n, size); a word for each bit of a person, read a block of people at a time.

        Raises:
            PrivateValueError: Values outside [0, size); named by position only.
        """
        e = self.encoder
        held(values, e.size)
        bits = np.empty((len(values), e.size), np.bool_)
        for block in blocks(len(values), e.size):
            sent, own = bits[block], values[block]
            rows = np.arange(len(own))
            words = source.words(sent.size).reshape(sent.shape)
            np.less(words, np.uint32(e.lie), out=sent)
            sent[rows, own] = words[rows, own] < e.own
        return bits.view(np.uint8)

    def summarise(self, reports: Reports) -> Summary:
        """(n, size) -> ones of each bit.

        Raises:
            ParameterError: The reports are not a bit for each category.
        """
        return Summary(len(reports), count_ones(reports, self.encoder.size))

    def simulate(self, truth_counts: ArrayLike, rng: np.random.Generator) -> Summary:
        """(size,) devices per value -> a summary: the bits are independent, so their counts are binomial.

        Raises:
            ParameterError: Not one count per value.
        """
        crowd = crowd_of(truth_counts, self.encoder.size)
        n, (p, q) = int(crowd.sum()), map(float, self.encoder.chances())
        return Summary(n, np.asarray(rng.binomial(crowd, p) + rng.binomial(n - crowd, q), np.int64))
