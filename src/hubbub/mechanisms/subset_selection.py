"""Subset selection: share = (c/n - q) / (p - q); what is sent stands in the encoder of the same name."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import exp, floor
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hubbub.encoders.base import SCALE
from hubbub.encoders.subset_selection import MAX_SIZE
from hubbub.encoders.subset_selection import SubsetSelection as Device
from hubbub.errors import ParameterError
from hubbub.mechanisms.base import Reports, WordSource, asked, at_once, held
from hubbub.mechanisms.categories import categories as domain
from hubbub.mechanisms.columns import blocks, count_ones
from hubbub.mechanisms.estimate import Ints
from hubbub.mechanisms.floyd import CELLS, Floyd
from hubbub.mechanisms.oracle import Oracle, Support, all_fresh, crowd_of, lies
from hubbub.mechanisms.subset_loop import compiled
from hubbub.summary import Summary

Words = NDArray[np.uint32]


@dataclass(frozen=True)
class SubsetSelection(Oracle):
    """Shares of categories: of least variance, or nearly, at every loss and for any number of them."""

    name: ClassVar[str] = Device.name
    kinds: ClassVar[tuple[str, ...]] = Device.kinds
    source: ClassVar[str] = "Ye, Barg, IEEE Transactions on Information Theory 64 (2018) 5662-5676"
    examples: ClassVar[tuple[Mapping[str, Any], ...]] = (
        {"categories": ("red", "green")},
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
        """Loss of one report at most epsilon, sets of the size that gives rare categories the least variance.

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
        even = floor(d.size / (exp(epsilon) + 1))  # the best size for even shares; for rare ones the best is near it
        sizes = range(max(even - 1, 1), min(even + 1, d.size - 1) + 1)
        devices = [Device(d.size, omega, SCALE - lies(epsilon, d.size - omega, omega)) for omega in sizes]
        return cls(min(devices, key=_variance), d.lower, d.step, d.labels)

    @property
    def support(self) -> Support:
        """A report supports the categories in its set."""
        e = self.encoder
        p, q = e.chances()
        pair = p * (e.omega - 1) / (e.size - 1)
        others = (e.omega - 1) * (e.omega - 2 * p) / ((e.size - 1) * max(e.size - 2, 1))
        return Support(float(p), float(q), float(pair), float(others))

    @property
    def counts_shape(self) -> tuple[int, ...]:
        """Sets that hold each category."""
        return (self.encoder.size,)

    def supports(self, summary: Summary) -> Ints:
        """(size,) sets that hold each category."""
        return summary.counts

    def randomise(self, values: Ints, source: WordSource) -> Reports:
        """(n,) -> (n, size); omega + 2 words a person (own, others, left).

        A block as large as those of `collect` is worth waiting for numba, where that is installed.

        Raises:
            PrivateValueError: Values outside [0, size); named by position only.
        """
        e = self.encoder
        held(values, e.size)
        bounds = [1, *range(e.size - e.omega, e.size), e.omega]
        words = accepted(source.words(len(values) * len(bounds)).reshape(-1, len(bounds)), bounds, source)
        sets = np.empty((len(values), e.size), np.uint8)
        if len(values) >= at_once(e) and (fill := compiled()) is not None:
            fill(words, values, e.keep, e.omega, sets)
            return sets
        parts = blocks(len(values), e.size, CELLS)
        others = Floyd.of(e.size - 1, e.omega, e.size, parts[0].stop)
        for block in parts:
            sets[block] = self._sets(others, values[block], words[block])
        return sets

    def _sets(self, others: Floyd, values: Ints, words: Words) -> NDArray[np.bool_]:
        """(people, omega + 2) words -> (people, size) sets of people with these values."""
        sets, drawn = others.sets(words[:, 1:-1])
        rows, stays = np.arange(len(values)), words[:, 0] < np.uint32(self.encoder.keep)
        left = drawn[rows, words[:, -1] % np.uint32(self.encoder.omega)]
        sets.ravel()[left] = ~stays
        sets[:, -1] = sets[rows, values]  # the own category's number is that of the last one
        sets[rows, values] = stays
        return sets

    def summarise(self, reports: Reports) -> Summary:
        """(n, size) -> how many sets hold each category.

        Raises:
            ParameterError: The reports are not sets of omega categories.
        """
        counts, omega = count_ones(reports, self.encoder.size), self.encoder.omega
        if counts.sum() != len(reports) * omega:
            raise ParameterError("reports", f"{counts.sum()} ones in {len(reports)}", f"{omega} ones in each")
        return Summary(len(reports), counts)

    def simulate(self, truth_counts: ArrayLike, rng: np.random.Generator) -> Summary:
        """(size,) devices per value -> a summary, category after category.

        Devices that still need so many others are alike, so it is enough to count them, apart by whether their own
        category is still to come and whether it is in the set.

        Raises:
            ParameterError: Not one count per value.
        """
        e = self.encoder
        crowd = crowd_of(truth_counts, e.size)
        stays = rng.binomial(crowd, float(e.chances()[0]))
        owners = np.array([crowd - stays, stays])  # by whether the own category is in the set
        state = np.zeros((3, e.omega + 1), np.int64)  # own category ahead, out or in; own one behind; by others needed
        state[0, e.omega], state[1, e.omega - 1] = owners.sum(axis=1)
        needed, own = np.arange(e.omega + 1), np.array([[1], [1], [0]])
        counts = stays.astype(np.int64)
        for category in range(e.size):
            here = [rng.multivariate_hypergeometric(state[i], owners[i, category]) for i in (0, 1)]
            state[:2] -= here
            others = np.maximum(e.size - category - own, 1)
            taken = rng.binomial(state, np.minimum(needed / others, 1))
            counts[category] += taken.sum()
            state -= taken
            state[:, :-1] += taken[:, 1:]
            state[2] += here[0] + here[1]
        return Summary(int(crowd.sum()), counts)


def _variance(device: Device) -> Fraction:
    """Of the share of a category that nobody has, from one report."""
    p, q = device.chances()
    return q * (1 - q) / (p - q) ** 2


def remainder(words: Words, bound: int) -> Ints:
    """Words modulo a bound; numpy divides a whole register at a time, but takes remainders one by one."""
    divisor = np.uint32(bound)
    return (words - words // divisor * divisor).astype(np.int64)


def accepted(words: Words, bounds: Sequence[int], source: WordSource) -> Words:
    """Words (n, width) of which those that `below` refuses are drawn again, column after column."""
    limits = [SCALE - SCALE % bound for bound in bounds]
    if not len(words) or words.max() < min(limits):
        return words
    largest = words.max(axis=0).tolist()
    refused = [place for place, (word, limit) in enumerate(zip(largest, limits, strict=True)) if word >= limit]
    if refused:
        words = words.copy()
    for place in refused:
        column = words[:, place]
        while (bad := np.flatnonzero(column >= limits[place])).size:
            column[bad] = source.words(bad.size)
    return words
