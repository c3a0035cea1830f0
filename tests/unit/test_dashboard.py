"""The read application: metrics, estimates, counters; what it refuses, and that it shows no single report."""

import asyncio
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from starlette.types import ASGIApp, Message, Scope

from hubbub.cli import main
from hubbub.clock import FileClock, ManualClock
from hubbub.dashboard import counting, create_app
from hubbub.errors import LockError
from hubbub.estimates import Row, files, rows
from hubbub.estimates.tables import frame_of
from hubbub.serving import contract
from hubbub.store import Store, StoreError, open_store
from hubbub.store.sqlite import SqliteStore
from tests.unit.collecting import EXPIRES, FIRST, GRACE, LAST, Answer, ask, end, late, lock, minutes, stored

ESTIMATES = "/v1/metrics/editor.minutes/estimates"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """Three days of two metrics: the first one final at `now`, the others provisional."""
    with open_store(tmp_path / "store.db") as store:
        store.accept(lock(minutes(), late()))
        for day in range(3):
            for segment, count, start in (("stable", 250, 0), ("beta", 40, 1000)):
                store.write(stored(minutes(), count, ones=count // 3, window=FIRST + day, segment=segment, start=start))
        store.write(stored(late(), 100, ones=30, window=FIRST + 1))
        yield store


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(end(FIRST) + GRACE)


@pytest.fixture
def app(store: Store, clock: ManualClock) -> ASGIApp:
    return create_app(store, clock=clock)


def get(app: ASGIApp, path: str, **headers: str) -> Answer:
    path, _, query = path.partition("?")
    return asyncio.run(ask(app, method="GET", path=path, query=query, headers=headers))


def decoded(answer: Answer) -> list[Row]:
    return msgspec.convert(answer.content, list[Row])


def test_estimates_are_the_rows_of_the_store(app: ASGIApp, store: Store, clock: ManualClock) -> None:
    answer = get(app, ESTIMATES)
    assert answer.status == 200
    assert decoded(answer) == rows(store, now=clock.now(), metric="editor.minutes")
    assert list(answer.content[0]) == list(Row.__struct_fields__)
    assert {(row.window_start[:10], row.segment, row.state) for row in decoded(answer)} == {
        *(
            (f"2026-12-0{day}", "stable", state)
            for day, state in ((1, "final"), (2, "provisional"), (3, "provisional"))
        ),
        *((f"2026-12-0{day}", "beta", state) for day, state in ((1, "suppressed"), (2, "open"), (3, "open"))),
        *((f"2026-12-{day:02}", segment, "open") for day in range(4, 16) for segment in ("stable", "beta")),
    }


@pytest.mark.parametrize(
    ("query", "days", "segments"),
    [
        ("start=2026-12-02&end=2026-12-04", {2, 3}, {"stable", "beta"}),
        ("start=2026-12-02T00:00:00Z&end=2026-12-03T23:59:59Z", {2}, {"stable", "beta"}),
        ("end=2026-12-02&segment=stable", {1}, {"stable"}),
        ("start=2026-12-15&segment=beta", {15}, {"beta"}),
        ("start=2027-06-01", set(), set()),
    ],
)
def test_part_of_the_estimates(app: ASGIApp, query: str, days: set[int], segments: set[str]) -> None:
    found = decoded(get(app, f"{ESTIMATES}?{query}"))
    assert {int(row.window_start[8:10]) for row in found} == days
    assert {row.segment for row in found} == segments
    assert len(found) == len(days) * len(segments)


def test_level(app: ASGIApp) -> None:
    span = "start=2026-12-01&end=2026-12-02&segment=stable"
    (narrow,), (wide,) = (decoded(get(app, f"{ESTIMATES}?{span}&level={level}")) for level in ("0.5", "0.99"))
    assert (narrow.level, wide.level, narrow.value) == (0.5, 0.99, wide.value)
    assert wide.ci_low is not None
    assert narrow.ci_low is not None
    assert wide.ci_low < narrow.ci_low


def test_several_windows_together(app: ASGIApp) -> None:
    answer = get(app, "/v1/metrics/editor.minutes/mean?segment=stable&end=2026-12-04")
    assert answer.status == 200
    assert (answer.content["windows"], answer.content["n"]) == (3, 250 + 200 + 200)
    assert get(app, "/v1/metrics/editor.minutes/mean?end=2026-12-01&segment=beta").problem == (404, "no_windows")


def fetch(app: ASGIApp, path: str) -> tuple[dict[str, str], list[bytes]]:
    """Headers and pieces of an answer that comes in pieces."""
    path, _, query = path.partition("?")
    scope: Scope = {"type": "http", "method": "GET", "path": path, "headers": [], "query_string": query.encode()}
    messages: list[Message] = []

    async def receive() -> Message:
        await asyncio.Event().wait()  # nobody hangs up
        raise AssertionError

    async def send(message: Message) -> None:
        messages.append(message)

    async def answer() -> None:
        await app(scope, receive, send)

    asyncio.run(answer())
    start, *pieces = messages
    assert start["status"] == 200
    return {name.decode(): value.decode() for name, value in start["headers"]}, [piece["body"] for piece in pieces]


def test_files_are_those_of_the_command_line(app: ASGIApp, clock: ManualClock, tmp_path: Path) -> None:
    FileClock(tmp_path / "clock").set(clock.now())
    for suffix in ("csv", "parquet"):
        file = tmp_path / f"made.{suffix}"
        options = ["--metric", "editor.minutes", "--segment", "stable", "--clock", str(tmp_path / "clock")]
        with pytest.raises(SystemExit, match=r"^0$"):
            main(["export", str(tmp_path / "store.db"), str(file), *options])
        headers, pieces = fetch(app, f"{ESTIMATES}.{suffix}?segment=stable")
        assert headers["content-type"] == contract.FILES[suffix]
        assert headers["content-disposition"] == f'attachment; filename="editor.minutes.{suffix}"'
        assert b"".join(pieces) == file.read_bytes()
    assert get(app, f"{ESTIMATES}.csv?level=2").problem == (400, "invalid_parameter")
    assert get(app, "/v1/metrics/no.such/estimates.csv").problem == (404, "unknown_metric")


def test_csv_comes_in_pieces(app: ASGIApp, store: Store, clock: ManualClock, monkeypatch: pytest.MonkeyPatch) -> None:
    known = rows(store, now=clock.now(), metric="editor.minutes")
    expected = frame_of(known).to_csv(index=False, date_format="%Y-%m-%dT%H:%M:%SZ").encode()
    for at_once, least in ((1000, 1), (7, 5), (len(known), 1)):
        monkeypatch.setattr(files, "_AT_ONCE", at_once)
        _, pieces = fetch(app, ESTIMATES + ".csv")
        assert b"".join(pieces) == expected
        assert len([piece for piece in pieces if piece]) == max(least, -(-len(known) // at_once))
    _, nothing = fetch(app, ESTIMATES + ".csv?start=2027-06-01")
    assert b"".join(nothing) == (",".join(Row.__struct_fields__) + "\n").encode()


def test_pages_and_csv_need_no_pandas(store: Store, tmp_path: Path) -> None:
    code = f"""
import sys
from hubbub.dashboard import create_app
from hubbub.estimates import files, rows
from hubbub.store import open_store
with open_store({str(tmp_path / "store.db")!r}, read_only=True) as store:
    create_app(store)
    assert "editor.minutes" in "".join(files.csv_pieces(rows(store, now={end(FIRST)})))
assert not {{"pandas", "pyarrow", "vl_convert"}} & sys.modules.keys()
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_one_version(app: ASGIApp, store: Store) -> None:
    second = late(version=2, epsilon=0.5)
    store.accept(lock(second))
    store.write(stored(second, 100, ones=30, window=FIRST + 2))
    path = "/v1/metrics/flight.late/estimates"
    by_version = [decoded(get(app, f"{path}?version={version}")) for version in (1, 2)]
    assert [{row.version for row in found} for found in by_version] == [{1}, {2}]
    assert sum(map(len, by_version)) == len(decoded(get(app, path)))


BAD = {
    "level=1": ("level", "1.0", "a number in (0, 1)"),
    "level=nan": ("level", "nan", "a number in (0, 1)"),
    "level=much": ("level", "much", "a number in (0, 1)"),
    "level=": ("level", "", "a number in (0, 1)"),
    "start=yesterday": ("start", "yesterday", "an ISO date"),
    "end=2026-13-01": ("end", "2026-13-01", "an ISO date"),
    "start=9999-12-31T23:59:59-23:59&end=2020-01-01": ("start", "9999-12-31T23:59:59-23:59", "an ISO date"),
    "start=2026-12-03&end=2026-12-02": ("start", "2026-12-03T00:00:00Z", "at or before the end"),
    "segment=nightly": ("segment", "nightly", "one of 'beta', 'stable'"),
    "segment=" + "x" * 200: ("segment", "x" * 200, "one of 'beta', 'stable'"),
    "segment=" + "x" * 8193: ("segment", "x" * 100 + "…", "at most 8192 characters"),
    "start=" + "2" * 101: ("start", "2" * 100 + "…", "at most 100 characters"),
    "segment=beta&segment=stable": ("segment", "stable", "given once"),
    "sort=n": ("query", "sort", "made of start, end, segment, version, level"),
    "%00=1": ("query", "\0", "made of start, end, segment, version, level"),
    "version=0": ("version", "0", "an integer from 1 on"),
    "version=2": ("version", "2", "one of 1"),
}


@pytest.mark.parametrize(("query", "expected"), BAD.items(), ids=[query[:30] for query in BAD])
def test_bad_parameters_are_named(app: ASGIApp, query: str, expected: tuple[str, str, str]) -> None:
    answer = get(app, f"{ESTIMATES}?{query}")
    assert answer.problem == (400, "invalid_parameter")
    name, value, range_ = expected
    assert (answer.content["parameter"], answer.content["value"]) == (name, value)
    assert answer.content["expected"].startswith(range_)
    assert answer.content["title"].startswith(f"{name} must be {range_}")


@pytest.mark.parametrize("version", ["0", "-1", "x", "1.0", "²", "9" * 90])
def test_bad_versions(app: ASGIApp, version: str) -> None:
    answer = get(app, f"/v1/metrics/flight.late/mean?version={version}")
    assert answer.problem == (400, "invalid_parameter")
    assert answer.content["parameter"] == "version"


@pytest.mark.parametrize("name", ["no.such", "Editor.Minutes", "x" * 300, "%00", "'; DROP TABLE reports"])
def test_unknown_metrics(app: ASGIApp, name: str) -> None:
    for what in ("estimates", "mean"):
        assert get(app, f"/v1/metrics/{name}/{what}").problem == (404, "unknown_metric")


def test_metrics_and_their_last_window(app: ASGIApp, store: Store, clock: ManualClock) -> None:
    clock.set(end(FIRST + 2))
    answer = get(app, "/v1/metrics")
    first, second = answer.content
    assert {key: first[key] for key in ("name", "version", "hash", "kind", "unit", "window", "starts", "expires")} == {
        "name": "editor.minutes",
        "version": 1,
        "hash": minutes().hash[:32],
        "kind": "mean",
        "unit": "min",
        "window": "day",
        "starts": "2026-12-01",
        "expires": EXPIRES,
    }
    assert first["dimensions"] == [["channel", ["stable", "beta"]]]
    assert first["prices"]["report"] == 1.0
    assert first["description"] == "For tests"
    assert first["last"] == {
        "window_start": "2026-12-03T00:00:00Z",
        "window_end": "2026-12-04T00:00:00Z",
        "states": {"beta": "open", "stable": "provisional"},
    }
    assert (second["name"], second["last"]["states"]) == ("flight.late", {"": "open"})

    clock.set(end(LAST + 100))  # after its life
    last = get(app, "/v1/metrics").content[1]["last"]
    assert (last["window_end"], last["states"]) == ("2027-01-01T00:00:00Z", {"": "empty"})

    store.accept(lock(late(version=2, epsilon=0.5)))
    versions = [(known["name"], known["version"], known["last"] is None) for known in get(app, "/v1/metrics").content]
    assert versions == [("editor.minutes", 1, False), ("flight.late", 2, True), ("flight.late", 1, False)]


def test_polling_shows_no_single_report(store: Store, clock: ManualClock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counting, "COARSE_SECONDS", 1000.0)
    clock.set(end(FIRST + 20))
    app = create_app(store, clock=clock)
    paths = ("/v1/metrics", "/v1/metrics/flight.late/estimates", "/v1/metrics/flight.late/mean", "/metrics")
    seen = set()
    for report in stored(late(), 250, ones=120, window=FIRST + 20, start=5000):
        store.write([report])
        seen.add(tuple(str(get(app, path).content) for path in paths))
    assert len(seen) == 3  # before 100, from 100 on, from 200 on


def test_counters(store: Store, clock: ManualClock, monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    app = create_app(store, clock=clock)
    store.write([], {"too_late": 7}, {"too_large": 2})

    def counted() -> dict[str, int]:
        answer = get(app, "/metrics")
        assert answer.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
        lines = answer.content.splitlines()
        assert sum(line.startswith("# TYPE hubbub_") and line.endswith(" counter") for line in lines) == 2
        return {name: int(value) for name, _, value in (line.rpartition(" ") for line in lines if line[0] != "#")}

    first = counted()
    assert first['hubbub_reports_total{code="accepted"}'] == 970
    assert first['hubbub_reports_total{code="too_late"}'] == 7
    assert first['hubbub_reports_total{code="conflict"}'] == 0
    assert first['hubbub_problems_total{code="too_large"}'] == 2
    store.write(stored(late(), 1, start=9000))
    now[0] = 59.0
    assert counted() == first
    now[0] = 60.0
    assert counted()['hubbub_reports_total{code="accepted"}'] == 971


def test_headers(app: ASGIApp) -> None:
    for path in (
        "/v1/metrics",
        "/metrics",
        "/healthz",
        "/nothing",
        "/v1/metrics/no.such/estimates",
        ESTIMATES + ".parquet",
    ):
        headers = get(app, path, origin="https://example.org").headers
        assert headers["cache-control"] == "no-store"
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["content-security-policy"].startswith("default-src 'none'; frame-ancestors 'none'")
        assert headers["referrer-policy"] == "no-referrer"
        assert headers["cross-origin-resource-policy"] == "same-origin"
        assert not [name for name in headers if name.startswith("access-control-")]
        assert not {"etag", "set-cookie", "last-modified", "hubbub-mode"} & set(headers)


def test_other_paths_and_methods(app: ASGIApp) -> None:
    for path in ("/v1/reports", "/v1/stopped", "/v1/metrics/", "/v1/metrics/a/b/estimates", "/docs"):
        assert get(app, path).problem == (404, "not_found")
    for path in ("/v1/metrics", ESTIMATES, "/metrics", "/openapi.json"):
        assert asyncio.run(ask(app, method="POST", path=path)).problem == (405, "method_not_allowed")


def test_health(app: ASGIApp) -> None:
    assert get(app, "/healthz").content == {"status": "alive"}
    assert get(app, "/readyz").content == {"status": "ready"}


def test_a_store_that_cannot_be_read(tmp_path: Path, clock: ManualClock) -> None:
    class Broken(SqliteStore):
        failing = False

        def _read(self, *args: Any) -> list[Any]:
            if self.failing:
                raise StoreError(f"{tmp_path}: disk I/O error")
            return super()._read(*args)

    with Broken(tmp_path / "store.db") as store:
        store.accept(lock(late()))
        app = create_app(store, clock=clock)
        store.failing = True
        for path in ("/v1/metrics", "/v1/metrics/flight.late/estimates", "/metrics", "/readyz"):
            answer = get(app, path)
            assert answer.problem == (503, "unavailable")
            assert str(tmp_path) not in str(answer.content)
        assert get(app, "/healthz").status == 200
        store.failing = False
        assert get(app, "/readyz").status == 200


def test_a_clock_that_cannot_be_read(store: Store, tmp_path: Path) -> None:
    app = create_app(store, clock=FileClock(tmp_path / "clock"))
    for path in (ESTIMATES, "/v1/metrics"):
        answer = get(app, path)
        assert answer.problem == (503, "unavailable")
        assert answer.content["title"] == "the clock cannot be read"


def test_what_else_is_wrong_is_not_the_clock(app: ASGIApp, monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(store: Store) -> None:
        raise LockError("metrics.lock", "of a later release")

    monkeypatch.setattr("hubbub.dashboard.api.metrics", failing)
    answer = get(app, ESTIMATES)
    assert answer.problem == (503, "unavailable")
    assert answer.content["title"] == "what the store holds cannot be shown"


def test_a_store_of_dev_says_so(tmp_path: Path, clock: ManualClock) -> None:
    with open_store(tmp_path / "store.db", dev=True) as store:
        app = create_app(store, clock=clock)
        assert get(app, "/healthz").content == {"status": "alive", "mode": "dev"}
        for path in ("/v1/metrics", "/metrics", "/nothing"):
            assert get(app, path).headers["hubbub-mode"] == "dev"
