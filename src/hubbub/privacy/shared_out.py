"""The exact whole-life price of permanent choices among k answers, for short lives: every way to share reports out.

With a_b reports of answer b to come from an entry whose own answer is j, the logarithm of their chance is, up to a term
that all histories share,

    G_j(a) = ln(q sum over b of e^(L a_b) + (p - q) e^(L a_j)),   L = ln(p2 / q2),

p and q being the chances of the permanent answer. All that a history decides is how the reports are shared out among
entries. So the price is the largest difference, over all reports that can be had, between their best and their worst
shares, and both are found entry after entry. Source: hubbub's own derivation; proof in spec/prices.md.
"""

import math
from itertools import combinations

import numpy as np

from hubbub.mechanisms.estimate import Ints

MOST_NUMBERS, MOST_PAIRS, MOST_CODES = 50_000, 2_000_000, 2**62


def feasible(answers: int, windows: int) -> bool:
    """Whether `exact` takes a second or two at most: three answers for 30 windows, five for 13, eight for 6."""
    numbers = math.comb(windows + answers, answers) * answers
    pairs = math.comb(windows + 2 * answers, 2 * answers)
    return numbers <= MOST_NUMBERS and pairs <= MOST_PAIRS and (windows + 1) ** answers <= MOST_CODES


def exact(p: float, q: float, odds: float, answers: int, entries: int, windows: int) -> float:
    """Most that two histories of so many reports can lose, in nats.

    Args:
        p: Chance of a permanent answer that is the entry's own.
        q: Chance of a certain other one.
        odds: ln(p2 / q2) of the second round.
        answers: How many there are.
        entries: How many of them are own answers of an entry, which values lead to.
        windows: Reports, one at least.
    """
    shares = _shares(answers, windows)
    sizes = shares.sum(axis=1)
    others = np.logaddexp.reduce(odds * shares + math.log(q), axis=1)
    chance = np.logaddexp(others[:, None], odds * shares[:, :entries] + math.log(p - q))
    together = _together(shares, sizes, windows)
    best, worst = chance[:, 0], chance[:, 0]
    for own in range(1, entries):
        more, less = np.full(len(shares), -np.inf), np.full(len(shares), np.inf)
        for share, sums in enumerate(together):
            rest, here = slice(len(sums)), chance[share, own]
            more[sums] = np.maximum(more[sums], best[rest] + here)
            less[sums] = np.minimum(less[sums], worst[rest] + here)
        best, worst = more, less
    return float((best - worst)[sizes == windows].max())


def _shares(answers: int, windows: int) -> Ints:
    """(n, answers) reports of each answer, every way to have at most so many, fewer ones first."""
    bars = np.array(list(combinations(range(windows + answers), answers)))
    shares = np.diff(bars, prepend=-1) - 1
    return shares[np.argsort(shares.sum(axis=1), kind="stable")]


def _together(shares: Ints, sizes: Ints, windows: int) -> list[Ints]:
    """For each share: where its sum with each of the first ones stands, as many as still make `windows` with it."""
    codes = shares @ (windows + 1) ** np.arange(shares.shape[1])
    order = np.argsort(codes)
    fitting = np.searchsorted(sizes, windows - sizes, side="right")
    return [
        order[np.searchsorted(codes, codes[:many] + code, sorter=order)]
        for code, many in zip(codes, fitting, strict=True)
    ]
