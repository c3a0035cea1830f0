"""What goes wrong in systems like this one, where estimates are read: open windows, few reports, gaps."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from hubbub.estimates import period, rows
from hubbub.lock import Metric
from hubbub.mechanisms import of_metric
from hubbub.mechanisms.coin import Coin
from hubbub.store import Store, open_store
from tests.unit.collecting import DAY, FIRST, GRACE, end, late, lock, stored

WEEK = {"metric": "flight.late", "start": FIRST * DAY, "end": (FIRST + 7) * DAY}
CLOSED = end(FIRST + 6) + GRACE


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(tmp_path / "store.db") as store:
        yield store


def a_week(store: Store, metric: Metric, reports: int, ones: int) -> None:
    store.accept(lock(metric))
    for day in range(7):
        store.write(stored(metric, reports, ones=ones, window=FIRST + day))


def test_asking_for_an_open_window_is_no_error(store: Store) -> None:
    """D6: it has a row with its state, the number of reports in steps, and no figures."""
    metric = late()
    store.accept(lock(metric))
    store.write(stored(metric, 250, ones=100))
    (row,) = rows(store, now=end(FIRST) - 3600, metric="flight.late")
    assert (row.state, row.n, row.value, row.ci_low) == ("open", 200, None, None)


def test_repetition_passes_no_threshold(store: Store) -> None:
    """D8: seven days of 20 reports are 20 devices, and stay below min_reports = 100."""
    a_week(store, late(), 20, 8)
    found = period(store, now=CLOSED, **WEEK)  # type: ignore[arg-type]
    assert (found.state, found.windows, found.n, found.n_effective) == ("suppressed", 7, 140, 20)
    assert found.value is found.se is found.ci_low is None


def test_a_slow_stream_of_panels_is_not_lost(store: Store) -> None:
    """D8: where each device reports once a week they are 140 devices; the week is shown, each day is suppressed."""
    metric = late(report_every=7, epsilon=2.0)
    a_week(store, metric, 20, 8)
    days = rows(store, now=CLOSED, metric="flight.late", end=(FIRST + 7) * DAY)
    assert [row.state for row in days] == ["suppressed"] * 7
    found = period(store, now=CLOSED, **WEEK)  # type: ignore[arg-type]
    assert (found.state, found.windows, found.n, found.n_effective) == ("final", 7, 140, 140)
    mechanism = of_metric(metric)
    assert isinstance(mechanism, Coin)
    assert found.value is not None
    assert found.value == pytest.approx((8 / 20 - mechanism.line.q) / (mechanism.line.p - mechanism.line.q))
    # 140 different people are one crowd.
    assert found.se == pytest.approx(float(mechanism.variance(found.value, 140)) ** 0.5)
    assert period(store, now=CLOSED, **(WEEK | {"end": (FIRST + 4) * DAY})).state == "suppressed"  # type: ignore[arg-type]


def test_longer_than_a_turn_nobody_counts_twice(store: Store) -> None:
    metric = late(report_every=2)
    a_week(store, metric, 60, 25)
    found = period(store, now=CLOSED, **WEEK)  # type: ignore[arg-type]
    assert (found.n, found.n_effective) == (420, 120)


@pytest.mark.parametrize(
    ("counts", "every", "devices"),
    [
        ([100] * 7, 1, 100),
        ([100] * 7, 7, 700),
        ([20] * 7, 7, 140),
        ([20, 30, 41], 2, 60),  # (20 + 41) / 2 and 30, rounded down
        ([100, 0, 0, 0, 0, 0, 0, 100], 7, 100),  # twice the same devices
        ([100, 0, 0, 0, 0, 0, 90, 100], 7, 190),
        ([100] * 10, 7, 700),
        ([100, 1, 1, 1, 1, 1, 1, 100], 7, 106),
    ],
)
def test_devices_are_counted_once_for_each_turn(store: Store, counts: list[int], every: int, devices: int) -> None:
    metric = late(report_every=every)
    store.accept(lock(metric))
    for day, n in enumerate(counts):
        store.write(stored(metric, n, ones=n // 2, window=FIRST + day))
    asked = WEEK | {"end": end(FIRST + len(counts) - 1)}
    found = period(store, now=end(FIRST + 10) + GRACE, **asked)  # type: ignore[arg-type]
    assert (found.n, found.n_effective) == (sum(counts), devices)
    assert (found.state == "suppressed") is (devices < 100)


def test_nothing_little_and_zero_are_three_things(store: Store) -> None:
    """G1: no reports, too few of them and a true zero are told apart, and none is filled in from its neighbours."""
    metric = replace(late(epsilon=2.0), min_reports=100)
    store.accept(lock(metric))
    zero = round(2000 * float(metric.encoder.law(0)[(1,)]))
    for day, (n, ones) in enumerate([(2000, 900), (0, 0), (40, 20), (2000, zero), (2000, 900)]):
        store.write(stored(metric, n, ones=ones, window=FIRST + day))
    found = rows(store, now=end(FIRST + 4) + GRACE, metric="flight.late", end=(FIRST + 5) * DAY)
    assert [(row.state, row.n) for row in found] == [
        ("final", 2000),
        ("empty", 0),
        ("suppressed", 40),
        ("final", 2000),
        ("final", 2000),
    ]
    assert [row.value is None for row in found] == [False, True, True, False, False]
    assert found[3].value == pytest.approx(0, abs=1e-3)
    mean = period(store, now=end(FIRST + 4) + GRACE, metric="flight.late", end=(FIRST + 2) * DAY)
    assert (mean.windows, mean.left_out) == (1, 1)
    assert mean.value == found[0].value


def test_summaries_of_different_windows_are_not_added(store: Store) -> None:
    """A mean of days weighs days, not reports; one summary of both days would weigh reports."""
    metric = late()
    store.accept(lock(metric))
    for day, (n, ones) in enumerate([(9000, 3000), (1000, 700)]):
        store.write(stored(metric, n, ones=ones, window=FIRST + day))
    found = period(store, now=CLOSED, metric="flight.late", end=(FIRST + 2) * DAY)
    values = [row.value for row in rows(store, now=CLOSED, metric="flight.late", end=(FIRST + 2) * DAY)]
    assert found.value == pytest.approx(np.mean(values))  # type: ignore[arg-type]
