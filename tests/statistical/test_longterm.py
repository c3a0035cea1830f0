"""What `benchmarks.longterm` draws is what devices send, and intervals of months cover what they say.

Sums of devices are held against the reports of the encoders themselves (five standard errors), and the variance that
is called exact against the spread of what is drawn. Seeds are fixed; coverage may fall short by four standard errors of
the simulation.
"""

import math
import random

import numpy as np
import pytest

from benchmarks import longterm
from benchmarks.longterm import DAYS, DEVICES, LEAST, MONTH, SCHEMES, TABLE, crowd, mechanism, months
from benchmarks.support.histories import Ints, Reals
from benchmarks.support.months import Counted, counted
from benchmarks.support.turns import STRATEGIES
from hubbub.mechanisms import Mechanism
from hubbub.prf import device_prf
from tests.statistical.seeded import words_of

BOTH = [(scheme, memo) for scheme in SCHEMES for memo in (True, False)]
DRAWS = 5_000
ENOUGH = LEAST - 4 * math.sqrt(LEAST * (1 - LEAST) / DRAWS)


def clicks(days: int, devices: int, seed: int) -> Ints:
    """Many who never click, some who do so more or less every day."""
    rng = np.random.default_rng(seed)
    each = rng.gamma(0.3, 20, devices)[:, None]
    return rng.poisson(each * (rng.random((devices, days)) < 0.6))


def numbers(scheme: str) -> list[int | None]:
    return [0, 1] if scheme.startswith("histogram") else [None]


def sent(held: Mechanism, values: Ints, seed: int) -> Reals:
    """(devices, numbers) mean of the estimates that a device's own reports make, each by itself."""
    source, found = random.Random(seed), []
    for row in values.tolist():
        prf, encoder = device_prf(source.randbytes(32), "longterm", "metric", "0" * 64), held.encoder
        payloads = [encoder.report(encoder.permanent(value, prf), words_of(source)) for value in row]
        whole = held.estimate(held.summarise(np.array(payloads)))
        found.append(np.atleast_1d(whole.value))
    return np.array(found)


@pytest.mark.parametrize(("scheme", "memo"), BOTH)
def test_sums_have_the_law_of_the_encoder(scheme: str, memo: bool) -> None:
    held = mechanism(scheme, memo)
    values, _ = crowd(scheme, clicks(4, 1_500, 1))
    own = sent(held, values, 2)
    for place, number in enumerate(numbers(scheme)):
        told, mine = counted(held, number), own[:, place]
        law = told.law(values)
        drawn = told.draw(law, 1, 100_000, np.random.default_rng(3))[0]
        spread = mine.std()
        assert mine.mean() == pytest.approx(drawn.mean(), abs=5 * spread * math.sqrt(1 / len(mine) + 1e-5))
        # A device's squares scatter by the root of their own variance.
        squares = (mine - mine.mean()) ** 2
        assert spread**2 == pytest.approx(told.variance(law, 1), abs=5 * squares.std() / math.sqrt(len(mine)))


@pytest.mark.parametrize(("scheme", "memo"), BOTH)
def test_the_exact_variance_is_that_of_what_is_drawn(scheme: str, memo: bool) -> None:
    values, truth = crowd(scheme, clicks(14, 2_000, 4))
    for place, number in enumerate(numbers(scheme)):
        told: Counted = counted(mechanism(scheme, memo), number)
        law = told.law(values)
        drawn, _ = told.draw(law, 300, 40_000, np.random.default_rng(5))
        assert drawn.var() == pytest.approx(told.variance(law, 300), rel=5 * math.sqrt(2 / 40_000))
        assert drawn.mean() == pytest.approx(truth[:, place].mean(), abs=5 * drawn.std() / 200)


@pytest.mark.parametrize("every", [1, 5, 28])
@pytest.mark.parametrize(("scheme", "memo"), BOTH)
def test_months_cover_the_truth(scheme: str, memo: bool, every: int) -> None:
    values, truth = crowd(scheme, clicks(DAYS, DEVICES, 6))
    number = numbers(scheme)[-1]
    told = counted(mechanism(scheme, memo), number)
    span = months(told, values, truth[:, number or 0], every, DRAWS, np.random.default_rng(7))
    assert span.covered >= ENOUGH
    assert span.squared == pytest.approx(span.exact, rel=5 * math.sqrt(2 / DRAWS))


def test_a_year_costs_what_devices_reckon_with() -> None:
    encoder = mechanism("mean: one_bit_mean", True).encoder
    daily, _, panel, rotation = (strategy.charged(encoder, 365) for strategy in STRATEGIES)
    assert daily == encoder.prices(365)
    assert panel == encoder.prices(14)
    one = encoder.prices(61)
    assert rotation == (one.report, 6 * one.steady, one.change, 6 * one.life)
    assert MONTH * 3 == DAYS


@pytest.mark.skipif(not TABLE.is_file(), reason=f"{TABLE.name} is not kept beside this checkout")
def test_real_clicks() -> None:
    rows = [longterm.measure("histogram: olh_pool", memo, STRATEGIES[0], 1_000) for memo in (True, False)]
    found = longterm.figures(rows, 1_000, "")
    assert found["pass"], found
    assert found["memo_over_fresh_daily"]["histogram: olh_pool"][0] == pytest.approx(1, abs=0.02)
    assert all(row.month.squared < row.day.squared for row in rows)
