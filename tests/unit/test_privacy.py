"""Prices in words: nothing is rounded down, and every sentence says what the prices say."""

import math
import re
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hubbub.client.charges import charge
from hubbub.client.ledger import Account
from hubbub.client.past import told as ledger_prices
from hubbub.encoders.base import SCALE
from hubbub.encoders.randomized_response import RandomizedResponse
from hubbub.encoders.rappor import Rappor
from hubbub.errors import ParameterError
from hubbub.lock import Metric, shown
from hubbub.mechanisms import registry
from hubbub.privacy import (
    account,
    closest_life,
    describe,
    explain,
    in_words,
    nats,
    percent,
    plural,
    posterior,
    sections,
    visible,
)
from hubbub.privacy.changes import percent_of
from hubbub.privacy.precision import OTHERWISE
from hubbub.privacy.prices import of_life
from hubbub.privacy.words import CERTAIN, a
from hubbub.windows import midnight


def metric(epsilon: float = 1.0, permanent: float | None = 2.0, **changes: Any) -> Metric:
    """Minutes a day over 364 days, as a registry would build it."""
    if changes.get("kind") == "boolean":
        encoder = registry["randomized_response"].from_epsilon(epsilon, permanent_epsilon=permanent).encoder
    else:
        encoder = registry["one_bit_mean"].from_epsilon(epsilon, permanent_epsilon=permanent, upper=480).encoder
    plain = Metric(
        name="editor.minutes",
        version=1,
        kind="mean",
        encoder=encoder,
        lower=0,
        step=1_000_000,
        unit="min",
        labels=(),
        window="day",
        starts="2026-12-01",
        expires="2027-11-30",
        grace=1_209_600,
        report_every=1,
        rotation="",
        presence="ran",
        seal="window_end",
        dimensions=(),
        min_reports=100,
        description="Minutes the editor was in front",
        purpose="Decide what to speed up first",
        owners=("telemetry@example.org",),
    )
    return replace(plain, **changes)


def only(metric: Metric, part: str) -> str:
    """The one sentence that holds `part`."""
    (found,) = (sentence for sentence in explain(metric) if part in sentence)
    return found


def about(metric: Metric) -> list[str]:
    """The sentences about the metric itself, without what it could be instead."""
    return [told for heading, part in sections(metric).items() if heading != OTHERWISE for told in part]


def number(text: str) -> float:
    return float(text.removesuffix(" %")) / 100


@pytest.mark.parametrize(
    ("epsilon", "chance", "printed"),
    [
        (0, 0.5, "50 %"),
        (0.1, 0.525, "52.5 %"),
        (0.5, 0.622, "62.3 %"),
        (1, 0.731, "73.2 %"),
        (2, 0.881, "88.1 %"),
        (4, 0.982, "98.3 %"),
        (7, 0.9991, "99.91 %"),
        (CERTAIN, 0.9999, "99.99 %"),
        (math.nextafter(CERTAIN, 10), 0.9999, "practically certain"),
        (257, 1.0, "practically certain"),
        (math.inf, 1.0, "100 %"),
    ],
)
def test_percent(epsilon: float, chance: float, printed: str) -> None:
    assert posterior(epsilon) == pytest.approx(chance, abs=5e-4)
    assert percent(epsilon) == printed


@given(st.floats(0, CERTAIN))
def test_percent_is_rounded_up_by_little(epsilon: float) -> None:
    assert 0 <= number(percent(epsilon)) - posterior(epsilon) + 1e-15 < 0.0011


@given(st.floats(0, 1e6))
def test_nats_are_rounded_up_by_little(epsilon: float) -> None:
    assert re.fullmatch(r"\d+\.\d{3}", nats(epsilon))
    assert 0 <= float(nats(epsilon)) - epsilon < 0.001 + 1e-9


@pytest.mark.parametrize("epsilon", [-1e-9, -math.inf, math.nan])
def test_no_words_for_what_is_no_loss(epsilon: float) -> None:
    for words in (posterior, percent):
        with pytest.raises(ParameterError, match=re.escape(f"epsilon must be a loss in nats, >= 0; got {epsilon!r}")):
            words(epsilon)


def test_words_inside_a_sentence() -> None:
    assert in_words(1) == "from even odds to 73.2 %"
    assert in_words(10) == "from even odds to practical certainty"
    assert in_words(math.inf) == nats(math.inf) == "no bound"
    assert (nats(1), nats(1.408), nats(1.4080001)) == ("1.000", "1.408", "1.409")


def test_four_prices_as_data() -> None:
    lines = describe(metric())
    assert [line.key for line in lines] == ["report", "steady", "change", "life"]
    assert [line.epsilon for line in lines] == [1.0, 2.0, 1.407606, 257.051847]
    assert [line.nats for line in lines] == ["1.000", "2.000", "1.408", "257.052"]
    assert [line.odds for line in lines] == ["73.2 %", "88.1 %", "80.4 %", "practically certain"]
    assert lines[3].meaning == "any two histories over 364 days, 364 reports"
    assert len({line.label for line in lines}) == len({line.meaning for line in lines}) == 4


def test_no_bound_as_data() -> None:
    _, steady, change, life = describe(metric(1, 1))
    assert steady.epsilon == 1
    assert change.epsilon is life.epsilon is None
    assert (change.nats, change.odds) == ("no bound", "100 %")


def test_prices_of_permanent_answers_in_sentences() -> None:
    told = metric()
    assert "epsilon 1.000, from even odds to 73.2 %." in only(told, "One report:")
    steady = only(told, "A device that never changes")
    assert "epsilon 2.000, from even odds to 88.1 %, for all its reports together, for ever." in steady
    assert "no promise for life: it ends with the first change" in steady
    change = only(told, "One changed day, all else equal")
    assert "epsilon 1.408, from even odds to 80.4 %." in change
    assert "k of them cost at most k times that" in change
    assert "a lasting change counts in every day that follows" in change
    life = only(told, "Any two histories")
    assert (
        "whole life of 364 days, 364 reports: epsilon at most 257.052, from even odds to practical certainty." in life
    )
    assert life.endswith("In the worst case there is no protection.")
    assert "first use is a change, paid at the price of one changed day" in only(told, "A new feature")


def test_a_lasting_move_is_the_picture_of_the_worst_case() -> None:
    told = metric()
    picture = only(told, "One lasting move")
    assert "from one end of the range to the other halfway through counts as 182 changes" in picture
    assert "from 7 changed days on nothing is promised" in picture
    assert 6 * told.prices.change <= CERTAIN < 7 * told.prices.change
    # It is close to the worst case: at one end for 182 days, all zeros, then at the other, all ones, against staying.
    low, flip = told.encoder.canonical()[2] / SCALE, told.encoder.canonical()[4] / SCALE
    half = told.reports // 2 * math.log((1 - flip) / flip)
    moved = 2 * math.log1p(-low)  # both permanent answers true: (1 - low)²(1 - flip)^364, less what staying has too
    stayed = 0.0  # a permanent answer explains half of the reports, whichever it is: (flip (1 - flip))^182
    assert 0.99 * told.prices.life < half + moved - stayed <= told.prices.life
    assert "from no to yes halfway" in only(metric(kind="boolean"), "One lasting move")
    buckets = registry["grr"].from_epsilon(1, permanent_epsilon=2, categories=10).encoder
    assert "from one bucket to another half" in only(metric(kind="histogram", encoder=buckets), "One lasting move")
    steep = metric(kind="boolean", encoder=RandomizedResponse(1, 1, 1))
    assert "from 1 changed day on nothing is promised" in only(steep, "One lasting move")


def test_a_move_of_words_has_no_range_and_is_pictured() -> None:
    encoder = registry["rappor"].from_epsilon(1, permanent_epsilon=2).encoder
    assert isinstance(encoder, Rappor)
    told = metric(kind="words", encoder=encoder, lower=0, unit="")
    assert "from one word to another halfway" in only(told, "One lasting move")
    assert "range" not in " ".join(about(told))
    apart = Fraction(encoder.low, SCALE) ** 2 + (1 - Fraction(encoder.low, SCALE)) ** 2
    most = Fraction(1) - (1 - apart) ** (2 * encoder.hashes)
    assert only(told, "visible in time") == (
        f"From one word to another for good: visible in time on at most {percent_of(most)} of devices, on others never "
        "by this metric."
    )
    shares = [visible(encoder, one, other) or 0 for one in range(1, 30) for other in range(one)]
    assert 0.9 * most < max(shares) <= most
    assert sections(told)[OTHERWISE] == [
        "For words nothing is compared: that is done for yes or no, means, choices and histograms alone."
    ]
    fresh = metric(kind="words", encoder=registry["cms"].from_epsilon(1).encoder, lower=0, unit="")
    assert only(fresh, "word to another").endswith("on every device, as nothing is kept to hide it.")
    vectors = metric(kind="vector", encoder=registry["harmony"].from_epsilon(1, dimension=3, norm=1).encoder, unit="")
    assert "From one vector to another for good" in only(vectors, "for good")
    assert sections(vectors)[OTHERWISE][0].startswith("For vectors nothing is compared")


def test_fresh_metrics_keep_nothing() -> None:
    told = metric(1, None)
    steady = only(told, "A device that never changes")
    assert "epsilon 364.000, from even odds to practical certainty" in steady
    assert "Nothing is kept from report to report, so the losses of 364 reports add up; from 10 on" in steady
    text = " ".join(about(told))
    for absent in ("permanent", "for ever.", "new feature", "lasting move"):
        assert absent not in text
    assert "from even odds to 73.2 %" in only(told, "One changed day")
    assert "nothing is promised" not in " ".join(explain(metric(0.01, None)))


def test_visible_changes_have_no_bound() -> None:
    told = metric(1, 1)
    assert only(told, "One changed day").startswith("One changed day: no bound.")
    assert "can show for certain" in only(told, "One changed day")
    assert "364 reports: no bound." in only(told, "Any two histories")
    assert only(told, "A new feature").endswith("and a change has no bound here.")
    assert "inf" not in " ".join(explain(told)).replace("information", "")


def test_panels() -> None:
    told = metric(1, None, report_every=28)
    assert "one day of every 28, so it sends 13 reports at most" in only(told, "Its turn")
    assert "never from data" in only(told, "Its turn")
    assert "and it is the installation's turn" in explain(told)[0]
    assert "which turn it has, one of 28: 4.81 bits more, for ever" in only(told, "By when it reports")
    assert "364 days, 13 reports: epsilon at most 13.000" in only(told, "Any two histories")
    assert "one day of every 2, so it sends 182 reports at most" in only(metric(report_every=2), "Its turn")
    assert "One changed day at its turn, all else equal" in only(told, "One changed day")
    assert "counts at every turn that follows" in only(told, "One changed day")
    kept = metric(report_every=28)
    assert kept.prices.life > CERTAIN
    assert "from 7 changed days at its turn on nothing is promised" in only(kept, "One lasting move")
    assert "for each day at its turn that differs" in only(kept, "A new feature")
    assert only(metric(1, 1, report_every=28), "One changed").startswith("One changed day at its turn: no bound.")
    assert "turn" not in " ".join(about(metric()))


def test_whose_prices_and_what_they_add_up_over() -> None:
    assert "one installation and of this metric alone" in only(metric(), "Each price")
    adding = only(metric(), "Prices add up")
    for over in ("metrics", "versions", "re-installations", "all the devices of one person"):
        assert over in adding


def test_what_is_seen_and_what_is_not_protected() -> None:
    dimensions = (("channel", ("stable", "beta")), ("os", ("linux", "mac")))
    assert "the metric, its encoding and the day, and the device's channel, os." in only(
        metric(dimensions=dimensions), "In the clear"
    )
    assert "the metric, its encoding and the week. No" in only(metric(window="week"), "In the clear")
    assert "takes part, and when its program ran" in only(metric(), "Visible")
    linked = re.search(r"tells up to ([\d.]+) bits", only(metric(), "A report's id links nothing by itself"))
    assert linked
    assert metric().encoder.linkage_bits <= float(linked[1]) < metric().encoder.linkage_bits + 0.01
    assert "up to 1 bit about" in only(metric(1, 1), "A report's id")
    assert "HMAC-SHA-256" in only(metric(), "Not protected: the device itself")
    assert "true of the crowd" in only(metric(), "Not protected: what")
    assert "fewer than 250 reports" in only(metric(min_reports=250), "no rule of privacy")


def test_what_is_kept_and_travels_in_the_clear_counts_as_told() -> None:
    encoder = registry["d_bit_flip"].from_epsilon(1, permanent_epsilon=2, categories=10, d=3).encoder
    told = metric(kind="histogram", encoder=encoder)
    assert "a number, one of 10, that the device keeps for good" in only(told, "In the clear too")
    linked = re.search(r"tells up to ([\d.]+) bits", only(told, "A report's id links nothing by itself"))
    assert linked
    assert 0 <= float(linked[1]) - encoder.public_bits - encoder.linkage_bits < 0.01
    assert encoder.linkage_bits > 0
    assert "In the clear too" not in " ".join(explain(metric()))


@pytest.mark.parametrize(("grace", "said"), [(86_400, "1 day"), (129_600, "36 hours"), (1_209_600, "14 days")])
def test_absences_show_beyond_the_grace(grace: int, said: str) -> None:
    told = metric(presence="hidden", grace=grace)
    assert f"did not run for more than {said}." in only(told, "Visible")
    assert f"if it does so within {said};" in only(told, "is reported as 0")


def test_long_names_of_dimensions_are_counted() -> None:
    dimensions = tuple((letter * 30, ("x",)) for letter in "abcd")
    assert "the device's values of 4 dimensions" in only(metric(dimensions=dimensions), "In the clear")


@st.composite
def metrics(draw: st.DrawFn) -> Metric:
    epsilon = draw(st.floats(0.001, 10))
    permanent = draw(st.none() | st.floats(0, 6).map(lambda more: epsilon + more))
    days = draw(st.integers(7, 28))
    return metric(
        epsilon,
        permanent,
        kind=draw(st.sampled_from(["boolean", "mean"])),
        window=draw(st.sampled_from(["hour", "day", "week"])),
        expires=draw(st.sampled_from([f"2026-12-{days + 1:02}", "2028-01-05"])),
        starts="2026-11-30",
        report_every=draw(st.integers(1, 400)),
        dimensions=draw(st.sampled_from([(), (("a" * 32, ("b",)), ("c" * 32, ("d",)), ("e" * 32, ("f",)))])),
        min_reports=draw(st.sampled_from([1, 2**53 - 1])),
    )


@given(metrics())
def test_sentences_are_short_whole_and_hold_every_price(told: Metric) -> None:
    sentences = explain(told)
    assert [sentence for part in sections(told).values() for sentence in part] == sentences
    assert len(set(sentences)) == len(sentences) >= 12
    for sentence in sentences:
        assert len(sentence) < 200, sentence
        assert re.fullmatch(r"[A-Z][^\n]*\.", sentence)
        assert "  " not in sentence
    text = " ".join(sentences)
    for line in describe(told):
        assert (line.epsilon is None and "no bound" in text) or line.nats in text


@given(metrics())
def test_what_is_said_follows_from_the_prices(told: Metric) -> None:
    text, prices = " ".join(explain(told)), of_life(told)
    assert ("there is no protection" in text) == (CERTAIN < prices.life < math.inf)
    assert ("no bound" in text) == math.isinf(told.prices.life)
    for count, price in (("changed", prices.change), ("reports", prices.report)):
        found = re.search(r"from (\d+) changed" if count == "changed" else r"add up; from (\d+) on", text)
        if found:
            assert (int(found[1]) - 1) * price <= CERTAIN * (1 + 1e-9)
            assert int(found[1]) * price * (1 + 1e-9) > CERTAIN
            assert int(found[1]) <= told.reports


def test_a_single_report_has_no_halfway() -> None:
    told = metric(10, 12, starts="2026-12-01", expires="2026-12-02")
    assert told.reports == 1
    text = " ".join(about(told))
    for absent in ("halfway", "k of them", "for good", "first use", "that follows", "add up;", "for ever,"):
        assert absent not in text
    assert only(told, "the only report") == (
        "It is the only report in the whole life of 1 day. So a device that never changes, one changed day and any two "
        "histories cost the same. In the worst case there is no protection."
    )


def test_a_move_is_not_said_to_show_in_time_where_reports_are_too_few() -> None:
    few, more = (metric(0.5, 8, kind="boolean", expires=f"2026-12-{day}") for day in ("03", "31"))
    assert few.reports == 2
    assert not [sentence for sentence in explain(few) if "visible in time" in sentence]
    assert [sentence for sentence in explain(more) if "visible in time" in sentence]


@pytest.mark.parametrize("permanent", [2.0, 1.0, None])
@pytest.mark.parametrize("every", [1, 28])
def test_all_prices_of_one_report_are_that_of_one_report(permanent: float | None, every: int) -> None:
    """The bounds of the lock are higher: they cover renewals, which are said."""
    told = metric(1, permanent, kind="boolean", expires=f"2026-12-{1 + every:02}", report_every=every)
    assert told.reports == 1
    assert [line.epsilon for line in describe(told)] == [1.0] * 4
    assert of_life(told) == (told.prices.report,) * 4
    assert describe(told)[1].meaning == "two values, by the one report of a device whose value never changes"
    assert describe(told)[1].label == "a device that never changes"  # not for ever: a renewal can cost it more
    found = account(told)
    assert [found.report, found.steady, found.change, found.life, found.exact_life] == [1.0] * 5
    assert closest_life(told.encoder, 1) == (told.prices.report, True)
    renewed = [sentence for sentence in explain(told) if "renewed" in sentence]
    if permanent is None:
        assert renewed == []
    else:
        cost = {2.0: "epsilon 1.408", 1.0: "no bound"}[permanent]
        (sentence,) = renewed
        assert sentence.endswith(f"never changes costs epsilon {permanent:.3f} then, one changed day {cost}.")


def test_no_price_is_above_that_of_any_two_histories() -> None:
    """With a dear permanent answer a short life costs less than what reports without end would tell."""
    told = metric(0.1, 6, kind="boolean", expires="2026-12-06")
    report, steady, change, life = of_life(told)
    assert report < change < steady == life < told.prices.steady
    assert [line.epsilon for line in describe(told)] == [shown(price) for price in of_life(told)]
    assert "as its life is short. If it is renewed with the same encoding, up to epsilon 6.000." in only(
        told, "A device that never changes"
    )
    charged = Account(charges=(charge(told, "s", midnight(told.starts), midnight(told.expires)),))
    assert ledger_prices(charged) == of_life(told)
    windows = account(told, 5)
    assert (windows.steady, windows.life) == (describe(told)[1].epsilon, describe(told)[3].epsilon)


def test_articles_follow_the_window() -> None:
    made = metric(window="hour", presence="hidden")
    assert "From 0 to 480 min an hour for good" in only(made, "visible in time")
    assert "An hour in which the program did not run" in only(made, "did not run is reported")
    assert (a("hour"), a("day"), a("week")) == ("an hour", "a day", "a week")
    assert (plural(1, "day"), plural(0, "day"), plural(2, "day")) == ("1 day", "0 days", "2 days")


@pytest.mark.parametrize(("aggregate", "much"), [("", "min a day"), ("count", "min a day"), ("max", "min in each day")])
def test_only_what_adds_up_is_so_much_a_window(aggregate: str, much: str) -> None:
    assert f"From 0 to 480 {much} for good" in only(metric(aggregate=aggregate), "visible in time")
