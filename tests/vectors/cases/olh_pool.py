"""Local hashing with a small pool of seeds (spec/mechanisms/olh_pool.md)."""

from typing import Any

from tests.vectors.cases import MINUTES, SECRET, WORDS, Case, cases_of

LIE, LIE_3 = 1155094611, 910282060  # epsilon 1, g = 2, 3
SEVEN = [7, 3, LIE_3]  # seeds 1, 10, 11, 12 in base 3
BINARY = [6, 2, LIE]  # seeds 1 to 7
SINGLE = [5, 5, 639295495]  # one seed: the values themselves
WIDE = [1024, 3, LIE_3]
MOST = [65_536, 3, 1177115757]  # epsilon 0.5
NAME = {"encoder": "olh_pool"}
LIMIT = WORDS - WORDS % 1093  # words from here on do not choose one of so many seeds


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
    ({"integers": SEVEN}, "two digits, four seeds of which one agrees"),
    ({"integers": BINARY}, "seeds for all numbers where g is 2"),
    ({"integers": SINGLE}, "one seed, a field without bits"),
    ({"integers": [9, 3, LIE_3]}, "a size that is a power of g: no digit more"),
    ({"integers": [10, 3, LIE_3]}, "one more: a digit more"),
    ({"integers": WIDE}, "seven digits"),
    ({"integers": MOST}, "the largest size"),
    ({"integers": [2, 1021, 4206588]}, "the largest g"),
    ({"integers": [3, 3, WORDS // 3]}, "the largest chance of a lie: linkage near 0"),
    ({"integers": [2, 2, WORDS // 2]}, "a report that tells nothing: the estimate divides by 0"),
    ({"integers": [7, 3, 0]}, "a report that never lies"),
    ({"integers": [2, 1031, 100]}, "more numbers to transform than there may be"),
    ({"integers": [65_536, 11, 100]}, "as many digits, but too many numbers to transform"),
    ({"integers": [7, 4, 100]}, "a g that is no prime"),
    ({"integers": [7, 1, LIE]}, "one hash for everything"),
    ({"integers": [1, 2, LIE]}, "one category"),
    ({"integers": [65_537, 3, 1177115757]}, "more categories than there may be"),
    ({"integers": [7, 3]}, "an integer too few"),
    ({"integers": [7, 3, LIE_3, 0]}, "an integer too many"),
]
_ANSWERS: list[tuple[dict[str, Any], str]] = [
    ({"integers": SEVEN, "value": 3, "words": {}}, "a permanent hash where everything is fresh"),
    ({"integers": SEVEN, "value": 7, "words": {}}, "a number that is no category"),
    ({"integers": SEVEN, "value": -1, "words": {}}, "a negative value"),
]
_PERMANENT: list[tuple[dict[str, Any], str]] = [
    ({"integers": SEVEN, "value": 4, "secret": SECRET, **MINUTES}, "fresh: not even the seed follows from the secret"),
]
_REPORTS: list[tuple[dict[str, Any], str]] = [
    ({"integers": SEVEN, "answer": [5], "words": [0, 2 * LIE_3]}, "<= for <: the threshold itself is the truth"),
    ({"integers": SEVEN, "answer": [5], "words": [0, 2 * LIE_3 - 1]}, "one below lies: upper of two others"),
    ({"integers": SEVEN, "answer": [5], "words": [0, 2 * LIE_3 - 2]}, "the lower of two others"),
    (
        {"integers": SEVEN, "answer": [5], "words": [1, WORDS - 1]},
        "seed 1 is 10 in base 3: it looks at the other digit",
    ),
    ({"integers": SEVEN, "answer": [5], "words": [2, WORDS - 1]}, "digits in the other order"),
    ({"integers": SEVEN, "answer": [5], "words": [3, WORDS - 1]}, "the last seed; products without remainder"),
    ({"integers": SEVEN, "answer": [6], "words": [7, 1]}, "the seed by division, and not by remainder"),
    ({"integers": SEVEN, "answer": [0], "words": [3, WORDS - 1]}, "category 0 always has hash 0"),
    ({"integers": BINARY, "answer": [5], "words": [6, LIE - 1]}, "one other hash: the word says only that it lies"),
    ({"integers": SINGLE, "answer": [3], "words": [WORDS - 1, WORDS - 1]}, "one seed: its word is taken all the same"),
    ({"integers": SINGLE, "answer": [3], "words": [0, 3]}, "one seed: a lie"),
    ({"integers": WIDE, "answer": [1000], "words": [LIMIT - 1, WORDS - 1]}, "the last word that chooses"),
    ({"integers": WIDE, "answer": [1000], "words": [LIMIT, 500, 0]}, "a word at the limit is drawn again"),
    ({"integers": MOST, "answer": [65_535], "words": [88_572, WORDS - 1]}, "the last seed of many"),
]
_BULK: list[tuple[dict[str, Any], str]] = [
    (
        {"integers": SEVEN, "values": [0, 2, 6], "words": [0, 2 * LIE_3, 2, 2 * LIE_3 - 1, 3, 0]},
        "all seeds first, in place of a row for each device",
    ),
    (
        {"integers": WIDE, "values": [7, 7, 7], "words": [0, WORDS - 1, LIMIT, 0, WORDS - 1, WORDS - 1, 6, LIMIT, 900]},
        "refused words drawn again at once and not after the block; lies drawn again",
    ),
    ({"integers": SEVEN, "values": [], "words": []}, "no devices"),
]
_LAWS: list[tuple[dict[str, Any], str]] = [
    ({"integers": SEVEN, "value": 5}, "without a seed: seed 0"),
    ({"integers": SEVEN, "value": 5, "public": [3]}, "the law of another seed"),
    ({"integers": BINARY, "value": 5, "public": [4]}, "parity of what seed and value share"),
    ({"integers": SINGLE, "value": 4, "public": [0]}, "one seed"),
]
_PRICES: list[tuple[dict[str, Any], str]] = [
    ({"integers": SEVEN, "windows": 1}, "epsilon 1"),
    ({"integers": BINARY, "windows": 30}, "binary: losses add up"),
    ({"integers": [3, 3, WORDS // 3], "windows": 2}, "prices near 0: digits lost in p / q"),
    ({"integers": [2, 2, 1], "windows": 1}, "the largest price"),
]
_TABLE = [120, 60, 70, 90, 80, 70, 100, 75, 85, 95, 90, 65]  # a row for each seed
_ESTIMATES: list[tuple[dict[str, Any], str]] = [
    ({"integers": SEVEN, "n": 1000, "counts": _TABLE, "level": 0.95}, "a transform with the digits turned round"),
    ({"integers": SEVEN, "n": 1000, "counts": _TABLE, "level": 0.95, "simultaneous": True}, "all at once"),
    (
        {
            "integers": BINARY,
            "n": 700,
            "counts": [55, 45, 60, 40, 52, 48, 61, 39, 70, 30, 50, 50, 44, 56],
            "level": 0.9,
        },
        "seven seeds, two hashes",
    ),
    (
        {"integers": SINGLE, "n": 500, "counts": [100, 150, 50, 90, 110], "level": 0.95},
        "one seed: the counts themselves",
    ),
    ({"integers": [4, 2, LIE], "n": 1, "counts": [0, 1, 0, 0, 0, 0], "level": 0.99}, "one report"),
    ({"integers": [4, 2, LIE], "n": 0, "counts": [0, 0, 0, 0, 0, 0], "level": 0.95}, "a division by no reports"),
    ({"integers": [4, 2, LIE], "n": 5, "counts": [6, 0, 0, 0, 0, 0], "level": 0.95}, "more reports than there are"),
    ({"integers": [4, 2, LIE], "n": 5, "counts": [-1, 0, 0, 0, 0, 6], "level": 0.95}, "a negative count"),
    ({"integers": [4, 2, LIE], "n": 5, "counts": [2, 1, 1, 1], "level": 0.95}, "a count for each category"),
]
