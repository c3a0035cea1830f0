"""Pretend devices before they meet a collector: when they report, and whom they turn to."""

import asyncio
import http.server
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from hubbub import cli
from hubbub.cli.serve import _crowd
from hubbub.clock import ManualClock, ScaledClock
from hubbub.collector import create_app
from hubbub.errors import HubbubError, ParameterError
from hubbub.replay import dev
from hubbub.replay.crowd import plan
from hubbub.replay.pretend import places
from hubbub.store import open_store
from hubbub.windows import midnight
from tests.unit.collecting import DAY, FIRST, ask, end, late, lock, minutes
from tests.unit.crowd_support import everything
from tests.unit.test_serving_openapi import described, fits

NOON = FIRST * DAY + DAY // 2


def test_places_are_those_that_all_metrics_allow() -> None:
    channel = ("channel", ("stable", "beta"))
    wide = late(dimensions=(("channel", ("nightly", "beta", "stable")), ("os", ("linux",))))
    found = places(lock(minutes(dimensions=(channel,)), wide), 40, 1)
    assert {tuple(sorted(place.items())) for place in found} == {
        (("channel", name), ("os", "linux")) for name in ("stable", "beta")
    }
    assert found == places(lock(minutes(dimensions=(channel,)), wide), 40, 1)
    with pytest.raises(ParameterError, match="values the lock's metrics have in common; got 'channel'"):
        places(lock(minutes(dimensions=(channel,)), late(dimensions=(("channel", ("nightly",)),))), 4, 1)
    assert places(lock(late(dimensions=())), 3, 0) == [{}, {}, {}]


def test_a_plan_counts_from_the_window_after_birth() -> None:
    metric = late()
    found = plan(lock(metric), NOON, 3)
    assert found.spans == {metric: range(FIRST + 1, FIRST + 4)}
    assert (found.born, found.end, found.left_out) == (NOON, end(FIRST + 3), {})
    assert len(plan(lock(metric), NOON).spans[metric]) == 7
    tomorrow = plan(lock(metric), NOON - DAY, 3)  # as `hubbub init` writes it: the life begins tomorrow
    assert tomorrow.spans == {metric: range(FIRST, FIRST + 3)}


def test_a_plan_of_several_lengths_counts_in_the_longest() -> None:
    hours, days, weeks = (late(name=f"app.{name}", window=name) for name in ("hour", "day", "week"))
    found = plan(lock(hours, days, weeks), NOON, 1)
    monday = midnight("2026-12-14")
    assert found.end == monday
    assert found.spans[weeks] == range(weeks.windows.index(midnight("2026-12-07")), weeks.windows.index(monday))
    assert found.spans[days] == range(FIRST + 1, monday // DAY)
    assert found.spans[hours] == range(FIRST * 24 + 13, monday // 3600)
    assert len(plan(lock(hours), NOON).spans[hours]) == 24
    assert len(plan(lock(weeks), NOON).spans[weeks]) == 2


def test_a_plan_names_what_cannot_be_reported() -> None:
    ahead = late(name="app.ahead", starts="2026-12-20")
    over = late(name="app.over", starts="2026-11-01", expires="2026-12-02")
    partly = late(name="app.partly", starts="2026-12-03", expires="2026-12-04")
    found = plan(lock(ahead, over, partly), NOON, 5)
    assert found.spans == {partly: range(FIRST + 2, FIRST + 3)}
    assert found.end == end(FIRST + 2)  # nothing comes after it
    assert found.left_out == {
        "app.ahead": "its first day is not over by then (starts = 2026-12-20)",
        "app.over": "its last day has begun already (expires = 2026-12-02)",
    }
    assert plan(lock(ahead), NOON, 5).spans == plan(lock(over), NOON, 5).spans == {}
    assert plan(lock(ahead), NOON, 25).spans == {ahead: range(FIRST + 19, FIRST + 26)}


def test_a_share_of_the_active_needs_its_mean() -> None:
    """A lock may have the second report alone, which nobody feeds then."""
    both = everything("active")
    mean, share = both.metrics.values()
    assert plan(both, NOON, 2).spans.keys() == {mean, share}
    found = plan(lock(late(), share), NOON, 2)
    assert [metric.name for metric in found.spans] == ["flight.late"]
    assert found.left_out == {share.name: "app.active, of which it tells, is no metric of this lock"}


# Whom they turn to


@contextmanager
def answering(status: int, content: bytes) -> Iterator[str]:
    """The address of a server that gives one answer to everything."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.rfile.read(int(self.headers.get("content-length", 0)))
            self.send_response(status)
            self.send_header("content-length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_POST = do_GET  # noqa: N815

        def log_message(self, *_: object) -> None: ...

    with http.server.HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


def test_the_clock_of_a_collector() -> None:
    text = b'{"status":"alive","mode":"dev","clock":{"origin":1796051104.8747492,"speed":8640.0}}'
    with answering(200, text) as endpoint:
        clock = dev.clock_of(endpoint, "start one")
    assert (clock.origin, clock.start, clock.speed) == (1796051104.8747492, 1796051104.8747492, 8640.0)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b'{"status":"alive"}', "keeps real reports, .*; start one"),
        (b'{"status":"alive","mode":"real","clock":{"origin":1,"speed":2}}', "keeps real reports"),
        (b'{"status":"alive","mode":"dev"}', 'tells no time, .* after "listening on"'),
        (b'{"status":"alive","mode":"dev","clock":{"origin":1,"speed":-1}}', "is no collector of this release"),
        (b'{"status":"alive","mode":"dev","clock":[1]}', "is no collector of this release"),
        (b'{"mode":"dev"}', "is no collector of this release"),
        (b"[1]", "is no collector of this release"),
        (b"<html>", "is no collector of this release"),
        (b"\xff", "is no collector of this release"),
        (b"[" * 60_000, "is no collector of this release"),
    ],
)
def test_nobody_turns_to_anything_else(content: bytes, message: str) -> None:
    with answering(200, content) as endpoint, pytest.raises(HubbubError, match=message):
        dev.clock_of(endpoint, "start one")


def test_nothing_listens() -> None:
    with answering(200, b"") as endpoint:
        pass
    with pytest.raises(HubbubError, match=rf"nothing answers at {endpoint} \(connection refused\); start one"):
        dev.clock_of(endpoint, "start one")
    with pytest.raises(HubbubError, match=r"takes no reports \(connection refused\)"):
        dev.admit(endpoint, [(late(), FIRST)], "")
    with pytest.raises(ParameterError, match="endpoint must be an address"):
        dev.clock_of("127.0.0.1", "start one")


@pytest.mark.parametrize(("status", "content"), [(404, b"{}"), (200, b"no"), (500, b'{"results": [1]}'), (200, b"[1]")])
def test_who_asks_for_admission_of_a_stranger_is_told(status: int, content: bytes) -> None:
    message = rf"does not answer as one \(status {status}\)"
    with answering(status, content) as endpoint, pytest.raises(HubbubError, match=message):
        dev.admit(endpoint, [(late(), FIRST)], "")


def test_an_answer_that_says_nothing_of_a_report_does_not_admit_it() -> None:
    message = r"flight\.late: it is refused \(unknown;"
    with answering(200, b'{"accepted": 1, "results": []}') as endpoint, pytest.raises(HubbubError, match=message):
        dev.admit(endpoint, [(late(), FIRST)], "")


async def _health(app: Any) -> Any:
    return (await ask(app, method="GET", path="/healthz")).content


@pytest.mark.parametrize("is_dev", [True, False])
def test_a_collector_in_dev_mode_alone_tells_its_clock(tmp_path: Path, is_dev: bool) -> None:
    origin = 1796051104.8747492
    told = {"status": "alive", "mode": "dev", "clock": {"origin": origin, "speed": 8640.0}}
    with open_store(tmp_path / "store.db", dev=is_dev) as store:
        app = create_app(store, [lock(late())], clock=ScaledClock(8640, origin, origin))
        content = asyncio.run(_health(app))
        assert content == (told if is_dev else {"status": "alive"})
        assert fits(described("/healthz"), content)
        for clock in (ManualClock(origin), ScaledClock(8640, origin + 1, origin)):  # none that these two numbers tell
            other = asyncio.run(_health(create_app(store, [lock(late())], clock=clock)))
            assert other == ({"status": "alive", "mode": "dev"} if is_dev else {"status": "alive"})
    assert not fits(described("/healthz"), {**told, "clock": {"origin": origin}})


def test_serve_names_the_command_that_fills_it() -> None:
    path, local = Path("my lock"), "127.0.0.1"
    assert _crowd(path, (local, 8377), (local, 8378)) == "hubbub crowd 'my lock'"
    assert _crowd(path, (local, 1), (local, 2)) == "hubbub crowd 'my lock' --collector http://127.0.0.1:1"
    assert _crowd(path, (local, 8377), ("::1", 8378)) == "hubbub crowd 'my lock' --read http://[::1]:8378"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--collector", "nonsense"), "--collector must be an address"),
        (("--collector", "http://127.0.0.1:0"), "--collector must be an address"),
        (("--devices", "0"), "'--devices'"),
        (("--windows", "0"), "'--windows'"),
        (("--seed", "-1"), "'--seed'"),
        (("--words", "metrics.toml"), "--words must be a list with a word in each line"),
    ],
)
def test_options_out_of_range(
    options: tuple[str, ...], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit):
        cli.main(["init", "--collection", "notes"])
    with pytest.raises(SystemExit) as ended:
        cli.main(["crowd", "metrics.toml", *options])
    assert ended.value.code == 2
    assert message in capsys.readouterr().err
