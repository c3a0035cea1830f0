"""Reports that are a bit for each category, or for each place of a row: how many of them have each bit set.

Bits are bytes here. Up to 255 of them are added in a byte, a whole register at a time, which is what makes this fast;
rows are read in blocks that stay near the processor, several short rows as one long one.
"""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from hubbub.mechanisms.base import Reports
from hubbub.mechanisms.estimate import Ints
from hubbub.mechanisms.oracle import fields

CELLS = 1 << 18  # bits, or words, that are worked on at a time
READ = 1 << 20  # bits that are counted at a time
SORTED = 1 << 22  # bits that are sorted by the row that they belong to at a time
WIDE = 4096  # bytes added at a time, about
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
    for block in blocks(len(reports), size, READ):
        counts += column_sums(as_bits(reports[block]))
    return counts


def ones_of(reports: Reports, radices: Sequence[int]) -> Ints:
    """(n, 1 + bits) rows and bits -> (rows, 1 + bits) reports of each row, and how many have each bit set.

    Raises:
        ParameterError: The reports are not a row and its bits each.
    """
    fields(reports[:0], (2,) * len(radices))
    rows = fields(reports[:, :1], radices[:1])[:, 0]
    counts = np.zeros((radices[0], len(radices)), np.int64)
    for block in blocks(len(reports), len(radices), SORTED):
        bits = as_bits(reports[block, 1:])[np.argsort(rows[block], kind="stable")]
        here = np.bincount(rows[block], minlength=radices[0])
        found = np.flatnonzero(here)
        few = np.zeros((len(found), len(radices) - 1), np.uint8)
        ends = np.cumsum(here[found]).tolist()
        for i, (start, stop) in enumerate(pairwise((0, *ends))):
            if stop - start <= BYTE:
                np.add.reduce(bits[start:stop], axis=0, dtype=np.uint8, out=few[i])
            else:
                counts[found[i], 1:] += column_sums(bits[start:stop])
        counts[:, 0] += here
        counts[slice(None) if len(found) == len(counts) else found, 1:] += few
    return counts


def as_bits(reports: Reports) -> NDArray[np.uint8]:
    """(n, size) fields -> the same as bytes, if they are bits.

    Raises:
        ParameterError: They are not.
    """
    if reports.size and (reports.max() > 1 or (reports.dtype.kind == "i" and reports.min() < 0)):
        fields(reports, (2,) * reports.shape[1])
    return reports.astype(np.uint8, copy=False)


def column_sums(bits: NDArray[np.uint8]) -> Ints:
    """(n, size) bits -> (size,) their sums."""
    n, size = bits.shape
    fold = max(1, WIDE // size)
    whole = n - n % fold
    rows = bits[:whole].reshape(-1, fold * size)
    counts = np.zeros(fold * size, np.int64)
    for start in range(0, len(rows), BYTE):
        counts += np.add.reduce(rows[start : start + BYTE], axis=0, dtype=np.uint8)
    rest = bits[whole:].sum(axis=0, dtype=np.int64)
    return np.asarray(counts.reshape(fold, size).sum(axis=0) + rest, np.int64)
