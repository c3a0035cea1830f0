"""Duchi's mechanism for vectors: means are lines over the ones; what is sent stands in the encoder of the same name.

With g the gain, the chance that a coordinate's bit is 1 grows evenly from (1 - g) / 2 to (1 + g) / 2 over its range. In
units of half the range each report says 1/g or -1/g about each coordinate, so the variance at t is 1/g² - t².
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from math import comb
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from hubbub.encoders.base import SCALE
from hubbub.encoders.duchi_vector import MAX_BITS, at_least
from hubbub.encoders.duchi_vector import DuchiVector as Device
from hubbub.errors import ParameterError
from hubbub.mechanisms.base import Reports, WordSource, asked
from hubbub.mechanisms.coin import Coin, Line
from hubbub.mechanisms.columns import count_ones
from hubbub.mechanisms.estimate import Ints
from hubbub.mechanisms.oracle import all_fresh, lies
from hubbub.mechanisms.subset_selection import accepted, remainder
from hubbub.mechanisms.vector import TICKS, Vectors, grid, rounds
from hubbub.summary import Summary


@dataclass(frozen=True)
class DuchiVector(Vectors, Coin):
    """Means of a few coordinates from a bit for each, none of which says much by itself."""

    name: ClassVar[str] = Device.name
    memo: ClassVar[bool] = False
    source: ClassVar[str] = "Duchi, Jordan, Wainwright, JASA 113 (2018), section 4.2"
    examples: ClassVar[tuple[Mapping[str, Any], ...]] = (
        {"dimension": 2, "ticks": 1, "norm": 3, "agree": 1},
        {"dimension": 3, "ticks": 1},
    )
    encoder: Device

    @classmethod
    def from_epsilon(
        cls,
        epsilon: float,
        *,
        permanent_epsilon: float | None = None,
        dimension: int,
        norm: float = 1.0,
        ticks: int = TICKS,
        agree: int | None = None,
    ) -> Self:
        """Loss of one report at most epsilon.

        Args:
            epsilon: Loss of one report, nats.
            permanent_epsilon: Must be left out.
            dimension: Coordinates, at most 32.
            norm: Largest size of a coordinate, in the unit; larger ones are clipped.
            ticks: Steps of the grid of each coordinate, from -norm to norm; values in between are rounded.
            agree: Right ends from which on a pattern is sent more often; by default what is best. Half of the
                coordinates, rounded up, is the mechanism of the papers.

        Raises:
            ParameterError: A parameter out of its range.
        """
        asked(epsilon, None)
        all_fresh(permanent_epsilon)
        lower, step = grid(norm, dimension, ticks, MAX_BITS)
        agree = best(dimension, epsilon) if agree is None else agree
        if not isinstance(agree, int) or isinstance(agree, bool) or not 1 <= agree <= dimension:
            raise ParameterError("agree", agree, f"an integer in [1, {dimension}]")
        keep = keep_of(dimension, agree, epsilon)
        if keep <= SCALE * at_least(dimension, agree) >> dimension:
            raise ParameterError("agree", agree, f"one at which steps of 2**-32 can tell epsilon = {epsilon:g} from 0")
        return cls(Device(dimension, ticks, agree, keep), lower, step)

    @property
    def counts_shape(self) -> tuple[int, ...]:
        """The ones of each coordinate."""
        return (self.encoder.dimension,)

    @property
    def line(self) -> Line:
        """The chance of a 1 over each coordinate's mean."""
        half = float(self.encoder.gain()) / 2
        return Line(self.lower, self.span, 0.5 - half, 0.5 + half, 0.0)

    def encode(self, values: Ints, source: WordSource) -> Reports:
        """Words of a person: an end for each coordinate unless each tick is one, which patterns, one of each kind."""
        e = self.encoder
        wide = rounds(e) * e.dimension
        bounds = [*[e.ticks] * wide, 1, *e.patterns]
        words = source.words(len(values) * len(bounds)).reshape(len(values), len(bounds))
        words = accepted(words, bounds, source)
        agrees = words[:, wide] < np.uint32(e.keep)
        inside, outside = (remainder(words[:, wide + 1 + i], bound) for i, bound in enumerate(e.patterns))
        least = np.where(agrees, e.agree, e.dimension - e.agree + 1)
        same = patterns(np.where(agrees, inside, outside), e.dimension, least)
        return np.asarray((self.ends(values, words[:, :wide]) == (same == agrees[:, None])).view(np.uint8))

    def summarise(self, reports: Reports) -> Summary:
        """(n, dimension) -> the ones of each coordinate.

        Raises:
            ParameterError: The reports are not so many bits each.
        """
        return Summary(len(reports), count_ones(reports, self.encoder.dimension))


def keep_of(dimension: int, agree: int, epsilon: float) -> int:
    """Words that lead to a pattern that agrees, for a loss of at most epsilon."""
    agreeing = at_least(dimension, agree)
    return SCALE - lies(epsilon, 2**dimension - agreeing, agreeing)


@lru_cache(maxsize=1024)
def best(dimension: int, epsilon: float) -> int:
    """The `agree` of the largest gain, of the integers that it leads to."""
    gains = {}
    for agree in range(1, dimension + 1):
        agreeing, keep = at_least(dimension, agree), keep_of(dimension, agree, epsilon)
        p, q = keep / agreeing, (SCALE - keep) / (2**dimension - agreeing)
        gains[agree] = (p - q) * comb(dimension - 1, agree - 1)
    return max(gains, key=lambda agree: gains[agree])


def patterns(numbers: Ints, bits: int, ones: Ints) -> NDArray[np.bool_]:
    """(n, bits) the patterns with these numbers among those with at least so many ones; see the encoder's `pattern`."""
    table = np.array([[at_least(left, least) for least in range(bits + 2)] for left in range(bits)], np.int64)
    found = np.empty((bits, len(numbers)), np.bool_)
    numbers, ones = numbers.copy(), ones.copy()
    for place, left in enumerate(reversed(range(bits))):
        zeros = table[left][np.maximum(ones, 0)]
        np.greater_equal(numbers, zeros, out=found[place])
        numbers -= zeros * found[place]
        ones -= found[place]
    return found.T
