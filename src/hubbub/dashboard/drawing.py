"""Plain SVG: sparklines, the marks of legends, and the picture of a metric where no script draws its chart.

Everything here is made of numbers and of words of our own, so nothing has to be escaped; colours come from the style
sheet by class.
"""

import math
from collections.abc import Callable, Sequence

from markupsafe import Markup, escape

from hubbub.dashboard.formats import grouped
from hubbub.dashboard.series import MISSING, Bounds, Mark, domain, in_sight
from hubbub.estimates.wording import Scale

# Paths within [-1, 1], for Vega's custom symbols as well.
PATHS = {
    "final": "M1,0A1,1,0,1,1,-1,0A1,1,0,1,1,1,0Z",
    "zero": "M-0.95,-0.95L0.95,-0.95L0.95,0.95L-0.95,0.95Z",
    "too_uncertain": "M0,-1.1L1.1,0.8L-1.1,0.8Z",
    "suppressed": "M-0.8,-0.8L0.8,0.8M-0.8,0.8L0.8,-0.8",
    "empty": "M-1,0L1,0",
    "undecoded": "M-0.9,-0.6L0.9,-0.6M-0.9,0L0.9,0M-0.9,0.6L0.3,0.6",
    "open": "M-1,0L-0.98,0M-0.01,0L0.01,0M0.98,0L1,0",
}
PATHS["provisional"] = PATHS["final"]
ARROWS = {"above": "M-0.8,0.6L0,-0.6L0.8,0.6", "below": "M-0.8,-0.6L0,0.6L0.8,-0.6"}  # an interval goes on
HOLLOW = ("provisional", "too_uncertain")
WIDE, NARROW = 860, 320
_HEIGHT, _TOP, _STRIP, _FOOT = 300, 24, 18, 24
_CHARACTER = 8.2  # pixels across one of a label, about
Scaling = Callable[[float], float]


def glyph(shape: str) -> Markup:
    """The mark of a state, for a legend or beside its name."""
    return Markup(
        '<svg class="glyph" viewBox="-8 -8 16 16" width="16" height="16" aria-hidden="true" focusable="false">'
        + _mark(shape, 0, 0, 0, 4.5)
        + "</svg>"
    )


def swatch(look: str) -> Markup:
    """A line, for a legend: that of a series, `s0` and so on, or that of a `limit`."""
    return Markup(
        '<svg class="glyph" viewBox="-8 -8 16 16" width="16" height="16" aria-hidden="true" focusable="false">'
        f'<path class="line {look}" d="M-8,0H8"/></svg>'
    )


def spark(found: Sequence[Mark], bounds: Bounds, width: int = 176, height: int = 56) -> Markup:
    """Band and line over the windows of `found`; those without a value are gaps with a mark at the foot."""
    if not found:
        return Markup('<svg class="spark" viewBox="0 0 {} {}" aria-hidden="true"></svg>').format(width, height)
    x, y = _scales(found, (5, width - 5), (height - 11, 4), domain(found, bounds))
    parts = [*_joined(found, x, y)]
    last = max((mark for mark in found if mark.row.value is not None), key=lambda mark: mark.at, default=None)
    for mark in found:
        if mark.row.value is None:
            size = 3 if mark.shape == "open" else 2  # its dots must not run together
            parts.append(_mark(mark.shape, mark.series, x(mark.at), height - 4, size))
        elif mark is last or mark.alone or mark.shape == "zero":
            parts.append(_mark(mark.shape, mark.series, x(mark.at), y(_of(mark.row.value)), 3))
    return Markup(
        f'<svg class="spark" viewBox="0 0 {width} {height}" width="{width}" height="{height}" aria-hidden="true" '
        f'focusable="false">{"".join(parts)}</svg>'
    )


def plot(
    found: Sequence[Mark], scale: Scale, bounds: Bounds, label: Callable[[Mark], str], width: int = WIDE
) -> Markup:
    """The chart of a metric without a script: axes, band, line, marks.

    Args:
        found: What to show.
        scale: How numbers are written.
        bounds: Least and largest truth.
        label: How a window is written.
        width: `WIDE`, or `NARROW` for narrow windows; the style sheet shows one of them.
    """
    bottom, ends = _HEIGHT - _STRIP - _FOOT, domain(found, bounds)
    labels = {tick: grouped(f"{tick * scale.factor + 0.0:.10g}") for tick in ticks(*ends, scale.factor)}
    left = 14 + _CHARACTER * max(map(len, labels.values()), default=0)
    x, y = _scales(found, (left + 10, width - 12), (bottom, _TOP), ends)
    parts = [f'<text class="tick" x="{left:.1f}" y="12">{escape(scale.unit.strip())}</text>']
    for tick, words in labels.items():
        parts.append(f'<path class="grid" d="M{left:.1f},{y(tick):.1f}H{width}"/>')
        parts.append(f'<text class="tick end" x="{left - 8:.1f}" y="{y(tick) + 4:.1f}">{escape(words)}</text>')
    parts += [f'<path class="limit" d="M{left:.1f},{y(bound):.1f}H{width}"/>' for bound in in_sight(found, bounds)]
    parts += _dates(found, label, x, left, width)
    parts.append(f'<path class="axis" d="M{left:.1f},{bottom + _STRIP}H{width}"/>')
    parts += _joined(found, x, y)
    for mark in found:
        if mark.row.value is None:
            parts.append(_mark(mark.shape, mark.series, x(mark.at), bottom + _STRIP / 2, 3))
            continue
        if mark.alone:
            parts += _whisker(mark, x(mark.at), y, ends)
        size = min(3.5, max(1.5, 0.25 * width / len(found)))
        parts.append(_mark(mark.shape, mark.series, x(mark.at), y(_of(mark.row.value)), size, mark.row.state))
    return Markup(
        f'<svg class="plot {"wide" if width == WIDE else "narrow"}" viewBox="0 0 {width} {_HEIGHT}" role="img" '
        f'aria-labelledby="measured">{"".join(parts)}</svg>'
    )


def ticks(low: float, high: float, factor: float = 1.0, most: int = 8) -> list[float]:
    """Round numbers between two ends."""
    raw = factor * (high - low) / most
    step = 10.0 ** math.floor(math.log10(raw))
    step *= next(times for times in (1, 2, 5, 10) if times * step >= raw * (1 - 1e-9))
    first = math.ceil(factor * low / step - 1e-9)
    return [i * step / factor for i in range(first, math.floor(factor * high / step + 1e-9) + 1)]


def _of(number: float | None) -> float:
    assert number is not None  # only marks that have a value come here
    return number


def _scales(found: Sequence[Mark], across: Bounds, along: Bounds, ends: Bounds) -> tuple[Scaling, Scaling]:
    """From times and values to the picture; what lies outside comes to its edge."""

    def between(low: float, high: float, first: float, last: float) -> Scaling:
        return lambda number: first + (min(max(number, low), high) - low) / (high - low or 1) * (last - first)

    times = [mark.at for mark in found] or [0]
    if min(times) == max(times):
        middle = sum(across) / 2
        across = (middle, middle)
    return between(min(times), max(times), *across), between(*ends, *along)


def _dates(found: Sequence[Mark], label: Callable[[Mark], str], x: Scaling, left: float, width: int) -> list[str]:
    """As many windows as have room for their label, from the newest on."""
    words = {mark.at: label(mark) for mark in found}
    half = _CHARACTER * max(map(len, words.values()), default=0) / 2
    parts, free = [], math.inf
    for at in sorted(words, reverse=True):
        middle = min(max(x(at), left + half - 8), width - half)
        if middle + half <= free:
            parts.append(f'<text class="tick middle" x="{middle:.1f}" y="{_HEIGHT - 6}">{escape(words[at])}</text>')
            free = middle - half - 2 * _CHARACTER
    return parts


def _whisker(mark: Mark, x: float, y: Scaling, ends: Bounds) -> list[str]:
    """The interval of a mark to which nothing is joined; an arrow where it goes on."""
    low, high = _of(mark.row.ci_low), _of(mark.row.ci_high)
    parts = [f'<path class="whisker s{mark.series}" d="M{x:.1f},{y(low):.1f}V{y(high):.1f}"/>']
    for side, end, on in (("above", high, high > ends[1]), ("below", low, low < ends[0])):
        if on:
            parts.append(
                f'<path class="whisker arrow s{mark.series}" d="{ARROWS[side]}" '
                f'transform="translate({x:.1f} {y(end):.1f}) scale(4)"/>'
            )
    return parts


def _joined(found: Sequence[Mark], x: Scaling, y: Scaling) -> list[str]:
    runs: dict[int, list[Mark]] = {}
    for mark in found:
        if mark.run is not None and not mark.alone:
            runs.setdefault(mark.run, []).append(mark)
    parts = []
    for run in runs.values():
        upper = [f"{x(mark.at):.1f},{y(_of(mark.row.ci_high)):.1f}" for mark in run]
        lower = [f"{x(mark.at):.1f},{y(_of(mark.row.ci_low)):.1f}" for mark in reversed(run)]
        line = [f"{x(mark.at):.1f},{y(_of(mark.row.value)):.1f}" for mark in run]
        parts.append(f'<path class="band s{run[0].series}" d="M{"L".join(upper + lower)}Z"/>')
        parts.append(f'<path class="line s{run[0].series}" d="M{"L".join(line)}"/>')
    return parts


def _mark(shape: str, series: int, x: float, y: float, size: float, state: str = "") -> str:
    look = "none" if shape in MISSING else "hollow" if shape in HOLLOW or state == "provisional" else "solid"
    return (
        f'<path class="mark {look} s{series}" d="{PATHS[shape]}" '
        f'transform="translate({x:.1f} {y:.1f}) scale({size:g})"/>'
    )
