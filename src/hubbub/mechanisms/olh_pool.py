"""Local hashing with a small pool of seeds: share = (c/n - q) / (p - q), c from how often each pair of fields came.

With w a root of 1, w**g = 1, the reports (s, y) that support v are those with y = <s, v>, so

    g c_v = sum over l of F(l v, -l),   F(u, m) = sum over reports of w**-(<s, u> + m y)

and F is one Fourier transform of the counts. Every c_v is a whole number and rounding takes the transform's error away.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import floor
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from hubbub.encoders.base import SCALE
from hubbub.encoders.choices import stays
from hubbub.encoders.hashed import is_prime
from hubbub.encoders.olh_pool import MAX_CELLS, MAX_SIZE
from hubbub.encoders.olh_pool import OlhPool as Device
from hubbub.errors import ParameterError
from hubbub.mechanisms.base import Reports, asked
from hubbub.mechanisms.categories import categories as domain
from hubbub.mechanisms.estimate import Ints
from hubbub.mechanisms.hashed import Hashed, remainder
from hubbub.mechanisms.olh import hashes
from hubbub.mechanisms.oracle import Support, fields, gain_again
from hubbub.summary import Summary

PRIMES = tuple(g for g in range(2, 1024) if is_prime(g))  # of larger ones g ** 2 > MAX_CELLS


@dataclass(frozen=True)
class OlhPool(Hashed):
    """Shares of many categories, with fewer seeds than `olh` and without an error of the pool.

    With permanent answers this is LOLOHA of the literature, with seeds that many devices share and a second round that
    uses all of epsilon.
    """

    name: ClassVar[str] = Device.name
    kinds: ClassVar[tuple[str, ...]] = Device.kinds
    memo: ClassVar[bool] = True
    source: ClassVar[str] = (
        "Wang, Blocki, Li, Jha, USENIX Security 2017; Cormode, Maddock, Maple, VLDB 2021; "
        "Arcolezi, Pinzón, Palamidessi, Gambs, EDBT 2023"
    )
    examples: ClassVar[tuple[Mapping[str, Any], ...]] = (
        {"categories": ("red", "green")},
        {"categories": 4, "g": 2},
        {"lower": -1, "upper": 1, "buckets": 4, "g": 3},
        {"categories": 3, "g": 2, "permanent_epsilon": 1.0},
        {"categories": 4, "g": 3, "permanent_epsilon": 2.5},
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
        g: int | None = None,
    ) -> Self:
        """Losses at most as asked; permanent_epsilon = None draws everything afresh.

        Args:
            epsilon: Loss of one report, nats.
            permanent_epsilon: Loss of a device that never changes, nats.
            categories: Labels beside `none`, or a number of categories.
            lower: Where the first bucket begins, instead of categories.
            upper: Where the last bucket ends.
            buckets: How many there are.
            g: Different hashes, a prime; by default the one that gives rare categories the least variance. Fewer of
                them make changes cheaper.

        Raises:
            ParameterError: A parameter out of its range.
        """
        asked(epsilon, permanent_epsilon)
        d = domain(categories, lower, upper, buckets, MAX_SIZE)
        device = _best(epsilon, d.size) if g is None else _fresh(epsilon, d.size, g)
        if permanent_epsilon is not None:
            device = _kept(epsilon, permanent_epsilon, d.size, device.g)
        return cls(device, d.lower, d.step, d.labels)

    @property
    def permanent_support(self) -> Support:
        """A permanent answer supports the categories whose hash it is."""
        if not self.encoder.memo:
            return super().permanent_support
        p, q = stays(self.encoder.rounds()[0], self.encoder.g)
        return Support(float(p), float(q + self.encoder.collisions * (p - q)))

    @property
    def opposed(self) -> float:
        """Two values can share a hash with a third one under fewer seeds than if they did so independently."""
        e = self.encoder
        if not e.memo or e.seeds == 1:
            return 0.0
        p, q = stays(e.rounds()[0], e.g)
        one, both = e.collisions, Fraction(e.g ** (e.digits - 2) - 1, e.g**e.digits - 1)
        least = both * p * (1 - p) + (one - both) * q * (1 - q) - (p - q) ** 2 * (one**2 - both)
        return max(0.0, -float(least))

    @property
    def rounds(self) -> tuple[int, ...]:
        """Share of words, in each round, that replace a hash by a certain other one, out of 2**32."""
        return (self.encoder.lie, self.encoder.flip)[: 1 + self.encoder.memo]

    @property
    def counts_shape(self) -> tuple[int, ...]:
        """Reports of each seed with each hash."""
        return self.encoder.radices

    def hashes(self, seeds: NDArray[np.uint32], values: Ints) -> NDArray[np.uint32]:
        """(n,) seeds and values -> (n,) the values' hashes, digit by digit."""
        g = np.uint32(self.encoder.g)
        total = np.zeros(len(seeds), np.uint32)
        left, right = self._numbers()[seeds], values.astype(np.uint32)
        for _ in range(self.encoder.digits):
            more, higher = left // g, right // g
            total += (left - more * g) * (right - higher * g)
            left, right = more, higher
        return remainder(total, g)

    def summarise(self, reports: Reports) -> Summary:
        """(n, 2) -> how many reports have each seed and hash.

        Raises:
            ParameterError: The reports are not a seed and a hash each.
        """
        seeds, g = self.counts_shape
        sent = fields(reports, (seeds, g))
        cells = sent[:, 0].astype(np.int64) * g + sent[:, 1]
        return Summary(len(sent), np.bincount(cells, minlength=seeds * g).reshape(seeds, g).astype(np.int64))

    def supports(self, summary: Summary) -> Ints:
        """(size,) how many reports support each category; exact as long as there are fewer than 2**40 reports."""
        g, t, size = self.encoder.g, self.encoder.digits, self.encoder.size
        counts = np.zeros((g**t, g))
        counts[self._numbers()] = summary.counts
        transform = np.fft.fftn(counts.reshape((g,) * (t + 1))).ravel()
        times = np.arange(g)[:, None]  # the l of the page above
        place, digits = -times % g, np.arange(size)
        for power in range(1, t + 1):
            place = place + times * (digits % g) % g * g**power
            digits = digits // g
        return np.asarray(np.rint(transform[place].real.sum(axis=0) / g), np.int64)

    def _numbers(self) -> NDArray[np.uint32]:
        """(seeds,) the number that each seed stands for."""
        starts = [self.encoder.g**j for j in range(self.encoder.digits)]
        return np.concatenate([np.arange(start, 2 * start, dtype=np.uint32) for start in starts])


def _best(epsilon: float, size: int) -> Device:
    """The device whose estimate of a category that nobody has varies least, of those whose counts are few enough."""
    found = {}
    for g in PRIMES:
        try:
            device = _fresh(epsilon, size, g)
        except ParameterError:
            continue
        p, q = device.supports()
        found[q * (1 - q) / (p - q) ** 2, g] = device
    return found[min(found)]


def _fresh(epsilon: float, size: int, g: object) -> Device:
    return Device(size, *hashes(epsilon, g, MAX_CELLS), 0, 0)


def _kept(epsilon: float, permanent_epsilon: float, size: int, g: int) -> Device:
    """The device whose second round leaves of the first just what one report may lose."""
    g, lie = hashes(permanent_epsilon, g, MAX_CELLS)
    gain = gain_again(epsilon, g, stays(SCALE - (g - 1) * lie, g))
    flip = max(0, floor(SCALE * (1 - gain) / g) - 1)
    while Device(size, g, lie, flip, 1).prices(1).report > epsilon:
        flip += 1
    return Device(size, g, lie, flip, 1)
