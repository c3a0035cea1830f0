"""The same precision by other strategies: what each would cost one installation in the metric's life.

Precision is the half-width of the 95 % interval for the mean of 28 windows (of fewer where the life is shorter), at the
worst truth or at that of a rare category, as it is printed and as `hubbub registry lint` reckons it. A strategy that
gives away more per report but asks more seldom can cost less: the noise of permanent answers never averages out over
windows, and a device that is asked in every window pays for each.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from hubbub.client.charges import in_order
from hubbub.encoders.base import check
from hubbub.encoders.d_bit_flip import DBitFlip
from hubbub.encoders.one_bit_mean import OneBitMean
from hubbub.errors import ParameterError
from hubbub.lock import MILLION, Metric, shown
from hubbub.mechanisms import Mechanism, of_metric, registry
from hubbub.mechanisms.base import MAX_EPSILON, MIN_EPSILON, default_permanent
from hubbub.privacy.shuffling import MAX_DEVICES
from hubbub.privacy.words import nats

OTHERWISE = "What the same precision would cost otherwise"  # the heading over it
WINDOWS = 28  # of the mean whose precision is held equal
PANEL = 28  # a device answers in one window of so many
GROUP = 6  # metrics that take turns
_DEVICES = 10_000
_HALVINGS = 24
_KINDS = ("boolean", "mean", "choice", "histogram")


@dataclass(frozen=True)
class Strategy:
    """One strategy at the metric's own precision; prices in nats, None where there is no bound or it is out of reach.

    Attributes:
        key: `own`, `fresh`, `memo`, `panel` or `rotation`.
        label: The same in a few words.
        report_every: A device reports in one window of so many.
        reports: Most reports of a device in the metric's life.
        epsilon: Loss of one report that gives the precision; None where no loss up to 16 does.
        steady: Price of a device that never changes.
        change: Price of one changed window.
        life: Price of any two histories, closed bound.
        window_margin: Half-width of one window, in the unit.
        margin: Half-width of the mean of `windows` windows: that of the metric as it is, or less by rounding.
        windows: As many.
    """

    key: str
    label: str
    report_every: int
    reports: int
    epsilon: float | None
    steady: float | None
    change: float | None
    life: float | None
    window_margin: float | None
    margin: float | None
    windows: int


def strategies(metric: Metric, devices: int = _DEVICES) -> list[Strategy]:
    """The metric as it is, and others of its precision: fresh, permanent answers, a panel of 28, turns of six metrics.

    Empty for words and vectors. What its mechanism cannot do, and what would be the metric itself, is left out.

    Args:
        metric: Of a lock.
        devices: That run in each window; half-widths fall with their root, of categories a little faster.

    Raises:
        ParameterError: devices no integer in [1, 10^12].
    """
    check("devices", devices, 1, MAX_DEVICES)
    return list(_strategies(metric, devices))


@lru_cache(maxsize=256)
def _strategies(metric: Metric, devices: int) -> tuple[Strategy, ...]:
    if metric.kind not in _KINDS:
        return ()
    windows = min(WINDOWS, len(metric.life))
    own = of_metric(metric)
    target = _margin(own, devices, windows, metric.report_every)
    found = [_line("own", "as defined", metric, own, devices, metric.report_every)]
    for key, label, every, memo in _others(metric, windows):
        try:
            mechanism = _reaching(metric, target, devices, windows, every, memo)
        except ParameterError:  # the mechanism keeps no answers, or cannot be made for other losses
            continue
        found.append(_line(key, label, metric, mechanism, devices, every))
    return tuple(found)


def _others(metric: Metric, windows: int) -> Iterator[tuple[str, str, int, bool]]:
    window, every, memo = metric.window, metric.report_every, bool(metric.encoder.memo)
    if every > 1 or memo:
        yield "fresh", f"fresh every {window}", 1, False
    if every > 1 or not memo:
        yield "memo", f"permanent answers every {window}", 1, True
    if (every != PANEL or memo) and windows >= PANEL:
        yield "panel", f"a panel of {PANEL}, fresh", PANEL, False
    if (every != GROUP or memo) and windows >= GROUP:
        yield "rotation", f"turns of {GROUP} metrics, fresh", GROUP, False


def _reaching(metric: Metric, target: float, devices: int, windows: int, every: int, memo: bool) -> Mechanism | None:
    """The least loss of one report that reaches the target, by halving its logarithm; None if none does."""
    low, high = math.log(MIN_EPSILON), math.log(MAX_EPSILON)
    if _margin(best := _made(metric, MAX_EPSILON, memo), devices, windows, every) > target:
        return None
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        made = _made(metric, math.exp(middle), memo)
        if _margin(made, devices, windows, every) <= target:
            best, high = made, middle
        else:
            low = middle
    return best


def _made(metric: Metric, epsilon: float, memo: bool) -> Mechanism:
    """The metric's mechanism with other losses; its place on the axis is of no matter here.

    Raises:
        ParameterError: The mechanism cannot.
    """
    encoder, domain = metric.encoder, dict[str, Any]()
    if metric.kind == "mean":
        domain = {"lower": 0, "upper": (encoder.size - 1) * metric.step / MILLION, "step": metric.step / MILLION}
        if memo and isinstance(encoder, OneBitMean) and encoder.memo:
            domain["bucket"] = encoder.bucket
    elif metric.kind != "boolean":
        domain = {"categories": encoder.size} | ({"d": encoder.d} if isinstance(encoder, DBitFlip) else {})
    permanent = default_permanent(epsilon) if memo else None
    return registry[encoder.name].from_epsilon(epsilon, permanent_epsilon=permanent, **domain)


def _margin(mechanism: Mechanism, devices: int, windows: int, every: int) -> float:
    from hubbub.definitions.worth import several  # which imports this package

    return several(mechanism, devices / every, windows, every)


def _line(key: str, label: str, metric: Metric, mechanism: Mechanism | None, devices: int, every: int) -> Strategy:
    from hubbub.definitions.worth import margin  # which imports this package

    windows, reports = min(WINDOWS, len(metric.life)), -(-len(metric.life) // every)
    if mechanism is None:
        return Strategy(key, label, every, reports, None, None, None, None, None, None, windows)
    report, steady, change, life = map(shown, in_order(mechanism.encoder.prices(reports), reports))
    wide, narrow = margin(mechanism, devices / every), _margin(mechanism, devices, windows, every)
    return Strategy(key, label, every, reports, report, steady, change, life, wide, narrow, windows)


def compared(metric: Metric) -> list[str]:
    """Sentences of less than 200 characters on what the same precision would cost otherwise, if any."""
    found = {line.key: line for line in strategies(metric)}
    if not found:
        return []
    names = {
        "own": "as here",
        "fresh": "fresh noise",
        "memo": "permanent answers",
        "panel": f"a panel of {PANEL}",
        "rotation": f"turns of {GROUP} metrics",
    }
    windows = found["own"].windows
    same = "For the same error of " + (
        f"a mean of {windows} {metric.window}s" if windows > 1 else f"one {metric.window}"
    )
    lines = []
    for what, key in (("any two histories cost at most", "life"), ("a device that never changes pays", "steady")):
        costs = ", ".join(f"{names[name]} {_cost(line, key)}" for name, line in found.items())
        lines.append(f"{same}, {what}: {costs}.")
    return lines


def _cost(line: Strategy, key: str) -> str:
    price = getattr(line, key)
    if line.epsilon is None or price is None:
        return "out of reach" if line.epsilon is None else "no bound"
    return nats(price) if price < 10 else f"{math.ceil(price * 10) / 10:.1f}" if price < 1000 else f"{math.ceil(price)}"
