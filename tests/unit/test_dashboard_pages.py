"""Pages for people: what they say, what they link to, what they refuse, and that nothing in a lock becomes markup."""

import asyncio
import html
import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from starlette.types import ASGIApp

from hubbub.clock import FileClock, ManualClock
from hubbub.dashboard import create_app, pages
from hubbub.estimates import period, rows
from hubbub.lock import Metric
from hubbub.privacy import describe, explain
from hubbub.store import Store, StoreError, open_store
from hubbub.store.sqlite import SqliteStore
from tests.unit.browsing import fetch, page, spec
from tests.unit.collecting import DAY, FIRST, GRACE, end, late, lock, minutes, stored

HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(1)>\"'&{{7*7}}"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """A mean with two segments and two encodings, and a yes or no with every state that a row can have."""
    with open_store(tmp_path / "store.db") as store:
        store.accept(lock(minutes(), late()))
        store.accept(lock(minutes(version=2, epsilon=2.0)))
        for day in range(12):
            for segment, count, start in (("stable", 250, 0), ("beta", 140, 1000)):
                metric = minutes(version=2, epsilon=2.0) if day > 7 else minutes()
                store.write(stored(metric, count, ones=count // 3, window=FIRST + day, segment=segment, start=start))
        counts = {0: 300, 2: 20, 4: 100, 12: 250, 14: 40}
        for day, count in counts.items():
            store.write(stored(late(), count, ones=count // 2 if day else 81, window=FIRST + day))
        yield store


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(end(FIRST + 16) + 3600)


@pytest.fixture
def app(store: Store, clock: ManualClock) -> ASGIApp:
    return create_app(store, clock=clock)


def test_the_list(app: ASGIApp, store: Store, clock: ManualClock) -> None:
    found = page(app, "/")
    assert found.status == 200
    assert [item["data-metric"] for item in found.all("li") if "data-metric" in item] == [
        "editor.minutes",
        "flight.late",
    ]
    assert {"/m/editor.minutes", "/m/flight.late", "/m/editor.minutes?version=1"} <= set(found.linked())
    newest = [row for row in rows(store, now=clock.now(), metric="flight.late") if row.value is not None][-1]
    assert newest.value is not None
    assert f"{100 * newest.value:.0f} ± " in found.words
    assert "200 reports" in found.words  # of 250 that are there
    assert "stable , the largest of 2 segments" in found.words.replace("stable,", "stable ,")
    assert len(found.all("svg", **{"class": "spark"})) == 2
    assert "ε 1" in found.words
    assert "ε 2" in found.words
    assert "Simulated time" not in found.words


def test_the_page_of_a_metric(app: ASGIApp, store: Store, clock: ManualClock) -> None:
    found = page(app, "/m/flight.late")
    assert found.status == 200
    words = found.words
    assert "Installations on which the program ran that day and reported within 14 days." in words
    for line in describe(late()):
        assert line.meaning in words
        assert line.odds in words
    for sentence in explain(late()):
        assert sentence.removeprefix("Not protected: ")[1:] in words
    assert "Not protected:" not in words  # its heading says so
    assert "A day with fewer than 100 shows no value." in words
    assert "the truth of each day lies within its band, or line, with a chance of 95 %" in words
    assert "One liar in a hundred installations can move the value by up to 2.16 points." in words
    shown = rows(store, now=clock.now(), metric="flight.late")
    assert [item["data-state"] for item in found.all("tr") if "data-state" in item] == [
        row.state for row in reversed(shown)
    ]
    marks = {item["data-mark"] for item in found.all("li") if "data-mark" in item}
    assert {row.state for row in shown} == {"final", "empty", "suppressed", "provisional", "open"}
    assert marks == {"zero", "empty", "suppressed", "provisional", "open"}  # the only final value is 0
    together = period(store, now=clock.now(), metric="flight.late")
    assert together.value is not None
    assert f"{100 * together.value:.0f} ±" in words
    assert f"Mean of {together.windows} days" in words
    assert "Do not average" in words


def test_the_links_give_what_is_shown(app: ASGIApp) -> None:
    for path in ("/m/editor.minutes", "/m/editor.minutes?segment=beta&version=1&windows=5", "/m/flight.late?windows=3"):
        found = page(app, path)
        states = [item["data-state"] for item in found.all("tr") if "data-state" in item]
        links = {item["data-format"]: html.unescape(item["href"]) for item in found.all("a") if "data-format" in item}
        assert list(links) == ["csv", "parquet", "json"]
        answer = asyncio.run(fetch(app, links["json"], {}, "GET"))
        assert [row["state"] for row in json.loads(answer.text)] == states[::-1]
        assert states
        assert links["csv"] == links["json"].replace("/estimates?", "/estimates.csv?")


def test_segments_and_versions(app: ASGIApp) -> None:
    first = page(app, "/m/editor.minutes")
    assert [option["value"] for option in first.all("option")] == ["stable", "beta", "", "2", "1"]
    assert [option["value"] for option in first.all("option") if "selected" in option] == ["stable"]
    chosen = page(app, "/m/editor.minutes?segment=beta&version=")
    assert [option["value"] for option in chosen.all("option") if "selected" in option] == ["beta"]
    old = page(app, "/m/editor.minutes?version=1")
    assert [option["value"] for option in old.all("option") if "selected" in option] == ["stable", "1"]
    assert "version 2" in json.dumps(spec(first))
    assert "version 2" not in json.dumps(spec(old))


def test_versions_that_measure_something_else_stand_apart(tmp_path: Path, clock: ManualClock) -> None:
    with open_store(tmp_path / "store.db") as store:
        first, second = minutes(dimensions=()), replace(minutes(dimensions=(), epsilon=2.0), version=2, unit="h")
        for metric, day in ((first, 0), (second, 3)):
            store.accept(lock(metric))
            store.write(stored(metric, 200, ones=90, window=FIRST + day))
        found = page(create_app(store, clock=clock), "/m/editor.minutes")
        assert "Left out, because they measure something else: version 1" in " ".join(found.words.split())
        assert {row["Version"] for row in spec(found)["data"]["values"]} == {"2"}
        old = page(create_app(store, clock=clock), "/m/editor.minutes?version=1")
        assert {row["Version"] for row in spec(old)["data"]["values"]} == {"1"}


def test_polling_shows_no_single_report(app: ASGIApp, store: Store, clock: ManualClock) -> None:
    clock.set(end(FIRST + 20))
    coming, seen = stored(late(), 250, ones=120, window=FIRST + 20, start=5000), set()
    for i in range(0, 250, 10):
        store.write(coming[i : i + 10])
        paths = ("/", "/m/flight.late", "/v1/metrics/flight.late/estimates.csv")
        seen.add(tuple(asyncio.run(fetch(app, path, {}, "GET")).text for path in paths))
    assert len(seen) == 3  # before 100, from 100 on, from 200 on


def test_who_is_in_the_number_of_a_panel(tmp_path: Path, clock: ManualClock) -> None:
    with open_store(tmp_path / "store.db") as store:
        store.accept(lock(late(report_every=7, window="week", grace=36 * 3600)))
        found = page(create_app(store, clock=clock), "/m/flight.late")
        assert (
            "Of the installations whose turn it was that week, about one in 7: those on which the program ran then and "
            "reported within 36 hours." in found.words
        )


def test_who_is_in_the_number_where_presence_is_hidden(tmp_path: Path, clock: ManualClock) -> None:
    with open_store(tmp_path / "store.db") as store:
        store.accept(lock(replace(late(), presence="hidden")))
        found = page(create_app(store, clock=clock), "/m/flight.late").words
        assert (
            "Installations on which the program ran that day or within 14 days after it. The value of those on which "
            'it did not run that day counts as "no".' in html.unescape(found)
        )


def test_earlier_and_later(app: ASGIApp) -> None:
    now = page(app, "/m/flight.late?windows=4")
    assert all("rel" not in link or link["rel"] == "prev" for link in now.all("a"))
    (before,) = (html.unescape(link["href"]) for link in now.all("a", rel="prev"))
    assert before == "/m/flight.late?windows=4&end=2026-12-15T00%3A00%3A00Z"
    earlier = page(app, before)
    assert "2026-12-14" in earlier.words
    assert "2026-12-15" not in earlier.words
    (after,) = (html.unescape(link["href"]) for link in earlier.all("a", rel="next"))
    assert "2026-12-17" in page(app, after).words


BAD = {
    "/m/editor.minutes?segment=nightly": "segment must be one of 'stable', 'beta'; got 'nightly'",
    "/m/editor.minutes?version=3": "version must be one of 2, 1; got 3",
    "/m/editor.minutes?version=x": "version must be an integer from 1 on; got 'x'",
    "/m/editor.minutes?windows=0": "windows must be an integer in [1, 1000]; got '0'",
    "/m/editor.minutes?windows=1001": "windows must be an integer in [1, 1000]; got '1001'",
    "/m/editor.minutes?end=soon": "end must be an ISO date",
    "/m/editor.minutes?windows=2&windows=3": "windows must be given once; got '3'",
    "/m/editor.minutes?sort=n": "query must be made of segment, category, version, windows, end; got 'sort'",
    "/?page=-1": "page must be an integer from 1 on; got '-1'",
    "/?q=" + "x" * 101: "q must be at most 100 characters",
    "/?<script>=1": "query must be made of q, page; got '<script>'",
}


@pytest.mark.parametrize(("path", "expected"), BAD.items(), ids=[path[:40] for path in BAD])
def test_bad_parameters_are_named(app: ASGIApp, path: str, expected: str) -> None:
    found = page(app, path)
    assert found.status == 400
    assert expected in found.words
    assert "/" in found.linked()


def test_what_is_not_there(app: ASGIApp) -> None:
    assert page(app, "/m/no.such").status == 404
    assert "knows no metric of this name" in page(app, "/m/no.such").words
    assert page(app, "/elsewhere", accept="text/html,*/*").status == 404
    for path in ("/", "/m/flight.late"):
        refused = page(app, path, method="POST")
        assert (refused.status, set(refused.headers["allow"].split(", "))) == (405, {"GET", "HEAD"})
    for path, headers in (("/elsewhere", {}), ("/v1/metrics/no.such/estimates", {"accept": "text/html"})):
        assert asyncio.run(fetch(app, path, headers, "GET")).headers["content-type"] == "application/problem+json"


def test_a_store_or_a_clock_that_cannot_be_read(tmp_path: Path, store: Store) -> None:
    class Broken(SqliteStore):
        failing = False

        def _read(self, *args: Any) -> list[Any]:
            if self.failing:
                raise StoreError(f"{tmp_path}: disk I/O error")
            return super()._read(*args)

    with Broken(tmp_path / "store.db") as broken:
        for reader, clock in ((broken, ManualClock(end(FIRST))), (store, FileClock(tmp_path / "none"))):
            app = create_app(reader, clock=clock)
            broken.failing = True
            for path in ("/", "/m/flight.late"):
                found = page(app, path)
                assert (found.status, found.headers["retry-after"]) == (503, "30")
                assert "cannot be read" in found.words
                assert str(tmp_path) not in found.text
            broken.failing = False


def test_nothing_in_a_lock_becomes_markup(tmp_path: Path, clock: ManualClock) -> None:
    with open_store(tmp_path / "store.db") as store:
        dimensions = (("channel", ("a+b.c_d-E", "x")),)
        metric = minutes(description=HOSTILE, purpose=HOSTILE, unit=HOSTILE[:32], dimensions=dimensions)
        store.accept(lock(metric))
        store.write(stored(metric, 200, ones=90, segment="a+b.c_d-E"))
        app = create_app(store, clock=clock)
        for path in ("/", "/m/editor.minutes", "/m/editor.minutes?segment=a%2Bb.c_d-E"):
            found = page(app, path)
            assert found.status == 200
            assert HOSTILE in html.unescape(found.text)
            assert not found.all("img")
            assert all(item.get("src", "").startswith("/assets/") or "type" in item for item in found.all("script"))
            assert "49" not in found.words.replace("HMAC-SHA-256", "").split()
        assert spec(found)["data"]["values"][0]["Estimate"].endswith(HOSTILE[:32])
        assert "segment=a%2Bb.c_d-E" in " ".join(found.linked())


def test_pages_hold_no_inline_script_or_style(app: ASGIApp) -> None:
    for path in ("/", "/m/editor.minutes", "/m/no.such", "/m/editor.minutes?version=9"):
        found = page(app, path)
        assert found.headers["content-security-policy"] == pages.POLICY
        assert "unsafe" not in pages.POLICY
        assert found.headers["cache-control"] == "no-store"
        assert found.headers["x-content-type-options"] == "nosniff"
        assert not found.all("style")
        for tag, attributes in found.tags:
            assert not {name for name in attributes if name == "style" or name.startswith("on")}, tag
            assert "://" not in attributes.get("src", "") + attributes.get("href", ""), tag
        for script in found.all("script"):
            assert script.get("src", "").startswith("/assets/") or script["type"] == "application/json"


def test_simulated_time_is_said(tmp_path: Path, clock: ManualClock) -> None:
    with open_store(tmp_path / "store.db", dev=True) as store:
        store.accept(lock(late()))
        app = create_app(store, clock=clock)
        for path in ("/", "/m/flight.late", "/m/no.such"):
            found = page(app, path)
            assert "Simulated time. A day passes in ten seconds here" in found.words
            assert "Simulated time 2026-12-18 01:00 UTC" in found.words
            assert found.headers["hubbub-mode"] == "dev"
            assert any("renew" in script.get("src", "") for script in found.all("script"))
        assert "hubbub crowd metrics.lock --collector http://127.0.0.1:8377" in page(app, "/").words


@pytest.mark.parametrize("changes", [{"upper": 1}, {"lower": -5_000_000, "step": 1}, {"step": 2**40, "upper": 4000}])
def test_numbers_of_any_size(tmp_path: Path, clock: ManualClock, changes: dict[str, Any]) -> None:
    with open_store(tmp_path / "store.db") as store:
        metric: Metric = minutes(dimensions=(), **changes)
        store.accept(lock(metric))
        store.write(stored(metric, 500, ones=200))
        for path in ("/", "/m/editor.minutes"):
            found = page(create_app(store, clock=clock), path)
            assert found.status == 200
            assert not re.search(r"\d[eE][+-]?\d", found.words)
            assert not re.search(r"\b(nan|inf|None)\b", found.words)


def test_windows_that_end_at_the_end_of_a_life(app: ASGIApp, clock: ManualClock) -> None:
    clock.set(end(FIRST) + 400 * DAY + GRACE)
    found = page(app, "/m/flight.late")
    assert "2026-12-31" in found.words
    assert "2026-12-01" in found.words
