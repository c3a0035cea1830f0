"""What the mechanisms for words share: a report tells about the places of one row, and no list of words is needed.

A place of a row is a cell. For each cell a report gives a number z whose mean, over rows and noise, is the share of
devices whose word stands there: that is what `estimate` gives. z is 0 for the cells of other rows, so its mean square
over reports is a line over that share, and the variance of a report at a share t is base + slope t - t².

Shares of words come out of the cells by `decode`, for candidates that are named then.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Protocol, Self

import numpy as np
from numpy.typing import ArrayLike

from hubbub.encoders.base import Encoder, Law, Payload
from hubbub.encoders.words import SIZE, Shape, value_of
from hubbub.errors import ParameterError, PrivateValueError
from hubbub.mechanisms.base import Reports, WordSource, held
from hubbub.mechanisms.estimate import Crowd, Estimate, Ints, Reals
from hubbub.mechanisms.oracle import checked, devices
from hubbub.mechanisms.places import places
from hubbub.mechanisms.regression import Noisy, explain
from hubbub.mechanisms.word_table import Control, WordTable, asked_for, bonferroni_z, upper_tail
from hubbub.summary import Summary

ENTERING = 10  # words that nobody has of which so many may enter the regression by chance, to leave it again
LIKELIEST = 0.01  # but none that likely by chance
CELLS = 1 << 20  # devices of a row for each value that are drawn at a time


class Placed(Encoder, Protocol):
    """An encoder that sends each value to places of rows."""

    @property
    def shape(self) -> Shape:
        """What the places follow from."""
        ...


class Square(NamedTuple):
    """Mean square of z at a share t: base + slope t."""

    base: float
    slope: float


@dataclass(frozen=True)
class Words(ABC):
    """Words of a crowd; subclasses say what a report tells about the cells."""

    name: ClassVar[str]
    kinds: ClassVar[tuple[str, ...]]
    source: ClassVar[str]
    examples: ClassVar[tuple[Mapping[str, Any], ...]]
    memo: ClassVar[bool] = False
    nowhere: ClassVar[bool] = False  # value 0, no word, stands nowhere
    encoder: Placed

    @classmethod
    @abstractmethod
    def from_epsilon(cls, *args: Any, **kwargs: Any) -> Self:
        """Loss of one report at most epsilon."""

    @classmethod
    def from_encoder(cls, encoder: Encoder, *, lower: float = 0, step: float = 1, labels: Sequence[str] = ()) -> Self:
        """The mechanism of a locked metric.

        Raises:
            ParameterError: Another mechanism's encoder.
        """
        if getattr(encoder, "name", None) != cls.name:
            raise ParameterError("encoder", encoder, f"a {cls.name}")
        return cls(encoder)  # type: ignore[arg-type]

    @property
    @abstractmethod
    def square(self) -> Square:
        """Mean square of a report's z."""

    @property
    @abstractmethod
    def per_one(self) -> float:
        """Most by which one report can move its own z."""

    @property
    @abstractmethod
    def counts_shape(self) -> tuple[int, ...]:
        """Shape of `Summary.counts`."""

    @abstractmethod
    def randomise(self, values: Ints, source: WordSource) -> Reports:
        """(n,) -> (n, fields): row i is what the encoder sends from the same words."""

    @abstractmethod
    def summarise(self, reports: Reports) -> Summary:
        """(n, fields) -> their summary."""

    @abstractmethod
    def simulate(self, truth_counts: ArrayLike, rng: np.random.Generator, values: ArrayLike | None = None) -> Summary:
        """(k,) devices of each of k values, or of 0, 1, 2, ..., -> a summary with the law of encoding each of them."""

    @abstractmethod
    def moments(self, summary: Summary) -> tuple[Reals, Reals]:
        """(rows, bits) mean and variance of z over the reports."""

    @abstractmethod
    def within(self, summary: Summary) -> tuple[Reals, Reals]:
        """(rows, bits) shares of the devices of a row that stand at each place, and (rows, 1) reports of each row.

        0 for both in a row without reports.
        """

    @abstractmethod
    def alone(self, share: ArrayLike) -> Reals:
        """Variance of one report about a place in its own row at which this share of the devices stands."""

    @property
    def epsilon(self) -> float:
        """Loss of one report, in nats."""
        return self.encoder.prices(1).report

    @property
    def permanent_epsilon(self) -> float:
        """Loss of a device that never changes, for ever, in nats; inf if everything is fresh."""
        return self.encoder.prices(1).steady if self.encoder.memo else math.inf

    @property
    def change_epsilon(self) -> float:
        """Loss of one changed window, in nats."""
        return self.encoder.prices(1).change

    @property
    def bounds(self) -> tuple[float, float]:
        """A share."""
        return 0.0, 1.0

    def index(self, values: ArrayLike) -> Ints:
        """(n,) words -> values; "" is no word.

        Raises:
            PrivateValueError: One of them is no text; named by position only.
        """
        return values_of(values)

    def truth(self, value: int) -> Reals:
        """(rows * bits,) 1 for the cells at which the value stands."""
        shape = self.encoder.shape
        cells = np.zeros((shape.rows, shape.bits))
        if value or not self.nowhere:
            every = np.arange(shape.rows)
            cells[every[:, None], places(shape, every, np.full(shape.rows, value))] = 1
        return cells.ravel()

    def law(self, value: int, public: Payload = ()) -> Law:
        """The encoder's exact law."""
        return self.encoder.law(value, public)

    def crowd(self) -> Crowd:
        """With everything fresh the share of a cell is all that windows have in common."""
        base, slope = self.square
        return Crowd(0.0, 1.0, base, slope - 1)

    def estimate(self, summary: Summary) -> Estimate:
        """(rows * bits,) unbiased shares of the devices whose word stands at each place.

        Raises:
            ParameterError: No reports, or counts that so many reports cannot have.
        """
        value, variance = (moment.ravel() for moment in self.moments(self.checked(summary)))
        n, crowd = summary.n, self.crowd()
        kept = np.clip((value - crowd.zero) / crowd.scale, 0, 1)
        return Estimate(
            value=value,
            se=np.sqrt(variance / n),
            se_shared=crowd.scale * np.sqrt(kept * (1 - kept) / n),
            n=n,
            crowd=crowd,
            per_one=self.per_one,
        )

    def variance(self, truth: ArrayLike, n: int) -> Reals:
        """Exact variance of each cell's share from n independent devices that stand there with chance `truth`.

        Raises:
            ParameterError: n < 1.
        """
        base, slope = self.square
        t = np.asarray(truth, float)
        return np.asarray((base + slope * t - t * t) / devices(n))

    def detection_floor(self, n: int, candidates: float, level: float = 0.95) -> float:
        """The share that a word must have to be found among so many candidates as often as not.

        It is the least estimate that passes (Bonferroni), at the standard error that the regression has for a word that
        nobody has, where the places are as full as they are on average: every device has a word, and none is frequent.

        Raises:
            ParameterError: n < 1, candidates < 1, or a level outside (0, 1).
        """
        return float(bonferroni_z(candidates, level) * self.null_se(devices(n)))

    def decode(
        self,
        summary: Summary,
        candidates: Sequence[str],
        *,
        level: float = 0.95,
        control: Control = "bonferroni",
        least: float = 100,
    ) -> WordTable:
        """The candidates that the crowd is found to have, with their shares, by regression.

        Memory is that of some columns as long as there are candidates and cells. Time is that of hashing each candidate
        for each row, a few times.

        Args:
            summary: Of one window.
            candidates: Words that are looked for; each counts once. "" is no word, where that can be told.
            level: 1 less the chance that any word is shown which nobody has (bonferroni), or less the expected share of
                such words among those shown (benjamini_hochberg); also that of the intervals.
            control: Which of the two.
            least: Devices that a word must be estimated to have.

        Raises:
            ParameterError: No candidates, no reports, or a parameter out of its range.
        """
        wanted = asked_for(candidates, level, control, least)
        if self.nowhere and "" in wanted.words:
            raise ParameterError("candidates", "", "words: a device without one sets no bit, and cannot be counted")
        # Where no word stands somewhere it is the most frequent one, as a rule, and must not be taken for another.
        words = wanted.words if self.nowhere or "" in wanted.words else (*wanted.words, "")
        n, (cells, reports) = summary.n, self.within(self.checked(summary))
        enter = bonferroni_z(1, 1 - min(LIKELIEST, ENTERING / len(wanted.words)))
        noisy = Noisy(cells, reports, self.alone)
        fitted = explain(self.encoder.shape, noisy, values_of(words), enter, wanted.stays)
        asked = fitted.chosen < len(wanted.words)
        passed = int(asked.sum())
        floor = bonferroni_z(1, 1 - wanted.tail(passed)) * self.null_se(n)
        order = np.argsort(-fitted.share, kind="stable")
        order = order[asked[order] & (fitted.share[order] >= floor) & (n * fitted.share[order] >= least)]
        share, se = fitted.share[order], fitted.se[order]
        return WordTable(
            words=tuple(words[i] for i in fitted.chosen[order]),
            share=share,
            se=se,
            p=upper_tail(share / se),
            n=n,
            candidates=len(wanted.words),
            level=level,
            control=control,
            floor=floor,
            least=least,
            passed=passed,
            unallocated=float(1 - share.sum()),
            unallocated_se=float(np.sqrt(fitted.covariance[np.ix_(order, order)].sum())),
        )

    def null_se(self, n: int) -> float:
        """Standard error that the regression has, from n reports, for a word that nobody has."""
        return self._null(self.alone, n)

    def null_shared(self, n: int) -> float:
        """The part of it that windows of the same devices share: none, where everything is drawn afresh."""
        return 0.0

    def _null(self, alone: Callable[[float], Reals], n: int) -> float:
        shape = self.encoder.shape
        full = shape.segments / shape.bits
        return math.sqrt(float(alone(full)) / (n * shape.segments * (1 - full)))

    def checked(self, summary: Summary) -> Summary:
        """The summary, if so many reports can have it: counts (rows, 1 + bits), reports of each row and their ones.

        Raises:
            ParameterError: They cannot, or there are none.
        """
        rows, ones = checked(summary).counts[:, 0], summary.counts[:, 1:]
        if rows.sum() != summary.n or (ones > rows[:, None]).any():
            raise ParameterError("summary.counts", f"{rows.sum()} reports", f"{summary.n}, no row with more ones")
        return summary

    def standing(
        self, truth_counts: ArrayLike, rng: np.random.Generator, values: ArrayLike | None
    ) -> tuple[Ints, Ints]:
        """Devices drawn into rows: (rows,) how many there are, (rows, bits) how many stand at each place.

        Args:
            truth_counts: Devices of each value, shape (k,).
            rng: What draws.
            values: These values, shape (k,); None: 0, 1, 2, ...

        Raises:
            ParameterError: Not one whole number >= 0 for each value.
            PrivateValueError: Values outside [0, size); named by position only.
        """
        shape = self.encoder.shape
        which, counts = crowd_of(truth_counts, values)
        rows, cells = np.zeros(shape.rows, np.int64), np.zeros((shape.rows, shape.bits), np.int64)
        step = max(1, CELLS // shape.rows)
        for start in range(0, len(which), step):
            split = rng.multinomial(counts[start : start + step], np.full(shape.rows, 1 / shape.rows))
            rows += split.sum(axis=0)
            there = which[start : start + step] > 0 if self.nowhere else slice(None)
            part, split = which[start : start + step][there], split[there]
            for row in range(shape.rows):
                at = places(shape, row, part)
                weights = np.repeat(split[:, row], shape.segments)
                cells[row] += np.bincount(at.ravel(), weights, shape.bits).astype(np.int64)
        return rows, cells


def cell_square(rows: int, off: float, on: float) -> Square:
    """Mean square of z where a cell of the drawn row is a bit that is 1 with chance `off`, or `on` for the own word.

    In that row z = rows (bit - off) / (on - off), elsewhere 0.
    """
    gain = rows / (on - off) ** 2
    return Square(gain * off * (1 - off), gain * (on - off) * (1 - 2 * off))


def cell_moments(summary: Summary, off: float, on: float) -> tuple[Reals, Reals]:
    """(rows, bits) mean and variance of that z over the reports, from counts (rows, 1 + bits)."""
    reports, ones = summary.counts[:, :1], summary.counts[:, 1:]
    gain, n = len(reports) / (on - off), summary.n
    mean = (ones - off * reports) / n
    zeros = (reports - ones) * (off + mean) ** 2
    variance = ((n - reports) * mean**2 + zeros + ones * (1 - off - mean) ** 2) / n
    return gain * mean, gain**2 * variance


def bits_within(summary: Summary, off: float, on: float) -> tuple[Reals, Reals]:
    """(rows, bits) shares within each row, and (rows, 1) its reports, from counts (rows, 1 + bits)."""
    reports, ones = summary.counts[:, :1], summary.counts[:, 1:]
    return (ones / np.maximum(reports, 1) - off) / (on - off) * (reports > 0), reports.astype(float)


def bit_variance(share: ArrayLike, off: float, on: float) -> Reals:
    """Variance of a bit, in units of what it stands for, where this share of the devices sets it."""
    rate = off + np.asarray(share, float) * (on - off)
    return np.asarray(rate * (1 - rate) / (on - off) ** 2)


def values_of(words: ArrayLike) -> Ints:
    """(n,) words -> values.

    Raises:
        PrivateValueError: One of them is no text that can be written in UTF-8; named by position only.
    """
    if isinstance(words, str | bytes) or not isinstance(words, Sequence | np.ndarray):
        raise PrivateValueError("values must be a flat sequence of words")
    found = np.empty(len(words), np.int64)
    for i, word in enumerate(words):
        try:
            found[i] = value_of(word) if isinstance(word, str) else -1
        except UnicodeEncodeError:
            found[i] = -1
        if found[i] < 0:
            raise PrivateValueError(f"values[{i}] must be a word")
    return found


def crowd_of(truth_counts: ArrayLike, values: ArrayLike | None) -> tuple[Ints, Ints]:
    """(k,) values and how many devices have each.

    Raises:
        ParameterError: Not one whole number >= 0 for each value.
        PrivateValueError: Values outside [0, size); named by position only.
    """
    counts = np.asarray(truth_counts)
    which = np.arange(counts.size) if values is None else np.asarray(values)
    held(which, SIZE)
    if counts.shape != which.shape:
        raise ParameterError("truth_counts.shape", counts.shape, f"{which.shape}, one per value")
    if counts.dtype.kind not in "iu" or (counts < 0).any():
        raise ParameterError("truth_counts", f"{counts.min()} of type {counts.dtype}", "whole numbers >= 0")
    return which.astype(np.int64), counts.astype(np.int64)
