"""Which mechanism is chosen, what is said of the others, and that limits hold."""

from typing import Any

import numpy as np
import pytest

from hubbub import mechanisms
from hubbub.errors import ParameterError
from hubbub.mechanisms.choosing import KINDS, NEAR, choose, judged_by, message_bits
from hubbub.mechanisms.grr import Grr
from hubbub.mechanisms.harmony import Harmony
from hubbub.mechanisms.one_bit_mean import OneBitMean
from hubbub.mechanisms.piecewise import Piecewise
from hubbub.mechanisms.piecewise_vector import PiecewiseVector

DOMAINS: dict[str, dict[str, Any]] = {
    "boolean": {},
    "mean": {"upper": 60},
    "choice": {"categories": ("red", "green", "blue")},
    "histogram": {"lower": 0, "upper": 10, "buckets": 5},
    "words": {},
    "vector": {"dimension": 3},
}
MEANS: dict[str, type[mechanisms.Mechanism]] = {"one_bit_mean": OneBitMean, "piecewise": Piecewise}


@pytest.mark.parametrize("kind", KINDS)
def test_the_least_variance_wins_and_everybody_is_named(kind: str) -> None:
    found = choose(kind, 1, **DOMAINS[kind])
    names = {name for name, cls in mechanisms.registry.items() if kind in cls.kinds}
    assert {one.name for one in found.considered} == names
    assert found.considered[0].name == found.mechanism.name
    assert found.considered[0].rejected == ""
    assert all(one.rejected for one in found.considered[1:])
    for one in found.considered:
        if one.variance is not None:
            assert one.variance >= (found.considered[0].variance or 0) / NEAR
    assert found.mechanism.epsilon <= 1


@pytest.mark.parametrize(
    ("epsilon", "name"), [(0.3, "one_bit_mean"), (1, "hybrid"), (4, "hybrid"), (10, "piecewise"), (16, "piecewise")]
)
def test_means(epsilon: float, name: str) -> None:
    assert choose("mean", epsilon, upper=480).mechanism.name == name


def test_a_mean_is_judged_at_its_worst_value() -> None:
    bit = OneBitMean.from_epsilon(1, upper=480)
    assert judged_by(bit, "mean") == pytest.approx(float(bit.variance(240, 1)))
    ends = Piecewise.from_epsilon(1, lower=-5, upper=5)
    assert judged_by(ends, "mean") == pytest.approx(float(ends.variance(-5, 1)), rel=1e-6)
    assert judged_by(OneBitMean.from_epsilon(1, upper=2**32 - 1), "mean") > 0


def test_a_vector_is_judged_by_a_coordinates_worst_value() -> None:
    harmony = Harmony.from_epsilon(1, dimension=5, ticks=2, norm=3)
    assert judged_by(harmony, "vector") == pytest.approx(float(harmony.variance(np.zeros(5), 1).max()))
    ends = PiecewiseVector.from_epsilon(1, dimension=5, ticks=1000, norm=3)
    assert judged_by(ends, "vector") == pytest.approx(9 * ends.channel.worst() / (ends.encoder.top / 2) ** 2, rel=1e-3)


def test_shares_are_judged_where_all_are_equal() -> None:
    grr = Grr.from_epsilon(1, categories=9)
    assert judged_by(grr, "choice") == pytest.approx(float(grr.variance(np.full(9, 1 / 9), 1)[0]))


def test_permanent_answers_leave_only_those_that_can_keep_them() -> None:
    found = choose("mean", 1, permanent_epsilon=2, upper=60, among=MEANS)
    assert found.mechanism == OneBitMean.from_epsilon(1, permanent_epsilon=2, upper=60)
    assert found.considered[1].name == "piecewise"
    assert found.considered[1].variance is None
    assert found.considered[1].rejected.startswith("permanent_epsilon must be left out")


def test_limits() -> None:
    assert choose("mean", 4, upper=60, among=MEANS).mechanism.name == "piecewise"
    short = choose("mean", 4, upper=60, among=MEANS, max_bits=3)
    assert short.mechanism.name == "one_bit_mean"
    assert short.considered[1].rejected == "message of 7 bits, at most 3 bits"
    assert short.considered[1].variance is not None
    cheap: dict[str, Any] = {"permanent_epsilon": 2, "upper": 60, "among": MEANS, "windows": 365}
    life = choose("mean", 1, **cheap).mechanism.encoder.prices(365).life
    assert choose("mean", 1, **cheap, max_life=life).mechanism.name == "one_bit_mean"
    with pytest.raises(ParameterError, match=r"price of a life of 365 reports of 257\.7.* nats, at most 250 nats"):
        choose("mean", 1, **cheap, max_life=250)
    with pytest.raises(ParameterError, match=r"price of a change of 1\.40.* nats, at most 1.4 nats"):
        choose("mean", 1, **cheap, max_change=1.4)
    assert message_bits(Piecewise.from_epsilon(1, upper=600).encoder) == 8


LASTING: dict[str, Any] = {"permanent_epsilon": 2, "categories": 12, "windows": 365}


def test_a_limit_on_lives_turns_the_choice_to_another_permanent_mechanism() -> None:
    best = choose("choice", 1, **LASTING)
    assert best.mechanism.name == "olh_pool"
    life = best.mechanism.encoder.prices(365).life
    assert choose("choice", 1, **LASTING, max_life=life).mechanism == best.mechanism
    other = choose("choice", 1, **LASTING, max_life=450)
    assert other.mechanism.name == "sue"
    assert other.mechanism.encoder.prices(365).life <= 450 < life
    (refused,) = (one for one in other.considered if one.name == "olh_pool")
    assert refused.rejected == "price of a life of 365 reports of 482.951 nats, at most 450 nats"
    assert (refused.variance or 0) < (other.considered[0].variance or 0)


def test_a_limit_on_changes_turns_the_choice_to_another_permanent_mechanism() -> None:
    """The best of all has the lowest price of a change, so a limit below it leaves none; among the others it turns."""
    change = choose("choice", 1, **LASTING).mechanism.encoder.prices(365).change
    assert choose("choice", 1, **LASTING, max_change=change).mechanism.name == "olh_pool"
    with pytest.raises(ParameterError, match=r"olh_pool: price of a change of 1\.6467 nats, at most 1\.6466 nats"):
        choose("choice", 1, **LASTING, max_change=1.6466)
    among = {name: cls for name, cls in mechanisms.registry.items() if name in ("oue", "sue", "grr")}
    assert choose("choice", 1, **LASTING, among=among).mechanism.name == "oue"
    for limit, name, refused in ((2.4, "sue", {"oue"}), (2.2, "grr", {"oue", "sue"})):
        found = choose("choice", 1, **LASTING, among=among, max_change=limit)
        assert found.mechanism.name == name
        assert {one.name for one in found.considered if f"nats, at most {limit} nats" in one.rejected} == refused


def test_of_the_same_variance_the_shorter_message_wins() -> None:
    found = choose("mean", 0.3, upper=60)
    assert found.mechanism.name == "one_bit_mean"
    assert {one.rejected for one in found.considered if one.name == "hybrid"} == {"the same variance, 2 bits a message"}


@pytest.mark.parametrize("permanent", [None, 2])
def test_of_hardly_more_variance_the_shorter_message_wins(permanent: float | None) -> None:
    """Wide choices: a device that draws and sends a bit for each category takes longer than it may."""
    found = choose("choice", 1, permanent_epsilon=permanent, categories=1024)
    assert found.mechanism.name == "olh_pool"
    assert message_bits(found.mechanism.encoder) == 13
    least = min((one for one in found.considered if one.variance), key=lambda one: one.variance or 0)
    assert least.name == ("oue" if permanent else "subset_selection")
    assert least.rejected == f"variance only {2.2 if permanent else 2.4} % less, 1024 bits a message instead of 13"
    assert (found.considered[0].variance or 0) <= NEAR * (least.variance or 0)


@pytest.mark.parametrize(("categories", "name"), [(20, "subset_selection"), (96, "subset_selection"), (97, "olh")])
def test_only_long_messages_give_way(categories: int, name: str) -> None:
    """Up to 12 bytes the least variance wins."""
    found = choose("choice", 1, categories=categories)
    assert found.mechanism.name == name
    olh = next(one for one in found.considered if one.name == "olh")
    assert 1 < (olh.variance or 0) / min(one.variance for one in found.considered if one.variance) < NEAR


def test_what_is_registered_at_the_time_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mechanisms, "registry", {"one_bit_mean": OneBitMean})
    assert choose("mean", 4, upper=60).mechanism.name == "one_bit_mean"
    with pytest.raises(ParameterError, match="none is registered"):
        choose("choice", 1, categories=4)


@pytest.mark.parametrize("kind", ["median", "", None])
def test_an_unknown_kind_is_refused(kind: Any) -> None:
    with pytest.raises(
        ParameterError, match="kind must be one of boolean, mean, choice, histogram, words, vector; got "
    ):
        choose(kind, 1)


def test_bad_parameters_are_refused() -> None:
    for bad in (0, 17, float("nan")):
        with pytest.raises(ParameterError, match=r"^epsilon must be"):
            choose("mean", bad, upper=60)
    with pytest.raises(ParameterError, match="upper must be a whole number of steps"):
        choose("mean", 1, upper=0.5)
