"""The mean among those who have something to report: Fieller's sets, their form, their coverage."""

import math
from typing import Any

import numpy as np
import pytest

from hubbub.errors import ParameterError
from hubbub.mechanisms.estimate import Estimate
from hubbub.mechanisms.grr import Grr
from hubbub.mechanisms.one_bit_mean import OneBitMean
from hubbub.mechanisms.piecewise import Piecewise
from hubbub.mechanisms.randomized_response import RandomizedResponse
from hubbub.mechanisms.ratio import Ratio, covariance, fieller, mean_active
from hubbub.summary import Summary

Z = 1.959963984540054


def both(n: int, minutes: int, active: int) -> tuple[Estimate, Estimate]:
    mean = OneBitMean.from_epsilon(1, upper=60).estimate(Summary(n, np.array(minutes)))
    share = RandomizedResponse.from_epsilon(1).estimate(Summary(n, np.array(active)))
    return mean, share


def test_the_ends_are_where_the_difference_is_z_standard_errors_from_0() -> None:
    found = mean_active(*both(10_000, 3500, 4000))
    assert found.form() == "interval"
    for theta in found.interval():
        variance = found.variances[0] - 2 * theta * found.covariance + theta**2 * found.variances[1]
        assert (found.numerator - theta * found.denominator) ** 2 == pytest.approx(Z**2 * variance, rel=1e-9)
    low, high = found.interval()
    assert low < found.value < high
    assert found.holds(found.value)
    assert not found.holds(high + 0.1)
    assert found.interval(0.5)[0] > low
    assert found.value == found.numerator / found.denominator


def test_a_share_that_may_be_0_gives_no_interval() -> None:
    ratio = Ratio(5.0, 1.0, 0.2, (0.04, 0.04), 0.0, 100)
    assert ratio.form() == "complement"
    low, high = ratio.interval()
    assert low < high
    assert ratio.holds(5.0)
    assert ratio.holds(low)
    assert ratio.holds(high)
    assert not ratio.holds((low + high) / 2)
    unknown = Ratio(1.0, 0.1, 0.1, (0.04, 0.04), 0.0, 100)
    assert unknown.form() == "everything"
    assert unknown.interval() == (-math.inf, math.inf)
    assert unknown.holds(-1e9)
    assert unknown.form(0.1) == "interval"


def test_a_set_holds_what_it_should_and_nothing_else() -> None:
    """Against the inequality itself, at many ratios, over sets of all three forms."""
    rng, forms = np.random.default_rng(20_261_230), set()
    for _ in range(300):
        m, s = rng.normal(0, 2, 2)
        variances = rng.uniform(0.1, 2, 2)
        cov = rng.uniform(-1, 1) * math.sqrt(float(variances.prod()))
        ratio = Ratio(m / s, m, s, (float(variances[0]), float(variances[1])), cov, 1)
        forms.add(ratio.form())
        for theta in rng.normal(0, 10, 20):
            inside = (m - theta * s) ** 2 <= Z**2 * (variances[0] - 2 * theta * cov + theta**2 * variances[1])
            assert ratio.holds(float(theta)) == inside
    assert forms == {"interval", "complement", "everything"}


def test_the_covariance_is_that_of_a_number_and_an_indicator() -> None:
    """Exactly, over a population of 0 (six in ten), 10 and 30: E XA - E X E A = E X (1 - E A)."""
    numbers, chances = np.array([0, 10, 30]), np.array([0.6, 0.3, 0.1])
    active = numbers > 0
    mean, share = numbers @ chances, active @ chances
    assert covariance(mean, share, 1, 1, 1) == pytest.approx((numbers * active) @ chances - mean * share)
    assert covariance(mean, share, 100, 100, 100) == pytest.approx(mean * 0.6 / 100)
    assert covariance(mean, share, 100, 80, 50) == pytest.approx(mean * 0.6 * 50 / 8000)
    assert covariance(mean, 1.3, 1, 1, 1) == 0


def test_any_mechanism_will_do() -> None:
    mechanism = Piecewise.from_epsilon(4, upper=60)
    summary = mechanism.simulate(
        np.eye(61, dtype=np.int64)[0] * 6000 + np.eye(61, dtype=np.int64)[30] * 4000, np.random.default_rng(1)
    )
    share = RandomizedResponse.from_epsilon(4).simulate(np.array([6000, 4000]), np.random.default_rng(2))
    found = mean_active(mechanism.estimate(summary), RandomizedResponse.from_epsilon(4).estimate(share))
    assert found.holds(30, 0.9999)
    assert found.n == 10_000


def test_what_cannot_be_divided_is_refused() -> None:
    mean, share = both(100, 50, 50)
    other = RandomizedResponse.from_epsilon(1).estimate(Summary(90, np.array(50)))
    with pytest.raises(ParameterError, match="both must be the devices behind both estimates, of 100 and 90 reports"):
        mean_active(mean, other)
    assert mean_active(mean, other, both=80).n == 90
    bad: Any
    for bad in (-1, 91, 80.0, True):
        with pytest.raises(ParameterError, match=r"both must be an integer in \[0, 90\]"):
            mean_active(mean, other, both=bad)
    shares = Grr.from_epsilon(1, categories=3).estimate(Summary(3, np.ones(3, np.int64)))
    with pytest.raises(ParameterError, match=r"share.value.shape must be \(\), one number; got \(3,\)"):
        mean_active(mean, shares)
    for bad in (0, 1, math.nan, "0.95"):
        with pytest.raises(ParameterError, match="level"):
            mean_active(mean, share).interval(bad)


@pytest.mark.parametrize(
    ("epsilon", "share", "n"), [(1, 0.5, 2000), (1, 0.1, 20_000), (1, 0.05, 2000), (2, 0.02, 5000)]
)
def test_sets_cover(epsilon: float, share: float, n: int) -> None:
    """At least 94.5 % of 10⁵ pairs of summaries, less four standard errors of that; devices are drawn afresh each time.

    Active devices hold 10 or 30 of 60. At the small shares most sets are no intervals, and are counted as they are.
    """
    draws, rng = 100_000, np.random.default_rng(20_261_231)
    minutes, yes = OneBitMean.from_epsilon(epsilon, upper=60), RandomizedResponse.from_epsilon(epsilon)
    none, ten, thirty = rng.multinomial(n, [1 - share, share / 2, share / 2], draws).T
    ones = sum(
        rng.binomial(devices, float(minutes.law(value)[(1,)]))
        for devices, value in ((none, 0), (ten, 10), (thirty, 30))
    )
    says = sum(rng.binomial(devices, float(yes.law(value)[(1,)])) for devices, value in ((none, 0), (ten + thirty, 1)))
    m, s = minutes.estimate(Summary(n, np.asarray(ones))), yes.estimate(Summary(n, np.asarray(says)))
    cov = m.value * (1 - np.clip(s.value, 0, 1)) / n
    low, high, form = fieller(m.value, s.value, m.se**2, s.se**2, cov, 0.95)
    held = np.where(form == 1, (low >= 20) | (high <= 20), (low <= 20) & (high >= 20))
    error = math.sqrt(0.05 * 0.95 / draws)
    assert 0.945 - 4 * error <= held.mean() <= 0.96
    if share <= 0.05:
        assert (form > 0).mean() > 0.05
    for i in range(5):
        one = mean_active(
            minutes.estimate(Summary(n, np.asarray(ones[i]))), yes.estimate(Summary(n, np.asarray(says[i])))
        )
        assert one.holds(20) == held[i]
