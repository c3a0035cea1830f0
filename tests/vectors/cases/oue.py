"""Optimised unary encoding (spec/mechanisms/oue.md)."""

from typing import Any

from tests.vectors.cases import MINUTES, SECRET, WORDS, Case, cases_of

LIE = 1155094610
OWN = WORDS // 2
FOUR = [4, LIE]  # epsilon 1
TWO = [2, LIE]  # epsilon 1
WIDE = [1024, 203692575]  # epsilon 3
NAME = {"encoder": "oue"}


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
    ({"integers": FOUR}, "a linkage of one bit in place of the two that differ"),
    ({"integers": TWO}, "two categories: a bit for each, not one for both"),
    ({"integers": [9, LIE]}, "more than a byte of bits"),
    ({"integers": [3, 1]}, "the smallest chance of a lie: linkage is all of the value and not more"),
    ({"integers": [3, WORDS // 2 - 1]}, "the largest chance of a lie: linkage near 0"),
    ({"integers": [3, WORDS // 2]}, "reports that tell nothing: the estimate divides by 0"),
    ({"integers": [3, 0]}, "zeros that are never wrong"),
    ({"integers": [1, LIE]}, "one category"),
    ({"integers": [65_537, LIE]}, "more categories than there may be"),
    ({"integers": [4]}, "an integer too few"),
    ({"integers": [4, LIE, LIE]}, "an integer too many"),
]
_ANSWERS: list[tuple[dict[str, Any], str]] = [
    ({"integers": FOUR, "value": 3, "words": {}}, "a permanent lie where everything is fresh"),
    ({"integers": FOUR, "value": 4, "words": {}}, "a value beyond the categories, kept as it is"),
    ({"integers": FOUR, "value": -1, "words": {}}, "a negative value"),
]
_PERMANENT: list[tuple[dict[str, Any], str]] = [
    ({"integers": FOUR, "value": 2, "secret": SECRET, **MINUTES}, "fresh: nothing follows from the secret"),
]
_REPORTS: list[tuple[dict[str, Any], str]] = [
    ({"integers": FOUR, "answer": [1], "words": [LIE - 1, OWN - 1, LIE, LIE]}, "one below each threshold is 1"),
    ({"integers": FOUR, "answer": [1], "words": [LIE, OWN, LIE - 1, LIE]}, "<= for <: the thresholds themselves are 0"),
    (
        {"integers": FOUR, "answer": [0], "words": [LIE, LIE, LIE, LIE]},
        "the chance of another one for the own category",
    ),
    ({"integers": FOUR, "answer": [3], "words": [LIE, LIE, LIE, LIE - 1]}, "the last bit sent without noise"),
    (
        {"integers": FOUR, "answer": [3], "words": [0, 0, 0, WORDS - 1]},
        "words taken as signed: the largest is negative",
    ),
    ({"integers": TWO, "answer": [0], "words": [OWN, LIE - 1]}, "one word for both bits"),
]
_BULK: list[tuple[dict[str, Any], str]] = [
    (
        {"integers": FOUR, "values": [3, 0], "words": [LIE, LIE - 1, LIE, OWN, OWN - 1, LIE, LIE, LIE - 1]},
        "all first bits first, in place of a row for each device",
    ),
    ({"integers": FOUR, "values": [], "words": []}, "no devices"),
]
_LAWS: list[tuple[dict[str, Any], str]] = [
    ({"integers": FOUR, "value": 0}, "the first category, first field"),
    ({"integers": FOUR, "value": 3}, "the last category"),
    ({"integers": TWO, "value": 1}, "two categories: four payloads"),
    ({"integers": [3, 1], "value": 1}, "fractions that have gone through floating point"),
]
_PRICES: list[tuple[dict[str, Any], str]] = [
    ({"integers": FOUR, "windows": 1}, "one report: the loss of a single bit"),
    ({"integers": FOUR, "windows": 365}, "the price of a steady device is not that of one report"),
    ({"integers": WIDE, "windows": 7}, "a price that depends on the number of categories"),
    ({"integers": [2, WORDS // 2 - 1], "windows": 3}, "a price near 0: digits lost in p / q"),
    ({"integers": [2, 1], "windows": 1}, "the largest price"),
]
_ESTIMATES: list[tuple[dict[str, Any], str]] = [
    (
        {"integers": FOUR, "n": 1000, "counts": [380, 290, 310, 272], "level": 0.95},
        "shares that are made to add up to 1",
    ),
    (
        {"integers": FOUR, "n": 1000, "counts": [380, 290, 310, 272], "level": 0.95, "simultaneous": True},
        "intervals that hold at once: the level is shared by four",
    ),
    ({"integers": FOUR, "n": 10000, "counts": [9000, 1000, 0, 10000], "level": 0.9}, "values clipped to [0, 1]"),
    ({"integers": TWO, "n": 60, "counts": [20, 28], "level": 0.95}, "few reports: no Wilson interval"),
    ({"integers": TWO, "n": 1, "counts": [1, 1], "level": 0.99}, "one report, all of its bits 1"),
    ({"integers": FOUR, "n": 0, "counts": [0, 0, 0, 0], "level": 0.95}, "a division by no reports"),
    ({"integers": FOUR, "n": 10, "counts": [11, 0, 0, 0], "level": 0.95}, "more ones than reports"),
    ({"integers": FOUR, "n": 10, "counts": [5, 5, 5], "level": 0.95}, "a category without a count"),
]
