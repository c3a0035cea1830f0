"""A host program: how busy this machine is, in disguise. Measures with psutil, reports through hubbub's SDK.

    pip install hubbub psutil
    python host_agent.py --preview      what would be sent, and what it costs; nothing is kept or sent
    python host_agent.py --agree        agree, and run until Ctrl-C; from then on without --agree
    python host_agent.py --withdraw     no more: what waits is wiped

What it measures stands in host_agent/metrics.toml; the lock beside it is all that the SDK knows.
"""

import argparse
import signal
import sys
import threading
import time
from pathlib import Path

from hubbub.client import Client, MemoryState
from hubbub.client.showing import preview_text
from hubbub.client.statement import ledger_text
from hubbub.clock import FileClock, SystemClock
from hubbub.errors import HubbubError
from hubbub.lock import parse

try:
    import psutil
except ImportError:
    print("host_agent: needs psutil: pip install psutil", file=sys.stderr)
    raise SystemExit(2) from None

LOCK = Path(__file__).with_name("host_agent") / "metrics.lock"
CPU, MEMORY = "host.cpu_minutes", "host.memory_share"
LIFE = 520  # nats a year: two metrics every day, 258 each; the SDK refuses a lock that asks for more
NOTE = """\
host_agent: you have not agreed to anything, so nothing is measured, kept or sent.

If you agree, one bit a day leaves this machine for its busy minutes, and one for the memory in use. Each is drawn at
random, so that any value could have led to it; --preview shows them, and what they cost. Your address is visible to
whoever carries or receives the traffic. DO_NOT_TRACK=1 is heeded. --agree to begin, --withdraw to end."""


def main() -> int:
    """Run the agent; returns the exit code."""
    given = arguments()
    keep = given.agree or given.state.exists()  # before anybody has agreed, nothing is left on the disk
    client = Client(
        LOCK,
        given.endpoint,
        life=LIFE,
        state_dir=given.state if keep else None,
        state=None if keep else MemoryState(),
        clock=FileClock(given.clock) if given.clock else SystemClock(),
        consent="unknown",
    )
    try:
        if given.preview:
            preview(client)
            return 0
        if given.agree or given.withdraw:
            client.consent("granted" if given.agree else "denied")
        if given.withdraw:
            print("host_agent: withdrawn; nothing more is measured or sent")
            return 0
        if client.consent() != "granted":
            print(NOTE, file=sys.stderr)
            return 2
        measure(client, given.every, once=given.once)
        return 0
    finally:
        client.close()


def measure(client: Client, every: float, *, once: bool) -> None:
    """Record how busy the machine is, until Ctrl-C; what is recorded stays here until the day is over."""
    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    psutil.cpu_percent()  # begins to count
    began = time.monotonic()
    print(f"host_agent: measuring every {every:g} s" + ("" if once else "; Ctrl-C ends it"), flush=True)
    while True:
        ended = stop.wait(every) or once
        now = time.monotonic()
        client.add(CPU, psutil.cpu_percent() / 100 * (now - began) / 60)
        client.set(MEMORY, psutil.virtual_memory().percent)
        began = now
        if ended:
            break
    if once:
        client.flush()  # a run that goes on leaves the sending to the client's thread
    print(f"host_agent: {client.counters.get('accepted', 0)} reports accepted in this run")


def preview(client: Client) -> None:
    """Show what would become of the values of this moment, and the ledger."""
    lock = parse(LOCK.read_text("utf-8"))
    minutes, memory = psutil.cpu_percent(1.0) / 100 * 24 * 60, psutil.virtual_memory().percent
    print("If the whole day were like this second:\n")
    for name, value in ((CPU, minutes), (MEMORY, memory)):
        print(preview_text(lock.metrics[name], f"{value:.1f}", client.preview(name, value)), end="\n\n")
    print(ledger_text(client.ledger(), lock))


def arguments() -> argparse.Namespace:
    """What the command line says."""
    parser = argparse.ArgumentParser(description="How busy this machine is, in disguise.")
    parser.add_argument("--endpoint", default="http://127.0.0.1:8377", metavar="URL", help="the collector")
    parser.add_argument("--state", type=Path, default=Path.home() / ".hubbub-host-agent", metavar="DIR")
    parser.add_argument("--every", type=seconds, default=60.0, metavar="SECONDS", help="between two looks (60)")
    parser.add_argument("--once", action="store_true", help="one look, send what waits, and end: for cron")
    parser.add_argument("--clock", metavar="FILE", help="unix seconds in place of the machine's clock; for tests")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--preview", action="store_true", help="what would be sent, and the ledger")
    what.add_argument("--agree", action="store_true", help="agree, and run")
    what.add_argument("--withdraw", action="store_true", help="wipe what waits; nothing more is sent")
    return parser.parse_args()


def seconds(text: str) -> float:
    """Seconds, at most a day."""
    try:
        if 0 < (number := float(text)) <= 86_400:
            return number
    except ValueError:
        pass
    raise argparse.ArgumentTypeError(f"must be in (0, 86400]; got {text!r}")


if __name__ == "__main__":
    try:
        sys.exit(main())
    except HubbubError as error:
        print(f"host_agent: {error}", file=sys.stderr)
        sys.exit(2)
