"""gevent: the thread of a client is then a greenlet, which no other waits for and which a fork takes along."""

import socket
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from hubbub.client import SqliteState
from tests.unit.client_support import ACCEPTED, metric
from tests.unit.test_client_fork import run
from tests.unit.test_client_transport import BODY, LONG, Handler, accept, serving, transport_to

ONE = metric(expires="2026-12-02")  # of which a device sends one report

PATCHED = """
from gevent import monkey
monkey.patch_all()
"""

SUPPORT = """
import gevent
from pathlib import Path
from hubbub.client import sender
from hubbub.clock import ManualClock
sender.RESTLESS = 0.002  # the greenlet looks at the clock all the time
asked, go = (Path(clock._path).parent / name for name in ("asked", "go"))
def until(condition, meanwhile=lambda: None):
    deadline = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < deadline, (device.counters, clock.now())
        meanwhile()
        time.sleep(0.002)
limit = clock.now() + 5 * 86400  # by then the report of the first day is due, drawn anew or not, and still taken
def days_pass():
    clock.set(min(clock.now() + 500, limit))
def child():
    device.add("editor.minutes", 7)
    gevent.sleep(0.3)  # whatever came along goes on
    return dict(device.counters)
"""


def patched(tmp_path: Path, endpoint: str, code: str) -> str:
    """What a program says that is patched before it imports the client."""
    return run(tmp_path, endpoint, SUPPORT + code, first=PATCHED, measured=ONE)


def withheld(tmp_path: Path, *, at_once: int = 0) -> Callable[[Handler], None]:
    """Answers so many requests at once, and the others once the program has made the file `go`."""

    def answer(handler: Handler) -> None:
        if len(handler.server.requests) > at_once:
            (tmp_path / "asked").touch()
            deadline = time.monotonic() + 30
            while not (tmp_path / "go").exists() and time.monotonic() < deadline:
                time.sleep(0.002)
        with suppress(OSError):  # the program may have ended
            accept(handler)

    return answer


def test_other_greenlets_run_while_a_report_is_sent(tmp_path: Path) -> None:
    """The collector answers once another greenlet of the program has run."""
    code = """
device = start()
device.add("editor.minutes", 5)
greenlet = gevent.spawn(until, asked.exists, days_pass)
greenlet.link_value(lambda _: go.touch())
until(lambda: device.counters)
print(device.counters)
device.close()
"""
    with serving(withheld(tmp_path)) as server:
        assert patched(tmp_path, server.endpoint, code) == "{'accepted': 1}\n"
        assert len(server.requests) == 1


@pytest.mark.parametrize("fork", ["os.fork", "gevent.os.fork", "gevent.fork"])
def test_children_drop_and_count_and_each_report_is_delivered_once(tmp_path: Path, fork: str) -> None:
    code = f"""
os.fork = {fork}
device = start()
device.add("editor.minutes", 5)
print(answers([forked(child) for _ in range(4)]) == [{{"forked": 1}}] * 4)
until(lambda: device.counters, days_pass)
print(answers([forked(child) for _ in range(4)]) == [{{"accepted": 1, "forked": 1}}] * 4, device.counters)
device.close()
"""
    with serving() as server:
        assert patched(tmp_path, server.endpoint, code) == "True\nTrue {'accepted': 1}\n"
        assert len(server.requests) == 1


def test_fork_while_the_greenlet_waits_for_an_answer(tmp_path: Path) -> None:
    code = """
device = start()
device.add("editor.minutes", 5)
until(asked.exists, days_pass)
print(answers([forked(child) for _ in range(4)]))
go.touch()
until(lambda: device.counters)
print(device.counters)
device.close()
"""
    with serving(withheld(tmp_path)) as server:
        expected = f"{[{'forked': 1}] * 4}\n{{'accepted': 1}}\n"
        assert patched(tmp_path, server.endpoint, code) == expected
        assert len(server.requests) == 1


def test_fork_in_the_middle_of_a_flush(tmp_path: Path) -> None:
    """Of two greenlets one has a connection that was kept alive, and the other waits for its turn."""
    code = """
device = start(background=False)
for _ in range(2):
    device.add("editor.minutes", 5)
    clock.set(clock.now() + 86400)
    device.tick()
flushing = [gevent.spawn(device.flush, 30) for _ in range(2)]
until(asked.exists)
closed = []
def ended():
    device._own.close = lambda: closed.append("the child's connection")
    gevent.joinall(flushing, timeout=20, raise_error=True)
    return [[greenlet.value for greenlet in flushing], device.counters, closed]
print(answers([forked(ended)]))
go.touch()
print([greenlet.get() for greenlet in flushing], device.counters)
"""
    with serving(withheld(tmp_path, at_once=1)) as server:
        given = run(tmp_path, server.endpoint, SUPPORT + code, first=PATCHED)
        bodies = [body for _, _, body in server.requests]
        assert len(bodies) == len(set(bodies)) == 2
        assert given == "[[[False, False], {'accepted': 1}, []]]\n[True, True] {'accepted': 2}\n"


def test_post_that_is_connecting_at_a_fork_sends_nothing() -> None:
    with serving() as server, transport_to(server.endpoint) as transport:
        connect = transport._connection._create_connection  # type: ignore[attr-defined]

        def forking(*arguments: Any, **more: Any) -> socket.socket:
            transport.forget()
            connected: socket.socket = connect(*arguments, **more)
            return connected

        transport._connection._create_connection = forking  # type: ignore[attr-defined]
        with pytest.raises(ConnectionAbortedError):
            transport.post(BODY, LONG)
        assert server.requests == []
        assert transport.post(BODY, LONG) == ACCEPTED


def test_fork_while_greenlets_wait_for_a_call_within_the_state(tmp_path: Path) -> None:
    """The fork waits for that call too. In the child they wait on, and are let go."""
    code = """
module.FORK_SECONDS = 30.0
inside, leave = gevent.event.Event(), gevent.event.Event()
class Slow(SqliteState):
    def run(self, windows):
        super().run(windows)
        if threading.current_thread() is not threading.main_thread():
            inside.set()
            leave.wait()
device = start(state=Slow(folder), state_dir=None, background=False)
clock.set(clock.now() + 86400)
ticking = gevent.spawn(device.tick)
inside.wait()
def ended():
    clock.set(clock.now() + 86400)  # so that there is something to seal
    gevent.joinall(waiting, timeout=20, raise_error=True)
    return [[greenlet.ready() for greenlet in waiting], device.counters]
forking = gevent.spawn(forked, ended)
gevent.sleep()
waiting = [gevent.spawn(device.add, "editor.minutes", 1), gevent.spawn(device._sender.step)]
gevent.sleep()
leave.set()
print(answers([forking.get()]))
print(ended())
"""
    with serving() as server:
        given = run(tmp_path, server.endpoint, SUPPORT + code, first=PATCHED)
        assert given == "[[[True, True], {'forked': 1}]]\n[[True, True], {}]\n"


def test_children_that_end_like_any_program(tmp_path: Path) -> None:
    code = """
device = start()
device.add("editor.minutes", 5)
until(asked.exists, days_pass)
for _ in range(4):
    pid = os.fork()
    if pid == 0:
        child()
        sys.exit()
    assert os.waitpid(pid, 0)[1] == 0
go.touch()
until(lambda: device.counters)
print(device.counters)
"""
    with serving(withheld(tmp_path)) as server:
        assert patched(tmp_path, server.endpoint, code) == "{'accepted': 1}\n"
        assert len(server.requests) == 1


def test_child_of_a_parent_that_ends_goes_on_recording_and_sending(tmp_path: Path) -> None:
    code = """
device = start()
device.add("editor.minutes", 5)
if os.fork():
    os._exit(0)
until(lambda: not device._parted, lambda: device.add("editor.minutes", 0))
until(lambda: "accepted" in device.counters, days_pass)
print(device.counters["accepted"])
device.close()
"""
    with serving() as server:
        assert patched(tmp_path, server.endpoint, code) == "1\n"
        assert len(server.requests) == 1


def test_workers_that_are_patched_after_the_fork_have_clients_of_their_own(tmp_path: Path) -> None:
    """As under `gunicorn --preload -k gevent`, where the parent loads the program."""
    code = """
device = start()
device.add("editor.minutes", 5)
def worker(number):
    global clock
    clock = ManualClock(clock.now())
    from gevent import monkey
    warnings.simplefilter("ignore")  # gevent's, of patching late
    monkey.patch_all()
    device.add("editor.minutes", 7)
    own = start(state_dir=f"{folder}-{number}")
    own.add("editor.minutes", 7)
    until(lambda: own.counters, days_pass)
    own.close()
    return [device.counters, own.counters]
print(answers([forked(lambda number=number: worker(number)) for number in range(4)]))
until(lambda: device.counters, days_pass)
print(device.counters)
"""
    with serving() as server:
        expected = f"{[[{'forked': 1}, {'accepted': 1}]] * 4}\n{{'accepted': 1}}\n"
        assert run(tmp_path, server.endpoint, SUPPORT + code, measured=ONE) == expected
        assert len({body for _, _, body in server.requests}) == len(server.requests) == 5


@pytest.mark.parametrize("ending", ["device.close()", "sys.exit()", "pass"])
def test_program_ends_while_a_report_is_sent_and_the_report_stays(tmp_path: Path, ending: str) -> None:
    code = f"""
device = start()
device.add("editor.minutes", 5)
until(asked.exists, days_pass)
print(device.counters)
signal.alarm(20)  # a request may take 30 seconds
{ending}
"""
    with serving(withheld(tmp_path)) as server:
        assert patched(tmp_path, server.endpoint, code) == "{}\n"
        (tmp_path / "go").touch()
    state = SqliteState(tmp_path / "state")
    assert len(state.outbox()) == 1
    state.close()


@pytest.mark.parametrize("made", ["before", "after"])
def test_patched_after_the_import(tmp_path: Path, made: str) -> None:
    """A client that was made before keeps its thread, of the system's."""
    code = f"""
from gevent import monkey
warnings.simplefilter("ignore")  # gevent's, of patching late
device = start() if {made!r} == "before" else None
monkey.patch_all()
device = device or start()
gevent.joinall([gevent.spawn(device.add, "editor.minutes", 1) for _ in range(5)], raise_error=True)
until(lambda: device.counters, days_pass)
print(device.counters, device.flush(30))
"""
    with serving() as server:
        given = run(tmp_path, server.endpoint, SUPPORT + code, measured=ONE)
        assert given == "{'accepted': 1} True\n"
        assert len(server.requests) == 1


def test_nothing_is_lost_where_many_greenlets_record(tmp_path: Path) -> None:
    """Also where another one gets its turn in the middle of a record."""
    code = """
class Yielding(MemoryState):
    def record(self, window, merge):
        def yielding(held):
            value = merge(held)
            gevent.sleep()
            return value
        return super().record(window, yielding)
state = Yielding()
device = start(state=state, state_dir=None)
def record():
    for _ in range(10):
        device.add("editor.minutes", 1)
gevent.joinall([gevent.spawn(record) for _ in range(40)], raise_error=True)
print([window.value for window in state._running.values()], device.counters)
"""
    with serving() as server:
        assert patched(tmp_path, server.endpoint, code) == "[400.0] {}\n"
