"""Which mechanism for a question: the one of least variance among those that fit its domain and its limits.

Means are held against each other by their largest variance over all values, since nobody knows beforehand where the
values lie. Shares of categories are held against each other by the mean of their variances where all categories are
equally common, words by the variance for one that nobody has, vectors by the largest variance of a coordinate. All are
per report and in the metric's unit squared.
Every registered mechanism of the kind is asked.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from hubbub import mechanisms
from hubbub.encoders.base import Encoder
from hubbub.encoders.vector import of_vectors
from hubbub.errors import ParameterError
from hubbub.mechanisms.base import Mechanism, asked
from hubbub.mechanisms.words import Words

KINDS = ("boolean", "mean", "choice", "histogram", "words", "vector")
PLACES = 4097  # values at which a variance is looked at, the ends and the middle among them
ALIKE = 1e-9  # variances that differ by less are the same: the shorter message wins, then the earlier registered


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
    """The mechanism, and every one that was looked at, best first."""

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
    """The mechanism of least variance whose losses exceed nothing.

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
    fits: list[tuple[float, int, Mechanism]] = []
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
    least = min(variance for variance, _, _ in fits)
    fits.sort(key=lambda fit: (fit[0] > least * (1 + ALIKE), fit[1] if fit[0] <= least * (1 + ALIKE) else fit[0]))
    best = fits[0]
    losers = [
        Considered(mechanism.name, variance, _behind(variance, best[0], bits)) for variance, bits, mechanism in fits[1:]
    ]
    chosen = Considered(best[2].name, best[0], "")
    return Choice(
        best[2], (chosen, *losers, *sorted(rejected, key=lambda one: (one.variance is None, one.variance or 0)))
    )


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


def _behind(variance: float, least: float, bits: int) -> str:
    if variance <= least * (1 + ALIKE):
        return f"the same variance, {bits} bits a message"
    times = f"{variance / least:.4g}"
    return "hardly more variance" if times == "1" else f"variance {times} times the least"
