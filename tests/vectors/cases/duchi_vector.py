"""Duchi's mechanism for vectors (spec/mechanisms/duchi_vector.md)."""

from typing import Any

from tests.vectors.cases import MINUTES, SECRET, WORDS, Case, cases_of

HALF, FULL, ODD, FOUR = 3825820404, 2041685229, 3139872685, 2373782543  # epsilon 1
TIES = [2, 4, 1, HALF]  # ties agree; 3 patterns and 1
TWO = [2, 4, 2, FULL]  # ties do not; 1 and 3
THREE = [3, 1, 2, ODD]  # each tick is an end; 4 and 4
MORE = [4, 2, 3, FOUR]  # 5 and 11
MANY = [32, 20000, 18, 2302508052]
NAME = {"encoder": "duchi_vector"}
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
    ({"integers": TIES}, "linkage of more patterns that agree than others"),
    ({"integers": TWO}, "ties that agree, where they should not"),
    ({"integers": THREE}, "an odd number of coordinates"),
    ({"integers": MORE}, "linkage of one pattern, in place of all"),
    ({"integers": [32, 1, 1, WORDS - 1]}, "every pattern but one agrees: a bound of 2^32 - 1"),
    ({"integers": [32, 1, 32, 2]}, "a single one does: the smallest chance"),
    ({"integers": [32, 1, 32, 1]}, "a pattern that agrees as likely as another one"),
    ({"integers": [2, 4, 1, WORDS // 4 * 3]}, "reports that tell nothing: the estimate divides by 0"),
    ({"integers": [2, 4, 1, WORDS]}, "patterns that never occur"),
    ({"integers": [2, 4, 0, WORDS - 1]}, "all patterns agree"),
    ({"integers": [2, 4, 3, FULL]}, "none does"),
    ({"integers": [1, 4, 1, HALF]}, "one coordinate"),
    ({"integers": [33, 1, 17, ODD]}, "more patterns than words"),
    ({"integers": [2, 0, 2, FULL]}, "no range"),
    ({"integers": [2, 4, 2]}, "an integer too few"),
]
_ANSWERS: list[tuple[dict[str, Any], str]] = [
    ({"integers": TWO, "value": 9, "words": {}}, "the first coordinate as the highest digit: 9 = 4 + 1 * 5"),
    ({"integers": TWO, "value": 25, "words": {}}, "a value beyond the last, its ticks taken all the same"),
    ({"integers": TWO, "value": -1, "words": {}}, "a negative value"),
]
_PERMANENT: list[tuple[dict[str, Any], str]] = [
    ({"integers": TWO, "value": 9, "secret": SECRET, **MINUTES}, "fresh: nothing follows from the secret"),
]
_REPORTS: list[tuple[dict[str, Any], str]] = [
    ({"integers": TWO, "answer": [4, 1], "words": [0, 3, FULL - 1, 0, 0]}, "one below the threshold agrees: both ends"),
    ({"integers": TWO, "answer": [4, 1], "words": [0, 3, FULL, 0, 0]}, "<= for <: the threshold itself does not"),
    (
        {"integers": TWO, "answer": [4, 1], "words": [0, 2, FULL, 0, 1]},
        "1 + 2 does not reach 4; patterns are turned over",
    ),
    ({"integers": TWO, "answer": [4, 1], "words": [0, 2, FULL, 0, 2]}, "the last pattern that does not agree"),
    ({"integers": TWO, "answer": [0, 0], "words": [3, 3, FULL, 0, WORDS - 1, 2]}, "a refused word for the pattern"),
    ({"integers": TIES, "answer": [4, 4], "words": [0, 0, 0, 0, 0]}, "a tie agrees: 01 is the first of three patterns"),
    ({"integers": TIES, "answer": [4, 4], "words": [0, 0, 0, 2, 0]}, "the last of them"),
    ({"integers": TIES, "answer": [4, 4], "words": [0, 0, 0, WORDS - 1, 1, 0]}, "a refused word, then the next column"),
    (
        {"integers": TIES, "answer": [4, 4], "words": [0, 0, HALF, WORDS - 1, 1, WORDS - 1]},
        "both are taken at all times",
    ),
    ({"integers": THREE, "answer": [1, 0, 1], "words": [0, 2, 0]}, "three words where each tick is an end"),
    ({"integers": THREE, "answer": [1, 0, 1], "words": [WORDS - 1, 2, 1]}, "at most one right end"),
    ({"integers": MORE, "answer": [2, 2, 2, 2], "words": [0, 0, 0, 0, 0, 3, 0]}, "the fourth of five: 1110"),
    ({"integers": MORE, "answer": [2, 2, 0, 0], "words": [0, 0, 0, 0, WORDS - 1, 0, 10]}, "the last of eleven"),
    (
        {"integers": MANY, "answer": [20000] * 32, "words": [0] * 32 + [0, 1162064650, 0]},
        "a pattern among 1 281 220 733, counted one by one",
    ),
]
_BULK: list[tuple[dict[str, Any], str]] = [
    (
        {"integers": TWO, "values": [[4, 1], [0, 2]], "words": [0, 3, FULL - 1, 0, 0, 1, 2, FULL, 0, 1]},
        "a column for each step, no rows",
    ),
    (
        {
            "integers": TIES,
            "values": [[4, 1], [0, 2]],
            "words": [0, 3, 0, WORDS - 1, 0, 1, 2, 0, WORDS - 1, 0, WORDS - 1, 2, 1],
        },
        "refused words drawn again at once and not after the block, in order",
    ),
    ({"integers": THREE, "values": [[1, 0, 1]], "words": [0, 2, 0]}, "three words each where each tick is an end"),
    ({"integers": TWO, "values": [[5, 0]], "words": [0, 3, 0, 0, 0]}, "a tick beyond the range"),
]
_LAWS: list[tuple[dict[str, Any], str]] = [
    ({"integers": TWO, "value": 24}, "both upper ends"),
    ({"integers": TWO, "value": 9}, "a coordinate between its ends"),
    ({"integers": TIES, "value": 12}, "both in the middle: all payloads alike"),
    ({"integers": THREE, "value": 5}, "an odd number of coordinates"),
    ({"integers": MORE, "value": 50}, "three right ends at least"),
]
_PRICES: list[tuple[dict[str, Any], str]] = [
    ({"integers": TIES, "windows": 1}, "ties counted on both sides: ln(1 + e)"),
    ({"integers": TWO, "windows": 365}, "a life"),
    ({"integers": MANY, "windows": 7}, "chances of all patterns in place of one"),
    ({"integers": [2, 4, 1, WORDS // 4 * 3 + 1], "windows": 3}, "a price near 0: digits lost in P / Q"),
]
_ESTIMATES: list[tuple[dict[str, Any], str]] = [
    ({"integers": TWO, "n": 1000, "counts": [620, 440], "level": 0.95, **GRID}, "the gain of one bit"),
    ({"integers": TIES, "n": 1000, "counts": [620, 440], "level": 0.95, **GRID}, "the gain where ties agree"),
    (
        {"integers": MORE, "n": 2000, "counts": [900, 1000, 1100, 1200], "level": 0.9, "simultaneous": True, **GRID},
        "intervals that hold at once",
    ),
    (
        {"integers": THREE, "n": 50, "counts": [50, 0, 25], "level": 0.95, **GRID},
        "few reports; values beyond the range",
    ),
    ({"integers": TWO, "n": 1, "counts": [0, 1], "level": 0.99, **GRID}, "one report"),
    ({"integers": TWO, "n": 0, "counts": [0, 0], "level": 0.95, **GRID}, "a division by no reports"),
    ({"integers": TWO, "n": 2, "counts": [3, 0], "level": 0.95, **GRID}, "more ones than reports"),
    ({"integers": TWO, "n": 2, "counts": [1, -1], "level": 0.95, **GRID}, "a negative count"),
    ({"integers": TWO, "n": 2, "counts": [1], "level": 0.95, **GRID}, "a coordinate without a count"),
]
