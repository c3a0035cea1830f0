"""Single reports: what is accepted, and the code of everything that is not."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.types import ASGIApp

from hubbub.clock import ManualClock
from hubbub.collector import create_app
from hubbub.store import Report, Store, check, open_store
from tests.unit.collecting import DAY, FIRST, GRACE, LAST, ask, body, end, key, late, lock, minutes, post, sent


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(tmp_path / "store.db") as store:
        yield store


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(end(FIRST + 2))


@pytest.fixture
def app(store: Store, clock: ManualClock) -> ASGIApp:
    return create_app(store, [lock(minutes(), late())], clock=clock)


def test_a_report_is_stored_as_it_came(app: ASGIApp, store: Store) -> None:
    answer = post(app, body(sent(minutes(), id="f" * 16, segment="beta")))
    assert answer.status == 200
    assert answer.headers["content-type"] == "application/json"
    assert answer.content == {"accepted": 1, "results": []}
    assert store.reports(key(minutes())) == [Report(key(minutes()), -1, "beta", "80")]


def test_nothing_to_report_is_fine(app: ASGIApp, store: Store) -> None:
    assert post(app, body()).content == {"accepted": 0, "results": []}
    assert store.windows() == []


BAD: dict[str, tuple[Any, str]] = {
    "no object": (7, "unknown_metric"),
    "null": (None, "unknown_metric"),
    "a list": ([["id", "0" * 16]], "unknown_metric"),
    "empty": ({}, "unknown_metric"),
    "another metric": ({"metric": "no.such"}, "unknown_metric"),
    "metric in capitals": ({"metric": "Editor.Minutes"}, "unknown_metric"),
    "metric of another type": ({"metric": ["editor.minutes"]}, "unknown_metric"),
    "another hash": ({"hash": "0" * 32}, "hash_mismatch"),
    "whole hash": ({"hash": minutes().hash}, "hash_mismatch"),
    "hash of another metric": ({"hash": late().hash[:32]}, "hash_mismatch"),
    "hash of another type": ({"hash": {}}, "hash_mismatch"),
    "id of another type": ({"id": 10**15}, "invalid_id"),
    "short id": ({"id": "0" * 15}, "invalid_id"),
    "long id": ({"id": "0" * 17}, "invalid_id"),
    "id in capitals": ({"id": "A" * 16}, "invalid_id"),
    "id with another alphabet's digits": ({"id": "٣" * 16}, "invalid_id"),
    "id with a line break": ({"id": "0" * 15 + "\n"}, "invalid_id"),
    "no id": ({"id": None}, "invalid_id"),
    "before the first window": ({"window": FIRST - 1}, "metric_ended"),
    "after the last window": ({"window": LAST + 1}, "metric_ended"),
    "window far away": ({"window": 10**30}, "metric_ended"),
    "window of another type": ({"window": str(FIRST)}, "metric_ended"),
    "window that is true": ({"window": True}, "metric_ended"),
    "window with a point": ({"window": FIRST + 0.0}, "metric_ended"),
    "no payload": ({"payload": None}, "invalid_payload"),
    "payload of another type": ({"payload": 80}, "invalid_payload"),
    "empty payload": ({"payload": ""}, "invalid_payload"),
    "short payload": ({"payload": "8"}, "invalid_payload"),
    "long payload": ({"payload": "8000"}, "invalid_payload"),
    "padding that is not zero": ({"payload": "81"}, "invalid_payload"),
    "payload that is no hex": ({"payload": "8g"}, "invalid_payload"),
    "payload with a sign": ({"payload": "+8"}, "invalid_payload"),
    "another segment": ({"segment": "nightly"}, "unknown_segment"),
    "empty segment": ({"segment": ""}, "unknown_segment"),
    "segment of another type": ({"segment": ["stable"]}, "unknown_segment"),
    "a window that has not ended": ({"window": FIRST + 4}, "too_early"),
}


@pytest.mark.parametrize(("change", "code"), BAD.values(), ids=BAD.keys())
def test_one_bad_report_sinks_only_itself(app: ASGIApp, store: Store, change: Any, code: str) -> None:
    reports = [sent(minutes(), number) for number in range(10)]
    bad = {**reports[4], **change} if isinstance(change, dict) and change else change
    reports[4] = bad
    answer = post(app, body(*reports))
    status = "retry" if code == "too_early" else "rejected"
    id_ = bad.get("id") if isinstance(bad, dict) else None
    named = id_ if isinstance(id_, str) else None
    assert answer.content == {"accepted": 9, "results": [{"index": 4, "id": named, "status": status, "code": code}]}
    assert [report.id for report in store.reports(key(minutes()))] == [0, 1, 2, 3, 5, 6, 7, 8, 9]
    assert check(store) == []


UNHELD = {
    "number": "1e400",
    "negative number": "-1e400",
    "integer": "9" * 5000,
    "first half of a pair": r'"\ud800"',
    "second half of a pair": r'"\udc00"',
    "halves the wrong way round": r'"\udc00\ud800"',
    "half a pair as a key": r'{"\ud800": 1}',
    "deep inside": r'[[{"x": ["\ud83d"]}]]',
}


@pytest.mark.parametrize("where", ["id", "metric", "hash", "window", "segment", "payload", "note", None])
@pytest.mark.parametrize("value", UNHELD.values(), ids=UNHELD.keys())
def test_a_value_that_cannot_be_held_sinks_only_its_report(
    app: ASGIApp, store: Store, value: str, where: str | None
) -> None:
    reports: list[Any] = [sent(minutes(), number, note="ü \U0001f600") for number in range(5)]
    reports[2] = "HERE" if where is None else {**reports[2], where: "HERE"}
    answer = post(app, body(*reports).replace(b'"HERE"', value.encode()))
    refusal = {"index": 2, "id": None, "status": "rejected", "code": "unknown_metric"}
    assert answer.content == {"accepted": 4, "results": [refusal]}
    assert [report.id for report in store.reports(key(minutes()))] == [0, 1, 3, 4]


@pytest.mark.parametrize("value", UNHELD.values(), ids=UNHELD.keys())
def test_a_value_that_cannot_be_held_outside_the_reports_is_ignored(app: ASGIApp, value: str) -> None:
    assert post(app, body(sent(late()), note="HERE").replace(b'"HERE"', value.encode())).content["accepted"] == 1


def test_true_is_no_window(store: Store) -> None:
    metric = late(starts="1970-01-01", expires="1970-02-01")
    app = create_app(store, [lock(metric)], clock=ManualClock(end(1)))
    reports = [sent(metric, 1, window=1), sent(metric, 2, window=True), sent(metric, 3, window=False)]
    assert post(app, body(*reports)).codes == {1: ("rejected", "metric_ended"), 2: ("rejected", "metric_ended")}


def test_a_missing_key_is_a_wrong_one(app: ASGIApp) -> None:
    expected = {
        "id": "invalid_id",
        "metric": "unknown_metric",
        "hash": "hash_mismatch",
        "window": "metric_ended",
        "segment": "unknown_segment",
        "payload": "invalid_payload",
    }
    reports = [{name: value for name, value in sent(minutes()).items() if name != gone} for gone in expected]
    codes = post(app, body(*reports)).codes
    assert [code for _, code in codes.values()] == list(expected.values())


def test_a_metric_without_segments_needs_none(app: ASGIApp, store: Store) -> None:
    report = sent(late())
    del report["segment"]
    assert post(app, body(report)).content["accepted"] == 1
    assert post(app, body({**report, "id": "2" * 16, "segment": "stable"})).codes == {
        0: ("rejected", "unknown_segment")
    }
    assert [report.segment for report in store.reports(key(late()))] == [""]


def test_unknown_fields_are_ignored(app: ASGIApp) -> None:
    report = sent(late(), note="from a later release", more={"id": [1, 2]})
    assert post(app, body(report, relay="x", version=[2])).content == {"accepted": 1, "results": []}


def test_a_long_id_is_not_echoed(app: ASGIApp) -> None:
    answer = post(app, body(sent(late(), id="0" * 65), sent(late(), id="0" * 64)))
    assert [result["id"] for result in answer.content["results"]] == [None, "0" * 64]


def test_the_same_again_counts_once(app: ASGIApp, store: Store) -> None:
    report, other = sent(minutes(), 1), sent(minutes(), 2)
    assert post(app, body(report)).content["accepted"] == 1
    again = [report, {**report, "payload": "00"}, {**report, "segment": "beta"}, other, other]
    answer = post(app, body(*again))
    assert answer.content == {
        "accepted": 1,
        "results": [
            {"index": 0, "id": report["id"], "status": "duplicate"},
            {"index": 1, "id": report["id"], "status": "rejected", "code": "conflict"},
            {"index": 2, "id": report["id"], "status": "rejected", "code": "conflict"},
            {"index": 4, "id": other["id"], "status": "duplicate"},
        ],
    }
    assert [cell.summary.n for cell in store.cells()] == [2]


def test_the_same_batch_at_once(app: ASGIApp, store: Store) -> None:
    batch = body(*(sent(late(), number) for number in range(50)))

    async def both() -> list[int]:
        answers = await asyncio.gather(ask(app, batch), ask(app, batch))
        assert all(status == "duplicate" for answer in answers for status, _ in answer.codes.values())
        return [answer.content["accepted"] for answer in answers]

    assert sorted(asyncio.run(both())) == [0, 50]
    assert [cell.summary.n for cell in store.cells()] == [50]


@pytest.mark.parametrize(
    ("now", "outcome"),
    [
        (0, ("retry", "too_early")),  # a collector whose clock says 1970
        (end(FIRST) - 601, ("retry", "too_early")),
        (end(FIRST) - 600.5, ("retry", "too_early")),
        (end(FIRST) - 600, None),
        (end(FIRST), None),
        (end(FIRST) + GRACE - 1, None),
        (end(FIRST) + GRACE, ("rejected", "too_late")),
        (end(FIRST) + 73 * 365 * DAY, ("rejected", "too_late")),
    ],
)
def test_early_and_late(app: ASGIApp, clock: ManualClock, now: float, outcome: tuple[str, str] | None) -> None:
    clock.set(now)
    assert post(app, body(sent(late()))).codes == ({} if outcome is None else {0: outcome})


def test_devices_whose_clocks_are_wrong(app: ASGIApp, store: Store, clock: ManualClock) -> None:
    clock.set(end(FIRST + 20) - 600)
    windows = {
        "10 min fast": FIRST + 20,
        "2 days fast": FIRST + 22,
        "1970": 0,
        "2099": 47_116,
        "15 days slow": FIRST + 5,
    }
    reports = [sent(late(), number, window=window) for number, window in enumerate(windows.values())]
    codes = post(app, body(*reports)).codes
    assert codes == {
        1: ("retry", "too_early"),
        2: ("rejected", "metric_ended"),
        3: ("rejected", "metric_ended"),
        4: ("rejected", "too_late"),
    }
    assert store.windows() == [key(late(), FIRST + 20)]


def test_releases_side_by_side(store: Store, clock: ManualClock) -> None:
    old, new = late(), late(version=2, epsilon=0.5)
    app = create_app(store, [lock(old), lock(new, minutes())], clock=clock)
    assert post(app, body(sent(old), sent(new), sent(minutes()))).content["accepted"] == 3
    alone = create_app(store, [lock(new)], clock=clock)
    assert post(alone, body(sent(old, 2), sent(new, 2), sent(minutes(), 2))).codes == {
        0: ("rejected", "hash_mismatch"),
        2: ("rejected", "unknown_metric"),
    }
    assert [entry.metric for entry in store.locks()] == [old, new, minutes()]


def test_of_versions_with_one_encoding_the_highest_counts(store: Store, clock: ManualClock) -> None:
    old, new = late(), late(version=2, grace=2 * GRACE)
    clock.set(end(FIRST) + GRACE)
    for number, (locks, codes) in enumerate(
        [([lock(old)], {0: ("rejected", "too_late")}), ([lock(new), lock(old)], {}), ([lock(old), lock(new)], {})]
    ):
        assert post(create_app(store, locks, clock=clock), body(sent(old, number))).codes == codes


@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize("newest_first", [False, True])
@pytest.mark.parametrize("added", [False, True])
def test_releases_that_differ_in_dimensions(
    store: Store, clock: ManualClock, version: int, newest_first: bool, added: bool
) -> None:
    plain, split = (), minutes().dimensions
    old = minutes(dimensions=plain if added else split)
    new = minutes(dimensions=split if added else plain, version=version)
    assert old.hash == new.hash
    locks = [lock(new), lock(old)] if newest_first else [lock(old), lock(new)]
    app = create_app(store, locks, clock=clock)
    segments = ["", "stable", "beta", "nightly"]
    reports = [sent(new, number, segment=segment) for number, segment in enumerate(segments)]
    assert post(app, body(*reports)).codes == {3: ("rejected", "unknown_segment")}
    assert [report.segment for report in store.reports(key(new))] == segments[:3]
    assert check(store) == []


def test_a_segment_counts_only_in_the_life_of_its_definition(store: Store, clock: ManualClock) -> None:
    old, new = minutes(expires="2026-12-02"), minutes(version=2, dimensions=())
    app = create_app(store, [lock(old), lock(new)], clock=clock)
    reports = [sent(old, window=window, segment="beta") for window in (FIRST, FIRST + 1)]
    assert post(app, body(*reports)).codes == {1: ("rejected", "unknown_segment")}


def test_everything_is_counted(app: ASGIApp, store: Store) -> None:
    changes = {code: change for change, code in BAD.values() if isinstance(change, dict) and change}
    refused = [{**sent(minutes()), **change} for change in changes.values()]
    post(app, body(*refused, *refused))
    assert store.counters() == {}  # nothing to commit for yet
    post(app, body(sent(late()), sent(late()), sent(late(), payload="00")))
    expected = dict.fromkeys(changes, 2) | {"accepted": 1, "duplicate": 1, "conflict": 1}
    assert store.counters() == dict(sorted(expected.items()))
