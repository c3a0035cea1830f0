"""Piecewise for vectors (spec/mechanisms/piecewise_vector.md)."""

from typing import Any

from tests.vectors.cases import MINUTES, SECRET, WORDS, Case, cases_of

KEEP, PAIR, BOTH = 2881549970, 2135859835, 1253594148  # epsilon 1
THREE = [3, 4, 1, 4, 1, 3, KEEP]  # one of three; each tick is a level; outputs 0 to 6
FOUR = [4, 10, 2, 5, 1, 3, PAIR]  # two of four; 6 levels for 11 ticks; outputs 0 to 7
ALL = [2, 4, 2, 4, 1, 1, BOTH]  # both of two; a window of one output; outputs 0 to 4
WIDE = [100, 20000, 2, 161, 1, 95, 3493667732]  # epsilon 4
NAME = {"encoder": "piecewise_vector"}
GRID = {"lower": -2000000, "step": 1000000}  # in [-2, 2] with four ticks


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
    ({"integers": THREE}, "linkage of one answer"),
    ({"integers": FOUR}, "linkage of two answers: distances do not add up, divergences do"),
    ({"integers": ALL}, "all coordinates: no public fields, which would say nothing"),
    ({"integers": [4, 2, 3, 2, 1, 1, WORDS - 1]}, "the largest chance: linkage is all of the value and not more"),
    ({"integers": [3, 4, 1, 4, 1, 3, WORDS * 3 // 7 + 1]}, "the smallest chance"),
    ({"integers": [3, 4, 1, 4, 1, 3, WORDS * 3 // 7]}, "an output outside as likely as one inside"),
    ({"integers": [3, 4, 0, 4, 1, 3, KEEP]}, "no coordinate asked"),
    ({"integers": [3, 4, 4, 4, 1, 3, KEEP]}, "more coordinates asked than there are"),
    ({"integers": [4096, 4, 65, 4, 1, 3, KEEP]}, "more than may be asked"),
    ({"integers": [3, 4, 1, 5, 1, 3, KEEP]}, "more levels than ticks"),
    ({"integers": [1, 4, 1, 4, 1, 3, KEEP]}, "one coordinate"),
    ({"integers": [4097, 4, 1, 4, 1, 3, KEEP]}, "more coordinates than there may be"),
    ({"integers": THREE[:-1]}, "an integer too few"),
]
_ANSWERS: list[tuple[dict[str, Any], str]] = [
    (
        {"integers": THREE, "value": 34, "words": {}},
        "the first coordinate as the highest digit: 34 = 4 + 1 * 5 + 1 * 25",
    ),
    ({"integers": THREE, "value": 125, "words": {}}, "a value beyond the last, its ticks taken all the same"),
    ({"integers": THREE, "value": -1, "words": {}}, "a negative value"),
]
_PERMANENT: list[tuple[dict[str, Any], str]] = [
    ({"integers": THREE, "value": 7, "secret": SECRET, **MINUTES}, "fresh: nothing follows from the secret"),
]
_REPORTS: list[tuple[dict[str, Any], str]] = [
    ({"integers": THREE, "answer": [4, 2, 0], "words": [1, KEEP - 1, 0, 0]}, "one below the threshold stays"),
    ({"integers": THREE, "answer": [4, 2, 0], "words": [1, KEEP, 0, 0]}, "<= for <: the threshold itself is outside"),
    ({"integers": THREE, "answer": [4, 2, 0], "words": [0, 0, 2, 0]}, "the first coordinate, the last output"),
    ({"integers": THREE, "answer": [4, 2, 0], "words": [2, WORDS - 1, 0, 3]}, "the last coordinate"),
    ({"integers": THREE, "answer": [4, 2, 0], "words": [WORDS - 1, 2, 0, WORDS - 1, 1, 3]}, "refused words"),
    (
        {"integers": FOUR, "answer": [10, 0, 3, 5], "words": [1, 1, 0, 0, 0, 0, 5, 0, 0, 0]},
        "a coordinate drawn twice: the last one in its place",
    ),
    (
        {"integers": FOUR, "answer": [10, 0, 3, 5], "words": [2, 0, 0, 0, 0, 0, 4, 0, 0, 0]},
        "answers in the order of the draws, not of the coordinates",
    ),
    (
        {"integers": FOUR, "answer": [10, 0, 3, 5], "words": [2, 3, 5, 0, 0, 0, 4, WORDS - 1, 2, 4]},
        "levels by chance, each with its own word",
    ),
    ({"integers": ALL, "answer": [1, 3], "words": [0, 0, BOTH, 2]}, "all asked: no word for a draw, two for an answer"),
]
_BULK: list[tuple[dict[str, Any], str]] = [
    (
        {"integers": THREE, "values": [[4, 2, 0], [1, 1, 3]], "words": [1, KEEP, 0, 0, 2, KEEP - 1, 2, 0]},
        "a column for each step, no rows",
    ),
    (
        {
            "integers": FOUR,
            "values": [[10, 0, 3, 5], [1, 2, 3, 4]],
            "words": [
                *(WORDS - 1, 2, 5, 0, 0, 0, 4, WORDS - 1, 2, 4),
                *(WORDS - 1, 0, 5, 0, WORDS - 1, 0, WORDS - 1, 7, 2, 1),
                *(2, 1, 0, 8),
            ],
        },
        "refused words drawn again at once and not after the block, column after column",
    ),
    ({"integers": ALL, "values": [[1, 3]], "words": [0, 0, BOTH, 2]}, "all asked: answers alone"),
    ({"integers": THREE, "values": [[4, 5, 0]], "words": [1, KEEP, 0, 0]}, "a tick beyond the range"),
]
_LAWS: list[tuple[dict[str, Any], str]] = [
    ({"integers": THREE, "value": 34}, "the first coordinate, at its upper end"),
    ({"integers": THREE, "value": 34, "public": [1]}, "another one"),
    ({"integers": ALL, "value": 8}, "both at once"),
    ({"integers": [3, 4, 2, 2, 1, 1, 1800000000], "value": 34, "public": [0, 1]}, "two of three, between levels"),
]
_PRICES: list[tuple[dict[str, Any], str]] = [
    ({"integers": THREE, "windows": 1}, "one answer"),
    ({"integers": FOUR, "windows": 1}, "the price of one answer where there are two"),
    ({"integers": WIDE, "windows": 365}, "a life"),
    ({"integers": [3, 4, 2, 4, 1, 3, WORDS * 3 // 7 + 1], "windows": 3}, "a price near 0"),
]
_ONE = [40, 41, 62, 60, 48, 39, 43, 20, 30, 50, 60, 70, 60, 50, 55, 62, 55, 45, 40, 36, 34]
_TWO = [30, 50, 40, 20, 60, 55, 45, 35, 30, 35]
_ESTIMATES: list[tuple[dict[str, Any], str]] = [
    (
        {"integers": THREE, "n": 1000, "counts": _ONE, "level": 0.95, **GRID},
        "divided by the reports about a coordinate",
    ),
    (
        {"integers": THREE, "n": 1000, "counts": _ONE, "level": 0.95, "simultaneous": True, **GRID},
        "intervals that hold at once",
    ),
    ({"integers": ALL, "n": 200, "counts": _TWO, "level": 0.9, **GRID}, "both asked: no report without an answer"),
    (
        {"integers": THREE, "n": 30, "counts": [30, *[0] * 20], "level": 0.95, **GRID},
        "reports that are all alike; a coordinate that nobody was asked about",
    ),
    ({"integers": ALL, "n": 1, "counts": [0, 0, 0, 0, 1, 1, 0, 0, 0, 0], "level": 0.99, **GRID}, "one report"),
    ({"integers": ALL, "n": 0, "counts": [0] * 10, "level": 0.95, **GRID}, "a division by no reports"),
    ({"integers": ALL, "n": 1, "counts": [1, *[0] * 9], "level": 0.95, **GRID}, "an answer too few"),
    ({"integers": THREE, "n": 2, "counts": [1, 1, -1, 1, *[0] * 17], "level": 0.95, **GRID}, "a negative count"),
    ({"integers": [3, 4, 2, 4, 1, 3, KEEP], "n": 1, "counts": [1, 1, *[0] * 19], "level": 0.95, **GRID}, "asked twice"),
    ({"integers": ALL, "n": 1, "counts": [1, 1], "level": 0.95, **GRID}, "no count of each output"),
]
