"""Count mean sketch (spec/mechanisms/cms.md)."""

from typing import Any

from tests.vectors.cases import MINUTES, SECRET, WORDS, Case, cases_of

FLIP = 1621524826  # epsilon 1
SMALL = [4, 2, FLIP]
TINY = [2, 2, FLIP]
ONE = [2, 1, FLIP]  # one row
APPLE = [1024, 65536, 511972652]  # epsilon 4
THE, HUBBUB = 2901391961391501, 6860239801045390  # values of words
LAST = 2**53 - 1
NAME = {"encoder": "cms"}


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
    ({"integers": SMALL}, "the row as a permanent field; linkage"),
    ({"integers": ONE}, "one row: a field without bits"),
    ({"integers": [2, 1, 1]}, "linkage at the largest loss: no more than the value"),
    ({"integers": [2, 1, 2**31 - 1]}, "linkage near 0"),
    ({"integers": [3, 2, FLIP]}, "places that are no power of two"),
    ({"integers": [4, 3, FLIP]}, "rows that are no power of two"),
    ({"integers": [1, 2, FLIP]}, "one place"),
    ({"integers": [2**17, 2, FLIP]}, "more places than there may be"),
    ({"integers": [2, 2**17, FLIP]}, "more rows than there may be"),
    ({"integers": [2048, 65536, FLIP]}, "a sketch of more than 2**26 places"),
    ({"integers": [4, 2, 0]}, "a bit that is never wrong"),
    ({"integers": [4, 2, 2**31]}, "a report that tells nothing"),
    ({"integers": [4, 2]}, "an integer too few"),
]
_ANSWERS: list[tuple[dict[str, Any], str]] = [
    ({"integers": SMALL, "value": THE, "words": {}}, "a permanent answer where everything is fresh"),
    ({"integers": SMALL, "value": 0, "words": {}}, "no word: a value as any"),
    ({"integers": SMALL, "value": LAST + 1, "words": {}}, "a value beyond 53 bits"),
    ({"integers": SMALL, "value": -1, "words": {}}, "a negative value"),
]
_PERMANENT: list[tuple[dict[str, Any], str]] = [
    ({"integers": SMALL, "value": THE, "secret": SECRET, **MINUTES}, "fresh: not even the row follows from the secret"),
]
_REPORTS: list[tuple[dict[str, Any], str]] = [
    ({"integers": SMALL, "answer": [THE], "words": [0, *[FLIP] * 4]}, "<= for <: no bit is wrong; places of row 0"),
    ({"integers": SMALL, "answer": [THE], "words": [1, *[FLIP] * 4]}, "one function for all rows"),
    ({"integers": SMALL, "answer": [THE], "words": [2, *[FLIP - 1] * 4]}, "the row by division; all bits wrong"),
    ({"integers": SMALL, "answer": [0], "words": [0, *[WORDS - 1] * 4]}, "no word without a place"),
    ({"integers": SMALL, "answer": [LAST], "words": [3, 0, WORDS - 1, FLIP, 0]}, "the largest value"),
    ({"integers": ONE, "answer": [HUBBUB], "words": [77, FLIP, FLIP]}, "one row: its word is taken too"),
]
_BULK: list[tuple[dict[str, Any], str]] = [
    (
        {
            "integers": TINY,
            "values": [THE, 0, HUBBUB],
            "words": [0, FLIP, FLIP - 1, 1, WORDS - 1, WORDS - 1, 3, 0, FLIP],
        },
        "all rows first, in place of a row of words for each device",
    ),
    ({"integers": TINY, "values": [], "words": []}, "no devices"),
]
_LAWS: list[tuple[dict[str, Any], str]] = [
    ({"integers": SMALL, "value": THE}, "without a row: row 0"),
    ({"integers": TINY, "value": HUBBUB, "public": [1]}, "the law of another row"),
    ({"integers": TINY, "value": 0, "public": [1]}, "no word"),
]
_PRICES: list[tuple[dict[str, Any], str]] = [
    ({"integers": SMALL, "windows": 1}, "a price of one bit: two differ"),
    ({"integers": APPLE, "windows": 30}, "losses add up"),
    ({"integers": [2, 1, 2**31 - 1], "windows": 2}, "prices near 0: digits lost in a ratio"),
    ({"integers": [2, 1, 1], "windows": 1}, "the largest price"),
]
_ESTIMATES: list[tuple[dict[str, Any], str]] = [
    ({"integers": TINY, "n": 1000, "counts": [480, 200, 250, 520, 260, 210], "level": 0.95}, "rows of a size each"),
    (
        {"integers": TINY, "n": 1000, "counts": [480, 200, 250, 520, 260, 210], "level": 0.9, "simultaneous": True},
        "intervals that hold at once",
    ),
    ({"integers": TINY, "n": 100000, "counts": [50000, 20000, 30000, 50000, 24000, 26000], "level": 0.95}, "many"),
    ({"integers": TINY, "n": 1, "counts": [0, 0, 0, 1, 1, 0], "level": 0.95}, "one report; a row without any"),
    ({"integers": ONE, "n": 600, "counts": [600, 20, 580], "level": 0.99}, "values beyond [0, 1]"),
    ({"integers": TINY, "n": 0, "counts": [0, 0, 0, 0, 0, 0], "level": 0.95}, "a division by no reports"),
    ({"integers": TINY, "n": 10, "counts": [5, 6, 0, 5, 0, 0], "level": 0.95}, "more ones than reports of the row"),
    ({"integers": TINY, "n": 10, "counts": [5, 1, 0, 4, 0, 0], "level": 0.95}, "rows that do not add up to n"),
    ({"integers": TINY, "n": 10, "counts": [5, -1, 0, 5, 0, 0], "level": 0.95}, "a negative count"),
    ({"integers": TINY, "n": 10, "counts": [5, 1, 5, 1], "level": 0.95}, "counts of another size"),
]
