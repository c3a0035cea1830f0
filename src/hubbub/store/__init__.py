"""Where reports and their summaries are kept."""

import os

from hubbub.store.base import (
    ESTIMATE_COLUMNS,
    PROBLEMS_TOTAL,
    REPORTS_TOTAL,
    Cell,
    Entry,
    Outcome,
    Report,
    Store,
    StoreError,
    WindowKey,
)
from hubbub.store.check import check
from hubbub.store.sqlite import SqliteStore

__all__ = [
    "ESTIMATE_COLUMNS",
    "PROBLEMS_TOTAL",
    "REPORTS_TOTAL",
    "Cell",
    "Entry",
    "Outcome",
    "Report",
    "Store",
    "StoreError",
    "WindowKey",
    "check",
    "open_store",
]


def open_store(path: str | os.PathLike[str], *, read_only: bool = False, dev: bool | None = None) -> Store:
    """The store in the SQLite file at `path`; made if it is not there, unless it is only read.

    Args:
        path: The file.
        read_only: Change nothing.
        dev: Whether it must be a store of `serve --dev`, which a new one then becomes, or must not; None takes both.

    Raises:
        StoreError: Not a store, of a newer schema, of the other mode, missing (read only), or not to be written
            (otherwise).
    """
    return SqliteStore(path, read_only=read_only, dev=dev)
