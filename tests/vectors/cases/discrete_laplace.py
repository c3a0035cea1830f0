"""Discrete Laplace: geometric noise by whole thresholds (spec/mechanisms/discrete_laplace.md)."""

from typing import Any

from tests.vectors.cases import MINUTES, SECRET, WORDS, Case, cases_of

SMALL = [4, 4, 3344923894]  # epsilon 1; each tick is a level
ROUND = [10, 3, 3077478546]  # epsilon 1; 4 levels for 11 ticks
WIDE = [480, 255, 4278157270]  # epsilon 1; 256 levels
TAILS = (1880437610, 1464486283, 1140543064, 888255832)  # t_1 to t_4 of SMALL
LIMIT = WORDS - WORDS % 10  # words from here on do not choose one of 10
NAME = {"encoder": "discrete_laplace"}


def cases() -> list[Case]:
    return [
        *cases_of("encoder", _ENCODERS, **NAME),
        *cases_of("answer", _ANSWERS, **NAME),
        *cases_of("permanent", _PERMANENT, **NAME),
        *cases_of("report", _REPORTS, **NAME),
        *cases_of("bulk", _BULK, **NAME),
        *cases_of("law", _LAWS, **NAME),
        *cases_of("prices", _PRICES, **NAME),
        *cases_of("estimate", _ESTIMATES, **NAME),
    ]


_ENCODERS: list[tuple[dict[str, Any], str]] = [
    ({"integers": SMALL}, "linkage by the loss"),
    ({"integers": WIDE}, "the most levels"),
    ({"integers": [WORDS - 1, 255, 4278157270]}, "the largest range"),
    ({"integers": [1, 1, 1580030172]}, "the smallest range: one threshold on either side"),
    ({"integers": [4, 2, 70000]}, "the rarest noise that words can hold"),
    ({"integers": [4, 4, WORDS - 1]}, "noise that grows no rarer: an outcome without a chance"),
    ({"integers": [4, 4, 70000]}, "noise too rare for words"),
    ({"integers": [600, 255, 3989500000]}, "cells so rare that the ends do not decide about the loss"),
    ({"integers": [4, 5, 3344923894]}, "more levels than ticks"),
    ({"integers": [400, 256, 4278157270]}, "257 levels"),
    ({"integers": [4, 4, 0]}, "no noise"),
    ({"integers": [4, 4, WORDS]}, "a ratio of 1"),
    ({"integers": [4, 0, 3344923894]}, "one level"),
    ({"integers": [4, 4]}, "an integer too few"),
]
_ANSWERS: list[tuple[dict[str, Any], str]] = [
    ({"integers": SMALL, "value": 3, "words": {}}, "a permanent level where everything is fresh"),
    ({"integers": SMALL, "value": 5, "words": {}}, "a value beyond the range, kept as it is"),
    ({"integers": SMALL, "value": -1, "words": {}}, "a negative value"),
]
_PERMANENT: list[tuple[dict[str, Any], str]] = [
    ({"integers": WIDE, "value": 125, "secret": SECRET, **MINUTES}, "fresh: nothing follows from the secret"),
]
_REPORTS: list[tuple[dict[str, Any], str]] = [
    ({"integers": SMALL, "answer": [4], "words": [TAILS[3] - 1]}, "noise of -4: one below the lowest threshold"),
    ({"integers": SMALL, "answer": [4], "words": [TAILS[3]]}, "<= for <: the lowest threshold itself is noise of -3"),
    ({"integers": SMALL, "answer": [2], "words": [0]}, "noise below the range"),
    ({"integers": SMALL, "answer": [2], "words": [WORDS - 1]}, "noise above the range"),
    ({"integers": SMALL, "answer": [2], "words": [TAILS[0] - 1]}, "noise of -1"),
    ({"integers": SMALL, "answer": [2], "words": [TAILS[0]]}, "no noise: the least word"),
    ({"integers": SMALL, "answer": [2], "words": [WORDS - TAILS[0] - 1]}, "no noise: the largest word"),
    ({"integers": SMALL, "answer": [2], "words": [WORDS - TAILS[0]]}, "noise of 1"),
    ({"integers": SMALL, "answer": [0], "words": [WORDS - TAILS[3] - 1]}, "noise of 3"),
    ({"integers": SMALL, "answer": [0], "words": [WORDS - TAILS[3]]}, "noise of 4"),
    ({"integers": ROUND, "answer": [5], "words": [4, WORDS // 2]}, "5 of 10 on 3: level 1 as 19 / 10 rounds down"),
    ({"integers": ROUND, "answer": [5], "words": [5, WORDS // 2]}, "level 2: 20 / 10"),
    ({"integers": ROUND, "answer": [5], "words": [LIMIT, 5, WORDS // 2]}, "a refused word for the level"),
    (
        {"integers": WIDE, "answer": [480], "words": [479, 10**9]},
        "tails that are rounded at each step without more bits",
    ),
    ({"integers": WIDE, "answer": [0], "words": [0, 3 * 10**9]}, "the same above"),
]
_BULK: list[tuple[dict[str, Any], str]] = [
    ({"integers": SMALL, "values": [0, 4], "words": [WORDS - TAILS[1], TAILS[2]]}, "one word each"),
    (
        {"integers": ROUND, "values": [5, 5], "words": [LIMIT, WORDS // 2, WORDS - 1, 0, 5, LIMIT, 4]},
        "refused words drawn again at once and not after the block",
    ),
    ({"integers": SMALL, "values": [], "words": []}, "no devices"),
]
_LAWS: list[tuple[dict[str, Any], str]] = [
    ({"integers": SMALL, "value": 0}, "the lower end: half of all noise is clamped"),
    ({"integers": SMALL, "value": 2}, "the middle"),
    ({"integers": ROUND, "value": 5}, "a value between two levels"),
    ({"integers": ROUND, "value": 10}, "the upper end"),
    ({"integers": [1, 1, 1580030172], "value": 1}, "two levels"),
]
_PRICES: list[tuple[dict[str, Any], str]] = [
    ({"integers": SMALL, "windows": 1}, "the loss of noise that is not clamped"),
    ({"integers": WIDE, "windows": 365}, "a life"),
    ({"integers": [4, 2, 70000], "windows": 1}, "a large price"),
]
_GRID = {"lower": 0, "step": 1000000}
_ESTIMATES: list[tuple[dict[str, Any], str]] = [
    (
        {"integers": SMALL, "n": 70, "counts": [20, 9, 16, 10, 15], "level": 0.95, **_GRID},
        "the mean of the reports itself",
    ),
    (
        {"integers": ROUND, "n": 800, "counts": [250, 190, 160, 200], "level": 0.9, "lower": -2000000, "step": 500000},
        "levels, ticks and the unit mixed up",
    ),
    (
        {"integers": [12, 12, 3951000000], "n": 130, "counts": [10] * 13, "level": 0.99, **_GRID},
        "ends that stand for themselves",
    ),
    ({"integers": SMALL, "n": 50, "counts": [50, 0, 0, 0, 0], "level": 0.95, **_GRID}, "a value below the range"),
    ({"integers": [4, 2, 70000], "n": 50, "counts": [0, 50, 0], "level": 0.95, **_GRID}, "reports that are all alike"),
    ({"integers": SMALL, "n": 1, "counts": [0, 0, 1, 0, 0], "level": 0.95, **_GRID}, "one report"),
    ({"integers": SMALL, "n": 0, "counts": [0] * 5, "level": 0.95, **_GRID}, "a division by no reports"),
    ({"integers": SMALL, "n": 5, "counts": [1, 1, 1, 1, 2], "level": 0.95, **_GRID}, "counts beyond n"),
    ({"integers": SMALL, "n": 5, "counts": [6, -1, 0, 0, 0], "level": 0.95, **_GRID}, "a negative count"),
]
