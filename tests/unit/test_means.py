"""Mechanisms of a bounded number that answer with one of several outputs: parameters, exactness, intervals."""

import math
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from hubbub.encoders.base import SCALE
from hubbub.encoders.discrete_laplace import DiscreteLaplace as LaplaceDevice
from hubbub.encoders.hybrid import Hybrid as HybridDevice
from hubbub.encoders.piecewise import Piecewise as PiecewiseDevice
from hubbub.encoders.stochastic_grr import StochasticGrr as GrrDevice
from hubbub.errors import ParameterError
from hubbub.mechanisms.discrete_laplace import DiscreteLaplace
from hubbub.mechanisms.hybrid import Hybrid
from hubbub.mechanisms.one_bit_mean import OneBitMean
from hubbub.mechanisms.outputs import Outputs, mean_of
from hubbub.mechanisms.piecewise import Piecewise
from hubbub.mechanisms.stochastic_grr import StochasticGrr
from hubbub.summary import Summary
from hubbub.testing import GeneratorWords

ALL: tuple[type[Outputs], ...] = (StochasticGrr, Piecewise, Hybrid, DiscreteLaplace)
EPSILONS = (0.5, 1.0, 2.0, 4.0)


def build(cls: Any, epsilon: float, **domain: Any) -> Any:
    return cls.from_epsilon(epsilon, **domain)


@pytest.mark.parametrize("cls", ALL)
@pytest.mark.parametrize(
    ("domain", "name"),
    [
        ({"upper": math.nan}, "upper"),
        ({"upper": 0}, "upper"),
        ({"upper": 6.5}, "upper"),
        ({"upper": 2**32}, "upper"),
        ({"upper": 6, "lower": -math.inf}, "lower"),
        ({"upper": 6, "step": 0}, "step"),
    ],
)
def test_a_bad_grid_is_refused(cls: Any, domain: dict[str, Any], name: str) -> None:
    with pytest.raises(ParameterError, match=f"^{name} must be") as caught:
        cls.from_epsilon(1, **domain)
    assert repr(domain[name]) in str(caught.value)


@pytest.mark.parametrize(
    ("cls", "name", "bad"),
    [
        *((cls, "outputs", bad) for cls in (Piecewise, Hybrid) for bad in (1, 4097, 8.0, "8", True, None)),
        *((cls, "width", bad) for cls in (Piecewise, Hybrid) for bad in (0, 129, 2.0, "2", True)),
        *((cls, "levels", bad) for cls in (StochasticGrr, DiscreteLaplace) for bad in (1, 4097, 3.0, "3", True)),
        (StochasticGrr, "levels", 8),
        (DiscreteLaplace, "levels", None),
    ],
)
def test_a_bad_number_of_outputs_is_refused(cls: Any, name: str, bad: Any) -> None:
    with pytest.raises(ParameterError, match=f"^{name} must be") as caught:
        cls.from_epsilon(1, upper=6, **{name: bad})
    assert repr(bad) in str(caught.value)


def test_a_window_that_leaves_nothing_outside_is_refused() -> None:
    with pytest.raises(
        ParameterError, match="width must be at most half of the outputs that 3 grid points have; got 3"
    ):
        Piecewise.from_epsilon(1, upper=2, outputs=6, width=3)


@pytest.mark.parametrize(
    ("device", "changes", "name"),
    [
        (device, changes, name)
        for device in (
            PiecewiseDevice(9, 3, 1, 2, SCALE // 2 + 1),
            HybridDevice(9, 3, 1, 2, SCALE // 2 + 1, 5, 7),
        )
        for changes, name in (
            ({"ticks": 0}, "ticks"),
            ({"ticks": SCALE}, "ticks"),
            ({"top": 0}, "top"),
            ({"top": 10}, "top"),
            ({"shift": 0}, "shift"),
            ({"shift": 4097}, "shift"),
            ({"shift": 1400}, "width"),
            ({"width": 0}, "width"),
            ({"width": 4095}, "width"),
            ({"keep": SCALE * 2 // 5}, "keep"),
            ({"keep": SCALE}, "keep"),
            ({"keep": 0.5}, "keep"),
        )
    ]
    + [
        (HybridDevice(9, 3, 1, 2, SCALE // 2 + 1, 5, 7), changes, name)
        for changes, name in (
            ({"low": 0}, "low"),
            ({"low": SCALE // 2}, "low"),
            ({"share": -1}, "share"),
            ({"share": SCALE + 1}, "share"),
        )
    ]
    + [
        (GrrDevice(9, 3, SCALE // 2), changes, name)
        for changes, name in (
            ({"ticks": 0}, "ticks"),
            ({"top": 10}, "top"),
            ({"top": True}, "top"),
            ({"keep": SCALE // 4}, "keep"),
            ({"keep": SCALE}, "keep"),
        )
    ]
    + [
        (LaplaceDevice(9, 3, SCALE // 2), changes, name)
        for changes, name in (
            ({"ticks": 0}, "ticks"),
            ({"top": 0}, "top"),
            ({"top": 10}, "top"),
            ({"ticks": 999, "top": 256}, "top"),
            ({"ratio": 0}, "ratio"),
            ({"ratio": SCALE}, "ratio"),
            ({"ratio": 1}, "ratio"),
            ({"ratio": 2.0**31}, "ratio"),
            ({"ratio": 1626}, "ratio"),
        )
    ],
)
def test_a_device_refuses(device: Any, changes: dict[str, Any], name: str) -> None:
    with pytest.raises(ParameterError, match=f"^{name} must be"):
        replace(device, **changes)


def test_noise_from_which_no_mean_can_be_told_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    device = LaplaceDevice(2, 2, SCALE // 2)
    monkeypatch.setattr(LaplaceDevice, "row", lambda self, at: [SCALE // 3] * 3)
    with pytest.raises(ParameterError, match="encoder must be one from whose reports the mean can be told"):
        _ = DiscreteLaplace.from_encoder(device, step=7.25).channel


def test_ticks_go_to_levels_without_bias() -> None:
    """Every tick of a range that the levels do not divide, by the exact law: 7 ticks on 3 levels."""
    for device in (
        PiecewiseDevice(7, 3, 2, 2, SCALE // 2),
        GrrDevice(7, 3, SCALE // 2),
        LaplaceDevice(7, 3, 2**31),
    ):
        means = [sum(output * chance for (output,), chance in device.law(value).items()) for value in range(8)]
        if not isinstance(device, LaplaceDevice):
            assert len({b - a for a, b in pairwise(means)}) == 1, "the mean output is no line"
        assert all(sum(device.law(value).values()) == 1 for value in range(8))


def solved(rows: list[list[Fraction]]) -> list[Fraction]:
    """Weights w with sum over y of w_y P(y | l) = l for every level l: by elimination, in fractions."""
    size = len(rows)
    table = [[*row, Fraction(level)] for level, row in enumerate(rows)]
    for i in range(size):
        pivot = next(r for r in range(i, size) if table[r][i])
        table[i], table[pivot] = table[pivot], table[i]
        table[i] = [x / table[i][i] for x in table[i]]
        for r in range(size):
            if r != i:
                table[r] = [x - table[r][i] * y for x, y in zip(table[r], table[i], strict=True)]
    return [row[-1] for row in table]


@pytest.mark.parametrize("epsilon", [0.005, 0.1, 1, 6, 16])
def test_what_noisy_outputs_stand_for_is_the_exact_solution(epsilon: float) -> None:
    mechanism = DiscreteLaplace.from_epsilon(epsilon, upper=12, levels=10)
    e = mechanism.encoder
    rows = [[Fraction(words, SCALE) for words in e.row(level)] for level in range(e.top + 1)]
    exact = solved(rows)
    found = mechanism.channel.weights
    assert [float(w) for w in exact] == pytest.approx(found.tolist(), abs=1e-9 * np.ptp(found))
    for value in range(13):
        law = e.law(value)
        assert sum(law[(y,)] * w for y, w in enumerate(exact)) == Fraction(value * e.top, 12)


def test_ends_stand_for_where_an_output_would_lie_on_average() -> None:
    mechanism = DiscreteLaplace.from_epsilon(1, upper=20)
    a = math.exp(-1 / 20)
    weights = mechanism.channel.weights
    assert weights[[0, -1]] == pytest.approx([-a / (1 - a), 20 + a / (1 - a)], rel=1e-6)
    assert weights[1:-1] == pytest.approx(np.arange(1, 20), abs=1e-4)


@pytest.mark.parametrize("epsilon", [0.002, 0.01, 0.1, 0.25, 1, 4, 8, 12, 14, 15, 16])
def test_all_other_outputs_stand_for_themselves_but_for_a_level(epsilon: float) -> None:
    for ticks in (2, 3, 7, 40, 255):
        mechanism = DiscreteLaplace.from_epsilon(epsilon, upper=ticks)
        weights, top = mechanism.channel.weights, mechanism.encoder.top
        a = math.exp(-epsilon / top)
        assert np.abs(weights[1:-1] - np.arange(1, top)).max(initial=0) <= 1
        assert -weights[0] == pytest.approx(a / (1 - a), rel=2e-3)
        assert mechanism.channel.worst() <= 2 * a / (1 - a) ** 2 * 1.002 + 1 / 4


def test_levels_are_fewer_where_words_could_not_hold_the_noise() -> None:
    tops = [DiscreteLaplace.from_epsilon(epsilon, upper=10**6).encoder.top for epsilon in (0.001, 0.1, 1, 12, 16)]
    assert tops == [1, 100, 255, 255, 87]
    assert DiscreteLaplace.from_epsilon(1, upper=10**6, levels=17).encoder.top == 16


def test_the_best_levels_are_no_worse_than_others() -> None:
    ends = np.linspace(-1, 1, 201)
    for epsilon, top in ((0.5, 1), (2, 2), (4, 4), (8, 15)):
        best = StochasticGrr.from_epsilon(epsilon, lower=-1, upper=1, step=0.01)
        assert abs(best.encoder.top - top) <= 1
        least = best.variance(ends, 1).max()
        for levels in (2, 3, 4, 5, 9, 17, 33, 201):
            other = StochasticGrr.from_epsilon(epsilon, lower=-1, upper=1, step=0.01, levels=levels)
            assert least <= other.variance(ends, 1).max() * 1.002


def test_two_levels_are_the_one_bit_mean() -> None:
    two, bit = StochasticGrr.from_epsilon(1, upper=9, levels=2), OneBitMean.from_epsilon(1, upper=9)
    assert [two.law(v) for v in range(10)] == [bit.law(v) for v in range(10)]


@pytest.mark.parametrize("epsilon", [0.01, 1.0, 4.0, 16.0])
def test_the_largest_variance_is_that_of_some_value(epsilon: float) -> None:
    for cls in ALL:
        mechanism = build(cls, epsilon, upper=30)
        over = max(float(mechanism.variance(value, 1)) for value in np.linspace(0, 30, 3001))
        assert mechanism.unit**2 * mechanism.channel.worst() == pytest.approx(over, rel=1e-6)
        assert np.all(np.diff(mechanism.channel.squares, 2) >= -1e-9 * mechanism.channel.squares.max()), "not convex"


def test_a_coin_that_cannot_fall_so_is_no_report() -> None:
    bit, both = (Hybrid.from_epsilon(epsilon, upper=9) for epsilon in (0.3, 2))
    assert (bit.encoder.share, bit.encoder.possible((1, 0)), both.encoder.possible((1, 0))) == (0, False, True)
    assert both.encoder.possible((0, 1))
    assert not both.encoder.possible((0, 2))
    with pytest.raises(ParameterError, match=r"reports\[:, 1\] must be 0 or 1 where the coin is 0; got 5"):
        both.summarise(np.array([[1, 5], [0, 5]]))
    assert both.law(4, (1,)).keys() == {(1, y) for y in range(both.encoder.window.outputs)}


@pytest.mark.parametrize("cls", ALL)
def test_counts_that_so_many_reports_cannot_have_are_refused(cls: Any) -> None:
    mechanism = cls.from_epsilon(1, upper=9)
    counts = np.zeros(mechanism.counts_shape, np.int64)
    for wrong, match in ((11, r"in \[0, 10\]"), (-1, r"in \[0, 10\]"), (9, "10 in all")):
        counts[0] = wrong
        with pytest.raises(ParameterError, match=rf"^summary.counts must be {match}"):
            mechanism.estimate(Summary(10, counts))


@pytest.mark.parametrize("cls", ALL)
def test_reports_are_bytes_for_a_range_of_any_size(cls: Any) -> None:
    mechanism = cls.from_epsilon(1, upper=2**32 - 1)
    reports = mechanism.randomise(np.array([0, 2**32 - 1, 5]), GeneratorWords(np.random.default_rng(1)))
    assert reports.dtype == np.uint8
    assert mechanism.summarise(reports).n == 3
    assert sum((radix - 1).bit_length() for radix in mechanism.encoder.radices) <= 8


def crowds(top: int) -> dict[str, Any]:
    one = np.eye(top + 1)
    return {
        "all at the lower end": one[0],
        "all in the middle": one[top // 2],
        "all over the range": np.full(top + 1, 1 / (top + 1)),
        "one in a hundred at the upper end": 0.99 * one[0] + 0.01 * one[-1],
    }


def covered(mechanism: Any, crowd: Any, n: int, draws: int, rng: np.random.Generator) -> float:
    """Share of drawn summaries whose interval holds the truth; one of them by the mechanism itself."""
    law, truth = crowd @ mechanism.channel.chances, mechanism.unit * float(crowd @ np.arange(len(crowd)))
    counts = rng.multinomial(n, law / law.sum(), draws)
    low, high = mean_of(mechanism.channel, counts, n, mechanism.lower, mechanism.unit).interval()
    alone = mechanism.estimate(Summary(n, counts[0])).interval()
    assert np.array(alone) == pytest.approx(np.array([low[0], high[0]]), rel=1e-9)
    return float(((low <= truth) & (truth <= high)).mean())


@pytest.mark.parametrize("cls", ALL)
def test_intervals_cover(cls: Any) -> None:
    """At least 94.5 % of 2 000 summaries for each crowd, less four standard errors.

    A coverage of just so much would fail one seed in 300.
    """
    rng, draws = np.random.default_rng(20_261_220), 1_000
    for epsilon in (*EPSILONS, 16.0):
        mechanism = cls.from_epsilon(epsilon, upper=20)
        for name, crowd in crowds(mechanism.channel.top).items():
            for sizes in ((30, 100), (1_000, 10_000)):
                found = np.mean([covered(mechanism, crowd, n, draws, rng) for n in sizes])
                assert found >= 0.945 - 4 * math.sqrt(0.05 * 0.95 / (2 * draws)), (epsilon, name)


def test_reports_that_happen_to_be_alike_claim_no_certainty() -> None:
    mechanism = Piecewise.from_epsilon(16, upper=20)
    estimate = mechanism.estimate(Summary(100, 100 * np.eye(mechanism.counts_shape[0], dtype=np.int64)[0]))
    low, high = estimate.interval()
    assert float(estimate.se) == 0
    assert low < 0 < high
    assert high == pytest.approx(20 * (1 - 0.025 ** (1 / 100)), rel=0.01), "as of a hundred alike of two sorts"
    assert estimate.method() == "gaffke"
    assert estimate.methods() == ["gaffke"]


def test_two_levels_have_the_interval_of_one_bit() -> None:
    two, bit = StochasticGrr.from_epsilon(1, upper=9, levels=2), OneBitMean.from_epsilon(1, upper=9)
    for n, ones in ((40, 3), (3_000, 1_700)):
        few, expected = two.estimate(Summary(n, np.array([n - ones, ones]))), bit.estimate(Summary(n, np.array(ones)))
        assert few.method() == expected.method()
        assert few.methods() == expected.methods()
        assert np.array(few.interval()) == pytest.approx(np.array(expected.interval()), rel=1e-6)
    hybrid = Hybrid.from_epsilon(0.3, upper=9)
    assert hybrid.estimate(Summary(100, np.array([70, 30, 0, 0]))).method() == "clopper_pearson"
    assert hybrid.estimate(Summary(100, np.array([70, 29, 0, 1]))).value < 9, "what no device of its own sends"


@pytest.mark.parametrize("cls", ALL)
def test_permanent_answers_are_refused(cls: Any) -> None:
    with pytest.raises(ParameterError, match="permanent_epsilon must be left out"):
        cls.from_epsilon(1, permanent_epsilon=2, upper=9)
