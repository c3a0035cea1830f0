"""Losses together: against exact enumeration, against each other, and against dp-accounting where it has the figure."""

import math
import sys
from collections.abc import Sequence
from itertools import product
from typing import Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hubbub.errors import HubbubError, ParameterError
from hubbub.privacy import composition
from hubbub.privacy.composition import (
    advanced,
    drv,
    from_zcdp,
    optimal,
    optimal_of,
    renyi,
    renyi_of,
    sequential,
    zcdp,
)


def delta_of(losses: Sequence[float], epsilon: float) -> float:
    """Hockey-stick divergence of randomised responses with these losses, over all outcomes."""
    found = []
    for signs in product((1, -1), repeat=len(losses)):
        mine, other = (
            math.prod(1 / (1 + math.exp(-way * sign * loss)) for loss, sign in zip(losses, signs, strict=True))
            for way in (1, -1)
        )
        found.append(max(0.0, mine - math.exp(epsilon) * other))
    return math.fsum(found)


LOSSES = st.floats(1e-3, 6)
COUNTS = st.integers(1, 9)
DELTAS = st.sampled_from([1e-9, 1e-6, 1e-3, 0.1])


@given(LOSSES, COUNTS, DELTAS)
def test_optimal_is_enough_and_no_more(loss: float, count: int, delta: float) -> None:
    epsilon = optimal(loss, count, delta)
    assert delta_of([loss] * count, epsilon) <= delta * (1 + 1e-6)
    if epsilon > 1e-6:
        assert delta_of([loss] * count, epsilon * (1 - 1e-6) - 1e-7) > delta


@settings(max_examples=25)
@given(st.lists(LOSSES, min_size=1, max_size=6), DELTAS)
def test_optimal_of_unequal_losses_is_enough_and_little_more(losses: list[float], delta: float) -> None:
    epsilon = optimal_of(losses, delta)
    assert delta_of(losses, epsilon) <= delta * (1 + 1e-6)
    lower = epsilon - 1.1e-4 * len(losses)
    if lower > 0:
        assert delta_of(losses, lower) > delta * (1 - 1e-6)


@given(LOSSES, st.integers(1, 2000), DELTAS)
def test_order_of_the_bounds(loss: float, count: int, delta: float) -> None:
    tight = optimal(loss, count, delta)
    for looser in (advanced(loss, count, delta), drv(loss, count, delta), from_zcdp(count * zcdp(loss), delta)):
        assert tight <= looser * (1 + 1e-9)
    assert advanced(loss, count, delta) <= drv(loss, count, delta) * (1 + 1e-9)
    assert drv(loss, count, delta) <= sequential([loss] * count) * (1 + 1e-9)
    assert tight <= optimal(loss, count + 1, delta) * (1 + 1e-9)
    assert optimal(loss, count, 2 * delta) <= tight * (1 + 1e-9)


def test_published_figures() -> None:
    assert optimal(1, 100, 1e-6) == pytest.approx(83.53, abs=5e-3)
    assert drv(0.1, 100, 1e-6) == pytest.approx(6.308, abs=5e-4)
    assert renyi_of([0.1] * 100, 1e-6) == pytest.approx(5.073, abs=5e-4)


@pytest.mark.parametrize(("loss", "count"), [(0.1, 100), (0.5, 30), (1, 100), (0.02, 500), (4, 5)])
def test_equal_losses_agree_with_convolution(loss: float, count: int) -> None:
    """dp-accounting composes the pair of a pure loss by itself, exactly where its grid holds the loss."""
    from dp_accounting.pld import common, privacy_loss_distribution

    pure = common.DifferentialPrivacyParameters(loss)
    alone = privacy_loss_distribution.from_privacy_parameters(pure, value_discretization_interval=1e-4)
    theirs = float(alone.self_compose(count).get_epsilon_for_delta(1e-6))
    ours = optimal(loss, count, 1e-6)
    assert ours == pytest.approx(theirs, rel=1e-7)
    assert ours * (1 - 1e-8) <= optimal_of([loss] * count, 1e-6) <= ours + 2e-4


@pytest.mark.parametrize("loss", [0.01, 0.1, 1.0, 4.0, 12.0])
def test_divergences_agree(loss: float) -> None:
    from dp_accounting import RandomizedResponseDpEvent
    from dp_accounting.privacy_accountant import NeighboringRelation
    from dp_accounting.rdp import RdpAccountant

    orders = [1.001, 1.5, 2.0, 3.0, 8.0, 64.0, 512.0]
    accountant = RdpAccountant(orders, NeighboringRelation.REPLACE_ONE)
    accountant.compose(RandomizedResponseDpEvent(2 / (1 + math.exp(loss)), 2))
    assert [renyi(loss, order) for order in orders] == pytest.approx(accountant._rdp.tolist(), rel=1e-6)


@given(LOSSES, st.floats(1, 1e6))
def test_divergences_grow_to_the_loss_and_rho_bounds_them(loss: float, order: float) -> None:
    assert zcdp(loss) == renyi(loss, 1) <= loss**2 / 2 * (1 + 1e-9)
    assert renyi(loss, order) <= renyi(loss, order * 1.5) * (1 + 1e-8)
    assert renyi(loss, order) <= min(loss, order * zcdp(loss)) * (1 + 1e-8)
    assert renyi(loss, math.inf) == pytest.approx(loss)


@pytest.mark.parametrize("order", [1.0001, 1.5, 2, 7])
def test_divergence_by_its_definition(order: float) -> None:
    p, q = 1 / (1 + math.exp(-1)), 1 / (1 + math.exp(1))
    stated = math.log(p**order * q ** (1 - order) + q**order * p ** (1 - order)) / (order - 1)
    assert renyi(1, order) == pytest.approx(stated, rel=1e-8)


@settings(max_examples=25)
@given(st.lists(st.floats(0, 40), max_size=6), DELTAS)
def test_never_more_than_the_sum(losses: list[float], delta: float) -> None:
    total = sequential(losses)
    assert math.fsum(losses) <= total <= math.fsum(losses) * (1 + 1e-9)
    assert optimal_of(losses, delta) <= total * (1 + 1e-9)
    assert renyi_of(losses, delta) <= total * (1 + 1e-9)


def test_nothing_costs_nothing() -> None:
    assert sequential([]) == optimal(1, 0, 0.1) == optimal(0, 5, 0.1) == 0
    assert optimal_of([], 0.1) == renyi_of([0.0], 0.1) == 0
    assert optimal(0.1, 1, 0.9) == 0  # all that is left fits into delta


def test_large_losses_are_added_as_they_are() -> None:
    assert optimal_of([300.0, 1.0], 1e-6) == pytest.approx(301, abs=1e-3)
    for loss in (30.0, 30.1, 59.0, 61.0):
        assert loss < optimal_of([loss, 1.0], 1e-6) <= loss + 1.001
        assert loss < renyi_of([loss, 1.0], 1e-6) <= loss + 1.001
    assert renyi_of([300.0], 1e-6) == pytest.approx(300)
    assert drv(800, 2, 0.1) == pytest.approx(1600)
    assert renyi(800, 3) == pytest.approx(800)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: sequential([1, -1]), "epsilon must be a finite loss in nats, >= 0; got -1"),
        (lambda: sequential([math.nan]), "epsilon must be a finite loss"),
        (lambda: optimal(math.inf, 1, 0.1), "epsilon must be finite and >= 0; got inf"),
        (lambda: optimal(1, -1, 0.1), r"count must be an integer in \[0, 1000000\]; got -1"),
        (lambda: optimal(1, cast(int, 2.5), 1e-3), r"count must be an integer in \[0, 1000000\]; got 2\.5"),
        (lambda: drv(1, True, 1e-3), r"count must be an integer in \[0, 1000000\]; got True"),
        (lambda: advanced(1, 1, 0), r"delta must be in \(0, 1\); got 0"),
        (lambda: drv(1, 1, 1), r"delta must be in \(0, 1\); got 1"),
        (lambda: optimal_of([1], 1e-13), "delta must be >= 1e-12"),
        (lambda: renyi_of([math.inf], 0.1), "epsilon must be a finite loss"),
        (lambda: renyi(1, 0.5), "order must be >= 1; got 0.5"),
        (lambda: from_zcdp(-1, 0.1), "rho must be finite and >= 0; got -1"),
    ],
)
def test_refusals(call: Any, said: str) -> None:
    with pytest.raises(ParameterError, match=said):
        call()


def test_without_the_package_it_says_which(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.split(".")[0] == "dp_accounting"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "dp_accounting", None)
    for figure in (composition.optimal_of, composition.renyi_of):
        with pytest.raises(HubbubError, match=r"pip install 'hubbub\[accounting\]'"):
            figure([1.0], 0.1)
