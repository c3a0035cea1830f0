"""Crowds to draw from: named distributions over a mechanism's values, or those of a column of a table."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from hubbub.errors import ParameterError
from hubbub.lock import NONE
from hubbub.mechanisms import Mechanism
from hubbub.mechanisms.estimate import Reals

if TYPE_CHECKING:
    import pandas

ZIPF = 1.1  # exponent


def _uniform(size: int) -> Reals:
    return np.ones(size)


def _zipf(size: int) -> Reals:
    return np.asarray(np.arange(1, size + 1) ** -ZIPF, float)


def _exponential(size: int) -> Reals:
    return np.asarray(np.exp(-4 * np.arange(size) / size), float)


def _bell(size: int) -> Reals:
    middle, width = (size - 1) / 2, max(size / 8, 0.5)
    return np.asarray(np.exp(-0.5 * ((np.arange(size) - middle) / width) ** 2), float)


def _point(size: int) -> Reals:
    return np.asarray(np.arange(size) == size // 2, float)


DISTRIBUTIONS: Mapping[str, Callable[[int], Reals]] = {
    "uniform": _uniform,
    "zipf": _zipf,  # value i has weight (i + 1)^-1.1
    "exponential": _exponential,  # falls e^4-fold over the range
    "bell": _bell,  # normal about the middle, its standard deviation an eighth of the range
    "point": _point,  # everybody in the middle
}


def named(mechanism: Mechanism, name: str) -> Reals:
    """(size,) chance of each value.

    Raises:
        ParameterError: No such distribution.
    """
    return weights(mechanism.encoder.size, name)


def weights(size: int, name: str) -> Reals:
    """(size,) chances of a named distribution.

    Raises:
        ParameterError: No such distribution.
    """
    if name not in DISTRIBUTIONS:
        raise ParameterError("distribution", name, "one of " + ", ".join(DISTRIBUTIONS))
    found = DISTRIBUTIONS[name](size)
    return np.asarray(found / found.sum(), float)


def cells(path: Path, names: Sequence[str], *, text: bool = False) -> "pandas.DataFrame":
    """Columns of a CSV or Parquet file, empty cells as empty text; with `text` all cells of a CSV file are text.

    Raises:
        ParameterError: The file cannot be read as a table, or has no such column, or no rows.
    """
    import pandas as pd

    try:
        if path.suffix == ".parquet":
            frame = pd.read_parquet(path)
        else:
            frame = pd.read_csv(path, keep_default_na=False, dtype=str if text else None)
    except ValueError:  # of pandas, pyarrow and the decoder alike; what they say may repeat a cell
        raise ParameterError("table", str(path), "a CSV or Parquet file with a header") from None
    for name in names:
        if name not in frame:
            raise ParameterError("column", name, "one of " + ", ".join(map(str, frame.columns)))
    if frame.empty:
        raise ParameterError("table", str(path), "a table with rows")
    return frame[list(names)]


def shares(mechanism: Mechanism, column: "pandas.Series[Any]") -> Reals:
    """(size,) share of each value in a column, as the mechanism's domain takes it.

    Raises:
        PrivateValueError: A cell is no value; named by position only.
    """
    known = getattr(mechanism, "labels", ())
    values = mechanism.index(column.astype(str).tolist() if known else column.to_numpy())
    return np.bincount(values, minlength=mechanism.encoder.size) / len(values)


def labels(column: "pandas.Series[Any]", most: int) -> tuple[str, ...]:
    """The different cells of a column, commonest first, `most` at most: the categories of a choice."""
    found = column.astype(str)
    return tuple(found[~found.isin(("", NONE))].value_counts().index[:most])
