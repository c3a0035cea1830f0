"""Hadamard response: pluses, blocks, three sorts of reports."""

import json
import math
from itertools import combinations
from typing import Any

import numpy as np
import pytest

from hubbub.encoders.base import SCALE
from hubbub.encoders.hadamard_response import HadamardResponse as Device
from hubbub.errors import ParameterError
from hubbub.mechanisms.hadamard_response import HadamardResponse
from hubbub.summary import Summary
from hubbub.testing import GeneratorWords

HIT = SCALE - 1


def pluses(device: Device, value: int) -> set[int]:
    law = device.law(value)
    return {payload[0] for payload, chance in law.items() if chance == max(law.values())}


@pytest.mark.parametrize("block", [2, 4, 8, 16])
def test_half_of_the_pluses_are_shared_within_a_block_and_none_between_two(block: int) -> None:
    device = Device(11, block, HIT)
    for one, other in combinations(range(11), 2):
        alike = one // (block - 1) == other // (block - 1)
        assert len(pluses(device, one) & pluses(device, other)) == (block // 4 if alike else 0)
    assert {len(pluses(device, value)) for value in range(11)} == {block // 2}


@pytest.mark.parametrize("block", [2, 4, 8, 16])
def test_the_transform_is_counting_pluses(block: int) -> None:
    mechanism = HadamardResponse.from_epsilon(2, categories=11, block=block)
    device, n = mechanism.encoder, 500
    counts = np.random.default_rng(1).multinomial(n, np.full(device.outputs, 1 / device.outputs))
    summary = Summary(n, counts.astype(np.int64))
    own = [sum(counts[y] for y in pluses(device, value)) for value in range(11)]
    assert mechanism.supports(summary).tolist() == own
    near = [counts[start : start + block].sum() for start in (v // (block - 1) * block for v in range(11))]
    w = (1 - device.keep / SCALE) / (2 * device.blocks - 1)
    value = (2 * np.array(own) - near) / n / (device.keep / SCALE - w)
    assert mechanism.estimate(summary).value == pytest.approx(value, abs=1e-12)


@pytest.mark.parametrize("block", [2, 4, 8])
def test_variance_is_that_of_a_mixed_crowd(block: int) -> None:
    """The suite looks at crowds of one value; here a category's block has others in it."""
    mechanism = HadamardResponse.from_epsilon(1.5, categories=7, block=block)
    share = np.array([0.3, 0.05, 0.2, 0.0, 0.25, 0.1, 0.1])
    one = [mechanism.estimate(mechanism.summarise(np.array([[y]]))).value for y in range(mechanism.encoder.outputs)]
    chances = sum(f * np.array(list(mechanism.law(v).values()), float) for v, f in enumerate(share))
    mean = np.array(one).T @ chances
    assert mean == pytest.approx(share, abs=1e-12)
    assert mechanism.variance(share, 20) == pytest.approx((np.array(one).T ** 2 @ chances - mean**2) / 20, abs=1e-12)


@pytest.mark.parametrize("size", [2, 5, 30, 200])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 2.0, 3.0, 6.0])
def test_the_block_is_that_of_the_least_mean_variance(epsilon: float, size: int) -> None:
    def variance(block: int) -> float:
        """Mean over all categories in the limit of full blocks, from the mechanism's own variance."""
        mechanism = HadamardResponse.from_epsilon(epsilon, categories=size, block=block)
        width = min(block - 1, size)
        alone = np.eye(1, size)[0]
        inside = mechanism.variance(alone, 1)[1] if width > 1 else mechanism.variance(alone, 1)[0] + 1
        outside = mechanism.variance(alone, 1)[-1]
        return float(outside + (inside - outside) * width / size)

    blocks = [2**bits for bits in range(1, size.bit_length() + 1)]
    chosen = HadamardResponse.from_epsilon(epsilon, categories=size).encoder.block
    assert variance(chosen) == pytest.approx(min(map(variance, blocks)), rel=1e-12)


def test_variance_of_one_share_stands_for_an_even_crowd() -> None:
    mechanism = HadamardResponse.from_epsilon(3, categories=6, block=4)
    crowd = np.full(6, 0.14)
    crowd[2] = 0.3
    assert mechanism.variance(0.3, 9) == pytest.approx(mechanism.variance(crowd, 9)[2], rel=1e-12)
    assert mechanism.variance(np.zeros(6), 9) == pytest.approx(float(mechanism.variance(0, 9)), rel=1e-12)


def test_small_losses_take_one_block_and_larger_ones_more() -> None:
    blocks = [HadamardResponse.from_epsilon(e, categories=1000).encoder.blocks for e in (0.1, 1, 2, 3, 4)]
    assert blocks[:2] == [1, 1]
    assert blocks == sorted(blocks)
    assert blocks[-1] > 10


@pytest.mark.parametrize("block", [0, 1, 3, 6, 16, -4, 4.0, True, "4", math.nan])
def test_a_bad_block_is_refused(block: Any) -> None:
    with pytest.raises(ParameterError, match=r"^block must be a power of two in \[2, 8\]") as caught:
        HadamardResponse.from_epsilon(1, categories=5, block=block)
    assert repr(block) in str(caught.value)


@pytest.mark.parametrize(
    "integers",
    [(1, 2, HIT), (5, 3, HIT), (5, 16, HIT), (5, 8, SCALE // 2), (5, 8, SCALE), (5, 4, SCALE // 4), (5, 8, 0.5)],
)
def test_bad_integers_are_refused(integers: tuple[Any, ...]) -> None:
    with pytest.raises(ParameterError):
        Device(*integers)


def test_more_blocks_have_no_supports() -> None:
    mechanism = HadamardResponse.from_epsilon(3, categories=5, block=4)
    with pytest.raises(ParameterError, match="block"):
        mechanism.support  # noqa: B018


def test_loss_is_as_asked() -> None:
    """Never more, and within two steps of 2⁻³² of it."""
    rng = np.random.default_rng(2)
    for _ in range(200):
        epsilon, size = float(rng.uniform(0.001, 16)), int(rng.integers(2, 3000))
        mechanism = HadamardResponse.from_epsilon(epsilon, categories=size)
        e, m = math.exp(epsilon), 2 * mechanism.encoder.blocks - 1
        least = min((e + size - 1) ** 2, (e + m) ** 2 / m)
        assert 0 <= epsilon - mechanism.epsilon <= 2 * least / (e * SCALE) + 1e-9


def test_a_report_is_a_plain_number_whatever_the_coin() -> None:
    """Neither its type nor its form tells a hit from a miss, and it travels as JSON."""
    device = HadamardResponse.from_epsilon(2, categories=100).encoder
    rng = np.random.default_rng(3)
    for _ in range(200):
        words = iter(rng.integers(0, SCALE - 2**20, 2).tolist())
        sent = device.report((57,), lambda count, words=words: [next(words) for _ in range(count)])  # type: ignore[misc]
        assert [type(field) for field in sent] == [int]
        assert json.loads(json.dumps(sent)) == list(sent)


@pytest.mark.parametrize("epsilon", [0.5, 2.0, 4.0])
@pytest.mark.parametrize("value", [0, 99])
def test_the_first_and_the_last_category_are_counted_as_such(epsilon: float, value: int) -> None:
    """A size that is no power of two; six standard errors: false alarm 10⁻⁸ for each of 600 shares."""
    mechanism = HadamardResponse.from_epsilon(epsilon, categories=100)
    rng = np.random.default_rng(4)
    reports = mechanism.randomise(np.full(100_000, value), GeneratorWords(rng))
    truth = mechanism.truth(value)
    found = mechanism.estimate(mechanism.summarise(reports))
    assert (np.abs(found.value - truth) < 6 * np.sqrt(mechanism.variance(truth, 100_000))).all()


@pytest.mark.parametrize("block", [4, 8])
def test_reports_that_are_all_the_same_give_finite_numbers(block: int) -> None:
    mechanism = HadamardResponse.from_epsilon(1, categories=5, block=block)
    found = mechanism.estimate(mechanism.summarise(np.zeros((50, 1), np.int64)))
    low, high = found.interval()
    assert np.isfinite([found.value, found.se, low, high]).all()
    assert (low <= found.value).all()
    assert (found.value <= high).all()


@pytest.mark.parametrize(("epsilon", "n"), [(6.0, 100), (6.0, 500), (4.0, 500)])
def test_intervals_of_rare_categories_hold(epsilon: float, n: int) -> None:
    """With more blocks than one, over drawn crowds; so seldom if it held with just 95 %: false alarm 10⁻⁶ for each.

    Value and standard error alone hold a share of 0.001 in 30 and 83 % of them at ε = 6: often nobody is in its block.
    """
    mechanism, rng, runs = HadamardResponse.from_epsilon(epsilon, categories=128), np.random.default_rng(5), 800
    share = np.full(128, 0.374 / 124)
    share[:4] = 0.5, 0.1, 0.025, 0.001
    held, alone = np.zeros(4), np.zeros(4)
    for _ in range(runs):
        found = mechanism.estimate(mechanism.simulate(rng.multinomial(n, share), rng))
        low, high = found.interval()
        held += ((low <= share) & (share <= high))[:4]
        alone += (np.abs(found.value - share) <= 1.96 * found.se)[:4]
    least = 0.95 - 4.75 * math.sqrt(0.95 * 0.05 / runs)
    assert (held / runs > least).all()
    assert epsilon < 6 or alone[3] / runs < least


def test_one_category_is_that_of_the_table() -> None:
    """Its own noise goes along with it."""
    mechanism = HadamardResponse.from_epsilon(3, categories=9, block=4)
    found = mechanism.estimate(mechanism.simulate(np.arange(9) * 20, np.random.default_rng(6)))
    low, high = found.interval()
    for category in range(9):
        alone = found.pick(category)
        assert np.allclose(alone.interval(), (low[category], high[category]), rtol=0, atol=1e-12)
        assert found.methods()[category] == alone.method()
