"""A bit for each category: unary encodings and subset selection; and generalised randomised response beside them."""

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from hubbub.encoders.base import SCALE, Encoder
from hubbub.encoders.grr import Grr as GrrDevice
from hubbub.encoders.oue import Oue as OueDevice
from hubbub.encoders.subset_selection import SubsetSelection as SetDevice
from hubbub.encoders.sue import Sue as SueDevice
from hubbub.errors import ParameterError, PayloadError, PrivateValueError
from hubbub.mechanisms.base import Mechanism
from hubbub.mechanisms.columns import CELLS, blocks, count_ones, ones_of
from hubbub.mechanisms.estimate import Ints, Reals
from hubbub.mechanisms.floyd import CELLS as TABLE
from hubbub.mechanisms.grr import Grr
from hubbub.mechanisms.oracle import Oracle, lies
from hubbub.mechanisms.oue import Oue
from hubbub.mechanisms.subset_selection import SubsetSelection
from hubbub.mechanisms.sue import Sue
from hubbub.summary import Summary
from hubbub.testing import GeneratorWords, ReplayWords
from hubbub.wire import pack, unpack

HALF = SCALE // 2
ALL: list[Any] = [Grr, Sue, Oue, SubsetSelection]
BITS: list[Any] = [Sue, Oue, SubsetSelection]


class Tape:
    """Given words, in order."""

    def __init__(self, *words: int) -> None:
        self.left = list(words)

    def __call__(self, count: int) -> Sequence[int]:
        taken, self.left = self.left[:count], self.left[count:]
        assert len(taken) == count
        return taken


@pytest.mark.parametrize(
    ("device", "integers", "name"),
    [
        (GrrDevice, (1, SCALE - 1, 0, 0), "size"),
        (GrrDevice, (65_537, SCALE - 1, 0, 0), "size"),
        (GrrDevice, (4, SCALE // 4, 0, 0), "keep"),
        (GrrDevice, (4, SCALE, 0, 0), "keep"),
        (SueDevice, (1, 5, 0, 0), "size"),
        (SueDevice, (65_537, 5, 0, 0), "size"),
        (SueDevice, (2.0, 5, 0, 0), "size"),
        (SueDevice, (2, 0, 0, 0), "lie"),
        (SueDevice, (2, HALF, 0, 0), "lie"),
        (SueDevice, (2, 5, 1, 0), "flip"),
        (SueDevice, (2, 5, 0, 2), "memo"),
        (OueDevice, (2, HALF, 0, 0), "lie"),
        (OueDevice, (2, True, 0, 0), "lie"),
        (OueDevice, (2, 5, HALF, 1), "flip"),
        (SetDevice, (1, 1, 5), "size"),
        (SetDevice, (4, 0, SCALE - 1), "omega"),
        (SetDevice, (4, 4, SCALE - 1), "omega"),
        (SetDevice, (4, 2, HALF), "keep"),
        (SetDevice, (4, 2, SCALE), "keep"),
    ],
)
def test_integers_that_do_not_fit_are_named(device: Any, integers: tuple[Any, ...], name: str) -> None:
    with pytest.raises(ParameterError, match=f"^{name} must be an integer in") as caught:
        device(*integers)
    assert caught.value.name == name


@pytest.mark.parametrize("cls", ALL)
@pytest.mark.parametrize(
    ("domain", "name"),
    [
        ({}, "categories"),
        ({"categories": 1}, "categories"),
        ({"categories": 65_537}, "categories"),
        ({"categories": True}, "categories"),
        ({"categories": ("a", "a")}, "categories"),
        ({"categories": ("none",)}, "categories"),
        ({"categories": "ab"}, "categories"),
        ({"categories": 4, "upper": 4}, "upper"),
        ({"lower": 0, "upper": 4, "buckets": 1}, "buckets"),
        ({"lower": 0, "upper": math.nan, "buckets": 4}, "upper"),
        ({"lower": 4, "upper": 4, "buckets": 4}, "upper"),
        ({"categories": 4, "permanent_epsilon": 0.5}, "permanent_epsilon"),
    ],
)
def test_domains_that_do_not_fit_are_named(cls: Any, domain: dict[str, Any], name: str) -> None:
    with pytest.raises(ParameterError, match=f"^{name} must be"):
        cls.from_epsilon(1, **domain)


@pytest.mark.parametrize(
    "device", [GrrDevice(5, HALF, 0, 0), SueDevice(5, 9, 0, 0), OueDevice(5, 9, 0, 0), SetDevice(5, 2, HALF)]
)
@pytest.mark.parametrize("value", [4711, 5, -1, 2.5, True, np.int64(2), None, "2"])
def test_what_is_no_value_is_never_sent(device: Encoder, value: Any) -> None:
    """Others send a value outside the domain, or a fraction, in the clear."""
    with pytest.raises(PrivateValueError, match=r"^the value must be an integer in \[0, 5\)$"):
        device.permanent(value, lambda *_: Tape())


@pytest.mark.parametrize("cls", ALL)
def test_values_that_are_none_are_refused_by_position(cls: Any) -> None:
    mechanism = cls.from_epsilon(1, categories=5)
    with pytest.raises(PrivateValueError, match=r"^values\[2\] must be in \[0, 5\)$"):
        mechanism.randomise(np.array([0, 4, 5]), GeneratorWords(np.random.default_rng(1)))
    with pytest.raises(PrivateValueError, match=r"^values must be a flat array of integers$"):
        mechanism.randomise(np.array([2.5]), GeneratorWords(np.random.default_rng(1)))


def test_every_bit_has_its_own_word_and_threshold() -> None:
    sue, oue = SueDevice(3, 10, 0, 0), OueDevice(3, 10, 0, 0)
    assert sue.report((1,), Tape(9, SCALE - 11, 10)) == (1, 1, 0)
    assert sue.report((1,), Tape(10, SCALE - 10, 9)) == (0, 0, 1)
    assert oue.report((2,), Tape(9, 10, HALF - 1)) == (1, 0, 1)
    assert oue.report((2,), Tape(10, 9, HALF)) == (0, 1, 0)


@pytest.mark.parametrize("cls", [Sue, Oue])
def test_the_own_bit_is_one_with_its_chance(cls: Any) -> None:
    """A library kept it with another chance than it said, so that its loss was another one too."""
    encoder = cls.from_epsilon(0.5, categories=4).encoder
    for value in range(4):
        law = encoder.law(value)
        ones = [sum(chance for bits, chance in law.items() if bits[i]) for i in range(4)]
        p, q = encoder.chances()
        assert ones == [p if i == value else q for i in range(4)]


def test_both_bits_that_differ_are_paid_for() -> None:
    for cls in (Sue, Oue):
        p, q = cls.from_epsilon(1, categories=3).support[:2]
        assert math.log(p / q) + math.log((1 - q) / (1 - p)) == pytest.approx(1, abs=1e-8)


def test_sets_by_hand() -> None:
    device = SetDevice(4, 2, HALF + 5)
    assert device.report((0,), Tape(HALF + 5, 0, 0, 0)) == (0, 0, 1, 1)  # 0 is category 3; drawn again: 2 is category 2
    assert device.report((0,), Tape(HALF + 4, 0, 0, 0)) == (1, 0, 1, 0)
    assert device.report((0,), Tape(HALF + 4, 0, 0, 1)) == (1, 0, 0, 1)
    assert device.report((3,), Tape(SCALE - 1, 0, 2, 1)) == (1, 0, 1, 0)
    assert device.report((3,), Tape(SCALE - 1, 0, SCALE - 1, 2, 1)) == (1, 0, 1, 0)  # 2³² - 1 chooses none of three
    assert [device.possible(sent) for sent in ((1, 1, 0, 0), (1, 0, 0, 0), (1, 1, 1, 0), (1, 1, 1, 1))] == [
        True,
        False,
        False,
        False,
    ]


@pytest.mark.parametrize("device", [SueDevice(9, 5, 0, 0), OueDevice(9, 5, 0, 0), SetDevice(9, 2, HALF)])
def test_another_number_of_categories_is_no_payload(device: Encoder) -> None:
    with pytest.raises(PayloadError):
        unpack(pack((1,) * 8, (2,) * 8), device.radices)
    with pytest.raises(PayloadError):
        unpack(pack((1,) * 17, (2,) * 17), device.radices)
    with pytest.raises(PayloadError):
        unpack("ffff", device.radices)


@pytest.mark.parametrize("cls", ALL)
def test_the_loss_is_just_below_what_is_asked(cls: Any) -> None:
    """The bound stands on the page of each mechanism."""
    rng = np.random.default_rng(20_261_204)
    for _ in range(400):
        epsilon = float(rng.choice([rng.uniform(0.001, 16), math.exp(rng.uniform(math.log(0.001), math.log(16)))]))
        k = int(math.exp(rng.uniform(math.log(2), math.log(65_536))))
        mechanism = cls.from_epsilon(epsilon, categories=k)
        outcomes = 2 if cls in (Sue, Oue) else k
        short = 2 * (math.exp(epsilon) + outcomes - 1) ** 2 / (math.exp(epsilon) * SCALE) + 1e-9
        assert 0 <= epsilon - mechanism.epsilon <= short, (epsilon, k)


@pytest.mark.parametrize("cls", ALL)
@pytest.mark.parametrize("k", [2, 3, 6])
def test_the_price_is_that_of_the_law(cls: Any, k: int) -> None:
    for epsilon in (0.001, 0.7, 3.0, 16.0):
        mechanism = cls.from_epsilon(epsilon, categories=k)
        one, other = mechanism.law(0), mechanism.law(k - 1)
        worst = max(one[payload] / other[payload] for payload in one)
        assert mechanism.epsilon == pytest.approx(math.log1p(float(worst - 1)), rel=1e-9)


def test_sets_have_the_best_size() -> None:
    def variance(device: SetDevice) -> Fraction:
        p, q = device.chances()
        return q * (1 - q) / (p - q) ** 2

    tried = 0
    for k in (2, 3, 4, 5, 8, 13, 40):
        edges = {math.log(k / omega - 1 + shift) for omega in range(1, k // 2 + 1) for shift in (0.001, 0.1, 0.4)}
        for epsilon in {0.001, 0.1, 1.0, 4.0, 16.0} | {edge for edge in edges if 0.001 <= edge <= 16}:
            every = [SetDevice(k, omega, SCALE - lies(epsilon, k - omega, omega)) for omega in range(1, k)]
            chosen = SubsetSelection.from_epsilon(epsilon, categories=k).encoder
            assert chosen == min(every, key=variance)
            tried += 1
    assert tried > 100


def of_many_kinds(mechanism: Oracle, n: int) -> Ints:
    return np.arange(n, dtype=np.int64) % mechanism.encoder.size


@pytest.mark.parametrize("cls", BITS)
def test_blocks_of_people_leave_no_seam(cls: Any) -> None:
    mechanism = cls.from_epsilon(1, categories=300)
    n = CELLS // 300 + 30
    values = of_many_kinds(mechanism, n)
    source = GeneratorWords(np.random.default_rng(5))
    reports = mechanism.randomise(values, source)
    words = GeneratorWords(np.random.default_rng(5)).words(source.used).reshape(n, -1)
    assert len(blocks(n, 300)) == 2
    for person in (0, 1, n - 31, n - 30, n - 29, n - 1):
        sent = mechanism.encoder.report((int(values[person]),), Tape(*words[person].tolist()))
        assert sent == tuple(reports[person].tolist())
    assert reports.dtype == np.uint8
    summary = mechanism.summarise(reports)
    assert summary.counts.tolist() == reports.sum(axis=0, dtype=int).tolist()
    for kind in (np.bool_, np.int64):
        assert mechanism.summarise(reports.astype(kind)) == summary


def test_refused_words_of_all_blocks_are_drawn_again_column_after_column() -> None:
    mechanism = SubsetSelection.from_epsilon(
        0.01, categories=7
    )  # sets of three: below(4), below(5), below(6), below(3)
    first = TABLE // 7  # people of one block
    n, last = first + 50, SCALE - 1
    words = np.random.default_rng(6).integers(0, SCALE - 10, (n, 5), dtype=np.uint32)
    for person, column in ((n - 1, 2), (3, 2), (first, 4), (0, 4), (0, 3)):
        words[person, column] = last
    again = [5, last, 7, 1, 9, 11, 2]  # 3 takes 5 and n - 1 the refused one and then 7; then 0; then 0 and `first`
    source = ReplayWords(np.concatenate([words.ravel(), np.array(again, np.uint32)]))
    reports = mechanism.randomise(of_many_kinds(mechanism, n), source)
    assert source.used == words.size + 6
    assert words[n - 1, 2] == last
    words[3, 2], words[n - 1, 2], words[0, 3], words[0, 4], words[first, 4] = 5, 7, 1, 9, 11
    for person in (0, 3, first, n - 1, 17):
        sent = mechanism.encoder.report((person % 7,), Tape(*words[person].tolist()))
        assert sent == tuple(reports[person].tolist())


def test_a_byte_counts_no_further_than_it_can() -> None:
    for n, k in ((255, 2), (256, 2), (70_000, 3), (5000, 2000)):
        assert count_ones(np.ones((n, k), np.uint8), k).tolist() == [n] * k
    assert count_ones(np.ones((0, 3), np.uint8), 3).tolist() == [0, 0, 0]


def test_ones_of_rows_with_many_reports_and_few() -> None:
    rng = np.random.default_rng(8)
    for people, bits in ((700, 4), (9000, 1000)):  # the latter in three blocks
        rows = np.where(rng.random(people) < 0.9, 5, rng.integers(0, 8, people))
        rows[rows == 2] = 3  # a row without any
        reports = np.column_stack([rows, rng.integers(0, 2, (people, bits))]).astype(np.uint8)
        reports[:, 1] = 1
        counts = ones_of(reports, (8, *(2,) * bits))
        assert counts.tolist() == [
            [int((rows == row).sum()), *reports[rows == row, 1:].sum(axis=0, dtype=int).tolist()] for row in range(8)
        ]
    with pytest.raises(ParameterError, match=r"reports must be fields in \[0, 2\)"):
        ones_of(np.array([[0, 1], [1, 2]]), (4, 2))
    with pytest.raises(ParameterError, match=r"reports must be fields in \[0, 4\)"):
        ones_of(np.array([[4, 1]]), (4, 2))


@pytest.mark.parametrize("cls", BITS)
def test_reports_that_are_none_are_refused(cls: Any) -> None:
    mechanism = cls.from_epsilon(1, categories=4)
    for wrong, what in (
        (np.ones((3, 5), np.uint8), r"reports.shape must be \(n, 4\)"),
        (np.ones(4, np.uint8), r"reports.shape must be \(n, 4\)"),
        (np.ones((3, 4)), "reports.dtype must be a type of integers"),
        (np.full((3, 4), 2, np.uint8), r"reports must be fields in \[0, 2\)"),
        (np.full((3, 4), -1, np.int8), r"reports must be fields in \[0, 2\)"),
    ):
        with pytest.raises(ParameterError, match=what):
            mechanism.summarise(wrong)


def test_reports_of_ones_alone_are_no_sets() -> None:
    mechanism = SubsetSelection.from_epsilon(1, categories=4)
    with pytest.raises(ParameterError, match=r"^reports must be 1 ones in each; got '12 ones in 3'"):
        mechanism.summarise(np.ones((3, 4), np.uint8))


@pytest.mark.parametrize("cls", ALL)
def test_covariance_is_that_of_the_law(cls: Any) -> None:
    for k, epsilon in ((2, 1.0), (3, 0.4), (5, 0.3), (5, 2.0)):
        mechanism = cls.from_epsilon(epsilon, categories=k)
        truth = np.arange(1, k + 1) / (k * (k + 1) / 2)
        exact = population_covariance(mechanism, truth)
        scale = np.abs(exact).max()
        assert mechanism.covariance(truth, 7) == pytest.approx(exact / 7, abs=1e-9 * scale)
        assert np.diag(mechanism.covariance(truth, 7)) == pytest.approx(mechanism.variance(truth, 7))


def population_covariance(mechanism: Mechanism, truth: Reals) -> Reals:
    """From one device of a population, by its law."""
    chances: dict[tuple[int, ...], float] = {}
    for value, share in enumerate(truth):
        for payload, chance in mechanism.law(value).items():
            chances[payload] = chances.get(payload, 0) + share * float(chance)
    one = np.array([mechanism.estimate(mechanism.summarise(np.array([payload]))).value for payload in chances])
    return np.atleast_2d(np.cov(one.T, aweights=list(chances.values()), ddof=0))


@pytest.mark.parametrize("cls", ALL)
def test_simulated_counts_hang_together_as_they_should(cls: Any) -> None:
    """Covariances of given devices, each within 5 standard errors: false alarm below 2e-5 for all four."""
    mechanism, lives = cls.from_epsilon(0.3, categories=5), 4000
    crowd, rng = np.array([10, 0, 30, 5, 15]), np.random.default_rng(20_261_205)
    n = int(crowd.sum())
    drawn = np.array([mechanism.estimate(mechanism.simulate(crowd, rng)).value for _ in range(lives)])
    share = crowd / n
    expected = mechanism.covariance(share, n) - (np.diag(share) - np.outer(share, share)) / n
    sides = np.diag(expected)
    error = np.sqrt((expected**2 + np.outer(sides, sides)) / lives)
    assert (np.abs(np.cov(drawn.T) - expected) < 5 * error).all()


@pytest.mark.parametrize("cls", ALL)
def test_an_estimate_of_everybody_alike_is_not_clipped(cls: Any) -> None:
    """Clipping and renormalising gave 0.23 where all devices hold one category."""
    mechanism = cls.from_epsilon(1, categories=128)
    crowd = np.zeros(128, np.int64)
    crowd[0] = 10_000
    estimate = mechanism.estimate(mechanism.simulate(crowd, np.random.default_rng(3)))
    assert abs(float(estimate.value[0]) - 1) < 6 * float(estimate.se[0])
    assert (estimate.value < 0).any()


@pytest.mark.parametrize("cls", ALL)
def test_counts_that_cannot_be_are_refused(cls: Any) -> None:
    mechanism = cls.from_epsilon(1, categories=3)
    with pytest.raises(ParameterError, match=r"^summary.counts must be in \[0, 5\]"):
        mechanism.estimate(Summary(5, np.array([6, 0, 0])))
    with pytest.raises(ParameterError, match=r"^summary.n must be >= 1"):
        mechanism.estimate(Summary(0, np.zeros(3, np.int64)))
