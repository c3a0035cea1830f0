"""Tables of real values: one row per device and window, read from CSV or Parquet, or made by hand."""

import csv
import datetime
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from hubbub.errors import HubbubError, ParameterError
from hubbub.lock import Metric

_WORDS = {"true": 1.0, "yes": 1.0, "false": 0.0, "no": 0.0}


class TableError(HubbubError, ValueError):
    """A table cannot be replayed; the message names the file, the column and the row, never a cell of a person."""


@dataclass(frozen=True)
class Columns:
    """Names of the columns that hold the device, its window and its value."""

    device: str
    window: str
    value: str


@dataclass(frozen=True)
class Table:
    """Values by window, then by device: the window's number -> {device: value}."""

    windows: Mapping[int, Mapping[str, float]]

    @property
    def devices(self) -> list[str]:
        """Every device, in the order of first appearance."""
        return list(dict.fromkeys(device for row in self.windows.values() for device in row))

    @property
    def rows(self) -> int:
        """Device-windows."""
        return sum(len(row) for row in self.windows.values())

    def truth(self, window: int) -> np.ndarray[Any, np.dtype[np.float64]]:
        """(n,) values of the window's devices."""
        return np.array(list(self.windows[window].values()), float)


def read(
    path: Path, columns: Columns, metric: Metric, *, devices: int | None = None, windows: int | None = None
) -> Table:
    """The table in a CSV or Parquet file, for one metric.

    Args:
        path: The file; Parquet by its ending, anything else is read as CSV.
        columns: Which columns to read. Windows are ISO dates, or integers counted from the metric's first window.
        metric: What the values are for; windows must lie in its life.
        devices: Only the first so many devices.
        windows: Only the first so many windows.

    Raises:
        TableError: A column is missing, a cell does not fit, a device has two rows in a window, or nothing is left.
    """
    for name, limit in (("devices", devices), ("windows", windows)):
        if limit is not None and limit < 1:
            raise ParameterError(name, limit, ">= 1")
    frame = _load(path, columns)
    frame = pd.DataFrame(
        {
            "device": frame[columns.device].astype(str),
            "window": _windows(path, frame[columns.window], columns.window, metric),
            "value": _values(path, frame[columns.value], columns.value, metric),
        }
    )
    if (nameless := frame["device"] == "").any():
        raise TableError(f"{path}: row {_line(nameless)}, column {columns.device!r}: must not be empty")
    twice = frame.duplicated(["device", "window"])
    if twice.any():
        raise TableError(f"{path}: row {_line(twice)}: a device has two rows in one window; sum or choose one first")
    if windows is not None:
        frame = frame[frame["window"].isin(sorted(frame["window"].unique())[:windows])]
    if devices is not None:
        frame = frame[frame["device"].isin(frame["device"].unique()[:devices])]
    return from_frame(frame)


def from_frame(frame: pd.DataFrame) -> Table:
    """The table in a frame with the columns device, window and value."""
    if frame.empty:
        raise TableError("the table is empty")
    return Table(
        {
            window: dict(zip(rows["device"], rows["value"].astype(float), strict=True))
            for window, rows in sorted((int(rows["window"].iloc[0]), rows) for _, rows in frame.groupby("window"))
        }
    )


def _load(path: Path, columns: Columns) -> pd.DataFrame:
    frame = _parquet(path) if path.suffix == ".parquet" else _csv(path)
    for column in (columns.device, columns.window, columns.value):
        if (times := list(frame.columns).count(column)) != 1:
            has = ", ".join(map(repr, frame.columns))
            raise TableError(f"{path}: {times or 'no'} columns {column!r}; it has {has}")
    if frame.empty:
        raise TableError(f"{path}: the table is empty")
    return frame


def _csv(path: Path) -> pd.DataFrame:
    with path.open(encoding="utf-8-sig", newline="") as file:
        try:
            header, *rows = [row for row in csv.reader(file, strict=True) if row]
        except ValueError as error:  # no first row, or not UTF-8
            reason = "it is not UTF-8" if isinstance(error, UnicodeDecodeError) else "it has no header"
            raise TableError(f"{path}: cannot be read as CSV: {reason}") from None
        except csv.Error as error:
            raise TableError(f"{path}: cannot be read as CSV: {error}") from None
    for number, row in enumerate(rows, 2):
        if len(row) != len(header):
            raise TableError(f"{path}: row {number} has {len(row)} cells, the header {len(header)}")
    return pd.DataFrame(rows, columns=header, dtype=str)


def _parquet(path: Path) -> pd.DataFrame:
    try:
        return pd.read_parquet(path)
    except ImportError:
        raise TableError(f"{path}: reading Parquet needs pyarrow: pip install pyarrow") from None
    except ValueError:
        raise TableError(f"{path}: cannot be read as Parquet") from None


def _windows(path: Path, column: "pd.Series[Any]", name: str, metric: Metric) -> "pd.Series[int]":
    numbers = {cell: _window(cell, metric) for cell in column.unique()}
    windows = column.map(numbers)
    if (bad := windows.isna()).any():
        raise TableError(f"{path}: row {_line(bad)}, column {name!r}: must be an ISO date or a whole number >= 0")
    if (outside := ~windows.isin(metric.life)).any():
        life = f"{metric.starts} to {metric.expires}"
        raise TableError(f"{path}: row {_line(outside)}, column {name!r}: outside the metric's life, {life}")
    return windows.astype(int)


def _window(cell: object, metric: Metric) -> int | None:
    text = str(cell)
    if text.isascii() and text.isdigit():
        return metric.life.start + int(text)
    try:
        moment = datetime.datetime.fromisoformat(text)
    except ValueError:
        return None
    return metric.windows.index(moment.replace(tzinfo=moment.tzinfo or datetime.UTC).timestamp())


def _values(path: Path, column: "pd.Series[Any]", name: str, metric: Metric) -> "pd.Series[float]":
    values = pd.to_numeric(column, errors="coerce").astype(float)
    if metric.kind == "boolean":
        values = values.fillna(column.astype(str).str.lower().map(_WORDS))
        fits, expected = values.isin((0.0, 1.0)).to_numpy(), "yes or no, true or false, 1 or 0"
    else:
        fits, expected = np.isfinite(values.to_numpy()), "a finite number"
    if not fits.all():
        raise TableError(f"{path}: row {_line(~fits)}, column {name!r}: must be {expected}, as {metric.name} takes it")
    return values


def _line(marks: Any) -> int:
    """The first marked row as an editor counts it: the header is row 1."""
    return int(np.flatnonzero(np.asarray(marks))[0]) + 2
