"""Metrics that take turns in metrics.toml: what is refused, what becomes of them in the lock, and what lint says."""

import datetime
import math
from collections.abc import Mapping
from pathlib import Path

import pytest

from hubbub.definitions import (
    DefinitionErrors,
    Registry,
    Review,
    build,
    compare,
    facts,
    loads,
    renew,
    review,
    worth_lines,
)
from hubbub.lock import dump, parse
from hubbub.privacy import explain, nats
from tests.unit.definitions_support import BOOLEAN, MEAN, TOP, Shell, lines

TODAY = datetime.date(2026, 12, 1)
NAMES = ("app.a", "app.b", "app.c")


@pytest.fixture
def shell(capsys: pytest.CaptureFixture[str]) -> Shell:
    return Shell(capsys)


def text(tables: Mapping[str, Mapping[str, str]]) -> str:
    return lines(TOP) + "".join(f'\n[metrics."{name}"]\n{lines(table)}' for name, table in tables.items())


def group(size: int = 3, **changes: Mapping[str, str]) -> Registry:
    """A group in which kinds differ; changes by the last letter of a name. The file has them in another order."""
    tables = {}
    for number in reversed(range(size)):
        letter = chr(ord("a") + number)
        plain = dict(MEAN if number % 2 else BOOLEAN)
        tables[f"app.{letter}"] = plain | {"rotation": '"usage"'} | dict(changes.get(letter, {}))
    return loads(text(tables).encode(), "metrics.toml")


def of(reviews: list[Review], name: str) -> Review:
    return next(found for found in reviews if found.name == name)


def test_each_member_is_a_panel_of_the_length_of_its_group() -> None:
    lock = build(group())
    turns = {name: (metric.report_every, metric.rotation) for name, metric in lock.metrics.items()}
    assert turns == {"app.a": (3, "usage:0"), "app.b": (3, "usage:1"), "app.c": (3, "usage:2")}
    for metric in lock.metrics.values():
        assert metric.reports == math.ceil(364 / 3)
        assert facts(metric)["rotation"] == f"usage, {metric.rank + 1} of 3"
    assert parse(dump(lock)) == lock


def test_two_groups_and_a_metric_without_one() -> None:
    registry = group(5, c={"rotation": '"other"'}, d={"rotation": '""'}, e={"rotation": '"other"'})
    turns = {name[-1]: (m.report_every, m.rotation) for name, m in build(registry).metrics.items()}
    assert turns == {"a": (2, "usage:0"), "b": (2, "usage:1"), "c": (2, "other:0"), "d": (1, ""), "e": (2, "other:1")}


@pytest.mark.parametrize(
    ("changes", "key", "problem"),
    [
        ({"window": '"week"'}, "window", 'is not the "day" of app.a, with which it takes turns'),
        ({"report_every": "3"}, "report_every", 'has no meaning beside rotation = "usage"'),
    ],
)
def test_members_must_fit_together(changes: dict[str, str], key: str, problem: str) -> None:
    with pytest.raises(DefinitionErrors) as caught:
        group(b=changes)
    (found,) = caught.value.problems
    assert found.key == f'metrics."app.b".{key}'
    assert found.problem.startswith(problem)


def test_a_metric_more_is_another_encoding_of_all() -> None:
    before = build(group(3))
    with pytest.raises(DefinitionErrors) as caught:
        build(group(4), before)
    assert [problem.key for problem in caught.value.problems] == [f'metrics."{name}".version' for name in NAMES[::-1]]
    raised = build(group(4, **{key: {"version": "2"} for key in "abc"}), before)
    assert [change.breaks for change in compare(before, raised)[:3]] == [True] * 3


def test_lives_may_differ_and_one_is_renewed_alone(tmp_path: Path) -> None:
    file = tmp_path / "metrics.toml"
    tables = {name: BOOLEAN | {"rotation": '"usage"'} for name in NAMES}
    tables["app.b"] |= {"expires": "2027-06-01"}
    file.write_text(text(tables), "utf-8")
    done = renew(file, "app.b", datetime.date(2027, 10, 1))
    assert (done.new.report_every, done.new.rotation, done.new.version) == (3, "usage:1", 2)


def test_lint_says_what_turns_cost_and_gain() -> None:
    registry = group(3, a={"expected_devices": "4000", "target_margin": "0.02"})
    lock, reviews = build(registry), review(registry, TODAY)
    alone = build(loads(text({name: BOOLEAN | {"rotation": '""'} for name in NAMES}).encode(), "metrics.toml"))
    one = alone.metrics["app.a"].prices.change
    said = of(reviews, "app.a").turns
    assert {found.turns for found in reviews} == {said}
    assert said.startswith(
        "takes turns in usage (app.a, app.b, app.c): one report for each day instead of 3, intervals of one day 1.7 "
        f"times as wide; for the group, one changed day costs epsilon {one:.3f} instead of "
    )
    lives = (math.fsum(metric.prices.life for metric in found.metrics.values()) for found in (lock, alone))
    assert said.endswith("the whole life {} instead of {}".format(*map(nats, lives)))
    assert said in worth_lines(lock.metrics["app.a"], of(reviews, "app.a"))
    cure = {cure.key: cure for cure in of(reviews, "app.a").cures}["rotation"]
    assert cure.margin == pytest.approx(of(reviews, "app.a").worth[0].margin / math.sqrt(3))
    assert "no rotation → ± 3.4 points" in " ".join(worth_lines(lock.metrics["app.a"], of(reviews, "app.a")))


@pytest.mark.parametrize(
    ("size", "window", "said"),
    [
        (7, "day", "its group of 7 metrics shares the factor 7 with the 7 days of the week"),
        (7, "day", "make it a group of 6 or 8"),
        (6, "hour", "its group of 6 metrics shares the factor 6 with the 168 hours of the week"),
        (6, "hour", "make it a group of 5 or 11"),
        (2, "hour", "make it a group of 5"),
        (6, "day", ""),
        (5, "hour", ""),
        (7, "week", ""),
    ],
)
def test_lint_warns_where_a_group_and_the_week_share_a_factor(size: int, window: str, said: str) -> None:
    registry = group(size, **{chr(ord("a") + n): {"window": f'"{window}"'} for n in range(size)})
    found = [warning for one in review(registry, TODAY) for warning in one.warnings if "shares the factor" in warning]
    assert len(found) == (size if said else 0)
    assert all(said in warning for warning in found)


def test_hidden_presence_is_told_by_lint_diff_and_explain() -> None:
    tables = {"app.a": BOOLEAN | {"presence": '"hidden"', "grace": '"3d"'}, "app.b": MEAN | {"presence": '"hidden"'}}
    registry = loads(text(tables).encode(), "metrics.toml")
    lock = build(registry)
    for name, null, grace in (("app.a", '"no"', "3"), ("app.b", "0", "14")):
        (warning,) = of(review(registry, TODAY), name).warnings
        assert f"counts each day in which the program did not run as {null}" in warning
        assert f"longer than grace = {grace}d still show" in warning
        told = " ".join(explain(lock.metrics[name]))
        assert f"reported as {null} once it runs again, if it does so within {grace} days" in told
        assert f"in all figures {null} can mean that it did not run" in told
        assert f"did not run for more than {grace} days" in told
        assert "when its program ran, since each day" not in told
    ran = {name: {key: value for key, value in table.items() if key != "presence"} for name, table in tables.items()}
    before = build(loads(text(ran).encode(), "metrics.toml"))
    change = compare(before, lock)[0]
    assert change.breaks
    assert any("day in which the program did not run" in more for more in change.more)
    assert any("program ran, since each day" in sentence for sentence in explain(before.metrics["app.a"]))


def test_lint_warns_where_another_metric_tells_what_is_hidden() -> None:
    hidden = {"presence": '"hidden"'}
    tables = {"app.a": BOOLEAN, "app.b": MEAN | hidden, "app.c": MEAN}
    reviews = review(loads(text(tables).encode(), "metrics.toml"), TODAY)
    (warning,) = [warning for warning in of(reviews, "app.b").warnings if "hides little" in warning]
    assert 'reports of app.a (and 1 other metric) with presence = "ran" tell in which windows' in warning
    assert not of(reviews, "app.a").warnings
    fed = tables | {"app.c": MEAN | {"active": "true"}}  # its second report tells nothing more of when it ran
    reviews = review(loads(text(fed).encode(), "metrics.toml"), TODAY)
    assert any("reports of app.a (and 1 other metric)" in warning for warning in of(reviews, "app.b").warnings)
    turns = {"app.a": BOOLEAN} | {name: tables[name] | {"rotation": '"usage"'} for name in ("app.b", "app.c")}
    warnings = of(review(loads(text(turns).encode(), "metrics.toml"), TODAY), "app.b").warnings
    assert any("reports of app.c of its own group usage (and 1 other metric)" in warning for warning in warnings)


def test_hidden_presence_beyond_an_outbox_is_refused() -> None:
    hours = BOOLEAN | {"presence": '"hidden"', "window": '"hour"'}
    registry = loads(text({"app.a": hours, "app.b": hours | {"grace": '"7d"'}}).encode(), "metrics.toml")
    for refusing in (build, lambda found: review(found, TODAY)):
        with pytest.raises(DefinitionErrors) as caught:
            refusing(registry)
        (found,) = caught.value.problems
        assert (found.key, found.value) == ('metrics."app.a".presence', '"hidden"')
        assert "504 windows at one time, more than 500 (app.a 336, app.b 168)" in found.problem
        assert "a shorter grace, a longer window, a higher report_every" in found.remedy
    fits = build(loads(text({"app.a": hours}).encode(), "metrics.toml"))
    told = explain(fits.metrics["app.a"])
    assert any(sentence.startswith("An hour in which the program did not run") for sentence in told)
    assert any("encoding shows an absence just before it: the hours since" in sentence for sentence in told)
    assert any(sentence.startswith("Whoever carries or receives the traffic") for sentence in told)
    assert all(len(sentence) < 200 for sentence in told)


def test_show_says_what_a_group_costs_together(shell: Shell, tmp_path: Path) -> None:
    file = tmp_path / "metrics.toml"
    file.write_text(text({name: BOOLEAN | {"rotation": '"usage"'} for name in NAMES[:2]}), "utf-8")
    assert shell("show", file) == 0
    assert "a share of yes, one report every 2 days, in turns with the others of usage" in shell.prose
    assert "one changed day costs epsilon 1.408 for all of them together" in shell.prose


@pytest.mark.parametrize(("devices", "least"), [("7_000", 6), ("6_000", 0), ("1_000", 0)])
def test_lint_counts_the_turns_of_a_group(devices: str, least: int) -> None:
    letters = {letter: {"expected_devices": devices} for letter in "abcdef"}
    warnings = [one for found in review(group(6, **letters), TODAY) for one in found.warnings if "steady" in one]
    assert len(warnings) == (0 if least else 6)
    ways = {warning.partition("that it could be: ")[2] for warning in warnings}
    assert (
        ways
        == {"7_000": set(), "6_000": {"make its group smaller, at most 5"}, "1_000": {"make its group smaller"}}[
            devices
        ]
    )


def test_explain_says_what_a_turn_shows() -> None:
    told = explain(build(group()).metrics["app.b"])
    (turn,) = (line for line in told if line.startswith("By when it reports"))
    assert "which turn it has, one of 3: 1.59 bits more, for ever, and the same for all metrics whose turn" in turn
    (two,) = (line for line in explain(build(group(2)).metrics["app.b"]) if line.startswith("By when it reports"))
    assert "one of 2: 1 bit more, for ever" in two


def test_explain_names_the_turns_of_a_group() -> None:
    told = explain(build(group()).metrics["app.b"])
    assert "Its turn comes in one day of every 3, so it sends 122 reports at most." in " ".join(told)
    assert any("turns with the 2 other metrics of its group usage: one report for each day at most" in t for t in told)
    assert all(len(sentence) < 200 for sentence in told)
