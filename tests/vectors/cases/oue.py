"""Optimised unary encoding (spec/mechanisms/oue.md)."""

from typing import Any

from tests.vectors.cases import MINUTES, OTHER_SECRET, SECRET, WORDS, Case, cases_of

LIE = 1155094610
OWN = WORDS // 2
FOUR = [4, LIE, 0, 0]  # epsilon 1
TWO = [2, LIE, 0, 0]  # epsilon 1
WIDE = [1024, 203692575, 0, 0]  # epsilon 3
LOW, FLIP = 511972652, 844441824
FIRST, LAST = OWN, WORDS - 1
KEPT = [4, LOW, FLIP, 1]  # epsilon 1, permanent_epsilon 2
PAIR = [2, LOW, FLIP, 1]
PLAIN = [4, LIE, 0, 1]  # epsilon = permanent_epsilon: nothing is flipped
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
    ({"integers": [9, LIE, 0, 0]}, "more than a byte of bits"),
    ({"integers": [3, 1, 0, 0]}, "the smallest chance of a lie: linkage is all of the value and not more"),
    ({"integers": [3, WORDS // 2 - 1, 0, 0]}, "the largest chance of a lie: linkage near 0"),
    ({"integers": [3, WORDS // 2, 0, 0]}, "reports that tell nothing: the estimate divides by 0"),
    ({"integers": [3, 0, 0, 0]}, "zeros that are never wrong"),
    ({"integers": [1, LIE, 0, 0]}, "one category"),
    ({"integers": [65_537, LIE, 0, 0]}, "more categories than there may be"),
    ({"integers": KEPT}, "linkage of the own bit for all of them, or of the value alone"),
    ({"integers": [9, LOW, FLIP, 1]}, "linkage that does not grow with the categories"),
    ({"integers": PLAIN}, "no second round: a report is the permanent answer"),
    ({"integers": [4, LIE, 1, 0]}, "a second round where nothing is permanent"),
    ({"integers": [4, LIE, WORDS // 2, 1]}, "reports that tell nothing of the permanent answer"),
    ({"integers": [4, LIE, 0, 2]}, "memo that is neither"),
    ({"integers": [4, LIE, 0]}, "an integer too few"),
    ({"integers": [4, LIE, 0, 0, 0]}, "an integer too many"),
]
_ANSWERS: list[tuple[dict[str, Any], str]] = [
    ({"integers": FOUR, "value": 3, "words": {}}, "a permanent lie where everything is fresh"),
    ({"integers": FOUR, "value": 4, "words": {}}, "a value beyond the categories, kept as it is"),
    ({"integers": FOUR, "value": -1, "words": {}}, "a negative value"),
    (
        {"integers": KEPT, "value": 1, "words": {"memo/0": [LOW, LOW - 1, LOW - 1, LOW], "memo/1/1": [FIRST]}},
        "<= for <; the word of the first stream: the own category has one of its own",
    ),
    (
        {"integers": KEPT, "value": 3, "words": {"memo/0": [0, 0, 0, 0], "memo/1/3": [FIRST - 1]}},
        "one own word for all categories",
    ),
    (
        {"integers": PAIR, "value": 0, "words": {"memo/0": [0, LAST], "memo/1/0": [LAST]}},
        "answers by value and not by position and state",
    ),
    ({"integers": KEPT, "value": 4, "words": {}}, "a value beyond the categories"),
]
_PERMANENT: list[tuple[dict[str, Any], str]] = [
    ({"integers": FOUR, "value": 2, "secret": SECRET, **MINUTES}, "fresh: nothing follows from the secret"),
    ({"integers": KEPT, "value": 0, "secret": SECRET, **MINUTES}, "from secret to answers"),
    (
        {"integers": KEPT, "value": 2, "secret": SECRET, **MINUTES},
        "another category: two other bits, no more",
    ),
    ({"integers": KEPT, "value": 2, "secret": OTHER_SECRET, **MINUTES}, "the answers of another device"),
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
    ({"integers": KEPT, "answer": [0, 1, 0, 1], "words": [FLIP - 1, FLIP - 1, FLIP, FLIP]}, "<= for <"),
    (
        {"integers": KEPT, "answer": [1, 1, 0, 0], "words": [0, LAST, LAST, 0]},
        "flips that never clear a bit",
    ),
    (
        {"integers": PLAIN, "answer": [0, 1, 1, 0], "words": [0, 0, LAST, LAST]},
        "no second round: words are taken",
    ),
]
_BULK: list[tuple[dict[str, Any], str]] = [
    (
        {"integers": FOUR, "values": [3, 0], "words": [LIE, LIE - 1, LIE, OWN, OWN - 1, LIE, LIE, LIE - 1]},
        "all first bits first, in place of a row for each device",
    ),
    ({"integers": FOUR, "values": [], "words": []}, "no devices"),
    (
        {
            "integers": PAIR,
            "values": [0, 1],
            "words": [LOW - 1, LOW, FIRST, 0, FLIP, FLIP - 1, LOW, 0, 0, FIRST - 1, FLIP - 1, FLIP],
        },
        "permanent words of all devices first, or the own category's stream before the other",
    ),
]
_LAWS: list[tuple[dict[str, Any], str]] = [
    ({"integers": FOUR, "value": 0}, "the first category, first field"),
    ({"integers": FOUR, "value": 3}, "the last category"),
    ({"integers": TWO, "value": 1}, "two categories: four payloads"),
    ({"integers": [3, 1, 0, 0], "value": 1}, "fractions that have gone through floating point"),
    ({"integers": [3, LOW, FLIP, 1], "value": 1}, "flips that are added and not composed"),
    ({"integers": PAIR, "value": 0}, "the law of the permanent answers, or of the flips"),
]
_PRICES: list[tuple[dict[str, Any], str]] = [
    ({"integers": FOUR, "windows": 1}, "one report: the loss of a single bit"),
    ({"integers": FOUR, "windows": 365}, "the price of a steady device is not that of one report"),
    ({"integers": WIDE, "windows": 7}, "a price that depends on the number of categories"),
    ({"integers": [2, WORDS // 2 - 1, 0, 0], "windows": 3}, "a price near 0: digits lost in p / q"),
    ({"integers": [2, 1, 0, 0], "windows": 1}, "the largest price"),
    ({"integers": KEPT, "windows": 1}, "a change of one bit in place of two"),
    ({"integers": KEPT, "windows": 14}, "a life as all changes"),
    ({"integers": PAIR, "windows": 14}, "two positions: each by itself"),
    ({"integers": [128, LOW, FLIP, 1], "windows": 365}, "positions that are paid for twice, or not at all"),
    ({"integers": [128, LOW, FLIP, 1], "windows": 30}, "fewer windows than half the positions"),
    ({"integers": [65_536, LOW, 1000, 1], "windows": 7}, "flips so rare that the answers show"),
    ({"integers": PLAIN, "windows": 1}, "no flips: no bound for changes, not even over one window"),
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
    (
        {"integers": KEPT, "n": 1000, "counts": [480, 390, 410, 372], "level": 0.95},
        "se_shared of the values",
    ),
    ({"integers": KEPT, "n": 10000, "counts": [9000, 1000, 0, 10000], "level": 0.9}, "se_shared of shares not clipped"),
    ({"integers": PLAIN, "n": 60, "counts": [20, 28, 22, 30], "level": 0.95}, "no second round: all error is shared"),
    ({"integers": FOUR, "n": 0, "counts": [0, 0, 0, 0], "level": 0.95}, "a division by no reports"),
    ({"integers": FOUR, "n": 10, "counts": [11, 0, 0, 0], "level": 0.95}, "more ones than reports"),
    ({"integers": FOUR, "n": 10, "counts": [5, 5, 5], "level": 0.95}, "a category without a count"),
]
