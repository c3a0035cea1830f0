"""Square wave: share = mean(w) with weights that undo the window; what is sent stands in the encoder of the same name.

With T the chances of each output (rows) from each bucket (columns), any matrix W with W T = 1 gives an unbiased
estimate W counts / n. This one is (T' D T)^-1 T' D, where D holds one over the chances of the outputs if all buckets
are equally common: of all unbiased estimates that are linear in the counts it has the least variance there. The
shares add up to 1.

Undoing a window that is as wide as half the range costs accuracy: for single shares other mechanisms are better.
What the square wave is for is the shape of a distribution, which `hubbub.postprocessing.em` and `ems` recover from
`counts` and `transition`, with a bias that each of them tells.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from hubbub.encoders.base import SCALE
from hubbub.encoders.levels import Window
from hubbub.encoders.square_wave import MAX_SIZE
from hubbub.encoders.square_wave import SquareWave as Device
from hubbub.errors import ParameterError
from hubbub.mechanisms.base import Reports, WordSource, asked, below, held
from hubbub.mechanisms.categories import categories as domain
from hubbub.mechanisms.estimate import Crowd, Estimate, Ints, Reals
from hubbub.mechanisms.oracle import Shares, all_fresh, checked, crowd_of, devices, fields, lies
from hubbub.mechanisms.window import channel_of, pick
from hubbub.summary import Summary


@dataclass(frozen=True)
class SquareWave(Shares):
    """The shape of a number's distribution from one short report a device; poor for the share of a single bucket."""

    name: ClassVar[str] = Device.name
    kinds: ClassVar[tuple[str, ...]] = Device.kinds
    source: ClassVar[str] = "Li, Wang, Lopuhaä-Zwakenberg, Li, Škorić, SIGMOD 2020"
    examples: ClassVar[tuple[Mapping[str, Any], ...]] = (
        {"lower": -1, "upper": 1, "buckets": 2},
        {"lower": 0, "upper": 6, "buckets": 4, "width": 2},
        {"lower": 0, "upper": 1, "buckets": 2, "width": 2},
    )
    encoder: Device

    @classmethod
    def from_epsilon(
        cls,
        epsilon: float,
        *,
        permanent_epsilon: float | None = None,
        categories: int | None = None,
        lower: float | None = None,
        upper: float | None = None,
        buckets: int | None = None,
        width: int | None = None,
    ) -> Self:
        """Loss of one report at most epsilon.

        Args:
            epsilon: Loss of one report, nats.
            permanent_epsilon: Must be left out.
            categories: Buckets that are numbered from 0, instead of a range.
            lower: Where the first bucket begins.
            upper: Where the last bucket ends.
            buckets: How many there are.
            width: Outputs of a window; by default as many as let a report tell the most, where all buckets are equally
                common.

        Raises:
            ParameterError: A parameter out of its range.
        """
        asked(epsilon, None)
        all_fresh(permanent_epsilon)
        if categories is not None and not isinstance(categories, int):
            raise ParameterError("categories", categories, "a number of buckets: they need an order")
        d = domain(categories, lower, upper, buckets, MAX_SIZE)
        if width is None:
            near = math.floor(2 * half_width(epsilon) * (d.size - 1))
            choices = [wide for wide in (near, near + 1) if 1 <= wide <= d.size]
            width = max(choices, key=lambda wide: _information(epsilon, d.size, wide))
        if not isinstance(width, int) or isinstance(width, bool) or not 1 <= width <= d.size:
            raise ParameterError("width", width, f"an integer in [1, {d.size}]")
        return cls(Device(d.size, width, SCALE - lies(epsilon, d.size - 1, width)), d.lower, d.step, d.labels)

    @property
    def counts_shape(self) -> tuple[int, ...]:
        """Reports of each output."""
        return (self.encoder.window.outputs,)

    @property
    def transition(self) -> Reals:
        """(outputs, size) chance of each output from each bucket; columns add up to 1."""
        return channel_of(self.encoder.window).chances.T

    def randomise(self, values: Ints, source: WordSource) -> Reports:
        """(n,) -> (n, 1); words a person: stays, inside (where a window is wider than 1), outside.

        Raises:
            PrivateValueError: Values outside [0, size); named by position only.
        """
        held(values, self.encoder.size)
        window = self.encoder.window
        wide = int(window.width > 1)
        words = source.words(len(values) * (2 + wide)).reshape(len(values), 2 + wide)
        inside = below(window.width, words[:, 1], source) if wide else 0
        outside = below(window.others, words[:, -1], source)
        return pick(window, values, words[:, 0] < window.keep, inside, outside)[:, None]

    def summarise(self, reports: Reports) -> Summary:
        """(n, 1) -> how many reports each output got.

        Raises:
            ParameterError: The reports are not one output each.
        """
        column = fields(reports, self.encoder.radices)[:, 0]
        return Summary(len(reports), np.bincount(column, minlength=self.counts_shape[0]).astype(np.int64))

    def estimate(self, summary: Summary) -> Estimate:
        """(size,) unbiased shares.

        Raises:
            ParameterError: No reports, or counts that so many reports cannot have.
        """
        counts, n = checked(summary).counts, summary.n
        if counts.sum() != n:
            raise ParameterError("summary.counts", f"{counts.sum()} in all", f"{n} in all")
        undo = undo_of(self.encoder.window)
        value, square = undo.weights @ counts / n, undo.weights**2 @ counts / n
        held = np.clip(value, 0, 1)
        noise = np.clip((square - held * undo.own) / np.maximum(1 - held, 1 / n), undo.least, undo.most)
        return Estimate(
            value=value,
            se=np.sqrt((undo.weights - value[:, None]) ** 2 @ counts) / n,  # not by `square`, which would cancel
            se_shared=np.sqrt(held * (1 - held) / n),
            n=n,
            crowd=Crowd(0.0, 1.0, float(undo.most.max()), float((undo.own - undo.most).max()) - 1, exact=False),
            per_one=float(np.ptp(undo.weights, axis=1).max()),
            noise=noise,
            slope=undo.own - noise - 1,
            labels=self.categories.names,
        )

    def variance(self, truth: ArrayLike, n: int) -> Reals:
        """(size,) exact variance of each share from n independent devices that hold it with chance `truth`.

        It depends on all shares. What `truth`, one share or shape (size,), leaves of the devices is taken as spread
        evenly over the other buckets.

        Raises:
            ParameterError: n < 1.
        """
        f, undo = np.asarray(truth, float), undo_of(self.encoder.window)
        others = (undo.squares.sum(axis=1) - undo.own) / (self.encoder.size - 1)
        square = undo.squares @ f + (1 - f.sum()) * others if f.shape else f * undo.own + (1 - f) * others
        return np.asarray((square - f**2) / devices(n))

    def covariance(self, truth: ArrayLike, n: int) -> Reals:
        """(size, size) exact covariance of the shares from n independent devices with these shares, which add up to 1.

        Raises:
            ParameterError: n < 1.
        """
        f, weights = np.asarray(truth, float), undo_of(self.encoder.window).weights
        return np.asarray(((weights * (self.transition @ f)) @ weights.T - np.outer(f, f)) / devices(n))

    def simulate(self, truth_counts: ArrayLike, rng: np.random.Generator) -> Summary:
        """(size,) devices per value -> a summary: who stays is binomial; either way the outputs are even.

        Raises:
            ParameterError: Not one count per value.
        """
        window = self.encoder.window
        crowd = crowd_of(truth_counts, self.encoder.size)
        counts = rng.multinomial(crowd, channel_of(window).chances).sum(axis=0)
        return Summary(int(crowd.sum()), counts.astype(np.int64))


@dataclass(frozen=True, eq=False)
class Undo:
    """How a window is undone.

    Attributes:
        weights: W, shape (size, outputs).
        squares: Mean square of each share's estimate from one report of each bucket, shape (size, size).
        own: That of the own bucket, shape (size,).
        least: The least of another bucket.
        most: The largest of another bucket.
    """

    weights: Reals
    squares: Reals
    own: Reals
    least: Reals
    most: Reals


@lru_cache(maxsize=8)
def undo_of(window: Window) -> Undo:
    """W, and what its squares come to."""
    chances = channel_of(window).chances
    weighed = chances / chances.mean(axis=0)
    weights = np.linalg.solve(weighed @ chances.T, weighed)
    squares = weights**2 @ chances.T
    own, apart = np.diag(squares).copy(), ~np.eye(len(squares), dtype=bool)
    least = squares.min(axis=1, where=apart, initial=np.inf)
    return Undo(weights, squares, own, least, squares.max(axis=1, where=apart, initial=-np.inf))


def half_width(epsilon: float) -> float:
    """Half of the best width of a window on [0, 1], by the bound on mutual information of the source."""
    e = math.exp(epsilon)
    return (epsilon * e - e + 1) / (2 * e * (e - 1 - epsilon))


def _information(epsilon: float, size: int, width: int) -> float:
    """Bound on what a report tells, in nats: entropy of even outputs less that of a report."""
    e, others = math.exp(epsilon), size - 1
    return math.log(others + width) - math.log(width * e + others) + width * e * epsilon / (width * e + others)
