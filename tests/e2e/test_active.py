"""A mean among those that recorded anything, from metrics.toml over devices and a collector to rows and the shell."""

import datetime
import json
import math
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from hubbub import cli
from hubbub.cli import output
from hubbub.client import MemoryState, SqliteState, State
from hubbub.clock import FileClock, ManualClock
from hubbub.collector import create_app
from hubbub.dashboard import create_app as create_pages
from hubbub.definitions import DefinitionErrors, build, facts, load, loads, renew, worth_lines
from hubbub.definitions.advice import review
from hubbub.dossier.metrics import section
from hubbub.errors import LockError, ParameterError
from hubbub.estimates import Row, period, rows
from hubbub.lock import Lock, dump, parse
from hubbub.replay.crowd import plan
from hubbub.store import Store, open_store
from tests.fixtures.scene import exchange
from tests.unit.browsing import page
from tests.unit.client_support import DAY, STARTS, Script, client, report_of
from tests.unit.collecting import JSON, body
from tests.unit.definitions_support import MEAN, TOP, lines, text

NAME = "editor.minutes"
ACTIVE = "editor.minutes.active"
AMONG = "among active"
MEAN_STARTS, MEAN_ENDS = datetime.date(2026, 12, 1), datetime.date(2027, 12, 31)


def lock(**changes: str | None) -> Lock:
    given: Mapping[str, str | None] = {**MEAN, "active": "true", "epsilon": "8.0", **changes}
    return build(loads(text(given).encode(), "metrics.toml"))


def test_one_metric_becomes_two_that_cost_no_more() -> None:
    made, plain = lock(epsilon="1.0", report_every="3"), lock(epsilon="1.0", report_every="3", active=None).metrics
    assert list(made.metrics) == [NAME, ACTIVE]
    mean, share = made.metrics.values()
    assert (mean.kind, share.kind, share.unit, share.lower, share.step) == ("mean", "boolean", "", 0, 1_000_000)
    assert share.source == mean.hash
    assert plain.keys() == {NAME}
    for key in ("version", "window", "starts", "expires", "grace", "report_every", "presence", "min_reports"):
        assert getattr(mean, key) == getattr(share, key) == getattr(plain[NAME], key)
    assert mean.prices.report <= 0.5
    assert share.prices.report <= 0.5
    assert mean.prices.steady + share.prices.steady <= 2.4
    both = lock(epsilon="1.0", permanent_epsilon="3.0").metrics.values()
    assert math.fsum(one.prices.steady for one in both) <= 3.0
    assert parse(dump(made)) == made
    assert facts(share)["fed by"] == NAME
    assert f"yes where anything was recorded for {NAME}" in section(share, "editor-desktop")


def test_limits_hold_for_both_together() -> None:
    limited = lock(epsilon="1.0", max_change="3.0", max_life="600").metrics.values()
    assert math.fsum(one.prices.change for one in limited) <= 3.0
    assert math.fsum(one.prices.life for one in limited) <= 600
    with pytest.raises(DefinitionErrors):
        lock(epsilon="1.0", max_change="1.5")


@pytest.mark.parametrize(
    ("changes", "key"),
    [
        ({"lower": "1"}, "active"),
        ({"lower": "-0.5", "upper": "480.5"}, "active"),
        ({"upper": "-1", "lower": "-10"}, "active"),
        ({"epsilon": "0.0015"}, "epsilon"),
        ({"kind": '"boolean"', "lower": None, "upper": None, "unit": None}, "active"),
        ({"active": "1"}, "active"),
    ],
)
def test_what_cannot_be_active(changes: dict[str, str | None], key: str) -> None:
    with pytest.raises(DefinitionErrors) as refused:
        lock(**changes)
    assert [problem.key for problem in refused.value.problems] == [f'metrics."{NAME}".{key}']


def test_names_and_turns_that_do_not_go_together() -> None:
    def problems(*tables: tuple[str, Mapping[str, str]]) -> list[str]:
        written = lines(TOP) + "".join(f'[metrics."{name}"]\n{lines(table)}' for name, table in tables)
        with pytest.raises(DefinitionErrors) as refused:
            loads(written.encode(), "metrics.toml")
        return [problem.key for problem in refused.value.problems]

    both = MEAN | {"active": "true"}
    assert problems((NAME, both), (ACTIVE, MEAN)) == [f'metrics."{ACTIVE}"']
    turns = both | {"rotation": '"usage"'}
    assert problems((NAME, turns), ("b", MEAN | {"rotation": '"usage"'})) == [f'metrics."{NAME}".active']
    long = "a" * 58
    assert problems((long, both)) == [f'metrics."{long}".active']
    assert loads((lines(TOP) + f"[metrics.{long[:57]}]\n{lines(both)}").encode(), "metrics.toml")


@pytest.mark.parametrize(
    ("key", "change"),
    [
        ("source", {"source": "0" * 64}),
        ("source", {"name": "editor.active.minutes"}),
        ("source", {"aggregate": "all"}),
        ("report_every", {"report_every": 2}),
        ("window", {"window": "week"}),
        ("version", {"version": 2}),
    ],
)
def test_a_lock_whose_two_do_not_belong_together_is_refused(key: str, change: dict[str, Any]) -> None:
    mean, share = lock().metrics.values()
    other = replace(share, **change)
    with pytest.raises(LockError, match=rf"{other.name}.*\.{key}"):
        parse(dump(Lock("editor-desktop", {NAME: mean, other.name: other})))
    alone = Lock("editor-desktop", {ACTIVE: share})  # as a collector keeps it
    assert parse(dump(alone)) == alone


def test_renewing_keeps_both_encodings(tmp_path: Path) -> None:
    (tmp_path / "metrics.toml").write_text(text(MEAN | {"active": "true"}), "utf-8")
    before = build(load(tmp_path / "metrics.toml"))
    renewed = renew(tmp_path / "metrics.toml", NAME, MEAN_ENDS, MEAN_STARTS)
    after = build(load(tmp_path / "metrics.toml"), before)
    assert renewed.new == after.metrics[NAME]
    assert [one.hash for one in before.metrics.values()] == [one.hash for one in after.metrics.values()]
    assert {one.version for one in after.metrics.values()} == {2}


def test_another_mean_is_another_yes() -> None:
    """So that the two always tell of the same devices, while an older release is still in use too."""
    assert lock().metrics[ACTIVE].hash != lock(upper="500").metrics[ACTIVE].hash
    assert lock().metrics[ACTIVE].encoder == lock(upper="500").metrics[ACTIVE].encoder


def test_lint_reviews_both_and_repeats_no_warning() -> None:
    keys = {"active": "true", "grace": '"1d"', "target_margin": "5", "expected_devices": "700"}
    made = loads(text(MEAN | keys).encode(), "t")
    mean, share = review(made, MEAN_STARTS)
    assert any("grace" in warning for warning in mean.warnings)
    assert (mean.target, share.target, share.warnings, share.cures) == (5, None, (), ())
    assert mean.halves == (
        f"active = true: two reports for each day, this one and that of {ACTIVE}, each with half of epsilon = 1 and of "
        "permanent_epsilon = 2.4"
    )
    assert share.halves == ""
    assert mean.halves in worth_lines(build(made).metrics[NAME], mean)
    (cure,) = (cure for cure in mean.cures if cure.key == "epsilon")
    better = build(loads(text(MEAN | {"active": "true", "epsilon": str(cure.value)}).encode(), "t")).metrics[NAME]
    assert better.prices.report == pytest.approx(cure.value / 2, rel=1e-6)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(tmp_path / "store.db") as store:
        yield store


def lived(made: Lock, given: Sequence[Any], state: State | None = None, days: int = 1) -> Script:
    """What one device sends that recorded these values on the first days."""
    relay, clock = Script(), ManualClock(STARTS - 43_200.0)
    device = client(made, clock, transport=relay, state=state)
    for day in range(days):
        clock.set(STARTS + day * DAY + 10)
        device.tick()
        for value in given:
            device.add(NAME, value)
    clock.set(STARTS + days * DAY)
    assert device.flush(60)
    return relay


@pytest.mark.parametrize("kind", [MemoryState, SqliteState])
def test_a_device_marks_its_yes_by_what_is_recorded(
    kind: type[State], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With epsilon 8 for each report the payload tells the value; one in 400 seeds would fail."""
    monkeypatch.setattr("os.urandom", random.Random(20_261_201).randbytes)
    made = lock(epsilon="16.0")
    cases: list[tuple[list[Any], str]] = [([3, 4], "80"), ([0], "80"), ([], "00"), (["x", True], "00")]
    for number, (given, yes) in enumerate(cases):
        state = MemoryState() if kind is MemoryState else SqliteState(tmp_path / str(number))
        found = {report["metric"]: report["payload"] for report in lived(made, given, state).reports}
        assert found.keys() == {NAME, ACTIVE}
        assert found[ACTIVE] == yes
        state.close()


def test_apps_never_record_the_yes_themselves() -> None:
    made, clock = lock(), ManualClock(STARTS - 43_200.0)
    device = client(made, clock)
    clock.set(STARTS + 10)
    device.add(ACTIVE, True)
    device.set(ACTIVE, True)
    assert device.counters == {"unknown_metric": 2}
    held: list[Any] = []
    device._recorder.state.seal(STARTS + DAY, lambda window: held.append((window.metric, window.value)))
    assert sorted(held) == [(NAME, None), (ACTIVE, None)]


def test_a_yes_is_marked_where_the_mean_is_refused() -> None:
    made, clock, state = lock(epsilon="1.0"), ManualClock(STARTS - 43_200.0), MemoryState()
    device = client(made, clock, state=state)
    device._recorder._refused = frozenset({NAME})  # as the ledger of a device may have it that reported before
    clock.set(STARTS + 10)
    device.add(NAME, 5)
    assert device.counters == {"refused_by_policy": 1}
    held: dict[str, Any] = {}
    state.seal(STARTS + DAY, lambda window: held.update({window.metric: window.value}))
    assert held == {NAME: None, ACTIVE: 1.0}


def test_both_report_in_the_turns_of_the_device() -> None:
    made = lock(report_every="3")
    for _ in range(5):
        windows: dict[str, set[int]] = {NAME: set(), ACTIVE: set()}
        for report in map(report_of, lived(made, [5], days=9).bodies):
            windows[report["metric"]].add(report["window"])
        assert windows[NAME] == windows[ACTIVE]
        assert len(windows[NAME]) == 3


CROWD: Sequence[tuple[Sequence[float], int]] = [([30, 10], 160), ([80], 80), ([0], 40), ([], 200)]
MEAN_OF_ALL, SHARE, AMONG_ACTIVE = 12_800 / 480, 280 / 480, 12_800 / 280


def collected(
    store: Store, made: Lock, monkeypatch: pytest.MonkeyPatch, crowd: Sequence[tuple[Sequence[float], int]] = CROWD
) -> list[Row]:
    """The rows of the first day: devices report it, a relay brings all reports to the collector at once."""
    monkeypatch.setattr("os.urandom", random.Random(20_261_202).randbytes)
    app = create_app(store, [made], clock=ManualClock(STARTS + DAY + 3600.0))
    reports = [one for given, count in crowd for _ in range(count) for one in lived(made, given).reports]
    answer = exchange(app, body(*reports), JSON)
    assert answer.content == {"accepted": len(reports), "results": []}
    return first(store)


def first(store: Store, now: float = STARTS + 30 * DAY, **asked: Any) -> list[Row]:
    return [row for row in rows(store, now=now, **asked) if row.window_start == "2026-12-01T00:00:00Z"]


def test_devices_over_a_collector_to_rows(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """Off by less than 4.5 standard errors, which for other seeds would fail 2e-5 of the time."""
    found = collected(store, lock(upper="100"), monkeypatch)
    assert [(row.metric, row.category, row.n, row.state) for row in found] == [
        (NAME, None, 480, "final"),
        (NAME, AMONG, 480, "final"),
        (ACTIVE, None, 480, "final"),
    ]
    for row, truth in zip(found, (MEAN_OF_ALL, AMONG_ACTIVE, SHARE), strict=True):
        assert row.value is not None
        assert row.se is not None
        assert row.ci_low is not None
        assert row.ci_high is not None
        assert abs(row.value - truth) < 4.5 * row.se
        assert row.ci_low < row.value < row.ci_high
    mean, among, share = found
    assert (mean.value, share.value) != (None, None)
    assert among.value == mean.value / share.value  # type: ignore[operator]
    assert (among.method, among.hash, among.version) == ("fieller", mean.hash, mean.version)
    assert among.epsilon == pytest.approx(mean.epsilon + share.epsilon, abs=2e-6)  # type: ignore[operator]
    assert among.epsilon <= 8  # type: ignore[operator]
    assert among.manipulation_per_percent is None
    assert among.se_shared < among.se  # type: ignore[operator]
    assert first(store, metric=NAME) == [mean, among]
    assert first(store, metric=ACTIVE) == [share]


def test_states_follow_those_of_both_parts(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    made = lock(upper="100")
    collected(store, made, monkeypatch)
    for after, state in ((DAY - 1, "open"), (DAY + 5, "provisional"), (30 * DAY, "final")):
        found = first(store, STARTS + after)
        assert [row.state for row in found] == [state] * 3
        assert [row.value is None for row in found] == [state == "open"] * 3


def test_a_missing_part_leaves_the_ratio_out_of_sight(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    made = lock(upper="100")
    monkeypatch.setattr("os.urandom", random.Random(20_261_203).randbytes)
    app = create_app(store, [made], clock=ManualClock(STARTS + DAY + 3600.0))
    sent = [one for _ in range(150) for one in lived(made, [5]).reports]
    few = [one for one in sent if one["metric"] == NAME] + [one for one in sent if one["metric"] == ACTIVE][:99]
    assert exchange(app, body(*few), JSON).content == {"accepted": 249, "results": []}
    mean, among, share = first(store)
    assert (mean.state, among.state, share.state) == ("final", "suppressed", "suppressed")
    assert (among.n, among.value, among.ci_low) == (99, None, None)


def test_a_share_that_may_be_0_is_too_uncertain(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    _, among, _ = collected(store, lock(upper="100", epsilon="1.0"), monkeypatch, [([], 150)])
    assert among.state == "too_uncertain"
    assert (among.ci_low, among.ci_high) == (0, 100)
    assert among.tidied is None or 0 <= among.tidied <= 100


def test_ratios_have_a_mean_over_windows(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    _, among, _ = collected(store, lock(upper="100"), monkeypatch)
    found = period(store, now=STARTS + 30 * DAY, metric=NAME, category=AMONG, end=STARTS + DAY)
    assert (found.value, found.ci_low, found.ci_high) == (among.value, among.ci_low, among.ci_high)
    with pytest.raises(ParameterError, match="category"):
        period(store, now=STARTS + 30 * DAY, metric=ACTIVE, category=AMONG)


def test_the_shell_and_the_pages_show_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with open_store(tmp_path / "shell.db") as opened:
        collected(opened, lock(upper="100"), monkeypatch)
        pages = create_pages(opened, clock=ManualClock(STARTS + DAY + 100.0))
        assert NAME in page(pages, "/").text
        assert f"/m/{NAME}?category=among+active" in page(pages, f"/m/{NAME}").linked()
    FileClock(tmp_path / "clock").set(STARTS + 30 * DAY)
    capsys.readouterr()
    output.console.cache_clear()
    output.log.cache_clear()
    asked = ["estimate", str(tmp_path / "shell.db"), "--clock", str(tmp_path / "clock"), "--end", "2026-12-02"]
    for more in (["--mean"], ["--json"]):
        with pytest.raises(SystemExit) as ended:
            cli.main(asked + more)
        assert ended.value.code == 0
        out = capsys.readouterr().out
        if more == ["--json"]:
            assert [row["category"] for row in json.loads(out)] == [None, AMONG, None]
        else:
            assert AMONG in out
            assert out.count("Mean over 1 window") == 2
            assert out.count("Mean among active over 1 window: ") == 1
            assert (
                " ".join(out.split()).count(f"among active: the mean of all over the share of {ACTIVE}; no value where")
                == 1
            )
            # Each report has half of epsilon = 8, and no line takes the sum for the price of one.
            assert out.count("Price: epsilon 4.000 for one report") == 2
            assert out.count(f"; with that of {ACTIVE} 8.000 and ") == 1


def test_pretend_devices_feed_both() -> None:
    found = plan(lock(), STARTS + 10.0)
    assert [metric.name for metric in found.spans] == [NAME, ACTIVE]
    assert found.left_out == {}
