"""The exact whole-life price of permanent answers that each report flips: its worst pair of histories, by convexity.

Reports depend on the value through the entries that it visits. With p_k the chance that entry k is a 1, g that of a
flip, L = ln((1 - g) / g), and d_k the ones less the zeros that were sent from entry k, the logarithm of the chance of T
reports is, up to a term that all histories share, the sum over k of

    G_k(d_k),   G_k(d) = ln(p_k e^(d L/2) + (1 - p_k) e^(-d L/2)),   convex in d, G_k(0) = 0, G_k(d) = G_{K-k}(-d).

The history that makes n1 ones and n0 zeros likeliest sends all ones from entry K and all zeros from entry 0: that gives
G_K(n1) + G_K(n0). The one that makes them least likely takes the smallest increments first, because each G_k is convex.
Choices among more than two answers are gone through in shared_out.py, bits of positions in life_bits.py, where the life
is short enough.
Source: hubbub's own derivation; proof in spec/prices.md.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hubbub.encoders.base import SCALE, Encoder, check
from hubbub.encoders.choices import stays
from hubbub.encoders.d_bit_flip import DBitFlip
from hubbub.encoders.grr import Grr
from hubbub.encoders.olh_pool import OlhPool
from hubbub.encoders.one_bit_mean import OneBitMean
from hubbub.encoders.randomized_response import RandomizedResponse
from hubbub.encoders.rappor import Rappor
from hubbub.encoders.unary import Unary
from hubbub.privacy import shared_out
from hubbub.privacy.life_bits import MOST, bits_life

MAX_WINDOWS = 20_000  # two years of hours
_BLOCK = 1 << 20  # increments held at a time


class Life(NamedTuple):
    """Most that any two histories of a life can lose, in nats."""

    price: float
    exact: bool  # whether histories come as close to it as one likes; otherwise it is an upper bound


def exact_life(encoder: Encoder, windows: int) -> float:
    """The price of `closest_life`."""
    return closest_life(encoder, windows).price


def closest_life(encoder: Encoder, windows: int) -> Life:
    """What any two histories of `windows` reports can lose, by the least that is known: for display.

    Devices use the closed bound, which is no less. Cost: entries * windows steps (sorted in blocks) and windows² / 4
    for the worst split.

    A single report and fresh reports are exact. Permanent bits are where their bucket divides the range: elsewhere the
    last entry counts as if a value could always reach it. Choices among three answers and more are exact while there
    are few ways to share the reports out (three answers for 30 windows, five for 13, eight for 6), bits of positions
    for 12 windows. Beyond that, and for all other mechanisms, it is the closed bound.

    Raises:
        ParameterError: windows outside [0, 20 000].
    """
    check("windows", windows, 0, MAX_WINDOWS)
    if windows <= 1:
        return Life(encoder.prices(1).report if windows else 0.0, True)
    bound = encoder.prices(windows).life
    if not encoder.memo:
        return Life(bound, True)
    if isinstance(encoder, OneBitMean | RandomizedResponse):
        divides = isinstance(encoder, RandomizedResponse) or encoder.ticks % encoder.bucket == 0
        return Life(_bits(_entries(encoder), encoder.flip, windows), divides)
    found: float | None = None
    if isinstance(encoder, Grr):
        found = _choices(encoder.keep, encoder.again, encoder.size, encoder.size, windows)
    elif isinstance(encoder, OlhPool):
        found = _choices(*encoder.rounds(), encoder.g, min(encoder.g, encoder.size), windows)
    elif isinstance(encoder, Unary | DBitFlip | Rappor) and windows <= MOST:
        found = bits_life(encoder, windows)
    return Life(bound, False) if found is None else Life(min(bound, found), True)


def _choices(keep: int, again: int, answers: int, entries: int, windows: int) -> float | None:
    """Of permanent choices among so many answers; None where there are too many ways to share the reports out."""
    (p, q), (p2, q2) = stays(keep, answers), stays(again, answers)
    if answers == 2:
        return _bits(np.array([float(q), float(p)]), SCALE - again, windows)
    if not q2:
        return math.inf
    if not shared_out.feasible(answers, windows):
        return None
    return shared_out.exact(float(p), float(q), math.log(p2 / q2), answers, entries, windows)


def _bits(chances: NDArray[np.float64], flip: int, windows: int) -> float:
    """Of two reports or more of permanent bits, with these chances of a 1, rising and symmetric about one half."""
    if not flip:
        return math.inf
    steps = np.arange(windows + 1) * math.log((SCALE - flip) / flip) / 2
    likely = _tilt(chances[-1:], steps)[0]
    least = np.concatenate(([0.0], np.cumsum(_smallest(chances, steps))))
    worst = 0.0
    for ones in range(-(-windows // 2), windows + 1):  # fewer ones than zeros: the same by symmetry
        zeros = windows - ones
        unlikely = least[ones - zeros : ones + 1] + least[: zeros + 1]
        worst = max(worst, float(likely[ones] + likely[zeros] - unlikely.min()))
    return worst


def _entries(encoder: OneBitMean | RandomizedResponse) -> NDArray[np.float64]:
    """(entries,) rising chances of a 1, symmetric about one half."""
    if isinstance(encoder, RandomizedResponse):
        return np.array([encoder.low, SCALE - encoder.low]) / SCALE
    return (encoder.low + np.arange(encoder.top + 1) * encoder.rise) / SCALE


def _tilt(chances: NDArray[np.float64], steps: NDArray[np.float64]) -> NDArray[np.float64]:
    """(entries, steps): G_k at d = 0, 1, 2, ..."""
    p = chances[:, None]
    return np.asarray(np.logaddexp(np.log(p) + steps, np.log1p(-p) - steps))


def _smallest(chances: NDArray[np.float64], steps: NDArray[np.float64]) -> NDArray[np.float64]:
    """The smallest increments of all G_k at d >= 0, rising, one a report; those at d <= 0 are the same by symmetry."""
    count = len(steps) - 1
    kept = np.empty(0)
    rows = max(1, _BLOCK // count)
    for first in range(0, len(chances), rows):
        block = np.diff(_tilt(chances[first : first + rows], steps)).ravel()
        kept = np.sort(np.concatenate((kept, block)))[:count]
    return kept
