"""The other half of each mechanism: parameters, grids, estimates."""

import math
import os
from typing import Any

import numpy as np
import pytest

from hubbub.encoders.base import SCALE
from hubbub.errors import ParameterError, PrivateValueError
from hubbub.mechanisms import of_metric, registry
from hubbub.mechanisms.base import SystemWords, below, threshold
from hubbub.mechanisms.one_bit_mean import OneBitMean
from hubbub.mechanisms.randomized_response import RandomizedResponse
from hubbub.summary import Summary
from hubbub.testing import ReplayWords
from tests.unit.sample_lock import MINUTES, YES_NO, metric

NAN, INF = math.nan, math.inf


def test_registry() -> None:
    assert registry["randomized_response"] is RandomizedResponse
    assert registry["one_bit_mean"] is OneBitMean
    assert registry["one_bit_mean"].kinds == ("mean",)
    assert registry["randomized_response"].kinds == ("boolean",)


@pytest.mark.parametrize(
    ("domain", "name"),
    [
        ({"upper": NAN}, "upper"),
        ({"upper": INF}, "upper"),
        ({"upper": "6"}, "upper"),
        ({"upper": None}, "upper"),
        ({"upper": True}, "upper"),
        ({"upper": 10**400}, "upper"),
        ({"upper": 0}, "upper"),
        ({"upper": -1}, "upper"),
        ({"upper": 6.5}, "upper"),
        ({"upper": 2**32}, "upper"),
        ({"upper": 1e15}, "upper"),
        ({"upper": 1, "step": 0.3}, "upper"),
        ({"upper": 6, "lower": 6}, "upper"),
        ({"upper": 6, "lower": 7}, "upper"),
        ({"upper": 6, "step": 1e-320}, "upper"),
        ({"upper": 6, "lower": -INF}, "lower"),
        ({"upper": 6, "lower": "0"}, "lower"),
        ({"upper": 6, "step": 0}, "step"),
        ({"upper": 6, "step": -1}, "step"),
        ({"upper": 6, "step": NAN}, "step"),
        ({"upper": 6, "step": INF}, "step"),
        ({"upper": 6, "step": "1"}, "step"),
        ({"upper": 6, "bucket": 3}, "bucket"),
        ({"upper": 6, "bucket": 0, "permanent_epsilon": 2}, "bucket"),
        ({"upper": 6, "bucket": 7, "permanent_epsilon": 2}, "bucket"),
        ({"upper": 6, "bucket": 3.0, "permanent_epsilon": 2}, "bucket"),
        ({"upper": 6, "bucket": "3", "permanent_epsilon": 2}, "bucket"),
        ({"upper": 5000, "bucket": 1, "permanent_epsilon": 2}, "bucket"),
    ],
)
def test_a_bad_grid_is_refused(domain: dict[str, Any], name: str) -> None:
    with pytest.raises(ParameterError, match=f"^{name} must be") as caught:
        OneBitMean.from_epsilon(1, **domain)
    assert caught.value.name == name
    assert repr(domain[name]) in str(caught.value)


def test_the_example_of_the_documentation() -> None:
    assert OneBitMean.from_epsilon(1, permanent_epsilon=2, upper=480).encoder == MINUTES
    assert RandomizedResponse.from_epsilon(1).encoder == YES_NO


def test_the_whole_range_is_one_bucket_unless_said_otherwise() -> None:
    assert OneBitMean.from_epsilon(1, permanent_epsilon=2, upper=480).encoder.top == 1
    assert OneBitMean.from_epsilon(1, permanent_epsilon=2, upper=480, bucket=60).encoder.top == 8
    assert OneBitMean.from_epsilon(1, upper=2**32 - 1).encoder.ticks == 2**32 - 1


def test_a_permanent_loss_of_one_report_needs_no_flips() -> None:
    assert RandomizedResponse.from_epsilon(1, permanent_epsilon=1).encoder.flip == 0
    assert RandomizedResponse.from_epsilon(1, permanent_epsilon=1 + 1e-12).encoder.flip > 0


@pytest.mark.parametrize("epsilon", [0.001, 0.5, 1, 4, 16])
def test_threshold_is_just_above_the_exact_one(epsilon: float) -> None:
    assert 1 < threshold(epsilon) - SCALE / (math.exp(epsilon) + 1) <= 2


def test_threshold_of_several_lies() -> None:
    assert 1 < threshold(1, 9) - SCALE / (math.e + 9) <= 2


def test_values_are_clipped_and_rounded_half_up() -> None:
    mean = OneBitMean.from_epsilon(1, lower=-2, upper=5)
    values = [-1e300, -2.1, -2, -1.51, -1.5, -1.49, 0, 0.5, 0.499_999, 4.49, 4.5, 5, 5.1, 2**70 * 1.0]
    assert mean.index(values).tolist() == [0, 0, 0, 0, 1, 1, 2, 3, 2, 6, 7, 7, 7, 7]
    assert mean.index(np.array([0, 1, 9], np.uint8)).tolist() == [2, 3, 7]
    assert mean.index([]).tolist() == []
    assert mean.index(values).dtype == np.int64


def test_steps_need_not_be_whole() -> None:
    tenths = OneBitMean.from_epsilon(1, lower=0.1, upper=0.7, step=0.1)
    assert tenths.encoder.ticks == 6
    assert tenths.index([0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7]).tolist() == [0, 1, 2, 3, 4, 5, 6]
    assert [float(tenths.truth(v)) for v in range(7)] == pytest.approx([0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7])
    assert tenths.bounds == pytest.approx((0.1, 0.7))


def test_booleans() -> None:
    share = RandomizedResponse.from_epsilon(1)
    for values in ([True, False], [1, 0], [1.0, 0.0]):
        assert share.index(values).tolist() == [1, 0]
    assert share.bounds == (0.0, 1.0)
    assert [float(share.truth(v)) for v in (0, 1)] == [0, 1]


@pytest.mark.parametrize("values", [[0, 2], [0, 0.5], [0, -1], [1, NAN]])
def test_what_is_neither_yes_nor_no_is_named_by_position(values: list[float]) -> None:
    with pytest.raises(PrivateValueError, match=r"^values\[1\] must be "):
        RandomizedResponse.from_epsilon(1).index(values)


@pytest.mark.parametrize(
    "values", [[1, None], ["4711"], [2**70], [[4711]], [4711, [1]], 4711, [True], [b"4711"], [4711j]]
)
def test_what_is_no_number_is_refused_without_being_shown(values: Any) -> None:
    with pytest.raises(PrivateValueError, match=r"^values must be a flat sequence of numbers$") as caught:
        OneBitMean.from_epsilon(1, upper=6).index(values)
    assert caught.value.__cause__ is None


@pytest.mark.parametrize("position", [0, 3])
def test_values_outside_the_domain_never_travel(position: int) -> None:
    for mechanism in (OneBitMean.from_epsilon(1, upper=6), RandomizedResponse.from_epsilon(1)):
        for wrong in (-1, mechanism.encoder.size, 4711):
            values = np.zeros(4, np.int64)
            values[position] = wrong
            with pytest.raises(
                PrivateValueError, match=rf"^values\[{position}\] must be in \[0, {mechanism.encoder.size}\)$"
            ):
                mechanism.randomise(values, SystemWords())


def test_system_words(monkeypatch: pytest.MonkeyPatch) -> None:
    assert SystemWords().words(5).shape == (5,)
    assert SystemWords().words(0).shape == (0,)
    monkeypatch.setattr(os, "urandom", lambda count: bytes(range(count)))
    words = SystemWords().words(2)
    assert (words.tolist(), words.dtype) == ([0x00010203, 0x04050607], np.dtype(np.uint32))


def test_refused_words_are_drawn_again_in_order() -> None:
    source = ReplayWords([SCALE - 1, 5, 7])
    column = np.array([SCALE - 1, 4, SCALE - 1, SCALE - 2], np.uint32)
    assert below(3, column, source).tolist() == [7 % 3, 1, 5 % 3, (SCALE - 2) % 3]
    assert column.tolist() == [SCALE - 1, 4, SCALE - 1, SCALE - 2]
    assert source.used == 3
    assert below(2**31, column, ReplayWords([])).tolist() == [2**31 - 1, 4, 2**31 - 1, 2**31 - 2]


def test_reports_are_bytes() -> None:
    for mechanism in (OneBitMean.from_epsilon(1, upper=6), RandomizedResponse.from_epsilon(1)):
        reports = mechanism.randomise(np.array([0, 1, 1]), SystemWords())
        assert (reports.shape, reports.dtype) == ((3, 1), np.dtype(np.uint8))
        assert mechanism.summarise(reports).n == 3


def test_estimates_are_not_clipped() -> None:
    share = RandomizedResponse.from_epsilon(1)
    assert share.estimate(Summary(10, np.array(0))).value < -0.5
    assert share.estimate(Summary(10, np.array(10))).value > 1.5


@pytest.mark.parametrize("ones", [-1, 11])
def test_more_ones_than_reports_are_refused(ones: int) -> None:
    with pytest.raises(ParameterError, match=r"summary.counts must be in \[0, 10\]"):
        RandomizedResponse.from_epsilon(1).estimate(Summary(10, np.array(ones)))


def test_the_interval_is_that_of_the_count() -> None:
    mean = OneBitMean.from_epsilon(1, lower=-2, upper=5)
    estimate = mean.estimate(Summary(2000, np.array(900)))
    low, high = estimate.interval()
    assert low < estimate.value < high
    assert estimate.method() == "wilson"
    rates = [(float(end) - estimate.at_zero) / estimate.per_one for end in (low, high)]
    z = 1.959963984540054
    for rate in rates:
        assert abs(0.45 - rate) == pytest.approx(z * math.sqrt(rate * (1 - rate) / 2000), rel=1e-9)
    assert estimate.interval(0.5)[0] > low
    assert mean.estimate(Summary(50, np.array(20))).method() == "clopper_pearson"
    assert float(estimate.value) == pytest.approx(estimate.at_zero + 0.45 * estimate.per_one)


def test_several_counts_at_once() -> None:
    share = RandomizedResponse.from_epsilon(1)
    together = share.estimate(Summary(100, np.array([30, 60])))
    assert together.value.shape == together.se.shape == together.se_shared.shape == (2,)
    assert together.value[1] == share.estimate(Summary(100, np.array(60))).value


def test_the_mechanism_of_a_locked_metric() -> None:
    mean = of_metric(metric())
    assert mean == OneBitMean(MINUTES, -2.0, 0.5)
    assert mean.bounds == (-2.0, 238.0)
    assert mean.index([-2, 0.2]).tolist() == [0, 4]
    assert of_metric(metric(YES_NO)) == RandomizedResponse(YES_NO)


def test_an_encoder_of_another_mechanism_is_refused() -> None:
    with pytest.raises(ParameterError, match="encoder must be a one_bit_mean; got RandomizedResponse"):
        OneBitMean.from_encoder(YES_NO)
    with pytest.raises(ParameterError, match="encoder must be a randomized_response; got OneBitMean"):
        RandomizedResponse.from_encoder(MINUTES)


def test_variance_over_many_truths() -> None:
    mean = OneBitMean.from_epsilon(1, upper=6)
    assert mean.variance([0, 3, 6], 10).shape == (3,)
    ends = 36 * math.e / (math.e - 1) ** 2 / 10
    assert mean.variance(0, 10) == pytest.approx(ends, rel=1e-6)
    assert mean.variance(6, 10) == pytest.approx(ends, rel=1e-6)
    assert mean.variance(3, 10) == pytest.approx(ends + 9 / 10, rel=1e-6)


def test_a_bucket_that_does_not_divide_the_range_costs_accuracy_not_privacy() -> None:
    even, uneven = (OneBitMean.from_epsilon(1, permanent_epsilon=2, upper=7, bucket=b) for b in (7, 4))
    assert uneven.epsilon < even.epsilon <= 1
    assert uneven.variance(3.5, 1) > even.variance(3.5, 1)
    assert uneven.line.span == 8
    assert uneven.bounds == (0, 7)
