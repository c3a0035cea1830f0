"""The exact whole-life price of a permanent bit for each position and state, sent with fresh noise: short lives only.

A value sets one of the positions, or none. With o and z the chances that a report sends 1 for a permanent 1 and for a
permanent 0, n reports of a permanent bit that is 1 with chance p send given bits, i ones among them, with the chance

    p o^i (1 - o)^(n - i) + (1 - p) z^i (1 - z)^(n - i).

What two histories lose at a position hangs on nothing but how often both, only one and only the other set it, and on
what was sent then; so the worst reports are found for each position by itself. How often positions are set is all that
ties them together: a dynamic programme goes over them one by one. A Bloom filter has several segments with such
positions each, and what is worst in one of them is so in all at once. Proof in spec/prices.md.
"""

import math
from functools import lru_cache
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hubbub.encoders.base import SCALE
from hubbub.encoders.d_bit_flip import DBitFlip
from hubbub.encoders.rappor import Rappor
from hubbub.encoders.unary import Unary

MOST = 12  # reports: beyond them there are too many ways to set the positions

Times = tuple[int, int, int]  # that both histories set a position, only the first, only the other


class _Bits(NamedTuple):
    """Positions of which a value sets one; chances are out of SCALE."""

    positions: int
    unset: bool  # whether there are values that set none
    lie: int  # of a permanent 1 for a position that is not set
    own: int  # of a permanent 1 for one that is
    zero: int  # that a report sends 1 for a permanent 0
    one: int  # that a report sends 1 for a permanent 1


def bits_life(encoder: Unary | DBitFlip | Rappor, windows: int) -> float:
    """Most that any two histories lose, in nats; of more than `MOST` reports the closed bound, which is no less.

    Cost: of the order of windows**8 steps, about a second at `MOST`.
    """
    if not windows:
        return 0.0
    segments, bits = _segments(encoder)
    if not bits.zero and bits.one == SCALE:
        return encoder.prices(1).steady if windows == 1 else math.inf
    if windows > MOST:
        return encoder.prices(windows).life
    return segments * _life(bits._replace(positions=min(bits.positions, 2 * windows)), windows)


def _segments(encoder: Unary | DBitFlip | Rappor) -> tuple[int, _Bits]:
    """How many rows of positions there are of which a value sets one each, and one of them."""
    if isinstance(encoder, Rappor):
        width, own = encoder.bits // encoder.hashes, SCALE - encoder.low
        return encoder.hashes, _Bits(width, True, encoder.low, own, encoder.zero, encoder.one)
    flip, kept = encoder.flip, SCALE - encoder.flip
    if isinstance(encoder, Unary):
        return 1, _Bits(encoder.size, False, encoder.lie, encoder.own, flip, kept)
    return 1, _Bits(encoder.d, encoder.d < encoder.size, encoder.lie, SCALE - encoder.lie, flip, kept)


@lru_cache(maxsize=64)
def _life(bits: _Bits, windows: int) -> float:
    losses = _losses(bits, windows)
    worst = 0.0
    for apart in range(1, windows + 1):  # reports in which the histories set different positions
        kinds = {times: loss for times, loss in losses.items() if _fits(times, windows - apart, apart)}
        best = np.full((windows - apart + 1, apart + 1, apart + 1), -np.inf)
        best[0, 0, 0] = 0.0
        for _ in range(bits.positions):
            best = _one_more(best, kinds)
        if bits.unset:
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


def _losses(bits: _Bits, windows: int) -> dict[Times, float]:
    """What the worst reports of one position lose, by how often the histories set it."""
    is_set, unset = _logs(bits, bits.own, windows), _logs(bits, bits.lie, windows)
    found = {}
    for both, first, other in product(range(windows + 1), repeat=3):
        neither = windows - both - first - other
        if neither < 0:
            continue
        a, b, c, e = np.ix_(*(np.arange(n + 1) for n in (both, first, other, neither)))  # ones that were sent
        mine = is_set[both + first][a + b] + unset[neither + other][e + c]
        found[both, first, other] = float((mine - is_set[both + other][a + c] - unset[neither + first][e + b]).max())
    return found


def _logs(bits: _Bits, kept: int, windows: int) -> list[NDArray[np.float64]]:
    """For n = 0 to `windows` reports of one permanent bit: (n + 1,) log of the chance of given bits, by their ones."""

    def sent(chance: int, share: int) -> list[NDArray[np.float64]]:
        ones, zeros = _powers(chance, windows), _powers(SCALE - chance, windows)
        return [math.log(share / SCALE) + ones[: n + 1] + zeros[n::-1] for n in range(windows + 1)]

    either = zip(sent(bits.one, kept), sent(bits.zero, SCALE - kept), strict=True)
    return [np.asarray(np.logaddexp(by_one, by_zero)) for by_one, by_zero in either]


def _powers(chance: int, most: int) -> NDArray[np.float64]:
    """(most + 1,) log of this chance to the power of 0, 1, 2, ..."""
    log = math.log(chance / SCALE) if chance else -math.inf
    return np.concatenate(([0.0], log * np.arange(1, most + 1)))
