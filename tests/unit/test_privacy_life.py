"""The exact whole-life price equals brute force over all histories and reports, and never exceeds the closed bound."""

import math
import re
from itertools import product
from types import SimpleNamespace
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hubbub.encoders.base import SCALE, Encoder
from hubbub.encoders.one_bit_mean import OneBitMean
from hubbub.encoders.randomized_response import RandomizedResponse
from hubbub.errors import ParameterError
from hubbub.mechanisms import registry
from hubbub.privacy import closest_life, exact_life, life
from hubbub.privacy.life_bits import MOST


def mean(epsilon: float, flip: float, ticks: int = 1, bucket: int = 1) -> OneBitMean:
    """A permanent bit of loss epsilon, flipped with this chance."""
    top = -(-ticks // bucket)
    rise = (SCALE - 2 * round(SCALE / (math.exp(epsilon) + 1))) // top
    rise -= top * rise % 2
    return OneBitMean(ticks, bucket, (SCALE - top * rise) // 2, rise, round(flip * SCALE), 1)


def response(epsilon: float, flip: float) -> RandomizedResponse:
    return RandomizedResponse(round(SCALE / (math.exp(epsilon) + 1)), round(flip * SCALE), 1)


def chance(encoder: OneBitMean | RandomizedResponse, history: tuple[int, ...], sent: tuple[int, ...]) -> float:
    """Chance of the reports `sent` from the values `history`, over alpha, permanent answers and flips."""
    flip = encoder.flip / SCALE
    alphas = range(encoder.bucket) if isinstance(encoder, OneBitMean) else range(1)
    total = 0.0
    for alpha in alphas:
        if isinstance(encoder, OneBitMean):
            visited = [(value + alpha) // encoder.bucket for value in history]
            ones = [(encoder.low + entry * encoder.rise) / SCALE for entry in range(encoder.top + 1)]
        else:
            visited, ones = list(history), [encoder.low / SCALE, 1 - encoder.low / SCALE]
        product_of_entries = 1.0
        for entry in set(visited):
            likely = {0: 1 - ones[entry], 1: ones[entry]}
            for held, bit in product((0, 1), [b for at, b in zip(visited, sent, strict=True) if at == entry]):
                likely[held] *= 1 - flip if held == bit else flip
            product_of_entries *= sum(likely.values())
        total += product_of_entries / len(alphas)
    return total


def brute_force(encoder: OneBitMean | RandomizedResponse, windows: int) -> float:
    worst = 0.0
    for sent in product((0, 1), repeat=windows):
        chances = [chance(encoder, history, sent) for history in product(range(encoder.size), repeat=windows)]
        worst = max(worst, math.log(max(chances) / min(chances)))
    return worst


LOSSES = [(1, 0.2), (0.5, 0.3), (2, 0.05), (4, 0.01), (1, 0.45), (5, 0.001), (0.1, 0.49)]


@pytest.mark.parametrize(("epsilon", "flip"), LOSSES)
@pytest.mark.parametrize("windows", range(1, 7))
def test_response_equals_brute_force(epsilon: float, flip: float, windows: int) -> None:
    encoder = response(epsilon, flip)
    assert exact_life(encoder, windows) == pytest.approx(brute_force(encoder, windows), rel=1e-9)


@pytest.mark.parametrize(("epsilon", "flip"), LOSSES)
@pytest.mark.parametrize(
    ("ticks", "bucket", "windows"),
    [
        (1, 1, 5),
        (2, 1, 1),
        (2, 1, 2),
        (2, 1, 3),
        (2, 1, 4),
        (3, 1, 3),
        (5, 1, 2),
        (2, 2, 4),
        (4, 2, 2),
        (6, 3, 2),
        (3, 3, 3),
    ],
)
def test_mean_equals_brute_force(epsilon: float, flip: float, ticks: int, bucket: int, windows: int) -> None:
    encoder = mean(epsilon, flip, ticks, bucket)
    assert exact_life(encoder, windows) == pytest.approx(brute_force(encoder, windows), rel=1e-9)


@pytest.mark.parametrize(("epsilon", "flip"), LOSSES)
@pytest.mark.parametrize(("ticks", "bucket", "windows"), [(3, 2, 3), (5, 3, 2), (4, 3, 3)])
def test_bucket_that_does_not_divide_is_bounded(
    epsilon: float, flip: float, ticks: int, bucket: int, windows: int
) -> None:
    encoder = mean(epsilon, flip, ticks, bucket)
    exact = exact_life(encoder, windows)
    assert brute_force(encoder, windows) <= exact * (1 + 1e-12)
    assert exact <= encoder.prices(windows).life


def test_ten_reports() -> None:
    for encoder in (response(1, 0.2), mean(1, 0.2)):
        assert exact_life(encoder, 10) == pytest.approx(6.508819669109, rel=1e-6)


@pytest.mark.parametrize(
    ("epsilon", "flip", "one", "week", "fortnight", "month"),
    [
        (1, 0.2, 0.5694, 4.334, 9.281, 20.371),
        (1, 0.3, 0.3740, 2.558, 5.541, 12.317),
        (1, 0.4, 0.1854, 1.196, 2.486, 5.688),
        (0.5, 0.3, 0.1966, 2.100, 5.018, 11.793),
        (2, 0.2, 0.9869, 5.349, 10.225, 21.315),
    ],
)
def test_published_table(epsilon: float, flip: float, one: float, week: float, fortnight: float, month: float) -> None:
    for encoder in (response(epsilon, flip), mean(epsilon, flip, 30, 30)):
        found = [exact_life(encoder, windows) for windows in (1, 7, 14, 30)]
        assert found[0] == pytest.approx(one, abs=5.1e-5)
        assert found[1:] == pytest.approx([week, fortnight, month], abs=5.1e-4)


@st.composite
def encoders(draw: st.DrawFn) -> Encoder:
    epsilon = draw(st.floats(0.001, 8))
    permanent = draw(st.none() | st.floats(0, 6).map(lambda more: epsilon + more))
    if draw(st.booleans()):
        return registry["randomized_response"].from_epsilon(epsilon, permanent_epsilon=permanent).encoder
    ticks = draw(st.integers(1, 60))
    bucket = None if permanent is None else draw(st.none() | st.integers(1, ticks))
    domain = {"upper": ticks, "bucket": bucket}
    return registry["one_bit_mean"].from_epsilon(epsilon, permanent_epsilon=permanent, **domain).encoder


@given(encoders(), st.integers(0, 60))
def test_never_exceeds_the_price_of_the_device(encoder: Encoder, windows: int) -> None:
    exact = exact_life(encoder, windows)
    assert exact <= encoder.prices(windows).life
    assert exact <= exact_life(encoder, windows + 1) * (1 + 1e-12)
    if windows:
        assert exact >= encoder.prices(windows).report * (1 - 1e-9)


@given(st.floats(0.001, 16), st.integers(0, 400))
def test_fresh_losses_add_up(epsilon: float, windows: int) -> None:
    encoder = registry["randomized_response"].from_epsilon(epsilon).encoder
    assert exact_life(encoder, windows) == pytest.approx(windows * encoder.prices(1).report)


@pytest.mark.parametrize("encoder", [response(1, 0), mean(1, 0, 4, 2)])
def test_without_flips_there_is_no_bound(encoder: Encoder) -> None:
    assert exact_life(encoder, 0) == 0
    assert exact_life(encoder, 1) == pytest.approx(encoder.prices(1).report)
    assert exact_life(encoder, 2) == math.inf


def test_blocks_do_not_change_the_price(monkeypatch: pytest.MonkeyPatch) -> None:
    encoder = mean(2, 0.2, 48)
    whole = exact_life(encoder, 100)
    monkeypatch.setattr(life, "_BLOCK", 700)
    assert exact_life(encoder, 100) == whole


def test_of_long_lives_of_words_the_closed_bound_is_all_that_is_known() -> None:
    encoder = registry["rappor"].from_epsilon(1, permanent_epsilon=2, bits=4, cohorts=1).encoder
    assert exact_life(encoder, 12) < encoder.prices(12).life
    assert exact_life(encoder, 13) == encoder.prices(13).life


def test_of_other_mechanisms_the_closed_bound_is_all_that_is_known() -> None:
    known = response(1, 0.2)
    other = cast(Encoder, SimpleNamespace(memo=1, prices=known.prices))
    assert exact_life(other, 3) == known.prices(3).life > exact_life(known, 3)


def test_refusals() -> None:
    for windows in (-1, 1.5, True, 20_001):
        said = re.escape(f"windows must be an integer in [0, 20000]; got {windows!r}")
        with pytest.raises(ParameterError, match=said):
            exact_life(response(1, 0.2), cast(int, windows))


@pytest.mark.parametrize(
    ("encoder", "windows", "exact"),
    [
        (response(1, 0.2), 300, True),
        (response(1, 0), 2, True),
        (mean(1, 0.2, 6, 3), 30, True),
        (mean(1, 0.2, 5, 3), 1, True),
        (mean(1, 0.2, 5, 3), 2, False),
        (registry["grr"].from_epsilon(1, permanent_epsilon=2, categories=3).encoder, 30, True),
        (registry["grr"].from_epsilon(1, permanent_epsilon=2, categories=3).encoder, 300, False),
        (registry["grr"].from_epsilon(1, permanent_epsilon=1, categories=3).encoder, 300, True),
        (registry["oue"].from_epsilon(1, permanent_epsilon=2, categories=3).encoder, MOST, True),
        (registry["oue"].from_epsilon(1, permanent_epsilon=2, categories=3).encoder, MOST + 1, False),
        (registry["hadamard_response"].from_epsilon(1, categories=3).encoder, 365, True),
        (cast(Encoder, SimpleNamespace(memo=1, prices=response(1, 0.2).prices)), 3, False),
    ],
)
def test_what_is_exact_is_known(encoder: Encoder, windows: int, exact: bool) -> None:
    found = closest_life(encoder, windows)
    assert found == (exact_life(encoder, windows), exact)
    assert found.price <= encoder.prices(windows).life
