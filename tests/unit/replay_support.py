"""Definitions and tables for tests of the replay."""

from hubbub.definitions import build, loads
from hubbub.lock import Lock
from hubbub.replay import Table

REGISTRY = """\
schema = "hubbub.registry/1"
collection = "replayed"
[metrics."app.used"]
version = 1
kind = "boolean"
description = "Whether the app was used"
purpose = "Tests"
owners = ["tests@example.org"]
epsilon = 1.0
starts = 2026-03-02
expires = 2026-04-02
min_reports = 20
[metrics."app.minutes"]
version = 1
kind = "mean"
description = "Minutes of use"
purpose = "Tests"
owners = ["tests@example.org"]
unit = "min"
lower = 0
upper = 60
epsilon = 2.0
window = "day"
starts = 2026-03-02
expires = 2026-04-02
min_reports = 20
[metrics."app.split"]
version = 1
kind = "boolean"
description = "Whether the app was used, by channel and system"
purpose = "Tests"
owners = ["tests@example.org"]
epsilon = 1.0
starts = 2026-03-02
expires = 2026-04-02
min_reports = 20
dimensions = { channel = ["stable", "beta"], system = ["mac", "linux"] }
"""


def lock_of(text: str = REGISTRY) -> Lock:
    """The lock of a registry."""
    return build(loads(text.encode(), "test"), None)


def table_of(windows: int, devices: int, first: int) -> Table:
    """Device d answers yes in window w iff d + w is even; every fifth device sits out every third window."""
    return Table(
        {
            first + w: {f"d{d}": float((d + w) % 2 == 0) for d in range(devices) if not (d % 5 == 0 and w % 3 == 1)}
            for w in range(windows)
        }
    )
