"""The Vega-Lite chart of a metric, as a plain dict: rows in, specification out.

Colours are variables of the page's style sheet, so that one specification serves light, dark and print; `coloured` puts
values in their place for pictures that no style sheet reaches. Shapes mean what `series.MARKS` says; windows without a
value stand in a strip below the plot, never on its scale, so that nothing is taken for a zero.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from hubbub.dashboard import formats
from hubbub.dashboard.drawing import ARROWS, HOLLOW, PATHS
from hubbub.dashboard.series import MISSING, SERIES, Bounds, Mark, changes, domain, in_sight, marks
from hubbub.estimates import Row
from hubbub.estimates.wording import Scale
from hubbub.windows import windows

Spec = dict[str, Any]
HEIGHT, STRIP = 300, 24  # of the plot, and of the strip below it, in pixels
FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', sans-serif"
_ORDER = [str(series) for series in range(SERIES)]
_SERIES = [f"var(--series-{series})" for series in range(SERIES)]
_SIZES = {"zero": 72, "too_uncertain": 80}  # square pixels at most, where it is not 52
LIGHT: Mapping[str, str] = {
    "--surface": "#ffffff",
    "--ink": "#1c2127",
    "--muted": "#57606a",
    "--rule": "#dde1e6",
    "--series-0": "#0b5cad",
    "--series-1": "#b04a00",
    "--series-2": "#0b7261",
}
DARK: Mapping[str, str] = {
    "--surface": "#161a20",
    "--ink": "#e7ebf0",
    "--muted": "#a0abb7",
    "--rule": "#333b45",
    "--series-0": "#6fb4f7",
    "--series-1": "#f39a63",
    "--series-2": "#56c5ab",
}


def spec(
    rows: Sequence[Row],
    scale: Scale,
    *,
    cuts: Mapping[int, str],
    bounds: Bounds,
    width: int | str = "container",
    height: int = HEIGHT,
) -> Spec:
    """The chart of one segment's rows.

    Args:
        rows: Of one metric and segment, of any versions that measure the same.
        scale: How numbers are written.
        cuts: Windows (`hour`, `day`, `week`) of each version.
        bounds: Least and largest truth; a line marks each where it is in sight.
        width: Pixels, or "container".
        height: Pixels, without the axis.
    """
    found = marks(rows, scale)
    low, high = (scale.factor * end for end in domain(found, bounds))
    data = [_datum(mark, scale, cuts[mark.row.version], low, high) for mark in found]
    y = {"scale": {"domain": [low, high], "nice": True, "zero": False}, "type": "quantitative", "axis": _values(scale)}
    x = {"field": "at", "type": "temporal", "scale": {"type": "utc"}, "axis": _times(found, cuts)}
    return {
        "width": width,
        "height": height,
        "autosize": {"type": "fit-x", "contains": "padding"},
        "padding": {"left": 0, "top": 5, "right": 16, "bottom": 5},  # right: half of the last date
        "background": None,
        "data": {"values": data},
        "encoding": {"x": x},
        "layer": [
            *_limits(y, scale, in_sight(found, bounds)),
            *_versions(rows),
            *_joined(y, found),
            *_arrows(y, data),
            *_points(y, found),
            *_strip(height, found),
            _hover(),
        ],
        "config": _config(),
    }


def coloured(chart: Spec, colours: Mapping[str, str]) -> Spec:
    """A specification with `var(--name)` replaced by values, such as those of `LIGHT`."""

    def put(part: Any) -> Any:
        if isinstance(part, dict):
            return {key: put(value) for key, value in part.items()}
        if isinstance(part, list):
            return [put(value) for value in part]
        return colours[part[4:-1]] if isinstance(part, str) and part.startswith("var(--") else part

    replaced: Spec = put(chart)
    return replaced


def _datum(mark: Mark, scale: Scale, window: str, low: float, high: float) -> Spec:
    row, half = mark.row, windows(window).length * 500
    scaled = {
        key: None if end is None else scale.factor * end
        for key, end in (("value", row.value), ("low", row.ci_low), ("high", row.ci_high))
    }
    if row.value is None:  # an interval without a value says nothing that has a place on the scale
        scaled = dict.fromkeys(scaled)
    return {
        "at": mark.at * 1000,
        "from": mark.at * 1000 - half,
        "to": mark.at * 1000 + half,
        **scaled,
        # Where an interval leaves the plot, what is drawn of it ends there.
        "whisker": None if scaled["low"] is None or not mark.alone else max(low, min(high, scaled["low"])),
        "tip": None if scaled["high"] is None else max(low, min(high, scaled["high"])),
        "point": None if scaled["value"] is None else max(low, min(high, scaled["value"])),
        "above": mark.alone and scaled["high"] is not None and scaled["high"] > high,
        "below": mark.alone and scaled["low"] is not None and scaled["low"] < low,
        "run": mark.run,
        "joined": not mark.alone,
        "series": str(mark.series),
        "mark": mark.shape,
        "hollow": mark.shape in HOLLOW or row.state == "provisional",
        "Window": formats.when(window, row.window_start),
        "Estimate": formats.value(scale, row),
        "Interval": formats.interval(scale, row),
        "Reports": formats.count(row.n),
        "State": formats.state(row.state),
        "Version": str(row.version),
    }


def _times(found: Sequence[Mark], cuts: Mapping[int, str]) -> Spec:
    times = sorted({mark.at for mark in found})
    every = max(1, -(-len(times) // 7))
    date = "%-d %b" if len({mark.row.window_start[:4] for mark in found}) <= 1 else "%-d %b %Y"
    hours = any(cuts[mark.row.version] == "hour" for mark in found)
    lines = [f"utcFormat(datum.value, '{line}')" for line in (["%H:%M", date] if hours else [date])]
    return {
        "title": None,
        "offset": STRIP,
        # As an expression: of plain numbers Vega-Lite makes calls of `datetime`, which Vega without eval gets wrong.
        "values": {"expr": str([at * 1000 for at in times[::-every]])},
        "labelExpr": f"[{', '.join(lines)}]",
        "grid": False,
        "labelOverlap": "greedy",
        "labelSeparation": 12,
    }


def _values(scale: Scale) -> Spec:
    title = {
        "title": scale.unit.strip() or None,
        "titleAngle": 0,
        "titleAlign": "left",
        "titleAnchor": "end",
        "titleBaseline": "bottom",
        "titleX": 0,
        "titleY": -6,
        "titleLimit": 240,
    }
    return {**title, "format": ",.12~r", "tickCount": 6, "domain": False, "ticks": False}


def _by_series() -> Spec:
    return {
        "field": "series",
        "type": "nominal",
        "scale": {"domain": _ORDER, "range": _SERIES},
        "legend": None,
    }


def _joined(y: Spec, found: Sequence[Mark]) -> list[Spec]:
    """Bands, lines, and whiskers where nothing is joined."""
    together = {"color": _by_series(), "detail": {"field": "run", "type": "nominal"}}
    layers: list[Spec] = []
    if not all(mark.alone for mark in found):
        layers += [
            {
                "transform": [{"filter": "datum.joined"}],
                "mark": {"type": "area", "style": "band", "clip": True},
                "encoding": {"y": {"field": "low", **y}, "y2": {"field": "high"}, **together},
            },
            {
                "transform": [{"filter": "datum.joined"}],
                "mark": {"type": "line", "style": "mean", "clip": True},
                "encoding": {"y": {"field": "value", **y}, **together},
            },
        ]
    if any(mark.alone and mark.row.value is not None for mark in found):
        layers.append(
            {
                "transform": [{"filter": "datum.whisker !== null"}],
                "mark": {"type": "rule", "style": "whisker"},
                "encoding": {"y": {"field": "whisker", **y}, "y2": {"field": "tip"}, "color": _by_series()},
            }
        )
    return layers


def _arrows(y: Spec, data: Sequence[Spec]) -> list[Spec]:
    """Where a whisker goes on outside the plot."""
    return [
        {
            "transform": [{"filter": f"datum.{side}"}],
            "mark": {"type": "point", "style": "whisker", "shape": ARROWS[side], "size": 50, "filled": False},
            "encoding": {"y": {"field": end, **y}, "color": _by_series()},
        }
        for side, end in (("above", "tip"), ("below", "whisker"))
        if any(datum[side] for datum in data)
    ]


def _points(y: Spec, found: Sequence[Mark]) -> list[Spec]:
    """One layer for each shape that stands on the scale."""
    across = len({mark.at for mark in found})
    fill = {"condition": {"test": "datum.hollow", "value": "var(--surface)"}, **_by_series()}
    return [
        {
            "transform": [{"filter": f"datum.mark === '{shape}'"}],
            "mark": {
                "type": "point",
                "style": "mark",
                "shape": PATHS[shape],
                # As wide as a good half of the window, within reason.
                "size": {"expr": f"clamp(0.3 * pow(width / {across}, 2), 7, {_SIZES.get(shape, 52)})"},
            },
            "encoding": {"y": {"field": "point", **y}, "stroke": _by_series(), "fill": fill},
        }
        for shape in sorted({mark.shape for mark in found if mark.row.value is not None})
    ]


def _strip(height: int, found: Sequence[Mark]) -> list[Spec]:
    """Windows without a value."""
    return [
        {
            "transform": [
                {"filter": f"datum.mark === '{shape}'{'' if shape in MISSING else ' && datum.point === null'}"}
            ],
            "mark": {
                "type": "point",
                "style": "missing",
                "shape": PATHS[shape],
                "size": 40,
                "filled": False,
                "color": "var(--muted)",
            },
            "encoding": {"y": {"value": height + STRIP / 2}},
        }
        for shape in sorted({mark.shape for mark in found if mark.row.value is None})
    ]


def _limits(y: Spec, scale: Scale, bounds: Sequence[float]) -> list[Spec]:
    """Lines for the bounds of the truth."""
    if not bounds:
        return []
    layer = {
        "data": {"values": [{"bound": scale.factor * bound} for bound in bounds]},
        "mark": {"type": "rule", "color": "var(--muted)", "strokeOpacity": 0.6, "clip": True},
        "encoding": {"x": {"value": 0}, "x2": {"value": "width"}, "y": {"field": "bound", **y}},
    }
    return [layer]


def _versions(rows: Sequence[Row]) -> list[Spec]:
    """A line where another version begins."""
    begins = [{"at": change.at * 1000, "label": f"version {change.version}"} for change in changes(rows)]
    if not begins:
        return []
    words: Spec = {
        "type": "text",
        "style": "version-label",
        "color": "var(--muted)",
        "align": "left",
        "baseline": "top",
        "dy": 5,
        "dx": 5,
    }
    label = {"text": {"field": "label", "type": "nominal"}, "y": {"value": 0}}
    layers = [
        {"mark": {"type": "rule", "style": "version", "color": "var(--muted)"}},
        {"mark": words, "encoding": label},
    ]
    return [{"data": {"values": begins}, "layer": layers}]


def _hover() -> Spec:
    """A column per window that shows its figures."""
    lines = ("Window", "Estimate", "Interval", "Reports", "State", "Version")
    return {
        "params": [{"name": "under", "select": {"type": "point", "on": "pointerover", "clear": "pointerout"}}],
        "mark": {"type": "rect", "color": "var(--muted)", "clip": True},
        "encoding": {
            "x": {"field": "from", "type": "temporal"},
            "x2": {"field": "to"},
            "opacity": {"condition": {"param": "under", "empty": False, "value": 0.08}, "value": 0},
            "tooltip": [{"field": line, "type": "nominal"} for line in lines],
        },
    }


def _config() -> Spec:
    text = {"labelColor": "var(--muted)", "labelFont": FONT, "labelFontSize": 12, "labelPadding": 8}
    text |= {"titleColor": "var(--muted)", "titleFont": FONT, "titleFontSize": 12, "titleFontWeight": "normal"}
    return {
        "aria": False,  # the page's table says it all
        "locale": {"number": {"decimal": ".", "thousands": "\u202f", "grouping": [3], "currency": ["", ""]}},
        "view": {"stroke": None},
        "axis": {**text, "gridColor": "var(--rule)", "domainColor": "var(--rule)", "tickColor": "var(--rule)"},
        "style": {
            "band": {"fillOpacity": 0.2, "strokeOpacity": 0},
            "mean": {"strokeWidth": 2, "strokeJoin": "round", "strokeCap": "butt"},
            "whisker": {"strokeWidth": 1.5, "opacity": 0.5},
            "mark": {"strokeWidth": 1.75, "opacity": 1, "filled": True},
            "missing": {
                "stroke": "var(--muted)",
                "strokeWidth": 1.75,
                "strokeCap": "round",
                "filled": False,
                "opacity": 1,
            },
            "column": {"fill": "var(--muted)"},
            "version": {"stroke": "var(--muted)", "strokeDash": [3, 3]},
            "version-label": {"fill": "var(--muted)", "font": FONT, "fontSize": 12},
        },
    }
