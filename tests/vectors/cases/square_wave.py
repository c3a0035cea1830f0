"""Square wave (spec/mechanisms/square_wave.md)."""

from typing import Any

from tests.vectors.cases import MINUTES, SECRET, WORDS, Case, cases_of

KEEP, KEEP_10 = 2767698324, 2041685229
FOUR = [4, 2, KEEP]  # epsilon 1
TWO = [2, 1, 3139872685]  # epsilon 1
FULL = [3, 3, 3449072140]  # epsilon 1; windows wider than what is left
TEN = [10, 3, KEEP_10]  # epsilon 1
MOST = [1024, 733, 2326010738]  # epsilon 0.5
NAME = {"encoder": "square_wave"}


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
    ({"integers": FOUR}, "linkage of the two ends, whose windows have nothing in common"),
    ({"integers": TWO}, "windows of one output: nothing but randomised response"),
    ({"integers": FULL}, "windows that overlap at the two ends"),
    ({"integers": TEN}, "an odd width"),
    ({"integers": MOST}, "the largest size"),
    ({"integers": [4, 2, WORDS - 1]}, "the largest chance to stay: linkage is all of the value and not more"),
    ({"integers": [3, 2, WORDS // 2 + 1]}, "the smallest chance to stay: linkage near 0"),
    ({"integers": [3, 2, WORDS // 2]}, "the own window no likelier than the rest"),
    ({"integers": [4, 2, WORDS]}, "a report that never leaves the window"),
    ({"integers": [4, 0, KEEP]}, "windows without an output"),
    ({"integers": [4, 5, WORDS - 1]}, "windows wider than the range"),
    ({"integers": [1, 1, KEEP]}, "one bucket"),
    ({"integers": [1025, 2, KEEP]}, "more buckets than there may be"),
    ({"integers": [4, 2]}, "an integer too few"),
    ({"integers": [4, 2, KEEP, 0]}, "an integer too many"),
]
_ANSWERS: list[tuple[dict[str, Any], str]] = [
    ({"integers": FOUR, "value": 3, "words": {}}, "a permanent output where everything is fresh"),
    ({"integers": FOUR, "value": 4, "words": {}}, "an output that is no bucket"),
    ({"integers": FOUR, "value": -1, "words": {}}, "a negative value"),
]
_PERMANENT: list[tuple[dict[str, Any], str]] = [
    ({"integers": FOUR, "value": 2, "secret": SECRET, **MINUTES}, "fresh: nothing follows from the secret"),
]
_REPORTS: list[tuple[dict[str, Any], str]] = [
    ({"integers": FOUR, "answer": [1], "words": [KEEP - 1, 1, 0]}, "one below the threshold stays: the window's last"),
    ({"integers": FOUR, "answer": [1], "words": [KEEP, 1, 0]}, "<= for <: the threshold itself does not stay"),
    ({"integers": FOUR, "answer": [1], "words": [KEEP, 0, 1]}, "the first output behind the window"),
    ({"integers": FOUR, "answer": [1], "words": [KEEP, 0, 2]}, "the last output of all"),
    ({"integers": FOUR, "answer": [0], "words": [KEEP, 0, 0]}, "the first bucket: nothing before its window"),
    ({"integers": FOUR, "answer": [3], "words": [KEEP, 0, 2]}, "the last bucket: nothing behind its window"),
    ({"integers": FOUR, "answer": [3], "words": [0, 1, 0]}, "the last bucket stays: the last output"),
    ({"integers": FOUR, "answer": [2], "words": [KEEP, 0, WORDS - 1, 1]}, "a refused word for the outside"),
    ({"integers": TEN, "answer": [2], "words": [0, WORDS - 1, 2, WORDS - 5]}, "a refused word for the inside"),
    (
        {"integers": TEN, "answer": [2], "words": [0, 1, WORDS - 1, 5]},
        "a refused word, though what it draws is unused",
    ),
    ({"integers": TWO, "answer": [1], "words": [WORDS - 1, 7]}, "windows of one output: no word for the inside"),
]
_BULK: list[tuple[dict[str, Any], str]] = [
    (
        {"integers": FOUR, "values": [0, 2, 3], "words": [KEEP, 0, 2, KEEP - 1, 1, 0, KEEP, 1, 1]},
        "all thresholds first, in place of a row for each device",
    ),
    (
        {
            "integers": TEN,
            "values": [0, 9],
            "words": [0, WORDS - 1, WORDS - 1, WORDS - 1, WORDS - 1, WORDS - 1, WORDS - 1, 2, 1, 3, 4],
        },
        "refused words drawn again device after device, and not column after column",
    ),
    ({"integers": FOUR, "values": [], "words": []}, "no devices"),
]
_LAWS: list[tuple[dict[str, Any], str]] = [
    ({"integers": FOUR, "value": 0}, "the first bucket"),
    ({"integers": FOUR, "value": 3}, "the last one"),
    ({"integers": FULL, "value": 1}, "a window wider than what is left"),
    ({"integers": TEN, "value": 5}, "the middle"),
]
_PRICES: list[tuple[dict[str, Any], str]] = [
    ({"integers": FOUR, "windows": 1}, "one report"),
    ({"integers": TEN, "windows": 365}, "the price of a steady device is not that of one report"),
    ({"integers": MOST, "windows": 7}, "a ratio of whole windows in place of single outputs"),
    ({"integers": [3, 2, WORDS // 2 + 1], "windows": 3}, "a price near 0: digits lost in p / q"),
    ({"integers": [1024, 1, WORDS - 1], "windows": 1}, "the largest price"),
]
_TWELVE = [90, 80, 100, 120, 110, 90, 70, 80, 60, 70, 60, 70]
_ESTIMATES: list[tuple[dict[str, Any], str]] = [
    (
        {"integers": FOUR, "n": 1000, "counts": [150, 250, 300, 180, 120], "level": 0.95},
        "weights of plain least squares",
    ),
    (
        {"integers": FOUR, "n": 1000, "counts": [150, 250, 300, 180, 120], "level": 0.95, "simultaneous": True},
        "intervals that hold at once",
    ),
    ({"integers": TEN, "n": 1000, "counts": _TWELVE, "level": 0.9}, "more buckets, values below 0"),
    ({"integers": FULL, "n": 5000, "counts": [700, 1300, 1500, 900, 600], "level": 0.95}, "wide windows"),
    ({"integers": TWO, "n": 60, "counts": [40, 20], "level": 0.95}, "two outputs: few devices"),
    ({"integers": FOUR, "n": 32, "counts": [32, 0, 0, 0, 0], "level": 0.95}, "no spread: the least noise there is"),
    ({"integers": FOUR, "n": 1, "counts": [0, 0, 1, 0, 0], "level": 0.99}, "one report"),
    ({"integers": FOUR, "n": 0, "counts": [0, 0, 0, 0, 0], "level": 0.95}, "a division by no reports"),
    ({"integers": FOUR, "n": 5, "counts": [4, 0, 0, 0, 0], "level": 0.95}, "fewer outputs than reports"),
    ({"integers": FOUR, "n": 5, "counts": [6, -1, 0, 0, 0], "level": 0.95}, "a negative count"),
    ({"integers": FOUR, "n": 5, "counts": [2, 1, 1, 1], "level": 0.95}, "a count for each bucket"),
]
