"""Which mechanism for a question: the one of least variance among those that fit its domain and its limits.

If that one sends a long message, another one of hardly more variance wins that sends half of it or less. Two and a half
per cent of variance make an interval wider by little more than one, and what they save is most of a message, of a
device's time and of a collector's room: at 1 024 categories 2 bytes in place of 128 (docs/decisions/0013).

Means are held against each other by their largest variance over all values, since nobody knows beforehand where the
values lie. Shares of categories are held against each other by the mean of their variances where all categories are
equally common, words by the variance for one that nobody has, vectors by the largest variance of a coordinate. All are
per report and in the metric's unit squared.
Every registered mechanism of the kind is asked.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hubbub import mechanisms
from hubbub.encoders.base import Encoder
from hubbub.encoders.vector import of_vectors
from hubbub.errors import ParameterError
from hubbub.mechanisms.base import Mechanism, asked
from hubbub.mechanisms.words import Words

_Fit = tuple[float, int, Mechanism]  # variance, bits of a message
KINDS = ("boolean", "mean", "choice", "histogram", "words", "vector")
PLACES = 4097  # values at which a variance is looked at, the ends and the middle among them
NEAR = 1.025  # of the least variance: up to here a message of half the bytes or less wins over a long one
LONG = 12  # bytes of a message; longer ones take a device more time than it has
ALIKE = 1e-9  # variances that differ by less are the same


@dataclass(frozen=True)
class Considered:
    """One mechanism that was looked at.

    Attributes:
        name: Of the mechanism.
        variance: What it is judged by; None where the domain or the losses are not for it.
        rejected: Why it was not chosen; empty for the one that was.
    """

    name: str
    variance: float | None
    rejected: str


@dataclass(frozen=True)
class Choice:
    """The mechanism, and every one that was looked at: the chosen one first, then by variance."""

    mechanism: Mechanism
    considered: tuple[Considered, ...]


def choose(
    kind: str,
    epsilon: float,
    *,
    permanent_epsilon: float | None = None,
    max_bits: int | None = None,
    max_change: float | None = None,
    max_life: float | None = None,
    windows: int = 1,
    among: Mapping[str, type[Mechanism]] | None = None,
    **domain: Any,
) -> Choice:
    """The mechanism of least variance, or one of hardly more if that sends a long message; its losses exceed nothing.

    Args:
        kind: Of the metric: boolean, mean, choice, histogram, words or vector.
        epsilon: Loss of one report, nats.
        permanent_epsilon: Loss of a device that never changes, nats; None: everything is drawn afresh.
        max_bits: Longest message, bits.
        max_change: Highest price of one changed window, nats.
        max_life: Highest price of a whole life, nats.
        windows: Reports in a life.
        among: Mechanisms to choose from, all that are registered by default.
        domain: Keys of the kind, such as lower and upper, categories, or dimension.

    Raises:
        ParameterError: An unknown kind, losses out of range, or no mechanism that fits; the message says why none does.
    """
    if kind not in KINDS:
        raise ParameterError("kind", kind, f"one of {', '.join(KINDS)}")
    asked(epsilon, permanent_epsilon)
    candidates = {k: cls for k, cls in (mechanisms.registry if among is None else among).items() if kind in cls.kinds}
    fits: list[_Fit] = []
    rejected: list[Considered] = []
    for name, cls in candidates.items():
        try:
            mechanism = cls.from_epsilon(epsilon, permanent_epsilon=permanent_epsilon, **domain)
        except ParameterError as error:
            if len(candidates) == 1:
                raise
            rejected.append(Considered(name, None, str(error)))
            continue
        variance = judged_by(mechanism, kind)
        excess = _excess(mechanism.encoder, max_bits, max_change, max_life, windows)
        if excess:
            rejected.append(Considered(name, variance, excess))
        else:
            fits.append((variance, message_bits(mechanism.encoder), mechanism))
    if not fits:
        reasons = "; ".join(f"{one.name}: {one.rejected}" for one in rejected) or "none is registered"
        raise ParameterError("kind", kind, f"one that some mechanism fits within the limits ({reasons})")
    chosen = _best(fits)
    fits.sort(key=lambda fit: fit[0])
    losers = [Considered(fit[2].name, fit[0], _behind(fit, chosen)) for fit in fits if fit is not chosen]
    best = Considered(chosen[2].name, chosen[0], "")
    return Choice(
        chosen[2], (best, *losers, *sorted(rejected, key=lambda one: (one.variance is None, one.variance or 0)))
    )


def _best(fits: Sequence[_Fit]) -> _Fit:
    best = _least(fits)
    if _bytes(best) <= LONG:
        return best
    short = [fit for fit in fits if fit[0] <= best[0] * NEAR and 2 * _bytes(fit) <= _bytes(best)]
    size = min(map(_bytes, short), default=0)
    return _least([fit for fit in short if _bytes(fit) == size]) if short else best


def _least(fits: Sequence[_Fit]) -> _Fit:
    """The one of least variance; of the same the one of fewest bits, then the earlier registered."""
    least = min(variance for variance, _, _ in fits)
    return min((fit for fit in fits if fit[0] <= least * (1 + ALIKE)), key=lambda fit: fit[1])


def _bytes(fit: _Fit) -> int:
    return -(-fit[1] // 8)


def judged_by(mechanism: Mechanism, kind: str) -> float:
    """Variance of one report that mechanisms of this kind are held against each other by."""
    size = mechanism.encoder.size
    if kind in ("choice", "histogram"):
        return float(np.mean(mechanism.variance(np.full(size, 1 / size), 1)))
    if isinstance(mechanism, Words):
        return mechanism.null_se(1) ** 2
    low, high = mechanism.bounds
    ticks = of_vectors(mechanism.encoder).ticks if kind == "vector" else size - 1
    values = np.unique(np.linspace(0, ticks, min(ticks + 1, PLACES)).astype(np.int64))
    return float(np.max(mechanism.variance(low + (high - low) * values / ticks, 1)))


def message_bits(encoder: Encoder) -> int:
    """Bits of one payload, before it is padded to whole bytes."""
    return sum((radix - 1).bit_length() for radix in encoder.radices)


def _excess(
    encoder: Encoder, max_bits: int | None, max_change: float | None, max_life: float | None, windows: int
) -> str:
    """Which limit it exceeds, and by what; empty if none."""
    prices = encoder.prices(windows)
    found = (
        ("message", message_bits(encoder), max_bits, "bits"),
        ("price of a change", prices.change, max_change, "nats"),
        (f"price of a life of {windows} reports", prices.life, max_life, "nats"),
    )
    return "; ".join(
        f"{what} of {value:.6g} {unit}, at most {most:.6g} {unit}"
        for what, value, most, unit in found
        if most is not None and value > most
    )


def _behind(fit: _Fit, chosen: _Fit) -> str:
    """Why it was not chosen."""
    times, bits = fit[0] / chosen[0], f"{fit[1]} bits a message"
    if abs(times - 1) <= ALIKE:
        return f"the same variance, {bits}"
    if times < 1:
        return f"variance only {100 * (1 - times):.2g} % less, {bits} instead of {chosen[1]}"
    shown = f"{times:.4g}"
    return "hardly more variance" if shown == "1" else f"variance {shown} times that of the chosen one"
