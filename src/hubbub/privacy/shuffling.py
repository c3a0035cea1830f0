"""What one shuffled report gives away: only where somebody else mixes the reports of many devices before they arrive.

It holds if the shuffler is trusted not to collude, takes one report of each of n honest devices of one segment and
window, removes addresses and times, and hands them on in random order; and if every report is drawn afresh. Reports
of permanent answers are the same bit again: nothing here is said of them. hubbub has no shuffler, so there is a figure
only for a metric whose registry declares one (`shuffler`), and no price and no table rests on it.

With e0 = e^epsilon, C ~ Bin(n - 1, c), A ~ Bin(C, 1/2) and one coin of chance e0 / (e0 + 1), a shuffled report of any
mechanism with that epsilon tells no more than which of (A + 1, C - A) and (A, C - A + 1) was seen:

    fmt21   c = e^-epsilon         any mechanism      Feldman, McMillan, Talwar, FOCS 2021 (arXiv 2012.12803)
    fmt23   c = 2 / (e0 + 1)       one bit alone      the same, SODA 2023 (arXiv 2208.04591, with its erratum)
    exact   the number of ones     one bit alone      hubbub's own: the worst crowd of the n - 1 others is searched

All are computed here; dp-accounting has none of them. All are rounded up.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from hubbub.encoders.base import Encoder, check, up
from hubbub.encoders.one_bit_mean import OneBitMean
from hubbub.encoders.randomized_response import RandomizedResponse
from hubbub.errors import ParameterError
from hubbub.lock import Metric
from hubbub.privacy.words import nats

MAX_DEVICES = 10**12
MAX_EXACT = 1000  # devices up to which every crowd of others is tried
MAX_EPSILON = 32
LEAST_DELTA = 1e-12  # below it sums of chances are no longer precise enough
_COUNTED = 10**7  # devices beyond these change little and are not counted, which is an upper bound
_SLACK = 1e-9  # relative error of the sums of chances, far above what they have
_CUT = 1e-6  # share of delta that is set aside for numbers of mixed reports that are not looked at
_NONE = 1e-300


@dataclass(frozen=True)
class Amplified:
    """What shuffling makes of a metric's report.

    Attributes:
        shuffler: Who shuffles, as the metric declares it.
        devices: Honest devices whose reports are mixed, in one window and segment.
        delta: Chance beside epsilon.
        epsilon: Loss of one shuffled report, nats; at most the price of one report.
        method: Which bound: `exact`, `fmt23`, `fmt21`, or `report` where shuffling gains nothing.
        reports: Reports of a device in the metric's life.
        life: Loss of all of them, `reports` times epsilon, at `life_delta`.
        life_delta: `reports` times delta.
    """

    shuffler: str
    devices: int
    delta: float
    epsilon: float
    method: str
    reports: int
    life: float
    life_delta: float

    def sentences(self, metric: Metric) -> list[str]:
        """What it rests on and what it gives, in sentences of less than 200 characters."""
        window, chance = metric.window, "save for a chance of"
        every = "The only one" if self.reports == 1 else f"All {self.reports}"
        return [
            f"Only if {self.shuffler} mixes the reports of {self.devices} honest devices of each {window} and segment.",
            "Addresses, times and order must be taken away. Nobody who reads the reports may work with the one who "
            "mixes, and devices that others control hide nobody. hubbub checks none of this.",
            f"One report: epsilon {nats(self.epsilon)} in place of {nats(metric.prices.report)}, {chance} "
            f"{self.delta:g}; bound: {self.method}.",
            f"{every} of a life: epsilon {nats(self.life)}, {chance} {self.life_delta:g}. Devices reckon with the "
            "prices above.",
        ]


def amplified(metric: Metric, devices: int, delta: float) -> Amplified:
    """What one report, and all, give away if its shuffler mixes the reports of so many devices of a segment and window.

    Raises:
        ParameterError: The metric declares no shuffler, permanent answers or permanent fields in the clear, devices
            outside [2, 10^12], or delta outside [1e-12, 1).
    """
    if not metric.shuffler:
        raise ParameterError("metric", metric.name, "one that declares a shuffler")
    if metric.encoder.memo:
        raise ParameterError("metric", metric.name, "one with fresh noise: permanent answers come again, mixed or not")
    if metric.encoder.public_bits:
        raise ParameterError("metric", metric.name, "one without permanent fields in the clear, which link reports")
    _asked(1.0, devices, delta)
    report = metric.prices.report
    epsilon, method = min((bound(devices, delta), name) for name, bound in _bounds(metric.encoder, devices).items())
    if epsilon >= report:
        epsilon, method = report, "report"
    life = min(up(metric.reports * epsilon), metric.prices.life)
    chance = min(1.0, metric.reports * delta)
    return Amplified(metric.shuffler, devices, delta, epsilon, method, metric.reports, life, chance)


def _bounds(encoder: Encoder, devices: int) -> dict[str, Callable[[int, float], float]]:
    bit = one_bit(encoder)
    if bit is None:
        loss = encoder.prices(1).report
        return {"fmt21": lambda n, delta: fmt21(loss, n, delta)}
    if devices <= MAX_EXACT:
        return {"exact": lambda n, delta: exact(bit, n, delta)}
    return {"fmt23": lambda n, delta: fmt23(bit, n, delta)}


def one_bit(encoder: Encoder) -> float | None:
    """Loss of the randomised response behind a fresh one-bit report, whose value may be rounded first; else None."""
    if not encoder.memo and isinstance(encoder, RandomizedResponse | OneBitMean):
        return up(RandomizedResponse(encoder.low, 0, 0).prices(1).report)
    return None


def fmt21(epsilon: float, devices: int, delta: float) -> float:
    """Epsilon of a shuffled report of any mechanism, computed from the law above.

    Raises:
        ParameterError: epsilon outside (0, 32], devices outside [2, 10^12], or delta outside [1e-12, 1); as for all.
    """
    _asked(epsilon, devices, delta)
    return _mixed(epsilon, devices, delta, math.exp(-epsilon))


def fmt23(epsilon: float, devices: int, delta: float) -> float:
    """The same of one bit by randomised response, or that is rounded at random first; not of other mechanisms.

    The erratum of the source: its lemma 3.5 fails for chances below 1 / (e0 + 1), so it holds for a restricted class.
    """
    _asked(epsilon, devices, delta)
    return _mixed(epsilon, devices, delta, 2 / (math.exp(epsilon) + 1))


def fmt21_closed(epsilon: float, devices: int, delta: float) -> float:
    """A formula above `fmt21`, where epsilon <= ln(devices / (16 ln(2 / delta))).

    Raises:
        ParameterError: A larger epsilon.
    """
    _asked(epsilon, devices, delta)
    most = math.log(devices / (16 * math.log(2 / delta)))
    if epsilon > most:
        raise ParameterError("epsilon", epsilon, f"at most {most:.3g} for so many devices")
    e0 = math.exp(epsilon)
    spread = 8 * math.sqrt(e0 * math.log(4 / delta) / devices) + 8 * e0 / devices
    return up(math.log1p((e0 - 1) / (e0 + 1) * spread))


def fmt23_closed(epsilon: float, devices: int, delta: float) -> float:
    """A formula above `fmt23`."""
    _asked(epsilon, devices, delta)
    e0 = math.exp(epsilon)
    spread = 4 * math.sqrt(2 * math.log(4 / delta) / ((e0 + 1) * devices)) + 4 / devices
    return up(math.log1p((e0 - 1) * spread))


def exact(epsilon: float, devices: int, delta: float) -> float:
    """Epsilon of a shuffled yes or no by randomised response: the worst over all numbers of others that say yes.

    Raises:
        ParameterError: More than 1 000 devices.
    """
    _asked(epsilon, devices, delta)
    check("devices", devices, 2, MAX_EXACT)
    return max(of_others(epsilon, devices, delta, yes) for yes in range(devices))


def of_others(epsilon: float, devices: int, delta: float, yes: int) -> float:
    """The same where so many of the others say yes: how likely t ones or more are if the device says yes, and if no."""
    import numpy as np
    from scipy.stats import binom

    _asked(epsilon, devices, delta)
    check("yes", yes, 0, devices - 1)
    p = 1 / (1 + math.exp(-epsilon))
    others = np.convolve(binom.pmf(range(yes + 1), yes, p), binom.pmf(range(devices - yes), devices - 1 - yes, 1 - p))
    others = np.concatenate(([0.0], others, [0.0]))
    says = np.cumsum((p * others[:-1] + (1 - p) * others[1:])[::-1])
    denies = np.cumsum(((1 - p) * others[:-1] + p * others[1:])[::-1])
    counted = says > delta
    worst = np.log((says[counted] - delta * (1 - _SLACK)) / denies[counted]).max(initial=0.0)
    return min(epsilon, up(float(worst) * (1 + _SLACK) + 1e-12))


def _mixed(epsilon: float, devices: int, delta: float, chance: float) -> float:
    """The least g whose hockey-stick divergence is at most delta."""
    import numpy as np
    from scipy.optimize import brentq
    from scipy.stats import binom

    others, cut = min(devices, _COUNTED) - 1, delta * _CUT
    first, last = binom.ppf(cut / 2, others, chance), others - binom.ppf(cut / 2, others, 1 - chance)
    c = np.arange(max(0.0, first - 1), last + 2)
    weights, left = binom.pmf(c, others, chance), delta * (1 - _SLACK) - cut
    if _divergence(0.0, epsilon, c, weights) <= left:
        return 0.0

    def above(g: float) -> float:
        return math.log(max(_divergence(g, epsilon, c, weights), _NONE) / left)

    return up(float(brentq(above, 0.0, epsilon, xtol=1e-14, rtol=1e-12)) * (1 + _SLACK))


def _divergence(g: float, epsilon: float, c: Any, weights: Any) -> float:
    """Hockey-stick divergence at e^g of what is seen with the device's coin one way and the other."""
    import numpy as np
    from scipy.stats import binom

    x, a = math.exp(g), 1 / (1 + math.exp(-epsilon))
    if x * (1 - a) >= a:
        return 0.0
    odds = (x * a - (1 - a)) / (a - x * (1 - a))
    least = np.floor(odds * (c + 1) / (1 + odds))
    two = binom.sf(least, c, 0.5)
    one = two + binom.pmf(least, c, 0.5)
    return float(weights @ (a * one + (1 - a) * two - x * ((1 - a) * one + a * two)))


def _asked(epsilon: float, devices: int, delta: float) -> None:
    if not 0 < epsilon <= MAX_EPSILON:
        raise ParameterError("epsilon", epsilon, f"in (0, {MAX_EPSILON}]")
    check("devices", devices, 2, MAX_DEVICES)
    if not LEAST_DELTA <= delta < 1:
        raise ParameterError("delta", delta, f"in [{LEAST_DELTA}, 1)")
