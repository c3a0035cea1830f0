"""What several values in one window come to, from metrics.toml to the encoder's value."""

import json
import math
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from hubbub.client import MemoryState, SqliteState, State
from hubbub.client.memory import dumped, restored
from hubbub.client.reporter import Reporter, form
from hubbub.client.values import KINDS, kind_of
from hubbub.clock import ManualClock
from hubbub.definitions import DefinitionErrors, build, compare, facts, loads, schema
from hubbub.dossier.metrics import section
from hubbub.errors import LockError, PrivateValueError
from hubbub.lock import AGGREGATES, Lock, Metric, dump, parse
from tests.unit.client_support import DAY, STARTS, client
from tests.unit.definitions_support import BOOLEAN, text

NAME = "editor.minutes"
RANGES: dict[str, dict[str, str]] = {
    "boolean": {},
    "mean": {"lower": "0", "upper": "480", "unit": '"min"'},
    "choice": {"categories": '["a", "b", "c"]'},
    "histogram": {"lower": "0", "upper": "480", "buckets": "48"},
    "words": {},
    "vector": {"dimension": "2", "norm": "4", "strategy": '"fresh"'},
}
SHARE = {"mean": {"upper": "1", "step": "0.01"}, "histogram": {"upper": "1", "buckets": "10"}}
SPEC = Path(__file__).parents[2] / "spec"
EVERY = [(kind, word) for kind, words in AGGREGATES.items() for word in words]


def metric(kind: str, word: str, **changes: str | None) -> Metric:
    """A metric that takes the range that its aggregate needs."""
    made: dict[str, str | None] = {**BOOLEAN, "kind": f'"{kind}"', "aggregate": f'"{word}"', **RANGES[kind]}
    if word == "share":
        made |= SHARE.get(kind, {})
    return build(loads(text(made | changes).encode(), "metrics.toml")).metrics[NAME]


def index(made: Metric, events: list[Any], *, replaced: Any = None) -> int:
    """The encoder's value of a window with these events, the first of them given by `set` where `replaced` is not."""
    takes, held = form(made), None
    if replaced is not None:
        held = takes.kind.put(takes.read(replaced), replace=True)(held)
    for event in events:
        held = takes.kind.put(takes.added(event), replace=False)(held)
    return takes.index(takes.null if held is None else held)


CASES: list[tuple[str, str, list[Any], int]] = [
    ("boolean", "any", [False, True, False], 1),
    ("boolean", "all", [True, False, True], 0),
    ("boolean", "all", [True, True], 1),
    ("boolean", "all", [], 0),
    ("boolean", "last", [True, False], 0),
    ("boolean", "last", [False, True], 1),
    ("mean", "sum", [3, 4, 5], 12),
    ("mean", "count", [100, 0, -7], 3),
    ("mean", "count", [], 0),
    ("mean", "max", [3, 40, 5], 40),
    ("mean", "max", [-3, -40], 0),
    ("mean", "last", [3, 40, 5], 5),
    ("mean", "share", [True, False, False], 33),
    ("mean", "share", [True], 100),
    ("mean", "share", [False], 0),
    ("mean", "share", [], 0),
    ("histogram", "sum", [30, 40, 5], 7),
    ("histogram", "count", [1] * 25, 2),
    ("histogram", "max", [30, 400, 5], 40),
    ("histogram", "last", [30, 400, 5], 0),
    ("histogram", "share", [True, False], 5),
    ("choice", "last", ["a", "c", "b"], 2),
    ("choice", "first", ["b", "a", "a"], 2),
    ("choice", "most", ["a", "c", "b", "c"], 3),
    ("choice", "most", ["c", "b", "b", "c", "a"], 3),  # as many of two: that which came first
    ("choice", "most", ["none", "none", "a"], 0),
    ("choice", "most", [], 0),
]


@pytest.mark.parametrize(("kind", "word", "events", "value"), CASES)
def test_what_events_come_to(kind: str, word: str, events: list[Any], value: int) -> None:
    assert index(metric(kind, word), events) == value


def test_every_aggregate_is_among_the_cases() -> None:
    assert {(kind, word) for kind, word, _, _ in CASES} == {(k, w) for k, w in EVERY if k not in ("words", "vector")}


@pytest.mark.parametrize(
    ("kind", "word", "given", "events", "value"),
    [
        ("boolean", "all", False, [True], 0),
        ("boolean", "last", False, [True], 1),
        ("mean", "count", 7, [100, 200], 9),
        ("mean", "count", 2.5, [], 3),
        ("mean", "max", 7, [3], 7),
        ("mean", "share", 0.25, [], 25),
        ("mean", "share", 0.5, [True], 75),
        ("mean", "share", True, [], 100),
        ("histogram", "count", 30, [1], 3),
        ("choice", "first", "c", ["a"], 3),
        ("choice", "most", "c", ["a", "a"], 1),
    ],
)
def test_set_says_what_the_whole_window_holds(kind: str, word: str, given: Any, events: list[Any], value: int) -> None:
    assert index(metric(kind, word), events, replaced=given) == value


NO_EVENT: dict[str, list[Any]] = {
    "count": [True, None, "1", math.nan, math.inf],
    "max": [True, None, "1", math.nan],
    "share": [0.5, 2, -1, "yes", None, math.nan],
    "most": ["d", "", None, 1, True],
    "first": ["d", None, 1],
    "all": [2, None, "yes"],
}
NO_WINDOW: dict[str, list[Any]] = {"count": [True, None, math.nan], "share": [1.5, -0.1, "yes", None, math.nan]}


@pytest.mark.parametrize(("kind", "word"), [(k, w) for k, w in EVERY if w in NO_EVENT])
def test_what_is_no_event_leaves_no_trace(kind: str, word: str) -> None:
    made = metric(kind, word)
    takes = form(made)
    assert [takes.added(value) for value in NO_EVENT[word]] == [None] * len(NO_EVENT[word])
    for value in NO_WINDOW.get(word, []):
        assert takes.read(value) is None
        with pytest.raises(PrivateValueError) as refused:
            Reporter(made, "editor-desktop", bytes(32), "").preview(value)
        assert repr(value) not in str(refused.value)


def opened(kind: type[State], folder: Path) -> State:
    return MemoryState() if kind is MemoryState else SqliteState(folder)


@pytest.mark.parametrize("kind", [MemoryState, SqliteState])
@pytest.mark.parametrize(("word", "events"), [("share", [True, False, "x", True]), ("most", ["b", "a", 5, "a"])])
def test_a_window_goes_on_after_a_restart_and_is_wiped_when_sealed(
    kind: type[State], tmp_path: Path, word: str, events: list[Any]
) -> None:
    made = metric("mean" if word == "share" else "choice", word)
    locked, clock = Lock("editor-desktop", {NAME: made}), ManualClock(STARTS - 100.0)
    state = opened(kind, tmp_path / "state")
    device = client(locked, clock, state=state)
    clock.set(STARTS + 10)
    for event in events:
        device.add(NAME, event)
        if isinstance(state, SqliteState):
            state.close()
            state = opened(kind, tmp_path / "state")
        else:
            state = restored(json.loads(json.dumps(dumped(state))))  # type: ignore[arg-type]
        device = client(locked, clock, state=state)
    seen: list[Any] = []
    state.seal(STARTS + DAY, lambda window: seen.append(window.value))
    assert seen == [(3.0, 2.0) if word == "share" else (2.0, 1.0, 1.0, 2.0)]
    if isinstance(state, SqliteState):
        assert state._tables.db.execute("SELECT COUNT(*) FROM running").fetchone() == (0,)
        state.close()


@pytest.mark.parametrize(("kind", "word"), EVERY)
def test_locks_keep_the_word_and_leave_the_usual_one_out(kind: str, word: str) -> None:
    made, usual = metric(kind, word), word == AGGREGATES[kind][0]
    written = dump(Lock("editor-desktop", {NAME: made}))
    assert parse(written).metrics[NAME] == made
    assert ("aggregate" in json.loads(written)["metrics"][NAME]) is not usual
    assert made.aggregated == word
    if word != "share":
        plain = metric(kind, AGGREGATES[kind][0])
        assert (made.hash == plain.hash) is usual
        assert build(loads(text({**BOOLEAN, "kind": f'"{kind}"', **RANGES[kind]}).encode(), "t")).metrics[NAME] == plain


def test_the_specification_gives_hashes_with_and_without_a_word() -> None:
    told, page = ((SPEC / name).read_text("utf-8") for name in ("README.md", "registry.md"))
    made = parse(re.findall(r"```json\n(.*?)```", page, re.DOTALL)[0]).metrics[NAME]
    assert made.hash in told
    assert replace(made, aggregate="max").hash in told


@pytest.mark.parametrize("kind", AGGREGATES)
@pytest.mark.parametrize("word", ["sum", "most", "any", "share"])
def test_reader_and_schema_take_the_same_words(kind: str, word: str) -> None:
    branches = schema()["$defs"]["Definition"]["allOf"]
    (found,) = (one["then"] for one in branches if one["if"]["properties"]["kind"]["const"] == kind)
    fits = word in AGGREGATES[kind]
    assert jsonschema.Draft202012Validator(found["properties"]["aggregate"]).is_valid(word) is fits
    if fits:
        assert metric(kind, word).aggregated == word
    else:
        with pytest.raises(DefinitionErrors) as refused:
            metric(kind, word)
        assert f'metrics."{NAME}".aggregate' in [problem.key for problem in refused.value.problems]


@pytest.mark.parametrize(
    ("changes", "key"),
    [({"lower": "-1"}, "lower"), ({"upper": "2"}, "upper"), ({"step": "1"}, "step"), ({"step": None}, "step")],
)
def test_a_share_lies_between_0_and_1(changes: dict[str, str | None], key: str) -> None:
    with pytest.raises(DefinitionErrors) as refused:
        metric("mean", "share", **changes)
    assert [problem.key for problem in refused.value.problems] == [f'metrics."{NAME}".{key}']


def test_a_lock_whose_share_has_another_range_is_refused() -> None:
    made = metric("mean", "max")
    with pytest.raises(LockError, match="a share lies between"):
        parse(dump(Lock("editor-desktop", {NAME: replace(made, aggregate="share")})))


def test_a_lock_of_a_later_release_is_refused() -> None:
    made = metric("mean", "max")
    with pytest.raises(LockError, match="aggregate: 'median' is not one of"):
        parse(dump(Lock("editor-desktop", {NAME: replace(made, aggregate="median")})))


def test_people_are_told() -> None:
    made, before = metric("mean", "max"), metric("mean", "sum")
    assert facts(made)["aggregate"] == "max"
    assert "aggregate" not in {key for key, value in facts(metric("words", "last")).items() if value}
    (change,) = compare(Lock("editor-desktop", {NAME: before}), Lock("editor-desktop", {NAME: made}))
    assert ("aggregate", "sum", "max") in change.keys
    assert change.breaks
    assert "the largest value of a window" in section(made, "editor-desktop")
    assert "yes or no at each event" in section(metric("mean", "share"), "editor-desktop")


def test_a_kind_without_a_word_is_taken_as_it_is() -> None:
    for kind, words in AGGREGATES.items():
        assert kind_of(metric(kind, words[0])) is KINDS[kind]
