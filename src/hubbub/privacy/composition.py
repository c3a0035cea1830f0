"""Losses of several reports together: summed, and less than summed where a small chance delta is left out.

`sequential` is what prices use: it holds for every output, and needs no delta. The others let chances differ by delta
beside e^epsilon; they are for reports with fresh noise, adaptive or not, and for whole metrics. Every mechanism that
loses at most epsilon is a worsened randomised response with that epsilon, so figures of randomised response bound all.

What is computed here: sum, advanced, optimal for equal losses, Rényi divergence and zCDP in closed form. What Google's
dp-accounting computes: optimal for unequal losses, and epsilon from Rényi divergences. Where both can, tests compare.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable
from typing import Any

from hubbub.encoders.base import check, up
from hubbub.errors import HubbubError, ParameterError

LEAST_DELTA = 1e-12  # below it the convolutions of dp-accounting are no longer precise enough
_CLEAR = (
    30.0  # nats: larger losses are added as they are, for what composing could take off them is less than any delta
)
_FINEST = 1e-4  # nats: steps to which losses are rounded up for convolving
_STEPS = 1 << 20  # about so many at most
_UNSEEN = 1e-18  # chances below it count as if all were lost
_SLACK = 1e-9  # relative error of sums of binomial chances, far above what they have
_MOST = 1_000_000  # losses composed in one call


def sequential(losses: Iterable[float]) -> float:
    """Their sum: holds for any metrics, versions, windows and secrets of one device, adaptive or not.

    Raises:
        ParameterError: A loss below 0, or not a number.
    """
    return _rounded(math.fsum(map(_loss, losses)))


def drv(epsilon: float, count: int, delta: float) -> float:
    """Advanced composition as it was first proved; never more than the sum.

    Source: Dwork, Rothblum, Vadhan, FOCS 2010.

    Raises:
        ParameterError: Out of range, as for all below: epsilon >= 0 and finite, count an integer >= 0, delta in (0, 1).
    """
    _asked(epsilon, count, delta)
    if epsilon > 700:  # where e^epsilon overflows the sum is less anyway
        return _rounded(count * epsilon)
    return min(
        _rounded(count * epsilon), _rounded(_deviation(epsilon, count, delta) + count * epsilon * math.expm1(epsilon))
    )


def advanced(epsilon: float, count: int, delta: float) -> float:
    """The same with the exact mean of the loss, epsilon tanh(epsilon / 2), in place of its bound."""
    _asked(epsilon, count, delta)
    return min(_rounded(count * epsilon), _rounded(_deviation(epsilon, count, delta) + count * zcdp(epsilon)))


def optimal(epsilon: float, count: int, delta: float) -> float:
    """The least epsilon that so many equal losses have together, delta left out; exact but for rounding up.

    With A_j and B_j the chances that at least j of `count` coins say 1, for coins that do so with chance
    e^epsilon / (1 + e^epsilon) and 1 / (1 + e^epsilon), it is the largest ln((A_j - delta) / B_j).

    Source: Kairouz, Oh, Viswanath, ICML 2015.
    """
    import numpy as np
    from scipy.special import gammaln

    _asked(epsilon, count, delta)
    if not count or not epsilon:
        return 0.0
    j = np.arange(count + 1)
    ways = gammaln(count + 1) - gammaln(j + 1) - gammaln(count - j + 1)
    likely, rare = -math.log1p(math.exp(-epsilon)), -epsilon - math.log1p(math.exp(-epsilon))
    above = np.logaddexp.accumulate((ways + j * likely + (count - j) * rare)[::-1])
    below = np.logaddexp.accumulate((ways + j * rare + (count - j) * likely)[::-1])
    counted = above > math.log(delta)
    if not counted.any():
        return 0.0
    kept = above[counted] + np.log1p(-np.minimum(1.0, delta * (1 - _SLACK) * np.exp(-above[counted])))
    worst = float((kept - below[counted]).max())
    return min(up(count * epsilon), max(0.0, worst + _SLACK * (1 + abs(worst))))


def optimal_of(losses: Iterable[float], delta: float) -> float:
    """The least epsilon of unequal losses, delta left out: an upper bound, above the exact one by 1e-4 a distinct loss.

    Equal losses have a binomial law, which is rounded up to a grid (coarser where they add up to more than 100 nats);
    dp-accounting convolves these and reads off epsilon.

    Raises:
        ParameterError: A loss that is negative or not finite, more than a million, or delta outside [1e-12, 1).
        HubbubError: dp-accounting is not installed.
    """
    from scipy.stats import binom

    counted, clear = _counted(losses, delta)
    if not counted:
        return _rounded(clear)
    law = _package("dp_accounting.pld.privacy_loss_distribution").PrivacyLossDistribution
    total = math.fsum(loss * times for loss, times in counted.items())
    step = max(_FINEST, total / _STEPS)
    whole: Any = None
    for loss, times in counted.items():
        chances = binom.pmf(range(times + 1), times, 1 / (1 + math.exp(-loss)))
        kept: dict[int, float] = defaultdict(float)
        for j, chance in enumerate(map(float, chances)):
            if chance > _UNSEEN:
                kept[math.ceil((2 * j - times) * loss / step)] += chance
        part = law.create_from_rounded_probability(kept, max(0.0, 1 - math.fsum(kept.values())), step)
        whole = part if whole is None else whole.compose(part)
    return _rounded(clear + min(total, float(whole.get_epsilon_for_delta(delta)) * (1 + _SLACK)))


def renyi(epsilon: float, order: float) -> float:
    """Rényi divergence of randomised response between its two values, of an order >= 1 (inf: epsilon), in nats.

    Raises:
        ParameterError: epsilon negative or not finite, or an order below 1.
    """
    _loss(epsilon)
    if not order >= 1:
        raise ParameterError("order", order, ">= 1")
    if order == 1:
        return zcdp(epsilon)
    if math.isinf(order):
        return up(epsilon)
    b, lie = order - 1, 1 / (1 + math.exp(epsilon)) if epsilon < 700 else 0.0
    if b * epsilon < 1:
        raised = math.log1p((1 - lie) * math.expm1(b * epsilon) + lie * math.expm1(-b * epsilon))
    else:
        raised = b * epsilon + math.log1p(-lie) + math.log1p(math.exp(-epsilon - 2 * b * epsilon))
    return min(up(epsilon), up(raised / b * (1 + _SLACK)))


def zcdp(epsilon: float) -> float:
    """The rho of randomised response: its divergence of order a is at most rho a. Adds up over reports.

    Raises:
        ParameterError: epsilon negative or not finite.
    """
    return _rounded(_loss(epsilon) * math.tanh(epsilon / 2))


def from_zcdp(rho: float, delta: float) -> float:
    """Epsilon of a rho, delta left out.

    Source: Bun, Steinke, TCC 2016.

    Raises:
        ParameterError: rho negative or not finite, or delta outside (0, 1).
    """
    _asked(rho, 0, delta, "rho")
    return _rounded(rho + 2 * math.sqrt(rho * -math.log(delta)))


def renyi_of(losses: Iterable[float], delta: float) -> float:
    """Epsilon of unequal losses from the sum of their Rényi divergences, delta left out; never more than their sum.

    By dp-accounting, at its orders.

    Raises:
        ParameterError: As for `optimal_of`.
        HubbubError: dp-accounting is not installed.
    """
    counted, clear = _counted(losses, delta)
    events, relation = _package("dp_accounting"), _package("dp_accounting.privacy_accountant").NeighboringRelation
    accountant = _package("dp_accounting.rdp").RdpAccountant(neighboring_relation=relation.REPLACE_ONE)
    for loss, times in counted.items():
        accountant.compose(events.RandomizedResponseDpEvent(2 / (1 + math.exp(loss)), 2), times)
    total = math.fsum(loss * times for loss, times in counted.items())
    return _rounded(clear + min(total, float(accountant.get_epsilon(delta)) * (1 + _SLACK)))


def _deviation(epsilon: float, count: int, delta: float) -> float:
    return epsilon * math.sqrt(2 * count * -math.log(delta))


def _counted(losses: Iterable[float], delta: float) -> tuple[Counter[float], float]:
    """How often each loss is to be composed, and the sum of those that are too large for it."""
    every = Counter(loss for loss in map(_loss, losses) if loss)
    _asked(0, every.total(), delta)
    if delta < LEAST_DELTA:
        raise ParameterError("delta", delta, f">= {LEAST_DELTA}, below which convolutions are not precise enough")
    composed = Counter({loss: times for loss, times in every.items() if loss <= _CLEAR})
    return composed, math.fsum(loss * times for loss, times in every.items() if loss > _CLEAR)


def _loss(loss: float) -> float:
    if not 0 <= loss < math.inf:
        raise ParameterError("epsilon", loss, "a finite loss in nats, >= 0")
    return loss


def _asked(epsilon: float, count: int, delta: float, name: str = "epsilon") -> None:
    if not 0 <= epsilon < math.inf:
        raise ParameterError(name, epsilon, "finite and >= 0")
    check("count", count, 0, _MOST)
    if not 0 < delta < 1:
        raise ParameterError("delta", delta, "in (0, 1)")


def _rounded(loss: float) -> float:
    return up(loss) if loss else 0.0


def _package(name: str) -> Any:
    from importlib import import_module

    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        if (error.name or "").split(".")[0] != "dp_accounting":
            raise
        raise HubbubError("this needs one more package: pip install 'hubbub[accounting]'") from None
