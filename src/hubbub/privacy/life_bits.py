"""The exact whole-life price of a permanent bit for each position and state that each report flips: short lives only.

A value sets one of the positions, or none; each report of a position is a flip of the permanent bit of its state. With
L = ln((1 - g) / g) at a chance g of a flip, and d the ones less the zeros that were sent of a bit that is 1 with chance
p, the chance of these is p e^(d L/2) + (1 - p) e^(-d L/2), up to a factor that all histories share.

What two histories lose at a position hangs on nothing but how often both, only one and only the other set it, and on
what was sent then; so the worst reports are found for each position by itself. How often positions are set is all that
ties them together: a dynamic programme goes over them one by one. Proof in spec/prices.md.
"""

import math
from functools import lru_cache
from itertools import product

import numpy as np
from numpy.typing import NDArray

from hubbub.encoders.base import SCALE
from hubbub.encoders.d_bit_flip import DBitFlip
from hubbub.encoders.unary import Unary

MOST = 12  # reports: beyond them there are too many ways to set the positions

Times = tuple[int, int, int]  # that both histories set a position, only the first, only the other


def bits_life(encoder: Unary | DBitFlip, windows: int) -> float:
    """Most that any two histories lose, in nats; of more than `MOST` reports the closed bound, which is no less.

    Cost: of the order of windows**8 steps, about a second at `MOST`.
    """
    if not windows:
        return 0.0
    if not encoder.flip:
        return encoder.prices(1).steady if windows == 1 else math.inf
    if windows > MOST:
        return encoder.prices(windows).life
    if isinstance(encoder, Unary):
        positions, own, unset = encoder.size, encoder.own, False
    else:
        positions, own, unset = encoder.d, SCALE - encoder.lie, encoder.d < encoder.size
    return _life(min(positions, 2 * windows), unset, encoder.lie, own, encoder.flip, windows)


@lru_cache(maxsize=64)
def _life(positions: int, unset: bool, lie: int, own: int, flip: int, windows: int) -> float:
    losses = _losses(lie, own, flip, windows)
    worst = 0.0
    for apart in range(1, windows + 1):  # reports in which the histories set different positions
        kinds = {times: loss for times, loss in losses.items() if _fits(times, windows - apart, apart)}
        best = np.full((windows - apart + 1, apart + 1, apart + 1), -np.inf)
        best[0, 0, 0] = 0.0
        for _ in range(positions):
            best = _one_more(best, kinds)
        if unset:
            best = _one_more(best, dict.fromkeys(kinds, 0.0))
        worst = max(worst, float(best[-1, -1, -1]))
    return worst


def _fits(times: Times, together: int, apart: int) -> bool:
    """Whether a position can be set so often: where one history sets it and the other does not, that sets another."""
    both, first, other = times
    return both <= together and first + other <= apart


def _one_more(best: NDArray[np.float64], kinds: dict[Times, float]) -> NDArray[np.float64]:
    """Most that so many positions lose that are set so often in all, and one more."""
    found = best.copy()  # one that neither history sets loses nothing
    for (both, first, other), loss in kinds.items():
        rest = best[: best.shape[0] - both, : best.shape[1] - first, : best.shape[2] - other] + loss
        np.maximum(found[both:, first:, other:], rest, out=found[both:, first:, other:])
    return found


def _losses(lie: int, own: int, flip: int, windows: int) -> dict[Times, float]:
    """What the worst reports of one position lose, by how often the histories set it."""
    half = math.log((SCALE - flip) / flip) / 2
    steps = np.arange(-windows, windows + 1) * half
    unset, is_set = (np.logaddexp(math.log(p / SCALE) + steps, math.log1p(-p / SCALE) - steps) for p in (lie, own))
    found = {}
    for both, first, other in product(range(windows + 1), repeat=3):
        neither = windows - both - first - other
        if neither < 0:
            continue
        a, b, c, e = np.ix_(
            *(
                np.arange(-n, n + 1, 2) + shift
                for n, shift in zip((both, first, other, neither), (windows, 0, 0, windows), strict=True)
            )
        )
        found[both, first, other] = float((is_set[a + b] + unset[e + c] - is_set[a + c] - unset[e + b]).max())
    return found
