"""Optimal local hashing (spec/mechanisms/olh.md)."""

from typing import Any

from tests.vectors.cases import MINUTES, SECRET, WORDS, Case, cases_of

LIE, LIE_3, LIE_4 = 1155094611, 910282060, 751094023  # epsilon 1, g = 2, 3, 4
BINARY = [5, 2, LIE]  # binary local hashing
FIVE = [5, 3, LIE_3]
FOUR = [4, 3, LIE_3]  # residues modulo 5 all the same
WIDE = [128, 4, LIE_4]  # modulo 131
MOST = [65_521, 3, 1177115757]  # epsilon 0.5
TWO = [2, 2, 203692576]  # epsilon 3
NAME = {"encoder": "olh"}
SEEDS = 131 * 130
LIMIT = WORDS - WORDS % SEEDS  # words from here on do not choose one of them


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
    ({"integers": BINARY}, "two hashes: the share of seeds that agree is 2/5 and not 1/2"),
    ({"integers": FIVE}, "three hashes of five residues: 2, 2 and 1 of them"),
    ({"integers": FOUR}, "a size that is no prime: the next one"),
    ({"integers": WIDE}, "the prime below in place of the one above"),
    ({"integers": MOST}, "the largest size: a product of more than 32 bits"),
    ({"integers": TWO}, "two categories: two seeds"),
    ({"integers": [5, 5, 100]}, "as many hashes as residues: no two categories agree"),
    ({"integers": [3, 3, WORDS // 3]}, "the largest chance of a lie: linkage near 0"),
    ({"integers": [2, 2, WORDS // 2]}, "a report that tells nothing: the estimate divides by 0"),
    ({"integers": [5, 3, WORDS // 3 + 1]}, "a lie likelier than the truth"),
    ({"integers": [5, 3, 0]}, "a report that never lies"),
    ({"integers": [4, 6, 100]}, "more hashes than residues"),
    ({"integers": [5, 1, LIE]}, "one hash for everything"),
    ({"integers": [1, 2, LIE]}, "one category"),
    ({"integers": [65_522, 3, 1177115757]}, "more seeds than words"),
    ({"integers": [5, 3]}, "an integer too few"),
    ({"integers": [5, 3, LIE_3, 0]}, "an integer too many"),
]
_ANSWERS: list[tuple[dict[str, Any], str]] = [
    ({"integers": FIVE, "value": 3, "words": {}}, "a permanent hash where everything is fresh"),
    ({"integers": FIVE, "value": 5, "words": {}}, "a value beyond the categories, kept as it is"),
    ({"integers": FOUR, "value": 4, "words": {}}, "a residue that is no category"),
    ({"integers": FIVE, "value": -1, "words": {}}, "a negative value"),
]
_PERMANENT: list[tuple[dict[str, Any], str]] = [
    ({"integers": FIVE, "value": 4, "secret": SECRET, **MINUTES}, "fresh: not even the seed follows from the secret"),
]
_REPORTS: list[tuple[dict[str, Any], str]] = [
    ({"integers": FIVE, "answer": [3], "words": [0, 2 * LIE_3]}, "<= for <: the threshold itself is the truth"),
    ({"integers": FIVE, "answer": [3], "words": [0, 2 * LIE_3 - 1]}, "one below lies, with the upper of two others"),
    ({"integers": FIVE, "answer": [3], "words": [0, 2 * LIE_3 - 2]}, "the lower of two others: the own one skipped"),
    ({"integers": FIVE, "answer": [3], "words": [0, LIE_3]}, "lies in halves of the range, and not by remainder"),
    ({"integers": FIVE, "answer": [0], "words": [4, WORDS - 1]}, "a b that is left out"),
    ({"integers": FIVE, "answer": [4], "words": [5, WORDS - 1]}, "a seed of 5 has a = 2: a from 0, or b from 1"),
    ({"integers": FIVE, "answer": [4], "words": [19, WORDS - 1]}, "the last seed"),
    ({"integers": FIVE, "answer": [1], "words": [20, WORDS - 1]}, "the seed by division, and not by remainder"),
    ({"integers": FIVE, "answer": [2], "words": [1, WORDS - 1]}, "remainders of g for ranges: residue 3 has hash 1"),
    ({"integers": FOUR, "answer": [3], "words": [11, 0]}, "modulo 4 in place of 5"),
    ({"integers": BINARY, "answer": [4], "words": [7, 0]}, "one other hash: the word says only that it lies"),
    ({"integers": MOST, "answer": [65_520], "words": [4292935919, WORDS - 1]}, "32 bits: the largest product"),
    (
        {"integers": MOST, "answer": [65_520], "words": [4292935920, 3, WORDS - 1]},
        "the first word that chooses no seed",
    ),
    ({"integers": WIDE, "answer": [100], "words": [LIMIT - 1, WORDS - 1]}, "the last word that chooses"),
    ({"integers": WIDE, "answer": [100], "words": [LIMIT, 5, 0]}, "a word at the limit is drawn again"),
    ({"integers": TWO, "answer": [1], "words": [WORDS - 1, 203692575]}, "two categories"),
]
_BULK: list[tuple[dict[str, Any], str]] = [
    (
        {"integers": FIVE, "values": [0, 2, 4], "words": [0, 2 * LIE_3, 7, 2 * LIE_3 - 1, 19, 0]},
        "all seeds first, in place of a row for each device",
    ),
    (
        {
            "integers": WIDE,
            "values": [7, 7, 7],
            "words": [0, WORDS - 1, LIMIT, 0, WORDS - 1, WORDS - 1, 6, LIMIT, 9],
        },
        "refused words drawn again at once and not after the block; lies drawn again",
    ),
    ({"integers": FIVE, "values": [], "words": []}, "no devices"),
]
_LAWS: list[tuple[dict[str, Any], str]] = [
    ({"integers": FIVE, "value": 2}, "without a seed: seed 0"),
    ({"integers": FIVE, "value": 2, "public": [7]}, "the law of another seed"),
    ({"integers": BINARY, "value": 4, "public": [19]}, "the last seed"),
    ({"integers": FOUR, "value": 3, "public": [12]}, "a size that is no prime"),
    ({"integers": TWO, "value": 1, "public": [1]}, "two categories"),
]
_PRICES: list[tuple[dict[str, Any], str]] = [
    ({"integers": FIVE, "windows": 1}, "epsilon 1"),
    ({"integers": BINARY, "windows": 30}, "binary: losses add up"),
    ({"integers": MOST, "windows": 365}, "a year"),
    ({"integers": [3, 3, WORDS // 3], "windows": 2}, "prices near 0: digits lost in p / q"),
    ({"integers": [2, 2, 1], "windows": 1}, "the largest price"),
]
_ESTIMATES: list[tuple[dict[str, Any], str]] = [
    ({"integers": FIVE, "n": 1000, "counts": [400, 290, 310, 300, 350], "level": 0.95}, "1/g for the chance of others"),
    (
        {"integers": BINARY, "n": 1000, "counts": [600, 490, 510, 500, 450], "level": 0.95, "simultaneous": True},
        "binary, intervals that hold at once",
    ),
    ({"integers": FOUR, "n": 10000, "counts": [9000, 1000, 0, 0], "level": 0.9}, "values that are clipped to [0, 1]"),
    ({"integers": TWO, "n": 60, "counts": [20, 10], "level": 0.95}, "few reports: no Wilson interval"),
    ({"integers": TWO, "n": 1, "counts": [0, 1], "level": 0.99}, "one report"),
    ({"integers": FOUR, "n": 0, "counts": [0, 0, 0, 0], "level": 0.95}, "a division by no reports"),
    ({"integers": FOUR, "n": 10, "counts": [11, 0, 0, 0], "level": 0.95}, "more supports than reports"),
    ({"integers": FOUR, "n": 10, "counts": [-1, 0, 0, 0], "level": 0.95}, "a negative count"),
    ({"integers": FOUR, "n": 10, "counts": [1, 1, 1, 1, 1], "level": 0.95}, "a count for each residue"),
]
