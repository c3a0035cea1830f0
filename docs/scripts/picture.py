"""The picture of the demo in both READMEs, drawn from what the demo printed.

    hubbub demo --once --json > demo.json
    python docs/scripts/picture.py demo.json      writes docs/pictures/demo-light.svg and demo-dark.svg

Left: the share of aircraft that landed late, estimate with its interval, and the truth beside it. Right: minutes in the
air, the wide band of the real aircraft and the narrow one of a pretended crowd. The same input gives the same bytes.
"""

import argparse
import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

import vl_convert

from hubbub.dashboard.chart import DARK, LIGHT

PICTURES = Path(__file__).parents[1] / "pictures"
LATE, MINUTES, CROWD = "flight.late", "flight.minutes", "flight.minutes_crowd"
FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, Helvetica, Arial, sans-serif"
HEIGHT, LEFT, RIGHT = 196, 408, 300  # of the two plots, in pixels

Json = dict[str, Any]
Rows = list[Json]


@dataclass(frozen=True)
class Theme:
    """The dashboard's colours; blue is what the collector estimates, orange the truth that it never sees."""

    ink: str
    muted: str
    rule: str
    estimate: str
    truth: str
    band: float  # opacity


def _theme(colours: Mapping[str, str], band: float) -> Theme:
    ink, muted, rule, estimate, truth = (
        colours[f"--{name}"] for name in ("ink", "muted", "rule", "series-0", "series-1")
    )
    return Theme(ink, muted, rule, estimate, truth, band)


THEMES = {"light": _theme(LIGHT, 0.2), "dark": _theme(DARK, 0.28)}


def read(path: Path) -> dict[str, Rows]:
    """Rows by metric, of the days that have an interval.

    Raises:
        ValueError: It is not what the demo prints.
    """
    try:
        rows = [row | {"day": row["window"][:10]} for row in json.loads(path.read_text("utf-8"))]
        found = {name: [row for row in rows if row["metric"] == name] for name in (LATE, MINUTES, CROWD)}
    except (OSError, ValueError, TypeError, KeyError):
        raise ValueError(f"{path}: not what `hubbub demo --once --json` prints") from None
    if missing := [name for name, held in found.items() if not held or any(row["ci_low"] is None for row in held)]:
        raise ValueError(f"{path}: no interval for every day of {', '.join(missing)}")
    return found


def spec(rows: dict[str, Rows], theme: Theme) -> Json:
    """The Vega-Lite specification of both plots."""
    late = _plot(
        title="Landed more than 15 minutes late",
        subtitle=f"share of about {_rounded(rows[LATE])} aircraft a day; each sent one disguised bit",
        width=LEFT,
        axis={"labelExpr": "format(100 * datum.value, 'd') + ' %'", "values": [0, 0.25, 0.5, 0.75, 1]},
        domain=[min(0, *(row["ci_low"] for row in rows[LATE])), 1.07],
        layers=[
            _band(rows[LATE], theme, theme.band),
            _line(rows[LATE], "estimate", theme.estimate, 2.5),
            _line(rows[LATE], "truth_clipped", theme.truth, 1.25),
            _note("estimate with 95 % interval", theme.estimate, LEFT, 23),
            _note("truth, which nobody sent", theme.truth, LEFT, 39),
        ],
    )
    high = max(row["ci_high"] for row in rows[MINUTES])
    minutes = _plot(
        title="Minutes in the air",
        subtitle=f"on flights from New York, mean of about {_rounded(rows[MINUTES])} aircraft",
        width=RIGHT,
        axis={"format": "d", "tickCount": 4},
        domain=[min(0, *(row["ci_low"] for row in rows[MINUTES])), high * 1.15],
        layers=[
            _band(rows[MINUTES], theme, theme.band),
            _band(rows[CROWD], theme, 2.2 * theme.band),
            _line(rows[CROWD], "truth_clipped", theme.truth, 1.25),
            _note("wide band: the real aircraft", theme.estimate, RIGHT, 9),
            _note("narrow band: a PRETEND crowd,", theme.estimate, RIGHT, HEIGHT - 37),
            _note("25 devices for each aircraft", theme.estimate, RIGHT, HEIGHT - 20),
        ],
    )
    return {
        "$schema": "https://vega.github.io/schema/vega-lite/v5.json",
        "background": "transparent",
        "padding": 6,
        "bounds": "flush",
        "spacing": 64,
        "hconcat": [late, minutes],
        "config": {
            "font": FONT,
            "view": {"stroke": None},
            "title": {"anchor": "start", "offset": 12, "color": theme.ink, "subtitleColor": theme.muted},
            "axis": {"labelColor": theme.muted, "labelFontSize": 12, "title": None, "domain": False, "ticks": False}
            | {"gridColor": theme.rule},
        },
    }


def _plot(*, title: str, subtitle: str, width: int, axis: Json, domain: list[float], layers: list[Json]) -> Json:
    days = {
        "format": "%-d %b",
        "grid": False,
        "labelPadding": 8,
        "values": _ticks(layers[0], 3 if width == LEFT else 4),
    }
    x = {"field": "day", "type": "temporal", "scale": {"type": "utc"}, "axis": days}
    y = {"type": "quantitative", "scale": {"domain": domain, "nice": False}, "axis": {"labelPadding": 8, **axis}}
    for layer in layers:
        if "x" not in layer["encoding"]:  # a note has its place in pixels
            layer["encoding"] |= {"x": x, "y": y | layer["encoding"]["y"]}
    head = {"text": title, "subtitle": subtitle, "fontSize": 15, "subtitleFontSize": 12.5, "frame": "group", "dx": -38}
    return {"width": width, "height": HEIGHT, "title": head, "layer": layers}


def _ticks(layer: Json, every: int) -> list[Json]:
    dates = [row["day"].split("-") for row in layer["data"]["values"]]
    return [{"year": int(y), "month": int(m), "date": int(d), "utc": True} for y, m, d in dates[1::every]]


def _band(rows: Rows, theme: Theme, opacity: float) -> Json:
    mark = {"type": "area", "color": theme.estimate, "opacity": opacity}
    encoding = {"y": {"field": "ci_low"}, "y2": {"field": "ci_high"}}
    return {"data": {"values": _only(rows, "ci_low", "ci_high")}, "mark": mark, "encoding": encoding}


def _line(rows: Rows, field: str, color: str, width: float) -> Json:
    point = {"color": color, "filled": True, "size": 18 + 8 * width}
    mark = {"type": "line", "color": color, "strokeWidth": width, "point": point}
    return {"data": {"values": _only(rows, field)}, "mark": mark, "encoding": {"y": {"field": field}}}


def _note(text: str, color: str, x: int, y: int) -> Json:
    mark = {"type": "text", "text": text, "color": color, "align": "right", "fontSize": 12.5, "fontWeight": 600}
    place = {"x": {"value": x}, "y": {"value": y}}
    return {"data": {"values": [{}]}, "mark": mark, "encoding": place}


def _only(rows: Rows, *fields: str) -> Rows:
    return [{"day": row["day"], **{field: round(row[field], 4) for field in fields}} for row in rows]


def _rounded(rows: Rows) -> int:
    return round(fmean(row["n"] for row in rows) / 50) * 50


def draw(rows: dict[str, Rows]) -> dict[str, str]:
    """SVG by theme."""
    return {name: vl_convert.vegalite_to_svg(spec(rows, theme)) for name, theme in THEMES.items()}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Draw the picture of the demo.")
    parser.add_argument("rows", type=Path, help="what `hubbub demo --once --json` printed")
    try:
        drawn = draw(read(parser.parse_args().rows))
    except ValueError as error:
        print(f"picture: {error}", file=sys.stderr)
        sys.exit(2)
    for name, svg in drawn.items():
        (PICTURES / f"demo-{name}.svg").write_text(svg + "\n", "utf-8")
