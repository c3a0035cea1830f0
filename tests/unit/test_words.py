"""Words: values and places, what the suite's small examples do not see of RAPPOR, and what is refused."""

from fractions import Fraction
from itertools import combinations, product
from typing import Any

import numpy as np
import pytest

from hubbub.client.values import KINDS
from hubbub.encoders.base import SCALE
from hubbub.encoders.cms import Cms as CmsDevice
from hubbub.encoders.hcms import Hcms as HcmsDevice
from hubbub.encoders.rappor import Rappor as RapporDevice
from hubbub.encoders.words import SIZE, Shape, places, value_of
from hubbub.errors import ParameterError, PrivateValueError
from hubbub.mechanisms import Summary, SystemWords
from hubbub.mechanisms.base import Mechanism, collect
from hubbub.mechanisms.cms import Cms
from hubbub.mechanisms.hcms import Hcms
from hubbub.mechanisms.places import places as many_places
from hubbub.mechanisms.rappor import Rappor
from hubbub.mechanisms.sketch import Sketch
from hubbub.mechanisms.words import Words, values_of
from hubbub.testing import Case
from hubbub.testing.mechanisms import CHECKS
from hubbub.testing.mechanisms.laws import both_answers, report_law
from hubbub.testing.words import GeneratorWords
from tests.unit.client_support import metric

MANY = [f"word{i}" for i in range(2000)]
ALL: list[Words] = [
    Rappor.from_epsilon(2.0, permanent_epsilon=4.0, bits=32, hashes=2, cohorts=8),
    Rappor.from_epsilon(2.0, bits=32, cohorts=4),
    Cms.from_epsilon(2.0, bits=32, hashes=8),
    Hcms.from_epsilon(2.0, bits=32, hashes=8),
]


def test_values_hang_on_the_letters_alone() -> None:
    assert value_of("the") == 2901391961391501  # in every process: no hash with a salt
    assert value_of("") == 0
    values = [value_of(word) for word in MANY]
    assert len(set(values)) == len(MANY)
    assert all(0 < value < SIZE and int(float(value)) == value for value in values)
    assert values_of(MANY).tolist() == values


@pytest.mark.parametrize("shape", [Shape("rappor", 96, 3, 4), Shape("cms", 256, 1, 8), Shape("rappor", 4096, 1, 2)])
def test_places_in_bulk_are_those_of_the_device(shape: Shape) -> None:
    values = np.array([0, 1, 2**32 - 1, 2**32, SIZE - 1, *values_of(MANY[:200])])
    for row in range(shape.rows):
        found = many_places(shape, row, values)
        assert [tuple(one) for one in found.tolist()] == [places(shape, row, v) for v in values.tolist()]
        width = shape.bits // shape.segments
        assert (found // width == np.arange(shape.segments)).all()


def test_places_are_as_even_as_chance_has_them() -> None:
    """Chi-square of places, and of pairs of places in two rows; false alarm 1e-6 each."""
    from scipy.stats import chi2

    shape, values = Shape("cms", 16, 1, 2), values_of([f"w{i}" for i in range(20_000)])
    first, second = (many_places(shape, row, values)[:, 0] for row in (0, 1))
    for cells, count in ((first, 16), (second, 16), (first * 16 + second, 256)):
        expected = len(values) / count
        statistic = ((np.bincount(cells, minlength=count) - expected) ** 2 / expected).sum()
        assert chi2.sf(statistic, count - 1) > 1e-6


@pytest.mark.parametrize("memo", [True, False])
def test_two_hashes_cost_what_is_declared(memo: bool) -> None:
    """By enumeration of all Bloom patterns of 4 bits: report, permanent answers and a change."""
    asked = {"permanent_epsilon": 3.0} if memo else {}
    mechanism = Rappor.from_epsilon(1.0, bits=4, hashes=2, cohorts=1, **asked)
    e = mechanism.encoder
    values = [0, *(next(v for v in range(1, 99) if e.filter(0, v) == bits) for bits in patterns())]
    laws = {value: e.law(value) for value in values}
    exact = max(laws[a][payload] / laws[b][payload] for a, b in product(values, repeat=2) for payload in laws[a])
    assert Fraction(np.exp(mechanism.epsilon)) == pytest.approx(exact, rel=1e-9)
    assert mechanism.epsilon <= 1.0
    assert mechanism.epsilon > 1.0 - 1e-7
    if memo:
        low = Fraction(e.low, SCALE)
        assert mechanism.permanent_epsilon == pytest.approx(4 * np.log(float((1 - low) / low)), rel=1e-9)
        worst = 1.0
        for a, b in combinations(values, 2):
            for one, other in both_answers(e, a, b):
                sent = report_law(e, one), report_law(e, other)
                worst = max(worst, *(float(sent[0][y] / sent[1][y]) for y in sent[0]))
        assert np.log(worst) == pytest.approx(mechanism.change_epsilon, rel=1e-9)


def patterns() -> list[tuple[int, ...]]:
    """Filters of 4 bits in two segments with a bit set in each."""
    return [(*one, *other) for one, other in product([(0, 1), (1, 0)], repeat=2)]


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_two_hashes_without_memo_conform(check: Any) -> None:
    check(Case(Rappor, 1.0, {"bits": 4, "hashes": 2, "cohorts": 2}))


def test_a_true_bit_can_be_sent_as_0() -> None:
    """Else a single 0 would exclude every word that has its bit there."""
    e = Rappor.from_epsilon(1.0, permanent_epsilon=2.0, bits=2, hashes=1, cohorts=1).encoder
    for value in (1, 2, 3):
        assert all(chance > 0 for chance in e.law(value).values())
    kept = {answer[1:] for pair in both_answers(e, 1, 1) for answer in pair}
    assert kept == {(0, 0), (0, 1), (1, 0), (1, 1)}


@pytest.mark.parametrize("hashes", [1, 2, 4])
@pytest.mark.parametrize("epsilon", [0.01, 1.0, 3.0, 12.0])
def test_the_loss_counts_every_hash(hashes: int, epsilon: float) -> None:
    mechanism = Rappor.from_epsilon(epsilon, permanent_epsilon=16.0, bits=128, hashes=hashes)
    assert 0.999_999 * epsilon < mechanism.epsilon <= epsilon
    assert 0.999_9 * 16 < mechanism.permanent_epsilon <= 16


def test_the_paper_s_probabilities_are_kept_to_their_last_digit() -> None:
    e = Rappor.from_probabilities(0.01, 0.39, 0.61, bits=32, hashes=1, cohorts=1).encoder
    assert e.low / SCALE == pytest.approx(0.005, abs=2**-33)
    assert (e.zero, e.one) == (round(0.39 * SCALE), round(0.61 * SCALE))


@pytest.mark.parametrize("mechanism", ALL, ids=lambda m: m.name)
def test_simulated_words_are_those_of_devices(mechanism: Words) -> None:
    """Means of each place within 6 standard errors, for a crowd that is encoded and one that is drawn."""
    crowd = np.array([400, 300, 200, 100]) * 20
    words = ["", "one", "two", "three"]
    values = mechanism.index(words)
    truth = sum(n * mechanism.truth(int(v)) for n, v in zip(crowd, values, strict=True)) / crowd.sum()
    rng = np.random.default_rng(3)
    sent = collect(mechanism, np.repeat(values, crowd), GeneratorWords(rng))
    for summary in (sent, mechanism.simulate(crowd, rng, values)):
        estimate = mechanism.estimate(summary)
        assert (np.abs(estimate.value - truth) < 6 * estimate.se).all()


@pytest.mark.parametrize("mechanism", ALL, ids=lambda m: m.name)
def test_blocks_change_nothing(mechanism: Words) -> None:
    values = values_of(MANY[:300])
    whole = mechanism.summarise(mechanism.randomise(values, GeneratorWords(np.random.default_rng(4))))
    assert collect(mechanism, values, GeneratorWords(np.random.default_rng(4)), 7) == whole


@pytest.mark.parametrize("mechanism", [m for m in ALL if isinstance(m, Sketch)], ids=lambda m: m.name)
def test_word_shares_are_unbiased_and_as_wide_as_stated(mechanism: Sketch) -> None:
    """Over 300 words as good as functions: mean and mean square of (estimate - truth) / se; false alarm 1e-6 each."""
    crowd = np.array([30_000, 20_000, *[500] * 100])
    rng, z = np.random.default_rng(5), []
    for start in range(0, 300):
        words = [f"{start}/{i}" for i in range(len(crowd))]
        summary = mechanism.simulate(crowd, rng, mechanism.index(words))
        share, se = mechanism.word_shares(summary, [words[0], words[50], "nobody's"])
        z.append((share - np.array([crowd[0], crowd[50], 0]) / crowd.sum()) / se)
    scores = np.array(z)
    assert (np.abs(scores.mean(axis=0)) < 4.9 / 300**0.5).all()
    squares = (scores**2).mean(axis=0)
    # Heavier tails than normal: a heavy word falls on a light one seldom, and then by much. Own devices as given.
    assert (squares < 1.7).all()
    assert (squares[1:] > 0.6).all()


def test_a_word_of_everybody_and_words_of_nobody() -> None:
    for mechanism in ALL:
        summary = mechanism.simulate([50_000], np.random.default_rng(6), mechanism.index(["everybody's"]))
        table = mechanism.decode(summary, [*MANY[:200], "everybody's"])
        assert table.words[0] == "everybody's"
        assert table.share[0] == pytest.approx(1, abs=6 * table.se[0])
        assert table.unallocated == pytest.approx(1 - table.share.sum())
        low, high = table.interval()
        assert low[0] < 1 < high[0] or abs(table.share[0] - 1) < 4 * table.se[0]
        assert table.rows()[0]["word"] == "everybody's"
        assert "everybody's" in str(table)
        assert len(table.to_pandas()) == len(table.words)


def test_nobody_has_a_word() -> None:
    for mechanism in ALL:
        summary = mechanism.simulate([50_000], np.random.default_rng(7), [0])
        table = mechanism.decode(summary, MANY[:200], level=1 - 1e-6)
        assert table.words == ()
        assert (table.unallocated, table.unallocated_se) == (1, 0)
        assert "0 of 200 candidates" in str(table)
    for mechanism in ALL[2:]:
        summary = mechanism.simulate([50_000], np.random.default_rng(7), [0])
        assert mechanism.decode(summary, ["", *MANY[:200]], level=1 - 1e-6).words == ("",)


def test_a_frequent_word_that_is_not_listed_is_not_taken_for_another() -> None:
    """It falls on two of the eight places of some candidates."""
    for mechanism in ALL[2:]:
        summary = mechanism.simulate([30_000, 20_000], np.random.default_rng(7), mechanism.index(["not listed", "a"]))
        assert mechanism.decode(summary, ["a", *MANY[:500]], level=1 - 1e-6).words == ("a",)


def test_a_word_of_too_few_devices_is_not_shown() -> None:
    mechanism = Cms.from_epsilon(8.0, bits=256, hashes=16)
    summary = mechanism.simulate([9_900, 100], np.random.default_rng(8), mechanism.index(["common", "rare"]))
    assert mechanism.decode(summary, ["common", "rare", "none"], least=50).words == ("common", "rare")
    hidden = mechanism.decode(summary, ["common", "rare", "none"], least=500)
    assert hidden.words == ("common",)
    assert hidden.passed == 2


def test_listing_a_word_twice_changes_nothing() -> None:
    mechanism = ALL[2]
    summary = mechanism.simulate([50_000], np.random.default_rng(9), mechanism.index(["a"]))
    once, twice = (mechanism.decode(summary, ["a", *MANY[:9]] * times) for times in (1, 2))
    assert (once.words, once.floor, once.candidates) == (twice.words, twice.floor, 10)


@pytest.mark.parametrize("mechanism", ALL, ids=lambda m: m.name)
def test_decoding_refuses(mechanism: Words) -> None:
    summary = mechanism.simulate([100], np.random.default_rng(1), [5])
    bad: list[tuple[str, Any, dict[str, Any]]] = [
        ("candidates", [], {}),
        ("candidates", "abc", {}),
        ("candidates", ["a", 3], {}),
        ("level", ["a"], {"level": 1.0}),
        ("level", ["a"], {"level": float("nan")}),
        ("control", ["a"], {"control": "none"}),
        ("least", ["a"], {"least": -1}),
    ]
    for name, candidates, more in bad:
        with pytest.raises(ParameterError) as caught:
            mechanism.decode(summary, candidates, **more)
        assert caught.value.name == name
    with pytest.raises(ParameterError, match=r"summary\.n"):
        mechanism.decode(Summary(0, np.zeros(mechanism.counts_shape, np.int64)), ["a"])
    for arguments in ((0, 10), (10, 0), (10, 10, 1.0)):
        with pytest.raises(ParameterError):
            mechanism.detection_floor(*arguments)
    if mechanism.nowhere:
        with pytest.raises(ParameterError, match="sets no bit"):
            mechanism.decode(summary, ["a", ""])


@pytest.mark.parametrize(
    ("cls", "domain", "name"),
    [
        (Rappor, {"bits": 31, "hashes": 2}, "bits"),
        (Rappor, {"bits": 1}, "bits"),
        (Rappor, {"hashes": 0}, "hashes"),
        (Rappor, {"cohorts": 3}, "cohorts"),
        (Rappor, {"cohorts": 2048}, "cohorts"),
        (Cms, {"bits": 100}, "bits"),
        (Cms, {"bits": 1}, "bits"),
        (Cms, {"hashes": 3}, "hashes"),
        (Cms, {"hashes": 0}, "hashes"),
        (Cms, {"cohorts": 4}, "cohorts"),
        (Cms, {"permanent_epsilon": 2.0}, "permanent_epsilon"),
        (Hcms, {"bits": 100}, "bits"),
        (Hcms, {"bits": 65_536, "hashes": 65_536}, "hashes"),
        (Hcms, {"cohorts": 4}, "cohorts"),
        (Hcms, {"permanent_epsilon": 2.0}, "permanent_epsilon"),
    ],
)
def test_bad_sizes_are_refused(cls: type[Mechanism], domain: dict[str, Any], name: str) -> None:
    with pytest.raises(ParameterError) as caught:
        cls.from_epsilon(1.0, **domain)
    assert caught.value.name == name
    assert str(domain[name]) in str(caught.value)


@pytest.mark.parametrize(
    ("f", "p", "q", "name"),
    [(0, 0.5, 0.75, "f"), (1, 0.5, 0.75, "f"), (0.5, 0.75, 0.75, "q"), (0.5, -1, 0.75, "p"), (0.5, 0.5, 2, "q")],
)
def test_bad_probabilities_are_refused(f: float, p: float, q: float, name: str) -> None:
    with pytest.raises(ParameterError) as caught:
        Rappor.from_probabilities(f, p, q, bits=32, hashes=1, cohorts=1)
    assert caught.value.name == name


def test_counts_that_cannot_be_are_refused() -> None:
    for mechanism in ALL:
        good = mechanism.summarise(mechanism.randomise(values_of(["a"] * 50), SystemWords()))
        assert (mechanism.estimate(good).value < np.inf).all()
        more = good.counts.copy()
        more[0].flat[0] += 1
        with pytest.raises(ParameterError, match=r"summary\.counts"):
            mechanism.estimate(Summary(50, more))


def test_chances_of_wide_payloads_are_those_of_the_law() -> None:
    encoders = (RapporDevice(4, 2, 2, 0, 10**9, 3 * 10**9, 0), CmsDevice(4, 2, 10**9))
    for encoder in encoders:
        for value in (0, 1, SIZE - 1):
            for row in (0, 1):
                law = encoder.law(value, (row,))
                assert all(encoder.chance(value, payload) == chance for payload, chance in law.items())


def test_what_an_app_gives() -> None:
    kind = KINDS["words"]
    read = kind.read(metric())
    assert read("the") == float(value_of("the"))
    assert read("") == kind.null(metric()) == 0
    assert kind.put(5.0, replace=False)(3.0) == 5.0
    for bad in (3, None, b"the", True, "\ud83d", ["the"]):
        assert read(bad) is None


def test_words_that_are_none_are_named_by_position() -> None:
    bad: Any
    for bad in (3, None, b"secret", "\ud83d"):
        with pytest.raises(PrivateValueError, match=r"values\[1\]") as caught:
            values_of(["a", bad])
        assert "secret" not in str(caught.value)
    with pytest.raises(PrivateValueError):
        values_of("secret")


def test_a_row_can_be_left_without_reports() -> None:
    for mechanism in ALL:
        one = mechanism.summarise(mechanism.randomise(values_of(["a"]), SystemWords()))
        cells, reports = mechanism.within(one)
        assert np.isfinite(cells).all()
        assert reports.sum() == 1
        assert mechanism.decode(one, ["a", "b"]).words == ()


def test_the_device_s_integers_build_it_again() -> None:
    for encoder in (m.encoder for m in ALL):
        assert type(encoder)(*encoder.canonical()) == encoder
    assert HcmsDevice(4, 2, 5).possible((1, 3, 1))
