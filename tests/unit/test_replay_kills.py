"""A saved replay that is killed at every point, one after the other: nothing is lost, doubled or disguised twice."""

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import pytest

from hubbub.client import MemoryState, Response
from hubbub.errors import HubbubError
from hubbub.estimates import Row
from hubbub.lock import Metric
from hubbub.replay import Fleet, Given, Saved, mixer, replay, run
from hubbub.replay.saved import Key
from tests.unit.replay_support import lock_of, table_of

LOCK = lock_of()
METRIC = LOCK.metrics["app.used"]
TABLE = table_of(3, 25, METRIC.life.start)
CROWD = 2
REPORTS = TABLE.rows * CROWD


class KilledError(BaseException):
    """Nothing below handles it, as nothing handles SIGKILL."""


class Killer:
    """Counts the points that a run passes, and kills it at one of them."""

    def __init__(self, at: int) -> None:
        self.at = at
        self.passed = 0

    def passing(self) -> None:
        self.passed += 1
        if self.passed == self.at:
            raise KilledError


class Collector:
    """What outlives the kills: the reports that arrived. It is asked in place of HTTP."""

    def __init__(self, killer: Killer) -> None:
        self.killer = killer
        self.arrived: dict[tuple[str, int, str], str] = {}
        self.conflicts = 0

    def post(self, body: bytes, timeout: float) -> Response:
        self.killer.passing()  # before it arrives
        results = []
        for index, report in enumerate(json.loads(body)["reports"]):
            key = report["metric"], report["window"], report["id"]
            if key in self.arrived:
                self.conflicts += self.arrived[key] != report["payload"]
                results.append({"index": index, "id": report["id"], "status": "duplicate"})
            self.arrived.setdefault(key, report["payload"])
        self.killer.passing()  # before the answer arrives
        accepted = index + 1 - len(results)
        return Response(200, json.dumps({"accepted": accepted, "results": results}).encode())

    def halt(self) -> None: ...

    def close(self) -> None: ...


class Unread(Given):
    """A collector whose estimates nobody asks for."""

    def __init__(self) -> None:
        self.endpoint = self.read_endpoint = "http://127.0.0.1"
        self.real = False

    def rows(self, metric: Metric, start: int, end: int) -> list[Row]:
        raise HubbubError("nobody reads here")


def finished(folder: Path) -> bool:
    """Whether a run came to its end."""
    fleets = [Fleet({"app.used": TABLE}, CROWD)]
    try:
        with Saved(folder, "one") as saved, replay(fleets, LOCK, saved=saved, given=Unread()):
            return True
    except KilledError:
        return False


def test_killed_at_every_point(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    keep = Saved.keep

    def killed(self: Saved, states: Mapping[Key, MemoryState], held: Iterable[bytes]) -> None:
        killer.passing()
        keep(self, states, until_killed(held))
        killer.passing()

    def until_killed(held: Iterable[bytes]) -> Iterator[bytes]:
        yield from held
        killer.passing()  # within the transaction

    monkeypatch.setattr(Saved, "keep", killed)
    monkeypatch.setattr(run, "SIZE", 20)  # several batches for each window
    points = 0
    while True:
        killer = Killer(points + 1)
        collector = Collector(killer)
        monkeypatch.setattr(mixer, "HttpTransport", lambda endpoint, collector=collector: collector)
        folder = tmp_path / str(points)
        over = finished(folder)
        if not over:
            points += 1
            assert finished(folder), f"killed twice at point {points}"
        assert collector.conflicts == 0, f"noise was drawn twice after a kill at point {points}"
        assert len(collector.arrived) == REPORTS, f"reports were lost or made up after a kill at point {points}"
        with Saved(folder, "one") as saved:
            assert saved.held() == []
            assert saved.place.counts.total() == REPORTS
            assert set(saved.place.counts) <= {"accepted", "duplicate"}
        if over:
            break
    # Three windows and the end: each is kept once, at three points, and sent in batches, at two points each.
    assert points == killer.passed >= 4 * 3 + 2 * REPORTS // 20
