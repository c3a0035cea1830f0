"""Harmony (spec/mechanisms/harmony.md)."""

from typing import Any

from tests.vectors.cases import MINUTES, SECRET, WORDS, Case, cases_of

LOW = 1155094611
THREE = [3, 4, LOW]  # epsilon 1; five ticks
BITS = [3, 1, LOW]  # each tick is an end
WIDE = [1000, 20000, LOW]
DRAWN = WORDS - WORDS % 1000  # words from here on do not draw one of 1 000
END = WORDS - WORDS % 20000
NAME = {"encoder": "harmony"}
GRID = {"lower": -2000000, "step": 1000000}  # THREE in [-2, 2]


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
    ({"integers": THREE}, "linkage that adds up over coordinates"),
    ({"integers": BITS}, "two values of each coordinate"),
    ({"integers": [4, 1, 1]}, "the smallest chance of a lie: linkage is all of the value and not more"),
    ({"integers": [2, 4, WORDS // 2 - 1]}, "the largest chance of a lie: linkage near 0"),
    ({"integers": [2, 4, WORDS // 2]}, "reports that tell nothing: the estimate divides by 0"),
    ({"integers": [2, 4, 0]}, "bits that are never wrong"),
    ({"integers": [1, 4, LOW]}, "one coordinate"),
    ({"integers": [4097, 4, LOW]}, "more coordinates than there may be"),
    ({"integers": [2, 0, LOW]}, "no range"),
    ({"integers": [2, WORDS, LOW]}, "ticks beyond 32 bits"),
    ({"integers": [2, 4]}, "an integer too few"),
]
_ANSWERS: list[tuple[dict[str, Any], str]] = [
    (
        {"integers": THREE, "value": 34, "words": {}},
        "the first coordinate as the highest digit: 34 = 4 + 1 * 5 + 1 * 25",
    ),
    ({"integers": THREE, "value": 124, "words": {}}, "the largest value"),
    ({"integers": THREE, "value": 125, "words": {}}, "a value beyond the last, its ticks taken all the same"),
    ({"integers": THREE, "value": -1, "words": {}}, "a negative value"),
]
_PERMANENT: list[tuple[dict[str, Any], str]] = [
    ({"integers": THREE, "value": 7, "secret": SECRET, **MINUTES}, "fresh: nothing follows from the secret"),
]
_REPORTS: list[tuple[dict[str, Any], str]] = [
    (
        {"integers": THREE, "answer": [1, 4, 0], "words": [0, 3, LOW]},
        "the coordinate drawn: 1 + 3 reaches 4, the upper end",
    ),
    ({"integers": THREE, "answer": [1, 4, 0], "words": [0, 2, LOW]}, "1 + 2 does not: the lower end"),
    (
        {"integers": THREE, "answer": [1, 4, 0], "words": [1, 0, LOW]},
        "the last tick is the upper end whatever is drawn",
    ),
    ({"integers": THREE, "answer": [1, 4, 0], "words": [2, 3, LOW]}, "the first tick never is"),
    ({"integers": THREE, "answer": [1, 4, 0], "words": [0, 3, LOW - 1]}, "<= for <: one below the threshold lies"),
    ({"integers": THREE, "answer": [1, 4, 0], "words": [WORDS - 1, 1, 3, LOW]}, "a refused word for the coordinate"),
    ({"integers": BITS, "answer": [0, 1, 1], "words": [2, LOW]}, "no word for an end where each tick is one"),
    ({"integers": WIDE, "answer": [12345] * 1000, "words": [999, END, 7655, LOW]}, "a refused word for the end"),
]
_BULK: list[tuple[dict[str, Any], str]] = [
    (
        {"integers": THREE, "values": [[1, 4, 0], [0, 2, 3]], "words": [0, 3, LOW, 1, 1, LOW - 1]},
        "a column for each step, no rows",
    ),
    (
        {
            "integers": THREE,
            "values": [[1, 4, 0], [0, 2, 3]],
            "words": [WORDS - 1, 3, LOW, WORDS - 1, 1, LOW, WORDS - 1, 2, 1],
        },
        "refused words drawn again at once and not after the block, in order",
    ),
    ({"integers": BITS, "values": [[0, 1, 1]], "words": [2, LOW]}, "two words each where each tick is an end"),
    ({"integers": THREE, "values": [[1, 5, 0]], "words": [0, 3, LOW]}, "a tick beyond the range"),
    ({"integers": THREE, "values": [[1, 4]], "words": [0, 3, LOW]}, "a coordinate too few"),
]
_LAWS: list[tuple[dict[str, Any], str]] = [
    ({"integers": THREE, "value": 34}, "the first coordinate, at its upper end"),
    ({"integers": THREE, "value": 34, "public": [1]}, "another one, a quarter above its lower end"),
    ({"integers": BITS, "value": 1, "public": [2]}, "the lower end"),
]
_PRICES: list[tuple[dict[str, Any], str]] = [
    ({"integers": THREE, "windows": 1}, "a price that grows with the coordinates"),
    ({"integers": WIDE, "windows": 365}, "a life"),
    ({"integers": [2, 4, WORDS // 2 - 1], "windows": 3}, "a price near 0: digits lost in p / q"),
]
_COUNTS = [340, 320, 340, 200, 150, 160]
_ESTIMATES: list[tuple[dict[str, Any], str]] = [
    (
        {"integers": THREE, "n": 1000, "counts": _COUNTS, "level": 0.95, **GRID},
        "divided by the reports about a coordinate",
    ),
    (
        {"integers": THREE, "n": 1000, "counts": _COUNTS, "level": 0.95, "simultaneous": True, **GRID},
        "intervals that hold at once",
    ),
    (
        {"integers": THREE, "n": 900, "counts": [300, 300, 300, 300, 0, 150], "level": 0.9, **GRID},
        "values beyond the range, not clipped",
    ),
    (
        {
            "integers": BITS,
            "n": 60,
            "counts": [20, 18, 22, 10, 8, 13],
            "level": 0.95,
            "lower": -1000000,
            "step": 2000000,
        },
        "few reports: no Wilson interval",
    ),
    ({"integers": THREE, "n": 1, "counts": [0, 1, 0, 0, 1, 0], "level": 0.99, **GRID}, "one report"),
    ({"integers": THREE, "n": 0, "counts": [0] * 6, "level": 0.95, **GRID}, "a division by no reports"),
    ({"integers": THREE, "n": 2, "counts": [1, 1, 0, 2, 0, 0], "level": 0.95, **GRID}, "more ones than bits"),
    ({"integers": THREE, "n": 2, "counts": [1, 1, 1, 1, 0, 0], "level": 0.95, **GRID}, "more bits than reports"),
    ({"integers": THREE, "n": 2, "counts": [1, 1, 0], "level": 0.95, **GRID}, "no count of the ones"),
]
