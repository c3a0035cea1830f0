"""What both metrics of `active = true` give away together: joint prices, and on how many devices a first use shows."""

import math
import re
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction

import pytest

from hubbub.definitions import build, loads
from hubbub.dossier import dossier
from hubbub.dossier.text import plain
from hubbub.encoders.one_bit_mean import OneBitMean
from hubbub.encoders.randomized_response import RandomizedResponse
from hubbub.errors import ParameterError
from hubbub.lock import Lock, Metric
from hubbub.prf import device_prf
from hubbub.privacy import explain, nats, partner, sections, visible
from hubbub.privacy.changes import percent_of
from tests.unit.definitions_support import MEAN, text

NAME, ACTIVE = "editor.minutes", "editor.minutes.active"
PAIR = MEAN | {"active": "true", "upper": "100", "unit": None}
JOINT = ("One event shows in", "Of editor.minutes and its .active", "From nothing to")


def lock(**changes: str | None) -> Lock:
    given: Mapping[str, str | None] = PAIR | changes
    return build(loads(text(given).encode(), "metrics.toml"))


def both(made: Lock) -> tuple[Metric, Metric]:
    return made.metrics[NAME], made.metrics[ACTIVE]


def joint(made: Lock) -> list[str]:
    mean, told = both(made)
    found = [line for line in explain(mean, told) if line.startswith(JOINT)]
    assert found == [line for line in explain(told, mean) if line.startswith(JOINT)]
    assert found == sections(mean, told)["What it costs"][-len(found) :]
    return found


def test_joint_prices_and_first_use() -> None:
    mean, told = both(lock())
    report, rest, first = joint(lock())
    assert report == (
        "One event shows in editor.minutes and its .active; both reports of a day cost epsilon "
        "1.000, from even odds to 73.2 %."
    )
    for price in ("steady", "change", "life"):
        assert nats(getattr(mean.prices, price) + getattr(told.prices, price)) in rest
    assert rest.startswith(
        "Of editor.minutes and its .active, at most: one changed day epsilon 1.970, never changing epsilon 2.400"
    )
    assert first == (
        "From nothing to 100 in each day for good, as at first use, moves both: visible in time on 87.4 % of devices, "
        "by either or both."
    )


def test_each_by_itself_says_nothing_of_the_other() -> None:
    for one in both(lock()):
        (alone,) = (line for line in explain(one) if "visible in time" in line)
        assert "on 64.5 % of devices, on others never by this metric" in alone
        assert not [line for line in explain(one) if line.startswith(JOINT)]


def test_as_many_devices_as_the_answers_of_both_differ() -> None:
    """Of 4 000 secrets, within five standard errors: the permanent answers before and after, by the real streams."""
    mean, told = both(lock())
    assert isinstance(mean.encoder, OneBitMean)
    assert isinstance(told.encoder, RandomizedResponse)
    shares = [visible(mean.encoder, 0, 100), visible(told.encoder, 0, 1)]
    assert None not in shares
    exact = float(1 - math.prod(1 - (share or Fraction(0)) for share in shares))
    moved = 0
    for number in range(4_000):
        prfs = [device_prf(number.to_bytes(32, "big"), "editor-desktop", one.name, one.hash) for one in (mean, told)]
        moved += any(
            one.encoder.permanent(0, prf) != one.encoder.permanent(last, prf)
            for one, prf, last in zip((mean, told), prfs, (100, 1), strict=True)
        )
    assert moved / 4_000 == pytest.approx(exact, abs=5 * math.sqrt(exact * (1 - exact) / 4_000))


def test_nothing_recorded_is_the_tick_of_zero() -> None:
    made = lock(lower="-20", upper="60", unit='"h"')
    mean, told = both(made)
    one, other = visible(mean.encoder, 20, 80), visible(told.encoder, 0, 1)
    assert one is not None
    assert other is not None
    share = percent_of(1 - (1 - one) * (1 - other))
    assert joint(made)[2].startswith(
        f"From nothing to 60 h a day for good, as at first use, moves both: visible in time on {share}"
    )
    assert "From nothing to -60 " in joint(lock(lower="-60", upper="20"))[2]


def test_both_at_their_dearest_at_once_is_said_to_be_a_bound_where_no_value_is() -> None:
    for lower, upper, bound in (("-20", "60", True), ("-60", "0", False), ("0", "60", False)):
        assert ("cost epsilon at most " in joint(lock(lower=lower, upper=upper))[0]) is bound


def test_without_permanent_answers_there_are_prices_alone() -> None:
    assert [line.split()[0] for line in joint(lock(strategy='"fresh"'))] == ["One", "Of"]
    endless = joint(lock(permanent_epsilon="1.0", changes_visible="true"))
    assert endless[1].endswith("one changed day no bound, never changing epsilon 1.000, any two histories no bound.")


def test_sentences_stay_short() -> None:
    name = "a" * 57
    changes = {
        "epsilon": "16",
        "window": '"hour"',
        "upper": "1000000000",
        "lower": "0",
        "step": "0.5",
        "unit": f'"{"u" * 32}"',
    }
    for more in ({}, {"strategy": '"fresh"'}):
        made = build(loads(text(PAIR | changes | more, name=f'"{name}"').encode(), "metrics.toml"))
        mean, told = made.metrics[name], made.metrics[f"{name}.active"]
        for sentence in [*explain(mean, told), *explain(told, mean)]:
            assert len(sentence) < 200, sentence


def test_partner_is_the_metric_of_the_same_events() -> None:
    made = lock()
    mean, told = both(made)
    assert (partner(mean, made.metrics), partner(told, made.metrics)) == (told, mean)
    assert partner(mean, {NAME: mean}) is partner(told, {ACTIVE: told}) is None
    other = both(lock(upper="200"))[1]  # fed by another encoding of the mean
    assert partner(mean, {NAME: mean, ACTIVE: other}) is None


@pytest.mark.parametrize("which", ["itself", "another mean", "fed by another"])
def test_what_is_no_partner_is_refused(which: str) -> None:
    mean, told = both(lock())
    other = {
        "itself": mean,
        "another mean": replace(mean, name="editor.other"),
        "fed by another": both(lock(upper="200"))[1],
    }[which]
    for call in (explain, sections):
        said = re.escape(f"other must be the metric that shares its events with {NAME}, or None; got {other.name!r}")
        with pytest.raises(ParameterError, match=said):
            call(mean, other)
    assert explain(mean, told)


def test_of_one_report_each_all_joint_prices_are_their_sum() -> None:
    made = lock(expires="2026-12-02", window='"hour"', report_every="24")
    report, rest = joint(made)
    assert "both reports of an hour cost epsilon 1.000" in report
    assert rest.endswith(
        "one changed hour epsilon 1.000, never changing epsilon 1.000, any two histories epsilon 1.000."
    )


def test_a_first_use_is_not_said_to_show_in_time_where_reports_are_too_few() -> None:
    few, more = (lock(epsilon="1.0", permanent_epsilon="16.0", expires=f"2026-12-{day}") for day in ("03", "31"))
    assert not [line for line in joint(few) if "visible in time" in line]
    assert [line for line in joint(more) if "visible in time" in line]


def test_the_dossier_says_it_once_for_both() -> None:
    written = dossier(lock())
    for line in joint(lock()):
        assert written.count(f"- {plain(line)}\n") == 1
