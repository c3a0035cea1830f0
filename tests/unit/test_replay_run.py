"""A replay against a collector that is asked in place of HTTP: what it puts off, and what stays as it was."""

import json
import os

import pytest

from hubbub.client import Client, MemoryState, Response
from hubbub.errors import HubbubError, ParameterError
from hubbub.estimates import Row
from hubbub.lock import Metric
from hubbub.replay import Fleet, Given, mixer, replay, run
from tests.unit.replay_support import lock_of, table_of

LOCK = lock_of()
TABLE = table_of(3, 25, LOCK.metrics["app.used"].life.start)


class Busy:
    """A collector that puts off each report so many times."""

    def __init__(self, times: int) -> None:
        self.times = times
        self.asked: dict[str, int] = {}

    def post(self, body: bytes, timeout: float) -> Response:
        results = []
        for index, report in enumerate(json.loads(body)["reports"]):
            self.asked[report["id"]] = self.asked.get(report["id"], 0) + 1
            if self.asked[report["id"]] <= self.times:
                results.append({"index": index, "id": report["id"], "status": "retry", "code": "rate_limited"})
        return Response(200, json.dumps({"accepted": index + 1 - len(results), "results": results}).encode())

    def halt(self) -> None: ...

    def close(self) -> None: ...


class Unread(Given):
    def __init__(self, *, real: bool = False) -> None:
        self.endpoint = self.read_endpoint = "http://127.0.0.1"
        self.real = real

    def rows(self, metric: Metric, start: int, end: int) -> list[Row]:
        raise HubbubError("nobody reads here")


def replayed(collector: Busy, monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setattr(mixer, "HttpTransport", lambda endpoint: collector)
    monkeypatch.setattr(run, "_PAUSE", 0.0)
    with replay([Fleet({"app.used": TABLE})], LOCK, given=Unread()) as result:
        return result.reports


def test_what_is_put_off_is_sent_again(monkeypatch: pytest.MonkeyPatch) -> None:
    busy = Busy(4)
    assert replayed(busy, monkeypatch) == TABLE.rows
    assert set(busy.asked.values()) == {5}


def test_what_is_put_off_for_ever_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "PATIENCE_SECONDS", 0.0)
    with pytest.raises(HubbubError, match=rf"the collector puts off reports: {TABLE.rows} rate_limited$"):
        replayed(Busy(10**6), monkeypatch)


def test_the_wish_not_to_be_tracked_stays_that_of_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DO_NOT_TRACK", "1")
    assert replayed(Busy(0), monkeypatch) == TABLE.rows
    assert os.environ["DO_NOT_TRACK"] == "1"
    person = Client(
        LOCK,
        "http://127.0.0.1",
        policy="research",
        state=MemoryState(),
        dimensions={"channel": "beta", "system": "mac"},
        background=False,
    )
    assert person.consent() == "denied"


def test_a_pretend_crowd_is_not_for_a_real_collector() -> None:
    fleet = Fleet({"app.used": TABLE}, crowd=2)
    with (
        pytest.raises(ParameterError, match=r"crowd must be 1: .* keeps real reports"),
        replay([fleet], LOCK, given=Unread(real=True)),
    ):
        pass
