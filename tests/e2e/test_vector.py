"""A vector from metrics.toml over devices and a collector to rows, pages and the command line."""

import json
import math
import random
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest

from hubbub import cli
from hubbub.cli import output
from hubbub.client import Client, MemoryState
from hubbub.client.__main__ import main
from hubbub.clock import FileClock, ManualClock
from hubbub.collector import create_app
from hubbub.dashboard import create_app as create_pages
from hubbub.errors import ParameterError
from hubbub.estimates import Row, period, rows
from hubbub.lock import Metric, dump
from hubbub.mechanisms import of_metric
from hubbub.store import Store, open_store
from tests.fixtures.scene import exchange
from tests.unit.browsing import page
from tests.unit.client_support import DAY, STARTS, Script
from tests.unit.collecting import JSON, body
from tests.unit.definitions_support import text
from tests.unit.test_vector_kind import MECHANISMS, NAME, NAMED, VECTOR, lock, metric


def shell(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    """`hubbub ...` in this process: exit code, output and errors."""
    capsys.readouterr()
    output.console.cache_clear()
    output.log.cache_clear()
    with pytest.raises(SystemExit) as ended:
        cli.main(words)
    assert isinstance(ended.value.code, int)
    return ended.value.code, *capsys.readouterr()


CROWD: Sequence[tuple[tuple[float, ...] | None, int]] = [
    ((1.5, -0.5, 0.0), 300),
    ((9.0, -9.0, 2.0), 100),  # clipped to 2, -2, 2
    (None, 100),  # nothing recorded: zeros
]
TRUTH = (1.3, -0.7, 0.4)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(tmp_path / "store.db") as store:
        yield store


def collected(store: Store, made: Metric, monkeypatch: pytest.MonkeyPatch) -> list[Row]:
    """The rows of the first day: devices report it, a relay brings all reports to the collector at once."""
    monkeypatch.setattr("os.urandom", random.Random(20_261_201).randbytes)
    app, relay = create_app(store, [lock(made)], clock=ManualClock(STARTS + DAY + 3600.0)), Script()
    for value in (value for value, count in CROWD for _ in range(count)):
        clock = ManualClock(STARTS - 43_200)
        client = Client(
            lock(made),
            "http://127.0.0.1:9",
            policy="research",
            state=MemoryState(),
            clock=clock,
            transport=relay,
            background=False,
        )
        clock.set(STARTS + 10)
        client.add(NAME, [1.0, 2.0])
        if value is not None:
            client.add(NAME, [number / 2 for number in value])
            client.add(NAME, np.array(value) / 2)
        clock.set(STARTS + DAY)
        assert client.flush(60)
        assert client.counters == {"accepted": 1, "invalid_value": 1}
    answer = exchange(app, body(*relay.reports), JSON)
    assert answer.content == {"accepted": len(relay.bodies), "results": []}
    found = rows(store, now=STARTS + DAY + made.grace)
    return [row for row in found if row.window_start == "2026-12-01T00:00:00Z"]


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_devices_over_a_collector_to_rows(store: Store, mechanism: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Off by less than 4.5 standard errors, which for other seeds would fail 2e-5 of the time."""
    made = metric(mechanism=f'"{mechanism}"', coordinates=NAMED["coordinates"])
    first = collected(store, made, monkeypatch)
    assert [(row.category, row.n) for row in first] == [("left", 500), ("right", 500), ("none", 500)]
    worst = math.sqrt(float(np.max(of_metric(made).variance(np.array(TRUTH), 500))) * 2)
    for row, truth in zip(first, TRUTH, strict=True):
        assert row.state == "final"
        assert row.value is not None
        assert row.se is not None
        assert row.ci_low is not None
        assert row.ci_high is not None
        assert abs(row.value - truth) < 4.5 * row.se
        assert row.se < worst < 0.25
        assert row.ci_low < row.value < row.ci_high
        assert row.tidied == min(max(row.value, -2.0), 2.0)
        assert row.epsilon is not None
        assert row.epsilon <= 4
        alone = period(store, now=STARTS + 30 * DAY, metric=NAME, category=row.category, end=STARTS + DAY)
        same = pytest.approx((row.value, row.ci_low, row.ci_high), rel=1e-12)
        assert (alone.value, alone.ci_low, alone.ci_high) == same
    with pytest.raises(ParameterError, match="category must be one of left, right, none"):
        period(store, now=STARTS + 30 * DAY, metric=NAME)


def test_an_interval_beyond_a_coordinates_range_is_too_uncertain(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    states = {row.state for row in collected(store, metric(epsilon="0.05"), monkeypatch)}
    assert states == {"too_uncertain"}


def test_a_page_shows_one_coordinate_and_lists_all(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    collected(store, metric(coordinates=NAMED["coordinates"]), monkeypatch)
    pages = create_pages(store, clock=ManualClock(STARTS + DAY + 100.0))
    shown = page(pages, f"/m/{NAME}").text
    assert "Coordinate <strong><bdi>left</bdi></strong>" in shown
    assert "Category" not in shown
    assert "Mean of each coordinate per installation and day" in shown
    for name in ("left", "right", "none"):
        assert f"category={name}" in shown
    assert "Coordinate <strong><bdi>right</bdi></strong>" in page(pages, f"/m/{NAME}?category=right").text
    assert "left</bdi>, the first coordinate" in page(pages, "/").text


def test_a_table_for_people_names_coordinates(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with open_store(tmp_path / "shell.db") as opened:
        collected(opened, metric(), monkeypatch)
    FileClock(tmp_path / "clock").set(STARTS + 30 * DAY)
    asked = ("estimate", str(tmp_path / "shell.db"), NAME, "--clock", str(tmp_path / "clock"))
    code, out, _ = shell(capsys, *asked, "--end", "2026-12-02", "--mean")
    assert code == 0
    assert "coordinate" in out
    assert "category" not in out
    assert "Mean of 2 over 1 window" in out


def test_show_says_what_is_measured(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "metrics.toml").write_text(text(VECTOR), "utf-8")
    code, out, _ = shell(capsys, "registry", "show", str(tmp_path / "metrics.toml"))
    assert code == 0
    assert "means of 3 coordinates from -2 to 2 min" in " ".join(out.split())


def test_a_vector_from_the_shell(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "metrics.lock").write_text(dump(lock(metric())), "utf-8")
    FileClock(tmp_path / "clock").set(STARTS + 10)
    where = [("--lock", "metrics.lock"), ("--state", "device"), ("--clock", "clock")]
    options = [word for option, name in where for word in (option, str(tmp_path / name))]
    options += ["--endpoint", "http://127.0.0.1:9", "--policy", "research"]
    for bad in ("1", "1,2", "1,2,x", "1,2,yes", "nan,1,2"):
        code, _, err = shell(capsys, "report", NAME, bad, *options)
        assert code == 2
        assert "VALUE must be 3 finite numbers with commas between them" in " ".join(err.split())
    code, _, err = shell(capsys, "report", *options, "--", NAME, "-1,0.5,2")
    assert (code, err) == (0, "")
    given = ["--state", str(tmp_path / "device"), "--lock", str(tmp_path / "metrics.lock"), "--json"]
    assert main(["preview", *given, "--", NAME, "-1,0.5,2"]) == 0
    assert json.loads(capsys.readouterr().out)["value"] == [5000, 12_500, 20_000]
