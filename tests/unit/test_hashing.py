"""Local hashing: functions that agree equally often, counting without hashing, and the number of hashes."""

import math
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
import pytest

from hubbub.encoders.base import SCALE
from hubbub.encoders.hashed import Hashed as Device
from hubbub.encoders.olh import Olh as OlhDevice
from hubbub.encoders.olh_pool import OlhPool as PoolDevice
from hubbub.errors import ParameterError
from hubbub.mechanisms import olh as olh_module
from hubbub.mechanisms.hashed import Hashed, people
from hubbub.mechanisms.olh import Olh
from hubbub.mechanisms.olh_pool import OlhPool
from hubbub.prf import device_prf
from hubbub.summary import Summary
from hubbub.testing import GeneratorWords

DEVICES: list[Device] = [
    OlhDevice(4, 2, 1),  # residues modulo 5
    OlhDevice(6, 5, 1),
    OlhDevice(8, 11, 1),
    OlhDevice(14, 4, 1),
    PoolDevice(4, 2, 1, 0, 0),
    PoolDevice(3, 5, 1, 0, 0),
    PoolDevice(7, 3, 1, 0, 0),
    PoolDevice(11, 3, 1, 0, 0),
    PoolDevice(30, 7, 1, 0, 0),
]


@pytest.mark.parametrize("device", DEVICES, ids=str)
def test_any_two_categories_agree_under_the_same_share_of_the_seeds(device: Device) -> None:
    hashes = [[device.hash(seed, value) for seed in range(device.seeds)] for value in range(device.size)]
    shares = {Fraction(sum(map(int.__eq__, one, other)), device.seeds) for one, other in combinations(hashes, 2)}
    assert shares == {device.collisions}
    assert device.collisions < Fraction(1, device.g)
    assert {found for row in hashes for found in row} <= set(range(device.g))


@pytest.mark.parametrize("device", DEVICES, ids=str)
def test_supports_have_the_stated_chances(device: Device) -> None:
    """Also where some residues or numbers are no category, which is too long for the suite."""
    own, other = device.supports()
    for value in range(device.size):
        chances = [Fraction(0)] * device.size
        for seed in range(device.seeds):
            for (_, sent), chance in device.law(value, (seed,)).items():
                for category in range(device.size):
                    if device.hash(seed, category) == sent:
                        chances[category] += chance / device.seeds
        assert chances == [own if category == value else other for category in range(device.size)]


def test_the_pool_is_as_small_as_a_balanced_one_can_be() -> None:
    for g in (2, 3, 5, 7):
        for digits in (1, 2, 3):
            size = g**digits
            assert PoolDevice(size, g, 1, 0, 0).seeds == (size - 1) // (g - 1)


@pytest.mark.parametrize(
    ("mechanism", "n"),
    [
        (Olh.from_epsilon(1, categories=50), 20),
        (Olh.from_epsilon(1, categories=50), 3000),
        (Olh.from_epsilon(3, categories=50, g=53), 500),
        (Olh.from_epsilon(1, categories=2), 100),
        (OlhPool.from_epsilon(1, categories=50), 300),
        (OlhPool.from_epsilon(1, categories=50, g=2), 300),
        (OlhPool.from_epsilon(1, categories=50, g=53), 300),
        (OlhPool.from_epsilon(1, categories=2), 100),
    ],
    ids=lambda value: str(value.encoder) if isinstance(value, Hashed) else str(value),
)
def test_counting_is_hashing_every_category(mechanism: Hashed, n: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    device = mechanism.encoder
    reports = mechanism.randomise(rng.integers(0, device.size, n), GeneratorWords(rng))
    hashed = [sum(device.hash(seed, value) == sent for seed, sent in reports.tolist()) for value in range(device.size)]
    assert mechanism.supports(mechanism.summarise(reports)).tolist() == hashed
    monkeypatch.setattr(olh_module, "TABLE", 500)  # several rounds, as with ten thousand categories
    monkeypatch.setattr(olh_module, "CACHED", 100)
    assert mechanism.supports(mechanism.summarise(reports)).tolist() == hashed


def test_the_largest_sizes_work() -> None:
    rng = np.random.default_rng(2)
    for mechanism in (Olh.from_epsilon(1, categories=65_521), OlhPool.from_epsilon(1, categories=65_536)):
        device = mechanism.encoder
        values = np.array([0, 1, device.size // 2, device.size - 1])
        reports = mechanism.randomise(values, GeneratorWords(rng))
        found = mechanism.supports(mechanism.summarise(reports))
        for value in values.tolist():
            assert found[value] == sum(device.hash(seed, value) == sent for seed, sent in reports.tolist())


@pytest.mark.parametrize("size", [5, 17, 60])
@pytest.mark.parametrize("epsilon", [0.1, 0.5, 1.0, 2.0, 5.0])
def test_g_is_that_of_the_least_variance(epsilon: float, size: int) -> None:
    def variance(g: int) -> Fraction:
        p, q = Olh.from_epsilon(epsilon, categories=size, g=g).encoder.supports()
        return q * (1 - q) / (p - q) ** 2

    device = Olh.from_epsilon(epsilon, categories=size).encoder
    assert variance(device.g) == min(map(variance, range(2, device.prime + 1)))


@pytest.mark.parametrize("epsilon", [0.01, 0.3, 0.38, 0.9, 1.0, 1.5, 2.0, 3.0])
def test_g_is_one_of_two_where_there_are_many_categories(epsilon: float) -> None:
    best = math.exp(epsilon) + 1
    assert Olh.from_epsilon(epsilon, categories=60_000).encoder.g in (math.floor(best), math.ceil(best))


def test_the_pool_takes_the_best_prime() -> None:
    taken = [OlhPool.from_epsilon(epsilon, categories=2000).encoder.g for epsilon in (0.1, 1.0, 1.5, 2.0, 2.5)]
    assert taken == [2, 3, 5, 7, 13]
    assert OlhPool.from_epsilon(16, categories=3).encoder.g == 3  # one seed: randomised response


@pytest.mark.parametrize("cls", [Olh, OlhPool])
@pytest.mark.parametrize("g", [0, 1, -1, 2.0, True, "2", math.nan, 109, 10**9])
def test_a_bad_number_of_hashes_is_refused(cls: Any, g: Any) -> None:
    size = 53 if cls is Olh else 2000
    with pytest.raises(ParameterError, match=r"^g must be") as caught:
        cls.from_epsilon(1, categories=size, g=g)
    assert caught.value.name == "g"
    assert repr(g) in str(caught.value)


def test_hashes_that_cannot_be_told_apart_are_refused() -> None:
    with pytest.raises(ParameterError, match=r"^g must be fewer hashes"):
        Olh.from_epsilon(0.001, categories=65_521, g=60_000)


@pytest.mark.parametrize(
    ("cls", "most"),
    [(Olh, 65_521), (OlhPool, 65_536)],
)
def test_too_many_categories_are_refused(cls: Any, most: int) -> None:
    with pytest.raises(ParameterError, match=f"^categories must be an integer in .*{most}"):
        cls.from_epsilon(1, categories=most + 1)


@pytest.mark.parametrize("cls", [Olh, OlhPool])
@pytest.mark.parametrize("integers", [(5, 4, 1), (5, 2, 0), (5, 2, SCALE // 2), (5, 2, 1.0), (1, 2, 1), (5, 1, 1)])
def test_bad_integers_are_refused(cls: Any, integers: tuple[Any, ...]) -> None:
    device: Any = OlhDevice if cls is Olh else PoolDevice
    if integers == (5, 4, 1) and cls is Olh:
        assert OlhDevice(5, 4, 1).g == 4
        return
    with pytest.raises(ParameterError):
        device(*integers, *() if cls is Olh else (0, 0))


@pytest.mark.parametrize(
    ("flip", "memo", "name"),
    [(1, 0, "flip"), (SCALE // 3 + 1, 1, "flip"), (-1, 1, "flip"), (1.0, 1, "flip"), (0, 2, "memo"), (0, True, "memo")],
)
def test_bad_integers_of_permanent_answers_are_refused(flip: Any, memo: Any, name: str) -> None:
    with pytest.raises(ParameterError, match=f"^{name} must be"):
        PoolDevice(7, 3, 1, flip, memo)


def test_a_seed_of_many_is_never_permanent() -> None:
    """One of P (P - 1) seeds, sent in the clear with every report, would name the device."""
    with pytest.raises(ParameterError, match=r"^permanent_epsilon must be left out"):
        Olh.from_epsilon(1, permanent_epsilon=2, categories=50)
    pool = OlhPool.from_epsilon(1, permanent_epsilon=2, categories=50).encoder
    assert pool.public_bits == math.log2(pool.seeds) < 6


def test_devices_with_permanent_answers_send_one_seed_and_answer_by_hash() -> None:
    """Values of one hash have one answer, so moving between them shows nothing."""
    device = OlhPool.from_epsilon(1, permanent_epsilon=2, categories=50).encoder
    prf = device_prf(bytes(32), "app", "app.metric", "00" * 32)
    kept: dict[int, set[int]] = {}
    for value in range(50):
        seed, answer = device.permanent(value, prf)
        assert seed == device.permanent(0, prf)[0]
        kept.setdefault(device.hash(seed, value), set()).add(answer)
    assert len(kept) == device.g
    assert all(len(answers) == 1 for answers in kept.values())


@pytest.mark.parametrize(("epsilon", "permanent"), [(0.5, 1.0), (1.0, 2.0), (1.0, 1.0), (2.0, 5.0)])
def test_two_rounds_are_as_exact_as_one(epsilon: float, permanent: float) -> None:
    """The number of hashes and the variance are those of fresh reports of the same loss."""
    fresh = OlhPool.from_epsilon(epsilon, categories=200)
    kept = OlhPool.from_epsilon(epsilon, permanent_epsilon=permanent, categories=200)
    assert kept.encoder.g == fresh.encoder.g
    assert kept.variance(0.1, 1) == pytest.approx(fresh.variance(0.1, 1), rel=1e-7)


@pytest.mark.parametrize("cls", [Olh, OlhPool])
def test_loss_is_as_asked(cls: Any) -> None:
    """Never more, and within two steps of 2⁻³² of it."""
    rng = np.random.default_rng(3)
    for _ in range(200):
        epsilon, size = float(rng.uniform(0.001, 16)), int(rng.integers(2, 3000))
        mechanism = cls.from_epsilon(epsilon, categories=size)
        e, g = math.exp(epsilon), mechanism.encoder.g
        assert 0 <= epsilon - mechanism.epsilon <= 2 * (e + g - 1) ** 2 / (e * SCALE) + 1e-9


@pytest.mark.parametrize("cls", [Olh, OlhPool])
def test_the_first_and_the_last_category_are_counted_as_such(cls: Any) -> None:
    """Six standard errors: false alarm 10⁻⁸ for each of 120 shares; the pool leaves no error behind at large n."""
    mechanism = cls.from_epsilon(2, categories=30)
    rng = np.random.default_rng(4)
    for value in (0, 29):
        crowd = 1_000_000 * np.eye(30, dtype=np.int64)[value]
        found = mechanism.estimate(mechanism.simulate(crowd, rng))
        truth = mechanism.truth(value)
        assert (np.abs(found.value - truth) < 6 * np.sqrt(mechanism.variance(truth, 1_000_000))).all()
        assert not np.any(found.drift)


@pytest.mark.parametrize("cls", [Olh, OlhPool])
def test_covariance_is_not_made_up(cls: Any) -> None:
    with pytest.raises(ParameterError, match="pairs of categories are alike"):
        cls.from_epsilon(1, categories=5).covariance(np.full(5, 0.2), 10)


def test_a_summary_that_no_reports_can_have_is_refused() -> None:
    mechanism = OlhPool.from_epsilon(1, categories=5)
    counts = np.full(mechanism.counts_shape, -1)
    with pytest.raises(ParameterError, match=r"summary\.counts"):
        mechanism.estimate(Summary(10, counts))


def test_people_stand_in_order_in_every_part() -> None:
    crowd = np.array([3, 0, 5, 1])
    assert np.concatenate(list(people(crowd, 4))).tolist() == [0, 0, 0, 2, 2, 2, 2, 2, 3]
    assert max(len(part) for part in people(crowd, 4)) == 4
    assert not list(people(np.zeros(3, np.int64)))
