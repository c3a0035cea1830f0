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

import numpy as np
from numpy.typing import NDArray

from hubbub.encoders.base import SCALE, Encoder
from hubbub.encoders.choices import stays
from hubbub.encoders.d_bit_flip import DBitFlip
from hubbub.encoders.grr import Grr
from hubbub.encoders.olh_pool import OlhPool
from hubbub.encoders.one_bit_mean import OneBitMean
from hubbub.encoders.randomized_response import RandomizedResponse
from hubbub.encoders.rappor import Rappor
from hubbub.encoders.unary import Unary
from hubbub.errors import ParameterError
from hubbub.privacy import shared_out
from hubbub.privacy.life_bits import bits_life

_BLOCK = 1 << 20  # increments held at a time


def exact_life(encoder: Encoder, windows: int) -> float:
    """Most that any two histories of `windows` reports can lose, in nats: for display; devices use the closed bound.

    Cost: entries * windows steps (sorted in blocks) and windows² / 4 for the worst split.

    Where a one-bit mean's bucket does not divide its range the last entry counts as if a value could always reach it,
    which is an upper bound, and still no more than the closed one. Choices among three answers and more are exact while
    there are few ways to share the reports out (three answers for 30 windows, five for 13, eight for 6), bits of
    positions for 12 windows. Beyond that, and for all other mechanisms, the closed bound is returned: nothing closer is
    known.

    Raises:
        ParameterError: Negative windows.
    """
    if windows < 0:
        raise ParameterError("windows", windows, ">= 0")
    if not windows:
        return 0.0
    bound = encoder.prices(windows).life
    if not encoder.memo:
        return bound
    if isinstance(encoder, OneBitMean | RandomizedResponse):
        return _bits(_entries(encoder), encoder.flip, windows)
    if isinstance(encoder, Grr):
        return min(bound, _choices(encoder.keep, encoder.again, encoder.size, encoder.size, windows))
    if isinstance(encoder, OlhPool):
        return min(bound, _choices(*encoder.rounds(), encoder.g, min(encoder.g, encoder.size), windows))
    if isinstance(encoder, Unary | DBitFlip | Rappor):
        return min(bound, bits_life(encoder, windows))
    return bound


def _choices(keep: int, again: int, answers: int, entries: int, windows: int) -> float:
    """Of permanent choices among so many answers; inf where there are too many ways to share the reports out."""
    (p, q), (p2, q2) = stays(keep, answers), stays(again, answers)
    if answers == 2:
        return _bits(np.array([float(q), float(p)]), SCALE - again, windows)
    if not q2 or not shared_out.feasible(answers, windows):
        return math.log(p / q) if windows == 1 and not q2 else math.inf
    return shared_out.exact(float(p), float(q), math.log(p2 / q2), answers, entries, windows)


def _bits(chances: NDArray[np.float64], flip: int, windows: int) -> float:
    """Of permanent bits with these chances of a 1, rising and symmetric about one half, each report flipped."""
    if not flip:
        return math.log(chances[-1] / chances[0]) if windows == 1 else math.inf
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
