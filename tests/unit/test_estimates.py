"""Rows: what they say at each moment of a window's life, and what they never give away."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import msgspec
import numpy as np
import pytest

from hubbub.errors import ParameterError
from hubbub.estimates import Costs, Row, metrics, rows
from hubbub.lock import Metric
from hubbub.mechanisms import Summary, of_metric
from hubbub.store import Store, open_store
from hubbub.windows import iso
from tests.unit.collecting import DAY, EXPIRES, FIRST, GRACE, end, late, lock, minutes, stored

FIGURES = ("value", "se", "se_shared", "ci_low", "ci_high", "method", "tidied")
ENDED, CLOSED = end(FIRST), end(FIRST) + GRACE


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(tmp_path / "store.db") as store:
        yield store


def fill(store: Store, metric: Metric, n: int, ones: int, window: int = FIRST, segment: str = "") -> None:
    store.accept(lock(metric))
    store.write(stored(metric, n, ones=ones, window=window, segment=segment))


def the(store: Store, now: float) -> Row:
    """The row of the first window."""
    found = [row for row in rows(store, now=now) if row.window_start == "2026-12-01T00:00:00Z"]
    assert len(found) == 1
    return found[0]


def test_fields_stand_as_they_are_promised() -> None:
    promised = """metric version hash window_start window_end segment category state n n_effective value se se_shared
        ci_low ci_high level method tidied epsilon permanent_epsilon manipulation_per_percent"""
    assert " ".join(Row.__struct_fields__) == " ".join(promised.split())


def test_a_row_is_the_mechanism_s_estimate(store: Store) -> None:
    metric = minutes(grace=GRACE // 2, min_reports=50)
    fill(store, metric, 4000, 1800, segment="stable")
    stable = next(row for row in rows(store, now=CLOSED) if row.segment == "stable")
    estimate = of_metric(metric).estimate(Summary(4000, np.array(1800, np.int64)))
    low, high = estimate.interval(0.95)
    assert msgspec.to_builtins(stable) == {
        "metric": "editor.minutes",
        "version": 1,
        "hash": metric.hash[:32],
        "window_start": "2026-12-01T00:00:00Z",
        "window_end": "2026-12-02T00:00:00Z",
        "segment": "stable",
        "category": None,
        "state": "final",
        "n": 4000,
        "n_effective": 4000,
        "value": float(estimate.value),
        "se": float(estimate.se),
        "se_shared": float(estimate.se_shared),
        "ci_low": float(low),
        "ci_high": float(high),
        "level": 0.95,
        "method": "wilson",
        "tidied": float(estimate.value),
        "epsilon": 1.0,
        "permanent_epsilon": 2.0,
        "manipulation_per_percent": pytest.approx(0.01 * 480 / np.tanh(0.5), rel=1e-6),
    }


def test_prices_are_the_device_s_rounded_up(store: Store) -> None:
    fresh, memoised = late(epsilon=0.7), minutes(epsilon=0.3)
    fill(store, fresh, 1, 0)
    fill(store, memoised, 1, 0, segment="beta")
    found = {row.metric: (row.epsilon, row.permanent_epsilon) for row in rows(store, now=CLOSED)}
    assert found == {"flight.late": (0.7, None), "editor.minutes": (0.3, 0.6)}
    assert fresh.prices.report <= 0.7


@pytest.mark.parametrize(
    ("n", "now", "state", "shown"),
    [
        (150, ENDED - 300, "open", 100),  # a device's clock may run ten minutes ahead
        (150, ENDED - 1, "open", 100),
        (150, ENDED, "provisional", 100),
        (99, ENDED, "open", 0),
        (99, CLOSED - 1, "open", 0),
        (99, CLOSED, "suppressed", 99),
        (100, ENDED, "provisional", 100),
        (199, CLOSED - 1, "provisional", 100),
        (199, CLOSED, "final", 199),
        (350, CLOSED - 0.5, "provisional", 300),
        (350, CLOSED, "final", 350),
    ],
)
def test_states(store: Store, n: int, now: float, state: str, shown: int) -> None:
    fill(store, late(epsilon=3), n, n // 2)
    row = the(store, now)
    assert (row.state, row.n, row.n_effective) == (state, shown, shown)
    withheld = [name for name in FIGURES if getattr(row, name) is None]
    assert withheld == (list(FIGURES) if state in ("open", "suppressed") else [])


@pytest.mark.parametrize("now", [ENDED, CLOSED])
@pytest.mark.parametrize(("n", "certain"), [(10, False), (1000, True)])
def test_an_interval_wider_than_the_range_says_nothing(store: Store, now: float, n: int, certain: bool) -> None:
    for metric in (late(min_reports=10), minutes(min_reports=10)):
        fill(store, metric, n, n // 2, segment=metric.segments[0])
        row = next(r for r in rows(store, now=now, metric=metric.name) if r.n)
        assert row.ci_low is not None
        assert row.ci_high is not None
        assert (row.ci_high - row.ci_low <= (480 if metric.kind == "mean" else 1)) == certain
        state = "final" if now == CLOSED else "provisional"
        assert row.state == (state if certain else "too_uncertain")


def test_tidied_is_clipped_and_the_value_is_not(store: Store) -> None:
    for metric, top in ((late(), 1.0), (minutes(), 480.0)):
        for window, ones in ((FIRST, 0), (FIRST + 1, 1000)):
            fill(store, metric, 1000, ones, window=window, segment=metric.segments[0])
        low, high = (row for row in rows(store, now=CLOSED + DAY, metric=metric.name) if row.n)
        assert low.value is not None
        assert high.value is not None
        assert low.value < 0 == low.tidied
        assert high.value > top == high.tidied


def test_polling_never_shows_a_single_report(store: Store) -> None:
    metric = late(epsilon=3)
    store.accept(lock(metric))
    order = np.random.default_rng(1).permutation(1000)
    seen: list[Row] = []
    for number in range(1000):
        store.write([stored(metric, 1, start=int(order[number]), ones=number % 3 == 0)[0]])
        now = ENDED - 1 if number < 300 else ENDED if number < 700 else CLOSED - 1
        row = the(store, now)
        if not seen or seen[-1] != row:
            seen.append(row)
    # A new row only where another hundred is full, and where the window ends.
    assert [row.n for row in seen] == [0, 100, 200, 300, 300, 400, 500, 600, 700, 800, 900, 1000]
    assert [row.state for row in seen] == ["open"] * 4 + ["provisional"] * 8


def test_rows_of_windows_without_reports(store: Store) -> None:
    metric = late(epsilon=3)
    fill(store, metric, 200, 90, window=FIRST + 2)
    fill(store, metric, 200, 90, window=FIRST + 4)
    found = rows(store, now=end(FIRST + 5) + GRACE)
    assert [(row.window_start[:10], row.state, row.n) for row in found[:5]] == [
        ("2026-12-03", "final", 200),
        ("2026-12-04", "empty", 0),
        ("2026-12-05", "final", 200),
        ("2026-12-06", "empty", 0),
        ("2026-12-07", "open", 0),  # ended, but reports may still come
    ]
    assert found[-1].window_end == "2026-12-21T00:00:00Z"  # the last that has ended
    assert {row.state for row in found[5:]} == {"open"}
    assert all(getattr(row, name) is None for row in found if row.state != "final" for name in FIGURES)
    assert all(row.manipulation_per_percent == found[0].manipulation_per_percent for row in found)


def test_no_rows_outside_the_metric_s_life(store: Store) -> None:
    fill(store, late(), 1, 0, window=FIRST + 20)
    found = rows(store, now=end(FIRST) + 400 * DAY)
    assert [found[0].window_start[:10], found[-1].window_end[:10]] == ["2026-12-21", EXPIRES]
    assert [row.state for row in found] == ["suppressed"] + ["empty"] * 10


def test_every_declared_segment_has_its_row(store: Store) -> None:
    fill(store, minutes(), 1, 0, segment="beta")
    found = rows(store, now=end(FIRST + 1) + GRACE)
    assert [(row.window_start[8:10], row.segment, row.state) for row in found[:4]] == [
        ("01", "beta", "suppressed"),
        ("01", "stable", "empty"),
        ("02", "beta", "empty"),
        ("02", "stable", "empty"),
    ]


def test_segments_of_every_definition_have_their_row(store: Store) -> None:
    split = minutes(expires="2026-12-02")
    fill(store, split, 1, 0, segment="beta")
    store.accept(lock(minutes(version=2, dimensions=())))
    found = rows(store, now=end(FIRST + 1) + GRACE)
    assert [(row.window_start[8:10], row.version, row.segment, row.state) for row in found[:4]] == [
        ("01", 2, "", "empty"),
        ("01", 2, "beta", "suppressed"),
        ("01", 2, "stable", "empty"),
        ("02", 2, "", "empty"),
    ]


def test_rows_of_versions(store: Store) -> None:
    first, text, other = late(), late(version=2, min_reports=10, expires="2026-12-10"), late(version=3, epsilon=2)
    for metric in (first, text, other):
        store.accept(lock(metric))
    store.write([r for w in (FIRST, FIRST + 9) for m in (first, other) for r in stored(m, 50, ones=20, window=w)])
    found = [row for row in rows(store, now=end(FIRST + 9) + GRACE) if row.n]
    assert (
        [(row.window_start[8:10], row.version, row.hash, row.state) for row in found]
        == [
            ("01", 2, first.hash[:32], "final"),  # the highest version with this encoding and window
            ("01", 3, other.hash[:32], "suppressed"),
            ("10", 1, first.hash[:32], "suppressed"),
            ("10", 3, other.hash[:32], "suppressed"),
        ]
    )
    assert [row.epsilon for row in found[:2]] == [1.0, 2.0]


def test_rows_of_one_metric(store: Store) -> None:
    fill(store, minutes(), 1, 0, segment="beta")
    fill(store, late(), 1, 0)
    assert {row.metric for row in rows(store, now=ENDED)} == {"editor.minutes", "flight.late"}
    assert {row.metric for row in rows(store, now=ENDED, metric="flight.late")} == {"flight.late"}
    with pytest.raises(ParameterError, match=r"metric must be one of editor\.minutes, flight\.late; got 'no\.such'"):
        rows(store, now=ENDED, metric="no.such")


@pytest.mark.parametrize(
    ("start", "end", "days"),
    [
        (FIRST + 1, FIRST + 3, [1, 2]),
        (FIRST + 0.01, FIRST + 2.99, [1]),  # windows count that lie wholly within
        (None, FIRST + 2, [0, 1]),
        (FIRST + 3, None, [3, 4]),
        (FIRST - 400, FIRST, []),
        (FIRST + 1.2, FIRST + 1.8, []),
        (FIRST + 2, FIRST + 2, []),
        (FIRST + 100, None, []),
    ],
)
def test_rows_between(store: Store, start: float | None, end: float | None, days: list[int]) -> None:
    metric = late()
    fill(store, metric, 150, 60)
    fill(store, metric, 150, 60, window=FIRST + 3)
    now = (FIRST + 5) * DAY
    found = rows(store, now=now, start=None if start is None else start * DAY, end=None if end is None else end * DAY)
    assert [row.window_start for row in found] == [iso((FIRST + day) * DAY) for day in days]
    assert [row.n for row in found] == [100 if day in (0, 3) else 0 for day in days]
    assert found == [row for row in rows(store, now=now) if row in found]


def test_a_start_after_the_end(store: Store) -> None:
    with pytest.raises(
        ParameterError, match="start must be at or before the end, 2026-12-01T00:00:00Z; got '2026-12-02"
    ):
        rows(store, now=ENDED, start=ENDED, end=ENDED - DAY)


def test_rows_of_one_segment(store: Store) -> None:
    fill(store, minutes(), 200, 60, segment="beta")
    fill(store, late(), 1, 0)
    found = rows(store, now=CLOSED, segment="stable")
    assert {(row.metric, row.segment, row.state) for row in found} == {
        ("editor.minutes", "stable", "empty"),
        ("editor.minutes", "stable", "open"),
    }
    assert [row.n for row in rows(store, now=ENDED, metric="editor.minutes", segment="beta")] == [200]
    assert rows(store, now=ENDED, metric="flight.late", segment="")
    with pytest.raises(ParameterError, match="segment must be one of 'beta', 'stable'; got 'gamma'"):
        rows(store, now=ENDED, metric="editor.minutes", segment="gamma")


def test_known_metrics(store: Store) -> None:
    assert metrics(store) == []
    first, text, second = minutes(), minutes(version=2, description="Better said"), minutes(version=3, epsilon=2)
    for metric in (first, text, late(), second):
        store.accept(lock(metric))
    store.accept(lock(minutes(min_reports=50)))  # the same version once more, with another text
    found = metrics(store)
    assert [(known.name, known.version) for known in found] == [
        ("editor.minutes", 3),
        ("editor.minutes", 2),
        ("editor.minutes", 1),
        ("flight.late", 1),
    ]
    assert [known.min_reports for known in found] == [100, 100, 50, 100]
    assert found[1].hash == found[2].hash == first.hash[:32]
    assert found[3].prices == Costs(1.0, 31.0, 1.0, 31.0)
    assert found[0].segments == ["stable", "beta"]
    assert found[0].dimensions == [("channel", ["stable", "beta"])]


def test_nothing_reported_yet(store: Store) -> None:
    assert rows(store, now=ENDED) == []
    store.accept(lock(late()))
    assert rows(store, now=ENDED) == []
    assert rows(store, now=ENDED, metric="flight.late") == []


def test_levels(store: Store) -> None:
    fill(store, late(), 1000, 400)
    narrow, wide = (rows(store, now=CLOSED, level=level)[0] for level in (0.5, 0.99))
    assert (narrow.level, wide.level) == (0.5, 0.99)
    assert wide.ci_low < narrow.ci_low < narrow.value < narrow.ci_high < wide.ci_high  # type: ignore[operator]
    assert narrow.se == wide.se
    for level in (0, 1, -1, 95, float("nan")):
        with pytest.raises(ParameterError, match=r"level must be a number in \(0, 1\)"):
            rows(store, now=CLOSED, level=level)


@pytest.mark.parametrize(("window", "length"), [("hour", 3600), ("week", 7 * DAY)])
def test_other_windows(store: Store, window: str, length: int) -> None:
    metric = late(window=window, grace=3600, min_reports=1, epsilon=8)
    first, start = metric.life.start, metric.windows.start(metric.life.start)
    fill(store, metric, 5, 2, window=first)
    found = rows(store, now=start + 3 * length)
    assert [(row.state, row.n) for row in found] == [("final", 5), ("empty", 0), ("open", 0)]
    assert [row.window_start for row in found] == [iso(start + i * length) for i in range(3)]
    assert [row.window_end for row in found] == [iso(start + i * length) for i in range(1, 4)]


def test_a_changed_min_reports_keeps_to_the_steps_it_finds(store: Store) -> None:
    metric = late(epsilon=3)
    fill(store, metric, 250, 100)
    store.accept(lock(replace(metric, version=2, min_reports=300)))
    assert (the(store, ENDED).state, the(store, ENDED).n) == ("open", 200)
    assert (the(store, CLOSED).state, the(store, CLOSED).n) == ("suppressed", 250)
