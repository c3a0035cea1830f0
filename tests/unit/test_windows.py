"""Windows: half-open, UTC, weeks from Monday."""

import datetime

import pytest

from hubbub.errors import ParameterError
from hubbub.windows import NAMES, iso, midnight, windows

LENGTHS = {"hour": 3600, "day": 86_400, "week": 604_800}


def test_names() -> None:
    assert NAMES == ("hour", "day", "week")
    assert {name: windows(name).length for name in NAMES} == LENGTHS


@pytest.mark.parametrize("name", ["minute", "Day", "", "month", "86400"])
def test_another_length_is_refused(name: str) -> None:
    with pytest.raises(ParameterError, match="window must be one of hour, day, week"):
        windows(name)


@pytest.mark.parametrize(
    ("name", "now", "window"),
    [
        ("hour", 0, 0),
        ("hour", 3599.999, 0),
        ("hour", 3600, 1),
        ("hour", -0.001, -1),
        ("hour", -3600, -1),
        ("hour", -3600.001, -2),
        ("day", 0, 0),
        ("day", 86_399.999_999, 0),
        ("day", 86_400, 1),
        ("day", -1, -1),
        ("day", 1_796_083_200, 20_788),
        ("week", 0, -1),
        ("week", 345_599.999, -1),
        ("week", 345_600, 0),
        ("week", 950_399, 0),
        ("week", 950_400, 1),
    ],
)
def test_index(name: str, now: float, window: int) -> None:
    assert windows(name).index(now) == window


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("window", [-2, -1, 0, 1, 20_788, 500_000])
def test_a_window_is_half_open(name: str, window: int) -> None:
    cut = windows(name)
    assert cut.end(window) == cut.start(window) + cut.length == cut.start(window + 1)
    assert cut.index(cut.start(window)) == window
    assert cut.index(cut.end(window) - 1e-3) == window
    assert cut.index(cut.end(window)) == window + 1


def test_weeks_begin_on_monday() -> None:
    week = windows("week")
    assert iso(week.start(0)) == "1970-01-05T00:00:00Z"
    for window in (0, 1, 2969, 5000):
        assert datetime.datetime.fromtimestamp(week.start(window), datetime.UTC).weekday() == 0


def test_days_begin_at_midnight_utc() -> None:
    assert iso(windows("day").start(20_788)) == "2026-12-01T00:00:00Z"
    assert midnight("2026-12-01") == windows("day").start(20_788)


@pytest.mark.parametrize(
    ("name", "starts", "expires", "inside"),
    [
        ("day", "2026-12-01", "2026-12-04", 3),
        ("day", "2026-12-01", "2026-12-01", 0),
        ("day", "2026-12-04", "2026-12-01", 0),
        ("hour", "2026-12-01", "2026-12-02", 24),
        ("week", "2026-11-30", "2026-12-07", 1),  # Monday to Monday
        ("week", "2026-12-01", "2026-12-14", 1),  # from Tuesday
        ("week", "2026-12-01", "2026-12-13", 0),  # to Sunday
        ("week", "2026-12-01", "2026-12-06", 0),
        ("week", "1970-01-01", "1970-01-12", 1),
        ("day", "1969-12-30", "1970-01-02", 3),
    ],
)
def test_inside(name: str, starts: str, expires: str, inside: int) -> None:
    cut = windows(name)
    found = cut.inside(midnight(starts), midnight(expires))
    assert len(found) == inside
    for window in found:
        assert midnight(starts) <= cut.start(window)
        assert cut.end(window) <= midnight(expires)


def test_inside_leaves_out_windows_that_are_cut() -> None:
    day = windows("day")
    assert list(day.inside(1, 3 * 86_400)) == [1, 2]
    assert list(day.inside(0, 3 * 86_400 - 1)) == [0, 1]
    assert list(day.inside(-1, 86_401)) == [0]
    assert list(day.inside(1, 86_399)) == []


@pytest.mark.parametrize(
    ("date", "seconds"),
    [("1970-01-01", 0), ("1969-12-31", -86_400), ("2000-02-29", 951_782_400), ("2026-12-01", 1_796_083_200)],
)
def test_midnight(date: str, seconds: int) -> None:
    assert midnight(date) == seconds
    assert iso(seconds) == f"{date}T00:00:00Z"


@pytest.mark.parametrize(
    "date",
    [
        "",
        "2026-12",
        "2026-12-1",
        "2026-02-30",
        "20261201",
        "2026-W49-2",
        "2026-12-01T00:00",
        "1.12.2026",
        " 2026-12-01",
        0,
        None,
    ],
)
def test_no_date(date: str) -> None:
    with pytest.raises(ParameterError, match="date must be an ISO date such as 2026-12-01; got "):
        midnight(date)
