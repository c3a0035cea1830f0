"""What runs inside an app: it disguises one installation's values and sends one report for each window it ran in.

    client = Client("metrics.lock", "https://telemetry.example.org", life=300, state_dir=folder)
    client.add("editor.minutes", 12)

A thread of the client sends the reports, each at a time of its own; with `background=False` the app calls `flush`.
Needs nothing outside the standard library. Values and the secret stay in the state; only sealed reports leave it.
"""

from hubbub.client.client import Client
from hubbub.client.consent import Choice
from hubbub.client.ledger import Ledger
from hubbub.client.memory import MemoryState
from hubbub.client.policy import Policy, PolicyError
from hubbub.client.reporter import Preview
from hubbub.client.sqlite import SqliteState
from hubbub.client.state import Report, Running, State, StateError
from hubbub.client.transport import HttpTransport, Response, Transport

__all__ = [
    "Choice",
    "Client",
    "HttpTransport",
    "Ledger",
    "MemoryState",
    "Policy",
    "PolicyError",
    "Preview",
    "Report",
    "Response",
    "Running",
    "SqliteState",
    "State",
    "StateError",
    "Transport",
]
