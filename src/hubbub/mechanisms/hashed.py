"""What local hashing shares beside its encoder: share = (c/n - q) / (p - q) from c reports with the category's hash."""

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hubbub.encoders import olh, olh_pool
from hubbub.encoders.base import SCALE
from hubbub.mechanisms.base import Reports, WordSource, below, held
from hubbub.mechanisms.estimate import Ints
from hubbub.mechanisms.oracle import Oracle, Support, crowd_of
from hubbub.summary import Summary

BLOCK = 2**16  # people at a time: their columns stay in the cache


@dataclass(frozen=True)
class Hashed(Oracle):
    """Shares of many categories from short reports; subclasses say how values are hashed and reports counted."""

    encoder: olh.Olh | olh_pool.OlhPool

    @abstractmethod
    def hashes(self, seeds: NDArray[np.uint32], values: Ints) -> NDArray[np.uint32]:
        """(n,) seeds and values -> (n,) the values' hashes."""

    @property
    @abstractmethod
    def counts_shape(self) -> tuple[int, ...]:
        """Shape of `Summary.counts`."""

    @abstractmethod
    def summarise(self, reports: Reports) -> Summary:
        """(n, 2) -> their summary."""

    @property
    def support(self) -> Support:
        """A report supports the categories whose hash it is."""
        p, q = self.encoder.supports()
        return Support(float(p), float(q))

    def randomise(self, values: Ints, source: WordSource) -> Reports:
        """(n,) -> (n, 2); a word for the seed and one for each round a person, in blocks of 65 536 people.

        Raises:
            PrivateValueError: Values outside [0, size); named by position only.
        """
        e, rounds = self.encoder, self.rounds
        held(values, e.size)
        wide = 1 + len(rounds)
        reports = np.empty((len(values), 2), np.uint32)
        for start in range(0, len(values), BLOCK):
            block = values[start : start + BLOCK]
            words = source.words(wide * len(block)).reshape(len(block), wide)
            seeds = below(e.seeds, words[:, 0], source).astype(np.uint32)
            sent = self.hashes(seeds, block)
            for place, lie in enumerate(rounds, 1):
                sent = self._disguised(sent, lie, words[:, place].copy())
            reports[start : start + BLOCK, 0] = seeds
            reports[start : start + BLOCK, 1] = sent
        return reports

    @property
    def rounds(self) -> tuple[int, ...]:
        """Share of words, in each round, that replace a hash by a certain other one, out of 2**32."""
        return (self.encoder.lie,)

    def _disguised(self, own: NDArray[np.uint32], lie: int, words: NDArray[np.uint32]) -> NDArray[np.uint32]:
        """(n,) hashes and words -> (n,) hashes after one round."""
        others = self.encoder.g - 1
        other = remainder(words, np.uint32(others))
        other += other >= own
        return np.where(words < others * lie, other, own)

    def simulate(self, truth_counts: ArrayLike, rng: np.random.Generator) -> Summary:
        """(size,) devices per value -> a summary: each of them encoded, with words of a plain generator.

        Raises:
            ParameterError: Not one count per value.
        """
        crowd = crowd_of(truth_counts, self.encoder.size)
        total = Summary(0, np.zeros(self.counts_shape, np.int64))
        for values in people(crowd):
            total += self.summarise(self.randomise(values, _Plain(rng)))
        return total


class _Plain:
    def __init__(self, rng: np.random.Generator) -> None:
        self._rng = rng

    def words(self, count: int) -> NDArray[np.uint32]:
        return self._rng.integers(0, SCALE, count, dtype=np.uint32)


def people(crowd: Ints, most: int = 2**22) -> Iterator[Ints]:
    """(size,) devices per value -> the value of each device, in parts of at most so many."""
    ends = np.cumsum(crowd)
    for start in range(0, int(ends[-1]), most):
        stop = min(start + most, int(ends[-1]))
        held = np.clip(ends, start, stop)
        yield np.repeat(np.arange(len(crowd)), held - np.append(start, held[:-1]))


def remainder(words: NDArray[np.uint32], bound: np.uint32) -> NDArray[np.uint32]:
    """`words % bound`; numpy divides by one number a few times faster than it takes remainders."""
    return words - words // bound * bound
