"""Forks: a child takes nothing of its parent's, records only once the parent has let go, and never hangs."""

import subprocess
import sys
import threading
from pathlib import Path

import pytest

from hubbub.lock import Metric, dump
from tests.unit.client_support import STARTS, lock, metric
from tests.unit.test_client_transport import Handler, accept, serving

ROOT = Path(__file__).parents[2]
METRIC = metric(expires="2026-12-10")
GUARD = 60.0  # seconds after which processes count as hung

SUPPORT = """
import json, os, signal, sys, threading, time, warnings
warnings.simplefilter("ignore", DeprecationWarning)  # newer interpreters warn of forks beside threads
signal.alarm(40)  # whatever hangs is killed
os.register_at_fork(after_in_child=lambda: signal.alarm(40))
from hubbub.client import Client, MemoryState, Response, SqliteState, client as module
from hubbub.clock import FileClock
from hubbub.lock import parse
module.REJOIN_SECONDS = 0.0
lock, endpoint, folder, clock = sys.argv[1:]
lock, clock = parse(open(lock).read()), FileClock(clock)
def start(**more):
    given = {"state_dir": folder, "background": True} | more
    return Client(lock, endpoint, policy="research", clock=clock, **given)
def forked(work):
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            os.close(reader)
            os.write(writer, json.dumps(work()).encode())
            code = 0
        finally:
            os._exit(code)
    os.close(writer)
    return pid, reader
def answers(children):
    out = []
    for pid, reader in children:
        assert os.waitpid(pid, 0)[1] == 0
        out.append(json.loads(os.read(reader, 65536)))  # what a pipe holds
    return out
"""


def run(tmp_path: Path, endpoint: str, code: str, *, first: str = "", measured: Metric = METRIC) -> str:
    """What a program says that does `first`, imports the client, and does the rest; it says nothing of errors."""
    (tmp_path / "metrics.lock").write_text(dump(lock(measured)))
    (tmp_path / "clock").write_text(f"{STARTS}\n")
    arguments = [str(tmp_path / "metrics.lock"), endpoint, str(tmp_path / "state"), str(tmp_path / "clock")]
    result = subprocess.run(
        [sys.executable, "-c", first + SUPPORT + code, *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=GUARD,
        check=False,
    )
    assert (result.returncode, result.stderr) == (0, "")
    return result.stdout


def test_children_drop_and_count_and_each_report_is_delivered_once(tmp_path: Path) -> None:
    code = """
device = start()
device.add("editor.minutes", 5)
def child():
    for _ in range(20):
        device.add("editor.minutes", 7)
    ticked = device.tick(), device.flush(), device.consent(), bool(device.ledger().accounts)
    threads = threading.active_count()
    device.close()
    return [dict(device.counters), ticked, threads]
children = [forked(child) for _ in range(4)]
found = answers(children)
assert found == [[{"forked": 22}, [None, False, "granted", True], 1]] * 4, found
clock.set(clock.now() + 86400)
device.tick()
children = [forked(child) for _ in range(4)]
assert device.flush(30)
answers(children)
assert device.flush(30)
print(json.dumps(device.counters))
"""
    with serving() as server:
        assert run(tmp_path, server.endpoint, code) == '{"accepted": 1}\n'
        assert len(server.requests) == 1


def test_child_of_a_parent_that_ends_goes_on_recording_and_sending(tmp_path: Path) -> None:
    """How a program becomes a daemon."""
    code = """
device = start(background=False)
device.add("editor.minutes", 5)
middle = os.fork()
if middle:
    os._exit(0)  # the parent ends, and its lock with it
deadline = time.monotonic() + 30
while True:
    device.add("editor.minutes", 0)
    if "forked" not in device.counters or device._parted is False:
        break
    assert time.monotonic() < deadline
    time.sleep(0.01)
device.add("editor.minutes", 7)
clock.set(clock.now() + 86400)
assert device.flush(30), device.counters
print(device.counters["accepted"], device._parted, flush=True)
device.close()
"""
    with serving() as server:
        assert run(tmp_path, server.endpoint, code) == "1 False\n"
        assert len(server.requests) == 1


def test_child_gets_a_thread_again_once_the_folder_is_its_own(tmp_path: Path) -> None:
    code = """
device = start()
if os.fork():
    os._exit(0)
assert threading.active_count() == 1
deadline = time.monotonic() + 30
while device._parted and time.monotonic() < deadline:
    device.add("editor.minutes", 1)
    time.sleep(0.01)
assert [thread.name for thread in threading.enumerate()][1:] == ["hubbub"]
device.close()
print("closed")
"""
    with serving() as server:
        assert run(tmp_path, server.endpoint, code) == "closed\n"


def test_denial_in_a_child_holds_there_and_goes_on_with_the_folder(tmp_path: Path) -> None:
    code = """
device = start(background=False)
device.add("editor.minutes", 5)
if os.fork():
    time.sleep(0.5)
    os._exit(0)
assert device.consent("denied") == "denied"
deadline = time.monotonic() + 30
while device._parted and time.monotonic() < deadline:
    device.tick()
    time.sleep(0.01)
assert device.consent() == "denied"
device.close()
print(SqliteState(folder).consent())
"""
    with serving() as server:
        assert run(tmp_path, server.endpoint, code) == "denied\n"
        assert server.requests == []


@pytest.mark.parametrize("state", ["memory", "folder"])
def test_fork_in_the_middle_of_everything_does_not_hang(tmp_path: Path, state: str) -> None:
    """Forks from one thread while others record, seal and send."""
    code = f"""
more = {{"state": MemoryState(), "state_dir": None}} if {state!r} == "memory" else {{}}
device = start(**more)
stop = threading.Event()
def record():
    while not stop.is_set():
        device.add("editor.minutes", 1)
def flush():
    while not stop.is_set():
        clock.set(clock.now() + 40000)
        device.flush(5)
threads = [threading.Thread(target=work) for work in (record, record, flush)]
for thread in threads:
    thread.start()
def child():
    device.add("editor.minutes", 1)
    device.flush(1)
    device.close()
    return dict(device.counters)["forked"]
for _ in range(30):
    assert answers([forked(child)]) == [2]
stop.set()
for thread in threads:
    thread.join()
device.close()
assert set(device.counters) <= {{"accepted", "sealed_window"}}, device.counters
print("done")
"""
    with serving() as server:
        assert run(tmp_path, server.endpoint, code) == "done\n"
        bodies = [body for _, _, body in server.requests]
        assert bodies
        assert len(bodies) == len(set(bodies))


def test_child_lets_go_of_a_connection_that_the_parent_is_using(tmp_path: Path) -> None:
    code = """
device = start(background=False)
clock.set(clock.now() + 86400)
thread = threading.Thread(target=device.flush, args=(30,))
thread.start()
deadline = time.monotonic() + 30
while device._own._connection.sock is None and time.monotonic() < deadline:
    time.sleep(0.001)
child = answers([forked(lambda: device._own._connection.sock is None)])
held = device._own._connection.sock is None
print(child, held, flush=True)
thread.join()
print(device.counters)
"""
    asked = threading.Event()

    def slow(handler: Handler) -> None:
        asked.wait(3)
        accept(handler)

    with serving(slow) as server:
        assert run(tmp_path, server.endpoint, code) == "[True] False\n{'accepted': 1}\n"


def test_fork_waits_for_a_call_within_the_state_but_not_for_ever(tmp_path: Path) -> None:
    code = """
inside, entered = [], threading.Event()
class Slow(MemoryState):
    def run(self, windows):
        super().run(windows)
        if threading.current_thread() is not threading.main_thread():
            inside.append(True)
            entered.set()
            time.sleep(seconds)
            inside.clear()
found = []
for seconds in (0.2, 2.0):
    device = start(state=Slow(), state_dir=None, background=False)
    clock.set(clock.now() + 86400)
    entered.clear()
    thread = threading.Thread(target=device.tick)
    thread.start()
    entered.wait(30)
    def child():
        device.add("editor.minutes", 1)
        return [bool(inside), dict(device.counters)]
    found += answers([forked(child)])
    thread.join()
    device.add("editor.minutes", 1)
    assert device.counters == {}, device.counters
print(found)
"""
    with serving() as server:
        assert run(tmp_path, server.endpoint, code) == "[[False, {'forked': 1}], [True, {'forked': 1}]]\n"


def test_fork_in_the_middle_of_a_flush_sends_nothing_twice(tmp_path: Path) -> None:
    code = """
calls, pids = [], []
reader, writer = os.pipe()
class Forking:
    def post(self, body, timeout):
        calls.append(body)
        if not pids:
            pids.append(os.fork())
        return Response(200, b'{"accepted": 1, "results": []}')
device = start(state=MemoryState(), state_dir=None, background=False, transport=Forking())
for _ in range(3):
    clock.set(clock.now() + 86400)
    device.tick()
device.flush(30)
os.write(writer, f"{'child' if pids == [0] else 'parent'} {len(calls)} {device.counters};".encode())
if pids == [0]:
    os._exit(0)
os.waitpid(pids[0], 0)
print(sorted(os.read(reader, 100).decode().split(";")))
"""
    with serving() as server:
        assert run(tmp_path, server.endpoint, code) == "['', 'child 1 {}', \"parent 3 {'accepted': 3}\"]\n"


def test_state_that_was_given_belongs_to_the_parent_for_ever(tmp_path: Path) -> None:
    code = """
device = start(state=MemoryState(), state_dir=None, background=False)
device.add("editor.minutes", 1)
clock.set(clock.now() + 86400)
device.tick()
def child():
    return [device.flush(1), dict(device.counters)]
print(answers([forked(child)]))
assert device.flush(30)
"""
    with serving() as server:
        assert run(tmp_path, server.endpoint, code) == "[[False, {'forked': 1}]]\n"
        assert len(server.requests) == 1


def test_child_that_ends_like_any_program_leaves_the_parents_files_alone(tmp_path: Path) -> None:
    """Its interpreter closes and frees all that it holds, the parent's connection included."""
    code = """
device = start(background=False)
device.add("editor.minutes", 5)
pid = os.fork()
if pid == 0:
    device.add("editor.minutes", 1)
    del device
    import gc
    gc.collect()
    sys.exit(0)
assert os.waitpid(pid, 0)[1] == 0
for _ in range(50):
    device.add("editor.minutes", 1)
clock.set(clock.now() + 86400)
assert device.flush(30)
device.close()
again = SqliteState(folder)
assert again._tables.db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
again.close()
print(device.counters)
"""
    with serving() as server:
        assert run(tmp_path, server.endpoint, code) == "{'accepted': 1}\n"
