"""Mechanisms for words, measured: the shares of places beside their exact errors, and which words are found.

What a mechanism for words estimates without bias, and whose variance is exact, are shares of places; words are found in
them by a regression, for candidates: those that somebody has, and as many that nobody has.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count, islice
from typing import TYPE_CHECKING, Any

import numpy as np

from hubbub.errors import ParameterError
from hubbub.mechanisms.estimate import Reals
from hubbub.mechanisms.words import Words, values_of
from hubbub.simulation.crowds import weights
from hubbub.simulation.run import Measured, Progress, check, errors, measured
from hubbub.summary import Summary

if TYPE_CHECKING:
    import pandas

LEVEL = 0.95
MOST_WORDS = 100_000  # different ones of a crowd


@dataclass(frozen=True)
class WordsMeasured(Measured):
    """The errors of places, and what is found.

    Attributes:
        candidates: Words that were looked for.
        floor: Share of the devices that is found as often as not, exact.
        above: Words whose true share reaches it.
        shown: Words that a crowd shows, on average.
        recall: Share of those above the floor that are shown; 1 if there are none.
        precision: Share of those shown that somebody has; 1 if none is shown.
        wrong: Share of the crowds that show a word which nobody has: about 1 - 0.95 at most.
        held: Share of the intervals of words shown that hold the truth; 1 if none is shown.
    """

    candidates: int
    floor: float
    above: int
    shown: float
    recall: float
    precision: float
    wrong: float
    held: float


@dataclass(frozen=True)
class Vocabulary:
    """Words of a crowd and the chance of each, shape (k,); "" is no word."""

    words: Sequence[str]
    chances: Reals


def made_words(size: int, name: str) -> Vocabulary:
    """So many made words with the chances of a named distribution.

    Raises:
        ParameterError: No such distribution, or a size outside [1, 100 000].
    """
    if not 1 <= size <= MOST_WORDS:
        raise ParameterError("categories", size, f"an integer in [1, {MOST_WORDS}]")
    return Vocabulary([f"word {i + 1}" for i in range(size)], weights(size, name))


def words_of(column: "pandas.Series[Any]") -> Vocabulary:
    """The words of a column of a table; an empty cell is no word.

    Raises:
        ParameterError: More than 100 000 different ones.
    """
    counts = column.astype(object).where(column.notna(), "").astype(str).value_counts()
    if len(counts) > MOST_WORDS:
        raise ParameterError("column", f"{len(counts)} different words", f"one of at most {MOST_WORDS}")
    return Vocabulary(counts.index.tolist(), np.asarray(counts / counts.sum(), float))


def measure_words(
    mechanism: Words,
    vocabulary: Vocabulary,
    n: int,
    runs: int,
    rng: np.random.Generator,
    progress: Progress = lambda runs: None,
) -> WordsMeasured:
    """Run it on crowds of n devices whose words have these chances.

    Raises:
        ParameterError: n outside [1, 10**15], or runs < 2.
    """
    check(n, runs)
    true = {word: share for word, share in zip(vocabulary.words, vocabulary.chances.tolist(), strict=True) if share}
    values, chances = values_of(list(true)), np.array(list(true.values()))
    truth = np.asarray(sum(share * mechanism.truth(int(value)) for value, share in zip(values, chances, strict=True)))
    true.pop("", None)
    strange = (word for i in count(1) if (word := f"nobody {i}") not in true)
    candidates = [*true, *islice(strange, max(1, len(true)))]
    floor = mechanism.detection_floor(n, len(candidates), LEVEL)
    above = {word for word, share in true.items() if share >= floor}
    found = []

    def draw() -> Summary:
        people = rng.multinomial(n, chances)
        summary = mechanism.simulate(people[people > 0], rng, values[people > 0])
        table = mechanism.decode(summary, candidates, level=LEVEL, least=0)
        low, high = table.interval()
        real = np.array([true.get(word, 0.0) for word in table.words])
        right = int((real > 0).sum())
        recalled = len(above & set(table.words)) / len(above) if above else 1.0
        wrong = right < len(real)
        found.append([len(real), recalled, right, wrong, ((low <= real) & (real <= high)).sum()])
        return summary

    each, covered = [], np.zeros(truth.size)
    for squares, holds in errors(mechanism, draw, truth, runs, progress):
        each.append(n * squares.mean())
        covered += holds / runs
    one = measured(mechanism, n, np.array(each), float(np.mean(mechanism.variance(truth, 1))), covered)
    shown, recall, right, wrong, held = np.mean(found, axis=0).tolist()
    return WordsMeasured(
        **vars(one),
        candidates=len(candidates),
        floor=floor,
        above=len(above),
        shown=shown,
        recall=recall,
        precision=right / shown if shown else 1.0,
        wrong=wrong,
        held=held / shown if shown else 1.0,
    )
