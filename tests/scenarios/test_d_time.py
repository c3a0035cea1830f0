"""D: clocks that are wrong, networks that stall, the same thing twice."""

from pathlib import Path

import pytest

from hubbub.windows import midnight
from tests.scenarios.chain import chain
from tests.unit.client_support import DAY, STARTS, Script, client, live, lock, metric

DAILY = metric()
GRACE = DAILY.grace
HOUR = 3600


@pytest.mark.parametrize(
    ("ahead", "first", "then"),
    [
        (0, {"accepted": 1}, {"accepted": 1}),
        (600, {"accepted": 1}, {"accepted": 1}),
        (601, {"too_early": 1}, {"too_early": 1, "accepted": 1}),
        (2 * DAY, {"too_early": 1}, {"too_early": 1, "accepted": 1}),
        (-DAY, {"accepted": 1}, {"accepted": 1}),
        (-GRACE, {"too_late": 1}, {"too_late": 1}),
        (-2 * GRACE, {"too_late": 1}, {"too_late": 1}),
    ],
)
def test_d3_device_whose_clock_is_wrong(
    ahead: int, first: dict[str, int], then: dict[str, int], tmp_path: Path
) -> None:
    """Ahead, it waits until the collector's clock has come so far; behind, it is too late for good.

    Time passes at both. No estimate holds a window that has not ended by the collector's clock.
    """
    end = STARTS + 60 * DAY  # of the window, by the device's clock
    with chain(tmp_path, lock(DAILY)) as whole:
        device, clock, network = whole.device(now=end - DAY)
        device.add(DAILY.name, 5)
        clock.set(end)
        whole.clock.set(end - ahead)
        device.flush()
        assert device.counters == first
        assert all(row.window_end <= _iso(whole.clock.now() + 600) for row in whole.rows())
        stays = "too_early" in first
        assert whole.counters() == first
        for _ in range(4):
            whole.clock.set(whole.clock.now() + DAY)
            if stays:
                tried = len(network.tried)
                device.flush()
                assert len(network.tried) <= tried + 1
                assert set(network.tried[:1]) == set(network.tried)
        counters = dict(device.counters)
        if stays:
            assert counters.pop("too_early") >= then["too_early"]
            then.pop("too_early")
        assert counters == then
        assert whole.stored().total() == then.get("accepted", 0)


def _iso(time: float) -> str:
    from datetime import UTC, datetime

    return datetime.fromtimestamp(time, UTC).isoformat().replace("+00:00", "Z")


@pytest.mark.parametrize("year", ["1970-01-02", "2099-01-01"])
def test_d3_clock_outside_the_life_of_the_metric(year: str, tmp_path: Path) -> None:
    """Nothing is encoded, and once the clock is right the device reports as any other."""
    with chain(tmp_path, lock(DAILY)) as whole:
        device, clock, network = whole.device(now=midnight(year))
        for day in range(3):
            device.add(DAILY.name, 5)
            clock.set(midnight(year) + day * DAY)
            assert device.flush()
        assert not network.tried
        whole.clock.set(STARTS + 12 * DAY)
        for day in range(10, 13):
            clock.set(STARTS + day * DAY)
            device.add(DAILY.name, 5)
            assert device.flush()
        # A device of the year 2099 is born then: what it can know of its past begins with that.
        assert whole.stored().total() == (2 if year < "2026" else 0)


def test_d1_stall_across_the_edge_of_a_window(tmp_path: Path) -> None:
    """A report stays in its window however long the network takes."""
    with chain(tmp_path, lock(DAILY)) as whole:
        device, clock, network = whole.device()
        device.add(DAILY.name, 5)
        network.up = False
        clock.set(STARTS + DAY)
        device.flush()
        network.up = True
        for moment in (clock, whole.clock):
            moment.set(STARTS + 3 * DAY - 1)
        live(device, clock, STARTS + 3 * DAY + HOUR)
        windows = {window for _, window in whole.stored()}
        assert min(windows) == DAILY.windows.index(STARTS)
        assert {report["window"] for report in network.reports} == windows


def test_d5_same_batch_twice(tmp_path: Path) -> None:
    """Both answers let the device go on, and it counts once."""
    with chain(tmp_path, lock(DAILY)) as whole:
        script = Script()
        clock_device, clock, _ = whole.device()
        device = client(lock(DAILY), clock, transport=script)
        clock.set(STARTS + DAY)
        device.flush()
        clock_device.close()
        whole.clock.set(STARTS + DAY)
        first, second = (whole.post(script.bodies[0]) for _ in range(2))
        assert (first.status, first.content) == (200, {"accepted": 1, "results": []})
        (result,) = second.content["results"]
        assert (second.status, second.content["accepted"], result["status"]) == (200, 0, "duplicate")
        assert whole.stored().total() == 1
