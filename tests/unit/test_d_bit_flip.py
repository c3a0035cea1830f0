"""d-bit flip: which buckets are asked, one bit or two that may differ, counts that belong together."""

import math
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations, pairwise, product
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

from hubbub.encoders.base import SCALE
from hubbub.encoders.d_bit_flip import DBitFlip as Device
from hubbub.errors import ParameterError
from hubbub.mechanisms.d_bit_flip import DBitFlip
from hubbub.mechanisms.intervals import score
from hubbub.mechanisms.sue import Sue
from hubbub.summary import Summary
from hubbub.testing import GeneratorWords, exact_law

LIE = 1_000_000_000


@pytest.mark.parametrize(("size", "d"), [(4, 2), (5, 2), (5, 3), (4, 3), (4, 1)])
def test_every_set_of_buckets_is_asked_as_often(size: int, d: int) -> None:
    """By the device's own code, drawn among the asked or among the left out."""
    device = Device(size, d, LIE, 0, 0)
    law = exact_law(lambda _, words: device.report((0,), words)[:d])
    assert set(law.values()) == {Fraction(1, math.comb(size, d))}
    assert {tuple(device.asked(public)) for public in law} == set(combinations(range(size), d))


@pytest.mark.parametrize(("size", "d"), [(4, 2), (4, 3), (3, 3)])
def test_law_is_that_of_the_code(size: int, d: int) -> None:
    device = Device(size, d, LIE, 0, 0)
    for value in range(size):
        real = exact_law(lambda _, words, value=value: device.report((value,), words))  # type: ignore[misc]
        for public in {payload[: device.public] for payload in real}:
            stated = device.law(value, public)
            assert sum(stated.values()) == 1
            assert all(real[payload] * math.comb(size, d) == chance for payload, chance in stated.items())


@pytest.mark.parametrize("permanent", [None, 3])
@pytest.mark.parametrize(("size", "d"), [(2, 1), (7, 3), (7, 5), (40, 12), (300, 2), (300, 299), (5, 5)])
def test_a_row_is_what_a_device_sends(size: int, d: int, permanent: float | None) -> None:
    """Words below those that are ever refused; the suite looks at the others."""
    mechanism = DBitFlip.from_epsilon(1, permanent_epsilon=permanent, categories=size, d=d)
    encoder, rng = mechanism.encoder, np.random.default_rng(size + d)
    each = encoder.public + 2 * d + 1 if encoder.memo else encoder.drawn + d
    words = rng.integers(0, SCALE - 2 * size, (60, each), dtype=np.uint32)
    values = rng.integers(0, size, 60)

    class Given:
        def words(self, count: int) -> Any:
            assert count == words.size
            return words.ravel()

    for value, row, sent in zip(values.tolist(), words.tolist(), mechanism.randomise(values, Given()), strict=True):
        left = iter(row)

        def drawn(count: int, left: Iterator[int] = left) -> list[int]:
            return [next(left) for _ in range(count)]

        device = encoder.report(encoder.permanent(value, lambda *_, drawn=drawn: drawn), drawn)
        assert tuple(sent.tolist()) == device
        assert encoder.possible(device)
        assert list(left) == []


def test_many_blocks_ask_all_buckets() -> None:
    """Each about as often: six standard errors, false alarm 10⁻⁷ for 50 of them."""
    mechanism, n = DBitFlip.from_epsilon(2, categories=50, d=3), 10_000
    reports = mechanism.randomise(np.zeros(n, np.int64), GeneratorWords(np.random.default_rng(1)))
    received = mechanism.summarise(reports).counts[0]
    assert received.sum() == 3 * n
    assert (np.abs(received - n * 3 / 50) < 6 * math.sqrt(n * 3 / 50)).all()


@pytest.mark.parametrize("permanent", [None, 1, 3])
@pytest.mark.parametrize("size", [2, 5, 9])
def test_all_buckets_are_symmetric_unary_encoding(size: int, permanent: float | None) -> None:
    """Word for word, and number for number."""
    every = DBitFlip.from_epsilon(1, permanent_epsilon=permanent, categories=size)
    sue = Sue.from_epsilon(1, permanent_epsilon=permanent, categories=size)
    assert every.encoder.d == size
    assert every.encoder.radices == sue.encoder.radices
    assert every.encoder.law(1) == sue.encoder.law(1)
    assert every.encoder.prices(9) == sue.encoder.prices(9)
    assert every.encoder.linkage_bits == pytest.approx(sue.encoder.linkage_bits, rel=1e-12)
    values = np.arange(400) % size
    sent, same = (m.randomise(values, GeneratorWords(np.random.default_rng(3))) for m in (every, sue))
    assert (sent == same).all()
    one, other = every.estimate(every.summarise(sent)), sue.estimate(sue.summarise(same))
    assert one.value == pytest.approx(other.value, abs=1e-12)
    assert one.se == pytest.approx(other.se, abs=1e-12)
    assert one.se_shared == pytest.approx(other.se_shared, abs=1e-12)
    crowds = ([c.zero, c.scale, c.noise, c.slope] for c in (one.crowd, other.crowd))
    assert next(crowds) == pytest.approx(next(crowds), abs=1e-12)
    assert np.allclose(one.interval(), other.interval(), rtol=0, atol=1e-12)
    assert one.method() == other.method()


def test_one_bucket_uses_all_of_epsilon() -> None:
    """The usual s = e^(ε/2) would spend half of it; the variance is that of e^ε."""
    mechanism, e = DBitFlip.from_epsilon(1, categories=16, d=1), math.e
    assert mechanism.epsilon == pytest.approx(1, abs=1e-8)
    assert float(mechanism.variance(0, 1)) == pytest.approx(16 * e / (e - 1) ** 2, rel=1e-8)
    half = Device(16, 1, DBitFlip.from_epsilon(1, categories=16, d=2).encoder.lie, 0, 0)
    assert half.prices(1).report == pytest.approx(0.5, abs=1e-8)


def test_two_values_differ_in_two_bits() -> None:
    """The loss of one bit, ε/2, would be half of the truth."""
    device = DBitFlip.from_epsilon(1, categories=5, d=2).encoder
    laws = [device.law(value, (0, 0)) for value in (0, 1)]
    worst = max(laws[0][payload] / laws[1][payload] for payload in laws[0])
    assert math.log(worst) == pytest.approx(1, abs=1e-8)


def test_loss_is_as_asked() -> None:
    """Never more, and within two steps of 2⁻³² of it."""
    rng = np.random.default_rng(2)
    for _ in range(500):
        epsilon, size = float(rng.uniform(0.001, 16)), int(rng.integers(2, 3000))
        mechanism = DBitFlip.from_epsilon(epsilon, categories=size, d=int(rng.integers(1, min(size, 5) + 1)))
        e = math.exp(epsilon)
        assert 0 <= epsilon - mechanism.epsilon <= 2 * (e + 1) ** 2 / (e * SCALE) + 1e-9


@pytest.mark.parametrize("d", [0, 6, -1, 2.0, True, "2", math.nan])
def test_a_bad_d_is_refused(d: Any) -> None:
    with pytest.raises(ParameterError, match=r"^d must be an integer in \[1, 5\]") as caught:
        DBitFlip.from_epsilon(1, categories=5, d=d)
    assert repr(d) in str(caught.value)


@pytest.mark.parametrize(
    "integers",
    [
        (1, 1, LIE, 0, 0),
        (65_537, 1, LIE, 0, 0),
        (5, 0, LIE, 0, 0),
        (5, 6, LIE, 0, 0),
        (5, 2, 0, 0, 0),
        (5, 2, SCALE // 2, 0, 0),
        (5, True, LIE, 0, 0),
        (5, 2, 0.5, 0, 0),
        (5, 2, LIE, 1, 0),
        (5, 2, LIE, SCALE // 2, 1),
        (5, 2, LIE, 0, 2),
    ],
)
def test_bad_integers_are_refused(integers: tuple[Any, ...]) -> None:
    with pytest.raises(ParameterError):
        Device(*integers)


@pytest.mark.parametrize("row", [[1, 0, 1, 1], [0, 4, 1, 1], [-1, 0, 1, 1], [0, 0, 2, 0], [0, 0, 0, -1]])
def test_reports_that_no_device_sends_are_refused(row: list[int]) -> None:
    mechanism = DBitFlip.from_epsilon(1, categories=5, d=2)
    with pytest.raises(ParameterError, match="reports"):
        mechanism.summarise(np.array([[0, 3, 1, 0], row]))


def test_possible_are_sets() -> None:
    device = Device(5, 3, LIE, 0, 0)
    possible = [public for public in product(range(3), repeat=3) if device.possible((*public, 0, 0, 0))]
    assert Counter(len(set(device.asked(public))) for public in possible) == {3: math.comb(5, 3)}


@pytest.mark.parametrize("counts", [[[2, 1, 1], [3, 0, 0]], [[2, 2, 1], [0, 0, 0]], [[1, 1, 1], [0, 0, 0]]])
def test_counts_that_do_not_belong_together_are_refused(counts: list[list[int]]) -> None:
    mechanism = DBitFlip.from_epsilon(1, categories=3, d=1)
    with pytest.raises(ParameterError, match=r"summary\.counts"):
        mechanism.estimate(Summary(4, np.array(counts)))


@pytest.mark.parametrize("permanent", [None, 5.0])
@pytest.mark.parametrize("d", [1, 2, 5])
@pytest.mark.parametrize("epsilon", [0.5, 4.0])
def test_covariance_is_that_of_the_law(d: int, epsilon: float, permanent: float | None) -> None:
    mechanism = DBitFlip.from_epsilon(epsilon, permanent_epsilon=permanent, categories=5, d=d)
    e = mechanism.encoder
    share = np.array([0.1, 0.2, 0.0, 0.3, 0.4])
    mean, square = np.zeros(5), np.zeros((5, 5))
    publics = set(exact_law(lambda prf, words: e.report(e.permanent(0, prf), words)[: e.public])) if d < 5 else {()}
    for public in publics:
        for value, f in enumerate(share):
            for payload, chance in mechanism.law(value, public).items():
                one = mechanism.estimate(mechanism.summarise(np.array([payload]))).value
                mean += f * float(chance) / len(publics) * one
                square += f * float(chance) / len(publics) * np.outer(one, one)
    assert mean == pytest.approx(share, abs=1e-12)
    assert mechanism.covariance(share, 3) == pytest.approx((square - np.outer(mean, mean)) / 3, abs=1e-10)
    assert np.diag(mechanism.covariance(share, 3)) == pytest.approx(mechanism.variance(share, 3), abs=1e-12)


@pytest.mark.parametrize("permanent", [None, 4.5])
@pytest.mark.parametrize(("size", "d"), [(8, 1), (8, 4), (32, 4)])
@pytest.mark.parametrize("epsilon", [0.5, 1.0, 4.0])
def test_exact_coverage(size: int, d: int, epsilon: float, permanent: float | None) -> None:
    """Summed over all counts of one bucket, rare and frequent; of a 95 % interval."""
    mechanism, n = DBitFlip.from_epsilon(epsilon, permanent_epsilon=permanent, categories=size, d=d), 300
    (p, q), crowd = map(float, mechanism.encoder.chances()), mechanism.estimate(_one(mechanism)).crowd
    most = int(binom.isf(1e-12, n, d / size))
    received, ones = (part.ravel() for part in np.meshgrid(np.arange(most + 1), np.arange(most + 1), indexing="ij"))
    value = crowd_value(size / d, p, q, received, ones, n)
    low, high, _ = score((value - crowd.zero) / crowd.scale, crowd.noise / n, crowd.slope / n, 1 / n, 0.95)
    low, high = crowd.zero + crowd.scale * low, crowd.zero + crowd.scale * high
    for share in (0.001, 0.02, 0.2, 0.6):
        chance = binom.pmf(received, n, d / size) * binom.pmf(ones, received, q + share * (p - q))
        assert chance @ ((low <= share) & (share <= high)) >= 0.945


def crowd_value(times: float, p: float, q: float, received: Any, ones: Any, n: int) -> Any:
    return times / (p - q) * (ones - q * received) / n


def _one(mechanism: DBitFlip) -> Summary:
    return mechanism.summarise(mechanism.randomise(np.zeros(1, np.int64), GeneratorWords(np.random.default_rng(1))))


@pytest.mark.parametrize(("size", "d"), [(5, 1), (5, 2), (5, 4)])
def test_permanent_buckets_are_a_row_that_many_devices_share(size: int, d: int) -> None:
    device = DBitFlip.from_epsilon(1, permanent_epsilon=2, categories=size, d=d).encoder
    rows = exact_law(lambda prf, _: device.permanent(0, prf)[:1])
    assert rows == {(first,): Fraction(1, size) for first in range(size)}
    asked = [tuple(device.asked(row)) for row in rows]
    assert all((b - a) % size == 1 for row in asked for a, b in pairwise(row))
    assert Counter(bucket for row in asked for bucket in row) == dict.fromkeys(range(size), d)
    assert device.radices == (size, *(2,) * d)
    assert device.public_bits == math.log2(size)
    assert DBitFlip.from_epsilon(1, permanent_epsilon=2, categories=size).encoder.public_bits == 0


@pytest.mark.parametrize("row", [[5, 1, 1], [-1, 1, 1], [0, 2, 0], [0, 1, 1, 0]])
def test_rows_that_no_device_sends_are_refused(row: list[int]) -> None:
    mechanism = DBitFlip.from_epsilon(1, permanent_epsilon=2, categories=5, d=2)
    with pytest.raises(ParameterError, match="reports"):
        mechanism.summarise(np.array([row]))


def test_a_simulated_crowd_is_asked_in_rows() -> None:
    """Each bucket about as often: six standard errors, false alarm 10⁻⁷ for 50 of them; and the estimate is right."""
    mechanism, n = DBitFlip.from_epsilon(2, permanent_epsilon=4, categories=50, d=3), 100_000
    crowd = np.zeros(50, np.int64)
    crowd[[0, 1, 49]] = n // 4, n // 2, n // 4
    summary = mechanism.simulate(crowd, np.random.default_rng(5))
    received, ones = summary.counts
    assert (summary.n, received.sum()) == (n, 3 * n)
    assert (np.abs(received - n * 3 / 50) < 6 * math.sqrt(n * 3 / 50)).all()
    off = mechanism.estimate(summary).value - crowd / n
    assert (np.abs(off) < 6 * np.sqrt(mechanism.variance(crowd / n, n))).all()
    assert (ones <= received).all()
