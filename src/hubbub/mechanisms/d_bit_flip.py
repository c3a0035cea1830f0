"""d-bit flip: share = (k / d) mean(z) / (p - q); what is sent stands in the encoder of the same name.

For a bucket, z is bit - q in a report that was asked about it, and 0 in any other one. A bit is 1 with chance p in
the own bucket and q in others, and d of k buckets are asked, so (k / d) z / (p - q) has mean 1 in the own bucket and
0 in others.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import sqrt
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hubbub.encoders.base import SCALE
from hubbub.encoders.d_bit_flip import MAX_SIZE
from hubbub.encoders.d_bit_flip import DBitFlip as Device
from hubbub.errors import ParameterError
from hubbub.mechanisms.base import Reports, WordSource, asked, held
from hubbub.mechanisms.categories import categories as domain
from hubbub.mechanisms.columns import blocks, count_ones
from hubbub.mechanisms.estimate import Crowd, Estimate, Ints, Reals
from hubbub.mechanisms.oracle import Shares, checked, crowd_of, devices, fields
from hubbub.mechanisms.subset_selection import accepted, remainder
from hubbub.mechanisms.unary import within
from hubbub.summary import Summary

PEOPLE, CELLS = 4096, 1 << 24  # in a block, at most, where each step of drawing buckets goes over all of its people


@dataclass(frozen=True)
class DBitFlip(Shares):
    """Shares of buckets from devices that are each asked about a few of them: short messages, more variance."""

    name: ClassVar[str] = Device.name
    kinds: ClassVar[tuple[str, ...]] = Device.kinds
    source: ClassVar[str] = "Ding, Kulkarni, Yekhanin, NeurIPS 2017, dBitFlip"
    examples: ClassVar[tuple[Mapping[str, Any], ...]] = (
        {"categories": ("red", "green")},
        {"categories": 3, "d": 1},
        {"lower": -1, "upper": 1, "buckets": 3, "d": 2},
        {"categories": 2, "permanent_epsilon": 2.5},
        {"categories": 3, "d": 1, "permanent_epsilon": 2.5},
        {"categories": 3, "d": 2, "permanent_epsilon": 2.5},
    )
    memo: ClassVar[bool] = True
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
        d: int | None = None,
    ) -> Self:
        """Loss of one report at most epsilon, of a device that never changes at most permanent_epsilon.

        Args:
            epsilon: Loss of one report, nats.
            permanent_epsilon: Loss of a device that never changes, nats; None: no permanent answers, and other buckets
                each time.
            categories: Labels beside `none`, or a number of categories.
            lower: Where the first bucket begins, instead of categories.
            upper: Where the last bucket ends.
            buckets: How many there are.
            d: Buckets that a device is asked about; all by default, which has the least variance. A message takes
                d (1 + log2(k - d + 1)) bits, with permanent answers d + log2(k), rounded up, and the variance grows
                with k / d.

        Raises:
            ParameterError: A parameter out of its range.
        """
        asked(epsilon, permanent_epsilon)
        found = domain(categories, lower, upper, buckets, MAX_SIZE)
        d = found.size if d is None else d
        if not isinstance(d, int) or isinstance(d, bool) or not 1 <= d <= found.size:
            raise ParameterError("d", d, f"an integer in [1, {found.size}]")
        device = within(partial(Device, found.size, d), epsilon, permanent_epsilon, 1 / min(d, 2))
        return cls(device, found.lower, found.step, found.labels)

    @property
    def counts_shape(self) -> tuple[int, ...]:
        """Reports that were asked about each bucket, and those of them whose bit is 1."""
        return (2, self.encoder.size)

    def randomise(self, values: Ints, source: WordSource) -> Reports:
        """(n,) -> (n, fields); a word for each bucket that is drawn, then one for each bit of a person.

        With permanent answers a word for the first bucket unless all are asked, then one for each bit, one for the own
        bucket and one more for each bit. People stand in blocks of at most 4096, each of which draws its refused words
        again.

        Raises:
            PrivateValueError: Values outside [0, size); named by position only.
        """
        e = self.encoder
        held(values, e.size)
        reports = np.empty((len(values), e.public + e.d), np.min_scalar_type(max(e.radices) - 1))
        write = self._kept if e.memo else self._fresh
        for block in blocks(len(values), e.size, CELLS, PEOPLE) if e.drawn else blocks(len(values), e.size):
            write(values[block], source, reports[block])
        return reports

    def _fresh(self, own: Ints, source: WordSource, reports: Reports) -> None:
        """Write the reports of a block of people."""
        e = self.encoder
        bounds = [*range(e.size - e.drawn + 1, e.size + 1)] + [1] * e.d
        words = source.words(len(own) * len(bounds)).reshape(len(own), len(bounds))
        if e.drawn:
            words = accepted(words, bounds, source)
            buckets = self._buckets(np.ascontiguousarray(words[:, : e.drawn].T))
            np.subtract(buckets, np.arange(e.d), out=reports[:, : e.public], casting="unsafe")
            rows, place = np.nonzero(buckets == own[:, None])
        else:
            rows, place = np.arange(len(own)), own
        coins, bits = words[:, e.drawn :], reports[:, e.public :]
        np.less(coins, np.uint32(e.lie), out=bits, casting="unsafe")
        bits[rows, place] = coins[rows, place] < SCALE - e.lie

    def _kept(self, own: Ints, source: WordSource, reports: Reports) -> None:
        """Write the reports of a block of people who keep their answers."""
        e = self.encoder
        bounds = [e.size] * e.public + [1] * (2 * e.d + 1)
        words = source.words(len(own) * len(bounds)).reshape(len(own), len(bounds))
        words = accepted(words, bounds, source)
        first = remainder(words[:, : e.public], e.size)
        place = (own - first.sum(axis=1)) % e.size  # of the own bucket among the bits, if it is asked
        rows = np.flatnonzero(place < e.d)
        others, mine, coins = np.split(words[:, e.public :], (e.d, e.d + 1), axis=1)
        bits = others < np.uint32(e.lie)
        bits[rows, place[rows]] = mine[rows, 0] < SCALE - e.lie
        reports[:, : e.public], reports[:, e.public :] = first, bits ^ (coins < np.uint32(e.flip))

    def _buckets(self, words: NDArray[np.uint32]) -> Ints:
        """(drawn, people) words -> (people, d) buckets that each of them is asked about, in order."""
        e, people = self.encoder, words.shape[1]
        start, taken = np.arange(people) * e.size, np.zeros(people * e.size, np.bool_)
        drawn = np.empty((e.drawn, people), np.int64)
        for place, top in enumerate(range(e.size - e.drawn, e.size)):
            at = start + remainder(words[place], top + 1)
            drawn[place] = np.where(taken[at], start + top, at)
            taken[drawn[place]] = True
        if e.drawn == e.d:
            return np.sort(drawn.T - start[:, None], axis=1)
        return np.flatnonzero(~taken).reshape(people, e.d) - start[:, None]

    def summarise(self, reports: Reports) -> Summary:
        """(n, fields) -> how many were asked about each bucket, and how many of them said 1.

        Raises:
            ParameterError: The reports are not bits of different buckets.
        """
        e = self.encoder
        fields(reports[:0], e.radices)
        if not e.public:
            ones = count_ones(reports, e.size)
            return Summary(len(reports), np.stack([np.full(e.size, len(reports)), ones]))
        counts = np.zeros(2 * e.size, np.int64)
        for block in blocks(len(reports), 2 * e.d):
            counts += np.bincount(self._answers(reports[block]).ravel(), minlength=2 * e.size)
        zeros, ones = counts.reshape(e.size, 2).T
        return Summary(len(reports), np.stack([zeros + ones, ones]))

    def _answers(self, reports: Reports) -> Ints:
        """(n, fields) -> (n, d) twice the bucket, and the bit added to it."""
        e = self.encoder
        places, bits = reports[:, : e.public], reports[:, e.public :]
        for part, most in ((places, e.radices[0] - 1), (bits, 1)):
            low, high = (int(part.min()), int(part.max())) if part.size else (0, 0)
            if low < 0 or high > most:
                raise ParameterError("reports", f"{low} to {high}", f"fields in [0, {most}] there")
        if (places[:, 1:] < places[:, :-1]).any():
            raise ParameterError("reports", "buckets out of order", "different buckets in increasing order")
        return 2 * ((places.astype(np.int64) + np.arange(e.d)) % e.size) + bits

    def estimate(self, summary: Summary) -> Estimate:
        """(size,) unbiased shares.

        Raises:
            ParameterError: No reports, or counts that so many reports cannot have.
        """
        received, ones = self._counts(checked(summary))
        n, each, (p, q) = summary.n, self.encoder.size / self.encoder.d, self._chances
        per_one = each / (p - q)
        value = per_one * (ones - q * received) / n
        square = per_one**2 * (ones * (1 - q) ** 2 + (received - ones) * q**2) / n
        crowd = self._crowd
        kept = np.clip((value - crowd.zero) / crowd.scale, 0, 1)
        return Estimate(
            value=value,
            se=np.sqrt(np.maximum(square - value**2, 0) / n),
            se_shared=crowd.scale * np.sqrt(kept * (1 - kept) / n),
            n=n,
            crowd=crowd,
            per_one=per_one,
            ones=ones if self.encoder.d == self.encoder.size else None,
            at_zero=-q * per_one,
            labels=self.categories.names,
        )

    def variance(self, truth: ArrayLike, n: int) -> Reals:
        """Exact variance of each share from n independent devices that hold it with chance `truth`.

        Raises:
            ParameterError: n < 1.
        """
        f = np.asarray(truth, float)
        return np.asarray((self._noise + f * (self.encoder.size / self.encoder.d - f)) / devices(n))

    def covariance(self, truth: ArrayLike, n: int) -> Reals:
        """(size, size) exact covariance of the shares, as `variance`: the noise of two buckets is uncorrelated.

        Raises:
            ParameterError: n < 1.
        """
        f = np.asarray(truth, float)
        found = -f[:, None] * f[None, :] / devices(n)
        np.fill_diagonal(found, self.variance(f, n))
        return np.asarray(found)

    def simulate(self, truth_counts: ArrayLike, rng: np.random.Generator) -> Summary:
        """(size,) devices per value -> a summary, bucket after bucket.

        Devices that are still to be asked about so many buckets are alike, so it is enough to count them, apart by
        whether their own bucket is still to come.

        Raises:
            ParameterError: Not one count per value.
        """
        e, (p, q) = self.encoder, self._chances
        crowd = crowd_of(truth_counts, e.size)
        n = int(crowd.sum())
        if e.memo and e.public:
            return self._rows(crowd, rng)
        if e.d == e.size:
            ones = rng.binomial(crowd, p) + rng.binomial(n - crowd, q)
            return Summary(n, np.stack([np.full(e.size, n), ones]).astype(np.int64))
        counts = np.zeros((2, e.size), np.int64)
        coming, passed, needed = (np.zeros(e.d + 1, np.int64) for _ in range(3))
        coming[e.d], needed = n, np.arange(e.d + 1)
        for bucket in range(e.size):
            own = rng.multivariate_hypergeometric(coming, crowd[bucket])
            groups = np.stack([own, coming - own, passed])
            sent = rng.binomial(groups, np.minimum(needed / (e.size - bucket), 1))
            mine, others = int(sent[0].sum()), int(sent[1:].sum())
            counts[:, bucket] = mine + others, rng.binomial(mine, p) + rng.binomial(others, q)
            groups -= sent
            groups[:, :-1] += sent[:, 1:]
            coming, passed = groups[1], groups[0] + groups[2]
        return Summary(n, counts)

    def _rows(self, crowd: Ints, rng: np.random.Generator) -> Summary:
        """A summary of devices that are asked about buckets in a row, value after value."""
        e, (p, q) = self.encoder, self._chances
        starts, mine, even = np.zeros(e.size, np.int64), np.zeros(e.size, np.int64), np.full(e.size, 1 / e.size)
        for value in np.flatnonzero(crowd).tolist():
            drawn = rng.multinomial(crowd[value], even)
            starts += drawn
            mine[value] = drawn[np.arange(value - e.d + 1, value + 1) % e.size].sum()
        sums = np.concatenate((np.zeros(e.d, np.int64), np.tile(starts, 2))).cumsum()
        received = (sums[e.d :] - sums[: -e.d])[e.size :]
        ones = rng.binomial(mine, p) + rng.binomial(received - mine, q)
        return Summary(int(crowd.sum()), np.stack([received, ones]).astype(np.int64))

    @property
    def _chances(self) -> tuple[float, float]:
        p, q = self.encoder.chances()
        return float(p), float(q)

    @property
    def _noise(self) -> float:
        """Variance of one report about a bucket that nobody is in."""
        p, q = self._chances
        return self.encoder.size / self.encoder.d * p * q / (p - q) ** 2

    @property
    def _crowd(self) -> Crowd:
        """Windows share values, or buckets and permanent answers: of the variance kept + t k / d - t² at a share t."""
        e, each = self.encoder, self.encoder.size / self.encoder.d
        if not e.memo:
            return Crowd(0.0, 1.0, self._noise, each - 1)
        lie = e.lie / SCALE
        kept = each * lie * (1 - lie) / (1 - 2 * lie) ** 2
        scale = sqrt(each**2 + 4 * kept)
        return Crowd((each - scale) / 2, scale, max(0.0, self._noise - kept) / scale**2)

    def _counts(self, summary: Summary) -> Iterator[Ints]:
        """Received, and ones among them.

        Raises:
            ParameterError: More ones than reports about a bucket, or not d buckets for each report.
        """
        (received, ones), d = summary.counts, self.encoder.d
        if (ones > received).any() or received.sum() != summary.n * d:
            found = f"{int(np.max(ones - received))} more ones than bits, {received.sum()} bits in all"
            raise ParameterError("summary.counts", found, f"at most as many ones as bits, {summary.n * d} bits in all")
        return iter((received, ones))
