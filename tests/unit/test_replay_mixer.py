"""The mixer: custody, batches, and what the collector's answers do to it."""

import http.server
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from typing import Any

import pytest

from hubbub.client.answers import judge
from hubbub.errors import HubbubError, ParameterError
from hubbub.replay.mixer import Mixer

Answer = Callable[[list[dict[str, Any]]], tuple[int, Any]]


def body(number: int) -> bytes:
    report = {"id": f"{number:016x}", "metric": "app.used", "window": 1, "payload": "80"}
    return json.dumps({"schema": "hubbub.reports/1", "reports": [report]}).encode()


@contextmanager
def collector(answer: Answer) -> Iterator[tuple[str, list[list[str]]]]:
    """A server that answers batches as it is told, and the ids that came in each."""
    batches: list[list[str]] = []

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            tree = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            assert tree["schema"] == "hubbub.reports/1"
            batches.append([report["id"] for report in tree["reports"]])
            status, told = answer(tree["reports"])
            text = told if isinstance(told, bytes) else json.dumps(told).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", batches
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def everything(reports: list[dict[str, Any]]) -> tuple[int, Any]:
    return 200, {"accepted": len(reports), "results": []}


def filled(endpoint: str, count: int, **settings: Any) -> Mixer:
    mixer = Mixer(endpoint, **settings)
    for number in range(count):
        assert judge(mixer.post(body(number), 1.0)).word == "accepted"
    return mixer


def test_reports_travel_in_shuffled_batches() -> None:
    with collector(everything) as (endpoint, batches):
        mixer = filled(endpoint, 250)
        assert not batches
        mixer.send()
        mixer.close()
    assert [len(batch) for batch in batches] == [100, 100, 50]
    ids = [name for batch in batches for name in batch]
    assert sorted(ids) == [f"{number:016x}" for number in range(250)]
    # Of 250 reports about two stand beside one that they stood beside; that twenty do has a chance below 1e-12.
    places = [int(name, 16) for name in ids]
    assert sum(abs(one - other) == 1 for one, other in pairwise(places)) < 20
    # About one stays in its place; that twenty do has a chance below 1e-18.
    assert sum(number == place for number, place in enumerate(places)) < 20
    # And batches are mixed, not only what is within them: that 80 of the first one's 100 are among the last that came
    # has a chance below 1e-26.
    assert sum(number >= 150 for number in places[:100]) < 80
    assert mixer.counts == {"accepted": 250}
    assert not mixer.held


def test_each_answer_is_counted_and_what_is_put_off_stays() -> None:
    words = {0: ("duplicate", None), 1: ("rejected", "too_late"), 2: ("retry", "too_early"), 3: ("novel", None)}

    def answer(reports: list[dict[str, Any]]) -> tuple[int, Any]:
        results = []
        for index, report in enumerate(reports):
            if told := words.get(int(report["id"], 16)):
                code = {"code": told[1]} if told[1] else {}
                results.append({"index": index, "id": report["id"], "status": told[0], **code})
        return 200, {"accepted": len(reports) - len(results), "results": results}

    settled: list[int] = []
    with collector(answer) as (endpoint, batches):
        mixer = filled(endpoint, 10, size=4, settled=settled.append)
        mixer.send()
        assert mixer.counts == {"accepted": 6, "duplicate": 1, "too_late": 1, "novel": 1}
        assert mixer.put_off == {"too_early": 1}
        assert sum(settled) == 9
        assert [json.loads(entry)["id"] for entry in mixer.held] == [f"{2:016x}"]
        del words[2]
        mixer.send()
        assert batches[-1] == [f"{2:016x}"]
        mixer.close()
    assert not mixer.held
    assert not mixer.put_off
    assert mixer.counts["accepted"] == 7
    assert sum(settled) == 10


def test_a_collector_that_comes_back_gets_the_same_again() -> None:
    broken = iter([(503, b""), (200, b"<html>"), (200, {"accepted": 1, "results": []}), (429, b"")])

    def answer(reports: list[dict[str, Any]]) -> tuple[int, Any]:
        return next(broken, everything(reports))

    revived = []
    with collector(answer) as (endpoint, batches):
        mixer = filled(endpoint, 3, revive=lambda: revived.append(1))
        mixer.send()
        mixer.close()
    assert len(batches) == 5
    assert all(batch == batches[0] for batch in batches)
    assert len(revived) == 4
    assert mixer.counts == {"accepted": 3}


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ((503, b""), "takes no reports: it answers with status 503"),
        ((200, b"hello"), "takes no reports: what answers there is no collector"),
        ((413, {"title": "the body is too large"}), r"refuses reports: status 413 \(the body is too large\)"),
        ((404, b"nothing"), "refuses reports: status 404$"),
    ],
)
def test_a_collector_that_takes_nothing_is_told_with_the_reason(answer: tuple[int, Any], message: str) -> None:
    with collector(lambda reports: answer) as (endpoint, _):
        mixer = filled(endpoint, 3, patience=0.0)
        with pytest.raises(HubbubError, match=message) as caught:
            mixer.send()
        mixer.close()
    assert endpoint in str(caught.value)
    assert len(mixer.held) == 3


def test_nobody_there() -> None:
    with collector(everything) as (endpoint, _):
        pass
    mixer = filled(endpoint, 1, patience=0.0)
    with pytest.raises(HubbubError, match="takes no reports: connection refused"):
        mixer.send()
    assert len(mixer.held) == 1


def test_another_thread_breaks_off_and_nothing_is_forgotten() -> None:
    asked, over = threading.Event(), threading.Event()

    def answer(reports: list[dict[str, Any]]) -> tuple[int, Any]:
        asked.set()
        over.wait(30)
        return everything(reports)

    failed: list[BaseException] = []

    def send() -> None:
        try:
            mixer.send()
        except HubbubError as error:
            failed.append(error)

    with collector(answer) as (endpoint, batches):
        mixer = filled(endpoint, 150)
        thread = threading.Thread(target=send)
        thread.start()
        assert asked.wait(30)
        mixer.post(body(150), 1.0)  # meanwhile
        mixer.halt()
        thread.join(30)
        over.set()
        assert not thread.is_alive()
        mixer.close()
    assert len(failed) == len(batches) == 1
    assert sorted(json.loads(entry)["id"] for entry in mixer.held) == [f"{number:016x}" for number in range(151)]


def test_bad_settings() -> None:
    for size in (0, 501):
        with pytest.raises(ParameterError, match=r"size must be in \[1, 500\]"):
            Mixer("http://127.0.0.1:1", size=size)
    with pytest.raises(ParameterError, match="endpoint"):
        Mixer("ftp://example.org")


def test_what_another_mixer_held_is_taken_over() -> None:
    with collector(everything) as (endpoint, batches):
        one, other = filled(endpoint, 3), Mixer(endpoint)
        other.take(one.held)
        other.send()
        other.close()
    assert len(batches[0]) == 3
