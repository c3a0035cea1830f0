"""Presets with the design's numbers, what the app may set, and what a lock alone breaks."""

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from hubbub.client import Client
from hubbub.client.charges import per_day, whole
from hubbub.client.policy import PRESETS, RESEARCH, STANDARD, STRICT, Policy, PolicyError, enforce, resolve
from hubbub.clock import ManualClock
from hubbub.encoders.base import Prices
from hubbub.encoders.randomized_response import RandomizedResponse
from hubbub.errors import LockError, ParameterError
from hubbub.lock import Lock, dump, parse, reading
from hubbub.mechanisms.grr import Grr
from tests.unit.client_support import DAY, ENDPOINT, FRESH_MEAN, MEAN, STARTS, YES_NO, client, metric
from tests.unit.state_support import named, of

OPEN = resolve("standard", "unlimited")


def problems(policy: Policy, *metrics: Any) -> tuple[str, ...]:
    with pytest.raises(PolicyError) as caught:
        enforce(of(*metrics), policy)
    assert str(caught.value).startswith(f"policy {policy.name}: ")
    return caught.value.problems


def test_presets_are_the_designs() -> None:
    rows = {
        name: (p.per_day, p.steady, p.change, p.life_per_year, p.smallest_window, p.probation_seconds, p.dimensions)
        for name, p in PRESETS.items()
    }
    assert {p.life_for_ever for p in PRESETS.values()} == {math.inf}
    free = math.inf
    assert rows == {
        "strict": (1, 15, 1.5, 15, DAY, 7 * DAY, None),
        "standard": (4, 20, 6, None, 3600, 0, None),
        "research": (free, free, free, free, 3600, 0, None),
    }


# What the app says


def test_standard_leaves_the_life_to_the_app() -> None:
    with pytest.raises(
        PolicyError, match=r"^policy standard: it leaves the limit on life prices to the app; write life="
    ):
        resolve("standard")
    assert resolve("standard", 300).life == 300
    assert resolve("standard", "unlimited").life == math.inf
    assert resolve(replace(STANDARD, name="own"), 9.5) == replace(STANDARD, name="own", life_per_year=9.5)


def test_life_may_only_lower_what_a_policy_has() -> None:
    assert resolve("strict") is STRICT
    assert resolve("strict", 7).life == 7
    assert resolve("strict", 15).life == 15
    for more in (15.1, "unlimited"):
        with pytest.raises(PolicyError, match=r"policy strict: life=.* is more than its 15 nats a year; leave it out"):
            resolve("strict", more)
    assert resolve("research", 7).life == 7


@pytest.mark.parametrize("life", [0, -1, math.nan, True, "many", "", [1]])
def test_no_limit(life: Any) -> None:
    with pytest.raises(ParameterError, match=r'^life must be a number of nats above 0, or "unlimited"; got '):
        resolve("standard", life)


def test_no_such_policy() -> None:
    with pytest.raises(ParameterError, match=r"^policy must be one of strict, standard, research, or a Policy; got"):
        resolve("lax")


@pytest.mark.parametrize(
    "limits",
    [
        {"per_day": 0},
        {"steady": -1},
        {"change": math.nan},
        {"life_per_year": "9"},
        {"smallest_window": 1.5},
        {"probation_seconds": -1},
    ],
)
def test_policy_of_nonsense(limits: dict[str, Any]) -> None:
    with pytest.raises(ParameterError, match=f"^{next(iter(limits))} must be "):
        Policy("own", **limits)


# What a lock alone breaks


def test_lock_that_fits() -> None:
    enforce(of(named(), named("b")), OPEN)
    enforce(of(*(named(name, window="hour") for name in "abcdefghij")), RESEARCH)
    enforce(of(), STRICT)


def test_window_below_the_smallest() -> None:
    (problem, *_) = problems(STRICT, named(window="hour"))
    assert problem == 'a: its windows of 3600 s are smaller than 86400 s; write a longer one, such as window = "day"'


def test_reports_about_one_day() -> None:
    (problem,) = problems(OPEN, named("hourly", window="hour"), named("daily"))
    told = "reports about one day: 18.758834 nats are more than the 4 allowed (most by hourly: 17.758834); lower "
    assert problem.startswith(told)
    enforce(of(named("hourly", window="hour", report_every=8)), OPEN)  # three reports a day
    assert problems(OPEN, named(window="hour", report_every=5))  # five
    enforce(of(*(named(name, window="week") for name in "abcd")), OPEN)
    assert problems(replace(OPEN, change=math.inf), *(named(name, window="week") for name in "abcde"))


def test_what_is_not_measured_at_the_same_time_is_not_added() -> None:
    halves = [("2026-12-01", "2027-03-01"), ("2027-03-01", "2027-06-01")]
    one_by_one = [named(f"m{i}{j}", starts=s, expires=e) for i, (s, e) in enumerate(halves) for j in range(4)]
    enforce(of(*one_by_one), OPEN)
    assert problems(OPEN, *one_by_one, named("more", starts="2027-02-28", expires="2027-03-02"))


def test_one_changed_window() -> None:
    (problem,) = problems(replace(OPEN, per_day=9.0), *(named(name) for name in "abcde"))
    assert problem.startswith("one changed window: 7.03803 nats are more than the 6 allowed (most by a: 1.407606); ")


def test_values_that_never_change() -> None:
    (problem,) = problems(OPEN, named(), named("fresh", encoder=FRESH_MEAN, report_every=20))
    assert problem.startswith("values that never change: 21.0004")
    assert "more than the 20 allowed (most by fresh: 19.000" in problem


def test_life_of_each_calendar_year() -> None:
    found = problems(resolve("standard", 20), named())
    assert [problem[:30] for problem in found] == ["any two histories of 2026: 22.", "any two histories of 2027: 235"]
    enforce(of(named()), resolve("standard", 236))
    assert problems(replace(OPEN, life_per_year=None), named())  # nobody wrote a limit


@pytest.mark.parametrize(
    ("policy", "life", "remedy"),
    [
        ("standard", 20, ", or write a larger life="),
        ("research", 20, ", or write a larger life="),
        ("strict", None, ""),  # it takes no larger one
        ("strict", 2, ""),  # nor one that would be large enough
        (Policy("own", life_per_year=20.0), None, ", or raise the limit on life prices"),
        (Policy("own"), 20, ", or raise the limit on life prices"),
    ],
)
def test_larger_life_is_a_remedy_where_the_app_wrote_the_limit(
    policy: str | Policy, life: float | None, remedy: str
) -> None:
    found = problems(resolve(policy, life), named())
    lives = [problem for problem in found if problem.startswith("any two histories of 2027: ")]
    assert [problem.partition("drop a metric")[2] for problem in lives] == [remedy]


def test_larger_life_is_a_remedy_up_to_what_the_policy_takes() -> None:
    short = named(starts="2026-12-01", expires="2026-12-08")
    (problem,) = problems(resolve("strict", 2), short)
    assert problem.startswith("any two histories of 2026: ")
    assert problem.endswith(", or write a larger life=")
    enforce(of(short), STRICT)


def test_life_for_ever() -> None:
    price = MEAN.prices(364).life
    enforce(of(named()), replace(OPEN, life_for_ever=price))
    assert problems(replace(OPEN, name="own", life_for_ever=300.0), named(), named("b")) == (
        f"any two histories: {2 * 257.051847:.6f} nats are more than the 300 allowed (most by a: 257.051847); "
        "lower epsilon, raise report_every or drop a metric",
    )


def test_change_without_a_bound() -> None:
    bare = replace(MEAN, flip=0)
    (day, *_) = problems(replace(OPEN, per_day=99.0), named(encoder=bare))
    assert day.startswith(
        "one changed window: what is asked for has no bound, and 6 nats are allowed (most by a); lower"
    )
    enforce(of(named(encoder=bare)), RESEARCH)


def test_dimensions_allowed_by_name() -> None:
    asked = named(dimensions=(("os", ("linux", "mac")), ("arm", ("a", "b"))))
    enforce(of(asked), OPEN)
    enforce(of(asked), replace(OPEN, dimensions=frozenset({"os", "arm"})))
    (problem,) = problems(replace(OPEN, dimensions=frozenset({"os"})), asked)
    assert problem == "a: dimension arm is not one that may be sent; take it out or allow it by name"
    assert len(problems(replace(OPEN, dimensions=frozenset()), asked)) == 2


def test_everything_wrong_is_said_at_once() -> None:
    found = problems(STRICT, named(window="hour"), named("b"))
    assert len(found) == 5


@pytest.mark.parametrize(("windows", "every"), [(24, 1), (8, 3), (2, 12), (1, 24)])
def test_a_day_of_permanent_answers_costs_what_its_reports_can_lose_together(windows: int, every: int) -> None:
    """Ten hourly categories at 0.1 nats a report: 24 of them lose more than 24 times that."""
    encoder = Grr.from_epsilon(0.1, permanent_epsilon=1.2, categories=10).encoder
    one = named("a", window="hour", report_every=every)
    one = replace(one, kind="choice", encoder=encoder, labels=tuple("abcdefghi"))
    day = per_day({"a": whole(one)})["a"]
    prices = encoder.prices(windows)
    assert day == (prices.report if windows == 1 else prices.life)
    if windows == 24:
        assert day > 8.095  # a pair of histories that loses as much, by enumeration


# What a lock made by hand says


class Cheap(RandomizedResponse):
    """States next to nothing, whatever its integers give away."""

    def prices(self, windows: int) -> Prices:
        return Prices(0.001, 0.001, 0.001, 0.001)


def test_a_lock_made_by_hand_is_refused_before_anything_is_opened(tmp_path: Path) -> None:
    forged, cheap = metric(), metric(kind="boolean", encoder=Cheap(*YES_NO.canonical()))
    vars(forged)["hash"] = "0" * 64
    hidden = metric(window="hour", presence="hidden", grace=501 * 3600)
    for made, key in ((forged, "hash"), (cheap, "prices.report"), (hidden, "presence")):
        with pytest.raises(LockError) as caught:
            Client(of(made), ENDPOINT, policy=RESEARCH, state_dir=tmp_path / "state", background=False)
        assert caught.value.where == f'metrics."editor.minutes".{key}'
        assert not (tmp_path / "state").exists()


def test_many_clients_of_one_lock_check_it_once(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []

    def counted(text: str | bytes) -> Lock:
        read.append(str(text))
        return parse(text)

    monkeypatch.setattr(reading, "parse", counted)
    made = of(metric())
    for _ in range(3):
        client(made, ManualClock(STARTS)).close()
    assert read == [dump(made)]
