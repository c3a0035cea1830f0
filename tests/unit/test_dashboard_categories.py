"""Pages of metrics that count several categories: which one they show, and how another is chosen."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.types import ASGIApp

from hubbub.clock import ManualClock
from hubbub.dashboard import create_app
from hubbub.store import open_store
from tests.unit.browsing import page
from tests.unit.collecting import Answer, ask
from tests.unit.test_kinds import CHOICE, HISTOGRAM, fill, metric


@pytest.fixture
def app(tmp_path: Path) -> Iterator[ASGIApp]:
    """A choice of which the crowd took: half cart, a third home, a sixth none, nobody search."""
    made = metric(CHOICE)
    with open_store(tmp_path / "store.db") as store:
        fill(store, made, [0] * 500 + [1] * 1000 + [2] * 1500)
        yield create_app(store, clock=ManualClock(made.windows.end(made.life.start) + 100.0))


def asked(app: ASGIApp, address: str) -> Answer:
    path, _, query = address.partition("?")
    return asyncio.run(ask(app, method="GET", path=path, query=query, headers={}))


def test_the_largest_category_is_shown_and_all_are_listed(app: ASGIApp) -> None:
    shown = page(app, "/m/editor.minutes").text
    assert "Category <strong><bdi>cart</bdi></strong>" in shown
    for name in ("none", "home", "cart", "search"):
        assert f'<option value="{name}"' in shown
        assert f"category={name}" in shown
    assert "cart</bdi>, the largest answer" in page(app, "/").text


def test_another_category_can_be_chosen(app: ASGIApp) -> None:
    shown = page(app, "/m/editor.minutes?category=home").text
    assert "Category <strong><bdi>home</bdi></strong>" in shown
    assert "estimates.csv?start=2026-" in shown
    assert "category=home" in shown


def test_the_page_lists_rows_of_its_category_alone(app: ASGIApp) -> None:
    rows = page(app, "/m/editor.minutes?category=home").text.split('<section id="rows">')[1]
    listed = rows.split("<tbody>")[1].split("</tbody>")[0].count("<tr")
    assert listed == len(asked(app, "/v1/metrics/editor.minutes/estimates?category=home").content)


def test_rows_of_one_category(app: ASGIApp) -> None:
    every, one = (asked(app, f"/v1/metrics/editor.minutes/estimates{part}").content for part in ("", "?category=cart"))
    assert [row["category"] for row in every[:4]] == ["none", "home", "cart", "search"]
    assert one == [row for row in every if row["category"] == "cart"]


def test_an_unknown_category_is_refused(app: ASGIApp) -> None:
    for path in ("/m/editor.minutes?category=nowhere", "/v1/metrics/editor.minutes/mean?category=nowhere"):
        answer = page(app, path).text if path.startswith("/m/") else str(asked(app, path).content)
        assert "none, home, cart, search" in answer


def test_the_unit_stands_beside_the_ends_of_a_bucket(tmp_path: Path) -> None:
    made = metric(HISTOGRAM, unit='"min"')
    with open_store(tmp_path / "store.db") as store:
        fill(store, made, [0] * 500 + [3] * 2500)
        app = create_app(store, clock=ManualClock(made.windows.end(made.life.start) + 100.0))
        listed, shown = page(app, "/").text, page(app, "/m/editor.minutes").text
    named = '<bdi>2.5 to 5</bdi>\N{NO-BREAK SPACE}<bdi class="unit">min</bdi>'
    assert f"{named}, the largest bucket" in listed
    assert f"by bucket, for each day</span>. Bucket <strong>{named}" in shown
    assert ">2.5 to 5\N{NO-BREAK SPACE}min</option>" in shown
    assert '<th scope="col">Bucket, <bdi>min</bdi></th>' in shown
