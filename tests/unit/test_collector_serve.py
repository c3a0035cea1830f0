"""`hubbub serve` as a process: how it starts, what keeps it from starting, how it ends, what it leaves behind."""

import gzip
import os
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from hubbub.cli import serve as cli
from hubbub.lock import dump
from hubbub.serving import supervisor
from hubbub.serving.settings import Settings, is_loopback
from hubbub.store import open_store
from tests.unit.collecting import FIRST, body, end, key, late, lock, minutes, sent, stored
from tests.unit.serving import PATIENCE, Serving, listens, within

NOW = end(FIRST)


def test_serves_until_it_is_told_to_stop(tmp_path: Path) -> None:
    for number in (signal.SIGTERM, signal.SIGINT):
        with Serving(tmp_path, lock(late()), lock(minutes()), now=NOW) as served:
            content = gzip.compress(body(sent(late(), number), sent(minutes(), number), sent(late(), 0, window=0)))
            headers = {"content-type": "application/json", "content-encoding": "gzip"}
            status, answer = served.post(content, headers)
            assert (status, answer["accepted"]) == (200, 2)
            assert served.stop(number) == (0, "", "")  # no access log, nothing else to say
    assert [path.name for path in tmp_path.glob("store.db*")] == ["store.db"]
    with open_store(served.store, read_only=True) as store:
        assert [report.id for report in store.reports(key(late()))] == [signal.SIGINT, signal.SIGTERM]
        assert store.counters() == {"accepted": 4, "metric_ended": 2}


def test_one_connection_carries_many_requests(tmp_path: Path) -> None:
    with Serving(tmp_path, lock(late()), now=NOW) as served, closing(served.connection()) as connection:
        for number in range(20):
            content = body(sent(late(), number)) if number % 5 else b"x" * (2 << 20)  # one that is refused in between
            connection.request("POST", "/v1/reports", content, {"content-type": "application/json"})
            answer = connection.getresponse()
            assert answer.status == (200 if number % 5 else 413)
            answer.read()
            assert "server" not in answer.headers
        connection.request("GET", "/readyz")
        assert connection.getresponse().status == 200


def test_a_request_that_is_running_is_finished(tmp_path: Path) -> None:
    content = body(sent(late()))
    fields = "Host: x", "Content-Type: application/json", f"Content-Length: {len(content)}"
    head = "\r\n".join(("POST /v1/reports HTTP/1.1", *fields, "", ""))
    with Serving(tmp_path, lock(late()), now=NOW) as served:
        with socket.create_connection(("127.0.0.1", served.port), timeout=PATIENCE) as connection:
            connection.sendall(head.encode() + content[:5])
            served.post(body())  # by now it has been read
            served.process.terminate()
            assert within(lambda: not listens(served.port))
            connection.sendall(content[5:])
            assert connection.recv(1000).startswith(b"HTTP/1.1 200")
        assert served.process.wait(PATIENCE) == 0
    with open_store(served.store, read_only=True) as store:
        assert store.reports(key(late())) == [*stored(late(), 1, ones=1, start=1)]


def test_nothing_of_a_request_but_its_reports_is_kept(tmp_path: Path) -> None:
    marks = {"user-agent": "agent-5eb63bbb", "cookie": "id=5eb63bbb", "x-forwarded-for": "198.51.100.77"}
    with Serving(tmp_path, lock(late()), now=NOW) as served:
        content = body(sent(late(), note="5eb63bbb"), sent(late(), 2, segment="5eb63bbb"))
        assert served.post(content, {"content-type": "application/json", **marks})[0] == 200
        time.sleep(0.05)
        kept = b"".join(path.read_bytes() for path in tmp_path.iterdir())
        code, out, err = served.stop(signal.SIGTERM)
    kept += b"".join(path.read_bytes() for path in tmp_path.iterdir()) + out.encode() + err.encode()
    assert code == 0
    for mark in (b"5eb63bbb", b"198.51.100.77", b"127.0.0.1"):
        assert mark not in kept


def test_a_busy_port(tmp_path: Path) -> None:
    served = Serving(tmp_path, lock(late()), now=NOW)
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        message = served.fails("--port", str(port))
    assert "must be an address that is free to listen on (address already in use)" in message.lower()
    assert f"'127.0.0.1:{port}'" in message
    assert not served.store.exists()  # nothing was begun


def test_an_address_of_another_machine(tmp_path: Path) -> None:
    assert "'192.0.2.1:0'" in Serving(tmp_path, lock(late()), now=NOW).fails("--host", "192.0.2.1")
    assert "'no.such.invalid:0'" in Serving(tmp_path, lock(late()), now=NOW).fails("--host", "no.such.invalid")


def test_stores_that_cannot_be_used(tmp_path: Path) -> None:
    served = Serving(tmp_path, lock(late()), now=NOW)
    notes = tmp_path / "notes.txt"
    notes.write_text("not a database, but long enough to be looked at as one; " * 40)
    assert "not a hubbub store" in served.fails("--store", str(notes))
    assert "cannot be opened for writing" in served.fails("--store", str(tmp_path / "no" / "store.db"))
    assert "cannot be opened for writing" in served.fails("--store", str(tmp_path))
    newer = tmp_path / "newer.db"
    open_store(newer).close()
    with closing(sqlite3.connect(newer)) as connection:
        connection.execute("PRAGMA user_version = 99")
    assert "a store of schema 99, newer than the 2 of this release" in served.fails("--store", str(newer))


def test_locks_that_cannot_be_used(tmp_path: Path) -> None:
    served = Serving(tmp_path, lock(late()), now=NOW)
    paths = {name: tmp_path / f"{name}.lock" for name in ("missing", "text", "edited", "other", "foreign")}
    paths["text"].write_text("not a lock")
    paths["edited"].write_text(dump(lock(late())).replace('"report_every": 1', '"report_every": 2'))
    paths["other"].write_text(dump(lock(late(epsilon=0.5))))
    paths["foreign"].write_text(dump(lock(late(version=2), collection="viewer")))
    messages = {name: served.fails("--lock", str(path)) for name, path in paths.items()}
    assert "cannot be read (no such file or directory)" in messages["missing"]
    assert all(name + ".lock" in messages[name] for name in ("missing", "text", "edited"))
    assert 'metrics."flight.late".version: 1 is known with another encoding' in messages["other"]
    assert "raise the version" in messages["other"]
    assert "known as a metric of the collection 'editor', here of 'viewer'" in messages["foreign"]
    with open_store(served.store, read_only=True) as store:  # of locks that do not fit each other, none is kept
        assert store.locks() == []
    with Serving(tmp_path, lock(late()), now=NOW):
        pass
    assert "known with another encoding" in Serving(tmp_path, lock(late(epsilon=0.5)), now=NOW).fails()


def test_a_clock_that_cannot_be_read(tmp_path: Path) -> None:
    served = Serving(tmp_path, lock(late()), now=NOW)
    assert "clock must be a readable file" in served.fails("--clock", str(tmp_path / "no-clock"))
    assert not served.store.exists()


def test_a_lock_is_needed(tmp_path: Path) -> None:
    assert "--lock" in Serving(tmp_path, now=NOW).fails()


def test_addresses_that_do_not_fit_together(tmp_path: Path) -> None:
    served = Serving(tmp_path, lock(late()), now=NOW)
    message = served.fails("--port", "28377", "--read-port", "28377")
    assert "read-port must be another port than 28377, to which devices post" in message
    message = served.fails("--read-host", "0.0.0.0")
    assert "--read-host must be an address of this machine alone, such as 127.0.0.1; got '0.0.0.0'" in message
    assert "--dev has a clock of its own" in served.fails("--dev")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["clock", "metrics-0.lock"]


@pytest.mark.parametrize(
    ("host", "alone"),
    [
        *((host, True) for host in ("127.0.0.1", "127.8.8.8", "::1", "localhost", "LocalHost")),
        *((host, False) for host in ("0.0.0.0", "::", "192.0.2.1", "example.org", "localhost.example.org", "", "127")),
    ],
)
def test_addresses_of_this_machine_alone(host: str, alone: bool) -> None:
    assert is_loopback(host) == alone


def test_a_file_of_stopped_metrics_that_cannot_be_used(tmp_path: Path) -> None:
    served = Serving(tmp_path, lock(late()), now=NOW)
    path = tmp_path / "stopped.toml"
    assert "stopped.toml: cannot be read (no such file or directory)" in served.fails("--stopped", str(path))
    path.write_text('"no.such" = 2026-12-24\n')
    assert "'no.such' is a metric of no lock that is served" in served.fails("--stopped", str(path))


@pytest.mark.parametrize(
    ("address", "shown", "warned"),
    [
        ("127.0.0.1", "127.0.0.1", False),
        ("127.8.8.8", "127.8.8.8", False),
        ("::1", "[::1]", False),
        ("0.0.0.0", "0.0.0.0", True),
        ("::", "[::]", True),
        ("192.0.2.1", "192.0.2.1", True),
    ],
)
def test_a_warning_where_others_can_reach_it(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    address: str,
    shown: str,
    warned: bool,
) -> None:
    def starts(settings: Settings, *, started: Callable[..., None], **_: object) -> None:
        started((address, 8377), ("127.0.0.1", 8378))

    monkeypatch.setattr(supervisor, "serve", starts)
    path = tmp_path / "metrics.lock"
    path.write_text(dump(lock(late())))
    cli.serve([path], tmp_path / "store.db")
    out, err = capsys.readouterr()
    assert out == f"hubbub: listening on http://{shown}:8377\nhubbub: reading on http://127.0.0.1:8378\n"
    assert err.startswith("hubbub: warning: ") == warned
    assert (address in err) == warned


PARENT = """
import subprocess, sys, time
child = subprocess.Popen(sys.argv[1:], stdout=subprocess.PIPE, text=True)
print(child.pid, child.stdout.readline(), flush=True)
time.sleep(600)
"""


@pytest.mark.parametrize("with_parent", [True, False])
def test_ends_with_its_parent_when_asked_to(tmp_path: Path, with_parent: bool) -> None:
    served = Serving(tmp_path, lock(late()), now=NOW, options=("--with-parent",) if with_parent else ())
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT, *served.command("--port", "0", "--read-port", "0")],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert parent.stdout is not None
    pid, _, line = parent.stdout.readline().partition(" ")
    port = int(line.rpartition(":")[2])
    parent.kill()
    parent.wait()
    parent.stdout.close()
    try:
        assert within(lambda: not listens(port), PATIENCE if with_parent else 1.5) == with_parent
    finally:
        if not with_parent:
            os.kill(int(pid), signal.SIGTERM)
