"""Replay: real values through real devices, HTTP and a collector, with the truth laid beside the estimate."""

from hubbub.replay.run import Outcome, Replay, replay
from hubbub.replay.table import Columns, Table, TableError, read

__all__ = ["Columns", "Outcome", "Replay", "Table", "TableError", "read", "replay"]
