"""Sets of different numbers for many people at once, by Floyd's method: what devices draw, without a step per word.

A person's draw j is below its bound, top + 1, and the bounds of later draws are greater by one each. It adds what was
drawn to the set, or its top where that is there already. Here all draws go at once into a table with a row for each
person, where an earlier draw stands over later ones of the same number. A draw that does not find itself there has been
drawn before and takes its top; a draw that is found where that top belongs comes later, so it takes its own top, and so
on: few of them, and fewer each time.

Source: Floyd, in Bentley, Programming pearls, CACM 30 (1987) 754-757.
"""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from hubbub.mechanisms.estimate import Ints

CELLS = 1 << 16  # of a table, which stays in the processor's cache with all that is done to it


@dataclass(frozen=True, eq=False)
class Floyd:
    """Draws `drawn` different numbers below `numbers` for each of up to `people` people.

    Draws are told apart by their place among all of them, those of a person from the last to the first.

    Attributes:
        drawn: Numbers in a set.
        width: Places in a person's row of the table, `numbers` or more.
        bounds: (drawn,) bounds of the draws.
        rows: (people, 1) where the row of each person begins.
        tops: (people * drawn,) where the top of each draw belongs in the table.
        draws: (people * drawn,) their numbers.
    """

    drawn: int
    width: int
    bounds: NDArray[np.uint32]
    rows: NDArray[np.uint32]
    tops: Ints
    draws: NDArray[np.uint32]

    @classmethod
    def of(cls, numbers: int, drawn: int, width: int, people: int) -> Self:
        """What all blocks of people have in common."""
        bounds = np.arange(numbers, numbers - drawn, -1)
        rows = np.arange(people)[:, None] * width
        tops = np.ravel(rows + bounds - 1)
        draws = np.arange(tops.size, dtype=np.uint32)
        return cls(drawn, width, bounds.astype(np.uint32), rows.astype(np.uint32), tops, draws)

    def sets(self, words: NDArray[np.uint32]) -> tuple[NDArray[np.bool_], Ints]:
        """(people, drawn) words that no bound refuses -> (people, width) sets, and (people, drawn) what was drawn.

        The latter in the order of the words, as places of the former, flattened.
        """
        found: NDArray[np.uint32] = words[:, ::-1] % self.bounds
        found += self.rows[: len(words)]
        at = found.astype(np.int64).ravel()
        draws = self.draws[: at.size]
        free, top = np.uint32(at.size), np.uint32(at.size + 1)  # what stands where no draw does
        table = np.full(len(words) * self.width, free)
        table[at] = draws  # numpy keeps the last one
        again: NDArray[Any] = np.flatnonzero(table.take(at) != draws)
        while again.size:
            there = self.tops.take(again)
            at[again] = there
            again = table.take(there)
            table[there] = top
            again = again[again != free]
        return (table != free).reshape(-1, self.width), at.reshape(-1, self.drawn)[:, ::-1]
