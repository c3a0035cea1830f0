"""Parent and children of `hubbub serve`: who dies, who follows, who is started again, and what is lost: nothing."""

import datetime
import io
import json
import os
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
import time
from contextlib import closing
from http.client import HTTPException
from pathlib import Path
from types import SimpleNamespace

import pytest

from hubbub.serving import supervisor
from hubbub.serving.claim import SUFFIX, Claim, ClaimError
from hubbub.serving.settings import DEV_SPEED, Settings
from hubbub.store import StoreError, check, open_store
from tests.unit.collecting import FIRST, body, end, key, late, lock, sent
from tests.unit.serving import PATIENCE, Serving, listens, within

NOW = end(FIRST)
INGEST, READ = "hubbub.collector", "hubbub.dashboard"


def alive(pid: int) -> bool:
    """Whether the process is there and has not ended, waited for or not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_there_are_two_children_and_the_parent_is_light(tmp_path: Path) -> None:
    with Serving(tmp_path, lock(late()), now=NOW) as served:
        assert set(served.children()) == {INGEST, READ}
        assert served.get("/readyz") == (200, {"status": "ready"})
        assert (tmp_path / f"store.db{SUFFIX}").read_text() == f"{served.process.pid}\n"
    program = "import sys, hubbub.cli.serve, hubbub.serving.supervisor, hubbub.lock; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split()
    assert not {"numpy", "msgspec", "starlette", "uvicorn", "sqlite3", "hubbub.store"} & set(loaded)


def test_a_child_is_told_or_is_dead(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as listener:
        child = supervisor.Child("ingest", INGEST, listener, Settings("store.db"))
        child.process = SimpleNamespace(stdin=io.BytesIO())  # type: ignore[assignment]
        child.tell()
        assert Settings.load(child.process.stdin.getvalue()) == child.settings  # type: ignore[union-attr]
        child.process.stdin.close()  # type: ignore[union-attr]
        child.tell()
        # Settings that cannot be written down are no dead child.
        monkeypatch.setattr(Settings, "dump", lambda self: json.dumps({0: float("nan")}, allow_nan=False))
        with pytest.raises(ValueError, match="JSON"):
            child.tell()


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="finds the children in /proc")
def test_a_killed_parent_takes_its_children_along(tmp_path: Path) -> None:
    with Serving(tmp_path, lock(late()), now=NOW) as served:
        assert served.post(body(sent(late())))[1]["accepted"] == 1
        children = served.children()
        assert served.stop(signal.SIGKILL)[0] == -signal.SIGKILL
        assert within(lambda: not any(map(alive, children.values())))
        assert within(lambda: not listens(served.port))  # the last thread of a process closes its sockets
        assert within(lambda: not listens(served.read_port))
        served.start()  # ports and store are free
        assert served.post(body(sent(late())))[1]["results"][0]["status"] == "duplicate"
        assert served.stop(signal.SIGTERM) == (0, "", "")


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="finds the children in /proc")
def test_a_killed_child_is_started_again(tmp_path: Path) -> None:
    with Serving(tmp_path, lock(late()), now=NOW) as served:
        assert served.post(body(sent(late(), 1)))[1]["accepted"] == 1
        before = served.children()
        os.kill(before[INGEST], signal.SIGKILL)
        assert within(lambda: not alive(before[INGEST]))
        assert served.post(body(sent(late(), 1), sent(late(), 2)))[1]["accepted"] == 1  # waited for in the queue
        os.kill(before[READ], signal.SIGKILL)
        assert within(lambda: not alive(before[READ]))
        assert served.get("/healthz") == (200, {"status": "alive"})
        after = served.children()
        assert set(after) == set(before)
        assert not set(after.values()) & set(before.values())
        code, out, err = served.stop(signal.SIGTERM)
    assert (code, out) == (0, "")
    assert [line.partition(" (")[0] for line in err.splitlines()] == [
        "hubbub: warning: the ingest process ended by itself",
        "hubbub: warning: the read process ended by itself",
    ]
    assert err.count("(signal 9) and is started again") == 2


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="finds the children in /proc")
def test_one_that_dies_again_and_again_ends_it_all(tmp_path: Path) -> None:
    with Serving(tmp_path, lock(late()), now=NOW) as served:
        other = served.children()[READ]
        for _ in range(supervisor.DEATHS):
            assert within(lambda: INGEST in served.children())
            pid = served.children()[INGEST]
            os.kill(pid, signal.SIGKILL)
            assert within(lambda pid=pid: served.children().get(INGEST) != pid)  # type: ignore[misc]
        out, err = served.process.communicate(timeout=PATIENCE)
        assert (served.process.returncode, out) == (1, "")
        assert not alive(other)
        assert within(lambda: not listens(served.port))  # the last thread of a process closes its sockets
    assert err.splitlines()[-1] == (
        f"hubbub: the ingest process ended by itself (signal 9), {supervisor.DEATHS} times within 60 s; "
        "what was acknowledged is stored"
    )


def test_a_second_collector_of_the_store_is_refused(tmp_path: Path) -> None:
    with Serving(tmp_path, lock(late()), now=NOW) as served:
        message = Serving(tmp_path, lock(late()), now=NOW).fails()
        assert f"another `hubbub serve` takes reports into it (process {served.process.pid})" in message
        assert served.post(body(sent(late())))[1]["accepted"] == 1
        assert served.stop(signal.SIGTERM) == (0, "", "")
    assert not (tmp_path / f"store.db{SUFFIX}").exists()


def test_a_claim_is_given_back_however_its_holder_ends(tmp_path: Path) -> None:
    store = str(tmp_path / "store.db")
    with Claim(store, 0.0), pytest.raises(ClaimError, match=rf"takes reports into it \(process {os.getpid()}\)"):
        Claim(store, 0.0)
    assert list(tmp_path.iterdir()) == []
    held = Claim(store, 0.0)
    os.close(held.descriptor)  # as the kernel does when it is killed
    with Claim(store, 0.0):
        pass
    with pytest.raises(ClaimError, match=r"cannot be opened for writing \(store\.db\.serving: no such file or direct"):
        Claim(str(tmp_path / "no" / "store.db"), 0.0)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_told_to_stop_while_it_starts(tmp_path: Path, number: signal.Signals) -> None:
    served = Serving(tmp_path, lock(late()), now=NOW)
    process = subprocess.Popen(
        served.command("--port", "0", "--read-port", "0"), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert within((tmp_path / f"store.db{SUFFIX}").exists)
    time.sleep(0.1)
    process.send_signal(number)
    out, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, err) == (0, "")
    assert "hubbub: " in out or not out


class Load(threading.Thread):
    """Posts one report after the other until the collector is gone, and notes which were acknowledged."""

    def __init__(self, served: Serving, number: int) -> None:
        super().__init__()
        self._served, self._next = served, number << 32
        self.acknowledged: list[int] = []
        self.refused: list[object] = []

    def run(self) -> None:
        while True:
            self._next += 1
            try:
                status, answer = self._served.post(body(sent(late(), self._next)))
            except (OSError, HTTPException):
                return
            if status == 200 and answer["accepted"] == 1:
                self.acknowledged.append(self._next)
            else:
                self.refused.append((status, answer))


def test_a_graceful_end_under_load(tmp_path: Path) -> None:
    with Serving(tmp_path, lock(late()), now=NOW) as served:
        loads = [Load(served, number) for number in range(4)]
        for load in loads:
            load.start()
        assert within(lambda: sum(len(load.acknowledged) for load in loads) > 100)
        assert served.stop(signal.SIGTERM) == (0, "", "")
        for load in loads:
            load.join()
    assert [load.refused for load in loads] == [[]] * 4
    with open_store(served.store) as store:
        held = {report.id for report in store.reports(key(late()))}
        acknowledged = {number for load in loads for number in load.acknowledged}
        assert held >= acknowledged
        assert len(held) <= len(acknowledged) + 4  # an answer may have been under way to each
        assert check(store) == []
        assert store.counters() == {"accepted": len(held)}


def test_the_same_batch_at_once_counts_once(tmp_path: Path) -> None:
    batch = body(*(sent(late(), number) for number in range(200)))
    with Serving(tmp_path, lock(late()), now=NOW) as served:
        answers: list[dict[str, object]] = []
        threads = [threading.Thread(target=lambda: answers.append(served.post(batch)[1])) for _ in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(answer["accepted"] for answer in answers) == [0] * 5 + [200]  # type: ignore[type-var]
        assert {json.dumps(result["status"]) for a in answers for result in a["results"]} == {'"duplicate"'}  # type: ignore[attr-defined]
        served.stop(signal.SIGTERM)
    with open_store(served.store, read_only=True) as store:
        assert [cell.summary.n for cell in store.cells()] == [200]


def test_dev_has_a_store_and_a_time_of_its_own(tmp_path: Path) -> None:
    today = datetime.datetime.now(datetime.UTC).date()
    metric = late(window="hour", starts=str(today), expires=str(today + datetime.timedelta(days=300)))
    later = metric.windows.index(time.time()) + 2  # an hour that ends in little more than a second
    with Serving(tmp_path, lock(metric), now=None, options=("--dev",)) as served:
        assert served.get("/healthz") == (200, {"status": "alive", "mode": "dev"})
        with closing(served.connection()) as connection:
            content = body(sent(metric, window=later + 24 * 200))
            connection.request("POST", "/v1/reports", content, {"content-type": "application/json"})
            answer = connection.getresponse()
            assert (answer.status, answer.headers["hubbub-mode"]) == (200, "dev")
            assert json.loads(answer.read())["results"][0]["code"] == "too_early"
        assert within(lambda: served.post(body(sent(metric, window=later)))[1]["accepted"] == 1)
        code, out, err = served.stop(signal.SIGTERM)
        assert (code, out) == (0, "")
        assert err.startswith("hubbub: dev: a day passes in 10 s, into ")
        assert "store.db.dev; devices keep up with clock=ScaledClock(8640, " in err
        assert f"\nhubbub: dev: look at http://127.0.0.1:{served.read_port}/ in a browser; `hubbub crowd " in err
    assert not served.store.exists()
    dev = tmp_path / "store.db.dev"
    real = Serving(tmp_path, lock(late()), now=NOW)
    message = "a store of `hubbub serve --dev`, and the two never mix; name another file"
    assert message in real.fails("--store", str(dev))
    with open_store(dev, read_only=True) as store:
        assert store.dev
        assert store.clock is not None
        told = f"clock=ScaledClock({store.clock.speed:g}, {store.clock.start:.3f}, {store.clock.origin:.3f})"
        assert told in err
    with pytest.raises(StoreError, match="the two never mix"):
        open_store(dev, dev=False)
    with real:
        real.stop(signal.SIGTERM)
    served.store.rename(dev)
    assert (
        "a store of real reports, and the two never mix"
        in Serving(tmp_path, lock(late()), now=None, options=("--dev",)).fails()
    )


def test_settings_travel_and_all_who_have_them_agree_about_the_time(tmp_path: Path) -> None:
    whole = Settings("s.db", True, 1.5, None, ('{"a": "ü\\n"}\n', "b"), "stopped.toml", "http://a:1", "http://b:2")
    assert Settings.load(whole.dump()) == whole
    assert whole.dump().count(b"\n") == 1
    early, late_ = whole.time(), Settings.load(whole.dump()).time()
    assert abs(early.now() - late_.now()) < DEV_SPEED
    assert early.now() > time.time() * 2
    (tmp_path / "clock").write_text("7")
    assert Settings("s.db", clock=str(tmp_path / "clock")).time().now() == 7.0
    assert abs(Settings("s.db").time().now() - time.time()) < 60


def test_a_store_of_the_first_schema_goes_on(tmp_path: Path) -> None:
    with Serving(tmp_path, lock(late()), now=NOW) as served:
        served.post(body(sent(late())))
        served.stop(signal.SIGTERM)
    with closing(sqlite3.connect(served.store)) as connection:
        connection.executescript("DROP TABLE estimates; DROP TABLE marks; PRAGMA user_version = 1")
    with open_store(served.store, read_only=True) as store:
        assert (store.dev, [cell.summary.n for cell in store.cells()]) == (False, [1])
    with served:
        assert served.post(body(sent(late()), sent(late(), 2)))[1]["accepted"] == 1
        served.stop(signal.SIGTERM)
