"""Piecewise: a window of outputs on levels (spec/mechanisms/piecewise.md)."""

from typing import Any

from tests.vectors.cases import MINUTES, SECRET, WORDS, Case, cases_of

KEEP = 2881549970
SMALL = [4, 4, 1, 3, KEEP]  # epsilon 1; each tick is a level; outputs 0 to 6
ROUND = [10, 5, 1, 3, 2662501409]  # epsilon 1; 6 levels for 11 ticks; outputs 0 to 7
WIDE = [480, 144, 1, 112, 2915819900]  # epsilon 1; 256 outputs
STEP = [4, 4, 3, 5, 2881549970]  # windows move by 3
THIN = [4, 4, 1, 1, 1737785321]  # a window of one output
LIMIT = WORDS - WORDS % 480  # words from here on do not choose one of 480
INSIDE = WORDS - WORDS % 112  # nor, from here on, one of 112
OUTSIDE = WORDS - WORDS % 144
NAME = {"encoder": "piecewise"}


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
    ({"integers": SMALL}, "outputs beside levels"),
    ({"integers": WIDE}, "linkage of windows that are further apart than they are wide"),
    ({"integers": [9, 2, 1, 5, 3500000000]}, "linkage of windows that always overlap"),
    ({"integers": STEP}, "a shift left out of the number of outputs"),
    ({"integers": [WORDS - 1, 4095, 1, 1, 2000000]}, "the largest range, with the most levels"),
    ({"integers": [1, 1, 1, 1, WORDS - 1]}, "the smallest range, and the largest chance"),
    ({"integers": [4, 4, 1, 3, WORDS * 3 // 7 + 1]}, "the smallest chance"),
    ({"integers": [4, 4, 1, 3, WORDS * 3 // 7]}, "an output outside as likely as one inside"),
    ({"integers": [4, 4, 1, 3, WORDS]}, "outputs outside that never occur"),
    ({"integers": [4, 5, 1, 3, KEEP]}, "more levels than ticks"),
    ({"integers": [4, 0, 1, 3, KEEP]}, "no level beside 0"),
    ({"integers": [4, 4, 0, 3, KEEP]}, "a window that does not move"),
    ({"integers": [4, 4, 1, 0, KEEP]}, "an empty window"),
    ({"integers": [4, 4, 1, 4093, WORDS - 1]}, "4 097 outputs"),
    ({"integers": [0, 0, 1, 3, KEEP]}, "no range"),
    ({"integers": [WORDS, 4, 1, 3, KEEP]}, "ticks beyond 32 bits"),
    ({"integers": SMALL[:-1]}, "an integer too few"),
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
    ({"integers": SMALL, "answer": [2], "words": [KEEP - 1, 0, 0]}, "one below the threshold stays; three words"),
    ({"integers": SMALL, "answer": [2], "words": [KEEP, 0, 0]}, "<= for <: the threshold itself is outside"),
    ({"integers": SMALL, "answer": [2], "words": [0, 2, 0]}, "the last output of the window"),
    ({"integers": SMALL, "answer": [2], "words": [0, 3, 0]}, "the remainder: the first one again"),
    ({"integers": SMALL, "answer": [2], "words": [WORDS - 1, 0, 1]}, "the last output below the window"),
    ({"integers": SMALL, "answer": [2], "words": [WORDS - 1, 0, 2]}, "the first output above the window"),
    ({"integers": SMALL, "answer": [0], "words": [WORDS - 1, 0, 0]}, "the lowest level: all others are above"),
    ({"integers": SMALL, "answer": [4], "words": [WORDS - 1, 0, 3]}, "the highest level: all others are below"),
    ({"integers": STEP, "answer": [3], "words": [0, 4, 0]}, "a window that moves by 3"),
    ({"integers": STEP, "answer": [3], "words": [WORDS - 1, 0, 9]}, "others above a window that moves by 3"),
    ({"integers": THIN, "answer": [3], "words": [0, 2]}, "a window of one output takes no word for the place in it"),
    ({"integers": ROUND, "answer": [3], "words": [4, 0, 0, 0]}, "3 of 10 on 5: level 1 as 19 / 10 rounds down"),
    ({"integers": ROUND, "answer": [3], "words": [5, 0, 0, 0]}, "level 2: 20 / 10"),
    ({"integers": ROUND, "answer": [10], "words": [9, 0, 0, 0]}, "the last tick in a level beyond the last"),
    ({"integers": ROUND, "answer": [0], "words": [9, 0, 0, 0]}, "the first tick in a level above the first"),
    ({"integers": WIDE, "answer": [125], "words": [LIMIT, 240, 0, 5, 6]}, "a refused word for the level"),
    ({"integers": WIDE, "answer": [125], "words": [239, 0, INSIDE, 7, 6]}, "a refused word for the place inside"),
    (
        {"integers": WIDE, "answer": [125], "words": [239, 0, 7, WORDS - 1, OUTSIDE, 6]},
        "words for the place outside are drawn again where it is not looked at, too",
    ),
]
_BULK: list[tuple[dict[str, Any], str]] = [
    ({"integers": SMALL, "values": [0, 4], "words": [KEEP, 0, 0, KEEP - 1, 2, 0]}, "a column for each step, no rows"),
    (
        {
            "integers": WIDE,
            "values": [125, 125, 480],
            "words": [
                *(LIMIT, 0, INSIDE, 1, 239, WORDS - 1, 5, OUTSIDE, LIMIT, 0, 6, 2),
                *(240, WORDS - 1, 479, 9, 100),
            ],
        },
        "refused words drawn again for one device after the other, and not step by step",
    ),
    ({"integers": THIN, "values": [3, 3], "words": [0, 2, WORDS - 1, 2]}, "a window of one output: two words each"),
    ({"integers": SMALL, "values": [], "words": []}, "no devices"),
]
_LAWS: list[tuple[dict[str, Any], str]] = [
    ({"integers": SMALL, "value": 0}, "the lower end"),
    ({"integers": SMALL, "value": 2}, "the middle"),
    ({"integers": ROUND, "value": 3}, "a value between two levels"),
    ({"integers": ROUND, "value": 10}, "the upper end"),
    ({"integers": STEP, "value": 1}, "a window that moves by 3"),
]
_PRICES: list[tuple[dict[str, Any], str]] = [
    ({"integers": SMALL, "windows": 1}, "chances of all outputs inside and outside in place of one"),
    ({"integers": WIDE, "windows": 365}, "a life"),
    ({"integers": [4, 4, 1, 3, WORDS * 3 // 7 + 1], "windows": 3}, "a price near 0"),
]
_GRID = {"lower": 0, "step": 1000000}
_ESTIMATES: list[tuple[dict[str, Any], str]] = [
    ({"integers": SMALL, "n": 70, "counts": [10, 9, 12, 20, 8, 6, 5], "level": 0.95, **_GRID}, "all at once"),
    (
        {
            "integers": ROUND,
            "n": 800,
            "counts": [50, 90, 160, 200, 150, 90, 40, 20],
            "level": 0.9,
            "lower": -2000000,
            "step": 500000,
        },
        "levels, ticks and the unit mixed up",
    ),
    ({"integers": STEP, "n": 17, "counts": [1] * 17, "level": 0.99, **_GRID}, "a window that moves by 3"),
    (
        {"integers": SMALL, "n": 50, "counts": [50, 0, 0, 0, 0, 0, 0], "level": 0.95, **_GRID},
        "reports that are all alike",
    ),
    ({"integers": SMALL, "n": 50, "counts": [0, 0, 0, 0, 0, 0, 50], "level": 0.95, **_GRID}, "a value above the range"),
    ({"integers": SMALL, "n": 1, "counts": [0, 0, 0, 1, 0, 0, 0], "level": 0.95, **_GRID}, "one report"),
    ({"integers": SMALL, "n": 0, "counts": [0] * 7, "level": 0.95, **_GRID}, "a division by no reports"),
    ({"integers": SMALL, "n": 7, "counts": [1, 1, 1, 1, 1, 1, 2], "level": 0.95, **_GRID}, "counts beyond n"),
    ({"integers": SMALL, "n": 7, "counts": [8, -1, 0, 0, 0, 0, 0], "level": 0.95, **_GRID}, "a negative count"),
    ({"integers": SMALL, "n": 7, "counts": [1, 1, 1, 1, 1, 2], "level": 0.95, **_GRID}, "an output without a count"),
]
