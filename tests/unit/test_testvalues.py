"""Expected numbers from 50-digit arithmetic, to 10⁻⁶: through the library, or as what a wrong formula would have given.

The rows come from a table that is kept beside the checkout; where it is there, none of these groups may be forgotten.
"""

import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from itertools import combinations, permutations
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

from hubbub.encoders.base import SCALE
from hubbub.encoders.one_bit_mean import OneBitMean as MeanDevice
from hubbub.encoders.randomized_response import RandomizedResponse as YesNoDevice
from hubbub.errors import ParameterError
from hubbub.mechanisms.base import threshold
from hubbub.mechanisms.estimate import Estimate
from hubbub.mechanisms.one_bit_mean import OneBitMean
from hubbub.mechanisms.randomized_response import RandomizedResponse
from hubbub.privacy import exact_life
from hubbub.summary import Summary
from hubbub.testing import exact_law
from tests.unit.testvalues import complete

GROUPS = {"const", "RR", "1BitMean", "alpha", "overshoot", "gamma", "memo", "memo+gamma", "clip"}
M = 1440  # minutes of a day, the range of every mean below
Z = NormalDist().inv_cdf(0.975)

ROWS: dict[str, tuple[str, Callable[[], Any]]] = {}


def row(identity: str, value: str) -> Callable[[Callable[[], Any]], Callable[[], Any]]:
    """Say which row, and which value, the function computes."""

    def add(compute: Callable[[], Any]) -> Callable[[], Any]:
        ROWS[identity] = value, compute
        return compute

    return add


def truthful(epsilon: float) -> float:
    return float(1 - RandomizedResponse.from_epsilon(epsilon).encoder.lie())


def yes(n: int, ones: Any) -> Estimate:
    return RandomizedResponse.from_epsilon(1).estimate(Summary(n, np.asarray(ones)))


def minutes(epsilon: float) -> OneBitMean:
    return OneBitMean.from_epsilon(epsilon, upper=M)


def mean(n: int, ones: int) -> Estimate:
    return minutes(1).estimate(Summary(n, np.array(ones)))


def flipped(share: float, epsilon: float) -> YesNoDevice:
    """A permanent answer of this loss, flipped with this chance."""
    return YesNoDevice(threshold(epsilon), round(share * SCALE), 1)


def needed(epsilon: float) -> float:
    """Devices for a half-width of 5 % of the range, in the worst case."""
    return Z**2 * float(minutes(epsilon).variance(M / 2, 1)) / (0.05 * M) ** 2


def covered_by_source_text(epsilon: float, truth: float) -> float:
    """Coverage of the source text's interval, whose variance lacks a factor, at the true variance (normal law)."""
    wrong, right = M / math.expm1(epsilon), math.sqrt(float(minutes(epsilon).variance(truth, 1)))
    return 2 * NormalDist().cdf(Z * wrong / right) - 1


def rounds_up(value: int, bucket: int) -> float:
    """Chance that a value goes to the upper end of its bucket, read off the law of the permanent answer."""
    device = OneBitMean.from_epsilon(1, permanent_epsilon=1, upper=M, bucket=bucket).encoder
    low = value // bucket * bucket
    below, here, above = (device.law(v)[1,] for v in (low, value, low + bucket))
    return float((here - below) / (above - below))


def same_pattern(top: int, visited: int) -> float:
    """Worst loss of two histories that visit so many of the top + 1 entries in the same pattern, without flips."""
    device = OneBitMean.from_epsilon(1, permanent_epsilon=1, upper=top, bucket=1).encoder
    ones = [Fraction(device.low + k * device.rise, SCALE) for k in range(top + 1)]
    loss = [[math.log(max(p / q, (1 - p) / (1 - q))) for q in ones] for p in ones]
    pairs = ((i, j) for i in combinations(range(top + 1), visited) for j in permutations(range(top + 1), visited))
    return max(sum(loss[a][b] for a, b in zip(i, j, strict=True)) for i, j in pairs)


row("T002", "0.5249791874789")(lambda: truthful(0.1))
row("T003", "0.6224593312019")(lambda: truthful(0.5))
row("T004", "0.7310585786300")(lambda: truthful(1))
row("T005", "0.8807970779779")(lambda: truthful(2))
row("T006", "0.9820137900379")(lambda: truthful(4))
row("T007", "0.7500000000000")(lambda: truthful(math.log(3)))
row("T008", "0.3268837269009")(lambda: yes(1000, 420).value)
row("T009", "-0.04098835343466")(lambda: yes(10_000, 2500).value)


@row("T014", "0.01210252405675")
def bias_of_a_clamped_share() -> float:
    """What clamping to [0, 1] would add where nobody says yes; wrong, and only the documentation's number."""
    ones = np.arange(1001)
    chances = binom.pmf(ones, 1000, 1 - truthful(1))
    return float(chances @ np.clip(yes(1000, ones).value, 0, 1))


row("T054", "0.3775406687981")(lambda: float(minutes(0.5).law(0)[1,]))
row("T056", "470.7125667373")(lambda: mean(10_000, 4200).value)
row("T059", "-838.0464578918")(lambda: mean(1, 0).value)
row("T060", "15.37974167718")(lambda: mean(10_000, 4200).se)
row("T061", "440.6701890310")(lambda: mean(10_000, 4200).interval(0.95)[0])
row("T063", "42.31970512114")(lambda: mean(10_000, 4200).per_one * math.sqrt(math.log(2 / 0.05) / 20_000))
row("T065", "2427508.764949")(lambda: minutes(1).variance(720, 1))
row("T066", "702321.8655850")(lambda: (M / math.expm1(1)) ** 2)  # the source text's variance, at no truth the right one
row("T067", "0.8611086658278")(lambda: covered_by_source_text(0.5, M / 2))
row("T069", "6404.016234442")(lambda: needed(0.5))
row("T070", "0.7082228294165")(lambda: covered_by_source_text(1, M / 2))
row("T071", "0.7654730604212")(lambda: covered_by_source_text(1, 0))
row("T072", "1798.837761849")(lambda: needed(1))
row("T073", "0.3596910422337")(lambda: covered_by_source_text(2, M / 2))
row("T122", "0.7333333333333")(lambda: rounds_up(142, 30))
row("T123", "0.2666666666667")(lambda: 1 - rounds_up(142, 30))
row("T124", "128.0000000000")(
    lambda: 120 * rounds_up(142, 30) + 150 * (1 - rounds_up(142, 30))
)  # the source text's swap


@row("T127", "1.074287301048")
def loss_where_the_last_bucket_overshoots() -> float:
    """The source text's coin reaches 1500 on a range of 1440: the wrong loss; the library's stays at what was asked."""
    low = float(minutes(1).law(0)[1,])
    beyond = low + 1500 / M * (1 - 2 * low)
    assert OneBitMean.from_epsilon(1, permanent_epsilon=1, upper=M, bucket=500).epsilon <= 1
    return math.log((1 - low) / (1 - beyond))


@row("T129", "1.581976706869")
def overshoot_at_which_a_chance_passes_one() -> float:
    """Where the same coin stops being one."""
    low = float(minutes(1).law(0)[1,])
    return (1 - low) / (1 - 2 * low)


row("T131", "1.415536091264")(lambda: flipped(0.1, 2).prices(1).report)
row("T132", "1.386294361120")(lambda: flipped(0.2, 1).prices(1).change)


@row("T133", "460.3255903514")
def mean_of_flipped_answers() -> Any:
    kept = OneBitMean.from_epsilon(1, permanent_epsilon=1, upper=M)
    return (
        replace(kept, encoder=replace(kept.encoder, flip=round(0.2 * SCALE))).estimate(Summary(100, np.array(45))).value
    )


@row("T134", "0.6067761335170")
def visible_change() -> float:
    device = OneBitMean.from_epsilon(1, permanent_epsilon=1, upper=1).encoder
    ends = exact_law(lambda prf, _: device.permanent(0, prf) != device.permanent(1, prf))
    return float(ends[True])


row("T001", "1.959963984540")(lambda: Z)
row("T135", "2.000000000000")(lambda: same_pattern(2, 3))
row("T136", "2.470614919734")(lambda: same_pattern(4, 3))
row("T137", "2.941229839468")(lambda: same_pattern(4, 4))
row("T141", "6.508819669109")(lambda: exact_life(flipped(0.2, 1), 10))
row("T182", "-2.197876666648")(lambda: -120 * math.exp(-480 / 120))  # what clipping takes from an exponential law


@pytest.mark.parametrize("identity", ROWS)
def test_value(identity: str) -> None:
    value, compute = ROWS[identity]
    assert float(compute()) == pytest.approx(float(value), rel=1e-6)


def test_no_row_is_forgotten() -> None:
    complete(GROUPS, ROWS)


def test_price_of_a_life_is_not_below_the_exact_one() -> None:
    assert flipped(0.2, 1).prices(10).life >= exact_life(flipped(0.2, 1), 10) > 6.5


def test_a_coin_that_overshoots_is_refused() -> None:
    low = threshold(1)
    with pytest.raises(ParameterError, match="rise"):
        MeanDevice(M, 500, low, (SCALE - 2 * low) * 500 // M, 0, 1)


def test_clipping_takes_as_much_through_the_library() -> None:
    shares = (np.arange(100_000) + 0.5) / 100_000
    values = -120 * np.log1p(-shares)
    clipped = OneBitMean.from_epsilon(1, upper=480, step=0.001)
    taken = np.mean(clipped.index(values) * clipped.step) - 120
    assert taken == pytest.approx(-120 * math.exp(-4), abs=2e-3)
