"""Rows as tables. Needs pandas."""

from collections.abc import Mapping, Sequence
from typing import Any, get_args

import msgspec
import pandas as pd

from hubbub.estimates.rows import Row

_TIMES = ("window_start", "window_end")
_TYPES: Mapping[Any, Any] = {str: "string", int: "int64", float: "float64"}  # by what a field holds beside None


def frame_of(rows: Sequence[Row]) -> pd.DataFrame:
    """Rows as a table: times as UTC datetimes, nulls as missing values, the same types whatever the rows hold."""
    columns = {}
    for field in msgspec.structs.fields(Row):
        values = [getattr(row, field.name) for row in rows]
        if field.name in _TIMES:
            columns[field.name] = pd.Series(pd.to_datetime(values, utc=True)).astype("datetime64[us, UTC]")
        else:
            (held,) = {*get_args(field.type), field.type} & _TYPES.keys()
            columns[field.name] = pd.Series(values, dtype=_TYPES[held])
    return pd.DataFrame(columns)
