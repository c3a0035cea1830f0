"""Marks, specifications and drawings: made from rows, compiled by Vega-Lite itself."""

import re
import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import vl_convert

from hubbub.dashboard import chart, drawing, formats, series
from hubbub.estimates import Row
from hubbub.estimates.wording import Scale
from hubbub.windows import iso
from tests.unit.collecting import DAY, FIRST, late, minutes

BOUNDS = (0.0, 480.0)


def row(day: int, state: str = "final", value: float | None = 200.0, **changes: Any) -> Row:
    """A row of a mean; those without a value have the states that have none."""
    missing = state in series.MISSING
    value = None if missing else value
    low, high = (None, None) if value is None else (value - 20, value + 20)
    figures = {"value": value, "se": None if missing else 10.0, "se_shared": None, "ci_low": low, "ci_high": high}
    known = {"metric": "editor.minutes", "version": 1, "hash": "0" * 32, "segment": "", "category": None, "level": 0.95}
    start = {"window_start": iso((FIRST + day) * DAY), "window_end": iso((FIRST + day + 1) * DAY)}
    rest = {"state": state, "n": 0 if state == "empty" else 200, "n_effective": 200, "method": None, "tidied": value}
    prices = {"epsilon": 1.0, "permanent_epsilon": 2.0, "manipulation_per_percent": 10.4}
    return Row(**{**known, **start, **rest, **figures, **prices, **changes})


MIXED = [
    row(0),
    row(1, value=0.0),
    row(2, "suppressed"),
    row(3, "empty"),
    row(4, "provisional"),
    row(5, "too_uncertain", ci_low=-700.0, ci_high=900.0),
    row(6, "open"),
    row(7),
    row(7, version=2, hash="1" * 32),
    row(8, "provisional", version=2, hash="1" * 32),
    row(9, value=None, se=None),
]
CASES = {
    "mixed": MIXED,
    "one": [row(0)],
    "none": [],
    "suppressed": [row(day, "suppressed") for day in range(5)],
    "zero": [row(0, value=0.0, ci_low=0.0, ci_high=0.0)],
    "negative": [row(day, value=-50.0 - day) for day in range(3)],
    "long": [row(day) for day in range(400)],
}


def scale(rows: list[Row]) -> Scale:
    return Scale.of("mean", "min", rows)


def spec(rows: list[Row], **options: Any) -> chart.Spec:
    cuts = {1: "day", 2: "day"}
    return chart.spec(rows, scale(rows), cuts=cuts, bounds=BOUNDS, **options)


def test_marks() -> None:
    found = {(mark.row.window_start[8:10], mark.row.version): mark for mark in series.marks(MIXED, scale(MIXED))}
    assert {key: mark.shape for key, mark in found.items()} == {
        ("01", 1): "final",
        ("02", 1): "zero",
        ("03", 1): "suppressed",
        ("04", 1): "empty",
        ("05", 1): "provisional",
        ("06", 1): "too_uncertain",
        ("07", 1): "open",
        ("08", 1): "final",
        ("08", 2): "final",
        ("09", 2): "provisional",
        ("10", 1): "undecoded",
    }
    assert {mark.shape for mark in found.values()} == set(series.MARKS)
    joined = {key for key, mark in found.items() if not mark.alone}
    assert joined == {("01", 1), ("02", 1), ("08", 2), ("09", 2)}
    assert found["01", 1].run == found["02", 1].run != found["08", 2].run
    assert {mark.series for key, mark in found.items() if key[1] == 2} == {0}
    assert series.changes(MIXED) == [series.Change((FIRST + 7) * DAY, 2)]
    assert series.encodings(list(found.values())) == [(0, [2]), (1, [1])]


def test_every_mark_has_a_drawing_of_its_own() -> None:
    looks = {(drawing.PATHS[shape], shape in drawing.HOLLOW) for shape in series.MARKS}
    assert len(looks) == len(series.MARKS) == len(drawing.PATHS)


@pytest.mark.parametrize("name", CASES)
def test_vega_lite_compiles_it(name: str) -> None:
    compiled = vl_convert.vegalite_to_vega(spec(CASES[name], width=600))
    assert compiled["marks"]
    assert "http" not in str(spec(CASES[name]))


@pytest.mark.parametrize("palette", [chart.LIGHT, chart.DARK], ids=["light", "dark"])
@pytest.mark.parametrize("name", CASES)
def test_it_draws(name: str, palette: dict[str, str]) -> None:
    found = chart.coloured(spec(CASES[name], width=600), palette)
    assert "var(--" not in str(found)
    svg = vl_convert.vegalite_to_svg(found)
    assert "NaN" not in svg
    texts = re.findall(r">([^<]+)</text>", svg)
    if CASES[name]:
        assert re.fullmatch(r"\d+ [A-Z][a-z]{2}( 20\d\d)?", texts[0])
    assert ("version 2" in texts) == (name == "mixed")


def test_what_has_no_value_stands_below_the_scale() -> None:
    layers = {layer["transform"][0]["filter"]: layer for layer in spec(MIXED)["layer"] if "transform" in layer}
    for shape in series.MISSING:
        assert layers[f"datum.mark === '{shape}'"]["encoding"]["y"] == {"value": chart.HEIGHT + chart.STRIP / 2}
    assert layers["datum.mark === 'zero'"]["encoding"]["y"]["field"] == "point"
    missing = [datum for datum in spec(MIXED)["data"]["values"] if datum["mark"] in series.MISSING]
    assert missing
    assert all(datum[key] is None for datum in missing for key in ("value", "low", "high", "point"))


def test_shares_are_per_cent() -> None:
    rows = [row(0, value=0.3624, ci_low=0.2841, ci_high=0.4402)]
    found = chart.spec(rows, Scale.of("boolean", "", rows), cuts={1: "day"}, bounds=(0.0, 1.0))
    (datum,) = found["data"]["values"]
    assert (datum["Estimate"], datum["Interval"], datum["value"]) == ("36.2 %", "28.4 to 44.0 %", 36.24)


@pytest.mark.parametrize(
    ("ends", "expected"),
    [
        ([(190, 210)], (188.8, 211.2)),
        ([(100, 200)], (0.0, 206.0)),
        ([(175, 220)], (0.0, 222.7)),
        ([(-10, 90)], (-16.0, 96.0)),
        ([(5, 5)], (0.0, 10.6)),
        ([], BOUNDS),
    ],
)
def test_the_scale_of_values(ends: list[tuple[float, float]], expected: tuple[float, float]) -> None:
    rows = [row(day, ci_low=low, ci_high=high) for day, (low, high) in enumerate(ends)]
    assert series.domain(series.marks(rows, scale(rows)), BOUNDS) == pytest.approx(expected)


def test_what_is_too_uncertain_does_not_set_the_scale() -> None:
    low, high = series.domain(series.marks(MIXED, scale(MIXED)), BOUNDS)
    assert (low, high) == pytest.approx((-34.4, 234.4))


@pytest.mark.parametrize("name", CASES)
def test_drawings_are_well_formed(name: str) -> None:
    rows = CASES[name]
    found = series.marks(rows, scale(rows))

    def plot(width: int) -> str:
        return drawing.plot(found, scale(rows), BOUNDS, lambda mark: "<&>", width)

    for drawn in (drawing.spark(found, BOUNDS), plot(drawing.WIDE), plot(drawing.NARROW)):
        tree = ET.fromstring(drawn)
        numbers = [float(number) for number in re.findall(r"-?\d+\.?\d*", " ".join(tree.itertext()))]
        assert all(abs(number) < 1e9 for number in numbers)
        assert "nan" not in drawn
        assert len([e for e in tree.iter() if "mark" in e.get("class", "")]) <= len(rows)
        if drawn.startswith('<svg class="plot'):
            assert len([e for e in tree.iter() if "mark" in e.get("class", "").split()]) == len(rows)


@pytest.mark.parametrize(
    ("low", "high", "factor", "expected"),
    [(0, 100, 1, [0, 20, 40, 60, 80, 100]), (-0.04, 0.09, 100, [-0.04, -0.02, 0, 0.02, 0.04, 0.06, 0.08])],
)
def test_ticks(low: float, high: float, factor: float, expected: list[float]) -> None:
    assert drawing.ticks(low, high, factor) == pytest.approx(expected)


def test_colours_are_those_of_the_style_sheet() -> None:
    sheet = (Path(chart.__file__).parent / "static" / "base.css").read_text("utf-8")
    blocks = [dict(re.findall(r"(--[\w-]+): (#[0-9a-f]{6});", block)) for block in sheet.split(":root")[1:3]]
    for palette, block in zip((chart.LIGHT, chart.DARK), blocks, strict=True):
        assert palette.items() <= block.items()
    assert set(re.findall(r"var\((--[\w-]+)\)", str(spec(MIXED)))) <= chart.LIGHT.keys()


def test_numbers_in_words() -> None:
    whole = Scale(1.0, 0, " min")
    assert [formats.grouped(text) for text in ("1234567.12345", "-999", "12345")] == [
        "1\u202f234\u202f567.12345",
        "−999",
        "12\u202f345",
    ]
    assert formats.margin(whole, row(0)) == "200 ±\u00a020"
    assert formats.interval(whole, row(0)) == "180 to 220 min"
    assert formats.interval(whole, row(0, "empty")) == formats.value(whole, row(0, "empty")) == "–"
    assert [formats.epsilon(nats) for nats in ("1.000", "1.409", "no bound", "10.000")] == [
        "1",
        "1.409",
        "no bound",
        "10",
    ]
    assert [formats.rounded(number) for number in (86_600_000.0, 2.164, 0.0001234)] == [
        "86\u202f600\u202f000",
        "2.16",
        "0.000123",
    ]
    assert [formats.duration(seconds) for seconds in (14 * DAY, DAY, 36 * 3600, 3601)] == [
        "14 days",
        "1 day",
        "36 hours",
        "3601 seconds",
    ]
    assert formats.when("hour", "2026-12-01T06:00:00Z") == "2026-12-01 06:00"


def test_digits_follow_the_interval() -> None:
    def half(width: float, value: float = 123_456.789) -> str:
        rows = [row(0, value=value, ci_low=value - width, ci_high=value + width)]
        return scale(rows).bare(value)

    assert [half(width) for width in (0.05, 7.8, 19, 114, 1140, 26_000)] == [
        "123456.789",
        "123456.8",
        "123457",
        "123457",
        "123460",
        "123500",
    ]


def told(found: list[tuple[str, str]]) -> str:
    return " ".join(f"{head} {line}" for head, line in found)


def test_limits() -> None:
    steady, fresh = minutes(), late()
    assert "Neighbouring days err together" in told(formats.limits(steady, scale(MIXED), MIXED))
    assert "err together" not in told(formats.limits(fresh, scale(MIXED), MIXED))
    certain = [row(0), row(1, "suppressed")]
    assert "may lie outside" not in told(formats.limits(steady, scale(certain), certain))
    for ends in ((-3.0, 40.0), (470.0, 481.0)):
        outside = [row(0, ci_low=ends[0], ci_high=ends[1])]
        assert "Estimates may lie outside 0 to 480\u00a0min." in told(formats.limits(steady, scale(outside), outside))
    assert "One liar" not in told(formats.limits(replace(steady, min_reports=7), scale([]), []))
    assert "taken until 14 days after its end" in told(formats.limits(steady, scale([]), []))


def test_bounds_in_words() -> None:
    steady, fresh = minutes(), late()
    assert formats.possible(steady) == "0 to 480\u00a0min"
    assert formats.possible(replace(steady, unit="")) == "0 to 480"
    assert formats.possible(fresh) == "0 to 100\u00a0%"
    assert formats.possible(fresh, [1.0]) == "100\u00a0%"
    assert formats.possible(steady, [0.0, 480.0]) == "0 and 480\u00a0min"
    assert formats.limit(steady, [480.0]) == "the most that the truth can be"
    assert formats.limit(steady, [0.0, 480.0]) == "the least and the most that the truth can be"


def test_a_sentence_does_not_repeat_its_heading() -> None:
    assert formats.beneath("What is not protected", "Not protected: what is true.") == "What is true."
    assert formats.beneath("What is not protected", "Figures are withheld.") == "Figures are withheld."
    assert formats.beneath("What it costs", "One report: epsilon 1.") == "One report: epsilon 1."


@pytest.mark.parametrize(
    ("ends", "lines", "explained"),
    [
        ((200.0, 300.0), [0.0], []),  # an edge of the picture explains itself
        ((-10.0, 90.0), [0.0], [0.0]),
        ((-10.0, 500.0), [0.0, 480.0], [0.0, 480.0]),
        ((470.0, 490.0), [480.0], [480.0]),
        ((300.0, 320.0), [], []),
    ],
)
def test_lines_at_the_bounds_of_the_truth(
    ends: tuple[float, float], lines: list[float], explained: list[float]
) -> None:
    rows = [row(0, ci_low=ends[0], ci_high=ends[1])]
    found = series.marks(rows, scale(rows))
    assert series.in_sight(found, BOUNDS) == lines
    assert series.surprising(found, BOUNDS) == explained
    drawn = [layer["data"]["values"] for layer in spec(rows)["layer"] if "data" in layer]
    assert drawn == ([[{"bound": line} for line in lines]] if lines else [])
    assert drawing.plot(found, scale(rows), BOUNDS, lambda mark: "x").count('class="limit"') == len(lines)


def test_what_goes_on_outside_the_picture_has_an_arrow() -> None:
    rows = [row(0), row(1, "too_uncertain", ci_low=50.0, ci_high=900.0), row(3, "too_uncertain", ci_low=-700.0)]
    layers = {layer["transform"][0]["filter"]: layer for layer in spec(rows)["layer"] if "transform" in layer}
    assert layers["datum.above"]["encoding"]["y"]["field"] == "tip"
    assert layers["datum.below"]["encoding"]["y"]["field"] == "whisker"
    data = spec(rows)["data"]["values"]
    assert [(datum["above"], datum["below"]) for datum in data] == [(False, False), (True, False), (False, True)]
    plot = drawing.plot(series.marks(rows, scale(rows)), scale(rows), BOUNDS, lambda mark: "x")
    assert plot.count(drawing.ARROWS["above"]) == plot.count(drawing.ARROWS["below"]) == 1
    assert not any("datum.above" in str(layer) for layer in spec([row(0), row(2)])["layer"])


def test_all_of_a_sparkline_lies_in_its_picture() -> None:
    rows = [row(0), row(1, "too_uncertain", value=-400.0, ci_low=-900.0, ci_high=900.0)]
    drawn = drawing.spark(series.marks(rows, scale(rows)), BOUNDS, width=100, height=50)
    heights = [float(y) for y in re.findall(r"translate\(\S+ (\S+)\)", drawn)]
    assert len(heights) == 2
    assert all(0 <= height <= 50 for height in heights)


def test_hours_stand_above_their_day() -> None:
    rows = [row(0)]
    hours = chart.spec(rows, scale(rows), cuts={1: "hour"}, bounds=BOUNDS, width=300)
    assert len(re.findall(r">([^<]+)</tspan>", vl_convert.vegalite_to_svg(chart.coloured(hours, chart.LIGHT)))) == 2
