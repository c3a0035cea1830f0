"""Pages of a mean with a second report, which show it among the active too, and the same for programs."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from starlette.types import ASGIApp

from hubbub.clock import ManualClock
from hubbub.dashboard import create_app
from hubbub.definitions import build, loads
from hubbub.estimates import period, rows
from hubbub.estimates.active import AMONG
from hubbub.lock import Lock
from hubbub.store import Store, open_store
from hubbub.testing.stores.samples import DAY, FIRST, end, stored
from tests.unit.browsing import Page, page, spec
from tests.unit.collecting import Answer, ask
from tests.unit.definitions_support import MEAN, text

NAME, SHARE = "editor.minutes", "editor.minutes.active"
NOW = end(FIRST + 3) + 100.0
ROWS = f"/v1/metrics/{NAME}/estimates"
VIEW = f"/m/{NAME}?category=among+active"
# Reports of the mean and ones among them, then those of the share: usual, usual, too few for a ratio, nobody active.
DAYS = [((2000, 800), (2000, 1200)), ((2000, 820), (2000, 1200)), ((2000, 810), (40, 24)), ((2000, 240), (2000, 240))]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    keys = MEAN | {"active": "true", "epsilon": "4.0", "upper": "240"}
    made = build(loads(text(keys).encode(), "t"))
    with open_store(tmp_path / "store.db") as store:
        store.accept(made)
        for i, metric in enumerate(made.metrics.values()):
            for day, counts in enumerate(DAYS):
                store.write(stored(metric, counts[i][0], ones=counts[i][1], window=FIRST + day))
        yield store


@pytest.fixture
def app(store: Store) -> ASGIApp:
    return create_app(store, clock=ManualClock(NOW))


def asked(app: ASGIApp, address: str) -> Answer:
    path, _, query = address.partition("?")
    return asyncio.run(ask(app, method="GET", path=path, query=query, headers={}))


def listed(found: Page) -> int:
    return found.text.split('<section id="rows">')[1].split("<tbody>")[1].split("</tbody>")[0].count("<tr")


def test_both_means_stand_side_by_side(app: ASGIApp) -> None:
    whole, among = page(app, f"/m/{NAME}"), page(app, VIEW)
    for shown in (whole, among):
        assert {"/m/editor.minutes", VIEW, f"/m/{SHARE}"} <= set(shown.linked())
        assert [one["value"] for one in shown.all("option")] == ["", AMONG]
        assert listed(shown) == 4
        assert "Both together: ε 4 for one of each, ε 8 for a device that never changes" in shown.words.replace(
            "\xa0", " "
        )
    assert "Mean per installation and day" in whole.words
    assert "Mean among active, per installation and day" in among.words
    assert "Of these, the ones that recorded anything in the day" in among.words
    assert "How far liars can move such a ratio has no bound" in among.words
    assert "Of these, the ones" not in whole.words
    assert "One liar in a hundred" in whole.words


def test_days_without_a_ratio_say_why(app: ASGIApp) -> None:
    shown = page(app, VIEW)
    states = [one["data-state"] for one in shown.all("tr") if "data-state" in one]
    assert states == ["too_uncertain", "open", "provisional", "provisional"]
    marks = [one["data-mark"] for one in shown.all("li") if "data-mark" in one]
    assert marks == ["provisional", "too_uncertain", "open"]
    (odd,) = [datum for datum in spec(shown)["data"]["values"] if datum["mark"] == "too_uncertain"]
    assert [odd[key] for key in ("value", "low", "high", "whisker", "tip", "point")] == [None] * 6
    assert "undecoded" not in shown.text


def test_the_days_together(store: Store, app: ASGIApp) -> None:
    expected = period(store, now=NOW, metric=NAME, category=AMONG)
    assert (expected.windows, expected.left_out) == (3, 1)
    assert "Mean among active over 3 days" in page(app, VIEW).words
    answer = asked(app, f"/v1/metrics/{NAME}/mean?category=among%20active")
    assert answer.content == msgspec.to_builtins(expected)
    assert asked(app, f"/v1/metrics/{NAME}/mean?category=").content == msgspec.to_builtins(
        period(store, now=NOW, metric=NAME)
    )


def test_files_hold_the_rows_of_the_page(store: Store, app: ASGIApp) -> None:
    every = [msgspec.to_builtins(row) for row in rows(store, now=NOW, metric=NAME)]
    for address, category in ((f"/m/{NAME}", None), (VIEW, AMONG)):
        (data,) = [link for link in page(app, address).linked() if link.startswith(f"{ROWS}?")]
        assert asked(app, data).content == [row for row in every if row["category"] == category]
    assert asked(app, ROWS).content == every


def test_the_share_leads_back(app: ASGIApp) -> None:
    shown = page(app, f"/m/{SHARE}")
    assert {f"/m/{NAME}", VIEW} <= set(shown.linked())
    assert "Share of installations that recorded anything" in shown.words
    assert shown.all("select") == []


def test_a_category_that_is_none_is_refused(app: ASGIApp) -> None:
    for path in (f"/m/{NAME}?category=active", f"/m/{SHARE}?category=among+active"):
        assert page(app, path).status == 400
    assert "one of among active" in page(app, f"/m/{NAME}?category=active").words
    assert page(app, f"/m/{NAME}?category=").status == 200


def test_a_mean_whose_second_report_is_gone_is_a_plain_one(tmp_path: Path) -> None:
    both = build(loads(text(MEAN | {"active": "true"}).encode(), "t"))
    for name, other in ((NAME, SHARE), (SHARE, NAME)):
        with open_store(tmp_path / name) as store:
            store.accept(Lock("editor", {name: both.metrics[name]}))
            store.write(stored(both.metrics[name], 200, ones=80))
            shown = page(create_app(store, clock=ManualClock(end(FIRST) + DAY)), f"/m/{name}")
        assert shown.status == 200
        assert not any(link.partition("?")[0] == f"/m/{other}" for link in shown.linked())
        assert "among active" not in shown.words


def test_both_of_a_life_of_one_report_cost_one_of_each(tmp_path: Path) -> None:
    once = {"active": "true", "epsilon": "4.0", "upper": "240", "starts": "2026-12-01", "expires": "2026-12-02"}
    made = build(loads(text(MEAN | once).encode(), "t"))
    with open_store(tmp_path / "once.db") as store:
        store.accept(made)
        shown = page(create_app(store, clock=ManualClock(NOW)), f"/m/{NAME}").words.replace("\xa0", " ")
    assert "Both together: ε 4 for one of each, ε 4 for a device that never changes" in shown
