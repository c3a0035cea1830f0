"""Reading a metrics.lock: strict, and never anything but a LockError that names the key."""

import json
from dataclasses import fields, replace
from typing import Any

import pytest

from hubbub.encoders.base import Encoder, Prices
from hubbub.encoders.randomized_response import RandomizedResponse
from hubbub.encoders.rappor import Rappor
from hubbub.errors import HubbubError, LockError
from hubbub.lock import KINDS, MILLION, Lock, Metric, dump, parse, shown
from hubbub.lock import reading as module
from hubbub.mechanisms import registry as mechanisms
from hubbub.windows import midnight
from tests.unit.sample_lock import MINUTES, YES_NO, lock, metric

NAME = "editor.minutes"
DROP = object()
LONG = "x" * 1001
HALF = "\ud800"  # a lone surrogate, which JSON can hold and no file can

INTEGERS: list[Any] = [
    *(None, {}, "480", [], [480], [1.0] * 6, [True] * 6, [2**60] * 6),
    [480, 480, 511972653, 3271021990, 844441824, 2],
    [480, 480, 511972653, 3271021990, 844441824, -1],
    [480, 480, 511972653, 3271021991, 844441824, 1],
]
DIMENSIONS: list[Any] = [
    *(None, {}, {"os": ["a"]}, "os", [["os"]], [["os", ["a"], ["b"]]], [["os", "ab"]], [["os", []]]),
    *([["OS", ["a"]]], [["x" * 33, ["a"]]], [["os", ["a", "a"]]], [["os", ["a/b"]]], [["os", ["é"]]]),
    *([["os", [""]]], [["os", [1]]], [["os", ["a" * 65]]], [["os", [f"v{i}" for i in range(65)]]]),
    [["a", [f"v{i}" for i in range(13)]], ["b", [f"v{i}" for i in range(5)]]],
]

# Per key of a metric: values of a wrong type, out of range or of another form.
BAD: dict[str, list[Any]] = {
    "version": [0, -1, 1.0, "1", True, None, 2**53, [1]],
    "hash": ["", "0" * 63, "0" * 64, "A" * 64, "g" * 64, 0, None],
    "kind": ["", "Mean", "median", None, 3, ["mean"]],
    "encoder": ["", "laplace", "OneBitMean", None, 1, ["one_bit_mean"]],
    "integers": INTEGERS,
    "lower": [0.5, "0", None, True, 2**53, -(2**53)],
    "step": [0, -1, 1.5, "1", None, True, 2**53],
    "unit": [None, 1, "x" * 33, HALF],
    "labels": [None, "yes", {}, [""], ["x" * 65], [1], [None], [HALF]],
    "window": ["", "minute", "Day", 86400, None, ["day"]],
    "starts": ["", "2026-12-1", "01.12.2026", "2026-13-01", "2026-02-30", "20261201", "2026-W49-2", 20261201, None],
    "expires": ["", "2026-12-01", "2026-11-30", "2028-01-06", "2026-12-01T00:00:00Z", 0, None],
    "grace": [0, 3599, 90 * 86400 + 1, 3600.0, "14d", True, None],
    "report_every": [0, 401, 1.0, "1", True, None],
    "rotation": ["group", "group:", "group:01", "Group:0", "group:0/1", ":0", "group:-1", None, 0, []],
    "presence": ["Hidden", "", None, 1],
    "seal": ["exit", "", None, 1],
    "dimensions": DIMENSIONS,
    "min_reports": [0, -1, 1.0, "100", True, None],
    "prices": [None, [], {}, 1.0, {"report": 1.0, "steady": 2.0, "change": 1.408}],
    "description": ["", LONG, None, 1, HALF],
    "purpose": ["", LONG, None, 1, HALF],
    "owners": [[], None, "me", [""], ["x" * 255], [1], [HALF]],
}
BAD_NAMES = [
    "",
    "Editor",
    "1editor",
    "editor.",
    ".editor",
    "editor..x",
    "editor minutes",
    "editor-x",
    "x" * 65,
    "edit\u043er",
]
BAD_NAMES += ["editor\n", "e\u0301ditor", "\u00e9ditor", "editor.Minutes", "editor.1x", HALF]


def tree(*metrics: Any) -> Any:
    return json.loads(dump(lock(*metrics)))


def text(change: Any = None) -> str:
    """The lock as text, after `change` was applied to its tree."""
    whole = tree()
    if change:
        change(whole)
    return json.dumps(whole)


def refused(written: str | bytes, where: str) -> LockError:
    with pytest.raises(LockError) as caught:
        parse(written)
    assert caught.value.where.startswith(where), caught.value
    assert str(caught.value) == f"{caught.value.where}: {caught.value.problem}; {caught.value.remedy}"
    assert caught.value.problem
    assert caught.value.remedy
    return caught.value


def with_entry(**changes: Any) -> str:
    def change(whole: Any) -> None:
        for key, value in changes.items():
            if value is DROP:
                del whole["metrics"][NAME][key]
            else:
                whole["metrics"][NAME][key] = value

    return text(change)


def test_what_is_dumped_is_read_back() -> None:
    whole = lock()
    assert parse(dump(whole)) == whole
    assert parse(dump(whole).encode()) == whole
    assert dump(parse(dump(whole))) == dump(whole)
    assert dump(whole).endswith("}\n")
    assert dump(whole) == json.dumps(json.loads(dump(whole)), indent=2, sort_keys=True, ensure_ascii=False) + "\n"
    assert parse(dump(Lock("empty", {}))) == Lock("empty", {})


def test_the_example_of_the_documentation() -> None:
    entry = tree()["metrics"][NAME]
    assert entry["integers"] == [480, 480, 511972653, 3271021990, 844441824, 1]
    prices = {key: value for key, value in entry["prices"].items() if key != "life"}
    assert prices == {"report": 1.0, "steady": 2.0, "change": pytest.approx(1.408, abs=5e-4)}


def test_every_key_is_covered() -> None:
    assert BAD.keys() == tree()["metrics"][NAME].keys() == module._CHECKS.keys()


@pytest.mark.parametrize("key", BAD)
def test_a_missing_key_is_refused(key: str) -> None:
    assert "missing" in refused(with_entry(**{key: DROP}), f'metrics."{NAME}".{key}').problem


@pytest.mark.parametrize(("key", "value"), [(key, value) for key, values in BAD.items() for value in values])
def test_a_bad_value_is_refused(key: str, value: Any) -> None:
    error = refused(with_entry(**{key: value}), f'metrics."{NAME}".')
    named = {"starts": ("starts", "expires"), "kind": ("kind", "encoder")}.get(key, (key,))
    assert error.where.startswith(tuple(f'metrics."{NAME}".{name}' for name in named))


@pytest.mark.parametrize("price", [None, "1", True, -1, -0.001, [], 10**400, 0.99999, 1.00001, 1e300])
@pytest.mark.parametrize("key", ["report", "steady", "change", "life"])
def test_a_price_that_does_not_follow_is_refused(key: str, price: Any) -> None:
    prices = {**tree()["metrics"][NAME]["prices"], key: price}
    refused(with_entry(prices=prices), f'metrics."{NAME}".prices.{key}')


def test_prices_as_another_language_may_round_them_are_read() -> None:
    prices = {key: price + 1e-6 for key, price in tree()["metrics"][NAME]["prices"].items()}
    assert parse(with_entry(prices=prices)) == lock()


def test_a_price_without_bound_is_null() -> None:
    unflipped = metric(RandomizedResponse(YES_NO.low, 0, 1))
    written = tree(unflipped)["metrics"][NAME]["prices"]
    assert written["change"] is None
    assert written["life"] is None
    assert parse(dump(lock(unflipped))) == lock(unflipped)
    written["life"] = 400.0
    broken = tree(unflipped)
    broken["metrics"][NAME]["prices"] = written
    refused(json.dumps(broken), f'metrics."{NAME}".prices.life')


def test_prices_are_shown_rounded_up() -> None:
    assert shown(1.0000001) == 1.000001
    assert shown(1.0) == 1.0
    assert shown(float("inf")) is None


@pytest.mark.parametrize("name", BAD_NAMES)
def test_a_bad_name_is_refused(name: str) -> None:
    whole = tree()
    whole["metrics"][name] = whole["metrics"].pop(NAME)
    refused(json.dumps(whole), "metrics")


def test_a_renamed_metric_keeps_its_hash() -> None:
    assert metric(name="x" * 64).hash == metric().hash  # the name is in the PRF, beside the hash
    assert parse(dump(lock(metric(name="x" * 64)))).metrics.keys() == {"x" * 64}


@pytest.mark.parametrize(
    "collection", ["", "Editor", "1x", "editor desktop", "x" * 65, "\u0435ditor", "editor\n", None, 1, []]
)
def test_a_bad_collection_is_refused(collection: Any) -> None:
    refused(text(lambda whole: whole.update(collection=collection)), "collection")


@pytest.mark.parametrize("schema", ["hubbub.lock/2", "hubbub.lock", "", None, 1])
def test_another_schema_is_refused(schema: Any) -> None:
    assert "release" in refused(text(lambda whole: whole.update(schema=schema)), "schema").remedy


@pytest.mark.parametrize("key", ["schema", "collection", "metrics"])
def test_the_top_has_three_keys(key: str) -> None:
    assert "missing" in refused(text(lambda whole: whole.pop(key)), f"metrics.lock.{key}").problem


@pytest.mark.parametrize("metrics", [None, [], "x", 1])
def test_metrics_are_a_table(metrics: Any) -> None:
    refused(text(lambda whole: whole.update(metrics=metrics)), "metrics")
    refused(text(lambda whole: whole["metrics"].update({NAME: metrics})), f'metrics."{NAME}"')


def test_an_unknown_key_is_refused() -> None:
    assert "unknown key" in refused(text(lambda whole: whole.update(extra=1)), "metrics.lock.extra").problem
    assert "release" in refused(with_entry(extra=1), f'metrics."{NAME}".extra').remedy
    assert "unknown key" in refused(with_entry(Version=1), f'metrics."{NAME}".Version').problem
    prices = {**tree()["metrics"][NAME]["prices"], "total": 1.0}
    refused(with_entry(prices=prices), f'metrics."{NAME}".prices.total')


@pytest.mark.parametrize("key", ["schema", "metrics", NAME, "version", "report"])
def test_a_key_that_stands_twice_is_refused(key: str) -> None:
    written = dump(lock())
    start = written.index(f'"{key}":')
    value = {"schema": '"hubbub.lock/1"', "metrics": "{}", NAME: "{}", "version": "1", "report": "1.0"}[key]
    assert "twice" in refused(f'{written[:start]}"{key}": {value}, {written[start:]}', key).problem


@pytest.mark.parametrize("constant", ["NaN", "Infinity", "-Infinity"])
def test_constants_that_json_lacks_are_refused(constant: str) -> None:
    assert (
        constant in refused(dump(lock()).replace('"grace": 1209600', f'"grace": {constant}', 1), "metrics.lock").problem
    )


@pytest.mark.parametrize(
    "written", ["", " ", "{", "[]", "null", "1", '"lock"', "[" * 100_000, "{}", "\ufeff{}", "1" * 5000]
)
def test_what_is_no_lock_is_refused(written: str) -> None:
    refused(written, "metrics.lock")


@pytest.mark.parametrize("written", [b"\xff\xfe\x00", b"\x80", b'{"schema": "\xc3"}', b"\x00" * 8])
def test_bytes_that_are_no_text_are_refused(written: bytes) -> None:
    refused(written, "metrics.lock")


def test_a_hash_that_does_not_fit_is_refused() -> None:
    right = tree()["metrics"][NAME]["hash"]
    wrong = ("1" if right[0] == "0" else "0") + right[1:]
    assert "edited" in refused(with_entry(hash=wrong), f'metrics."{NAME}".hash').problem


SHAPING: dict[str, Any] = {
    "kind": "boolean",
    "lower": 0,
    "step": 1_000_000,
    "labels": ("a",),
    "window": "week",
    "report_every": 2,
    "rotation": "r:0",
    "presence": "hidden",
    "seal": "exit",
    "encoder": YES_NO,
    "aggregate": "max",
    "source": "0" * 64,
}
OTHERS: dict[str, Any] = {
    "name": "other",
    "version": 2,
    "unit": "h",
    "starts": "2026-12-02",
    "expires": "2026-12-30",
    "grace": 3600,
    "dimensions": (),
    "min_reports": 1,
    "description": "x",
    "purpose": "y",
    "owners": ("z",),
    "shuffler": "w",
}


def test_the_hash_holds_what_shapes_a_report_and_nothing_else() -> None:
    assert {*SHAPING, *OTHERS} == {*vars(metric())}
    shaped = {metric().hash, *(metric(**{key: value}).hash for key, value in SHAPING.items())}
    assert len(shaped) == 1 + len(SHAPING)
    assert {metric(**{key: value}).hash for key, value in OTHERS.items()} == {metric().hash}
    assert metric(labels=("a", "b")).hash != metric(labels=("b", "a")).hash


@pytest.mark.parametrize(
    ("key", "value"), [(k, v) for k, v in SHAPING.items() if k in ("lower", "step", "report_every")]
)
def test_editing_by_hand_what_shapes_a_report_is_seen(key: str, value: Any) -> None:
    assert "edited" in refused(with_entry(**{key: value}), f'metrics."{NAME}".hash').problem


def test_life() -> None:
    assert len(metric().life) == metric().reports == 30
    assert metric().windows.start(metric().life[0]) == midnight("2026-12-01")
    assert metric(report_every=7).reports == 5
    assert len(metric(window="hour").life) == 720
    weeks = metric(window="week")  # 2026-12-01 is a Tuesday
    assert [weeks.windows.start(week) for week in weeks.life] == [midnight(f"2026-12-{day:02}") for day in (7, 14, 21)]
    assert metric(window="week", starts="2026-12-01", expires="2026-12-08").reports == 0


def test_a_life_has_a_whole_window_and_at_most_400_days() -> None:
    longest = metric(expires="2028-01-05")
    assert (midnight(longest.expires) - midnight(longest.starts)) // 86400 == 400
    assert parse(dump(lock(longest))) == lock(longest)
    refused(dump(lock(metric(expires="2028-01-06"))), f'metrics."{NAME}".expires')
    refused(dump(lock(metric(expires="2026-12-01"))), f'metrics."{NAME}".expires')
    empty = refused(dump(lock(metric(window="week", expires="2026-12-08"))), f'metrics."{NAME}".expires')
    assert "no whole week" in empty.problem


def test_hidden_presence_has_no_dimensions() -> None:
    where = f'metrics."{NAME}".dimensions'
    assert 'beside presence = "hidden"' in refused(dump(lock(metric(presence="hidden"))), where).problem
    plain = lock(metric(presence="hidden", dimensions=()))
    assert parse(dump(plain)) == plain


def test_a_shuffler_stands_where_it_is_given_and_beside_fresh_noise_alone() -> None:
    plain, mixed = lock(metric(YES_NO)), lock(metric(YES_NO, shuffler="Mixnet, run by Example"))
    assert '"shuffler"' not in dump(plain)
    assert dump(mixed).count('"shuffler": "Mixnet, run by Example"') == 1
    assert parse(dump(mixed)) == mixed.checked == mixed
    where = f'metrics."{NAME}".shuffler'
    for wrong in ("", "x" * 101, None, 1, "a\nb"):
        refused(with_entry(shuffler=wrong), where)
    for kept in (metric(shuffler="w"), metric(RandomizedResponse(YES_NO.low, YES_NO.low, 1), shuffler="w")):
        assert "cannot stand beside permanent answers" in refused(dump(lock(kept)), where).problem


def test_a_choice_has_one_label_fewer_than_values_and_no_grid() -> None:
    made = mechanisms["grr"].from_epsilon(1, categories=4).encoder
    for labels in (("a", "b"), ("a", "b", "c", "d"), ("a", "b", "b"), ("a", "b", "none")):
        refused(dump(lock(metric(made, kind="choice", labels=labels))), f'metrics."{NAME}".labels')
    grids: list[dict[str, Any]] = [{"step": 2}, {"lower": 1}]
    for changes in grids:
        refused(dump(lock(metric(made, kind="choice", labels=("a", "b", "c"), **changes))), f'metrics."{NAME}".step')
        words = metric(Rappor(128, 2, 8, 2**30, 2**31, 3 * 2**30, 1), kind="words")
        assert parse(dump(lock(words))) == lock(words)
        refused(dump(lock(replace(words, **changes))), f'metrics."{NAME}".step')


def test_what_feeds_another_metric_is_a_mean_of_that_hash() -> None:
    mean, active = metric(), metric(YES_NO, name=f"{NAME}.active", source=metric().hash)
    assert parse(dump(lock(mean, active))) == lock(mean, active)
    where = f'metrics."{NAME}.active".source'
    assert f"is not the hash of {NAME}" in refused(dump(lock(mean, replace(active, source="0" * 64))), where).problem
    yes = metric(YES_NO)
    assert "a mean" in refused(dump(lock(yes, replace(active, source=yes.hash))), where).problem


@pytest.mark.parametrize(
    ("key", "changes"),
    [
        ("version", {"version": 2}),
        ("window", {"window": "hour"}),
        ("starts", {"starts": "2026-12-02"}),
        ("expires", {"expires": "2026-12-30"}),
        ("report_every", {"report_every": 2}),
        ("presence", {"presence": "hidden"}),
        ("dimensions", {"dimensions": (("os", ("linux",)),)}),
        ("source", {"aggregate": "all"}),
    ],
)
def test_what_is_fed_by_another_metric_is_told_of_the_same_windows(key: str, changes: dict[str, Any]) -> None:
    mean = metric(dimensions=())
    active = metric(YES_NO, name=f"{NAME}.active", source=mean.hash, dimensions=())
    assert parse(dump(lock(mean, active))) == lock(mean, active)
    refused(dump(lock(mean, replace(active, **changes))), f'metrics."{NAME}.active".{key}')


def test_what_is_filled_in_after_an_absence_fits_into_an_outbox() -> None:
    def hidden(name: str, days: int, **changes: Any) -> Metric:
        more: dict[str, Any] = {
            "window": "hour",
            "presence": "hidden",
            "dimensions": (),
            "grace": days * 86_400,
        } | changes
        return metric(name=name, **more)

    most = [hidden("a", 10), hidden("b", 10), hidden("c", 20, window="day"), metric(name="d", window="hour")]
    assert [one.filled for one in most] == [240, 240, 20, 0]
    assert parse(dump(lock(*most))) == lock(*most)
    many = refused(dump(lock(*most, hidden("e", 7, window="week"))), 'metrics."a".presence')
    assert "501 windows at one time, more than 500 (a 240, b 240, c 20 and 1 more)" in many.problem
    assert "a shorter grace, a longer window, a higher report_every" in many.remedy
    turns = [hidden("a", 90, report_every=5), hidden("b", 2, report_every=7)]
    assert [one.filled for one in turns] == [432, 7]
    assert parse(dump(lock(*turns))) == lock(*turns)


def test_the_bytes_of_what_is_filled_in_fit_too() -> None:
    shape = {"kind": "words", "lower": 0, "step": MILLION, "presence": "hidden", "dimensions": (), "window": "hour"}
    half = 2**31
    words = metric(Rappor(4096, 2, 1, half // 2, half, 3 * half // 2, 1), **shape, grace=20 * 86_400)
    found = refused(dump(lock(words)), f'metrics."{NAME}".presence').problem
    assert words.filled == 480
    assert f"{480 * words.body} bytes at one time, more than 524288 ({NAME} {480 * words.body})" in found
    assert parse(dump(lock(replace(words, grace=10 * 86_400))))


def test_segments() -> None:
    assert metric().segments == ("stable/linux", "stable/macos", "beta/linux", "beta/macos")
    assert metric(dimensions=()).segments == ("",)
    most = metric(dimensions=(("a", tuple(f"v{i}" for i in range(64))),))
    assert parse(dump(lock(most))) == lock(most)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("encoder", [MINUTES, YES_NO])
def test_an_encoder_is_for_its_own_kinds(kind: str, encoder: Encoder) -> None:
    lower, step = (0, 1_000_000) if kind == "boolean" else (-1, 7)
    written = dump(lock(metric(encoder, kind=kind, lower=lower, step=step)))
    if kind in encoder.kinds:
        assert parse(written)
    else:
        assert encoder.name in refused(written, f'metrics."{NAME}".encoder').problem


@pytest.mark.parametrize("grid", [{"lower": 1}, {"lower": -1}, {"step": 1}, {"step": 2_000_000}])
def test_a_yes_or_no_has_no_grid(grid: dict[str, Any]) -> None:
    assert "boolean" in refused(dump(lock(metric(YES_NO, **grid))), f'metrics."{NAME}".step').problem


def test_only_choices_have_labels() -> None:
    refused(dump(lock(metric(labels=("a", "b")))), f'metrics."{NAME}".labels')


class Cheap(RandomizedResponse):
    """States less than its integers give away."""

    def prices(self, windows: int) -> Prices:
        return Prices(0.1, 0.1, 0.1, 0.1)


class Rare(Metric):
    """States fewer reports than its life has windows, and so less for its life."""

    @property
    def reports(self) -> int:
        return 1


class Kept(Metric):
    """The same as what it is made from, by another name."""


def as_another(kind: type[Metric], one: Metric, **changes: Any) -> Metric:
    made = kind(**{field.name: getattr(one, field.name) for field in fields(one)})
    vars(made).update(changes)
    return made


HIDDEN: dict[str, Any] = {"presence": "hidden", "dimensions": ()}
BY_HAND: dict[str, tuple[Lock, str]] = {
    "prices of the encoder": (lock(metric(Cheap(YES_NO.low, 0, 0))), "prices.report"),
    "prices of the life": (lock(as_another(Rare, metric())), "prices.life"),
    "hash": (lock(as_another(Metric, metric(), hash="0" * 64)), "hash"),
    "windows filled in": (lock(metric(**HIDDEN, window="hour", grace=501 * 3600)), "presence"),
    "hidden with dimensions": (lock(metric(presence="hidden")), "dimensions"),
    "too long a life": (lock(metric(expires="2028-01-06")), "expires"),
    "encoder of another kind": (lock(metric(kind="choice")), "encoder"),
    "a float": (lock(metric(version=1.0)), "version"),
    "a list": (lock(metric(owners=["me"])), ""),
    "another class": (lock(as_another(Kept, metric())), ""),
}


@pytest.mark.parametrize("what", BY_HAND)
def test_a_lock_made_by_hand_is_refused_as_its_file_would_be(what: str) -> None:
    made, key = BY_HAND[what]
    with pytest.raises(LockError) as caught:
        made.checked  # noqa: B018
    assert caught.value.where == f'metrics."{NAME}"' + (f".{key}" if key else "")


def test_a_metric_under_another_name_is_refused() -> None:
    with pytest.raises(LockError, match=r'metrics."other"'):
        Lock("editor-desktop", {"other": metric()}).checked  # noqa: B018
    with pytest.raises(LockError, match="collection"):
        Lock("Editor", {}).checked  # noqa: B018


def test_a_lock_is_checked_once_and_what_is_written_into_it_later_does_not_count() -> None:
    metrics = {NAME: metric()}
    made = Lock("editor-desktop", metrics)
    found = made.checked
    assert found == made
    metrics["other"] = metric(expires="2028-01-06")
    assert made.checked is found
    assert found.metrics == {NAME: metric()}


def test_a_lock_error_is_ours() -> None:
    assert issubclass(LockError, HubbubError)
