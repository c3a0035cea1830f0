"""Shuffled reports: the published table, exact enumeration of small crowds, and who may not have such a figure."""

import math
from collections import defaultdict
from dataclasses import replace
from itertools import product
from typing import Any, cast

import pytest

from hubbub.errors import ParameterError
from hubbub.lock import MAX_SHUFFLER
from hubbub.mechanisms import registry
from hubbub.privacy import amplified, explain
from hubbub.privacy.shuffling import exact, fmt21, fmt21_closed, fmt23, fmt23_closed, of_others, one_bit
from tests.unit.test_privacy import metric

MIXED = metric(1, None, shuffler="Mixnet")
TABLED = [  # delta, n, epsilon; exact, FMT23, FMT21, FMT21 closed
    (1e-6, 1_000, 0.5, 0.05685, 0.06269, 0.07052, 0.2726),
    (1e-6, 1_000, 1, 0.12661, 0.14867, 0.18241, 0.5662),
    (1e-6, 1_000, 2, 0.32328, 0.39709, 0.54550, None),
    (1e-6, 10_000, 1, None, 0.04321, 0.05301, 0.2140),
    (1e-6, 10_000, 2, None, 0.11440, 0.15504, 0.5009),
    (1e-8, 100_000, 1, None, 0.01687, 0.02059, 0.0824),
]


@pytest.mark.parametrize(("delta", "n", "epsilon", "exactly", "later", "first", "closed"), TABLED)
def test_published_table(
    delta: float, n: int, epsilon: float, exactly: float | None, later: float, first: float, closed: float | None
) -> None:
    found = [fmt23(epsilon, n, delta), fmt21(epsilon, n, delta)]
    assert found == pytest.approx([later, first], abs=6e-6)
    assert found[0] <= fmt23_closed(epsilon, n, delta)
    if closed is None:
        with pytest.raises(ParameterError, match=r"epsilon must be at most 1\.46 for so many devices; got 2"):
            fmt21_closed(epsilon, n, delta)
    else:
        assert fmt21_closed(epsilon, n, delta) == pytest.approx(closed, abs=5.1e-5)
    if exactly is not None:
        assert of_others(epsilon, n, delta, n - 1) == pytest.approx(exactly, abs=5.1e-6)


def test_one_bit_lies_inside_the_bracket_of_another_program() -> None:
    assert 0.16754 < fmt21(4, 100_000, 1e-6) < 0.17279


def law_of_ones(p: float, values: tuple[int, ...]) -> dict[int, float]:
    """Chances of each number of ones, by going through all reports."""
    found: dict[int, float] = defaultdict(float)
    for sent in product((0, 1), repeat=len(values)):
        found[sum(sent)] += math.prod(p if bit == value else 1 - p for bit, value in zip(sent, values, strict=True))
    return found


@pytest.mark.parametrize("epsilon", [0.3, 1, 3])
@pytest.mark.parametrize("delta", [1e-6, 1e-3, 0.05])
def test_exact_equals_enumeration(epsilon: float, delta: float) -> None:
    n, p = 6, 1 / (1 + math.exp(-epsilon))

    def divergence(g: float) -> float:
        worst = 0.0
        for others in range(n):
            crowd = (1,) * others + (0,) * (n - 1 - others)
            laws = [law_of_ones(p, (value, *crowd)) for value in (0, 1)]
            for mine, other in (laws, laws[::-1]):
                worst = max(worst, math.fsum(max(0.0, mine[k] - math.exp(g) * other[k]) for k in range(n + 1)))
        return worst

    found = exact(epsilon, n, delta)
    assert divergence(found) <= delta * (1 + 1e-6)
    assert found == 0 or divergence(found * (1 - 1e-6)) > delta
    later = fmt23(epsilon, n, delta)
    assert found * (1 - 1e-9) <= later <= fmt21(epsilon, n, delta) * (1 + 1e-9)


def test_the_divergence_behind_the_numeric_bound_by_enumeration() -> None:
    """(A + D, C - A + 1 - D) against the same with the coin D the other way round, for few devices."""
    epsilon, n, delta = 1.5, 8, 0.02
    for bound, chance in ((fmt21, math.exp(-epsilon)), (fmt23, 2 / (math.exp(epsilon) + 1))):
        laws: list[dict[tuple[int, int], float]] = [defaultdict(float), defaultdict(float)]
        for c in range(n):
            for a, d, turned in product(range(c + 1), (0, 1), (0, 1)):
                share = math.comb(n - 1, c) * chance**c * (1 - chance) ** (n - 1 - c) * math.comb(c, a) / 2**c
                coin = 1 / (1 + math.exp(-epsilon if d != turned else epsilon))
                laws[turned][a + d, c - a + 1 - d] += share * coin
        assert sum(laws[0].values()) == pytest.approx(1)

        def divergence(g: float, mine: Any = laws[0], other: Any = laws[1]) -> float:
            return math.fsum(max(0.0, chance - math.exp(g) * other[seen]) for seen, chance in mine.items())

        found = bound(epsilon, n, delta)
        assert divergence(found) <= delta
        assert divergence(found * (1 - 1e-4)) > delta * (1 - 1e-5)


def test_more_devices_never_hurt() -> None:
    for bound in (fmt21, fmt23):
        found = [bound(2, n, 1e-6) for n in (10, 100, 1_000, 30_000, 10**6)]
        assert found == sorted(found, reverse=True)
        assert found[0] <= 2 * (1 + 1e-8)
    assert fmt21(1, 10**12, 1e-6) == fmt21(1, 10**7, 1e-6)


def test_figures_of_metrics() -> None:
    small, large = (amplified(MIXED, n, 1e-6) for n in (300, 10_000))
    assert (small.method, large.method) == ("exact", "fmt23")
    assert large.epsilon == pytest.approx(0.04321, abs=5.1e-6)
    assert large.reports == 364
    assert large.life_delta == pytest.approx(364e-6)
    assert large.life == pytest.approx(364 * large.epsilon)
    counts = registry["stochastic_grr"].from_epsilon(1, upper=480).encoder
    assert one_bit(counts) is None
    any_kind = amplified(replace(MIXED, encoder=counts), 10_000, 1e-6)
    assert any_kind.method == "fmt21"
    assert any_kind.epsilon == pytest.approx(0.05301, abs=2e-5)
    assert amplified(MIXED, 2, 1e-6).epsilon <= 1


def test_sentences_name_who_shuffles_and_what_it_rests_on() -> None:
    told = replace(MIXED, shuffler="M" * MAX_SHUFFLER)
    found = amplified(told, 10_000, 1e-6)
    sentences = found.sentences(told)
    assert "M" * MAX_SHUFFLER in sentences[0]
    assert all(len(sentence) < 200 for sentence in [*sentences, *explain(told)])
    assert all(len(sentence) < 200 for sentence in amplified(told, 10**12, 1e-12).sentences(told))
    assert "epsilon 0.044 in place of 1.000, save for a chance of 1e-06" in sentences[2]
    assert not set(sentences) & set(explain(told))


def test_explain_tells_what_is_declared_and_reckons_nothing_with_it() -> None:
    added = set(explain(MIXED)) - set(explain(metric(1, None)))
    assert added == {
        "Mixed on the way, as its owners declare, by Mixnet. No price counts on it; hubbub checks none of it."
    }
    assert not set(explain(metric(1, None))) - set(explain(MIXED))


def test_the_only_report_of_a_life() -> None:
    told = replace(MIXED, expires="2026-12-02")
    assert amplified(told, 1000, 1e-6).sentences(told)[-1].startswith("The only one of a life: epsilon ")


def test_a_name_that_ends_in_a_full_stop_has_one() -> None:
    (said,) = [line for line in explain(metric(1, None, shuffler="Mixers, Inc.")) if "Mixed on the way" in line]
    assert "by Mixers, Inc. No price" in said


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"metric": metric(1, None)}, "metric must be one that declares a shuffler"),
        ({"metric": metric(1, 2, shuffler="Mixnet")}, "metric must be one with fresh noise"),
        ({"devices": 1}, "devices must be an integer in"),
        ({"delta": 0}, "delta must be in"),
        ({"delta": 1}, "delta must be in"),
    ],
)
def test_refusals(changes: dict[str, Any], said: str) -> None:
    asked: dict[str, Any] = {"metric": MIXED, "devices": 100, "delta": 1e-6} | changes
    with pytest.raises(ParameterError, match=said):
        amplified(asked["metric"], asked["devices"], asked["delta"])


def test_permanent_fields_in_the_clear_are_refused() -> None:
    class Cohorts:  # of another package: fresh noise, under a field that is the same in every report
        memo, public_bits = 0, 4.0

    told = replace(MIXED)
    object.__setattr__(told, "encoder", Cohorts())
    with pytest.raises(ParameterError, match="metric must be one without permanent fields"):
        amplified(told, 1000, 1e-6)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: fmt21(0, 10, 0.1), r"epsilon must be in \(0, 32\]; got 0"),
        (lambda: fmt23(33, 10, 0.1), "epsilon must be in"),
        (lambda: exact(1, 1001, 0.1), r"devices must be an integer in \[2, 1000\]; got 1001"),
        (lambda: of_others(1, 10, 0.1, 10), r"yes must be an integer in \[0, 9\]; got 10"),
        (lambda: of_others(1, 10, 0.1, True), r"yes must be an integer in \[0, 9\]; got True"),
        (lambda: of_others(1, cast(int, 2.5), 0.1, 1), r"devices must be an integer in .*; got 2\.5"),
    ],
)
def test_bounds_refuse(call: Any, said: str) -> None:
    with pytest.raises(ParameterError, match=said):
        call()
