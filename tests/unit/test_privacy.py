"""Prices in words: nothing is rounded down, and every sentence says what the prices say."""

import math
import re
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hubbub.encoders.base import SCALE
from hubbub.errors import ParameterError
from hubbub.lock import Metric
from hubbub.mechanisms import registry
from hubbub.privacy import describe, explain, in_words, nats, percent, posterior, sections
from hubbub.privacy.precision import OTHERWISE
from hubbub.privacy.words import CERTAIN


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
    assert "k changed days cost at most k times that" in change
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
    text, prices = " ".join(explain(told)), told.prices
    assert ("there is no protection" in text) == (CERTAIN < prices.life < math.inf)
    assert ("no bound" in text) == math.isinf(prices.life)
    for count, price in (("changed", prices.change), ("reports", prices.report)):
        found = re.search(r"from (\d+) changed" if count == "changed" else r"add up; from (\d+) on", text)
        if found:
            assert (int(found[1]) - 1) * price <= CERTAIN * (1 + 1e-9)
            assert int(found[1]) * price * (1 + 1e-9) > CERTAIN
            assert int(found[1]) <= told.reports


def test_a_single_report_has_no_halfway() -> None:
    told = metric(10, 12, starts="2026-12-01", expires="2026-12-02")
    assert told.reports == 1
    assert "halfway" not in " ".join(explain(told))
    assert "whole life of 1 day, 1 report: epsilon at most" in only(told, "Any two histories")
