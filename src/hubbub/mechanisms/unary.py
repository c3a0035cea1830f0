"""What the unary encodings share: a report supports the categories whose bits are set; the bits are independent."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import exp, floor
from typing import Any, ClassVar, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from hubbub.encoders.base import SCALE, Encoder
from hubbub.encoders.unary import MAX_SIZE
from hubbub.encoders.unary import Unary as Device
from hubbub.mechanisms.base import Reports, WordSource, asked, held, second_round
from hubbub.mechanisms.categories import categories as domain
from hubbub.mechanisms.columns import blocks, count_ones
from hubbub.mechanisms.estimate import Ints
from hubbub.mechanisms.oracle import Oracle, Support, crowd_of
from hubbub.summary import Summary

Device_ = TypeVar("Device_", bound=Encoder)


@dataclass(frozen=True)
class Unary(Oracle):
    """Shares of categories from a bit for each; subclasses say which device sends them."""

    kinds: ClassVar[tuple[str, ...]] = Device.kinds
    examples: ClassVar[tuple[Mapping[str, Any], ...]] = (
        {"categories": ("red", "green")},
        {"lower": -1, "upper": 1, "buckets": 2},
        {"categories": ("red", "green"), "permanent_epsilon": 2.5},
    )
    memo: ClassVar[bool] = True
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
        """Loss of one report at most epsilon, of a device that never changes at most permanent_epsilon.

        Args:
            epsilon: Loss of one report, nats.
            permanent_epsilon: Loss of a device that never changes, nats; None: no permanent answers.
            categories: Labels beside `none`, or a number of categories.
            lower: Where the first bucket begins, instead of categories.
            upper: Where the last bucket ends.
            buckets: How many there are.

        Raises:
            ParameterError: A parameter out of its range.
        """
        asked(epsilon, permanent_epsilon)
        d = domain(categories, lower, upper, buckets, MAX_SIZE)
        device = within(partial(cls.device, d.size), epsilon, permanent_epsilon, cls.other)
        return cls(device, d.lower, d.step, d.labels)

    @property
    def support(self) -> Support:
        """A report supports the categories whose bits are set."""
        p, q = map(float, self.encoder.chances())
        return Support(p, q, p * q, q * q)

    @property
    def permanent_support(self) -> Support:
        """A permanent answer supports the categories whose bits are set."""
        return Support(*map(float, self.encoder.kept())) if self.encoder.memo else super().permanent_support

    @property
    def counts_shape(self) -> tuple[int, ...]:
        """Ones of each bit."""
        return (self.encoder.size,)

    def supports(self, summary: Summary) -> Ints:
        """(size,) ones of each bit."""
        return summary.counts

    def randomise(self, values: Ints, source: WordSource) -> Reports:
        """(n,) -> (n, size); a word for each bit of a person, two and the own one where `memo`, a block at a time.

        Raises:
            PrivateValueError: Values outside [0, size); named by position only.
        """
        e = self.encoder
        held(values, e.size)
        bits = np.empty((len(values), e.size), np.bool_)
        wide = e.size + e.memo * (1 + e.size)
        for block in blocks(len(values), wide):
            sent, own = bits[block], values[block]
            rows = np.arange(len(own))
            words = source.words(len(own) * wide).reshape(len(own), wide)
            np.less(words[:, : e.size], np.uint32(e.lie), out=sent)
            sent[rows, own] = words[rows, e.size if e.memo else own] < e.own
            if e.memo:
                sent ^= words[:, e.size + 1 :] < np.uint32(e.flip)
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


def within(
    device: Callable[[int, int, int], Device_], epsilon: float, permanent_epsilon: float | None, share: float
) -> Device_:
    """The device, of its integers lie, flip and memo, that lies least within these losses.

    Args:
        device: Builds it.
        epsilon: Loss of one report, nats.
        permanent_epsilon: Loss of a device that never changes, nats; None: no permanent answers.
        share: Part of a loss that is between the two chances of a bit that `lie` and `flip` decide.
    """
    always = epsilon if permanent_epsilon is None else permanent_epsilon
    lie = floor(SCALE / (exp(share * always) + 1))
    while device(lie, 0, 0).prices(1).report > always:
        lie += 1
    if permanent_epsilon is None:
        return device(lie, 0, 0)
    flip = 0
    if always > epsilon:
        flip = max(1, second_round(share * epsilon, share * always, lie) - 2)
    while device(lie, flip, 1).prices(1).report > epsilon:
        flip += 1
    return device(lie, flip, 1)
