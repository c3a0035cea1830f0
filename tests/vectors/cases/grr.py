"""Generalised randomised response (spec/mechanisms/grr.md)."""

from typing import Any

from tests.vectors.cases import MINUTES, OTHER_SECRET, SECRET, WORDS, Case, cases_of

KEEP = 1737785321
FIVE = [5, KEEP, 0, 0]  # epsilon 1
TWO = [2, 3139872685, 0, 0]  # epsilon 1
WIDE = [128, 586507183, 0, 0]  # epsilon 3
MOST = [65_536, 108048, 0, 0]  # epsilon 0.5
FIRST, AGAIN = 2786513123, 2425517478
KEPT = [5, FIRST, AGAIN, 1]  # epsilon 1, permanent_epsilon 2
PAIR = [2, 3782994643, 3450525473, 1]
CROWD = [128, 2314448831, 412062241, 1]  # epsilon 2, permanent_epsilon 5
PLAIN = [5, KEEP, WORDS, 1]  # epsilon = permanent_epsilon: reports repeat the permanent answer
NAME = {"encoder": "grr"}
LIMIT = WORDS - WORDS % 127  # words from here on do not choose one of 127 others


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
    ({"integers": FIVE}, "linkage of two values in place of five"),
    ({"integers": TWO}, "two categories: the other one is certain"),
    ({"integers": MOST}, "the largest size"),
    ({"integers": [3, WORDS - 1, 0, 0]}, "the largest chance to stay: linkage is all of the value and not more"),
    ({"integers": [3, WORDS // 3 + 1, 0, 0]}, "the smallest chance to stay: linkage near 0"),
    ({"integers": [3, WORDS // 3, 0, 0]}, "the own category less likely than another one"),
    ({"integers": [2, WORDS // 2, 0, 0]}, "a report that tells nothing: the estimate divides by 0"),
    ({"integers": [3, WORDS, 0, 0]}, "a report that never lies"),
    ({"integers": [1, WORDS - 1, 0, 0]}, "one category"),
    ({"integers": [65_537, 108048, 0, 0]}, "more categories than there may be"),
    ({"integers": KEPT}, "linkage of the value in place of the permanent answer"),
    ({"integers": PAIR}, "two categories: linkage of a bit"),
    ({"integers": PLAIN}, "no second round: two reports share all of the permanent answer"),
    ({"integers": CROWD}, "linkage of all of the permanent answer"),
    ({"integers": [5, KEEP, AGAIN, 0]}, "a second round where nothing is permanent"),
    ({"integers": [5, KEEP, 0, 1]}, "a second round that never repeats"),
    ({"integers": [5, KEEP, WORDS // 5, 1]}, "the permanent answer less likely than another one"),
    ({"integers": [5, KEEP, WORDS + 1, 1]}, "more words than there are"),
    ({"integers": [5, KEEP, AGAIN, 2]}, "a memo that is neither 0 nor 1"),
    ({"integers": [5, KEEP, 0]}, "an integer too few"),
    ({"integers": [5, KEEP, 0, 0, 0]}, "an integer too many"),
]
_ANSWERS: list[tuple[dict[str, Any], str]] = [
    ({"integers": FIVE, "value": 3, "words": {}}, "a permanent lie where everything is fresh"),
    ({"integers": FIVE, "value": 5, "words": {}}, "a value beyond the categories, kept as it is"),
    ({"integers": FIVE, "value": -1, "words": {}}, "a negative value"),
    ({"integers": KEPT, "value": 3, "words": {"memo/3": [FIRST, 3]}}, "<= for <: the threshold itself is a lie"),
    ({"integers": KEPT, "value": 3, "words": {"memo/3": [FIRST - 1, 0]}}, "one below stays; both words are taken"),
    ({"integers": KEPT, "value": 0, "words": {"memo/0": [WORDS - 1, 0]}}, "the threshold of the second round"),
    (
        {"integers": CROWD, "value": 100, "words": {"memo/100": [WORDS - 1, LIMIT, 100]}},
        "a permanent word at the limit is drawn again",
    ),
    ({"integers": KEPT, "value": 5, "words": {}}, "a value beyond the categories, told by its permanent answer"),
]
_PERMANENT: list[tuple[dict[str, Any], str]] = [
    ({"integers": FIVE, "value": 4, "secret": SECRET, **MINUTES}, "fresh: nothing follows from the secret"),
    ({"integers": KEPT, "value": 4, "secret": SECRET, **MINUTES}, "one stream for all values"),
    ({"integers": KEPT, "value": 0, "secret": SECRET, **MINUTES}, "the stream of value 4"),
    ({"integers": KEPT, "value": 0, "secret": OTHER_SECRET, **MINUTES}, "an answer that no secret changes"),
]
_REPORTS: list[tuple[dict[str, Any], str]] = [
    (
        {"integers": FIVE, "answer": [2], "words": [KEEP - 1, 0]},
        "one below the threshold stays; the other one is drawn",
    ),
    ({"integers": FIVE, "answer": [2], "words": [KEEP, 0]}, "<= for <: the threshold itself does not stay"),
    ({"integers": FIVE, "answer": [2], "words": [KEEP, 1]}, "the last category below the own one"),
    ({"integers": FIVE, "answer": [2], "words": [KEEP, 2]}, "the own category among the others"),
    ({"integers": FIVE, "answer": [2], "words": [WORDS - 1, WORDS - 1]}, "the last category never drawn"),
    ({"integers": FIVE, "answer": [0], "words": [KEEP, 0]}, "the first category: all others are above it"),
    ({"integers": FIVE, "answer": [4], "words": [KEEP, 3]}, "the last category: all others are below it"),
    ({"integers": TWO, "answer": [1], "words": [WORDS - 1, WORDS - 1]}, "two categories: a word is taken all the same"),
    ({"integers": WIDE, "answer": [100], "words": [WORDS - 1, LIMIT - 1]}, "the last word that chooses"),
    ({"integers": WIDE, "answer": [100], "words": [WORDS - 1, LIMIT, 100]}, "a word at the limit is drawn again"),
    ({"integers": WIDE, "answer": [100], "words": [0, WORDS - 1, 5]}, "drawn again only where it is looked at"),
    ({"integers": KEPT, "answer": [2], "words": [AGAIN, 2]}, "the threshold of the first round: this one is lower"),
    ({"integers": KEPT, "answer": [2], "words": [AGAIN - 1, 0]}, "one below the threshold repeats"),
    ({"integers": PLAIN, "answer": [2], "words": [WORDS - 1, 3]}, "a report that does not repeat the permanent answer"),
]
_BULK: list[tuple[dict[str, Any], str]] = [
    (
        {"integers": FIVE, "values": [0, 2, 4], "words": [KEEP, 0, KEEP - 1, 2, KEEP, 3]},
        "all thresholds first, in place of a row for each device",
    ),
    (
        {"integers": WIDE, "values": [7, 7, 7], "words": [0, LIMIT, WORDS - 1, LIMIT, WORDS - 1, 6, 9, LIMIT, 7]},
        "refused words drawn again at once and not after the block, or only for those who do not stay",
    ),
    ({"integers": FIVE, "values": [], "words": []}, "no devices"),
    (
        {"integers": KEPT, "values": [0, 4], "words": [FIRST, 1, AGAIN, 1, 0, 0, AGAIN, 3]},
        "all permanent words first, or the second round of the value in place of its permanent answer",
    ),
    (
        {"integers": CROWD, "values": [9, 9], "words": [*[WORDS - 1, LIMIT] * 4, 3, WORDS - 1, LIMIT, 7, 100, 4]},
        "refused words drawn again device by device and not word by word",
    ),
]
_LAWS: list[tuple[dict[str, Any], str]] = [
    ({"integers": FIVE, "value": 0}, "the first category"),
    ({"integers": FIVE, "value": 4}, "the last one"),
    ({"integers": TWO, "value": 1}, "two categories"),
    ({"integers": KEPT, "value": 2}, "the law of one round"),
    ({"integers": PLAIN, "value": 2}, "no second round"),
    ({"integers": [3, WORDS - 1, WORDS - 1, 1], "value": 0}, "two rounds that have gone through floating point"),
    ({"integers": [3, WORDS - 1, 0, 0], "value": 1}, "fractions that have gone through floating point"),
]
_PRICES: list[tuple[dict[str, Any], str]] = [
    ({"integers": FIVE, "windows": 1}, "one report"),
    ({"integers": FIVE, "windows": 365}, "the price of a steady device is not that of one report"),
    ({"integers": MOST, "windows": 7}, "a chance of others that is not divided by their number"),
    ({"integers": [2, WORDS // 2 + 1, 0, 0], "windows": 3}, "a price near 0: digits lost in p / q"),
    ({"integers": [65_536, WORDS - 1, 0, 0], "windows": 1}, "the largest price"),
    ({"integers": KEPT, "windows": 1}, "one report of a life: its closed bound is not the price of a report"),
    ({"integers": KEPT, "windows": 3}, "fewer reports than permanent answers"),
    ({"integers": KEPT, "windows": 365}, "a part of each change for a report that repeats no answer"),
    ({"integers": CROWD, "windows": 7}, "many categories: all changes are the lesser bound"),
    ({"integers": PAIR, "windows": 365}, "two categories: the prices of a bit"),
    ({"integers": PLAIN, "windows": 2}, "no second round: no bound on a change"),
    ({"integers": [3, WORDS - 1, WORDS - 1, 1], "windows": 2}, "chances near 0: digits lost in a logarithm"),
]
_ESTIMATES: list[tuple[dict[str, Any], str]] = [
    ({"integers": FIVE, "n": 1000, "counts": [400, 90, 210, 100, 200], "level": 0.95}, "q of two categories"),
    (
        {"integers": FIVE, "n": 1000, "counts": [400, 90, 210, 100, 200], "level": 0.95, "simultaneous": True},
        "intervals that hold at once: the level is shared by five",
    ),
    (
        {"integers": FIVE, "n": 10000, "counts": [9000, 1000, 0, 0, 0], "level": 0.9},
        "values clipped to [0, 1]",
    ),
    ({"integers": FIVE, "n": 60, "counts": [20, 10, 10, 10, 10], "level": 0.95}, "few reports: no Wilson interval"),
    ({"integers": TWO, "n": 480, "counts": [240, 240], "level": 0.95}, "the smallest n with Wilson's interval"),
    ({"integers": TWO, "n": 1, "counts": [0, 1], "level": 0.99}, "one report"),
    ({"integers": FIVE, "n": 0, "counts": [0, 0, 0, 0, 0], "level": 0.95}, "a division by no reports"),
    ({"integers": FIVE, "n": 10, "counts": [11, 0, 0, 0, 0], "level": 0.95}, "more reports of a category than reports"),
    ({"integers": FIVE, "n": 10, "counts": [11, -1, 0, 0, 0], "level": 0.95}, "a negative count"),
    ({"integers": FIVE, "n": 10, "counts": [10, 0, 0, 0], "level": 0.95}, "a category without a count"),
    ({"integers": KEPT, "n": 1000, "counts": [400, 90, 210, 100, 200], "level": 0.95}, "se_shared of the values"),
    (
        {"integers": KEPT, "n": 1000, "counts": [990, 10, 0, 0, 0], "level": 0.95},
        "permanent answers that are clipped where values would be",
    ),
]
