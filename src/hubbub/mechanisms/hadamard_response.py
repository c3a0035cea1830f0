"""Hadamard response: share = 2 mean(d) / (u - w); what is sent stands in the encoder of the same name.

For a category, d is 1/2 where the report is one of its pluses, -1/2 where it is another output of its block, and else
0. With u the chance of an own plus and w that of another output of the own block, d has mean (u - w) / 2 in the own
category and 0 in all others. Where there is one block only, d + 1/2 is a coin with the chances u and 1/2.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hubbub.encoders.base import SCALE
from hubbub.encoders.hadamard_response import MAX_SIZE, largest_block
from hubbub.encoders.hadamard_response import HadamardResponse as Device
from hubbub.errors import ParameterError
from hubbub.mechanisms.base import Reports, WordSource, asked, below, held
from hubbub.mechanisms.categories import categories as domain
from hubbub.mechanisms.estimate import Crowd, Estimate, Ints, Reals
from hubbub.mechanisms.hashed import BLOCK, people
from hubbub.mechanisms.oracle import Oracle, Support, all_fresh, checked, crowd_of, devices, fields, lies
from hubbub.summary import Summary


@dataclass(frozen=True)
class HadamardResponse(Oracle):
    """Shares of many categories from one short number a device; the estimate takes one fast transform."""

    name: ClassVar[str] = Device.name
    kinds: ClassVar[tuple[str, ...]] = Device.kinds
    source: ClassVar[str] = "Acharya, Sun, Zhang, AISTATS 2019"
    examples: ClassVar[tuple[Mapping[str, Any], ...]] = (
        {"categories": ("red", "green")},
        {"categories": 5, "block": 4},
        {"lower": -1, "upper": 1, "buckets": 3, "block": 2},
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
        block: int | None = None,
    ) -> Self:
        """Loss of one report at most epsilon.

        Args:
            epsilon: Loss of one report, nats.
            permanent_epsilon: Must be left out.
            categories: Labels beside `none`, or a number of categories.
            lower: Where the first bucket begins, instead of categories.
            upper: Where the last bucket ends.
            buckets: How many there are.
            block: Outputs of a block, a power of two; by default as many as give all shares together the least
                variance.

        Raises:
            ParameterError: A parameter out of its range.
        """
        asked(epsilon, None)
        all_fresh(permanent_epsilon)
        d = domain(categories, lower, upper, buckets, MAX_SIZE)
        most = largest_block(d.size)
        if block is None:
            widths = [2**bits for bits in range(1, most.bit_length())]
            device = min((_device(epsilon, d.size, width) for width in widths), key=_mean_variance)
        elif isinstance(block, int) and not isinstance(block, bool) and 2 <= block <= most and block.bit_count() == 1:
            device = _device(epsilon, d.size, block)
        else:
            raise ParameterError("block", block, f"a power of two in [2, {most}]")
        return cls(device, d.lower, d.step, d.labels)

    @property
    def support(self) -> Support:
        """With one block a report supports the categories of which it is a plus.

        Raises:
            ParameterError: There are more blocks, and three sorts of reports.
        """
        if self.encoder.blocks > 1:
            raise ParameterError(
                "block", self.encoder.block, "that of all categories: else no report is just a support"
            )
        return Support(self.encoder.keep / SCALE, 0.5)

    @property
    def counts_shape(self) -> tuple[int, ...]:
        """Reports of each output."""
        return (self.encoder.outputs,)

    def supports(self, summary: Summary) -> Ints:
        """(size,) how many reports are pluses of each category."""
        excess, reports = self._counted(summary)
        return (reports + excess) // 2

    def randomise(self, values: Ints, source: WordSource) -> Reports:
        """(n,) -> (n, 1); two words a person (hit, which output), in blocks of 65 536 people.

        Raises:
            PrivateValueError: Values outside [0, size); named by position only.
        """
        held(values, self.encoder.size)
        reports = np.empty((len(values), 1), np.int32)
        for start in range(0, len(values), BLOCK):
            block = values[start : start + BLOCK]
            words = source.words(2 * len(block)).reshape(len(block), 2)
            place = below(self.encoder.outputs - self.encoder.block // 2, words[:, 1], source)
            reports[start : start + BLOCK, 0] = self._outputs(block, words[:, 0] < self.encoder.keep, place)
        return reports

    def summarise(self, reports: Reports) -> Summary:
        """(n, 1) -> how often each output was sent.

        Raises:
            ParameterError: The reports are not one output each.
        """
        column = fields(reports, self.encoder.radices)[:, 0]
        return Summary(len(reports), np.bincount(column, minlength=self.encoder.outputs).astype(np.int64))

    def estimate(self, summary: Summary) -> Estimate:
        """(size,) unbiased shares.

        Raises:
            ParameterError: No reports, or counts that so many reports cannot have.
        """
        if self.encoder.blocks == 1:
            return super().estimate(summary)
        excess, reports = self._counted(checked(summary))
        n, per_one = summary.n, self._per_one
        value = per_one * excess / (2 * n)
        held = np.clip(value, 0, 1)
        own, other = self._chances
        square = per_one**2 / 4  # of a report of the own block, 0 for any other one
        rest = np.clip((reports / n - 2 * other) / (own - other) - held, 0, 1)  # share of the others in the block
        return Estimate(
            value=value,
            se=np.sqrt(np.maximum(square * reports / n - value**2, 0) / n),
            se_shared=np.sqrt(held * (1 - held) / n),
            n=n,
            crowd=self._crowd,
            per_one=per_one,
            noise=square * (2 * other + (own - other) * rest),
            slope=np.asarray(square * (own - other) - 1),
            labels=self.categories.names,
        )

    def variance(self, truth: ArrayLike, n: int) -> Reals:
        """Exact variance of each share from n independent devices that hold it with chance `truth`.

        With more blocks than one it depends on the share of a category's whole block. What `truth`, one share or
        shape (size,), leaves of the devices is taken as spread evenly over the categories.

        Raises:
            ParameterError: n < 1.
        """
        e = self.encoder
        if e.blocks == 1:
            return super().variance(truth, n)
        f, width = np.asarray(truth, float), e.block - 1
        even = (width - 1) / (e.size - 1)
        if f.shape == (e.size,):
            mine = np.repeat(np.add.reduceat(f, np.arange(0, e.size, width)), width)[: e.size] + (1 - f.sum()) * even
        else:
            mine = f + (1 - f) * even
        own, other = self._chances
        near = 2 * other + (own - other) * mine  # chance of an output of the category's block
        return np.asarray((self._per_one**2 / 4 * near - f**2) / devices(n))

    def simulate(self, truth_counts: ArrayLike, rng: np.random.Generator) -> Summary:
        """(size,) devices per value -> a summary: outputs that any device may send are spread evenly, the rest drawn.

        Raises:
            ParameterError: Not one count per value.
        """
        e = self.encoder
        crowd = crowd_of(truth_counts, e.size)
        p, q = map(float, e.chances())
        pluses = rng.binomial(crowd, e.block // 2 * (p - q))
        counts = rng.multinomial(int((crowd - pluses).sum()), np.full(e.outputs, 1 / e.outputs)).astype(np.int64)
        for values in people(pluses):
            place = rng.integers(0, e.block // 2, len(values))
            sent = self._outputs(values, np.ones(len(values), bool), place)
            counts += np.bincount(sent, minlength=e.outputs)
        return Summary(int(crowd.sum()), counts)

    @property
    def _crowd(self) -> Crowd:
        """Others in a category's block have most noise; a block of one category has none of them."""
        square, (own, other) = self._per_one**2 / 4, self._chances
        if self.encoder.block == 2:
            return Crowd(0.0, 1.0, square * 2 * other, square * (own - other) - 1)
        return Crowd(0.0, 1.0, square * (own + other), -1.0, exact=False)

    @property
    def _chances(self) -> tuple[float, float]:
        """U and w: chances of an own plus, and of another output of the own block."""
        p, q = self.encoder.chances()
        half = self.encoder.block // 2
        return float(half * p), float(half * q)

    @property
    def _per_one(self) -> float:
        p, q = self.encoder.chances()
        return float(2 / (self.encoder.block // 2 * (p - q)))

    def _outputs(self, values: Ints, hit: NDArray[np.bool_], place: Ints) -> Ints:
        """(n,) what is sent: a plus where `hit`, else the output in this place among all others."""
        e = self.encoder
        home, row = np.divmod(values, e.block - 1)
        row += 1
        home *= e.block
        half = e.block // 2
        other = place - half
        other += e.block * (other >= home)
        inner = place & (half - 1)
        low = _below_top(row)
        y = inner + (inner & ~low)
        odd = np.bitwise_and(y, row)
        for shift in (16, 8, 4, 2, 1):
            odd = odd ^ (odd >> shift)
        y += (low + 1) * ((odd & 1) == hit)
        return np.where(hit | (place < half), home + y, other)

    def _counted(self, summary: Summary) -> tuple[Ints, Ints]:
        """(size,) pluses less other outputs of each category's block, and all reports of that block."""
        e = self.encoder
        signs = summary.counts.reshape(e.blocks, e.block).copy()
        step = 1
        while step < e.block:
            pairs = signs.reshape(e.blocks, -1, 2, step)
            pairs[:, :, 0] += pairs[:, :, 1]
            pairs[:, :, 1] = pairs[:, :, 0] - 2 * pairs[:, :, 1]
            step *= 2
        reports = np.repeat(signs[:, 0], e.block - 1)
        return signs[:, 1:].ravel()[: e.size], reports[: e.size]


def _below_top(rows: Ints) -> Ints:
    """All binary digits below the first one of each number in [1, 2**17)."""
    filled = rows >> 1
    for shift in (1, 2, 4, 8, 16):
        filled |= filled >> shift
    return filled


def _device(epsilon: float, size: int, block: int) -> Device:
    half = block // 2
    others = block * -(-size // (block - 1)) - half
    return Device(size, block, SCALE - lies(epsilon, others, half))


def _mean_variance(device: Device) -> tuple[float, int]:
    """Variance of a share, on average over all of them, where the crowd stands in full blocks; and the larger block."""
    p, q = device.chances()
    half, gain = device.block // 2, p - q
    near = 2 * q + gain * min(1, (device.block - 1) / device.size)
    return float(near / (half * gain**2)), -device.block
