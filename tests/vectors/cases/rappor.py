"""Bloom filters of words in two rounds (spec/mechanisms/rappor.md), and words as values (spec/words.md)."""

from typing import Any

from tests.vectors.cases import MINUTES, OTHER_SECRET, SECRET, WORDS, Case, cases_of

LOW, ZERO = 1155094610, 1009333258
SMALL = [4, 1, 2, LOW, ZERO, WORDS - ZERO, 1]  # epsilon 1, permanent_epsilon 2
TINY = [2, 1, 2, LOW, ZERO, WORDS - ZERO, 1]
PAIR = [6, 2, 4, 1377916995, 1402288937, 2892678359, 1]  # two segments of three places
FRESH = [4, 2, 2, 0, 1880437611, 2414529685, 0]  # epsilon 1
PAPER = [128, 2, 8, 2**30, 2**31, 3 * 2**30, 1]  # f = 0.5, p = 0.5, q = 0.75
PLAIN = [4, 1, 1, 1621524826, 0, WORDS, 1]  # epsilon = permanent_epsilon: nothing is flipped
THE, HUBBUB = 2901391961391501, 6860239801045390  # values of words
LAST = 2**53 - 1
NAME = {"encoder": "rappor"}
ONES, ZEROS = [0] * 4, [WORDS - 1] * 4


def cases() -> list[Case]:
    return [
        *cases_of("word", _WORDS),
        *cases_of("encoder", _ENCODERS, **NAME),
        *cases_of("answer", _ANSWERS, **NAME),
        *cases_of("permanent", _PERMANENT, **NAME),
        *cases_of("report", _REPORTS, **NAME),
        *cases_of("bulk", _BULK, **NAME),
        *cases_of("law", _LAWS, **NAME),
        *cases_of("prices", _PRICES, **NAME),
        *cases_of("estimate", _ESTIMATES, **NAME, lower=0, step=1000000),
    ]


_WORDS: list[tuple[dict[str, Any], str]] = [
    ({"word": "the"}, "the last bits of the hash, or its bytes the other way round"),
    ({"word": "The"}, "capitals that are folded"),
    ({"word": ""}, "the empty text as a word: it is no word"),
    ({"word": "Straße"}, "another encoding than UTF-8"),
    ({"word": "e\u0301"}, "forms of Unicode made one: letter and accent"),
    ({"word": "\u00e9"}, "forms of Unicode made one: the letter that has its accent"),
    ({"word": " the"}, "blanks that are cut off"),
    ({"word": "\U0001f600"}, "surrogates in place of four bytes of UTF-8"),
    ({"word": "a" * 300}, "words that are cut"),
]
_ENCODERS: list[tuple[dict[str, Any], str]] = [
    ({"integers": SMALL}, "the cohort counted twice: once in public bits, once in linkage"),
    ({"integers": PAIR}, "linkage of two segments"),
    ({"integers": PAPER}, "chances that are not mirror images: linkage of set and unset bits differs"),
    ({"integers": FRESH}, "public bits of a cohort that is drawn afresh"),
    ({"integers": PLAIN}, "no second round: a report is the permanent answer"),
    ({"integers": [3, 1, 1, LOW, 0, 2**31, 1]}, "a report that is certain for one of the answers"),
    ({"integers": [2, 1, 1, 0, 2**31 - 1, 2**31, 0]}, "a report that tells next to nothing"),
    ({"integers": [4, 3, 2, LOW, ZERO, WORDS - ZERO, 1]}, "a segment that is shorter than the others"),
    ({"integers": [4, 4, 2, LOW, ZERO, WORDS - ZERO, 1]}, "segments of one place"),
    ({"integers": [1, 1, 2, LOW, ZERO, WORDS - ZERO, 1]}, "one bit"),
    ({"integers": [4097, 1, 2, LOW, ZERO, WORDS - ZERO, 1]}, "more bits than there may be"),
    ({"integers": [34, 17, 2, LOW, ZERO, WORDS - ZERO, 1]}, "more hashes than there may be"),
    ({"integers": [4, 1, 3, LOW, ZERO, WORDS - ZERO, 1]}, "cohorts that are no power of two"),
    ({"integers": [4, 1, 2048, LOW, ZERO, WORDS - ZERO, 1]}, "cohorts that single devices out"),
    ({"integers": [4, 1, 2, 0, ZERO, WORDS - ZERO, 1]}, "permanent answers that never lie"),
    ({"integers": [4, 1, 2, 2**31, ZERO, WORDS - ZERO, 1]}, "permanent answers that tell nothing"),
    ({"integers": [4, 1, 2, LOW, ZERO, ZERO, 1]}, "reports that tell nothing"),
    ({"integers": [4, 1, 2, LOW, WORDS - ZERO, ZERO, 1]}, "reports the wrong way round"),
    ({"integers": [4, 1, 2, LOW, 0, WORDS + 1, 1]}, "a chance above one"),
    ({"integers": [4, 1, 2, LOW, ZERO, WORDS - ZERO, 0]}, "a first round where nothing is permanent"),
    ({"integers": [4, 1, 2, 0, 0, WORDS - ZERO, 0]}, "a report that is certain"),
    ({"integers": [4, 1, 2, 0, ZERO, WORDS, 0]}, "a report that is certain, the other way"),
    ({"integers": [4, 1, 2, LOW, ZERO, WORDS - ZERO, 2]}, "memo that is neither"),
    ({"integers": [4, 1, 2, LOW, ZERO, WORDS - ZERO]}, "an integer too few"),
]
_ANSWERS: list[tuple[dict[str, Any], str]] = [
    (
        {"integers": SMALL, "value": THE, "words": {"cohort/2": [2], "memo/0": ZEROS, "memo/1": ZEROS}},
        "places of another cohort or segment; no lies",
    ),
    (
        {"integers": SMALL, "value": THE, "words": {"cohort/2": [1], "memo/0": ZEROS, "memo/1": ZEROS}},
        "one cohort for all",
    ),
    (
        {"integers": SMALL, "value": THE, "words": {"cohort/2": [0], "memo/0": [LOW, LOW - 1, 0, LOW], "memo/1": ONES}},
        "<= for <; one stream for both states: a set bit lies by its own",
    ),
    (
        {"integers": SMALL, "value": 0, "words": {"cohort/2": [1], "memo/0": [LOW - 1, LOW, LOW, 0], "memo/1": ZEROS}},
        "no word as a word with a place",
    ),
    (
        {"integers": PAIR, "value": THE, "words": {"cohort/4": [3], "memo/0": [9] * 6, "memo/1": [WORDS - 1] * 6}},
        "both segments over all places: all bits that are not set lie",
    ),
    (
        {"integers": PAIR, "value": LAST, "words": {"cohort/4": [7], "memo/0": [LOW * 2] * 6, "memo/1": [8] * 6}},
        "the largest value: a product of more than 64 bits",
    ),
    ({"integers": FRESH, "value": THE, "words": {}}, "a permanent answer where nothing is permanent"),
    ({"integers": SMALL, "value": LAST + 1, "words": {}}, "a value beyond 53 bits"),
    ({"integers": SMALL, "value": -1, "words": {}}, "a negative value"),
]
_PERMANENT: list[tuple[dict[str, Any], str]] = [
    ({"integers": SMALL, "value": THE, "secret": SECRET, **MINUTES}, "a cohort for each metric and not for the device"),
    ({"integers": SMALL, "value": HUBBUB, "secret": SECRET, **MINUTES}, "permanent answers by word and not by place"),
    ({"integers": PAIR, "value": THE, "secret": OTHER_SECRET, **MINUTES}, "a cohort that does not hang on its modulus"),
    ({"integers": SMALL, "value": 0, "secret": SECRET, **MINUTES}, "no word without an answer"),
]
_REPORTS: list[tuple[dict[str, Any], str]] = [
    (
        {"integers": SMALL, "answer": [1, 0, 1, 0, 1], "words": [ZERO, WORDS - ZERO, ZERO - 1, WORDS - ZERO - 1]},
        "<= for <",
    ),
    ({"integers": SMALL, "answer": [0, 0, 0, 1, 1], "words": [0, WORDS - 1, 0, WORDS - 1]}, "the first and last word"),
    (
        {"integers": PLAIN, "answer": [0, 0, 1, 0, 1], "words": [0, WORDS - 1, WORDS - 1, 0]},
        "chances 0 and 1 in 32 bits",
    ),
    (
        {"integers": FRESH, "answer": [THE], "words": [0, *[2000000000] * 4]},
        "the filter of cohort 0, as between the chances only set bits are sent",
    ),
    ({"integers": FRESH, "answer": [THE], "words": [3, *[2000000000] * 4]}, "the cohort by division, or at the end"),
    ({"integers": FRESH, "answer": [0], "words": [1, *[2000000000] * 4]}, "no word as a word with a place"),
    ({"integers": FRESH, "answer": [LAST], "words": [1, 1880437611, 1880437610, 2414529684, 2414529685]}, "edges"),
]
_BULK: list[tuple[dict[str, Any], str]] = [
    (
        {
            "integers": TINY,
            "values": [THE, 0, HUBBUB],
            "words": [
                *(0, 5, LOW, LOW - 1, LOW, ZERO, ZERO - 1),
                *(1, LOW, LOW - 1, 0, 0, WORDS - ZERO - 1, ZERO),
                *(3, WORDS - 1, 0, 0, WORDS - 1, WORDS - ZERO, WORDS - ZERO - 1),
            ],
        },
        "the streams of both states in turn, place by place; the words of the report first",
    ),
    ({"integers": FRESH, "values": [THE, 0], "words": [1, *[2000000000] * 4, 0, *[1880437610] * 4]}, "without memo"),
    ({"integers": TINY, "values": [], "words": []}, "no devices"),
]
_LAWS: list[tuple[dict[str, Any], str]] = [
    ({"integers": TINY, "value": THE}, "without a cohort: cohort 0; one round for both"),
    ({"integers": TINY, "value": THE, "public": [1]}, "the law of another cohort"),
    ({"integers": TINY, "value": 0, "public": [1]}, "no word"),
    ({"integers": [2, 1, 1, 2**30, 2**31, 3 * 2**30, 1], "value": THE}, "chances that are not mirror images"),
    ({"integers": FRESH, "value": HUBBUB, "public": [1]}, "one round, two segments"),
]
_PRICES: list[tuple[dict[str, Any], str]] = [
    ({"integers": SMALL, "windows": 1}, "twice as many bits as hashes differ"),
    ({"integers": PAIR, "windows": 365}, "a price of bits in place of words"),
    ({"integers": PAPER, "windows": 30}, "the worse of two ratios: bits of 0 beside bits of 1"),
    ({"integers": FRESH, "windows": 30}, "nothing permanent: losses add up"),
    ({"integers": PLAIN, "windows": 2}, "no second round: no bound on a change"),
    ({"integers": [2, 1, 1, 0, 2**31 - 1, 2**31, 0], "windows": 2}, "prices near 0: digits lost in a ratio"),
]
_ESTIMATES: list[tuple[dict[str, Any], str]] = [
    ({"integers": TINY, "n": 1000, "counts": [480, 200, 250, 520, 260, 210], "level": 0.95}, "the units of the crowd"),
    (
        {"integers": TINY, "n": 1000, "counts": [480, 200, 250, 520, 260, 210], "level": 0.9, "simultaneous": True},
        "intervals that hold at once",
    ),
    ({"integers": TINY, "n": 100000, "counts": [50000, 15000, 30000, 50000, 19000, 26000], "level": 0.95}, "many"),
    ({"integers": TINY, "n": 1, "counts": [0, 0, 0, 1, 1, 0], "level": 0.95}, "one report; a cohort without any"),
    (
        {
            "integers": [2, 1, 2, 0, ZERO, WORDS - ZERO, 0],
            "n": 1000,
            "counts": [480, 200, 250, 520, 9, 500],
            "level": 0.95,
        },
        "nothing permanent: a share itself is the unit; values beyond [0, 1]",
    ),
    (
        {"integers": [2, 1, 1, 2**30, 2**31, 3 * 2**30, 1], "n": 500, "counts": [500, 300, 290], "level": 0.99},
        "chances that are not mirror images",
    ),
    ({"integers": TINY, "n": 0, "counts": [0, 0, 0, 0, 0, 0], "level": 0.95}, "a division by no reports"),
    ({"integers": TINY, "n": 10, "counts": [5, 6, 0, 5, 0, 0], "level": 0.95}, "more ones than reports of the cohort"),
    ({"integers": TINY, "n": 10, "counts": [5, 1, 0, 4, 0, 0], "level": 0.95}, "cohorts that do not add up to n"),
    ({"integers": TINY, "n": 10, "counts": [5, -1, 0, 5, 0, 0], "level": 0.95}, "a negative count"),
    ({"integers": TINY, "n": 10, "counts": [5, 1, 5, 1], "level": 0.95}, "counts of another size"),
]
