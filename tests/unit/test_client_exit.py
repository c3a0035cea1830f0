"""Processes that end: within their budget whatever the collector does, with every report on the disk."""

import contextlib
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from hubbub.client import Client, SqliteState, hosting
from hubbub.client.hosting import EXIT_SECONDS
from hubbub.clock import FileClock
from hubbub.lock import dump
from tests.unit.client_support import DAY, STARTS, Plain, Script, lock, metric
from tests.unit.test_client import sent_values

ROOT = Path(__file__).parents[2]
METRIC = metric(expires="2026-12-02")
GUARD = 60.0  # seconds after which a process counts as hung


@contextlib.contextmanager
def listening(behaviour: str) -> Iterator[tuple[str, list[socket.socket]]]:
    """A collector that is down, takes connections and never answers, or answers a byte at a time."""
    taken: list[socket.socket] = []
    stop = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.05)

        def serve() -> None:
            while not stop.is_set():
                try:
                    connection, _ = server.accept()
                except TimeoutError:
                    continue
                except OSError:
                    return
                taken.append(connection)
                if behaviour == "dripping":
                    threading.Thread(target=drip, args=(connection,), daemon=True).start()

        def drip(connection: socket.socket) -> None:
            with contextlib.suppress(OSError):
                connection.sendall(b"HTTP/1.1 200 OK\r\nX: ")
                while not stop.wait(0.05):
                    connection.sendall(b"x")

        thread = threading.Thread(target=serve)
        if behaviour != "down":
            thread.start()
        address = f"http://127.0.0.1:{server.getsockname()[1]}"
        if behaviour == "down":
            server.close()
        try:
            yield address, taken
        finally:
            stop.set()
            if behaviour != "down":
                thread.join()
            for connection in taken:
                connection.close()


def python(code: str, *arguments: object) -> tuple[float, str]:
    """Run it to its end in a process of its own: seconds after it said that it is about to end, and what it said."""
    command = [sys.executable, "-c", code, *map(str, arguments)]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        assert process.stderr is not None
        said = process.stdout.readline()
        start = time.monotonic()
        rest, errors = process.communicate(timeout=GUARD)
    finally:
        process.kill()
        process.wait()
    assert process.returncode == 0, errors
    assert errors == ""
    return time.monotonic() - start, said + rest


SENDING = """
import sys, time
from hubbub.client import Client, schedule
from hubbub.clock import ManualClock
schedule.LATE = schedule.CATCH_UP = 0.0
lock, endpoint, folder, now, busy = sys.argv[1:]
clock = ManualClock(float(now))
device = Client(lock, endpoint, policy="research", state_dir=folder, clock=clock)
tried = lambda: sum(device.counters.values()) > 0 or (busy == "busy" and device._sender._own._connection.sock)
clock.set(clock.now() + 86000)  # past any time that was drawn
deadline = time.monotonic() + 30
while not tried() and time.monotonic() < deadline:
    time.sleep(0.01)
assert tried()
print("ending", flush=True)
"""


@pytest.mark.parametrize("behaviour", ["down", "silent", "dripping"])
def test_process_ends_within_its_budget_and_the_report_stays(tmp_path: Path, behaviour: str) -> None:
    (tmp_path / "metrics.lock").write_text(dump(lock(METRIC)))
    before = SqliteState(tmp_path / "state")
    clock = FileClock(tmp_path / "clock")
    clock.set(STARTS)
    device = Client(lock(METRIC), "http://127.0.0.1:9", policy="research", state=before, clock=clock, background=False)
    device.add(METRIC.name, 5)
    clock.set(STARTS + DAY)
    device.tick()
    (report,) = before.outbox()
    before.close()
    with listening(behaviour) as (endpoint, _):
        busy = "down" if behaviour == "down" else "busy"
        arguments = (tmp_path / "metrics.lock", endpoint, tmp_path / "state", STARTS + DAY + 1, busy)
        seconds, said = python(SENDING, *arguments)
    assert said == "ending\n"
    # The budget is two seconds; the rest is what an interpreter takes to end on a busy machine.
    assert seconds < EXIT_SECONDS + 8
    after = SqliteState(tmp_path / "state")
    (kept,) = after.outbox()
    assert (kept.id, kept.body) == (report.id, report.body)
    after.close()


RECORDING = """
import sys
from hubbub.client import Client
from hubbub.clock import FileClock
lock, folder, clock, background, value = sys.argv[1:]
device = Client(lock, "http://127.0.0.1:9", policy="research", state_dir=folder, clock=FileClock(clock),
                background=background == "thread")
device.add("editor.minutes", float(value))
print("ending", flush=True)
"""


@pytest.mark.parametrize("background", ["thread", "none"])
def test_values_of_short_programs_are_on_the_disk_and_the_next_run_sends_them(tmp_path: Path, background: str) -> None:
    (tmp_path / "metrics.lock").write_text(dump(lock(METRIC)))
    clock = FileClock(tmp_path / "clock")
    clock.set(STARTS)
    for hour, value in ((0, 3), (1, 4), (23, 5)):
        clock.set(STARTS + hour * 3600)
        python(RECORDING, tmp_path / "metrics.lock", tmp_path / "state", tmp_path / "clock", background, value)
    clock.set(STARTS + DAY)
    script = Script()
    device = Client(
        lock(METRIC),
        "http://127.0.0.1:9",
        policy="research",
        state_dir=tmp_path / "state",
        clock=clock,
        transport=script,
        background=False,
    )
    assert device.flush()
    assert len(script.bodies) == 1
    device.close()


def test_values_of_short_programs_add_up(tmp_path: Path) -> None:
    """As above, with an encoder that shows the sum."""
    plain = metric(encoder=Plain(481), expires="2026-12-02")
    clock, script = FileClock(tmp_path / "clock"), Script()
    for hour, value in ((0, 3), (1, 4), (23, 5), (24, 0)):
        clock.set(STARTS + hour * 3600)
        device = Client(
            lock(plain),
            "http://127.0.0.1:9",
            policy="research",
            state_dir=tmp_path / "state",
            clock=clock,
            transport=script,
        )
        device.add(plain.name, value)
        device.close()
    last = Client(
        lock(plain),
        "http://127.0.0.1:9",
        policy="research",
        state_dir=tmp_path / "state",
        clock=clock,
        transport=script,
        background=False,
    )
    assert last.flush()
    assert sent_values(script) == {STARTS // DAY: 12}
    last.close()


def test_program_that_ends_with_clients_left_open_ends(tmp_path: Path) -> None:
    code = """
import sys
from hubbub.client import Client, MemoryState, SqliteState
from hubbub.lock import parse
lock = parse(open(sys.argv[1]).read())
kept = [Client(lock, "http://127.0.0.1:9", policy="research", state=MemoryState()) for _ in range(5)]
kept += [Client(lock, "http://127.0.0.1:9", policy="research", state_dir=f"{sys.argv[2]}/{i}") for i in range(3)]
print("ending", flush=True)
"""
    (tmp_path / "metrics.lock").write_text(dump(lock(METRIC)))
    seconds, _ = python(code, tmp_path / "metrics.lock", tmp_path)
    assert seconds < EXIT_SECONDS + 8
    for index in range(3):
        SqliteState(tmp_path / str(index)).close()  # let go of


def test_budget_is_one_for_all_clients(monkeypatch: pytest.MonkeyPatch) -> None:
    elapsed = [100.0]
    given: list[float] = []

    class Slow:
        def leave(self, budget: float) -> None:
            given.append(budget)
            elapsed[0] += min(budget, 1.5)

        def before_fork(self) -> None: ...

        def after_fork(self, *, child: bool) -> None: ...

    monkeypatch.setattr(time, "monotonic", lambda: elapsed[0])
    monkeypatch.setattr(hosting, "_hosted", {})
    kept = [Slow() for _ in range(4)]
    for one in kept:
        hosting.watch(one)
    hosting._leave()
    assert given == pytest.approx([EXIT_SECONDS, 0.5, 0, 0])
    assert len(hosting._hosted) == 4
    del kept, one
    assert hosting._hosted == {}
