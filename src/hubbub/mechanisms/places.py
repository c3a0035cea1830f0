"""Where words stand in the rows of a sketch, for many words at a time; see hubbub.encoders.words."""

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from hubbub.encoders.words import HALF, Shape, numbers
from hubbub.mechanisms.estimate import Ints

_SHIFT, _LOW = np.uint64(HALF), np.uint64(2**HALF - 1)


@lru_cache(maxsize=8)
def _numbers(shape: Shape) -> NDArray[np.uint64]:
    """(3, rows, segments): a, b and c of each segment of each row."""
    found = [[numbers(shape, row, segment) for segment in range(shape.segments)] for row in range(shape.rows)]
    return np.ascontiguousarray(np.moveaxis(np.array(found, np.uint64), 2, 0))


def places(shape: Shape, rows: Ints | int, values: Ints) -> Ints:
    """(n,) values, in a row each or all in one -> (n, segments) their places, counted from the row's first one."""
    a, b, c = _numbers(shape)[:, rows]
    held = values.astype(np.uint64)[:, None]
    x = (a + (held >> _SHIFT)) * (b + (held & _LOW)) + c >> _SHIFT
    starts = np.arange(shape.segments, dtype=np.int64) * shape.width
    return np.asarray(starts + (x * np.uint64(shape.width) >> _SHIFT).astype(np.int64))


def scores(shape: Shape, cells: NDArray[np.float64], values: Ints) -> NDArray[np.float64]:
    """(n,) values -> (n,) sums of the cells, shape (rows, bits), at which each of them stands."""
    total = np.zeros(len(values))
    for row in range(shape.rows):
        total += cells[row][places(shape, row, values)].sum(axis=1)
    return total
