"""The attacker who links all reports of a device never beats the price; the full run is `benchmarks.attack`.

What the attacker sees is held against the encoders themselves: a two-sample chi-square test of the log ratios, false
alarm 0.001 for all schemes together. Seeds are fixed.
"""

import math
import random
from collections import Counter

import numpy as np
import pytest
from scipy.stats import chi2_contingency

from benchmarks.attack import (
    KINDS,
    SCHEMES,
    Cell,
    Outcome,
    _shown,
    attack,
    catchable,
    encoder_of,
    judged,
    moved,
    noise,
    pair,
    price_of,
)
from benchmarks.support.histories import CERTAIN, Reals, log_ratios, publics, ratio_of, reader, sites, values_of
from benchmarks.support.turns import STRATEGIES, Strategy
from hubbub.encoders.base import Encoder, Payload, Prices
from hubbub.prf import device_prf
from tests.statistical.seeded import words_of

FALSE_ALARM = 1e-3
DEVICES = 1_500
BOTH = [
    (scheme, memo) for scheme, (_, keys) in SCHEMES.items() for memo in (True, False) if memo or "bucket" not in keys
]


def encoded(encoder: Encoder, first: list[int], other: list[int], seed: int) -> Reals:
    """Log ratios of devices that lived through `first`, as their encoder has it."""
    source, said = random.Random(seed), reader(encoder)
    kept = encoder.public if encoder.memo else 0
    found: dict[Payload, list[list[tuple[int, ...]]]] = {}
    for _ in range(DEVICES):
        prf = device_prf(source.randbytes(32), "attack", "metric", "0" * 64)
        sent = [encoder.report(encoder.permanent(value, prf), words_of(source)) for value in first]
        found.setdefault(sent[0][:kept], []).append([said(payload) for payload in sent])
    return np.concatenate(
        [ratio_of(sites(encoder, public), first, other, np.array(sent)) for public, sent in found.items()]
    )


@pytest.mark.parametrize(("scheme", "memo"), BOTH)
def test_histories_have_the_law_of_the_encoder(scheme: str, memo: bool) -> None:
    encoder = encoder_of(SCHEMES[scheme], memo)
    values, rng = values_of(encoder), np.random.default_rng(5)
    low, half, top = values[0], values[(len(values) - 1) // 2], values[-1]
    first, other = [low, top, low, top], [low, low, top, half]
    drawn = [
        log_ratios(sites(encoder, public), first, other, 4 * DEVICES // len(publics(encoder)), rng)[0]
        for public in publics(encoder)
    ]
    seen = [
        Counter(np.round(ratios, 6).tolist()) for ratios in (encoded(encoder, first, other, 6), np.concatenate(drawn))
    ]
    common = [key for key in seen[0] | seen[1] if sum(counts[key] for counts in seen) >= 40]
    table = np.array([[counts[key] for key in common] + [0] for counts in seen])
    table[:, -1] = [sum(counts.values()) for counts in seen] - table.sum(axis=1)
    chance = chi2_contingency(table[:, table.sum(axis=0) > 0]).pvalue
    assert chance > FALSE_ALARM / len(BOTH)


@pytest.mark.parametrize(("scheme", "memo"), BOTH)
def test_the_odds_are_those_of_what_was_sent(scheme: str, memo: bool) -> None:
    """Under one history the inverse of the ratio is 1 on average, whatever the two are; five standard errors."""
    encoder = encoder_of(SCHEMES[scheme], memo)
    first, other = pair("random walks", values_of(encoder), 5, 1, np.random.default_rng(3))
    inverse = np.exp(
        -log_ratios(sites(encoder, publics(encoder)[0]), first, other, 40_000, np.random.default_rng(4))[0]
    )
    assert inverse.mean() == pytest.approx(1, abs=5 * inverse.std() / 200 + 1e-9)


@pytest.mark.parametrize("strategy", STRATEGIES, ids=lambda strategy: strategy.name)
@pytest.mark.parametrize(("scheme", "memo"), BOTH)
def test_no_history_costs_more_than_the_ledger_says(scheme: str, memo: bool, strategy: Strategy) -> None:
    for kind in KINDS:
        one = attack(Cell(scheme, memo, strategy, 60), kind, 2_000)
        assert not one.beaten, one


@pytest.mark.parametrize("scheme", ["grr", "oue", "rappor, 2 hashes", "one_bit_mean", "randomized_response"])
def test_the_attacker_is_no_weak_one(scheme: str) -> None:
    """What prices allow is reached: a price lower by a hundredth would be beaten."""
    for kind in KINDS[:2]:
        one = attack(Cell(scheme, True, STRATEGIES[0], 365), kind, 2_000)
        assert one.most > 0.99 * one.price


@pytest.mark.parametrize("scheme", SCHEMES)
def test_without_flips_a_move_is_certain(scheme: str) -> None:
    """Of as many devices as `explain` says, within 4.5 standard errors; nothing is certain with flips."""
    seen, exact = moved(scheme, 20_000)
    assert seen == pytest.approx(exact, abs=4.5 * (exact * (1 - exact) / 20_000) ** 0.5)
    assert exact > 0.5
    assert attack(Cell(scheme, True, STRATEGIES[0], 60), "to and fro", 2_000).most < CERTAIN


def test_prices_of_pairs() -> None:
    prices = Prices(1.0, 2.0, 1.5, 9.0)
    assert [price_of(kind, prices, 4) for kind in KINDS] == [2.0, 6.0, 6.0, 6.0]
    assert price_of("random walks", prices, 7) == 9.0
    assert (catchable(0.0), round(catchable(2.0), 4), round(catchable(9.0), 4)) == (0.01, 0.0739, 0.9999)


@pytest.mark.parametrize("price", [0.5, 1.0, 2.0, 3.0])
def test_the_noise_of_shares_that_reach_the_price(price: float) -> None:
    """As 600 runs scatter, within a sixth: 5.8 standard errors of it, 1e-8 by chance; their mean within five."""
    rng, histories, yes = np.random.default_rng(8), 20_000, 1 / (1 + math.exp(-price))
    said = [np.where(rng.random((2, histories // 2)) < [[yes], [1 - yes]], price, -price) for _ in range(600)]
    apart = np.array([judged(ratios + rng.normal(0, 1e-9, ratios.shape)) for ratios in said])
    told = noise(price, histories)
    assert apart.std(axis=0) == pytest.approx(told, rel=1 / 6)
    assert (np.abs(apart.mean(axis=0) - [yes, catchable(price)]) < 5 * np.array(told) / math.sqrt(600)).all()
    assert (np.array([judged(ratios) for ratios in said]).std(axis=0) <= 7 / 6 * np.array(told)).all()


def test_no_row_looks_beaten_that_is_not() -> None:
    price = math.log(5.2)
    one = Outcome("one window", 250_000, price, price, 0.697, 0.055, 0)
    assert not one.beaten
    assert _shown(one) == "1.649 of 1.649; 69.7 of 83.9 ± 0.15 %; 5.5 of 5.2 ± 0.32 %"
    certain = Outcome("constant", 250_000, 12.0, 12.0, 0.97, 0.925, 0)
    assert _shown(certain) == "12.000 of 12.000; 97.0 of practically certain; 92.5 of 100.0 %"
