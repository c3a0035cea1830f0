"""From metrics.toml to metrics.lock: integers, what may follow a lock, writing whole or not at all, the template."""

import dataclasses
import datetime
import json
import os
from pathlib import Path

import jsonschema
import msgspec
import pytest

from hubbub.definitions import (
    Change,
    DefinitionErrors,
    build,
    compare,
    facts,
    load,
    loads,
    refusals,
    renew,
    review,
    save,
    template,
)
from hubbub.definitions.building import read, replace
from hubbub.errors import LockError
from hubbub.lock import Lock, Metric, dump, parse
from hubbub.mechanisms import registry as mechanisms
from tests.unit.definitions_support import BOOLEAN, MEAN, registry, text

ROOT = Path(__file__).parents[2]


def lock(**changes: str | None) -> Lock:
    return build(registry(**changes))


def metric(**changes: str | None) -> Metric:
    return lock(**changes).metrics["editor.minutes"]


def test_lock_of_the_first_example() -> None:
    made = lock(permanent_epsilon="2.0", dimensions='{ channel = ["stable", "beta"] }')
    entry = json.loads(dump(made))["metrics"]["editor.minutes"]
    assert entry["integers"] == [480, 480, 511972653, 3271021990, 844441824, 1]
    assert entry["hash"] == "91e3ba24febd013c2b5155748646b00e8754524c0e76a64cd3a5e26840e98c96"
    assert (entry["lower"], entry["step"], entry["grace"]) == (0, 1_000_000, 1_209_600)
    assert entry["dimensions"] == [["channel", ["stable", "beta"]]]
    assert entry["prices"] == {"report": 1.0, "steady": 2.0, "change": 1.407606, "life": 257.051847}
    schema = json.loads((ROOT / "spec" / "schemas" / "lock.json").read_text("utf-8"))
    jsonschema.validate(json.loads(dump(made)), schema)


@pytest.mark.parametrize(
    ("changes", "lower", "step", "integers"),
    [
        ({"lower": "-0.5", "upper": "2.5", "step": "0.25"}, -500_000, 250_000, (12, 12)),
        ({"lower": "-1_000_000_000", "upper": "-999999999.999999", "step": "0.000001"}, -(10**15), 1, (1, 1)),
        ({"lower": "999999999.999995", "upper": "1e9", "step": "0.000001"}, 999_999_999_999_995, 1, (5, 5)),
        ({"upper": "0.3", "step": "0.1"}, 0, 100_000, (3, 3)),
        ({"bucket": "48"}, 0, 1_000_000, (480, 48)),
        ({"upper": "429_496_000", "step": "0.1"}, 0, 100_000, (4_294_960_000, 4_294_960_000)),
    ],
)
def test_grid_is_exact(changes: dict[str, str], lower: int, step: int, integers: tuple[int, int]) -> None:
    made = metric(**changes)
    assert (made.lower, made.step, made.encoder.canonical()[:2]) == (lower, step, integers)


def test_boolean_has_no_grid() -> None:
    made = build(loads(text(BOOLEAN).encode(), "m")).metrics["editor.minutes"]
    assert (made.lower, made.step, made.encoder.name, made.labels) == (0, 1_000_000, "randomized_response", ())


def test_no_flips_where_changes_may_be_seen() -> None:
    made = metric(permanent_epsilon="1", changes_visible="true")
    assert json.loads(dump(lock(permanent_epsilon="1", changes_visible="true")))["metrics"]["editor.minutes"][
        "prices"
    ] == {
        "report": 1.0,
        "steady": 1.0,
        "change": None,
        "life": None,
    }
    assert made.encoder.canonical()[-2:] == (0, 1)


def test_named_mechanism_and_every_default_has_one() -> None:
    assert metric(mechanism='"one_bit_mean"') == metric()
    assert {"boolean", "mean", "choice", "histogram"} <= {
        k for mechanism in mechanisms.values() for k in mechanism.kinds
    }


def test_a_mechanism_that_refuses_is_a_problem() -> None:
    accepted = registry()
    definition = msgspec.structs.replace(accepted.metrics["editor.minutes"], bucket=481)
    narrow = dataclasses.replace(accepted, metrics={"a": definition})
    with pytest.raises(DefinitionErrors, match=r'metrics\."a"\.bucket = 481\n    is not .*480\]'):
        build(narrow)


@pytest.mark.parametrize("starts", ["9999-01-01", "9999-12-31"])
def test_renew_refuses_the_end_of_the_calendar(tmp_path: Path, starts: str) -> None:
    path = tmp_path / "metrics.toml"
    path.write_bytes(COMMENTED.encode())
    with pytest.raises(DefinitionErrors, match=r"expires = 9999-12-31\n    is not in the years 1970 to 9000"):
        renew(path, "editor.minutes", _date("9999-12-31"), _date(starts))
    assert path.read_bytes() == COMMENTED.encode()


def test_what_cannot_be_written_is_named_as_it_was_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("file").touch()
    for given, what in (("out/deep/x.lock", "out/deep does not exist"), ("file/x.lock", "file is not a folder")):
        with pytest.raises(FileNotFoundError) as missing:
            save(lock(), given)
        assert (missing.value.filename, missing.value.strerror) == (given, f"the folder {what}")
    long = "x" * 250  # which leaves no room for what is added to it
    with pytest.raises(OSError, match="cannot be written into the folder") as refused:
        save(lock(), long)
    assert refused.value.filename == long
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ({}, {}, None),
        ({}, {"description": '"x"', "min_reports": "5", "grace": '"7d"', "unit": '"h"'}, None),
        ({}, {"expires": "2027-11-29", "starts": "2026-12-02"}, None),
        ({}, {"version": "2", "expires": "2028-01-05", "upper": "720"}, None),
        (
            {"version": "3"},
            {"version": "2"},
            "version = 2\n    is lower than the 3 of the lock\n    -> write version = 4",
        ),
        ({"version": "3"}, {"version": "2", "upper": "9"}, "is lower than the 3 of the lock"),
        (
            {},
            {"upper": "720"},
            "version = 1\n    is that of the lock, but devices would encode something else under it",
        ),
        ({}, {"epsilon": "0.9"}, "-> write version = 2: a new series begins"),
        ({}, {"report_every": "2"}, "would encode something else"),
        ({}, {"window": '"hour"'}, "would encode something else"),
        ({}, {"expires": "2027-12-01"}, "expires = 2027-12-01\n    is later than the 2027-11-30 of the lock"),
        ({}, {"expires": "2027-12-01"}, "-> run `hubbub registry renew`, or write version = 2"),
        ({}, {"starts": "2026-11-30"}, "starts = 2026-11-30\n    is earlier than the 2026-12-01 of the lock"),
    ],
)
def test_what_may_follow_a_lock(old: dict[str, str], new: dict[str, str], problem: str | None) -> None:
    previous = lock(**old)
    if problem is None:
        assert build(registry(**new), previous) == lock(**new)
        return
    with pytest.raises(DefinitionErrors) as caught:
        build(registry(**new), previous)
    assert 'metrics."editor.minutes".' in str(caught.value)
    assert problem in str(caught.value)


def test_another_collection_may_not_follow() -> None:
    (refusal,) = refusals(lock(), dataclasses.replace(lock(), collection="other"))
    assert (refusal.key, refusal.value) == ("collection", '"other"')
    assert "every permanent answer would be drawn again" in refusal.problem


def test_added_and_removed_metrics_may_follow() -> None:
    made = lock()
    assert not list(refusals(made, dataclasses.replace(made, metrics={})))
    assert not list(refusals(dataclasses.replace(made, metrics={}), made))


def test_save_writes_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "metrics.lock"
    assert save(lock(), path)
    assert parse(path.read_bytes()) == lock()
    path.chmod(0o640)
    before = path.stat()
    assert not save(lock(), path)
    assert path.stat() == before
    assert save(lock(version="2"), path)
    assert path.stat().st_mode & 0o777 == 0o640
    monkeypatch.setattr(os, "fsync", _full_disk)
    with pytest.raises(OSError, match="no space"):
        save(lock(version="3"), path)
    assert parse(path.read_bytes()) == lock(version="2")
    assert list(tmp_path.iterdir()) == [path]


def _full_disk(_: int) -> None:
    raise OSError("no space")


def test_replace_follows_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").write_text("old", "utf-8")
    (tmp_path / "link").symlink_to("real")
    assert replace(tmp_path / "link", b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_bytes() == b"new"


def test_read_tells_locks_from_registries(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(dump(lock()), "utf-8")
    (tmp_path / "b.txt").write_text(text(MEAN), "utf-8")
    (tmp_path / "c.lock").write_text("", "utf-8")
    assert read(tmp_path / "a.txt") == read(tmp_path / "b.txt") == lock()
    with pytest.raises(LockError, match=r"c\.lock: metrics\.lock: not JSON"):
        read(tmp_path / "c.lock")


@pytest.mark.parametrize("today", [datetime.date(2026, 2, 28), datetime.date(2028, 2, 28), datetime.date(2026, 12, 31)])
def test_template_is_clean_and_says_what_it_is_worth(today: datetime.date) -> None:
    made = loads(template("my-app", today).encode(), "metrics.toml")
    assert made.collection == "my-app"
    assert [definition.kind for definition in made.metrics.values()] == ["boolean", "mean"]
    for definition in made.metrics.values():
        assert definition.starts == today + datetime.timedelta(days=1)
        assert definition.expires - definition.starts == datetime.timedelta(days=364)
    for found in review(made, today):
        assert found.warnings == ()
        assert found.cures == ()
        assert found.target
        assert len(found.worth) == 1
    assert parse(dump(build(made))) == build(made)


def change(old: dict[str, str], new: dict[str, str]) -> Change:
    (found,) = compare(lock(**old), lock(**new))
    return found


def test_nothing_changes() -> None:
    assert change({}, {}) == Change("editor.minutes", "unchanged", (1, 1))


def test_text_alone_asks_for_nothing() -> None:
    found = change({}, {"description": '"x"', "purpose": '"y"', "owners": '["z"]', "unit": '"h"', "version": "2"})
    assert found.status == "text only"
    assert [key for key, _, _ in found.keys] == ["version", "unit", "description", "purpose", "owners"]
    assert (found.more, found.redraws, found.breaks) == ((), False, False)


@pytest.mark.parametrize(
    ("old", "new", "more"),
    [
        (
            {},
            {"epsilon": "1.5"},
            ["one report: epsilon 1.000 -> 1.500", "a device that never changes: epsilon 2.000 -> 3.000"],
        ),
        ({}, {"permanent_epsilon": "3"}, ["a device that never changes: epsilon 2.000 -> 3.000"]),
        ({"permanent_epsilon": "3"}, {}, ["one changed window: epsilon 1.127 -> 1.408"]),
        ({}, {"window": '"hour"'}, ["the whole life: epsilon 257.052 ->", "smaller windows: day -> hour"]),
        ({"report_every": "3"}, {}, ["more turns: report_every 3 -> 1"]),
        ({}, {"expires": "2027-12-31"}, ["the whole life: epsilon", "longer life: 364 -> 395 days"]),
        ({}, {"starts": "2027-12-01", "expires": "2028-11-29"}, ["measured until 2028-11-29 instead of 2027-11-30"]),
        ({}, {"dimensions": '{ os = ["a", "b"] }'}, ["more in the clear: os = a, b"]),
        (
            {"dimensions": '{ channel = ["a", "b"] }'},
            {"dimensions": '{ gender = ["f", "m"] }'},
            ["more in the clear: gender = f, m"],
        ),
        ({}, {"permanent_epsilon": "1", "changes_visible": "true"}, ["one changed window: epsilon 1.408 -> no bound"]),
        ({}, {"strategy": '"fresh"'}, ["a device that never changes: epsilon 2.000 -> 364.000"]),
        (
            {},
            {"upper": "720"},
            ["permanent answers are drawn again: epsilon 2.000 + 2.000 for a device that never changes"],
        ),
    ],
)
def test_what_asks_for_more(old: dict[str, str], new: dict[str, str], more: list[str]) -> None:
    found = change(old, new)
    assert found.status == "changed"
    for words in more:
        assert any(reason.startswith(words) for reason in found.more), found.more


@pytest.mark.parametrize(
    "new",
    [
        {"expires": "2027-06-30"},
        {"min_reports": "50"},
        {"grace": '"7d"'},
    ],
)
def test_what_asks_for_no_more(new: dict[str, str]) -> None:
    found = change({}, new)
    assert (found.status, found.more, found.redraws, found.breaks) == ("changed", (), False, False)


def test_other_encodings_redraw_and_break() -> None:
    assert (change({}, {"upper": "720"}).redraws, change({}, {"upper": "720"}).breaks) == (True, True)
    fresh = {"strategy": '"fresh"'}
    found = change(fresh, fresh | {"upper": "720"})
    assert (found.redraws, found.breaks, found.more) == (False, True, ())
    assert ("upper", "480", "720") in found.keys
    moved = compare(lock(), dataclasses.replace(lock(), collection="other"))[0]
    assert (moved.status, moved.redraws, moved.breaks) == ("changed", True, False)


def test_metrics_come_and_go() -> None:
    none = dataclasses.replace(lock(), metrics={})
    assert compare(none, lock()) == [
        Change("editor.minutes", "added", (None, 1), more=("a new metric: epsilon 1.000 for each report",))
    ]
    assert compare(lock(), none) == [Change("editor.minutes", "removed", (1, None))]


def test_a_shuffler_is_text_and_changes_no_encoding() -> None:
    fresh = {"strategy": '"fresh"'}
    mixed = fresh | {"shuffler": '"Mixnet"'}
    assert metric(**fresh).shuffler == ""
    assert metric(**mixed).shuffler == facts(metric(**mixed))["shuffler"] == "Mixnet"
    assert metric(**mixed).hash == metric(**fresh).hash
    found = change(fresh, mixed)
    assert (found.status, found.keys, found.more) == ("text only", (("shuffler", "", "Mixnet"),), ())
    both = lock(**mixed, active="true").metrics.values()
    assert [one.shuffler for one in both] == ["Mixnet", "Mixnet"]


def test_facts_leave_out_what_goes_without_saying() -> None:
    assert "bucket" not in facts(metric())
    assert facts(metric(bucket="48"))["bucket"] == "48"
    assert facts(metric(lower="-0.5", upper="2.5", step="0.25"))["upper"] == "2.5"
    assert facts(metric(dimensions='{ os = ["a", "b"] }'))["dimensions"] == "os (a, b)"


COMMENTED = """\
# head
schema = "hubbub.registry/1"
collection = "editor"

[metrics."editor.minutes"]        # the metric
version = 1                       # only ever rises
kind = "mean"
description = "d"
purpose = "p"
owners = [
  "a",  # first
]
lower = 0
upper   =   480
epsilon = 1.0
starts = 2026-12-01               # a Tuesday
expires = 2027-11-30              # soon
# the end
"""


def test_renew_changes_version_and_dates_alone(tmp_path: Path) -> None:
    path = tmp_path / "metrics.toml"
    path.write_bytes(COMMENTED.encode())
    done = renew(path, "editor.minutes", datetime.date(2028, 11, 20), datetime.date(2027, 12, 1))
    wanted = COMMENTED.replace("version = 1 ", "version = 2 ").replace("2026-12-01", "2027-12-01")
    assert path.read_bytes().decode() == wanted.replace("2027-11-30", "2028-11-20")
    assert done.old.hash == done.new.hash
    assert done.keeps_answers
    assert (done.new.version, done.new.starts, done.new.expires) == (2, "2027-12-01", "2028-11-20")
    assert build(load(path), build(loads(COMMENTED.encode(), "m"))).metrics["editor.minutes"] == done.new


@pytest.mark.parametrize(
    "content",
    [
        COMMENTED.replace("\n", "\r\n"),
        'schema = "hubbub.registry/1"\ncollection = "editor"\n[metrics]\n"editor.minutes" = { version = 1, '
        'kind = "boolean", description = "d", purpose = "p", owners = ["a"], epsilon = 1, starts = 2026-12-01, '
        "expires = 2027-11-30 }\n",
        "".join(f'metrics."editor.minutes".{line}\n' for line in text(BOOLEAN).split("]\n", 1)[1].splitlines())
        + 'schema = "hubbub.registry/1"\ncollection = "editor"\n',
    ],
)
def test_renew_keeps_the_form_of_the_file(tmp_path: Path, content: str) -> None:
    path = tmp_path / "metrics.toml"
    path.write_bytes(content.encode())
    renew(path, "editor.minutes", datetime.date(2027, 12, 31))
    wanted = content.replace("version = 1", "version = 2").replace("2027-11-30", "2027-12-31")
    assert path.read_bytes().decode() in (wanted, wanted.replace(" }\n", "}\n"))


@pytest.mark.parametrize(
    ("name", "expires", "starts", "said"),
    [
        (
            "editor.minute",
            "2028-01-01",
            None,
            'metrics."editor.minute"\n    there is no such metric\n    -> name one of',
        ),
        ("editor.minutes", "2027-11-30", None, "expires = 2027-11-30\n    is not later than it was, 2027-11-30"),
        (
            "editor.minutes",
            "2028-01-06",
            None,
            "more than 400 days after starts = 2026-12-01\n    -> give --starts 2026-12-02",
        ),
        ("editor.minutes", "2028-11-30", "2027-01-01", "-> give --starts 2027-10-27 or later"),
        ("editor.minutes", "2028-11-30", "2029-01-01", "expires = 2028-11-30\n    is not after starts = 2029-01-01"),
    ],
)
def test_renew_refuses(tmp_path: Path, name: str, expires: str, starts: str | None, said: str) -> None:
    path = tmp_path / "metrics.toml"
    path.write_bytes(COMMENTED.encode())
    with pytest.raises(DefinitionErrors) as caught:
        renew(path, name, _date(expires), _date(starts) if starts else None)
    assert said in str(caught.value)
    assert str(path) in str(caught.value)
    assert path.read_bytes() == COMMENTED.encode()
    assert list(tmp_path.iterdir()) == [path]


def _date(text: str) -> datetime.date:
    return datetime.date.fromisoformat(text)
