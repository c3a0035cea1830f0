"""Points in time as people write them."""

import datetime

import pytest

from hubbub.errors import ParameterError
from hubbub.estimates import instant
from hubbub.windows import midnight

DAY = midnight("2026-12-01")
CET = datetime.timezone(datetime.timedelta(hours=1))


@pytest.mark.parametrize(
    ("given", "seconds"),
    [
        ("2026-12-01", DAY),
        ("2026-12-01T00:00:00Z", DAY),
        ("2026-12-01T06:30", DAY + 23_400),
        ("2026-12-01 06:30:15", DAY + 23_415),
        ("2026-12-01T06:30:15.25Z", DAY + 23_415.25),
        ("2026-12-01T01:00:00+01:00", DAY),
        (datetime.date(2026, 12, 1), DAY),
        (datetime.datetime(2026, 12, 1, 6), DAY + 21_600),
        (datetime.datetime(2026, 12, 1, 1, tzinfo=CET), DAY),
    ],
)
def test_times(given: str | datetime.date, seconds: float) -> None:
    assert instant("start", given) == seconds


def test_no_time() -> None:
    assert instant("start", None) is None


@pytest.mark.parametrize(
    "given",
    ["", "today", "2026-13-01", "2026-12-1", "01.12.2026", "2026-W49-1", "20261201", "2026-12-01T25:00", " 2026-12-01",
     "2026-12-01T00:00:00 Z", 1796083200, 20.5, b"2026-12-01"],
)  # fmt: skip
def test_what_is_no_time(given: object) -> None:
    with pytest.raises(ParameterError, match=r"start must be an ISO date .* or time, such as 2026-12-01 or") as refused:
        instant("start", given)  # type: ignore[arg-type]
    assert refused.value.value == given
