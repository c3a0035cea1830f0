"""A device that lives until it is killed: `python -m tests.e2e.crash_device WAY ENDPOINT FOLDER CLOCK LOCK`."""

import sys
import time
from pathlib import Path

from hubbub.client import Client
from hubbub.clock import FileClock

PAUSE = 0.004  # seconds between two values


def live(background: bool, endpoint: str, folder: Path, clock: Path, lock: Path) -> None:
    """Record values for every metric of the lock, and send by the client's thread or by `flush`."""
    device = Client(lock, endpoint, policy="research", state_dir=folder, clock=FileClock(clock), background=background)
    metrics = {"load.minutes": 1.5, "load.late": True}
    while True:
        for name, value in metrics.items():
            device.add(name, value)
        if not background:
            device.flush(1.0)
        time.sleep(PAUSE)


if __name__ == "__main__":
    live(sys.argv[1] == "background", sys.argv[2], *map(Path, sys.argv[3:6]))
