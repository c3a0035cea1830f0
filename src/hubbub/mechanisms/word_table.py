"""What decoding gives: the words that a crowd is found to have, and how few may be there by chance.

Each candidate is tested against "nobody has it", from one side. With a candidate's estimate s and standard error se
under that, p = 1 - Phi(s / se). Of k candidates those pass

    bonferroni            whose p <= (1 - level) / k
    benjamini_hochberg    whose p <= (1 - level) r / k, for the largest r that so many candidates satisfy

and a word is shown if it passes, reaches the floor (the share at which a word that nobody has would just pass) and is
estimated to be that of `least` devices.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from hubbub.errors import ParameterError
from hubbub.mechanisms.base import number
from hubbub.mechanisms.estimate import Ints, Reals

if TYPE_CHECKING:
    import pandas

Control = Literal["bonferroni", "benjamini_hochberg"]
CONTROLS: tuple[Control, ...] = ("bonferroni", "benjamini_hochberg")
MOST_CANDIDATES = 10_000_000


@dataclass(frozen=True, eq=False)
class WordTable:
    """Words that are shown, the most frequent first.

    Attributes:
        words: The words, k of them.
        share: Unbiased shares of the devices, shape (k,); never clipped.
        se: Their standard errors.
        p: Chances of such estimates for words that nobody has.
        n: Reports.
        candidates: Different words that were looked for.
        level: As asked.
        control: As asked.
        floor: Least share that can be shown.
        least: Least number of devices that can be shown.
        passed: Words that passed the test, shown or not.
        unallocated: Share of the devices that have none of these words, or no word at all.
        unallocated_se: Its standard error.
    """

    words: tuple[str, ...]
    share: Reals
    se: Reals
    p: Reals
    n: int
    candidates: int
    level: float
    control: Control
    floor: float
    least: float
    passed: int
    unallocated: float
    unallocated_se: float

    @property
    def hidden(self) -> int:
        """Candidates not shown: they did not pass, or are below the floor, or of fewer than `least` devices."""
        return self.candidates - len(self.words)

    def interval(self) -> tuple[Reals, Reals]:
        """Lower and upper ends, each of which holds its share with chance `level`; never clipped."""
        z = NormalDist().inv_cdf(0.5 + self.level / 2)
        return self.share - z * self.se, self.share + z * self.se

    def rows(self) -> list[dict[str, Any]]:
        """One row for each word: word, share, se, ci_low, ci_high, devices, p."""
        low, high = self.interval()
        columns = (self.words, *(c.tolist() for c in (self.share, self.se, low, high, self.n * self.share, self.p)))
        keys = ("word", "share", "se", "ci_low", "ci_high", "devices", "p")
        return [dict(zip(keys, row, strict=True)) for row in zip(*columns, strict=True)]

    def to_pandas(self) -> "pandas.DataFrame":
        """`rows` as a pandas frame."""
        import pandas

        return pandas.DataFrame(self.rows())

    def __str__(self) -> str:
        """A line for each word, then what is left."""
        wide = max(map(len, self.words), default=0)
        z = NormalDist().inv_cdf(0.5 + self.level / 2)
        lines = [
            f"{word:<{wide}}  {100 * share:7.3f} % ± {100 * z * se:.3f}"
            for word, share, se in zip(self.words, self.share, self.se, strict=True)
        ]
        return "\n".join(
            [
                *lines,
                f"{len(self.words)} of {self.candidates} candidates, from {self.n} reports; none below "
                f"{100 * self.floor:.3g} %; {100 * self.unallocated:.1f} % have another word or none",
            ]
        )


@dataclass(frozen=True)
class Asked:
    """What a caller of `decode` wants, checked."""

    words: tuple[str, ...]
    level: float
    control: Control
    least: float

    def tail(self, passed: int) -> float:
        """Largest p that passes where so many words do."""
        times = max(1, passed) if self.control == "benjamini_hochberg" else 1
        return (1 - self.level) * times / len(self.words)

    def stays(self, chosen: Ints, z: Reals) -> NDArray[np.bool_]:
        """Which of these words pass, with estimates of z standard errors, shape (r,); all others do not."""
        p = upper_tail(z)
        rising = np.sort(p)
        enough = [i + 1 for i, one in enumerate(rising.tolist()) if one <= self.tail(i + 1)]
        return np.asarray(p <= self.tail(enough[-1]) if enough else np.zeros(len(p), np.bool_))


def asked_for(candidates: Sequence[str], level: float, control: str, least: float) -> Asked:
    """What is looked for, each word once.

    Raises:
        ParameterError: No candidates, one that is no text, or a parameter out of its range.
    """
    if isinstance(candidates, str) or not 1 <= len(candidates) <= MOST_CANDIDATES:
        seen = candidates if isinstance(candidates, str) else f"{len(candidates)} words"
        raise ParameterError("candidates", seen, f"a sequence of 1 to {MOST_CANDIDATES} words")
    for word in candidates:
        if not isinstance(word, str):
            raise ParameterError("candidates", word, "words")
    check_level(level)
    if control not in CONTROLS:
        raise ParameterError("control", control, "one of " + ", ".join(CONTROLS))
    number("least", least, 0, float("inf"))
    return Asked(tuple(dict.fromkeys(candidates)), level, control, least)


def check_level(level: float) -> None:
    """Refuse what is no chance.

    Raises:
        ParameterError: Not a number in (0, 1).
    """
    if not isinstance(level, int | float) or not 0 < level < 1:
        raise ParameterError("level", level, "a number in (0, 1)")


def bonferroni_z(candidates: float, level: float) -> float:
    """How many standard errors one of so many candidates must be above 0.

    Raises:
        ParameterError: Fewer than one, or a level outside (0, 1).
    """
    if not candidates >= 1:
        raise ParameterError("candidates", candidates, ">= 1")
    check_level(level)
    return -NormalDist().inv_cdf((1 - level) / candidates)


def upper_tail(z: Reals) -> Reals:
    """(k,) chances of standard normal numbers above z."""
    from scipy.special import ndtr

    return np.asarray(ndtr(-z))
