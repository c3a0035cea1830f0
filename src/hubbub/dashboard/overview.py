"""The list of metrics: for each the newest value that may be shown, its recent windows, what it costs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from markupsafe import Markup

from hubbub.dashboard import formats
from hubbub.dashboard.drawing import spark
from hubbub.dashboard.series import marks, start
from hubbub.estimates import Known, Row, rows
from hubbub.estimates.wording import Scale
from hubbub.lock import NONE, Metric
from hubbub.mechanisms import of_metric
from hubbub.privacy import PriceLine, describe
from hubbub.privacy.words import plural
from hubbub.store import Store
from hubbub.windows import iso, midnight, windows

WINDOWS = 28  # that a sparkline shows
_DECODE = "words show in hubbub estimate with --candidates"
_WITHOUT = {"suppressed": "too few reports", "empty": "no reports"}


@dataclass(frozen=True)
class Entry:
    """One metric of the list; what it shows is that of one segment.

    Attributes:
        known: Its newest version.
        older: The versions before, newest first.
        prices: One report, and a device that never changes.
        state: Of `row`, or of the last window where nothing may be shown; empty before the first report.
        row: The newest one that may be shown, as text; None where there is none.
        note: How old it is and what came since, or why nothing is shown; empty where there is nothing to say.
        running: Whether reports can come at present.
        segments: How many segments there are.
        category: That which is shown, the largest, or the first coordinate; empty where the metric has one number.
        spark: Its recent windows.
        drawn: From the first to the last of them, `28 days`.
        outside: Whether `row` reaches beyond what is possible.
    """

    known: Known
    older: Sequence[Known]
    prices: Sequence[PriceLine]
    state: str
    row: "Latest | None"
    note: str
    running: bool
    segments: int
    category: str
    spark: Markup
    drawn: str
    outside: bool


@dataclass(frozen=True)
class Latest:
    """A row in words."""

    value: str
    unit: str
    ends: str
    n: str
    when: str
    version: int
    segment: str


def names(versions: Sequence[Known], part: str = "") -> list[str]:
    """Names of metrics that contain `part`, sorted."""
    return sorted({known.name for known in versions if part.lower() in known.name})


def overview(store: Store, now: float, versions: Sequence[Known], wanted: Sequence[str]) -> list[Entry]:
    """What the list shows of these metrics.

    Raises:
        StoreError: The store cannot be read.
    """
    metrics = definitions(store)
    groups = {name: list(group) for name, group in groupby(versions, key=lambda known: known.name)}
    return [_entry(store, now, groups[name], metrics) for name in wanted]


def definitions(store: Store) -> dict[tuple[str, int], Metric]:
    """Each version of each metric; of several texts of one version the last counts."""
    return {(entry.metric.name, entry.metric.version): entry.metric for entry in store.locks()}


def last_stop(known: Sequence[Known], now: float) -> int:
    """First second after the last window that these versions can have, cut as the first of them."""
    cut = windows(known[0].window)
    life = max(midnight(version.expires) for version in known)
    return min(cut.end(cut.index(now)), cut.end(cut.index(life - 1)))


def chosen(found: Sequence[Row], declared: Sequence[str]) -> str:
    """The segment with the most reports; of equal ones, the one that was declared first."""
    counts = dict.fromkeys(declared, 0)
    for row in found:
        counts[row.segment] = counts.get(row.segment, 0) + row.n
    return max(counts, key=lambda segment: counts[segment])


def leading(kind: str, found: Sequence[Row]) -> str | None:
    """What a metric of this kind is shown by: its first coordinate, or the category of the largest newest value.

    `none` is passed over; None where the metric has one number.
    """
    if kind == "mean":  # rows beside it are ratios
        return None
    if kind == "vector":
        return max(found, key=lambda row: (row.window_start, row.version)).category if found else None
    newest: dict[str, Row] = {}
    for row in sorted(found, key=lambda row: (row.window_start, row.version)):
        if row.category is not None and row.value is not None:
            newest[row.category] = row
    names = dict.fromkeys(row.category for row in found if row.category is not None)
    known = [name for name in newest if name != NONE] or list(names)
    return max(known, key=lambda name: _value(newest.get(name)), default=None)


def _value(row: Row | None) -> float:
    return -1.0 if row is None or row.value is None else row.value


def newest_shown(found: Sequence[Row]) -> Row | None:
    """The last row that has a value."""
    return max(
        (row for row in found if row.value is not None), key=lambda row: (row.window_start, row.version), default=None
    )


def _entry(store: Store, now: float, versions: Sequence[Known], metrics: Mapping[tuple[str, int], Metric]) -> Entry:
    newest = versions[0]
    stop = last_stop(versions, now)
    found = rows(store, now=now, metric=newest.name, start=stop - WINDOWS * windows(newest.window).length, end=stop)
    alike = {known.version: known for known in versions if (known.kind, known.unit) == (newest.kind, newest.unit)}
    found = [row for row in found if row.version in alike]
    segment = chosen(found, newest.segments)
    found = sorted((row for row in found if row.segment == segment), key=lambda row: (row.window_start, row.version))
    category = leading(newest.kind, found)
    found = [row for row in found if row.category == category]
    scale = Scale.of(newest.kind, newest.unit, found)
    shown = newest_shown(found)
    metric = metrics[newest.name, newest.version]
    lines = {line.key: line for line in describe(metric)}
    span = life(versions)
    return Entry(
        known=newest,
        older=versions[1:],
        prices=[lines["report"], lines["steady"]],
        state=shown.state if shown else found[-1].state if found else "",
        row=_latest(shown, scale, alike[shown.version].window) if shown else None,
        note=_note(found, shown, newest, span, now),
        running=span[0] <= now < span[1],
        segments=len(newest.segments),
        category=category or "",
        spark=spark(marks(found, scale), of_metric(metric).bounds),
        drawn=_drawn(found, newest.window),
        outside=shown is not None and formats.outside(metric, [shown]),
    )


def life(versions: Sequence[Known]) -> tuple[int, int]:
    """From the first second in which one of these versions is reported to the first after the last one's, unix."""
    return min(midnight(known.starts) for known in versions), max(midnight(known.expires) for known in versions)


def ago(row: Row, window: str, now: float) -> str:
    """`20 days ago`; nothing where the row's window is one of the last two that have ended."""
    cut = windows(window)
    passed = cut.index(now) - cut.index(start(row))
    return f"{plural(passed, window)} ago" if passed > 2 else ""


def _latest(row: Row, scale: Scale, window: str) -> Latest:
    return Latest(
        formats.margin(scale, row),
        scale.unit.strip(),
        formats.ends(scale, row),
        formats.count(row.n),
        formats.when(window, row.window_start),
        row.version,
        row.segment,
    )


def _note(found: Sequence[Row], shown: Row | None, known: Known, span: tuple[int, int], now: float) -> str:
    (begin, end), window = span, known.window
    if now < begin:
        return f"begins {iso(begin)[:10]}"
    after = [row for row in found if shown is None or row.window_start > shown.window_start]
    without = [row for row in after if row.state in _WITHOUT]
    told = [ago(shown, window, now)] if shown and now < end else []
    if without:
        words = _WITHOUT[without[0].state] if len({row.state for row in without}) == 1 else "too few reports or none"
        told.append(f"{words} since {formats.when(window, without[0].window_start)}")
    if known.kind == "words" and found:
        told.append(_DECODE)
    if end <= now:
        told.append(f"over since {iso(end)[:10]}")
    return "; ".join(filter(None, told)) if told or found else "no reports yet"


def _drawn(found: Sequence[Row], window: str) -> str:
    if not found:
        return ""
    cut = windows(window)
    return plural(cut.index(start(found[-1])) - cut.index(start(found[0])) + 1, window)
