"""What runs inside an app: it disguises one installation's values and sends one report for each window it ran in.

    client = Client("metrics.lock", "https://telemetry.example.org", state_dir=folder)
    client.add("editor.minutes", 12)
    client.flush()

Needs nothing outside the standard library. Values and the secret stay in the state; only sealed reports leave it.
"""

from hubbub.client.client import Client
from hubbub.client.reporter import Preview
from hubbub.client.state import MemoryState, Report, Running, SqliteState, State, StateError
from hubbub.client.transport import HttpTransport, Response, Transport

__all__ = [
    "Client",
    "HttpTransport",
    "MemoryState",
    "Preview",
    "Report",
    "Response",
    "Running",
    "SqliteState",
    "State",
    "StateError",
    "Transport",
]
