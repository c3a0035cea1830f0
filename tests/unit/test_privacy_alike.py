"""Histories that are alike: one pattern, values within a window, a move for good; against going through all of them."""

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations, permutations, product
from types import SimpleNamespace
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hubbub.encoders.base import SCALE, Answer, Encoder, Prf, Words
from hubbub.encoders.grr import Grr
from hubbub.encoders.one_bit_mean import OneBitMean
from hubbub.errors import ParameterError
from hubbub.mechanisms import registry
from hubbub.privacy import visible
from hubbub.privacy.changes import percent_of
from hubbub.privacy.confined import confined, within
from hubbub.privacy.pattern import same_pattern
from hubbub.testing import exact_law
from hubbub.testing.mechanisms.laws import history_law

TABLED = {  # entries beyond the first: losses by number of distinct ones, at epsilon 1 without flips
    1: [1, 2],
    2: [1, 2, 2],
    4: [1, 2, 2.4706, 2.9412, 2.9412],
    8: [1, 2, 2.7231, 3.4462, 3.9169, 4.3875, 4.6196, 4.8517, 4.8517],
}


def mean(top: int, epsilon: float = 1, permanent: float = 1, **more: int) -> OneBitMean:
    domain = {"upper": top, "bucket": 1} | more
    encoder = registry["one_bit_mean"].from_epsilon(epsilon, permanent_epsilon=permanent, **domain).encoder
    assert isinstance(encoder, OneBitMean)
    return encoder


def choice(size: int, epsilon: float = 1, permanent: float | None = 2) -> Encoder:
    return registry["grr"].from_epsilon(epsilon, permanent_epsilon=permanent, categories=size).encoder


@pytest.mark.parametrize("top", TABLED)
def test_published_table(top: int) -> None:
    found = [same_pattern(mean(top), distinct) for distinct in range(1, top + 2)]
    assert found == pytest.approx(TABLED[top], abs=5.1e-5)
    assert same_pattern(mean(top), 1000) == found[-1]


def answers(encoder: Encoder) -> list[list[Fraction]]:
    """Chances of each permanent answer of each entry."""
    if isinstance(encoder, OneBitMean):
        ones = [Fraction(encoder.low + k * encoder.rise, SCALE) for k in range(encoder.top + 1)]
        return [[1 - p, p] for p in ones]
    assert isinstance(encoder, Grr)
    found = []
    for value in range(encoder.size):

        def kept(prf: Prf, _: Words, value: int = value) -> Answer:
            return encoder.permanent(value, prf)

        law = exact_law(kept)
        found.append([law[y,] for y in range(encoder.size)])
    return found


def all_assignments(entries: list[list[Fraction]], distinct: int) -> float:
    loss = [[max(math.log(p / q) for p, q in zip(a, b, strict=True)) for b in entries] for a in entries]
    every = range(len(entries))
    return max(
        sum(loss[a][b] for a, b in zip(i, j, strict=True))
        for i in combinations(every, distinct)
        for j in permutations(every, distinct)
    )


@pytest.mark.parametrize(
    "encoder", [*(mean(top, 0.5, 2) for top in range(1, 7)), mean(5, 3, 3), *map(choice, (2, 3, 4))]
)
def test_pattern_equals_all_assignments(encoder: Encoder) -> None:
    entries = answers(encoder)
    for distinct in range(1, min(5, len(entries)) + 1):
        price, brute = same_pattern(encoder, distinct), all_assignments(entries, distinct)
        assert brute * (1 - 1e-12) <= price <= brute * (1 + 1e-9)


def test_no_history_has_more_entries_than_there_are() -> None:
    for size in (2, 5):
        assert same_pattern(choice(size), size + 1) == same_pattern(choice(size), size)


@given(st.integers(1, 40), st.integers(1, 60), st.floats(0.01, 8))
def test_pattern_grows_and_is_at_most_a_loss_for_each(top: int, distinct: int, epsilon: float) -> None:
    encoder = mean(top, epsilon, epsilon * 1.5)
    one, found = same_pattern(encoder, 1), same_pattern(encoder, distinct)
    assert one == pytest.approx(encoder.prices(1).steady, rel=1e-6)
    assert found <= distinct * one * (1 + 1e-9)
    assert found <= same_pattern(encoder, distinct + 1) * (1 + 1e-9)


@pytest.mark.parametrize("encoder", [mean(2, 0.5, 1), choice(3, 0.5, 1)])
def test_flips_only_take_away(encoder: Encoder) -> None:
    pattern = (0, 1, 0)
    laws = [history_law(encoder, tuple(pair[place] for place in pattern)) for pair in permutations(range(3), 2)]
    worst = max(math.log(max(law[sent] for law in laws) / min(law[sent] for law in laws)) for sent in laws[0])
    assert 0 < worst < same_pattern(encoder, 2)


def confined_histories(top: int, width: int, reports: int) -> Iterator[tuple[int, ...]]:
    for history in product(range(top + 1), repeat=reports):
        if max(history) - min(history) <= width:
            yield history


def divergence(mine: Any, other: Any, epsilon: float) -> float:
    return math.fsum(max(0.0, float(p) - math.exp(epsilon) * float(other.get(sent, 0))) for sent, p in mine.items())


@pytest.mark.parametrize(("permanent", "bucket", "width"), [(1, 4, 1), (2, 4, 1), (1, 4, 0), (1, 3, 1), (2, 2, 1)])
def test_confined_values_keep_what_is_said(permanent: float, bucket: int, width: int) -> None:
    encoder = mean(4, 1, permanent, bucket=bucket)
    laws = {history: history_law(encoder, history) for history in confined_histories(4, width, 3)}
    said, alike = confined(encoder, width, width), within(encoder, width)
    assert said.delta == min(1, Fraction(2 * width, bucket))
    for one, other in permutations(laws, 2):
        found = divergence(laws[one], laws[other], said.epsilon)
        assert found <= said.delta + 1e-9
        if max(*one, *other) - min(*one, *other) <= width:
            assert divergence(laws[one], laws[other], 0) <= alike.delta + 1e-9
    assert divergence(laws[(0,) * 3], laws[(4,) * 3], said.epsilon / 2) > 0


def test_statement_in_figures() -> None:
    assert confined(mean(1440, bucket=60), 45, 0).delta == Fraction(3, 4)
    assert within(mean(1440, bucket=1440), 45).delta == Fraction(1, 32)
    assert confined(mean(1440, bucket=60), 45, 45).delta == 1
    assert confined(mean(1440, bucket=60), 45, 45).epsilon == same_pattern(mean(1440, bucket=60), 1)
    assert within(mean(1440, bucket=60), 45).epsilon == 0


def kept(encoder: Encoder, before: int, after: int) -> Fraction:
    """How often both permanent answers differ, over all words of the device."""
    law = exact_law(lambda prf, _: encoder.permanent(before, prf) != encoder.permanent(after, prf))
    return Fraction(law.get(True, 0))


MOVES: Sequence[Encoder] = (
    mean(1, 1, 2),
    mean(6, 1, 2, bucket=6),
    mean(6, 1, 2, bucket=4),
    mean(5, 1, 1, bucket=2),
    registry["randomized_response"].from_epsilon(1, permanent_epsilon=2).encoder,
    choice(2),
    choice(4),
    registry["olh_pool"].from_epsilon(1, permanent_epsilon=2, categories=5, g=3).encoder,
    *(registry["d_bit_flip"].from_epsilon(1, permanent_epsilon=2, categories=4, d=d).encoder for d in (1, 2, 3, 4)),
    *(registry[name].from_epsilon(1, permanent_epsilon=2, categories=3).encoder for name in ("sue", "oue")),
)


@pytest.mark.parametrize("encoder", MOVES, ids=lambda encoder: encoder.name)
def test_a_move_shows_as_often_as_answers_differ(encoder: Encoder) -> None:
    for before, after in product(range(encoder.size), repeat=2):
        assert visible(encoder, before, after) == kept(encoder, before, after)


@pytest.mark.parametrize("sizes", [{"bits": 2, "hashes": 1, "cohorts": 4}, {"bits": 4, "hashes": 2, "cohorts": 2}])
def test_another_word_shows_as_often_as_answers_differ(sizes: dict[str, int]) -> None:
    encoder = registry["rappor"].from_epsilon(1, permanent_epsilon=2, **sizes).encoder
    found = {pair: visible(encoder, *pair) for pair in combinations(range(5), 2)}
    assert found == {pair: kept(encoder, *pair) for pair in found}
    assert len(set(found.values())) > 2  # words share no place in one cohort and some in another


def test_eight_hours_of_a_day() -> None:
    """The example of the documentation: a third of the range at a permanent loss of 2."""
    share = visible(mean(1440, 1, 2, bucket=1440), 0, 480)
    assert share is not None
    assert float(share) == pytest.approx(0.2633, abs=5e-5)
    assert percent_of(share) == "26.4 %"
    whole = visible(mean(1440, 1, 2, bucket=1440), 0, 1440)
    assert whole is not None
    assert float(whole) == pytest.approx((math.exp(4) + 1) / (math.exp(2) + 1) ** 2, rel=1e-6)


def test_everything_fresh_shows_in_the_end() -> None:
    encoder = registry["one_bit_mean"].from_epsilon(1, upper=10).encoder
    assert visible(encoder, 0, 1) == Fraction(1)
    assert visible(encoder, 3, 3) == Fraction(0)


def test_of_other_mechanisms_nothing_is_known() -> None:
    assert visible(cast(Encoder, SimpleNamespace(size=2, memo=1)), 0, 1) is None


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: same_pattern(mean(4), 0), r"distinct must be an integer in \[1, 1048576\]; got 0"),
        (lambda: same_pattern(choice(3, 1, None), 1), "encoder must be randomized_response, one_bit_mean or grr"),
        (lambda: same_pattern(MOVES[-1], 1), "encoder must be randomized_response, .* got 'oue'"),
        (lambda: confined(choice(3), 0, 0), "encoder must be one_bit_mean that keeps permanent answers; got 'grr'"),
        (lambda: confined(mean(4), 1, 5), r"width must be an integer in \[0, 4\]; got 5"),
        (lambda: within(mean(4), -1), r"width must be an integer in \[0, 4\]; got -1"),
        (lambda: visible(mean(4), 0, 5), r"after must be an integer in \[0, 4\]; got 5"),
    ],
)
def test_refusals(call: Any, said: str) -> None:
    with pytest.raises(ParameterError, match=said):
        call()
