"""Metrics that an operator stops: an earlier end, never a later one, and without a restart."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hubbub.clock import ManualClock
from hubbub.collector import StoppedError, create_app
from hubbub.store import Store, open_store
from tests.unit.collecting import FIRST, LAST, ask, body, end, late, lock, minutes, post, sent


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(tmp_path / "store.db") as store:
        yield store


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "stopped.toml"


def application(store: Store, path: Path | None) -> Any:
    return create_app(store, [lock(late(), minutes())], clock=ManualClock(end(FIRST + 5)), stopped=path)


def asked(app: Any) -> Any:
    answer = asyncio.run(ask(app, method="GET", path="/v1/stopped"))
    assert answer.status == 200
    assert answer.headers["cache-control"] == "no-store"
    assert not {"etag", "last-modified", "set-cookie"} & set(answer.headers)  # nothing to know a device by again
    return answer.content


def days(app: Any, metric: Any, number: int) -> dict[int, str]:
    """What becomes of reports of the first five days."""
    reports = [sent(metric, number + day, window=FIRST + day) for day in range(5)]
    answer = post(app, body(*reports))
    codes = {index: code for index, (_, code) in answer.codes.items()}
    assert answer.content["accepted"] == 5 - len(codes)
    return {day: str(code) for day, code in codes.items()}


def test_nothing_is_stopped_without_a_file(store: Store) -> None:
    assert asked(application(store, None)) == {"stopped": {}}


@pytest.mark.parametrize(
    "text", ['"flight.late" = 2026-12-03', "flight.late = 2026-12-03", "[flight]\nlate=2026-12-03"]
)
def test_a_stopped_metric_has_an_earlier_end(store: Store, path: Path, text: str) -> None:
    path.write_text(text)
    app = application(store, path)
    assert asked(app) == {"stopped": {"flight.late": "2026-12-03"}}
    # The second day ends when the third begins, and is the last one.
    assert days(app, late(), 0) == dict.fromkeys((2, 3, 4), "metric_ended")
    assert days(app, minutes(), 0) == {}


def test_a_metric_that_never_began(store: Store, path: Path) -> None:
    path.write_text('"flight.late" = 2020-01-01')
    assert days(application(store, path), late(), 0) == dict.fromkeys(range(5), "metric_ended")


def test_a_later_end_changes_nothing(store: Store, path: Path) -> None:
    path.write_text('"flight.late" = 2099-01-01')
    app = create_app(store, [lock(late())], clock=ManualClock(end(LAST + 2)), stopped=path)
    answer = post(app, body(sent(late(), 1, window=LAST), sent(late(), 2, window=LAST + 1)))
    assert answer.codes == {1: ("rejected", "metric_ended")}


def test_a_change_counts_at_once(store: Store, path: Path) -> None:
    path.write_text("")
    app = application(store, path)
    assert days(app, late(), 0) == {}
    path.write_text('"flight.late" = 2026-12-02\n"editor.minutes" = 2026-12-05\n')
    assert days(app, late(), 10) == dict.fromkeys((1, 2, 3, 4), "metric_ended")
    assert asked(app) == {"stopped": {"editor.minutes": "2026-12-05", "flight.late": "2026-12-02"}}
    path.write_text("# all goes on again\n")
    assert days(app, late(), 20) == {}
    assert asked(app) == {"stopped": {}}


BAD = {
    '"no.such" = 2026-12-02': r"'no\.such' is a metric of no lock that is served",
    '"flight.late" = "2026-12-02"': r"flight\.late must be a date such as 2027-01-01; got '2026-12-02'",
    '"flight.late" = 2026-12-02T00:00:00Z': r"flight\.late must be a date such as 2027-01-01; got datetime",
    '"flight.late" = 20261202': r"flight\.late must be a date such as 2027-01-01; got 20261202",
    '"flight.late" = 2026-13-02': "not TOML",
    '{"flight.late": "2026-12-02"}': "not TOML",
    "\udcff": "not TOML",
}


@pytest.mark.parametrize(("text", "message"), BAD.items())
def test_a_file_that_cannot_be_used(
    store: Store, path: Path, caplog: pytest.LogCaptureFixture, text: str, message: str
) -> None:
    raw = text.encode("utf-8", "surrogateescape")
    path.write_bytes(raw)
    with pytest.raises(StoppedError, match=rf"stopped\.toml: {message}"):
        application(store, path)
    assert store.locks() == []  # nothing was begun

    path.write_text('"flight.late" = 2026-12-03')
    app = application(store, path)
    path.write_bytes(raw)
    for _ in range(3):
        assert asked(app) == {"stopped": {"flight.late": "2026-12-03"}}
    (record,) = caplog.records  # said once
    assert record.levelname == "ERROR"
    assert record.getMessage().endswith("what it said before holds")


def test_a_file_that_is_gone(store: Store, path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with pytest.raises(StoppedError, match=r"stopped\.toml: cannot be read \(no such file or directory\)"):
        application(store, path)
    path.write_text('"flight.late" = 2026-12-03')
    app = application(store, path)
    path.unlink()
    assert days(app, late(), 0) == dict.fromkeys((2, 3, 4), "metric_ended")
    assert len(caplog.records) == 1
    path.write_text('"flight.late" = 2026-12-05')
    assert asked(app) == {"stopped": {"flight.late": "2026-12-05"}}
