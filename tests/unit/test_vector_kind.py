"""The kind `vector` from metrics.toml over devices and a collector to a row for each coordinate."""

import array
import itertools
import json
import math
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hubbub.client import MemoryState, Report, Running, SqliteState, State
from hubbub.client.memory import dumped, restored
from hubbub.client.reporter import Reporter, form
from hubbub.client.showing import preview_plain, preview_text
from hubbub.definitions import DefinitionErrors, build, compare, facts, loads
from hubbub.definitions.advice import review
from hubbub.definitions.checks import steps
from hubbub.definitions.wording import worth_lines
from hubbub.encoders.vector import of_vectors
from hubbub.errors import LockError, PrivateValueError
from hubbub.lock import Lock, Metric, dump, parse
from hubbub.mechanisms import of_metric
from hubbub.mechanisms.vector import TICKS
from hubbub.privacy import exact_life, explain
from hubbub.store.catalogue import Definition
from tests.unit.client_support import DAY, STARTS
from tests.unit.definitions_support import BOOLEAN, text
from tests.unit.state_support import begin

NAME = "editor.minutes"
MECHANISMS = ["harmony", "duchi_vector", "piecewise_vector"]
VECTOR = BOOLEAN | {
    "kind": '"vector"',
    "strategy": '"fresh"',
    "unit": '"min"',
    "dimension": "3",
    "norm": "2",
    "epsilon": "4.0",
}
NAMED = VECTOR | {"coordinates": '["left", "right", "none"]'}


def metric(**changes: str | None) -> Metric:
    return build(loads(text(VECTOR | changes).encode(), "metrics.toml")).metrics[NAME]


def lock(made: Metric) -> Lock:
    return Lock("editor-desktop", {made.name: made})


def test_a_vector_is_locked_with_its_grid_and_its_names() -> None:
    made, plain = metric(coordinates=NAMED["coordinates"]), metric()
    assert (made.labels, plain.labels) == (("left", "right", "none"), ())
    assert (made.lower, made.step, of_vectors(made.encoder).ticks) == (-2_000_000, 200, 20_000)
    assert Definition(made).categories == ("left", "right", "none")
    assert Definition(plain).categories == ("0", "1", "2")
    assert len({made.hash, plain.hash, metric(norm="4").hash, metric(dimension="4").hash}) == 4
    for one in (made, plain):
        assert parse(dump(lock(one))).metrics[NAME] == one
        assert of_metric(one).bounds == (-2, 2)
        assert of_metric(one).epsilon <= 4
        assert exact_life(one.encoder, 30) == one.encoder.prices(30).life
        assert len(explain(one)) > 10
    assert (facts(made)["norm"], facts(made)["coordinates"]) == ("2", "left, right, none")
    (change,) = compare(lock(plain), lock(replace(made, version=2)))
    assert change.breaks
    assert ("coordinates", "", "left, right, none") in change.keys


@pytest.mark.parametrize("norm", [1, 2, 9_999, 10_000, 10_001, 37_000, 1_000_000, 1_048_576, 480_000_000, 10**15])
def test_a_range_is_cut_into_whole_millionths(norm: int) -> None:
    ticks = steps(norm)
    assert ticks <= TICKS
    assert 2 * norm % ticks == 0
    assert not [more for more in range(ticks + 1, min(2 * norm, TICKS) + 1) if not 2 * norm % more]


def test_three_decimals_always_leave_a_fine_grid() -> None:
    assert min(steps(1000 * norm) for norm in range(1, 3000)) == 2000


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"norm": "0.999983"}, "leaves 2 steps.*\n.*write norm = 1$"),
        ({"norm": "0"}, "norm = 0"),
        ({"norm": None}, "the kind vector needs it"),
        ({"dimension": None}, "the kind vector needs it"),
        ({"dimension": "1"}, "a whole number in \\[2, 4096\\]"),
        ({"dimension": "4097"}, "a whole number in \\[2, 4096\\]"),
        ({"coordinates": '["x", "y"]'}, "has 2 names for dimension = 3"),
        ({"coordinates": '["x", "y", "x"]'}, "two coordinates alike"),
        ({"strategy": '"memo"'}, "is not there for the kind vector"),
        ({"mechanism": '"piecewise"'}, "is not a mechanism for the kind vector"),
        ({"mechanism": '"duchi_vector"', "dimension": "33"}, "dimension = 33"),
        ({"lower": "0"}, "belongs to the kind mean"),
        ({"target_margin": "2.5"}, "more than 2, half the range"),
    ],
)
def test_definitions_that_are_refused(changes: dict[str, str | None], words: str) -> None:
    with pytest.raises(DefinitionErrors, match=f"(?m){words}"):
        metric(**changes)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"labels": ("a", "b")}, "must be 3"),
        ({"labels": ("a", "b", "a")}, "must be 3"),
        ({"step": 201}, "do not lead from lower to -lower"),
        ({"lower": -1_000_000}, "do not lead from lower to -lower"),
        ({"kind": "mean"}, "does not encode the kind mean"),
    ],
)
def test_a_lock_that_does_not_fit_is_refused(changes: dict[str, Any], words: str) -> None:
    with pytest.raises(LockError, match=words):
        parse(dump(lock(replace(metric(), **changes))))


def test_the_mechanism_follows_from_epsilon_and_dimension() -> None:
    assert metric(epsilon="1.0").encoder.name == "harmony"
    assert metric(epsilon="4.0").encoder.name == "duchi_vector"
    assert metric(epsilon="8.0", dimension="2").encoder.name == "piecewise_vector"
    assert metric(epsilon="1.0", dimension="4096").encoder.name == "harmony"
    assert metric(dimension="30").encoder.name == "duchi_vector"
    assert metric(dimension="30", max_bits="8").encoder.name == "harmony"


def test_lint_says_what_each_coordinate_is_worth() -> None:
    asked = VECTOR | {"expected_devices": "10000", "target_margin": "0.01"}
    registry = loads(text(asked).encode(), "metrics.toml")
    (found,) = review(registry, registry.metrics[NAME].starts)
    first, target, _ = worth_lines(build(registry).metrics[NAME], found)
    mechanism = of_metric(build(registry).metrics[NAME])
    half = 1.959964 * math.sqrt(float(np.max(mechanism.variance(np.zeros(3), 10_000))))
    assert found.worth[0].margin == pytest.approx(half, rel=1e-6)
    assert found.worth[0].share == pytest.approx(half / 4, rel=1e-6)
    assert "for each coordinate at worst" in first
    assert "min (" in first
    narrower = {cure.key: cure for cure in found.cures}["norm"]
    assert f"norm {narrower.value:g} →" in target
    assert 2 / 3.1 <= narrower.value < 2
    changed = loads(text(asked | {"norm": f"{narrower.value:g}"}).encode(), "metrics.toml")
    assert review(changed, registry.metrics[NAME].starts)[0].worth[0].margin == pytest.approx(narrower.margin)


class Lying(list[float]):
    """Claims to be shorter than it is."""

    def __len__(self) -> int:
        return 3


class Hostile:
    def __len__(self) -> int:
        raise RuntimeError("asked")


@pytest.mark.parametrize(
    "value",
    [(1, 2.5, -3), [1, 2.5, -3], np.array([1, 2.5, -3]), array.array("d", [1, 2.5, -3])],
    ids=lambda value: type(value).__name__,
)
def test_what_a_vector_takes(value: object) -> None:
    assert form(metric()).read(value) == (1.0, 2.5, -3.0)


@pytest.mark.parametrize(
    "value",
    [
        [],
        [1, 2],
        [1, 2, 3, 4],
        Lying([1, 2, 3, 4]),
        Lying([1, 2, 3, math.nan]),
        [1, 2, math.nan],
        [1, 2, math.inf],
        [1, 2, True],
        [1, 2, None],
        [1, 2, "3"],
        [1, 2, [3]],
        np.zeros((3, 1)),
        np.zeros(()),
        "123",
        b"123",
        bytearray(b"123"),
        {1: 1, 2: 2, 3: 3},
        {1.0, 2.0, 3.0},
        iter([1, 2, 3]),
        itertools.repeat(1.0),
        1.0,
        None,
        Hostile(),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_a_vector_does_not_take(value: object) -> None:
    assert form(metric()).read(value) is None


def test_numbers_go_to_ticks_on_device_and_in_bulk() -> None:
    made = metric(norm="0.7", dimension="2")
    encoder, bulk = of_vectors(made.encoder), of_metric(made)
    numbers = np.concatenate([np.linspace(-0.8, 0.8, 4001), [-1e308, 1e308, -0.0, 5e-324, 0.7, -0.7]])
    values = np.column_stack([numbers, numbers[::-1]])
    ticks = [encoder.coordinates(form(made).index(tuple(row))) for row in values.tolist()]
    assert ticks == list(map(tuple, bulk.index(values).tolist()))
    assert encoder.coordinates(form(made).index((math.inf, -math.inf))) == (encoder.ticks, 0)
    assert encoder.coordinates(form(made).index(form(made).null)) == (encoder.ticks // 2,) * 2


@pytest.fixture(params=["memory", "folder"])
def state(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[State]:
    made = MemoryState() if request.param == "memory" else SqliteState(tmp_path / "device")
    yield made
    made.close()


def held(state: State) -> object:
    """What the first day's window holds when it is sealed."""
    found: list[object] = []

    def encode(running: Running) -> Report:
        found.append(running.value)
        return Report("a", b"")

    state.seal(STARTS + DAY, encode)
    return found[0]


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ([], None),
        ([((0.1, 0.2, -0.3), False)], (0.1, 0.2, -0.3)),
        ([((0.1, 0.2, -0.3), False), ((1.0, 0.0, 1e-300), False)], (1.1, 0.2, -0.3 + 1e-300)),
        ([((5.0, 5.0, 5.0), False), ((1.0, -0.0, 2.0), True)], (1.0, 0.0, 2.0)),
        ([((1e308, -1e308, 0.0), False)] * 2, (math.inf, -math.inf, 0.0)),
    ],
)
def test_a_window_holds_all_of_them(state: State, given: list[tuple[Any, bool]], kept: object) -> None:
    made = metric()
    begin(state, lock(made))
    window = Running(NAME, made.hash, STARTS, STARTS + DAY, "")
    state.run([window])
    for value, replaced in given:
        assert state.record(window, form(made).kind.put(form(made).read(value), replace=replaced))
    assert held(state) == kept


def test_a_window_goes_on_in_the_next_process(tmp_path: Path) -> None:
    made, add = metric(), form(metric()).kind.put((0.5, 0.25, -1.0), replace=False)
    window = Running(NAME, made.hash, STARTS, STARTS + DAY, "")
    for _ in range(2):
        state = SqliteState(tmp_path)
        begin(state, lock(made))
        state.run([window])
        assert state.record(window, add)
        state.close()
    state = SqliteState(tmp_path)
    assert begin(state, lock(made)).recovered == ""
    assert held(state) == (1.0, 0.5, -2.0)
    state.close()


@pytest.mark.parametrize("damage", [b"", b"1234567", b"123456789", "1,2,3", 3], ids=repr)
def test_what_no_window_holds_is_damage(tmp_path: Path, damage: object) -> None:
    made = metric()
    state = SqliteState(tmp_path)
    begin(state, lock(made))
    state.run([Running(NAME, made.hash, STARTS, STARTS + DAY, "")])
    state.close()
    with closing(sqlite3.connect(tmp_path / "state.db", isolation_level=None)) as db:
        db.execute("UPDATE running SET value = ?", (damage,))
        kind = db.execute("SELECT typeof(value) FROM running").fetchone()[0]
    state = SqliteState(tmp_path)
    assert begin(state, lock(made)).recovered == ("" if kind == "real" else "secret_recovered")
    state.close()


def test_a_state_in_memory_is_dumped_and_read_back() -> None:
    made, state = metric(), MemoryState()
    begin(state, lock(made))
    window = Running(NAME, made.hash, STARTS, STARTS + DAY, "")
    state.run([window])
    state.record(window, form(made).kind.put((0.1, 0.2, 1e300), replace=False))
    assert held(restored(json.loads(json.dumps(dumped(state))))) == (0.1, 0.2, 1e300)


@pytest.mark.parametrize("mechanism", MECHANISMS)
@pytest.mark.parametrize("dimension", [3, 30])
def test_a_preview_says_what_is_sent(mechanism: str, dimension: int) -> None:
    made = metric(mechanism=f'"{mechanism}"', dimension=str(dimension))
    reporter = Reporter(made, "editor-desktop", bytes(32), "")
    seen = reporter.preview([1.5] + [0] * (dimension - 1))
    plain = json.loads(json.dumps(preview_plain(made, seen)))
    assert plain["value"] == plain["answer"] == [17_500] + [10_000] * (dimension - 1)
    assert plain["meaning"] == "1.5" + ", 0" * (dimension - 1) + " min"
    assert not plain["permanent"]
    assert len(plain["chances"]) == 3
    text = preview_text(made, "given", seen)
    assert "of 0 to 20000; what lies outside is clipped" in text
    assert "  -2, ..., -2 min " in text
    with pytest.raises(PrivateValueError) as caught:
        reporter.preview([4711.0])
    assert "4711" not in str(caught.value)


def test_a_preview_of_thousands_of_coordinates() -> None:
    made = metric(dimension="4096", epsilon="1.0")
    seen = Reporter(made, "editor-desktop", bytes(32), "").preview(range(4096))
    assert len(preview_plain(made, seen)["value"]) == 4096
    assert preview_text(made, "given", seen)
