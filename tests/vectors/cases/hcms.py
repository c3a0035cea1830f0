"""Hadamard count mean sketch (spec/mechanisms/hcms.md)."""

from typing import Any

from tests.vectors.cases import MINUTES, SECRET, WORDS, Case, cases_of

FLIP = 1155094610  # epsilon 1
SMALL = [4, 2, FLIP]
TINY = [2, 2, FLIP]
ONE = [4, 1, FLIP]  # one row
APPLE = [1024, 65536, 77250184]  # epsilon 4
THE, HUBBUB = 2901391961391501, 6860239801045390  # values of words
LAST = 2**53 - 1
NAME = {"encoder": "hcms"}


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
    ({"integers": SMALL}, "row and column are public, the bit is not"),
    ({"integers": APPLE}, "the sketch of the source"),
    ({"integers": [2, 1, 1]}, "linkage at the largest loss"),
    ({"integers": [2, 1, 2**31 - 1]}, "linkage near 0"),
    ({"integers": [6, 2, FLIP]}, "places that are no power of two: no Hadamard matrix"),
    ({"integers": [4, 3, FLIP]}, "rows that are no power of two"),
    ({"integers": [1, 2, FLIP]}, "one place"),
    ({"integers": [2**17, 2, FLIP]}, "more places than there may be"),
    ({"integers": [2048, 65536, FLIP]}, "a sketch of more than 2**26 places"),
    ({"integers": [4, 2, 0]}, "a bit that is never wrong"),
    ({"integers": [4, 2, 2**31]}, "a report that tells nothing"),
    ({"integers": [4, 2, FLIP, 0]}, "an integer too many"),
]
_ANSWERS: list[tuple[dict[str, Any], str]] = [
    ({"integers": SMALL, "value": THE, "words": {}}, "a permanent answer where everything is fresh"),
    ({"integers": SMALL, "value": LAST + 1, "words": {}}, "a value beyond 53 bits"),
    ({"integers": SMALL, "value": -1, "words": {}}, "a negative value"),
]
_PERMANENT: list[tuple[dict[str, Any], str]] = [
    ({"integers": SMALL, "value": THE, "secret": SECRET, **MINUTES}, "fresh: nothing follows from the secret"),
]
_REPORTS: list[tuple[dict[str, Any], str]] = [
    ({"integers": SMALL, "answer": [THE], "words": [0, 0, FLIP]}, "<= for <; column 0 is a plus everywhere"),
    ({"integers": SMALL, "answer": [THE], "words": [0, 1, FLIP]}, "a minus as 1"),
    ({"integers": SMALL, "answer": [THE], "words": [0, 1, FLIP - 1]}, "one below is wrong"),
    ({"integers": SMALL, "answer": [THE], "words": [0, 2, FLIP]}, "another column"),
    ({"integers": SMALL, "answer": [THE], "words": [1, 7, FLIP]}, "the column by division; one function for all rows"),
    ({"integers": SMALL, "answer": [HUBBUB], "words": [3, 3, WORDS - 1]}, "a product of digits in place of parity"),
    ({"integers": SMALL, "answer": [0], "words": [1, 2, WORDS - 1]}, "no word without a place"),
    ({"integers": APPLE, "answer": [LAST], "words": [65535, 1023, 77250184]}, "the sketch of the source"),
]
_BULK: list[tuple[dict[str, Any], str]] = [
    (
        {"integers": SMALL, "values": [THE, 0, HUBBUB], "words": [0, 1, FLIP, 1, 2, FLIP - 1, 3, 3, 0]},
        "all rows first, in place of three words for each device",
    ),
    ({"integers": TINY, "values": [], "words": []}, "no devices"),
]
_LAWS: list[tuple[dict[str, Any], str]] = [
    ({"integers": SMALL, "value": THE}, "without public fields: row 0, column 0"),
    ({"integers": SMALL, "value": THE, "public": [1, 3]}, "row and column changed for each other"),
    ({"integers": SMALL, "value": 0, "public": [0, 1]}, "no word"),
]
_PRICES: list[tuple[dict[str, Any], str]] = [
    ({"integers": SMALL, "windows": 1}, "half of epsilon: the price of a sketch of bits"),
    ({"integers": APPLE, "windows": 30}, "losses add up"),
    ({"integers": [2, 1, 2**31 - 1], "windows": 2}, "prices near 0: digits lost in a ratio"),
]
_ESTIMATES: list[tuple[dict[str, Any], str]] = [
    ({"integers": TINY, "n": 1000, "counts": [120, 130, 110, 140, 90, 150, 130, 130], "level": 0.95}, "zeros and ones"),
    (
        {
            "integers": TINY,
            "n": 1000,
            "counts": [120, 130, 110, 140, 90, 150, 130, 130],
            "level": 0.9,
            "simultaneous": True,
        },
        "intervals that hold at once",
    ),
    (
        {"integers": ONE, "n": 9000, "counts": [900, 1500, 1200, 1000, 1100, 1200, 1000, 1100], "level": 0.95},
        "4 columns",
    ),
    ({"integers": TINY, "n": 1, "counts": [0, 0, 0, 0, 0, 1, 0, 0], "level": 0.95}, "one report; a row without any"),
    ({"integers": TINY, "n": 0, "counts": [0, 0, 0, 0, 0, 0, 0, 0], "level": 0.95}, "a division by no reports"),
    ({"integers": TINY, "n": 9, "counts": [1, 1, 1, 1, 1, 1, 1, 1], "level": 0.95}, "counts that do not add up to n"),
    ({"integers": TINY, "n": 8, "counts": [2, 1, 1, 1, -1, 2, 1, 1], "level": 0.95}, "a negative count"),
    ({"integers": TINY, "n": 4, "counts": [1, 1, 1, 1], "level": 0.95}, "counts of another size"),
]
