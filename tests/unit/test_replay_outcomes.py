"""What is true, what arrives within grace, and whether an interval holds it."""

import msgspec
import pytest

from hubbub.estimates import Row
from hubbub.lock import Metric
from hubbub.replay import Outcome, Table, Truth
from hubbub.replay.outcomes import outcomes, told_by, truths
from hubbub.windows import iso
from hubbub.wire import TRAVELLING_HASH
from tests.unit.replay_support import REGISTRY, lock_of

LOCK = lock_of()


@pytest.mark.parametrize(
    ("low", "high", "holds", "holds_arrived"),
    [
        (0.1, 0.3, True, True),
        (0.2, 0.3, True, True),
        (0.21, 0.3, False, True),
        (0.1, 0.24, True, False),
        (0.1, 0.19, False, False),
        (None, None, None, None),
    ],
)
def test_an_interval_holds_the_truth_or_not(
    low: float | None, high: float | None, holds: bool | None, holds_arrived: bool | None
) -> None:
    outcome = Outcome("2026-03-02T00:00:00Z", Truth(0, None, 120, 0.9, 0.2, 100, 0.25), 100, "final", 0.25, low, high)
    assert (outcome.holds, outcome.holds_arrived) == (holds, holds_arrived)


def test_truths_are_of_values_as_they_are_and_as_the_metric_sees_them() -> None:
    metric = LOCK.metrics["app.minutes"]
    first = metric.life.start
    table = Table({first: {"a": -5.0, "b": 90.0, "c": 8.4}, first + 3: {"a": 30.0}})
    assert truths(table, metric, crowd=4) == [
        Truth(first, None, 12, (-5.0 + 90.0 + 8.4) / 3, 68 / 3, 12, 68 / 3),
        Truth(first + 3, None, 4, 30.0, 30.0, 4, 30.0),
    ]


def test_what_comes_back_later_than_grace_is_lost() -> None:
    lock = lock_of(REGISTRY.replace('window = "day"\n', 'window = "day"\ngrace = "2d"\n'))
    metric = lock.metrics["app.minutes"]
    first = metric.life.start
    # Grace of 2 days: window 0 ends at day 1 and can be reported before day 3. A device runs in the middle of a day.
    table = Table(
        {first: {"soon": 10.0, "late": 20.0, "never": 60.0}, first + 2: {"soon": 0.0}, first + 3: {"late": 0.0}}
    )
    found = truths(table, metric)
    assert [(truth.devices, truth.arrived, truth.clipped_arrived) for truth in found] == [
        (3, 1, 10.0),  # back at 2.5 days; at 3.5; at the end, 4.0
        (1, 1, 0.0),
        (1, 1, 0.0),
    ]
    assert [truth.arrived for truth in truths(table, metric, grace=False)] == [3, 1, 1]
    # The last moment: the end of grace itself is too late, as the collector has it.
    edge = Table({first: {"a": 1.0}, first + 2: {"b": 1.0}})  # a comes back as the table ends, at day 3
    assert [truth.arrived for truth in truths(edge, metric)] == [0, 1]
    assert truths(edge, metric)[0].clipped_arrived is None


def test_rows_of_another_encoding_are_left_out() -> None:
    metric = LOCK.metrics["app.minutes"]
    row = row_of(metric)
    other = msgspec.structs.replace(row, version=2, hash="0" * TRAVELLING_HASH, n=7)
    assert told_by([row, other], metric) == told_by([other, row], metric) == told_by([row], metric)
    assert [n for n, *_ in told_by([row], metric).values()] == [120]


def row_of(metric: Metric) -> Row:
    """A row of the metric's first window."""
    start, end = (iso(metric.windows.start(metric.life.start + day)) for day in range(2))
    name, code = metric.name, metric.hash[:TRAVELLING_HASH]
    known = (name, 1, code, start, end, "", None, "final", 120, 120, 9.0, 1.0, 0.0, 7.0, 11.0)
    return Row(*known, 0.95, "score", 9.0, 2.0, None, 0.1)


def test_segments_stand_before_their_sum() -> None:
    metric = LOCK.metrics["app.split"]
    first = metric.life.start
    cells = {"a": "stable/mac", "b": "beta/linux", "c": "stable/mac"}
    table = Table({first: {"a": 1.0, "b": 0.0, "c": 0.0}}, cells)
    found = truths(table, metric)
    assert [(truth.segment, truth.devices, truth.raw) for truth in found] == [
        ("stable/mac", 2, 0.5),
        ("beta/linux", 1, 0.0),
        (None, 3, pytest.approx(1 / 3)),
    ]
    assert told_by([], metric) == {}
    assert {outcome.state for outcome in outcomes({}, found, metric)} == {"empty"}
