"""Tables of real values: one row per device and window, read from CSV or Parquet, or made by hand."""

import csv
import datetime
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from hubbub.errors import HubbubError, ParameterError
from hubbub.lock import Metric
from hubbub.windows import iso

_LONGEST = 9  # digits of a window's number
_LARGEST = 1e15  # of a value, so that sums are finite and can be read
_WORDS = {"true": 1.0, "yes": 1.0, "false": 0.0, "no": 0.0}


class TableError(HubbubError, ValueError):
    """A table cannot be replayed; the message names the file, the column and the row, never a cell of a person."""


@dataclass(frozen=True)
class Columns:
    """Names of the columns that hold the device, its window and its value, and two that a table may lack.

    Attributes:
        segment: Where the metric has dimensions: the device's segment.
        awake: Whether the program ran on the device in the window; without it, it ran wherever there is a row.
    """

    device: str
    window: str
    value: str
    segment: str = ""
    awake: str = ""

    @property
    def named(self) -> list[str]:
        """Those that the table must have."""
        return [name for name in (self.device, self.window, self.value, self.segment, self.awake) if name]


@dataclass(frozen=True)
class Table:
    """Values by window, then by device: the window's number -> {device: value}, and each device's segment.

    Without segments every device is in the empty one.
    """

    windows: Mapping[int, Mapping[str, float]]
    segments: Mapping[str, str] = field(default_factory=dict)

    @property
    def devices(self) -> list[str]:
        """Every device, in the order of first appearance."""
        return list(dict.fromkeys(device for row in self.windows.values() for device in row))

    @property
    def rows(self) -> int:
        """Device-windows."""
        return sum(len(row) for row in self.windows.values())

    def segment(self, device: str) -> str:
        """The segment that a device is in."""
        return self.segments.get(device, "")


def read(
    path: Path,
    columns: Columns,
    metric: Metric,
    *,
    devices: int | None = None,
    windows: int | None = None,
    last: int | None = None,
) -> Table:
    """The table in a CSV or Parquet file, for one metric.

    Args:
        path: The file; Parquet by its ending, anything else is read as CSV.
        columns: Which columns to read. Windows are ISO dates, or integers counted from the metric's first window.
        metric: What the values are for; windows must lie in its life.
        devices: Only the first so many devices.
        windows: Only the first so many windows.
        last: The window that the table's last one becomes, the others before it; by default they stay what they are.

    Raises:
        TableError: A column is missing, a cell does not fit, a device has two rows in a window, or nothing is left.
    """
    for name, limit in (("devices", devices), ("windows", windows)):
        if limit is not None and limit < 1:
            raise ParameterError(name, limit, ">= 1")
    found = _load(path, columns)
    if columns.awake:
        found = found[_flags(path, found[columns.awake], columns.awake)]
        if found.empty:
            raise TableError(f"{path}: no row has a yes in the column {columns.awake!r}")
    frame = pd.DataFrame(
        {
            "device": _texts(path, found[columns.device], columns.device),
            "window": _windows(path, found[columns.window], columns.window, metric),
            "value": _values(path, found[columns.value], columns.value, metric),
            "segment": _segments(path, found[columns.segment], columns.segment, metric) if columns.segment else "",
        }
    )
    if (twice := frame.duplicated(["device", "window"])).any():
        raise TableError(f"{path}: row {_line(twice)}: a device has two rows in one window; sum or choose one first")
    moved = frame["device"].map(frame.groupby("device")["segment"].first()) != frame["segment"]
    if moved.any():
        raise TableError(f"{path}: row {_line(moved)}, column {columns.segment!r}: not the segment that the device had")
    if windows is not None:
        frame = frame[frame["window"].isin(sorted(frame["window"].unique())[:windows])]
    if devices is not None:
        frame = frame[frame["device"].isin(frame["device"].unique()[:devices])]
    if last is not None:
        frame = frame.assign(window=frame["window"] + (last - frame["window"].max()))
    if (outside := ~frame["window"].isin(metric.life)).any():
        life = f"{metric.starts} to {metric.expires}"
        where = f"row {_line(outside)}, column {columns.window!r}"
        mapped = "" if last is None else f", once the last window is that of {_date(last, metric)}"
        raise TableError(f"{path}: {where}: outside the metric's life, {life}{mapped}")
    return from_frame(frame)


def from_frame(frame: pd.DataFrame) -> Table:
    """The table in a frame with the columns device, window and value, and segment where there is one."""
    if frame.empty:
        raise TableError("the table is empty")
    named = frame[frame["segment"] != ""] if "segment" in frame else frame[:0].assign(segment="")
    return Table(
        {
            window: dict(zip(rows["device"], rows["value"].astype(float), strict=True))
            for window, rows in sorted((int(rows["window"].iloc[0]), rows) for _, rows in frame.groupby("window"))
        },
        dict(zip(named["device"], named["segment"], strict=True)),
    )


def _load(path: Path, columns: Columns) -> pd.DataFrame:
    frame = _parquet(path, columns) if path.suffix == ".parquet" else _csv(path, columns)
    if frame.empty:
        raise TableError(f"{path}: the table is empty")
    return frame


def _has(path: Path, columns: Columns, names: Sequence[str], told: str) -> None:
    """Refuse a file that lacks a column, or has it twice."""
    for column in columns.named:
        if (times := list(names).count(column)) != 1:
            raise TableError(f"{path}: {f'{times} columns' if times else 'no column'} {column!r}; {told}")


def _csv(path: Path, columns: Columns) -> pd.DataFrame:
    with path.open(encoding="utf-8-sig", newline="") as file:
        try:
            (_, header), *rows = _numbered(file)
        except ValueError as error:  # no first row, or not UTF-8
            reason = "it is not UTF-8" if isinstance(error, UnicodeDecodeError) else "it has no header"
            raise TableError(f"{path}: cannot be read as CSV: {reason}") from None
        except csv.Error as error:
            raise TableError(f"{path}: cannot be read as CSV: {error}") from None
    # Not by name: where there is no header, its first row is what a person has to say.
    _has(path, columns, header, f"its first row should name it and names {len(header)} others")
    for number, row in rows:
        if len(row) != len(header):
            raise TableError(f"{path}: row {number} has {len(row)} cells, the header {len(header)}")
    numbers = [number for number, _ in rows]
    return pd.DataFrame([row for _, row in rows], index=numbers, columns=header, dtype=str)


def _numbered(file: Iterable[str]) -> Iterator[tuple[int, list[str]]]:
    """Rows that are not empty, by the line of the file in which they begin."""
    reader, line = csv.reader(file, strict=True), 1
    for row in reader:
        if row:
            yield line, row
        line = reader.line_num + 1


def _parquet(path: Path, columns: Columns) -> pd.DataFrame:
    with path.open("rb"):  # says itself why it cannot be opened
        pass
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise TableError(f"{path}: reading Parquet needs pyarrow: pip install 'hubbub[analysis]'") from None
    try:
        names = parquet.read_schema(path).names
        _has(path, columns, names, "it has " + ", ".join(map(repr, names)))
        frame: pd.DataFrame = parquet.read_table(path, columns=columns.named).to_pandas()
    except (pyarrow.ArrowException, OSError):
        raise TableError(f"{path}: cannot be read as Parquet") from None
    frame.index = pd.RangeIndex(2, len(frame) + 2)  # as in a file with a header
    return frame


def _texts(path: Path, column: "pd.Series[Any]", name: str) -> "pd.Series[str]":
    nameless = column.isna() | (column.astype(str) == "")
    if nameless.any():
        raise TableError(f"{path}: row {_line(nameless)}, column {name!r}: must not be empty")
    return column.astype(str)


def _segments(path: Path, column: "pd.Series[Any]", name: str, metric: Metric) -> "pd.Series[str]":
    segments = column.astype(str)
    if (unknown := ~segments.isin(metric.segments)).any():
        expected = f"one of {', '.join(map(repr, metric.segments))}, as {metric.name} has them"
        raise TableError(f"{path}: row {_line(unknown)}, column {name!r}: must be {expected}")
    return segments


def _flags(path: Path, column: "pd.Series[Any]", name: str) -> "pd.Series[bool]":
    words = pd.to_numeric(column, errors="coerce").astype(float).fillna(column.astype(str).str.lower().map(_WORDS))
    if (odd := ~(words.abs() < np.inf)).any():
        raise TableError(f"{path}: row {_line(odd)}, column {name!r}: must be yes or no, or a number")
    return words != 0


def _windows(path: Path, column: "pd.Series[Any]", name: str, metric: Metric) -> "pd.Series[int]":
    windows = column.map({cell: _window(cell, metric) for cell in column.unique()})
    if (bad := windows.isna()).any():
        raise TableError(f"{path}: row {_line(bad)}, column {name!r}: must be an ISO date or a whole number >= 0")
    return windows.astype("int64")


def _window(cell: object, metric: Metric) -> int | None:
    text = str(cell)
    if text.isascii() and text.isdigit():
        return metric.life.start + int(text) if len(text) <= _LONGEST else None
    try:
        moment = datetime.datetime.fromisoformat(text)
        return metric.windows.index(moment.replace(tzinfo=moment.tzinfo or datetime.UTC).timestamp())
    except (ValueError, OverflowError):
        return None


def _date(window: int, metric: Metric) -> str:
    return iso(metric.windows.start(window))[:10]


def _values(path: Path, column: "pd.Series[Any]", name: str, metric: Metric) -> "pd.Series[float]":
    values = pd.to_numeric(column, errors="coerce").astype(float)
    if metric.kind == "boolean":
        values = values.fillna(column.astype(str).str.lower().map(_WORDS))
        fits, expected = values.isin((0.0, 1.0)), "yes or no, true or false, 1 or 0"
    else:
        fits, expected = values.abs() <= _LARGEST, f"a number in [-{_LARGEST:g}, {_LARGEST:g}]"
    if not fits.all():
        raise TableError(f"{path}: row {_line(~fits)}, column {name!r}: must be {expected}, as {metric.name} takes it")
    return values


def _line(marks: "pd.Series[bool]") -> int:
    """The first marked row as an editor counts it: the header is row 1."""
    return int(marks.index[np.flatnonzero(marks.to_numpy())[0]])
