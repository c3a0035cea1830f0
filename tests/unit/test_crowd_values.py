"""What pretend devices say, what is recorded of it, and what is true of them."""

import math
import zlib
from collections import Counter
from typing import Any

import numpy as np
import pytest

from hubbub.client import Client, MemoryState, Response
from hubbub.client.reporter import form
from hubbub.client.state import Running
from hubbub.clock import ManualClock
from hubbub.encoders.vector import Coordinates
from hubbub.lock import AGGREGATES, MILLION, NONE, Lock, Metric
from hubbub.mechanisms import of_metric
from hubbub.replay.events import MOST, calls
from hubbub.replay.pretend import Habits, habits
from hubbub.replay.truths import Truth, truths
from hubbub.replay.vocabulary import MADE, made
from tests.unit.collecting import FIRST, late, lock, minutes
from tests.unit.crowd_support import NAMES, everything

MONDAY = FIRST + 6  # 2026-12-07
AMONG = "among active"
ALL = everything()


def of(name: str, devices: int = 2000, seed: int = 0, within: Lock = ALL, words: tuple[str, ...] = ()) -> Habits:
    return habits(within, within.metrics[f"app.{name}"], devices, seed, words)


def numbers(metric: Metric, window: int, devices: int = 2000, seed: int = 0) -> Any:
    return np.asarray(habits(lock(metric), metric, devices, seed).said(window).values, float)


@pytest.mark.parametrize("name", sorted(ALL.metrics))
def test_values_follow_from_seed_metric_and_window_alone(name: str) -> None:
    metric = ALL.metrics[name]

    def said(window: int, seed: int = 3, before: int | None = None) -> list[Any]:
        one = habits(ALL, metric, 50, seed)
        if before is not None:
            one.said(before)
        found = one.said(window)
        return [*found.values.tolist(), found.recorded.tolist()]

    monday = said(MONDAY)
    assert said(MONDAY, before=MONDAY + 1) == monday
    assert said(MONDAY, seed=4) != monday
    assert said(MONDAY + 1) != monday


def test_metrics_have_values_of_their_own() -> None:
    by_key: dict[int, str] = {}
    for name in ("boolean.any", "boolean.all", "boolean.last"):
        by_key.setdefault(zlib.crc32(of(name, 64).said(MONDAY).values.tobytes()), name)
    assert len(by_key) == 3


def test_a_device_keeps_to_its_habit_and_all_of_them_to_the_week() -> None:
    """Fixed seeds: what passes once passes always; the bounds leave room for another seed."""
    for metric in (late(), minutes()):
        monday, tuesday = numbers(metric, MONDAY), numbers(metric, MONDAY + 1)
        assert 0.3 < np.corrcoef(monday, tuesday)[0, 1] < 0.95
        assert numbers(metric, MONDAY + 6).mean() < 0.75 * monday.mean()  # Sunday
    hours = late(window="hour")
    night, day = MONDAY * 24 + 3, MONDAY * 24 + 15
    assert numbers(hours, night).mean() < 0.5 * numbers(hours, day).mean()
    weeks = [numbers(late(window="week"), week).mean() for week in range(2970, 2976)]
    assert max(weeks) < 1.4 * min(weeks)


def test_a_share_is_neither_rare_nor_everywhere() -> None:
    values = of("boolean.any").said(MONDAY).values
    assert values.dtype == bool
    assert 0.2 < values.mean() < 0.6


def test_a_mean_lies_in_its_range_on_its_grid_and_sometimes_above() -> None:
    metric = minutes(lower=-60_000_000, step=500_000)  # -60 to 180 in halves
    low, high = of_metric(metric).bounds
    assert (low, high) == (-60, 180)
    values = numbers(metric, MONDAY)
    assert values.min() >= low
    assert ((values * 2) % 1 == 0).all()
    assert 0.005 < (values > high).mean() < 0.15
    assert 0.15 < (values.mean() - low) / (high - low) < 0.6


def test_a_histogram_spreads_over_its_range_and_sometimes_beyond() -> None:
    values = of("histogram.sum").said(MONDAY).values
    assert set(np.floor(values / 5).tolist()) > set(range(8))
    assert 0.005 < (values > 40).mean() < 0.15


@pytest.mark.parametrize("kind", ["mean", "histogram"])
def test_counts_are_whole_and_shares_are_of_few_events(kind: str) -> None:
    counts = of(f"{kind}.count").said(MONDAY).values
    assert (counts == np.floor(counts)).all()
    assert (counts >= 0).all()
    shares = of(f"{kind}.share").said(MONDAY).values
    few = {part / events for events in range(1, 9) for part in range(events + 1)}
    assert 8 < len(set(shares.tolist())) <= len(few)
    assert set(shares.tolist()) <= few


def test_labels_are_the_rarer_the_later_they_stand() -> None:
    found = of("choice.last", 5000).said(MONDAY)
    shares = np.bincount(found.values, minlength=5) / 5000
    assert shares[1:].tolist() == sorted(shares[1:], reverse=True)
    assert 0.03 < shares[0] < 0.15
    assert (found.recorded == (found.values > 0)).all()


@pytest.mark.parametrize("name", ["choice.last", "words.last"])
def test_a_label_is_kept_for_weeks(name: str) -> None:
    devices = of(name, 5000)

    def kept(window: int, later: int) -> float:
        one, other = devices.said(window), devices.said(later)
        both = one.recorded & other.recorded
        return float((one.values == other.values)[both].mean())

    each = [kept(window, window + 1) for window in range(MONDAY, MONDAY + 60)]
    assert 0.95 < min(each) <= max(each) < 1  # and no window in which many change
    assert kept(MONDAY, MONDAY + 100) < 0.6


def test_made_words_are_short_and_different() -> None:
    words = made(0)
    assert len(set(words)) == len(words) == MADE
    assert all(word.isascii() and word.isalpha() and word.islower() and len(word) == 6 for word in words)
    assert made(0) == words != made(1)


def test_words_of_ones_own_are_the_rarer_the_later_they_stand() -> None:
    own = ("mine", "yours", "his", "hers", "ours")
    devices = of("words.last", 5000, words=own)
    told = Counter(devices.told(devices.said(MONDAY).values))
    assert [word for word, _ in told.most_common() if word] == list(own)
    made_up = of("words.last", 5000)
    commonest = Counter(made_up.told(made_up.said(MONDAY).values)).most_common(2)
    assert {word for word, _ in commonest} == set(made(0)[:2])


def test_vectors_lie_on_their_grid_within_the_norm() -> None:
    metric = ALL.metrics["app.vector.sum"]
    values = of("vector.sum", 3000).said(MONDAY).values
    assert values.shape == (3000, 3)
    assert np.abs(values).max() <= 2
    lower, step = metric.lower / MILLION, metric.step / MILLION
    assert (lower + step * of_metric(metric).index(values) == values).all()
    means = values.mean(axis=0)
    assert len(set(np.round(means, 1).tolist())) == 3
    assert (values.std(axis=0) > 0.2).all()


def test_some_devices_have_nothing_to_record_where_a_second_report_tells() -> None:
    found = of("active").said(MONDAY)
    assert 0.5 < found.recorded.mean() < 0.95
    assert (found.values[~found.recorded] == 0).all()
    assert found.values[found.recorded].mean() > 5
    share = of("active.active").said(MONDAY)
    assert (share.values == found.recorded).all()
    assert not share.recorded.any()
    alone = lock(ALL.metrics["app.active"])
    assert of("active", within=alone).said(MONDAY).recorded.all()


# What is recorded


class Nowhere:
    def post(self, body: bytes, timeout: float) -> Response:
        raise AssertionError


def held(name: str, recorded: list[tuple[bool, Any]]) -> int:
    """The encoder's value of a window on a client that recorded this."""
    metric = ALL.metrics[f"app.{name}"]
    state, clock = MemoryState(), ManualClock(metric.windows.start(MONDAY) - 1.0)
    options: dict[str, Any] = {"state": state, "clock": clock, "transport": Nowhere(), "policy": "research"}
    client = Client(lock(metric), "http://127.0.0.1", background=False, in_ci=True, **options)
    clock.set(metric.windows.start(MONDAY) + 1.0)
    client.tick()
    for whole, value in recorded:
        (client.set if whole else client.add)(metric.name, value)
    assert client.counters == {}
    sealed: list[Running] = []
    state.seal(metric.windows.end(MONDAY), lambda running: sealed.append(running))
    (window,) = sealed
    return form(metric).index(form(metric).null if window.value is None else window.value)


def wanted(metric: Metric, devices: Habits) -> list[tuple[Any, bool, int]]:
    """For each device what it has to say, whether it recorded anything, and the encoder's value."""
    found = devices.said(MONDAY)
    told = list(devices.told(found.values))
    given: Any = found.values if metric.kind == "boolean" else told
    index = of_metric(metric).index(given).tolist()
    encoder = metric.encoder
    values = [encoder.value(one) for one in index] if isinstance(encoder, Coordinates) else index
    return list(zip(told, found.recorded.tolist(), values, strict=True))


@pytest.mark.parametrize("name", [name for name in NAMES if name != "active"])
def test_what_is_recorded_comes_to_the_value(name: str) -> None:
    metric, record = ALL.metrics[f"app.{name}"], calls(ALL.metrics[f"app.{name}"])
    several = 0
    for value, recorded, expected in wanted(metric, of(name, 40)):
        given = list(record(value)) if recorded else []
        several += len(given) > 1
        assert held(name, given) == expected
    assert several > 10


PAIRS = [
    (f"{kind}.{one}", f"{kind}.{other}")
    for kind, words in AGGREGATES.items()
    for one in words
    for other in words
    if one != other and "share" not in (one, other) and (one, other) != ("sum", "count")  # ones add up to their number
]


@pytest.mark.parametrize(("name", "other"), PAIRS)
def test_events_of_another_aggregate_come_to_another_value(name: str, other: str) -> None:
    """So the test above would see a metric that is taken for one of another aggregate."""
    metric, record = ALL.metrics[f"app.{name}"], calls(ALL.metrics[f"app.{other}"])
    said = [(value, expected) for value, recorded, expected in wanted(metric, of(name, 20)) if recorded]
    assert any(held(name, list(record(value))) != expected for value, expected in said)


def test_many_events_are_counted_by_one_call() -> None:
    record = calls(ALL.metrics["app.mean.count"])
    assert record(float(MOST)) == ((False, 1),) * MOST
    assert record(MOST + 1.0) == ((True, MOST), (False, 1))
    assert record(0.0) == ()
    assert [held("mean.count", list(record(float(n)))) for n in (0, MOST, MOST + 1, 40)] == [0, 40, 42, 80]


# What is true


def recount(devices: Habits, among: np.ndarray[Any, Any]) -> dict[str, list[float]]:
    """The same device by device: category, then the plain truth and that of clipped values."""
    metric, found = devices.metric, devices.said(MONDAY)
    told = [value for value, here in zip(devices.told(found.values), among, strict=True) if here]
    n = len(told)
    if metric.kind == "boolean":
        return {"": [sum(told) / n] * 2}
    if metric.kind == "mean":
        top = 1.0 if metric.aggregated == "share" else 40.0
        step = 0.01 if metric.aggregated == "share" else 0.5
        seen = [min(top, math.floor(value / step + 0.5) * step) for value in told]
        means = {"": [sum(told) / n, sum(seen) / n]}
        if metric.name == "app.active":
            active = [i for i, here in enumerate(found.recorded[among]) if here]
            means[AMONG] = [sum(part[i] for i in active) / len(active) for part in (told, seen)]
        return means
    if metric.kind == "vector":
        columns = zip(*told, strict=True)
        return {name: [sum(column) / n] * 2 for name, column in zip("xyz", columns, strict=True)}
    if metric.kind == "histogram":
        share = metric.aggregated == "share"
        top, wide = (1.0, 0.125) if share else (40.0, 5.0)
        shares = {}
        for i in range(8):
            ends = i * wide, (i + 1) * wide
            last = i == 7
            within = [ends[0] <= value and (value < ends[1] or (last and value <= top)) for value in told]
            seen_in = [ends[0] <= value and (value < ends[1] or last) for value in told]
            shares[f"{ends[0]:g} to {ends[1]:g}"] = [sum(within) / n, sum(seen_in) / n]
        return shares
    counts = Counter(told)
    names = [NONE, *metric.labels] if metric.kind == "choice" else [word for word in counts if word]
    return {name: [counts[name] / n] * 2 for name in names}


def plain(found: list[Truth]) -> dict[str, Any]:
    assert len({truth.category for truth in found}) == len(found)
    return {truth.category: pytest.approx([truth.raw, truth.clipped], abs=1e-9) for truth in found}


@pytest.mark.parametrize("name", NAMES)
def test_truth_is_a_plain_recount(name: str) -> None:
    devices = of(name, 400)
    for among in (np.ones(400, bool), np.arange(400) % 3 == 1):
        found = list(truths(devices, devices.said(MONDAY), among, second=name == "active"))
        assert recount(devices, among) == plain(found)


def test_truth_of_clipped_values_is_another() -> None:
    for name in ("mean.sum", "active"):
        devices = of(name)
        for truth in truths(devices, devices.said(MONDAY), np.ones(2000, bool), second=True):
            assert truth.raw > truth.clipped
    devices = of("histogram.sum")
    *_, last = truths(devices, devices.said(MONDAY), np.ones(2000, bool))
    assert last.category == "35 to 40"
    assert 0 < last.raw < last.clipped


def test_nobody_active_has_no_mean() -> None:
    devices = of("active", 200)
    idle = ~devices.said(MONDAY).recorded
    found = list(truths(devices, devices.said(MONDAY), idle, second=True))
    assert found == [Truth("", 0.0, 0.0)]
