"""Local hashing with a small pool of seeds (spec/mechanisms/olh_pool.md)."""

from typing import Any

from tests.vectors.cases import MINUTES, OTHER_SECRET, SECRET, WORDS, Case, cases_of

LIE, LIE_3 = 1155094611, 910282060  # epsilon 1, g = 2, 3
SEVEN = [7, 3, LIE_3, 0, 0]  # seeds 1, 10, 11, 12 in base 3
BINARY = [6, 2, LIE, 0, 0]  # seeds 1 to 7
SINGLE = [5, 5, 639295495, 0, 0]  # one seed: the values themselves
WIDE = [1024, 3, LIE_3, 0, 0]
MOST = [65_536, 3, 1177115757, 0, 0]  # epsilon 0.5
FIRST, FLIP = 457443993, 665469507
KEPT = [7, 3, FIRST, FLIP, 1]  # epsilon 1, permanent_epsilon 2
BITS = [6, 2, 511972653, 844441823, 1]
LARGE = [1024, 3, FIRST, FLIP, 1]
PLAIN = [7, 3, LIE_3, 0, 1]  # epsilon = permanent_epsilon: reports repeat the permanent answer
HIGH = [2, 5, FIRST, FLIP, 1]  # more hashes than categories
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
    ({"integers": [9, 3, LIE_3, 0, 0]}, "a size that is a power of g: no digit more"),
    ({"integers": [10, 3, LIE_3, 0, 0]}, "one more: a digit more"),
    ({"integers": WIDE}, "seven digits"),
    ({"integers": MOST}, "the largest size"),
    ({"integers": [2, 1021, 4206588, 0, 0]}, "the largest g"),
    ({"integers": [3, 3, WORDS // 3, 0, 0]}, "the largest chance of a lie: linkage near 0"),
    ({"integers": [2, 2, WORDS // 2, 0, 0]}, "a report that tells nothing: the estimate divides by 0"),
    ({"integers": [7, 3, 0, 0, 0]}, "a report that never lies"),
    ({"integers": [2, 1031, 100, 0, 0]}, "more numbers to transform than there may be"),
    ({"integers": [65_536, 11, 100, 0, 0]}, "as many digits, but too many numbers to transform"),
    ({"integers": [7, 4, 100, 0, 0]}, "a g that is no prime"),
    ({"integers": [7, 1, LIE, 0, 0]}, "one hash for everything"),
    ({"integers": [1, 2, LIE, 0, 0]}, "one category"),
    ({"integers": [65_537, 3, 1177115757, 0, 0]}, "more categories than there may be"),
    ({"integers": KEPT}, "the seed counted twice: once in public bits, once in linkage"),
    ({"integers": BITS}, "two hashes: linkage of a bit"),
    ({"integers": PLAIN}, "no second round: two reports share all of the permanent answer"),
    ({"integers": HIGH}, "linkage of categories where hashes are more"),
    ({"integers": [7, 3, LIE_3, FLIP, 0]}, "a second round where nothing is permanent"),
    ({"integers": [7, 3, LIE_3, WORDS // 3 + 1, 1]}, "the permanent answer less likely than another one"),
    ({"integers": [7, 3, LIE_3, FLIP, 2]}, "a memo that is neither 0 nor 1"),
    ({"integers": [7, 3, LIE_3, 0]}, "an integer too few"),
    ({"integers": [7, 3, LIE_3, 0, 0, 0]}, "an integer too many"),
]
_ANSWERS: list[tuple[dict[str, Any], str]] = [
    ({"integers": SEVEN, "value": 3, "words": {}}, "a permanent hash where everything is fresh"),
    ({"integers": SEVEN, "value": 7, "words": {}}, "a number that is no category"),
    ({"integers": SEVEN, "value": -1, "words": {}}, "a negative value"),
    ({"integers": KEPT, "value": 5, "words": {"pool": [1], "memo/1": [2 * FIRST]}}, "an answer for each value"),
    ({"integers": KEPT, "value": 5, "words": {"pool": [0], "memo/2": [2 * FIRST - 1]}}, "upper of two others"),
    ({"integers": KEPT, "value": 5, "words": {"pool": [5], "memo/1": [0]}}, "the seed by division; lower of two"),
    ({"integers": LARGE, "value": 1, "words": {"pool": [LIMIT, 1], "memo/0": [WORDS - 1]}}, "a seed drawn again"),
    ({"integers": KEPT, "value": 7, "words": {}}, "a number that is no category, told by its permanent answer"),
]
_PERMANENT: list[tuple[dict[str, Any], str]] = [
    ({"integers": SEVEN, "value": 4, "secret": SECRET, **MINUTES}, "fresh: not even the seed follows from the secret"),
    ({"integers": LARGE, "value": 4, "secret": SECRET, **MINUTES}, "a seed without a purpose of its own"),
    ({"integers": LARGE, "value": 1000, "secret": SECRET, **MINUTES}, "a seed for each value"),
    ({"integers": LARGE, "value": 4, "secret": OTHER_SECRET, **MINUTES}, "a seed that no secret changes"),
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
    ({"integers": KEPT, "answer": [3, 1], "words": [2 * FLIP]}, "a seed is drawn again, or <= for <"),
    ({"integers": KEPT, "answer": [3, 1], "words": [2 * FLIP - 1]}, "the hash of a hash; the upper of two others"),
    ({"integers": KEPT, "answer": [0, 0], "words": [2 * FIRST]}, "the threshold of the first round: it is lower"),
    ({"integers": PLAIN, "answer": [1, 2], "words": [0]}, "a report that does not repeat the permanent answer"),
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
    (
        {"integers": KEPT, "values": [5, 2], "words": [1, 0, 2 * FLIP, 3, 2 * FIRST, 1]},
        "all permanent words first, in place of a row for each device",
    ),
    (
        {"integers": LARGE, "values": [7, 7], "words": [LIMIT, 1, WORDS - 1, WORDS - 1, 0, 1, 900, LIMIT, 2]},
        "refused words drawn again at once and not after the block",
    ),
]
_LAWS: list[tuple[dict[str, Any], str]] = [
    ({"integers": SEVEN, "value": 5}, "without a seed: seed 0"),
    ({"integers": SEVEN, "value": 5, "public": [3]}, "the law of another seed"),
    ({"integers": BINARY, "value": 5, "public": [4]}, "parity of what seed and value share"),
    ({"integers": SINGLE, "value": 4, "public": [0]}, "one seed"),
    ({"integers": KEPT, "value": 5, "public": [3]}, "the law of one round"),
    ({"integers": HIGH, "value": 1, "public": [0]}, "hashes of no category"),
]
_PRICES: list[tuple[dict[str, Any], str]] = [
    ({"integers": SEVEN, "windows": 1}, "epsilon 1"),
    ({"integers": BINARY, "windows": 30}, "binary: losses add up"),
    ({"integers": [3, 3, WORDS // 3, 0, 0], "windows": 2}, "prices near 0: digits lost in p / q"),
    ({"integers": [2, 2, 1, 0, 0], "windows": 1}, "the largest price"),
    ({"integers": KEPT, "windows": 2}, "fewer reports than permanent answers"),
    ({"integers": KEPT, "windows": 365}, "a life of as many permanent answers as there are categories"),
    ({"integers": BITS, "windows": 365}, "two hashes: the prices of a bit"),
    ({"integers": HIGH, "windows": 365}, "a life of as many permanent answers as there are hashes"),
    ({"integers": PLAIN, "windows": 2}, "no second round: no bound on a change"),
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
    ({"integers": [4, 2, LIE, 0, 0], "n": 1, "counts": [0, 1, 0, 0, 0, 0], "level": 0.99}, "one report"),
    ({"integers": [4, 2, LIE, 0, 0], "n": 0, "counts": [0, 0, 0, 0, 0, 0], "level": 0.95}, "a division by no reports"),
    (
        {"integers": [4, 2, LIE, 0, 0], "n": 5, "counts": [6, 0, 0, 0, 0, 0], "level": 0.95},
        "more reports than there are",
    ),
    ({"integers": [4, 2, LIE, 0, 0], "n": 5, "counts": [-1, 0, 0, 0, 0, 6], "level": 0.95}, "a negative count"),
    ({"integers": [4, 2, LIE, 0, 0], "n": 5, "counts": [2, 1, 1, 1], "level": 0.95}, "a count for each category"),
    ({"integers": KEPT, "n": 1000, "counts": _TABLE, "level": 0.95}, "se_shared without collisions"),
]
