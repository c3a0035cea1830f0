"""Mechanisms for vectors: parameters, values of any size, patterns, bulk against devices, accuracy."""

import math
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy.stats import chi2

from hubbub.encoders.base import SCALE, Encoder
from hubbub.encoders.duchi_vector import DuchiVector as DuchiDevice
from hubbub.encoders.duchi_vector import at_least, pattern
from hubbub.encoders.harmony import Harmony as HarmonyDevice
from hubbub.encoders.piecewise_vector import PiecewiseVector as PiecewiseDevice
from hubbub.encoders.vector import MAX_DIMENSION
from hubbub.errors import ParameterError, PrivateValueError
from hubbub.mechanisms.base import as_rows, collect
from hubbub.mechanisms.duchi_vector import DuchiVector, best, patterns
from hubbub.mechanisms.harmony import Harmony
from hubbub.mechanisms.piecewise_vector import PiecewiseVector
from hubbub.mechanisms.vector import PEOPLE
from hubbub.summary import Summary
from hubbub.testing import GeneratorWords, ReplayWords, exact_law
from hubbub.testing.mechanisms.bulk import device

ALL: tuple[Any, ...] = (DuchiVector, Harmony, PiecewiseVector)
EPSILONS = (0.5, 1.0, 2.0, 4.0)
WIDE: tuple[Any, ...] = (
    DuchiVector.from_epsilon(2, dimension=5, ticks=7),
    DuchiVector.from_epsilon(1, dimension=6, ticks=3, agree=3),
    DuchiVector.from_epsilon(3, dimension=32),
    DuchiVector.from_epsilon(3, dimension=9, ticks=1),
    Harmony.from_epsilon(1, dimension=1000),
    PiecewiseVector.from_epsilon(2, dimension=6, ticks=9, sampled=3, outputs=8, width=3),
    PiecewiseVector.from_epsilon(2, dimension=300, ticks=4, sampled=5, outputs=3),
    PiecewiseVector.from_epsilon(4, dimension=3, sampled=3),
    PiecewiseVector.from_epsilon(6, dimension=40),
)


def vectors(mechanism: Any, n: int, seed: int = 1) -> Any:
    """(n, dimension) random ticks, the ends more often."""
    rng, e = np.random.default_rng(seed), mechanism.encoder
    anywhere = rng.integers(0, e.ticks + 1, (n, e.dimension))
    return np.where(rng.random(anywhere.shape) < 0.3, e.ticks * rng.integers(0, 2, anywhere.shape), anywhere)


@pytest.mark.parametrize(
    ("cls", "name", "bad"),
    [
        *((cls, "dimension", bad) for cls in ALL for bad in (1, 0, -2, 2.0, "2", True, None, MAX_DIMENSION + 1)),
        (DuchiVector, "dimension", 33),
        *((cls, "ticks", bad) for cls in ALL for bad in (0, 2**32, 1.0, None)),
        *((cls, "norm", bad) for cls in ALL for bad in (0, -1, math.nan, math.inf, "1", True)),
        *((cls, "permanent_epsilon", 2.0) for cls in ALL),
        *((DuchiVector, "agree", bad) for bad in (0, 4, 1.0, True)),
        *((PiecewiseVector, "sampled", bad) for bad in (0, 4, 1.0, True)),
        *((PiecewiseVector, "outputs", bad) for bad in (1, 4097)),
        *((PiecewiseVector, "width", bad) for bad in (0, 200)),
    ],
)
def test_bad_parameters_are_named(cls: Any, name: str, bad: object) -> None:
    with pytest.raises(ParameterError, match=f"^{name} must be") as caught:
        cls.from_epsilon(1, **{"dimension": 3, name: bad})
    assert repr(bad) in str(caught.value)


def test_agree_that_cannot_be_told_apart_is_refused() -> None:
    with pytest.raises(ParameterError, match=r"^agree must be"):
        DuchiVector.from_epsilon(0.001, dimension=32, agree=32)


@pytest.mark.parametrize("mechanism", WIDE, ids=str)
def test_values_of_any_size_and_their_ticks(mechanism: Any) -> None:
    e = mechanism.encoder
    for row in vectors(mechanism, 20).tolist():
        value = e.value(row)
        assert 0 <= value < e.size
        assert e.coordinates(value) == tuple(row)
        assert (as_rows(e, [value, 0]) == [row, [0] * e.dimension]).all()
    assert e.coordinates(e.size - 1) == (e.ticks,) * e.dimension
    assert e.coordinates(1) == (1, *(0,) * (e.dimension - 1))


@pytest.mark.parametrize(
    "outside", [-1, (2**32) ** MAX_DIMENSION, 10**6000 + 4711, True, 1.0, "4711", None], ids=range(7)
)
def test_no_value_stands_in_a_message(outside: Any) -> None:
    encoder = HarmonyDevice(MAX_DIMENSION if outside != 10**6000 + 4711 else 2, 2**32 - 1, 1_000_000_000)
    with pytest.raises(PrivateValueError, match=r"in \[0, 4294967296\*\*") as caught:
        encoder.coordinates(outside)
    assert "4711" not in str(caught.value)


@pytest.mark.parametrize("bad", [[1, 4711], [1], [1, 2, 3], [1, -1], [1, 1.0], [True, 1]])
def test_no_coordinate_stands_in_a_message(bad: Any) -> None:
    with pytest.raises(PrivateValueError) as caught:
        HarmonyDevice(2, 5, 1_000_000_000).value(bad)
    assert "4711" not in str(caught.value)


@pytest.mark.parametrize("cls", ALL)
def test_numbers_go_to_ticks(cls: Any) -> None:
    mechanism = cls.from_epsilon(1, dimension=2, norm=3, ticks=6)
    assert mechanism.bounds == (-3, 3)
    assert mechanism.index([[-3, 3], [-99, 1e300], [0.49, 0.5], [0, -0.51]]).tolist() == [
        [0, 6],
        [0, 6],
        [3, 4],
        [3, 2],
    ]
    assert mechanism.truth(mechanism.encoder.value([1, 5])).tolist() == [-2, 2]
    assert mechanism.index(np.zeros((0, 2))).shape == (0, 2)
    for bad, position in (
        ([[0, 0], [0, math.nan]], r"\[1\]\[1\]"),
        ([[math.inf, 0]], r"\[0\]\[0\]"),
        ([0, 0], "2 numb"),
    ):
        with pytest.raises(PrivateValueError, match=position):
            mechanism.index(bad)
    for ticks in ([[0, 7]], [[-1, 0]], [[0.0, 1.0]], [0, 1], [[0, 1, 2]]):
        with pytest.raises(PrivateValueError):
            mechanism.randomise(np.array(ticks), ReplayWords([]))
        with pytest.raises(PrivateValueError):
            collect(mechanism, np.array(ticks), ReplayWords([]))


@pytest.mark.parametrize("bits", range(1, 8))
def test_patterns_are_all_there_once_and_in_order(bits: int) -> None:
    for ones in range(bits + 1):
        expected = [found for found in product((0, 1), repeat=bits) if sum(found) >= ones]
        assert at_least(bits, ones) == len(expected)
        assert [pattern(number, bits, ones) for number in range(len(expected))] == expected
        at_once = patterns(np.arange(len(expected)), bits, np.full(len(expected), ones))
        assert at_once.astype(int).tolist() == list(map(list, expected))


@pytest.mark.parametrize(
    ("encoder", "values"),
    [
        (DuchiDevice(2, 3, 1, 3_825_820_404), range(16)),
        (DuchiDevice(4, 1, 3, 2_373_782_543), (0, 5)),
        (DuchiDevice(3, 2, 3, 1_193_000_000), (0, 5, 13)),
        (HarmonyDevice(3, 3, 1_155_094_611), (0, 27, 63)),
        (PiecewiseDevice(3, 3, 2, 2, 1, 1, 2_000_000_000), (0, 27)),
        (PiecewiseDevice(4, 2, 2, 2, 1, 1, 2_000_000_000), (5, 80)),
        (PiecewiseDevice(2, 1, 2, 1, 4, 2, 2_500_000_000), (0, 1)),
    ],
    ids=str,
)
def test_the_law_is_that_of_the_code(encoder: Encoder, values: Any) -> None:
    for value in values:
        real = exact_law(lambda prf, words, value=value: encoder.report(encoder.permanent(value, prf), words))  # type: ignore[misc]
        publics = {payload[: encoder.public] for payload in real}
        assert all(encoder.possible(payload) for payload in real)
        for public in publics:
            given = {payload: chance for payload, chance in real.items() if payload[: encoder.public] == public}
            law = encoder.law(value, public)
            assert {payload: chance / sum(given.values()) for payload, chance in given.items()} == law
            if hasattr(encoder, "chance"):
                assert all(encoder.chance(value, payload) == chance for payload, chance in law.items())
        assert len({sum(c for p, c in real.items() if p[: encoder.public] == public) for public in publics}) == 1


@pytest.mark.parametrize("mechanism", WIDE, ids=str)
def test_bulk_is_what_devices_send(mechanism: Any) -> None:
    e, people = mechanism.encoder, vectors(mechanism, 60)
    counted = GeneratorWords(np.random.default_rng(3))
    mechanism.encode(people[:0], counted)
    mechanism.randomise(people[:1], counted)
    words = np.random.default_rng(4).integers(0, SCALE // 2, (60, counted.used), dtype=np.uint32)
    reports = mechanism.randomise(people, ReplayWords(words))
    for ticks, row, report in zip(people.tolist(), words.tolist(), reports.tolist(), strict=True):
        assert device(e, e.value(ticks), row) == tuple(report)


@pytest.mark.parametrize("mechanism", WIDE, ids=str)
def test_blocks_give_what_one_call_gives(mechanism: Any) -> None:
    few = np.resize(vectors(mechanism, 50), (500, mechanism.encoder.dimension))
    whole = mechanism.summarise(mechanism.randomise(few, GeneratorWords(np.random.default_rng(5))))
    parts = collect(mechanism, few, GeneratorWords(np.random.default_rng(5)), block=77)
    assert whole.n == parts.n == 500
    assert whole.counts.shape == mechanism.counts_shape


def test_people_beyond_a_block_are_encoded_too() -> None:
    mechanism = Harmony.from_epsilon(1, dimension=2, ticks=1)
    people = np.ones((PEOPLE + 3, 2), np.int64)
    words = np.tile(np.array([1, SCALE - 1], np.uint32), PEOPLE + 3)
    assert (mechanism.randomise(people, ReplayWords(words)) == [1, 1]).all()


@pytest.mark.parametrize(("d", "ties"), [(d, d % 2 == 0) for d in range(2, 9)])
def test_even_dimensions_cost_no_more(d: int, ties: bool) -> None:
    for agree in range(1, d + 1):
        encoder = DuchiVector.from_epsilon(1, dimension=d, ticks=1, agree=agree).encoder
        (p, q), law = encoder.chances(), encoder.law(0)
        assert set(law.values()) == {p, q}
        assert sum(law.values()) == 1
        assert 1 - 1e-6 < math.log(p / q) <= 1
        ends = [sum(c for payload, c in law.items() if payload[j] == 0) for j in range(d)]
        assert {2 * end - 1 for end in ends} == {encoder.gain()}
    assert not ties or at_least(d, d // 2) > 2 ** (d - 1)


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_best_agree_is_the_best(epsilon: float) -> None:
    for d in (2, 3, 8, 31, 32):
        tried = range(max(1, d // 2), d - d // 8 + 1)
        every = {a: DuchiVector.from_epsilon(epsilon, dimension=d, agree=a).variance(0, 1) for a in tried}
        assert min(every, key=lambda a: every[a]) == best(d, epsilon)
        # Where ties agree, and for the majority of an odd number, one bit about one coordinate is better.
        assert every[(d + 1) // 2] > Harmony.from_epsilon(epsilon, dimension=d).variance(0, 1)


@pytest.mark.parametrize("epsilon", [*EPSILONS, 8.0])
def test_sampling_is_the_best_there_is(epsilon: float) -> None:
    for d in (2, 3, 8, 100):
        chosen = PiecewiseVector.from_epsilon(epsilon, dimension=d)
        worst = chosen.channel.worst() / chosen.encoder.top**2
        for sampled in range(1, min(d, 2 * math.ceil(epsilon)) + 1):
            other = PiecewiseVector.from_epsilon(epsilon, dimension=d, sampled=sampled)
            assert other.channel.worst() / other.encoder.top**2 >= 0.998 * worst


@pytest.mark.parametrize("cls", ALL)
def test_harder_grids_are_no_less_exact(cls: Any) -> None:
    """Unbiased and of the stated variance between levels too, by the law in fractions."""
    mechanism = cls.from_epsilon(2, dimension=2, ticks=5, norm=1, **({"outputs": 4} if cls is PiecewiseVector else {}))
    e = mechanism.encoder
    for value in range(0, e.size, 7):
        publics = [(j,) for j in range(2)] if e.public else [()]
        mean, square = np.zeros(2), np.zeros(2)
        for public in publics:
            for payload, chance in e.law(value, public).items():
                one = mechanism.estimate(mechanism.summarise(np.array([payload]))).value
                mean += one * float(chance / len(publics))
                square += one**2 * float(chance / len(publics))
        assert mean == pytest.approx(mechanism.truth(value), abs=1e-9)
        assert square - mean**2 == pytest.approx(mechanism.variance(mechanism.truth(value), 1), rel=1e-9)


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("cls", ALL)
def test_squared_errors_are_the_exact_variances(cls: Any, epsilon: float) -> None:
    """400 crowds of 500 alike devices, 6 coordinates; false alarm 1e-5 for each of the 72."""
    mechanism = cls.from_epsilon(epsilon, dimension=6, ticks=100)
    rng, ticks = np.random.default_rng([20_261_204, int(10 * epsilon)]), np.array([[0, 10, 37, 50, 81, 100]])
    truth = mechanism.lower + mechanism.step * ticks[0]
    values = np.array([mechanism.estimate(mechanism.simulate([500], rng, ticks)).value for _ in range(400)])
    ratio = ((values - truth) ** 2).sum(axis=0) / mechanism.variance(truth, 500)
    assert (chi2.ppf(5e-6, 400) < ratio).all()
    assert (ratio < chi2.isf(5e-6, 400)).all()


def test_intervals_of_one_bit_about_one_of_many_hold() -> None:
    """40 000 intervals of level 95 %: at least 94.5 %, less 4.5 standard errors (false alarm 1e-5)."""
    rng, d, n = np.random.default_rng(7), 100, 5000
    mechanism = Harmony.from_epsilon(1, dimension=d, ticks=2)
    for k in (0.0, 0.5, 1.0):
        p, q = map(float, mechanism.encoder.chances())
        held = 0
        for _ in range(400):
            asked = rng.multinomial(n, np.full(d, 1 / d))
            low, high = mechanism.estimate(
                Summary(n, np.stack([asked, rng.binomial(asked, q + k * (p - q))]))
            ).interval()
            held += int(((low <= 2 * k - 1) & (2 * k - 1 <= high)).sum())
        assert held / 40_000 > 0.945 - 4.5 * math.sqrt(0.05 * 0.95 / 40_000)


def test_covariance_of_one_bit_about_one_coordinate() -> None:
    mechanism = Harmony.from_epsilon(1, dimension=2, ticks=4, norm=2)
    truth = np.array([1.0, -2.0])
    found = mechanism.covariance(truth, 10)
    assert found[0, 1] == found[1, 0] == pytest.approx(0.2)
    assert np.diag(found) == pytest.approx(mechanism.variance(truth, 10))


@pytest.mark.parametrize("mechanism", WIDE, ids=str)
def test_crowds_of_vectors_are_simulated(mechanism: Any) -> None:
    people, rng = vectors(mechanism, 3), np.random.default_rng(8)
    found = mechanism.simulate([200, 0, PEOPLE], rng, people)
    assert found.n == 200 + PEOPLE
    assert mechanism.estimate(found).value.shape == (mechanism.encoder.dimension,)
    for counts in ([1, 2], [1, -2, 3], [0.5, 0.5, 1]):
        with pytest.raises(ParameterError, match="truth_counts"):
            mechanism.simulate(counts, rng, people)
    with pytest.raises(PrivateValueError):
        mechanism.simulate([1, 2, 3], rng, people - mechanism.encoder.ticks - 1)
    if mechanism.encoder.size > 1 << 16:
        with pytest.raises(ParameterError, match="values"):
            mechanism.simulate([1], rng)


@pytest.mark.parametrize(
    ("mechanism", "counts"),
    [
        (Harmony.from_epsilon(1, dimension=2), [[1, 0], [0, 0]]),
        (Harmony.from_epsilon(1, dimension=2), [[1, 1], [2, 0]]),
        (DuchiVector.from_epsilon(1, dimension=2), [3, 0]),
        (PiecewiseVector.from_epsilon(1, dimension=2, ticks=1, outputs=2, sampled=2), [[2, 0], [1, 0]]),
        (PiecewiseVector.from_epsilon(1, dimension=2, ticks=1, outputs=2, sampled=2), [[2, 1], [1, 0]]),
    ],
)
def test_counts_that_no_reports_have_are_refused(mechanism: Any, counts: Any) -> None:
    with pytest.raises(ParameterError, match=r"^summary\.counts"):
        mechanism.estimate(Summary(2, np.array(counts)))


def test_coordinates_out_of_order_are_refused() -> None:
    mechanism = PiecewiseVector.from_epsilon(1, dimension=4, ticks=1, outputs=2, sampled=2)
    with pytest.raises(ParameterError, match="increasing order"):
        mechanism.summarise(np.array([[1, 0, 0, 0]]))


def test_linkage_of_many_coordinates_is_no_more_than_epsilon() -> None:
    for mechanism in WIDE:
        assert 0 < mechanism.encoder.linkage_bits <= mechanism.epsilon / math.log(2)
    assert HarmonyDevice(2, 1, 1).linkage_bits == 2
    assert Fraction(1) > DuchiDevice(2, 1, 2, SCALE - 1).gain() > Fraction(9, 10)
