"""Numbers on the pages: without a script, by segment, as files; and the listener that `hubbub serve` starts."""

import io
import json
import shutil
from collections.abc import Callable
from pathlib import Path

import msgspec
import pandas as pd
import pytest
from playwright.sync_api import Browser, Page, expect

from hubbub.estimates import Row, rows
from hubbub.lock import Lock
from hubbub.store import open_store
from tests.e2e.browser import seeds
from tests.e2e.browser.looking import NARROW, WIDE, Look
from tests.e2e.browser.seeds import DAY, NOW, TODAY
from tests.e2e.browser.sites import Site, dashboard
from tests.unit.serving import Serving

Open = Callable[[str], Site]
SPAN = 90  # windows that a page shows unless it is asked otherwise, the present one among them


def shown(page: Page) -> list[tuple[str, str, str, str]]:
    """Window, state, reports and estimate of each row of the table, in order of time; figures without spaces."""
    found = page.locator("#rows table").evaluate("""table => {
        const heads = [...table.tHead.rows[0].cells].map(cell => cell.innerText);
        const column = word => heads.findIndex(head => head.startsWith(word));
        const figure = cell => cell.innerText.replaceAll('\\u202f', '').replace('\\u2212', '-');
        return [...table.tBodies[0].rows].map(row => [row.cells[0].innerText, row.dataset.state,
            figure(row.cells[column('Reports')]), figure(row.cells[column('Estimate')])]);
    }""")
    return [tuple(row) for row in reversed(found)]


def held(site: Site, metric: str, segment: str = "") -> list[Row]:
    """What the store has for the same table."""
    with open_store(site.seed.path, read_only=True) as store:
        return rows(store, now=NOW, metric=metric, segment=segment, start=(TODAY + 1 - SPAN) * DAY)


def same(page: Page, expected: list[Row]) -> None:
    """The table shows these rows of a mean, each to the last digit that it shows."""
    found = shown(page)
    assert expected
    assert [row[:3] for row in found] == [(row.window_start[:10], row.state, str(row.n)) for row in expected]
    for (*_, estimate), row in zip(found, expected, strict=True):
        if row.value is None:
            assert estimate == "–"
        else:
            decimals = len(estimate.partition(".")[2])
            assert abs(float(estimate) - row.value) <= 0.51 * 10**-decimals


def test_without_a_script_the_numbers_are_there(site: Open, plain: Look) -> None:
    page = plain.open(site("full").url + "/m/editor.minutes", width=NARROW)
    same(page, held(site("full"), "editor.minutes", "stable"))
    expect(page.locator("#chart svg:visible")).to_have_count(1)
    assert page.locator("#chart svg:visible path.mark").count() >= SPAN - 1
    assert page.locator("#chart").evaluate("e => e.scrollWidth <= e.clientWidth"), "the newest windows are out of sight"
    assert plain.faults() == []
    page.set_viewport_size({"width": WIDE, "height": 900})
    expect(page.locator("#chart svg:visible")).to_have_count(1)
    page = plain.open(site("full").url + "/", width=NARROW)
    last = held(site("full"), "editor.crashed")[-1]
    assert last.value is not None
    expect(page.locator("[data-metric='editor.crashed'] .value")).to_contain_text(f"{100 * last.value:.1f}")
    page.get_by_role("link", name="editor.crashed").click()
    expect(page.locator("h1")).to_have_text("editor.crashed")


def test_without_a_script_segments_are_chosen(site: Open, plain: Look) -> None:
    page = plain.open(site("full").url + "/m/editor.minutes")
    page.get_by_role("combobox", name="Segment").select_option("beta")
    page.get_by_role("button", name="Show").click()
    expect(page.get_by_role("combobox", name="Segment")).to_have_value("beta")
    beta = held(site("full"), "editor.minutes", "beta")
    same(page, beta)
    page.get_by_role("combobox", name="Version").select_option("1")
    page.get_by_role("button", name="Show").click()
    expect(page.get_by_role("combobox", name="Segment")).to_have_value("beta")
    with open_store(site("full").seed.path, read_only=True) as store:
        old = [row for row in rows(store, now=NOW, metric="editor.minutes", segment="beta") if row.version == 1]
    same(page, old)
    assert plain.faults() == []


def test_the_longest_segment_can_be_chosen(site: Open, plain: Look) -> None:
    page = plain.open(f"{site('hostile').url}/m/{site('hostile').seed.metrics[0]}")
    page.get_by_role("combobox", name="Segment").select_option(index=63)
    page.get_by_role("button", name="Show").click()
    expect(page.locator("#rows tbody tr")).to_have_count(3)
    assert plain.faults() == []


@pytest.mark.parametrize(
    ("name", "metric", "segment"),
    [("full", "editor.minutes", "stable"), ("states", "state.mixed", ""), ("hostile", "hostile.script", "")],
)
def test_files_hold_what_the_page_shows(site: Open, look: Look, name: str, metric: str, segment: str) -> None:
    page = look.open(f"{site(name).url}/m/{metric}")
    kinds = {"csv": "text/csv", "parquet": "application/vnd.apache.parquet", "json": "application/json"}
    contents = {}
    for format_, kind in kinds.items():
        href = page.locator(f"#downloads [data-format={format_}]").get_attribute("href")
        assert href is not None
        got, contents[format_] = site(name).get(href)
        assert got.partition(";")[0] == kind
    expected = held(site(name), metric, segment)
    same(page, expected)
    assert json.loads(contents["json"]) == [msgspec.to_builtins(row) for row in expected]
    parquet = pd.read_parquet(io.BytesIO(contents["parquet"]))
    csv = pd.read_csv(io.BytesIO(contents["csv"]), keep_default_na=False)
    for frame in (parquet, csv):
        assert list(frame.columns) == list(Row.__struct_fields__)
        assert frame["n"].tolist() == [row.n for row in expected]
        assert frame["state"].tolist() == [row.state for row in expected]
    assert [None if pd.isna(value) else value for value in parquet["value"]] == [row.value for row in expected]
    assert [float(value) if value else None for value in csv["value"]] == [row.value for row in expected]
    assert csv["window_start"].tolist() == [row.window_start for row in expected]


def test_a_file_is_saved_under_the_metric_s_name(site: Open, look: Look) -> None:
    page = look.open(site("full").url + "/m/editor.crashed")
    with page.expect_download() as download:
        page.get_by_role("link", name="CSV").click()
    assert "editor.crashed" in download.value.suggested_filename
    assert download.value.suggested_filename.endswith(".csv")


def test_simulated_time_is_marked(browser: Browser, tmp_path: Path) -> None:
    with dashboard(seeds.make("states", tmp_path, dev=True)) as site, Look(browser) as look:
        page = look.open(site.url + "/", width=NARROW)
        expect(page.get_by_role("note")).to_contain_text("Simulated time")
        page.get_by_role("button", name="Stop").click()
        page = look.open(site.url + "/m/state.zero", width=NARROW)
        expect(page.get_by_role("note")).to_contain_text("Simulated time")
        expect(page.locator("#renew")).not_to_contain_text("Stop")
        assert look.faults() == []


def test_the_listener_of_serve(look: Look, tmp_path: Path) -> None:
    seed = seeds.make("states", tmp_path)
    shutil.copy(seed.path, tmp_path / "store.db")
    with open_store(seed.path, read_only=True) as store:
        metrics = {entry.metric.name: entry.metric for entry in store.locks()}
    with Serving(tmp_path, Lock("browser-test", metrics), now=NOW) as serving:
        for path in ("/", "/m/state.mixed"):
            look.open(f"http://127.0.0.1:{serving.read_port}{path}")
            assert look.faults() == []


def test_a_window_s_figures_show_under_the_pointer(site: Open, look: Look) -> None:
    page = look.open(site("full").url + "/m/editor.minutes")
    place = page.locator("#chart").bounding_box()
    assert place is not None
    page.mouse.move(place["x"] + 0.6 * place["width"], place["y"] + 120)
    card = page.locator("#vg-tooltip-element.visible")
    card.wait_for()
    figures = dict(line.split("\t") for line in card.inner_text().splitlines())
    row = next(row for row in shown(page) if row[0] == figures["Window"])
    assert (figures["State"], figures["Reports"]) == row[1:3]
    assert figures["Estimate"].startswith(row[3])
    assert look.faults() == []
