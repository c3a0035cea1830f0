"""What the count mean sketches share: a word's share from the mean of its cells, less what other words put there.

With m places in each of k rows, the mean over rows of a word's cells is its share f, and what else stands there is
(1 - f) / m on average over hash functions:

    share = m / (m - 1) (mean of its cells - 1 / m).

A report about a word that stands there with chance u has the variance top - (shift - u)² about the mean of its cells.
Words of other devices that share a cell in one row do so in all reports of that row, which adds

    sum of the squares of the other words' shares / (k (m - 1)),

an error that more reports do not lessen. `decode` takes it out where the other words are candidates too.
"""

from abc import abstractmethod
from collections.abc import Sequence
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from hubbub.errors import ParameterError
from hubbub.mechanisms.estimate import Reals
from hubbub.mechanisms.oracle import devices
from hubbub.mechanisms.places import scores
from hubbub.mechanisms.words import Words, values_of
from hubbub.summary import Summary

BITS, HASHES = 256, 64  # unless asked for otherwise


class Noise(NamedTuple):
    """Variance of a report about a word that stands at its place with chance u: top - (shift - u)²."""

    top: float
    shift: float


class Sketch(Words):
    """Words whose reports are fresh and tell of one row; subclasses say how."""

    memo: ClassVar[bool] = False

    @property
    @abstractmethod
    def noise(self) -> Noise:
        """Variance of a report about a word."""

    @property
    def gain(self) -> float:
        """What undoes the share of other words: m / (m - 1)."""
        return self.encoder.shape.bits / (self.encoder.shape.bits - 1)

    def word_variance(self, own: ArrayLike, n: int, pairs: ArrayLike = 0) -> Reals:
        """Exact variance of the number of devices that `word_shares` finds, over noise, rows and hash functions.

        Args:
            own: Devices that have the word.
            n: All devices.
            pairs: Sum of d (d - 1) over the other words, d the devices that have one: pairs of devices that go to the
                same places.

        Raises:
            ParameterError: n < 1.
        """
        shape = self.encoder.shape
        have = np.asarray(own, float)
        each = have * self._at(1) + (devices(n) - have) * self._at(1 / shape.bits)
        return np.asarray(self.gain**2 * each + np.asarray(pairs, float) / (shape.rows * (shape.bits - 1)))

    def word_shares(self, summary: Summary, words: Sequence[str]) -> tuple[Reals, Reals]:
        """(k,) unbiased shares of words, over hash functions too, and their standard errors, devices as a sample.

        Each word by itself: what any words put into its cells by chance is error here. "" is no word.

        Raises:
            ParameterError: No reports.
        """
        shape, n = self.encoder.shape, summary.n
        estimate = self.estimate(summary)
        cells = estimate.value.reshape(shape.rows, shape.bits)
        share = self.gain * (scores(shape, cells, values_of(words)) / shape.rows - 1 / shape.bits)
        # The squares of all words' shares: those of the cells, less their noise and what falls together by chance.
        seen = (cells**2).sum() / shape.rows - (estimate.se**2).sum() / shape.rows
        squares = np.clip(self.gain * (seen - 1 / shape.bits), 0, 1)
        held = np.clip(share, 0, 1)
        drift = np.maximum(squares - held**2, 0) / (shape.rows * (shape.bits - 1))
        return share, np.asarray(np.sqrt(self.word_variance(n * held, n) / n**2 + held * (1 - held) / n + drift))

    def _at(self, standing: float) -> float:
        return self.noise.top - (self.noise.shift - standing) ** 2


def refuse_cohorts(cohorts: int | None) -> None:
    """Refuse cohorts where rows are drawn afresh instead.

    Raises:
        ParameterError: They are asked for.
    """
    if cohorts is not None:
        raise ParameterError("cohorts", cohorts, "left out: each report draws one of the hashes instead")
