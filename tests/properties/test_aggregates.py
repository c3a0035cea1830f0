"""Whatever comes in one window, in whatever order and over however many starts: it comes to what its word says."""

import json
import math
import tempfile
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hubbub.client import MemoryState, SqliteState, State
from hubbub.client.memory import dumped, restored
from hubbub.client.reporter import form
from hubbub.clock import ManualClock
from hubbub.lock import Lock
from tests.unit.client_support import DAY, STARTS, client
from tests.unit.test_aggregates import NAME, metric

LABELS = ("none", "a", "b", "c")
NUMBERS = st.integers(-500, 500)
YES = st.booleans()
CHOICES = st.sampled_from(LABELS)
GIVEN: Mapping[tuple[str, str], tuple[st.SearchStrategy[Any], st.SearchStrategy[Any]]] = {  # by `add`, by `set`
    ("boolean", "any"): (YES, YES),
    ("boolean", "all"): (YES, YES),
    ("boolean", "last"): (YES, YES),
    ("mean", "sum"): (NUMBERS, NUMBERS),
    ("mean", "count"): (NUMBERS, NUMBERS),
    ("mean", "max"): (NUMBERS, NUMBERS),
    ("mean", "last"): (NUMBERS, NUMBERS),
    ("mean", "share"): (YES, st.integers(0, 100).map(lambda hundredths: hundredths / 100)),
    ("histogram", "count"): (NUMBERS, NUMBERS),
    ("histogram", "share"): (YES, YES),
    ("choice", "last"): (CHOICES, CHOICES),
    ("choice", "first"): (CHOICES, CHOICES),
    ("choice", "most"): (CHOICES, CHOICES),
}
INVALID = st.sampled_from([None, math.nan, "nothing known", 7.5j, [1]])
Event = tuple[str, Any]  # add, set, or what must leave no trace


def most(values: Sequence[str]) -> str:
    """The most frequent; of several the first."""
    counts = Counter(values)
    return max(values, key=lambda value: (counts[value], -values.index(value)))


WORDS: Mapping[
    str, Callable[[Sequence[Any]], Any]
] = {  # of the values, the first of them by `set` where `count` is told
    "any": any,
    "all": all,
    "sum": sum,
    "max": max,
    "first": lambda values: values[0],
    "last": lambda values: values[-1],
    "share": lambda values: sum(values) / len(values),
    "most": most,
}


def expected(kind: str, word: str, events: Sequence[Event]) -> int:
    """By the words of spec/registry.md, from the list of all that came."""
    made = metric(kind, word)
    valid = [event for event in events if event[0] != "invalid"]
    since = max((i for i, (how, _) in enumerate(valid) if how == "set"), default=0)
    values = [value for _, value in valid[since:]]
    if not values:
        result: Any = 0.0
    elif word == "count":
        result = values[0] + len(values) - 1 if valid[since][0] == "set" else len(values)
    else:
        result = WORDS[word](values)
    if kind == "boolean":
        return int(result)
    if kind == "choice":
        return LABELS.index(result) if values else 0
    lower, upper, step = made.lower / 1e6, 480.0 if word != "share" else 1.0, made.step / 1e6
    inside = min(max(float(result), lower), upper)
    if kind == "mean":
        return math.floor((inside - lower) / step + 0.5)
    return min(math.floor((inside - lower) / step), made.encoder.size - 1)


def events(pair: tuple[st.SearchStrategy[Any], st.SearchStrategy[Any]]) -> st.SearchStrategy[list[Event]]:
    adds, sets = pair
    add, replace = st.tuples(st.just("add"), adds), st.tuples(st.just("set"), sets)
    return st.lists(st.one_of(add, add, add, replace, st.tuples(st.just("invalid"), INVALID)), max_size=12)


def lived(kind: str, word: str, came: Sequence[Event], restarts: set[int], state: State, again: Any) -> int:
    """What a device's window comes to where the program starts anew before some of the events."""
    made = metric(kind, word)
    locked, clock = Lock("editor-desktop", {NAME: made}), ManualClock(STARTS - 100.0)
    device = client(locked, clock, state=state)
    clock.set(STARTS + 10)
    for number, (how, value) in enumerate(came):
        if number in restarts:
            state = again(state)
            device = client(locked, clock, state=state)
        for call in (device.add, device.set) if how == "invalid" else (getattr(device, how),):
            call(NAME, value)
    device.tick()
    wrong = sum(how == "invalid" for how, _ in came)
    assert device.counters.get("invalid_value", 0) <= 2 * wrong
    held: list[Any] = []
    state.seal(STARTS + DAY, lambda window: held.append(window.value))
    state.close()
    (value,) = held
    takes = form(made)
    return takes.index(takes.null if value is None else value)


@pytest.mark.parametrize(("kind", "word"), GIVEN)
@given(data=st.data())
@settings(max_examples=60, deadline=None)
def test_in_memory(kind: str, word: str, data: st.DataObject) -> None:
    came = data.draw(events(GIVEN[kind, word]))
    restarts = data.draw(st.sets(st.integers(0, 12)))
    found = lived(kind, word, came, restarts, MemoryState(), lambda s: restored(json.loads(json.dumps(dumped(s)))))
    assert found == expected(kind, word, came)


@pytest.mark.parametrize(
    ("kind", "word"), [("mean", "share"), ("mean", "max"), ("choice", "most"), ("choice", "first")]
)
@given(data=st.data())
@settings(max_examples=8, deadline=None)
def test_in_a_folder(kind: str, word: str, data: st.DataObject) -> None:
    came = data.draw(events(GIVEN[kind, word]))
    restarts = data.draw(st.sets(st.integers(0, 12), max_size=3))
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "state"

        def again(state: State) -> State:
            state.close()
            return SqliteState(place)

        assert lived(kind, word, came, restarts, SqliteState(place), again) == expected(kind, word, came)


@pytest.mark.parametrize(("kind", "word"), [pair for pair in GIVEN if pair[1] not in ("first", "last", "most")])
@given(data=st.data())
@settings(max_examples=60, deadline=None)
def test_the_order_of_events_does_not_matter(kind: str, word: str, data: st.DataObject) -> None:
    came = data.draw(st.lists(st.tuples(st.just("add"), GIVEN[kind, word][0]), min_size=1, max_size=8))
    mixed = data.draw(st.permutations(came))
    takes = form(metric(kind, word))
    found = []
    for order in (came, mixed):
        held = None
        for _, value in order:
            held = takes.kind.put(takes.added(value), replace=False)(held)
        found.append(takes.index(held))
    assert found[0] == found[1] == expected(kind, word, came)
