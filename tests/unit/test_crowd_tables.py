"""What a crowd prints: truth beside estimate, and what is said of intervals that miss."""

import json
from typing import Any

import pytest

from hubbub.cli import beside, output
from hubbub.estimates import Known, Row
from hubbub.lock import Metric
from hubbub.replay.crowd import Outcome, key_of
from hubbub.store.catalogue import Definition
from hubbub.windows import iso
from tests.unit.collecting import FIRST, late
from tests.unit.crowd_support import everything

Pair = tuple[Outcome, Row | None]
ALL = everything("boolean.any", "choice.last", "words.last", "vector.sum", "histogram.sum", "active")


def known(metric: Metric) -> dict[tuple[str, str], Known]:
    found = Known.of(Definition(metric))
    return {(found.name, found.hash): found}


def pair(metric: Metric, truth: float, category: str = "", window: int = FIRST, **figures: Any) -> Pair:
    """An outcome of 500 devices and a row whose interval reaches 0.02 to both sides of its value."""
    outcome = Outcome(metric, window, "", category, 500, truth, truth)
    value = figures.pop("value", truth)
    ends = (None, None) if value is None else (value - 0.02, value + 0.02)
    row = Row(
        metric=metric.name,
        version=1,
        hash=metric.hash[:32],
        window_start=iso(metric.windows.start(window)),
        window_end=iso(metric.windows.end(window)),
        segment="",
        category=category or None,
        state="final",
        n=500,
        n_effective=500,
        value=value,
        se=0.01,
        se_shared=0.0,
        ci_low=figures.pop("ci_low", ends[0]),
        ci_high=figures.pop("ci_high", ends[1]),
        level=0.95,
        method="wilson",
        tidied=value,
        epsilon=1.0,
        permanent_epsilon=None,
        manipulation_per_percent=0.01,
    )
    return outcome, row


def shown(pairs: list[Pair], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> str:
    """What is printed, 80 columns wide."""
    monkeypatch.setenv("COLUMNS", "80")
    output.console.cache_clear()
    capsys.readouterr()
    every: dict[tuple[str, str], Known] = {}
    for outcome, _ in pairs:
        every |= known(outcome.metric)
    beside.show(pairs, every)
    text = capsys.readouterr().out
    assert max(map(len, text.splitlines())) <= 80
    return text


def dated(text: str) -> list[list[str]]:
    """The rows of the tables."""
    return [line.split() for line in text.splitlines() if line.startswith(" 2026-")]


@pytest.fixture
def table(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Any:
    return lambda pairs: shown(pairs, capsys, monkeypatch)


def test_an_interval_that_misses_is_marked_and_counted(table: Any) -> None:
    """One of four is off by more than its interval reaches, as if a category had been mistaken for another."""
    choice = ALL.metrics["app.choice.last"]
    truths = {"none": 0.1, "light": 0.5, "dark": 0.25, "sepia": 0.1, "contrast": 0.05}
    good = [pair(choice, truth, name) for name, truth in truths.items()]
    text = table(good)
    assert "5 of 5 intervals hold the truth, about 5 are expected." in text
    assert "*" not in text
    bad = [pair(choice, 0.25, "dark", value=0.28), *good[:2], *good[3:]]
    text = table(bad)
    assert "4 of 5 intervals hold the truth, about 5 are expected: * marks" in " ".join(text.split())
    (line,) = (line for line in text.splitlines() if "dark" in line)
    assert line.endswith("25.0 %     28.0 %   26.0 to 30.0 % * ")
    assert text.count("*") == 2


def test_the_edge_of_an_interval_belongs_to_it(table: Any) -> None:
    yes = ALL.metrics["app.boolean.any"]
    edges = [pair(yes, 0.25, ci_low=0.25, ci_high=0.3), pair(yes, 0.3, window=FIRST + 1, ci_low=0.25, ci_high=0.3)]
    beyond = [pair(yes, 0.25, window=FIRST + 2, ci_low=0.250001, ci_high=0.3)]
    assert "2 of 3 intervals hold" in table(edges + beyond)


def test_the_commonest_categories_are_shown_in_their_order(table: Any) -> None:
    histogram = ALL.metrics["app.histogram.sum"]
    buckets = {str(i): 0.01 + 0.01 * (i % 7) for i in range(24)}
    pairs = [pair(histogram, truth, name) for name, truth in buckets.items()]
    text = table(pairs)
    shown = [cells[1] for cells in dated(text)]
    assert shown == sorted(shown, key=int)
    assert len(shown) == 10
    assert min(buckets[name] for name in shown) >= max(v for name, v in buckets.items() if name not in shown)
    assert "The 10 commonest of 24 categories; --json prints all." in text
    assert "24 of 24 intervals" in text  # those that are not shown too


def test_the_first_coordinates_are_shown(table: Any) -> None:
    vector = ALL.metrics["app.vector.sum"]
    text = table([pair(vector, -0.1 * i, f"c{i}") for i in range(12)])
    assert [cells[1] for cells in dated(text)] == [f"c{i}" for i in range(10)]
    assert "coordinate" in text
    assert "The first 10 of 12 coordinates; --json prints all." in text


def test_the_last_whole_windows_are_shown(table: Any) -> None:
    choice = ALL.metrics["app.choice.last"]
    names = ("none", "light", "dark", "sepia")
    pairs = [pair(choice, 0.25, name, FIRST + day) for day in range(20) for name in names]
    text = table(pairs)
    days = [cells[0] for cells in dated(text)]
    assert len(days) == 28  # 30 would begin within a window
    assert set(days) == {f"2026-12-{day}" for day in range(14, 21)}
    assert "The last 28 of 80 rows; --json prints all." in text
    yes = ALL.metrics["app.boolean.any"]
    assert "The last" not in table([pair(yes, 0.2, window=FIRST + day) for day in range(30)])
    assert "The last 30 of 31 rows" in table([pair(yes, 0.2, window=FIRST + day) for day in range(31)])


def test_words_are_counted_apart(table: Any) -> None:
    words, yes = ALL.metrics["app.words.last"], ALL.metrics["app.boolean.any"]
    found = [
        pair(words, 0.2, "vemome"),
        pair(words, 0.1, "nanani", value=0.15),
        pair(words, 0.02, "lo\x1bst", value=None),
    ]
    text = " ".join(table([pair(yes, 0.3), *found]).split())
    assert "1 of 1 intervals hold the truth, about 1 are expected." in text
    assert "Of words that were found, 1 of 2 intervals hold the truth" in text
    assert "Words with a dash were not found" in text
    assert "fewer than min_reports" not in text
    assert "lo?st" in text
    assert "\x1b" not in text


def test_dashes_are_explained(table: Any) -> None:
    mean = ALL.metrics["app.active"]
    suppressed = pair(mean, 3.0, value=None)
    unsure = pair(mean, 5.0, "among active", value=None, ci_low=0.0, ci_high=40.0)
    text = " ".join(table([suppressed, unsure]).split())
    assert "Where a dash stands, fewer than min_reports reports came." in text
    assert "Where only the estimate is a dash, the share of the active cannot be told from 0." in text
    outcome, _ = suppressed
    assert " all 0 3 h – –" in " ".join(table([(outcome, None), unsure]).split())


def test_rows_for_programs_name_the_category() -> None:
    choice, yes = ALL.metrics["app.choice.last"], late()
    outcome, row = pair(choice, 0.25, "dark", value=0.28)
    assert row is not None
    assert key_of(row) == outcome.key
    first = beside.as_row(outcome, row)
    assert first == {
        "metric": "app.choice.last",
        "window": "2026-12-01T00:00:00Z",
        "segment": "",
        "category": "dark",
        "sent": 500,
        "truth": 0.25,
        "truth_clipped": 0.25,
        "estimate": 0.28,
        "ci_low": pytest.approx(0.26),
        "ci_high": pytest.approx(0.3),
        "n": 500,
        "state": "final",
    }
    outcome, row = pair(yes, 0.25)
    assert row is not None
    assert key_of(row) == outcome.key
    assert beside.as_row(outcome, None) | {"truth": 0} == json.loads(
        '{"metric": "flight.late", "window": "2026-12-01T00:00:00Z", "segment": "", "category": "", "sent": 500,'
        ' "truth": 0, "truth_clipped": 0.25, "estimate": null, "ci_low": null, "ci_high": null, "n": 0,'
        ' "state": "empty"}'
    )
