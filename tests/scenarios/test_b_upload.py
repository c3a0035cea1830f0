"""B: what goes wrong between device and collector."""

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from hubbub.client import Response, schedule
from hubbub.lock import Lock
from tests.scenarios.chain import chain
from tests.unit.client_support import DAY, STARTS, live, lock, metric, report_of
from tests.unit.collecting import body, sent

FIVE = [metric(f"m{number}", expires="2026-12-03") for number in range(5)]
Pass = Callable[[bytes], Response]


def test_b4_report_that_is_too_large_is_dropped_alone(tmp_path: Path) -> None:
    """A device sends one report per request, so a limit that one of them passes takes no other with it."""

    def limited(content: bytes, passed: Pass) -> Response:
        if report_of(content)["metric"] == "m2":
            return Response(413, b'{"type": "urn:hubbub:problem:too_large", "title": "too large", "status": 413}')
        return passed(content)

    with chain(tmp_path, lock(*FIVE)) as whole:
        device, clock, network = whole.device(whole.network(limited))
        for now in (STARTS + DAY, STARTS + 2 * DAY):
            clock.set(now)
            whole.clock.set(now)
            assert device.flush()
        assert device.counters == {"accepted": 8, "refused": 2}
        assert {name for name, _ in whole.stored()} == {"m0", "m1", "m3", "m4"}
        assert len(network.tried) == 10


def test_b6_one_record_is_posted_once(tmp_path: Path) -> None:
    one = metric(expires="2026-12-02")
    with chain(tmp_path, lock(one)) as whole:
        device, clock, network = whole.device()
        device.add(one.name, 1)
        whole.clock.set(STARTS + DAY)
        live(device, clock, STARTS + 10 * DAY)
        for _ in range(10):
            assert device.flush()
        assert len(network.tried) == whole.stored().total() == 1


def test_b7_reports_that_are_due_at_once_do_not_stand_in_each_others_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(schedule, "first", lambda now, *_: now + 1)
    with chain(tmp_path, lock(*FIVE)) as whole:
        device, clock, network = whole.device()
        whole.clock.set(STARTS + 2 * DAY)
        live(device, clock, STARTS + 2 * DAY + 60)
        assert Counter((report["metric"], report["window"]) for report in network.reports) == whole.stored()
        assert set(whole.stored().values()) == {1}
        assert len(whole.stored()) == 10


def test_b12_what_the_collector_rejects_is_counted_and_not_tried_again(tmp_path: Path) -> None:
    """Two of five are unknown there: their reason is counted, they are gone, and the others are not."""
    with chain(tmp_path, lock(*FIVE), collector_lock=lock(*FIVE[:3])) as whole:
        device, clock, network = whole.device()
        whole.clock.set(STARTS + DAY)
        live(device, clock, STARTS + 2 * DAY - 60)
        assert device.flush()
        assert device.counters == {"accepted": 3, "unknown_metric": 2}
        assert sorted(report["metric"] for report in network.reports) == ["m0", "m1", "m2", "m3", "m4"]
        assert whole.counters() == {"accepted": 3, "unknown_metric": 2}


def test_b13_one_malformed_report_spoils_no_other(tmp_path: Path) -> None:
    """Of ten, the one at index 4 is named by index and id, and the nine others are there."""
    one = metric(expires="2026-12-02")
    batch = [sent(one, number, payload="80") for number in range(10)]
    batch[4]["payload"] = "8"
    with chain(tmp_path, Lock("editor-desktop", {one.name: one})) as whole:
        whole.clock.set(STARTS + DAY)
        answer = whole.post(body(*batch))
        assert answer.content == {
            "accepted": 9,
            "results": [{"index": 4, "id": f"{4:016x}", "status": "rejected", "code": "invalid_payload"}],
        }
        assert whole.stored().total() == 9


def test_lost_answers_cost_nothing(tmp_path: Path) -> None:
    """Every second answer is lost: each report counts once, and the device hears of it in the end."""
    turn = iter(range(1000))

    def lossy(content: bytes, passed: Pass) -> Response:
        answer = passed(content)
        if next(turn) % 2:
            raise ConnectionResetError
        return answer

    with chain(tmp_path, lock(*FIVE)) as whole:
        device, clock, network = whole.device(whole.network(lossy))
        clock.set(STARTS + 2 * DAY)
        whole.clock.set(STARTS + 2 * DAY)
        while not device.flush():
            pass
        assert set(whole.stored().values()) == {1}
        bodies = {json.dumps(report) for report in network.reports}
        assert len(bodies) == whole.stored().total() == 5 < len(network.tried)
        assert device.counters["duplicate"] > 0
