"""Stores for the browser to look at, filled through the store itself: what a page must be able to show.

Each seed holds the metrics of one theme; `SEEDS` names them all. The noise of the reports has fixed seeds, so that a
page shows the same figures in every run.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from hubbub.clock import ManualClock
from hubbub.definitions import build, loads
from hubbub.lock import MILLION, Metric
from hubbub.mechanisms import of_metric
from hubbub.mechanisms.base import as_rows
from hubbub.mechanisms.coin import Coin
from hubbub.store import Report, Store, open_store
from hubbub.testing import GeneratorWords
from hubbub.testing.stores.samples import key, late, lock, minutes
from hubbub.windows import midnight
from hubbub.wire import pack

DAY, HOUR = 86_400, 3600
STARTS, EXPIRES = "2026-01-01", "2026-12-31"
FIRST = midnight("2026-03-02") // DAY  # a Monday
TODAY = FIRST + 90
NOW = TODAY * DAY + 9 * HOUR  # of every seed: today is open, the fortnight before it provisional
CHANNELS = (("channel", ("stable", "beta")),)

SCRIPT = "<script>alert(1)</script></script><img src=x onerror=alert(1)>"
QUOTES = '"\' onload=alert(1) x="\' {{ 7*7 }} {% raw %} ${7*7} %s &amp; &lt;b&gt; \\u003c \\" ]]> --> <!--'
TONGUES = "שלום עולם مرحبا 漢字かな交じり文 🙂👍🏽 Ωμέγα é ﷽ Z̴͇̀a̸͠lgo"
ENDLESS = "A" * 500 + "漢" * 480


@dataclass(frozen=True)
class Seed:
    """A store on disk and the time at which to look at it."""

    name: str
    path: Path
    metrics: tuple[str, ...]

    @property
    def clock(self) -> ManualClock:
        return ManualClock(NOW)


def yes_no(name: str, *, epsilon: float = 1.0, **changes: Any) -> Metric:
    """A boolean without segments, over all of the year."""
    return late(epsilon=epsilon, **{"name": name, "starts": STARTS, "expires": EXPIRES, **changes})


def mean(name: str, *, epsilon: float = 1.0, upper: int = 480, **changes: Any) -> Metric:
    """A memoised mean without segments, over all of the year; `upper` in steps above `lower`."""
    known = {"name": name, "starts": STARTS, "expires": EXPIRES, "dimensions": ()}
    return minutes(epsilon=epsilon, upper=upper, **{**known, **changes})


def arriving(metric: Metric, window: int, n: int, truth: float, segment: str = "") -> list[Report]:
    """What n devices send of which `truth` is the mean."""
    mechanism = of_metric(metric)
    assert isinstance(mechanism, Coin)
    draw = np.random.default_rng([*metric.name.encode(), metric.version, window, len(segment)])
    ones = draw.random(n) < float(mechanism.line.rate(truth))
    where, start = key(metric, window), 100_000 * metric.segments.index(segment)
    return [Report(where, start + i, segment, "80" if one else "00") for i, one in enumerate(ones)]


def fill(store: Store, metric: Metric, coming: Iterable[Iterable[Report]]) -> None:
    store.accept(lock(metric, collection="browser-test"))
    reports = [report for some in coming for report in some]
    assert set(store.write(reports)) <= {"accepted"}


def full(store: Store) -> None:
    """Ninety days of a mean in segments and two versions and of a boolean; weeks; hours."""
    old = mean(
        "editor.minutes",
        dimensions=CHANNELS,
        expires="2026-05-01",
        description="Minutes the editor was in front, per installation and day",
        purpose="Decide which platform to speed up first",
    )
    new = replace(mean("editor.minutes", epsilon=2.0, dimensions=CHANNELS), version=2, starts="2026-05-01")
    new = replace(new, description=old.description, purpose=old.purpose)
    for metric in (old, new):
        days = [day for day in range(FIRST, TODAY) if day in metric.life]
        fill(store, metric, (arriving(metric, day, 900, _weekly(day), "stable") for day in days))
        fill(store, metric, (arriving(metric, day, 350, 0.8 * _weekly(day), "beta") for day in days))
    crashed = yes_no(
        "editor.crashed",
        description="Whether the editor crashed at least once, per installation and day",
        purpose="Hold back a release that crashes more often than the one before it",
    )
    crashed_days = range(FIRST, TODAY)
    fill(store, crashed, (arriving(crashed, day, 1500, 0.12 + 0.1 * (day % 30 == 11)) for day in crashed_days))
    weekly = mean("editor.focus", window="week", upper=2400, unit="min", description="Minutes of focus in a week")
    weeks = range(weekly.windows.index(NOW) - 12, weekly.windows.index(NOW))
    fill(store, weekly, (arriving(weekly, week, 3000, 700 + 60 * (week % 5)) for week in weeks))
    hourly = mean("editor.typed", window="hour", upper=1000, unit="keys", grace=DAY, description="Keys in an hour")
    hours = range(hourly.windows.index(NOW) - 72, hourly.windows.index(NOW) + 1)
    fill(store, hourly, (arriving(hourly, hour, 600, 300 + 250 * np.sin(hour / 24 * 2 * np.pi)) for hour in hours))


def empty(store: Store) -> None:
    """Nothing at all: a store that no lock was given to."""


def silent(store: Store) -> None:
    """Metrics of which no report ever came; one has not begun, one is over."""
    waiting = mean("editor.minutes", description="Minutes the editor was in front, per installation and day")
    later = yes_no("editor.later", starts="2026-09-01", description="Begins in September")
    over = yes_no("editor.over", expires="2026-02-01", description="Was over before a report came")
    store.accept(lock(waiting, later, over, collection="browser-test"))


def states(store: Store) -> None:
    """Each state alone and all of them in one chart; zeros, which are none of them."""
    few = mean("state.suppressed", description="Fewer reports than min_reports on each day")
    fill(store, few, (arriving(few, day, 60, 200) for day in range(TODAY - 30, TODAY - 14)))
    wide = mean("state.too_uncertain", min_reports=10, epsilon=0.5, description="A dozen reports on each day")
    fill(store, wide, (arriving(wide, day, 12, 200) for day in range(TODAY - 30, TODAY)))
    fresh = mean("state.open", description="Nothing has ended yet")
    fill(store, fresh, [arriving(fresh, TODAY, 250, 200)])
    soon = yes_no("state.provisional", description="All days are within their grace")
    fill(store, soon, (arriving(soon, day, 1000, 0.4) for day in range(TODAY - 7, TODAY)))
    never = yes_no("state.zero", description="Nobody, on any day; noise makes some estimates negative")
    fill(store, never, (arriving(never, day, 2000, 0.0) for day in range(TODAY - 40, TODAY)))
    always = yes_no("state.one", description="Everybody, on every day")
    fill(store, always, (arriving(always, day, 2000, 1.0) for day in range(TODAY - 40, TODAY)))
    single = mean("state.single", unit="min", description="One day that is final, then silence")
    fill(store, single, [arriving(single, TODAY - 20, 1000, 200)])
    mixed = mean("state.mixed", min_reports=10, description="All states in one chart")
    counts = [1500, 1500, 0, 0, 5, 12, 1500, 0, 7, 1500, 14, 1500, 800, 0, 0, 1500, 20, 700, 7, 1500, 0, 1500]
    days = zip(range(TODAY - len(counts) + 1, TODAY + 1), counts, strict=True)
    fill(store, mixed, (arriving(mixed, day, n, 200) for day, n in days if n))


def ranges(store: Store) -> None:
    """Figures of every size, and below zero."""
    for name, unit, lower, step, upper, share in (
        ("range.tiny", "s", 0, 1, 1000, 0.3),  # [0, 0.001] in millionths
        ("range.huge", "bytes", 0, 1_000_000 * MILLION, 4000, 0.4),  # [0, 4e9]
        ("range.below", "°C", -40 * MILLION, MILLION // 10, 800, 0.35),  # [-40, 40]
        ("range.far", "", 1_000_000 * MILLION, MILLION, 10, 0.5),  # [1000000, 1000010]
        ("range.bit", "%", 0, 100 * MILLION, 1, 0.5),  # 0 or 100
    ):
        metric = mean(name, unit=unit, lower=lower, step=step, upper=upper, description=f"In {unit or 'no unit'}")
        low, high = of_metric(metric).bounds
        truth = low + share * (high - low)
        fill(store, metric, (arriving(metric, day, 1000, truth) for day in range(TODAY - 20, TODAY)))


def hostile(store: Store) -> None:
    """Texts that want to be more than text, or are longer than anybody expects."""
    plain = ("hostile.script", "hostile.quotes", "hostile.tongues", "hostile.endless")
    for name, text in zip(plain, (SCRIPT, QUOTES, TONGUES, ENDLESS), strict=True):
        metric = mean(name, unit=text[:32], description=text, purpose=text[::-1] + text, owners=(text[:254],))
        metric = replace(metric, purpose=metric.purpose[:1000])
        fill(store, metric, (arriving(metric, day, 1000, 200) for day in range(TODAY - 20, TODAY)))
    cells = tuple(f"{i:02}" + "x" * 62 for i in range(8))
    longest = mean(
        "a" * 32 + "." + "b" * 31,
        dimensions=(("d" * 32, cells), ("e" * 32, cells)),
        unit="W" * 32,
        description="The longest name, with sixty-four segments of the longest labels",
    )
    days = range(TODAY - 3, TODAY)
    fill(store, longest, (arriving(longest, day, 110, 200, longest.segments[i]) for day in days for i in (0, 63)))


KINDS = """
schema = "hubbub.registry/1"
collection = "browser-test"
[metrics."kinds.choice"]
kind = "choice"
categories = ["cold", "warm", "hot", "left out by most people"]
description = "How the program was started"
epsilon = 1.0
[metrics."kinds.histogram"]
kind = "histogram"
lower = 0
upper = 80
buckets = 8
unit = "ms"
report_every = 5
description = "Delay of the first answer, by panels of five"
strategy = "fresh"
epsilon = 1.0
[metrics."kinds.vector"]
kind = "vector"
dimension = 3
norm = 1
coordinates = ["speed", "size", "care"]
description = "What people like, from -1 to 1"
strategy = "fresh"
epsilon = 2.0
[metrics."kinds.words"]
kind = "words"
mechanism = "hcms"
strategy = "fresh"
description = "Commands that were typed"
epsilon = 2.0
[metrics."kinds.active"]
kind = "mean"
active = true
lower = 0
upper = 60
unit = "min"
description = "Minutes of those who used it at all"
epsilon = 2.0
presence = "hidden"
"""
COMMON = f"""
version = 1
purpose = "Show each kind"
owners = ["telemetry@example.org"]
starts = {STARTS}
expires = {EXPIRES}
"""


def kinds(store: Store) -> None:
    """A metric of every kind that is neither a yes nor a plain mean."""
    text = KINDS.replace('"]\nkind', f'"]{COMMON}kind')
    built = build(loads(text.encode(), "metrics.toml"))
    store.accept(built)
    for name, metric in built.metrics.items():
        mechanism, rng = of_metric(metric), np.random.default_rng([*name.encode()])
        values = as_rows(mechanism.encoder, np.minimum(rng.geometric(0.5, 400), mechanism.encoder.size) - 1)
        source = GeneratorWords(rng)
        for day in range(TODAY - 20, TODAY):
            found = mechanism.randomise(values, source).tolist()
            payloads = (pack(tuple(one), metric.encoder.radices) for one in found)
            where = key(metric, day)
            assert set(store.write([Report(where, i, "", one) for i, one in enumerate(payloads)])) <= {"accepted"}


AMONG = """
schema = "hubbub.registry/1"
collection = "browser-test"
[metrics."editor.review"]
kind = "mean"
active = true
lower = 0
upper = 240
unit = "min"
description = "Minutes of reviewing, per installation and day"
epsilon = 4.0
dimensions.channel = ["stable", "beta"]
"""


def among(store: Store) -> None:
    """A mean among those that recorded anything; on some days it cannot be given, for one reason each."""
    mean, share = build(loads(AMONG.replace('"]\nkind', f'"]{COMMON}kind').encode(), "metrics.toml")).metrics.values()
    odd = {TODAY - 20: (0, 0.0), TODAY - 17: (60, 0.4), TODAY - 12: (400, 0.01), TODAY - 11: (400, 0.01)}
    for metric, whole in ((mean, 110), (share, 1)):
        days = [(day, *odd.get(day, (3000, 0.5 - 0.3 * ((day + 3) % 7 > 4)))) for day in range(TODAY - 45, TODAY)]
        fill(store, metric, (arriving(metric, day, n, whole * active, "stable") for day, n, active in days))
        fill(store, metric, (arriving(metric, day, n // 4, whole * active, "beta") for day, n, active in days))


def many(store: Store) -> None:
    """Three hundred metrics with a fortnight each."""
    some = [yes_no(f"many.metric_{i:03}", description=f"The metric number {i} of three hundred") for i in range(300)]
    store.accept(lock(*some, collection="browser-test"))
    reports = (arriving(metric, day, 100, 0.3) for metric in some for day in range(TODAY - 16, TODAY - 13))
    store.write([report for coming in reports for report in coming])


SEEDS: dict[str, Callable[[Store], None]] = {
    made.__name__: made for made in (full, empty, silent, states, ranges, kinds, among, hostile, many)
}


def make(name: str, folder: Path, *, dev: bool = False) -> Seed:
    """The seed of this name, as a store in the folder."""
    path = folder / f"{name}.db"
    with open_store(path, dev=dev) as store:
        SEEDS[name](store)
        return Seed(name, path, tuple(sorted({entry.metric.name for entry in store.locks()})))


def _weekly(day: int) -> float:
    """Minutes on a working day or at a weekend, slowly rising; days count from a Thursday."""
    return (210 if (day + 3) % 7 < 5 else 90) + 0.4 * (day - FIRST)
