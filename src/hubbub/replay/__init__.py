"""Replay: real values through real devices, HTTP and a collector, with the truth laid beside the estimate."""

from hubbub.replay.devices import Fleet
from hubbub.replay.given import Given
from hubbub.replay.outcomes import LEVEL, Outcome, Truth
from hubbub.replay.run import Replay, Series, Trace, replay, steps
from hubbub.replay.saved import Saved
from hubbub.replay.table import Columns, Table, TableError, read

__all__ = [
    "LEVEL",
    "Columns",
    "Fleet",
    "Given",
    "Outcome",
    "Replay",
    "Saved",
    "Series",
    "Table",
    "TableError",
    "Trace",
    "Truth",
    "read",
    "replay",
    "steps",
]
