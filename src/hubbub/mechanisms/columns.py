"""Reports that are a bit for each category: how many of them have each bit set.

Bits are bytes here. Up to 255 of them are added in a byte, a whole register at a time, which is what makes this fast;
rows are read in blocks that stay in the processor's cache, several short rows as one long one.
"""

import numpy as np
from numpy.typing import NDArray

from hubbub.mechanisms.base import Reports
from hubbub.mechanisms.estimate import Ints
from hubbub.mechanisms.oracle import fields

CELLS = 1 << 18  # bits, or words, that are worked on at a time
WIDE = 1024  # bytes added at a time, at least
BYTE = 255  # rows whose sum fits a byte


def blocks(people: int, width: int, cells: int = CELLS, most: int = CELLS) -> list[slice]:
    """People cut into blocks of about `cells` cells, at `width` cells a person; one empty block for nobody."""
    step = max(1, min(cells // width, most))
    return [slice(start, min(start + step, people)) for start in range(0, max(people, 1), step)]


def count_ones(reports: Reports, size: int) -> Ints:
    """(n, size) bits -> (size,) how many reports have each of them set.

    Raises:
        ParameterError: The reports are not so many bits each.
    """
    fields(reports[:0], (2,) * size)
    counts = np.zeros(size, np.int64)
    for block in blocks(len(reports), size):
        bits = reports[block]
        if bits.size and (bits.max() > 1 or (bits.dtype.kind == "i" and bits.min() < 0)):
            fields(bits, (2,) * size)
        counts += _column_sums(bits.astype(np.uint8, copy=False))
    return counts


def _column_sums(bits: NDArray[np.uint8]) -> Ints:
    n, size = bits.shape
    fold = max(1, WIDE // size)
    whole = n - n % fold
    rows = bits[:whole].reshape(-1, fold * size)
    counts = np.zeros(fold * size, np.int64)
    for start in range(0, len(rows), BYTE):
        counts += np.add.reduce(rows[start : start + BYTE], axis=0, dtype=np.uint8)
    rest = bits[whole:].sum(axis=0, dtype=np.int64)
    return np.asarray(counts.reshape(fold, size).sum(axis=0) + rest, np.int64)
