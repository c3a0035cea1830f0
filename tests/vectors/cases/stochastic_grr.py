"""Stochastic rounding and randomised response (spec/mechanisms/stochastic_grr.md)."""

from typing import Any

from tests.vectors.cases import MINUTES, SECRET, WORDS, Case, cases_of

KEEP = 1737785321
FIVE = [4, 4, KEEP]  # epsilon 1; each tick is a level
FOUR = [10, 3, 3736829880]  # epsilon 3; 4 levels for 11 ticks
TWO = [480, 1, 3139872685]  # epsilon 1
LIMIT = WORDS - WORDS % 480  # words from here on do not choose one of 480
OTHERS = WORDS - WORDS % 3  # nor, from here on, one of 3
NAME = {"encoder": "stochastic_grr"}


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
    ({"integers": FIVE}, "size, radix and levels mixed up"),
    ({"integers": FOUR}, "as many outputs as values"),
    ({"integers": TWO}, "two levels"),
    ({"integers": [WORDS - 1, 4095, 2000000]}, "the largest range, with the most levels"),
    ({"integers": [1, 1, WORDS - 1]}, "the smallest range: linkage is all of the value and not more"),
    ({"integers": [4, 4, WORDS // 5 + 1]}, "the smallest chance"),
    ({"integers": [4, 4, WORDS // 5]}, "another level as likely as the own one"),
    ({"integers": [4, 4, WORDS]}, "a level that is always sent"),
    ({"integers": [4, 5, KEEP]}, "more levels than ticks"),
    ({"integers": [4096, 4096, WORDS - 1]}, "4 097 levels"),
    ({"integers": [4, 0, KEEP]}, "one level"),
    ({"integers": [0, 0, KEEP]}, "no range"),
    ({"integers": [4, 4]}, "an integer too few"),
]
_ANSWERS: list[tuple[dict[str, Any], str]] = [
    ({"integers": FIVE, "value": 3, "words": {}}, "a permanent level where everything is fresh"),
    ({"integers": FIVE, "value": 5, "words": {}}, "a value beyond the range, kept as it is"),
    ({"integers": FIVE, "value": -1, "words": {}}, "a negative value"),
]
_PERMANENT: list[tuple[dict[str, Any], str]] = [
    ({"integers": TWO, "value": 125, "secret": SECRET, **MINUTES}, "fresh: nothing follows from the secret"),
]
_REPORTS: list[tuple[dict[str, Any], str]] = [
    ({"integers": FIVE, "answer": [2], "words": [KEEP - 1, 0]}, "one below the threshold; no word for the level"),
    ({"integers": FIVE, "answer": [2], "words": [KEEP, 0]}, "<= for <: the threshold itself does not stay"),
    ({"integers": FIVE, "answer": [2], "words": [KEEP, 1]}, "the last level below the own one"),
    ({"integers": FIVE, "answer": [2], "words": [KEEP, 2]}, "the own level among the others"),
    ({"integers": FIVE, "answer": [4], "words": [KEEP, 3]}, "the last level: all others are below it"),
    ({"integers": FOUR, "answer": [5], "words": [4, 0, 0]}, "5 of 10 on 3: level 1 as 19 / 10 rounds down"),
    ({"integers": FOUR, "answer": [5], "words": [5, 0, 0]}, "level 2: 20 / 10"),
    ({"integers": FOUR, "answer": [10], "words": [9, 0, 0]}, "the last tick in a level beyond the last"),
    ({"integers": FOUR, "answer": [5], "words": [5, WORDS - 1, OTHERS, 2]}, "a refused word for the other level"),
    ({"integers": TWO, "answer": [125], "words": [LIMIT, 355, 0, WORDS - 1]}, "a refused word for the level"),
    ({"integers": TWO, "answer": [125], "words": [354, WORDS - 1, 7]}, "two levels: a word is taken all the same"),
]
_BULK: list[tuple[dict[str, Any], str]] = [
    ({"integers": FIVE, "values": [0, 2], "words": [KEEP, 0, KEEP - 1, 0]}, "a column for each step, no rows"),
    (
        {
            "integers": FOUR,
            "values": [5, 5],
            "words": [*(WORDS - 1, WORDS - 1, WORDS - 1, WORDS - 2, WORDS - 1, WORDS - 1), *(4, 5, 1, WORDS - 1, 2)],
        },
        "refused words drawn again for one device after the other, and not step by step",
    ),
    ({"integers": FIVE, "values": [], "words": []}, "no devices"),
]
_LAWS: list[tuple[dict[str, Any], str]] = [
    ({"integers": FIVE, "value": 0}, "the lower end"),
    ({"integers": FOUR, "value": 5}, "a value between two levels"),
    ({"integers": FOUR, "value": 10}, "the upper end"),
    ({"integers": TWO, "value": 125}, "two levels: the law of the one-bit mean"),
]
_PRICES: list[tuple[dict[str, Any], str]] = [
    ({"integers": FIVE, "windows": 1}, "a chance of others that is not divided by their number"),
    ({"integers": FOUR, "windows": 365}, "a life"),
    ({"integers": [4, 4, WORDS // 5 + 1], "windows": 3}, "a price near 0"),
]
_GRID = {"lower": 0, "step": 1000000}
_ESTIMATES: list[tuple[dict[str, Any], str]] = [
    (
        {"integers": FIVE, "n": 70, "counts": [10, 9, 26, 20, 5], "level": 0.95, **_GRID},
        "the mean of the reports itself",
    ),
    (
        {"integers": FOUR, "n": 800, "counts": [150, 190, 260, 200], "level": 0.9, "lower": -2000000, "step": 500000},
        "levels, ticks and the unit mixed up",
    ),
    (
        {"integers": TWO, "n": 4000, "counts": [2100, 1900], "level": 0.95, **_GRID},
        "two levels are no binomial count here",
    ),
    ({"integers": FOUR, "n": 50, "counts": [50, 0, 0, 0], "level": 0.95, **_GRID}, "reports that are all alike"),
    ({"integers": FIVE, "n": 1, "counts": [0, 0, 1, 0, 0], "level": 0.95, **_GRID}, "one report"),
    ({"integers": FIVE, "n": 0, "counts": [0] * 5, "level": 0.95, **_GRID}, "a division by no reports"),
    ({"integers": FIVE, "n": 5, "counts": [1, 1, 1, 1, 2], "level": 0.95, **_GRID}, "counts beyond n"),
    ({"integers": FIVE, "n": 5, "counts": [6, -1, 0, 0, 0], "level": 0.95, **_GRID}, "a negative count"),
]
