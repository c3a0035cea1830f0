"""Rows as files for other programs: CSV with the standard library alone, Parquet with pandas and pyarrow."""

import csv
import io
from collections.abc import Iterator, Sequence
from typing import IO

import msgspec

from hubbub.estimates.rows import Row

_AT_ONCE = 1000  # rows of a piece


def csv_pieces(rows: Sequence[Row]) -> Iterator[str]:
    """The text of a CSV file, some rows at a time; nulls are empty."""
    piece = io.StringIO()
    lines = csv.writer(piece, lineterminator="\n")
    lines.writerow(Row.__struct_fields__)
    for first in range(0, max(1, len(rows)), _AT_ONCE):
        lines.writerows(map(msgspec.structs.astuple, rows[first : first + _AT_ONCE]))
        yield piece.getvalue()
        piece.seek(0)
        piece.truncate()


def write(rows: Sequence[Row], file: IO[bytes], suffix: str) -> None:
    """Write rows.

    Args:
        rows: What to write.
        file: Takes bytes.
        suffix: `csv` or `parquet`.
    """
    if suffix == "csv":
        file.writelines(piece.encode() for piece in csv_pieces(rows))
    else:
        from hubbub.estimates.tables import frame_of

        frame_of(rows).to_parquet(file, index=False, engine="pyarrow")
