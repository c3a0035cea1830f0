"""Hadamard response (spec/mechanisms/hadamard_response.md)."""

from typing import Any

from tests.vectors.cases import MINUTES, SECRET, WORDS, Case, cases_of

KEEP, KEEP_4 = 3139872685, 3736829880
FIVE = [5, 8, KEEP]  # one block, epsilon 1
BLOCKS = [5, 4, KEEP_4]  # two blocks, the second one not full; epsilon 3
SINGLES = [3, 2, 3438902840]  # a block for each category; epsilon 3
WIDE = [100, 32, 2205548026]  # four blocks, epsilon 2
MOST = [65_536, 131_072, 2673442469]  # epsilon 0.5
NAME = {"encoder": "hadamard_response"}
LIMIT = WORDS - WORDS % 112  # words from here on do not choose one of 112 places


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
    ({"integers": FIVE}, "one block: linkage of values that share half of their pluses"),
    ({"integers": BLOCKS}, "two blocks: linkage of values that share none"),
    ({"integers": SINGLES}, "a block for each category"),
    ({"integers": WIDE}, "a last block that is hardly used has all its outputs"),
    ({"integers": [7, 8, KEEP]}, "one category for each row but the first"),
    ({"integers": [8, 16, KEEP]}, "one more: a larger block, or two"),
    ({"integers": MOST}, "the largest size"),
    ({"integers": [5, 8, WORDS - 1]}, "the largest chance of a hit"),
    ({"integers": [5, 8, WORDS // 2 + 1]}, "the smallest chance of a hit: linkage near 0"),
    ({"integers": [5, 8, WORDS // 2]}, "a report that tells nothing: the estimate divides by 0"),
    ({"integers": [5, 4, WORDS // 4]}, "the same with two blocks"),
    ({"integers": [5, 8, WORDS]}, "a report that always hits"),
    ({"integers": [5, 16, KEEP]}, "a block of which half is never used"),
    ({"integers": [5, 6, KEEP]}, "a block that is no power of two"),
    ({"integers": [5, 1, KEEP]}, "blocks without a category"),
    ({"integers": [1, 2, KEEP]}, "one category"),
    ({"integers": [65_537, 131_072, KEEP]}, "more categories than there may be"),
    ({"integers": [5, 8]}, "an integer too few"),
    ({"integers": [5, 8, KEEP, 0]}, "an integer too many"),
]
_ANSWERS: list[tuple[dict[str, Any], str]] = [
    ({"integers": FIVE, "value": 3, "words": {}}, "a permanent output where everything is fresh"),
    ({"integers": FIVE, "value": 5, "words": {}}, "a row that is no category"),
    ({"integers": FIVE, "value": -1, "words": {}}, "a negative value"),
]
_PERMANENT: list[tuple[dict[str, Any], str]] = [
    ({"integers": FIVE, "value": 4, "secret": SECRET, **MINUTES}, "fresh: nothing follows from the secret"),
]
_REPORTS: list[tuple[dict[str, Any], str]] = [
    ({"integers": FIVE, "answer": [2], "words": [KEEP - 1, 0]}, "one below the threshold is a hit"),
    ({"integers": FIVE, "answer": [2], "words": [KEEP, 0]}, "<= for <: the threshold itself is none"),
    ({"integers": FIVE, "answer": [0], "words": [0, 1]}, "row 1, not row 0: the free digits are above"),
    ({"integers": FIVE, "answer": [0], "words": [0, 3]}, "row 1: the last plus"),
    ({"integers": FIVE, "answer": [2], "words": [0, 3]}, "row 3: the first one of the row decides, not the last"),
    ({"integers": FIVE, "answer": [4], "words": [0, 2]}, "row 5: a digit of the row that is not looked at"),
    ({"integers": FIVE, "answer": [4], "words": [0, 1]}, "row 5: parity of what is in common"),
    ({"integers": FIVE, "answer": [4], "words": [WORDS - 1, 5]}, "no hit: the other outputs in the same order"),
    ({"integers": BLOCKS, "answer": [3], "words": [0, 5]}, "a hit: the place modulo half a block"),
    ({"integers": BLOCKS, "answer": [3], "words": [WORDS - 1, 1]}, "no hit: another output of the own block"),
    ({"integers": BLOCKS, "answer": [3], "words": [WORDS - 1, 2]}, "no hit: the first output of another block"),
    ({"integers": BLOCKS, "answer": [0], "words": [WORDS - 1, 2]}, "no hit: outputs behind the own block"),
    ({"integers": BLOCKS, "answer": [4], "words": [WORDS - 1, 5]}, "no hit: the last output before the own block"),
    ({"integers": SINGLES, "answer": [1], "words": [0, 4]}, "one plus: no free digit"),
    ({"integers": SINGLES, "answer": [1], "words": [WORDS - 1, 0]}, "its opposite"),
    ({"integers": SINGLES, "answer": [1], "words": [WORDS - 1, 3]}, "an output behind the own two"),
    ({"integers": WIDE, "answer": [99], "words": [0, LIMIT - 1]}, "the last word that chooses"),
    ({"integers": WIDE, "answer": [99], "words": [0, LIMIT, 7]}, "a hit: a word at the limit is drawn again too"),
    ({"integers": WIDE, "answer": [40], "words": [WORDS - 1, WORDS - 1, 111]}, "the last output of all"),
    ({"integers": MOST, "answer": [65_535], "words": [0, 65_535]}, "the largest row: 17 digits"),
]
_BULK: list[tuple[dict[str, Any], str]] = [
    (
        {"integers": BLOCKS, "values": [0, 3, 4], "words": [KEEP_4, 2, KEEP_4 - 1, 1, KEEP_4, 0]},
        "all hits first, in place of a row for each device",
    ),
    (
        {"integers": WIDE, "values": [7, 70, 7], "words": [0, LIMIT, WORDS - 1, LIMIT, 0, 3, WORDS - 1, 9, 80]},
        "refused words drawn again at once and not after the block, or only where they are looked at",
    ),
    ({"integers": FIVE, "values": [], "words": []}, "no devices"),
]
_LAWS: list[tuple[dict[str, Any], str]] = [
    ({"integers": FIVE, "value": 0}, "the first category has row 1"),
    ({"integers": FIVE, "value": 4}, "one block"),
    ({"integers": BLOCKS, "value": 2}, "the last row of a block"),
    ({"integers": BLOCKS, "value": 3}, "the first row of the next one"),
    ({"integers": SINGLES, "value": 1}, "one plus and five others"),
]
_PRICES: list[tuple[dict[str, Any], str]] = [
    ({"integers": FIVE, "windows": 1}, "epsilon 1"),
    ({"integers": BLOCKS, "windows": 30}, "more blocks: losses add up"),
    ({"integers": [5, 8, WORDS // 2 + 1], "windows": 2}, "prices near 0: digits lost in p / q"),
    ({"integers": [5, 4, WORDS - 1], "windows": 1}, "the largest price"),
]
_EIGHT = [150, 110, 120, 130, 140, 105, 125, 120]
_ESTIMATES: list[tuple[dict[str, Any], str]] = [
    ({"integers": FIVE, "n": 1000, "counts": _EIGHT, "level": 0.95}, "one block: a coin with chances u and 1/2"),
    ({"integers": FIVE, "n": 1000, "counts": _EIGHT, "level": 0.95, "simultaneous": True}, "all at once"),
    ({"integers": BLOCKS, "n": 1000, "counts": _EIGHT, "level": 0.95}, "two blocks: the spread of the sample"),
    ({"integers": BLOCKS, "n": 1000, "counts": _EIGHT, "level": 0.99, "simultaneous": True}, "two blocks, at once"),
    ({"integers": BLOCKS, "n": 40, "counts": [40, 0, 0, 0, 0, 0, 0, 0], "level": 0.95}, "values beyond 1; no spread"),
    ({"integers": SINGLES, "n": 300, "counts": [150, 20, 30, 25, 40, 35], "level": 0.9}, "a block for each category"),
    ({"integers": BLOCKS, "n": 1, "counts": [0, 0, 0, 0, 0, 1, 0, 0], "level": 0.95}, "one report"),
    ({"integers": BLOCKS, "n": 0, "counts": [0, 0, 0, 0, 0, 0, 0, 0], "level": 0.95}, "a division by no reports"),
    ({"integers": BLOCKS, "n": 5, "counts": [6, 0, 0, 0, 0, 0, 0, 0], "level": 0.95}, "more of an output than reports"),
    ({"integers": BLOCKS, "n": 5, "counts": [6, -1, 0, 0, 0, 0, 0, 0], "level": 0.95}, "a negative count"),
    ({"integers": BLOCKS, "n": 5, "counts": [1, 1, 1, 1, 1], "level": 0.95}, "a count for each category"),
]
