"""The list of metrics: what it says of stores without reports, of metrics without values, and of hundreds of them."""

import html
import re
from pathlib import Path
from typing import Any

import pytest

from hubbub.clock import ManualClock
from hubbub.dashboard import create_app
from hubbub.lock import dump
from hubbub.store import open_store
from tests.unit.browsing import page
from tests.unit.collecting import DAY, FIRST, end, late, lock, minutes, stored


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(end(FIRST + 16) + 3600)


def test_a_store_that_knows_nothing_says_what_to_do(tmp_path: Path, clock: ManualClock) -> None:
    with open_store(tmp_path / "store.db") as store:
        app = create_app(store, clock=clock, ingest="http://127.0.0.1:1234")
        assert "hubbub registry build" in page(app, "/").words
        store.accept(lock(late()))
        assert "No reports yet" in page(app, "/").words
        metric = page(app, "/m/flight.late")
        assert "No reports yet" in metric.words
        assert not metric.all("div", id="chart")


def test_the_sample_of_a_silent_store_runs(tmp_path: Path, clock: ManualClock, monkeypatch: pytest.MonkeyPatch) -> None:
    later, started = minutes(name="a.later", starts="2027-01-01", expires="2027-02-01"), minutes()
    given = lock(later, started)
    monkeypatch.chdir(tmp_path)
    Path("metrics.lock").write_text(dump(given), "utf-8")
    with open_store(tmp_path / "store.db") as store:
        store.accept(given)
        found = page(create_app(store, clock=clock, ingest="http://127.0.0.1:9"), "/")
        (code,) = [html.unescape(code) for code in re.findall(r"<pre><code>(.*?)</code></pre>", found.text, re.DOTALL)]
        assert "editor.minutes" in code  # a.later has not begun
        scope: dict[str, Any] = {}
        exec(code, scope)
        scope["client"].close()
        assert Path("state").is_dir()


def test_the_list_says_why_there_is_no_value_or_an_old_one(tmp_path: Path, clock: ManualClock) -> None:
    metrics = {
        "a.begins": late(name="a.begins", starts="2027-01-01", expires="2027-02-01"),
        "b.over": late(name="b.over", starts="2026-11-01", expires="2026-12-10"),
        "c.waits": late(name="c.waits"),
        "d.few": late(name="d.few", grace=DAY),
        "e.stopped": late(name="e.stopped", grace=DAY),
        "f.mixed": late(name="f.mixed", grace=DAY),
    }
    reports = {"d.few": {3: 20}, "e.stopped": {2: 200}, "f.mixed": {2: 200, 4: 20}}
    with open_store(tmp_path / "store.db") as store:
        store.accept(lock(*metrics.values()))
        for name, days in reports.items():
            for day, count in days.items():
                store.write(stored(metrics[name], count, ones=count // 2, window=FIRST + day))
        app = create_app(store, clock=clock)
        items = re.split(r'<li class="metric" data-metric="', page(app, "/").text)[1:]
        notes = {item[: item.index('"')]: re.findall(r'<p class="note">(.*?)</p>', item) for item in items}
        assert notes == {
            "a.begins": ["begins 2027-01-01"],
            "b.over": ["over since 2026-12-10"],
            "c.waits": ["no reports yet"],
            "d.few": ["too few reports or none since 2026-12-04"],
            "e.stopped": ["15 days ago; no reports since 2026-12-04"],
            "f.mixed": ["15 days ago; too few reports or none since 2026-12-04"],
        }
        assert "15 days ago" in page(app, "/m/e.stopped").words
        for name, heading in (("a.begins", "Begins on 2027-01-01"), ("b.over", "No report came")):
            assert heading in page(app, f"/m/{name}").words
        assert "The metric is over since 2026-12-10 ." in page(app, "/m/b.over").words


def test_hundreds_of_metrics(tmp_path: Path, clock: ManualClock) -> None:
    with open_store(tmp_path / "store.db") as store:
        store.accept(lock(*(late(name=f"app.m{i:03}") for i in range(120))))
        app = create_app(store, clock=clock)
        seen = []
        for number in (1, 2, 3):
            found = page(app, f"/?page={number}&q=App.M")
            seen += [item["data-metric"] for item in found.all("li") if "data-metric" in item]
        assert seen == [f"app.m{i:03}" for i in range(120)]
        assert "120 of 120 metrics" in page(app, "/?q=app").words
        assert [item["data-metric"] for item in page(app, "/?q=m077").all("li") if "data-metric" in item] == [
            "app.m077"
        ]
        assert "No name contains “<b>”" in page(app, "/?q=%3Cb%3E").words
        assert page(app, "/?page=4").status == 400
        assert "page must be an integer in [1, 3]; got 4" in page(app, "/?page=4").words
