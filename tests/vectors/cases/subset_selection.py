"""Subset selection (spec/mechanisms/subset_selection.md)."""

from typing import Any

from tests.vectors.cases import MINUTES, SECRET, WORDS, Case, cases_of

KEEP = 1940735783
SIX = [6, 2, KEEP]  # epsilon 0.5
HALF = [6, 3, 2576980379]  # half of the categories
TWO = [2, 1, 3139872685]  # epsilon 1
TEN = [10, 2, 1737785321]  # epsilon 1
WIDE = [1024, 275, 2145370646]  # epsilon 1
NAME = {"encoder": "subset_selection"}


def cases() -> list[Case]:
    return [
        *cases_of("encoder", _ENCODERS, **NAME),
        *cases_of("answer", _ANSWERS, **NAME),
        *cases_of("permanent", _PERMANENT, **NAME),
        *cases_of("report", _REPORTS, **NAME),
        *cases_of("bulk", _BULK, **NAME),
        *cases_of("law", _LAWS, **NAME),
        *cases_of("prices", _PRICES, **NAME),
        *cases_of("estimate", _ESTIMATES, **NAME, lower=0, step=1000000),
    ]


_ENCODERS: list[tuple[dict[str, Any], str]] = [
    ({"integers": SIX}, "linkage with the chance of a category in place of the difference of two"),
    ({"integers": TWO}, "two categories, one in each set"),
    ({"integers": TEN}, "more than a byte of fields"),
    ({"integers": [5, 4, WORDS - 1]}, "sets without just one category: linkage is not more than the value"),
    ({"integers": [3, 1, WORDS // 3 + 1]}, "the smallest chance of the own category: linkage near 0"),
    ({"integers": [3, 1, WORDS // 3]}, "the own category less likely than another one"),
    ({"integers": [4, 2, WORDS // 2]}, "reports that tell nothing: the estimate divides by 0"),
    ({"integers": [6, 2, WORDS]}, "sets that always hold the own category"),
    ({"integers": [6, 0, KEEP]}, "empty sets"),
    ({"integers": [6, 6, WORDS - 1]}, "sets of all categories"),
    ({"integers": [1, 1, KEEP]}, "one category"),
    ({"integers": [65_537, 2, KEEP]}, "more categories than there may be"),
    ({"integers": [6, 2]}, "an integer too few"),
    ({"integers": [6, 2, KEEP, 0]}, "an integer too many"),
]
_ANSWERS: list[tuple[dict[str, Any], str]] = [
    ({"integers": SIX, "value": 3, "words": {}}, "a permanent set where everything is fresh"),
    ({"integers": SIX, "value": 6, "words": {}}, "a value beyond the categories, kept as it is"),
    ({"integers": SIX, "value": -1, "words": {}}, "a negative value"),
]
_PERMANENT: list[tuple[dict[str, Any], str]] = [
    ({"integers": SIX, "value": 4, "secret": SECRET, **MINUTES}, "fresh: nothing follows from the secret"),
]
_REPORTS: list[tuple[dict[str, Any], str]] = [
    ({"integers": SIX, "answer": [2], "words": [KEEP - 1, 0, 1, 0]}, "one below the threshold: the own category is in"),
    ({"integers": SIX, "answer": [2], "words": [KEEP, 0, 1, 0]}, "<= for <: the threshold itself leaves it out"),
    ({"integers": SIX, "answer": [2], "words": [KEEP - 1, 0, 1, 1]}, "the second one drawn makes room, not the first"),
    ({"integers": SIX, "answer": [2], "words": [KEEP, 3, 3, 0]}, "a number drawn twice: the last one in its place"),
    ({"integers": SIX, "answer": [2], "words": [KEEP - 1, 3, 3, 0]}, "the same, and the first one makes room"),
    ({"integers": SIX, "answer": [2], "words": [KEEP, 2, 4, 0]}, "the own category's number is that of the last one"),
    ({"integers": SIX, "answer": [5], "words": [KEEP, 2, 4, 0]}, "the last category is the own one"),
    ({"integers": SIX, "answer": [0], "words": [KEEP, 0, 0, 1]}, "the first category is the own one, drawn twice"),
    ({"integers": HALF, "answer": [1], "words": [0, 2, 2, 2, 2]}, "drawn three times"),
    ({"integers": HALF, "answer": [1], "words": [0, WORDS - 1, 1, 0, 4, 2]}, "a refused word for the first draw"),
    ({"integers": HALF, "answer": [1], "words": [0, 1, 0, WORDS - 1, 4, 2]}, "a refused word for a later draw"),
    (
        {"integers": HALF, "answer": [1], "words": [WORDS - 1, 1, 0, 4, WORDS - 1, 2]},
        "a refused word for which one makes room",
    ),
    (
        {"integers": TWO, "answer": [1], "words": [WORDS - 1, WORDS - 1, WORDS - 1]},
        "bounds of 1: words are taken all the same",
    ),
]
_BULK: list[tuple[dict[str, Any], str]] = [
    (
        {"integers": SIX, "values": [0, 2, 5], "words": [KEEP, 0, 3, 0, KEEP - 1, 0, 3, 1, KEEP, 3, 4, 0]},
        "all thresholds first, in place of a row for each device",
    ),
    (
        {
            "integers": HALF,
            "values": [0, 1, 2],
            "words": [
                *(0, WORDS - 1, 0, WORDS - 1, WORDS - 1),
                *(WORDS - 1, WORDS - 1, 1, 4, 0),
                *(0, 2, 0, WORDS - 1, WORDS - 1),
                *(WORDS - 1, 1, 2, 3, 4, 0, 1),
            ],
        },
        "refused words drawn again device after device, and not column after column",
    ),
    ({"integers": SIX, "values": [], "words": []}, "no devices"),
]
_LAWS: list[tuple[dict[str, Any], str]] = [
    ({"integers": SIX, "value": 0}, "sets of two: with the own category p / 5, without (1 - p) / 10"),
    ({"integers": SIX, "value": 5}, "the last category"),
    ({"integers": HALF, "value": 2}, "sets of three"),
    ({"integers": TWO, "value": 1}, "two categories"),
]
_PRICES: list[tuple[dict[str, Any], str]] = [
    ({"integers": SIX, "windows": 1}, "ln(p / q) in place of the ratio of two sets"),
    ({"integers": SIX, "windows": 365}, "the price of a steady device is not that of one report"),
    ({"integers": WIDE, "windows": 7}, "binomial coefficients beyond floating point"),
    ({"integers": [2, 1, WORDS // 2 + 1], "windows": 3}, "a price near 0: digits lost in the ratio"),
    ({"integers": [65_536, 1, WORDS - 1], "windows": 1}, "the largest price"),
]
_ESTIMATES: list[tuple[dict[str, Any], str]] = [
    ({"integers": SIX, "n": 1000, "counts": [400, 290, 310, 340, 330, 330], "level": 0.95}, "q = omega / k"),
    (
        {"integers": SIX, "n": 1000, "counts": [400, 290, 310, 340, 330, 330], "level": 0.95, "simultaneous": True},
        "intervals that hold at once: the level is shared by six",
    ),
    ({"integers": SIX, "n": 9000, "counts": [9000, 9000, 0, 0, 0, 0], "level": 0.9}, "values clipped to [0, 1]"),
    ({"integers": TWO, "n": 60, "counts": [20, 40], "level": 0.95}, "few reports: no Wilson interval"),
    ({"integers": TWO, "n": 1, "counts": [0, 1], "level": 0.99}, "one report"),
    ({"integers": SIX, "n": 0, "counts": [0, 0, 0, 0, 0, 0], "level": 0.95}, "a division by no reports"),
    ({"integers": SIX, "n": 5, "counts": [6, 4, 0, 0, 0, 0], "level": 0.95}, "more sets with a category than sets"),
    ({"integers": SIX, "n": 5, "counts": [5, 5, 0, 0, 0], "level": 0.95}, "a category without a count"),
]
