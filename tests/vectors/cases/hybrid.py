"""Hybrid: a public coin between a window and one bit (spec/mechanisms/hybrid.md)."""

from typing import Any

from tests.vectors.cases import MINUTES, SECRET, WORDS, Case, cases_of

KEEP, LOW, SHARE = 2474403177, 1155094611, 1564121120
SMALL = [10, 4, 1, 2, KEEP, LOW, SHARE]  # epsilon 1; outputs 0 to 5
WIDE = [480, 75, 1, 53, 2824550942, LOW, 1785456721]  # epsilon 1; 128 outputs
BIT = [480, 1, 1, 1, 2467211822, 1827755474, 0]  # epsilon 0.3: the bit alone
LIMIT = WORDS - WORDS % 10  # words from here on do not choose one of 10
HEADS, TAILS = SHARE - 1, SHARE
NAME = {"encoder": "hybrid"}


def cases() -> list[Case]:
    return [
        *cases_of("encoder", _ENCODERS, **NAME),
        *cases_of("answer", _ANSWERS, **NAME),
        *cases_of("permanent", _PERMANENT, **NAME),
        *cases_of("report", _REPORTS, **NAME),
        *cases_of("bulk", _BULK, **NAME),
        *cases_of("law", _LAWS, **NAME),
        *cases_of("prices", _PRICES, **NAME),
        *cases_of("estimate", _ESTIMATES, **NAME),
    ]


_ENCODERS: list[tuple[dict[str, Any], str]] = [
    ({"integers": SMALL}, "a coin that is not a field; linkage of both parts alike"),
    ({"integers": WIDE}, "linkage of windows that are further apart than they are wide"),
    ({"integers": BIT}, "linkage of a window that is never used"),
    ({"integers": [*SMALL[:-1], WORDS]}, "the window alone"),
    ({"integers": [1, 1, 1, 1, WORDS - 1, 1, 1]}, "the smallest range"),
    ({"integers": [*SMALL[:-1], WORDS + 1]}, "a coin beyond certainty"),
    ({"integers": [*SMALL[:-1], -1]}, "a coin below 0"),
    ({"integers": [10, 4, 1, 2, KEEP, 0, SHARE]}, "a bit that never lies"),
    ({"integers": [10, 4, 1, 2, KEEP, WORDS // 2, SHARE]}, "a bit that tells nothing"),
    ({"integers": [10, 4, 1, 2, WORDS // 3, LOW, SHARE]}, "a window that tells nothing"),
    ({"integers": [10, 11, 1, 2, KEEP, LOW, SHARE]}, "more levels than ticks"),
    ({"integers": SMALL[:-1]}, "an integer too few"),
]
_ANSWERS: list[tuple[dict[str, Any], str]] = [
    ({"integers": SMALL, "value": 3, "words": {}}, "a permanent level where everything is fresh"),
    ({"integers": SMALL, "value": 11, "words": {}}, "a value beyond the range, kept as it is"),
]
_PERMANENT: list[tuple[dict[str, Any], str]] = [
    ({"integers": WIDE, "value": 125, "secret": SECRET, **MINUTES}, "fresh: nothing follows from the secret"),
]
_REPORTS: list[tuple[dict[str, Any], str]] = [
    ({"integers": SMALL, "answer": [5], "words": [HEADS, 0, KEEP - 1, 1, 0]}, "the window: one below both thresholds"),
    ({"integers": SMALL, "answer": [5], "words": [HEADS, 0, KEEP, 1, 3]}, "<= for <: the threshold of the window"),
    ({"integers": SMALL, "answer": [5], "words": [HEADS, 9, KEEP, 1, 1]}, "others below the window"),
    ({"integers": SMALL, "answer": [7], "words": [HEADS, 2, 0, 0, 0]}, "7 of 10 on 4: 30 / 10 is level 3"),
    ({"integers": SMALL, "answer": [7], "words": [HEADS, 1, 0, 0, 0]}, "29 / 10 is level 2"),
    ({"integers": SMALL, "answer": [5], "words": [TAILS, 4, LOW, 0, 0]}, "<= for <: the threshold of the coin"),
    ({"integers": SMALL, "answer": [5], "words": [TAILS, 5, LOW, 1, 3]}, "the bit by the level of the window"),
    ({"integers": SMALL, "answer": [5], "words": [TAILS, 5, LOW - 1, 0, 0]}, "the bit that lies"),
    ({"integers": SMALL, "answer": [10], "words": [TAILS, 9, LOW, 0, 0]}, "the last tick in a level beyond the last"),
    (
        {"integers": SMALL, "answer": [5], "words": [TAILS, LIMIT, 5, LOW, 0, 0]},
        "a refused word for the place among the levels",
    ),
    (
        {"integers": WIDE, "answer": [125], "words": [WORDS - 1, 5, LOW, WORDS - 1, 5, WORDS - 1, 7]},
        "words for the window drawn again where the bit is sent, too",
    ),
    ({"integers": BIT, "answer": [125], "words": [0, 355, 1827755474, 0, 0]}, "a coin that never falls on the window"),
]
_BULK: list[tuple[dict[str, Any], str]] = [
    (
        {"integers": SMALL, "values": [5, 7], "words": [HEADS, 0, KEEP, 1, 3, TAILS, 9, LOW, 0, 0]},
        "a column for each step, no rows",
    ),
    (
        {
            "integers": WIDE,
            "values": [125, 125],
            "words": [
                *(0, WORDS - 1, 0, WORDS - 1, WORDS - 1, WORDS - 1, WORDS - 1, LOW, 3, WORDS - 1),
                *(1, 479, 2, WORDS - 1, 4, 5),
            ],
        },
        "refused words drawn again for one device after the other, and not step by step",
    ),
    ({"integers": SMALL, "values": [], "words": []}, "no devices"),
]
_LAWS: list[tuple[dict[str, Any], str]] = [
    *(
        ({"integers": SMALL, "value": value, "public": [coin]}, note)
        for value, coin, note in (
            (0, 0, "the bit at the lower end"),
            (3, 0, "the bit by the level of the window"),
            (0, 1, "the window at the lower end; a chance of the coin in it"),
            (3, 1, "a value between two levels"),
            (10, 1, "the upper end"),
        )
    ),
    ({"integers": BIT, "value": 125}, "no coin given: zeros"),
]
_PRICES: list[tuple[dict[str, Any], str]] = [
    ({"integers": SMALL, "windows": 1}, "the mean of the two parts' losses in place of the larger"),
    ({"integers": WIDE, "windows": 365}, "a life"),
    ({"integers": [480, 1, 1, 1, WORDS - 1, 1827755474, 0], "windows": 1}, "the loss of a window that is never used"),
    ({"integers": [10, 4, 1, 2, KEEP, 1, WORDS], "windows": 1}, "the loss of a bit that is never used"),
]
_GRID = {"lower": 0, "step": 1000000}
_ESTIMATES: list[tuple[dict[str, Any], str]] = [
    (
        {"integers": SMALL, "n": 100, "counts": [30, 28, 6, 8, 9, 8, 6, 5], "level": 0.95, **_GRID},
        "outputs of the bit taken for some of the window",
    ),
    (
        {
            "integers": SMALL,
            "n": 800,
            "counts": [300, 200, 90, 60, 50, 40, 40, 20],
            "level": 0.9,
            "lower": -2000000,
            "step": 500000,
        },
        "levels, ticks and the unit mixed up",
    ),
    (
        {"integers": SMALL, "n": 50, "counts": [0, 50, 0, 0, 0, 0, 0, 0], "level": 0.95, **_GRID},
        "reports that are all alike",
    ),
    ({"integers": BIT, "n": 1000, "counts": [480, 520, 0, 0], "level": 0.95, **_GRID}, "the bit alone"),
    ({"integers": SMALL, "n": 1, "counts": [0, 0, 0, 1, 0, 0, 0, 0], "level": 0.95, **_GRID}, "one report"),
    ({"integers": SMALL, "n": 0, "counts": [0] * 8, "level": 0.95, **_GRID}, "a division by no reports"),
    ({"integers": SMALL, "n": 8, "counts": [1, 1, 1, 1, 1, 1, 1, 2], "level": 0.95, **_GRID}, "counts beyond n"),
    ({"integers": SMALL, "n": 6, "counts": [1] * 6, "level": 0.95, **_GRID}, "outputs of the bit without counts"),
]
