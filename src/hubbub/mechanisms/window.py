"""Mechanisms that answer levels by a window of outputs: what an output stands for, and which window is the best.

An output inside the window has the chance p, one outside q. With d = p - q, the mean output at level l is m0 + g l,
where g = d width shift; so output y stands for the level (y - m0) / g. The mean square of that is A l² + B l + C with
A = 1 / (d width) > 1, and the variance at l, (A - 1) l² + B l + C, is the largest at the two ends.
"""

from functools import lru_cache
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from hubbub.encoders.base import SCALE, check
from hubbub.encoders.levels import MAX_OUTPUTS, Window
from hubbub.errors import ParameterError
from hubbub.mechanisms.base import Reports, WordSource, below, held
from hubbub.mechanisms.estimate import Ints, Reals
from hubbub.mechanisms.oracle import lies
from hubbub.mechanisms.outputs import Channel, Levelled, Outputs

FINE = 256  # outputs beyond which levels are not cut finer than the grid
NEAR = 1e-3  # a window with fewer outputs is taken if its variance is within this of the least


class Windowed(Levelled, Protocol):
    """An encoder that answers levels by one window."""

    @property
    def window(self) -> Window:
        """The answers to each level."""
        ...


class Windows(Outputs):
    """A mechanism whose reports are outputs of one window."""

    encoder: Windowed

    @property
    def channel(self) -> Channel:
        """Its levels and outputs."""
        return channel_of(self.encoder.window)

    def randomise(self, values: Ints, source: WordSource) -> Reports:
        """(n,) -> (n, 1); a word for the level unless each tick is one, then stays, inside (if wider than 1), outside.

        Raises:
            PrivateValueError: Values outside [0, size); named by position only.
        """
        e, window = self.encoder, self.encoder.window
        held(values, e.size)
        rounds, wide = int(e.top < e.ticks), int(window.width > 1)
        words = source.words(len(values) * (2 + rounds + wide)).reshape(len(values), 2 + rounds + wide)
        at = self.levels(values, words[:, 0], source) if rounds else values
        stays = words[:, rounds] < window.keep
        inside = below(window.width, words[:, rounds + 1], source) if wide else 0
        outside = below(window.others, words[:, -1], source)
        return pick(window, at, stays, inside, outside)[:, None]


def pick(window: Window, at: Ints, stays: NDArray[np.bool_], inside: Ints | int, outside: Ints) -> Reports:
    """(n,) the outputs: see `Window.pick`."""
    start = window.shift * at
    outside += window.width * (outside >= start)
    return np.where(stays, start + inside, outside).astype(np.min_scalar_type(window.outputs - 1))


@lru_cache(maxsize=32)
def channel_of(window: Window) -> Channel:
    """Chances, and what each output stands for."""
    p, q = window.chances()
    outputs, width = window.outputs, window.width
    start = window.shift * np.arange(window.top + 1)[:, None]
    place = np.arange(outputs)
    inside = (place >= start) & (place < start + width)
    gain = (p - q) * width * window.shift
    zero = q * (outputs * (outputs - 1) // 2) + (p - q) * (width * (width - 1) // 2)
    return Channel(np.where(inside, float(p), float(q)), np.array([float((y - zero) / gain) for y in range(outputs)]))


def keep_of(epsilon: float, others: int, width: int) -> int:
    """Words that lead into the window, for a loss of at most epsilon."""
    return SCALE - lies(epsilon, others, width)


class Squares(NamedTuple):
    """Mean square of a report, A l² + B l + C at level l; arrays over candidates."""

    A: Reals
    B: Reals
    C: Reals

    def worst(self, top: Reals, rounds: NDArray[np.bool_]) -> Reals:
        """Largest variance as a share of the squared range, where A >= 1; `rounds`: values lie between levels too.

        Between the levels 0 and 1, at l, the mean square is C + l (A + B); no other two levels have more variance.
        """
        between = np.clip((self.A + self.B) / 2, 0, 1) * rounds
        return np.asarray((self.C + between * (self.A + self.B) - between**2) / top**2)


class Candidates(NamedTuple):
    """Windows to choose from, arrays of one length."""

    top: Reals
    shift: Reals
    width: Reals

    def squares(self, epsilon: float) -> Squares:
        """Of each of them, for real-valued chances of this loss."""
        top, shift, width = self
        others = shift * top
        outputs = others + width
        q = 1 / (width * np.exp(epsilon) + others)
        d = q * np.expm1(epsilon)
        gain = d * width * shift
        zero = q * outputs * (outputs - 1) / 2 + d * width * (width - 1) / 2
        C = (q * _sum_of_squares(-zero, outputs) + d * _sum_of_squares(-zero, width)) / gain**2
        A = 1 / (d * width)
        return Squares(A, (1 - A) * top, C)

    def best(self, variance: Reals) -> int:
        """Position of the one with the fewest outputs among those of almost the least variance."""
        near = variance <= variance.min() * (1 + NEAR)
        order = np.lexsort((self.width, variance, self.shift * self.top + self.width))
        return int(order[near[order]][0])

    def window(self, place: int, epsilon: float) -> Window:
        """The one at this position, as integers."""
        top, shift, width = (int(column[place]) for column in self)
        return Window(top, shift, width, keep_of(epsilon, shift * top, width))


def candidates(ticks: int, outputs: int, width: int | None) -> Candidates:
    """Windows of at most so many outputs, none wider than half of them, each with as many levels as fit the ticks.

    Raises:
        ParameterError: No outputs to choose from, or none of this width.
    """
    check("outputs", outputs, 2, MAX_OUTPUTS)
    if width is not None:
        check("width", width, 1, outputs // 2)
    shift, wide = (a.ravel() for a in np.mgrid[1 : max(1, (min(outputs, FINE) - 1) // ticks) + 1, 1 : outputs // 2 + 1])
    top = np.minimum(ticks, (outputs - wide) // shift)
    fits = (wide <= shift * top) & ((shift == 1) | (top == ticks)) & (wide == (width or wide))
    found = Candidates(*(np.asarray(column[fits], float) for column in (top, shift, wide)))
    if not fits.any():
        raise ParameterError("width", width, f"at most half of the outputs that {ticks + 1} grid points have")
    return found


def _sum_of_squares(start: Reals, count: Reals) -> Reals:
    """Of `count` numbers start, start + 1, ..."""
    return count * start**2 + start * count * (count - 1) + count * (count - 1) * (2 * count - 1) / 6
