"""Optimal local hashing: share = (c/n - q) / (p - q); what is sent stands in the encoder of the same name.

The hash of (a value + b) mod P is y for b in one cyclic range that starts at (start of y - a value) mod P. So a report
supports category v if and only if a v mod P lies in a range of its own, and all supports are counted without hashing
anything: add up where ranges start and end for each a, sum along the residues, and look up a v mod P for each a. That
takes n + P (P + size) steps in place of n size, and they are additions of integers.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from hubbub.encoders.base import SCALE
from hubbub.encoders.olh import MAX_SIZE, prime_from
from hubbub.encoders.olh import Olh as Device
from hubbub.errors import ParameterError
from hubbub.mechanisms.base import Reports, asked, threshold
from hubbub.mechanisms.categories import categories as domain
from hubbub.mechanisms.estimate import Ints, Reals
from hubbub.mechanisms.hashed import Hashed, remainder
from hubbub.mechanisms.oracle import all_fresh, fields
from hubbub.summary import Summary

TABLE = 2**22  # residues, of several a, that are counted at once
CACHED = 2**17  # and that are looked up at once


@dataclass(frozen=True)
class Olh(Hashed):
    """Shares of many categories, from reports of a few bytes; with g = 2 binary local hashing."""

    name: ClassVar[str] = Device.name
    kinds: ClassVar[tuple[str, ...]] = Device.kinds
    source: ClassVar[str] = "Wang, Blocki, Li, Jha, USENIX Security 2017"
    examples: ClassVar[tuple[Mapping[str, Any], ...]] = (
        {"categories": ("red", "green")},
        {"categories": 2},
        {"lower": -1, "upper": 1, "buckets": 3, "g": 2},
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
        """Loss of one report at most epsilon.

        Args:
            epsilon: Loss of one report, nats.
            permanent_epsilon: Must be left out.
            categories: Labels beside `none`, or a number of categories.
            lower: Where the first bucket begins, instead of categories.
            upper: Where the last bucket ends.
            buckets: How many there are.
            g: Different hashes; by default as many as give rare categories the least variance.

        Raises:
            ParameterError: A parameter out of its range.
        """
        asked(epsilon, None)
        all_fresh(permanent_epsilon)
        d = domain(categories, lower, upper, buckets, MAX_SIZE)
        best = np.argmin(rare_variances(epsilon, d.size)) + 2 if g is None else g
        chosen = hashes(epsilon, best, prime_from(d.size))
        return cls(Device(d.size, *chosen), d.lower, d.step, d.labels)

    @property
    def counts_shape(self) -> tuple[int, ...]:
        """Supports of each category."""
        return (self.encoder.size,)

    def supports(self, summary: Summary) -> Ints:
        """(size,) how many reports support each category."""
        return summary.counts

    def hashes(self, seeds: NDArray[np.uint32], values: Ints) -> NDArray[np.uint32]:
        """(n,) seeds and values -> (n,) the values' hashes; nothing exceeds 32 bits, since P (P - 1) does not."""
        e = self.encoder
        prime = np.uint32(e.prime)
        a = seeds // prime
        b = seeds - a * prime
        a += np.uint32(1)
        return np.asarray(remainder(a * values.astype(np.uint32) + b, prime) * np.uint32(e.g) // prime)

    def summarise(self, reports: Reports) -> Summary:
        """(n, 2) -> how many reports support each category.

        Raises:
            ParameterError: The reports are not a seed and a hash each.
        """
        e = self.encoder
        sent = fields(reports, e.radices).astype(np.uint32, copy=False)
        values, counts = np.arange(e.size, dtype=np.uint32), np.zeros(e.size, np.int64)
        rows = max(1, CACHED // e.prime)
        for a, steps, wrapped in self._residues(sent):
            counts += wrapped
            held = np.cumsum(steps, axis=1)
            for first in range(0, len(a), rows):
                part = slice(first, first + rows)
                at = remainder(a[part, None] * values, np.uint32(e.prime))
                counts += np.take_along_axis(held[part], at.astype(np.intp), axis=1).sum(axis=0)
        return Summary(len(reports), counts)

    def _residues(self, sent: NDArray[np.uint32]) -> Iterator[tuple[NDArray[np.uint32], Ints, int]]:
        """What the reports of some a at a time say about each residue.

        Yields:
            These a, shape (m,); how many ranges start less how many end at each residue, shape (m, P); how many of them
            go on from the last residue to 0.
        """
        prime, g = self.encoder.prime, self.encoder.g
        starts = np.array([-(-j * prime // g) for j in range(g)], np.int32)
        stops = np.roll(starts, -1)  # the last one, P, is 0 again
        every, at = np.arange(1, prime, dtype=np.uint32), sent[:, 0] // np.uint32(prime)
        b = (sent[:, 0] - at * np.uint32(prime)).astype(np.int32)
        if len(sent) < prime:  # some a at most are there
            found, at = np.unique(at, return_inverse=True)
            every = every[found]
        most = max(1, TABLE // prime)
        order = np.argsort(at, kind="stable") if len(every) > most else None
        for first in range(0, len(every), most):
            chosen: slice | Ints = slice(None)
            a = every[first : first + most]
            if order is not None:
                chosen = order[slice(*np.searchsorted(at, [first, first + most], sorter=order))]
            y, row = sent[chosen, 1].astype(np.intp), ((at[chosen] - first) * prime).astype(np.int32)
            start, stop = (_cyclic(ends.take(y) - b[chosen], prime) for ends in (starts, stops))
            wrapped = int(np.count_nonzero(start > stop))
            steps, ended = (np.bincount(row + end, minlength=len(a) * prime) for end in (start, stop))
            yield a, (steps - ended).reshape(len(a), prime), wrapped


def _cyclic(residues: NDArray[np.int32], prime: int) -> NDArray[np.int32]:
    """Numbers in (-P, P) as residues in [0, P)."""
    return residues + ((residues >> 31) & np.int32(prime))


def rare_variances(epsilon: float, size: int) -> Reals:
    """(P - 1,) variance of one report about a category that nobody has, for g = 2, 3, ..., P; inf where none fits."""
    prime = prime_from(size)
    g = np.arange(2, prime + 1)
    lie = np.floor(SCALE / (np.exp(epsilon) + g - 1)) + 2
    short, more = np.divmod(prime, g)
    collisions = (more * (short + 1) * short + (g - more) * short * (short - 1)) / (prime * (prime - 1))
    gain = 1 - g * lie / SCALE
    other = lie / SCALE + collisions * gain
    with np.errstate(divide="ignore"):
        return np.where(gain > 0, other * (1 - other) / ((1 - collisions) * gain) ** 2, np.inf)


def hashes(epsilon: float, g: object, most: int) -> tuple[int, int]:
    """(g, lie), if g hashes can be told apart at this loss.

    Raises:
        ParameterError: They cannot, or g is no integer in [2, most].
    """
    if not isinstance(g, int | np.integer) or isinstance(g, bool) or not 2 <= g <= most:
        raise ParameterError("g", g, f"an integer in [2, {most}]")
    lie = threshold(epsilon, int(g) - 1)
    if lie * g >= SCALE:
        raise ParameterError("g", g, f"fewer hashes: 2**-32 is no fine enough step for epsilon = {epsilon}")
    return int(g), lie
