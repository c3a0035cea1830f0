"""Where reports and their summaries are kept."""

import os

from hubbub.store.base import Cell, Entry, Outcome, Report, Store, StoreError, WindowKey
from hubbub.store.check import check
from hubbub.store.sqlite import SqliteStore

__all__ = ["Cell", "Entry", "Outcome", "Report", "Store", "StoreError", "WindowKey", "check", "open_store"]


def open_store(path: str | os.PathLike[str], *, read_only: bool = False) -> Store:
    """The store in the SQLite file at `path`; made if it is not there, unless it is only read.

    Raises:
        StoreError: Not a store, of a newer schema, missing (read only), or not to be written (otherwise).
    """
    return SqliteStore(path, read_only=read_only)
