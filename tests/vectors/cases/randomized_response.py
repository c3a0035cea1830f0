"""Randomised response (spec/mechanisms/randomized_response.md)."""

from typing import Any

from tests.vectors.cases import MINUTES, OTHER_SECRET, SECRET, WORDS, Case, cases_of

LOW, FLIP = 511972653, 844441824  # epsilon 1, permanent 2
MEMO = [LOW, FLIP, 1]
FRESH = [1155094611, 0, 0]  # epsilon 1
STILL = [LOW, 0, 1]  # permanent answers without flips
NAME = {"encoder": "randomized_response"}
USED = {"collection": "editor-desktop", "metric": "editor.split", "hash": MINUTES["hash"]}


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
    ({"integers": MEMO}, "linkage from the first round instead of the flips"),
    ({"integers": FRESH}, "linkage from the flips where nothing is permanent"),
    ({"integers": STILL}, "the logarithm of 0: without flips a device is linked by one whole bit"),
    ({"integers": [1, WORDS // 2 - 1, 1]}, "the ends of the ranges"),
    ({"integers": [0, FLIP, 1]}, "an answer that never lies"),
    ({"integers": [WORDS // 2, FLIP, 1]}, "an answer that tells nothing: the estimate divides by 0"),
    ({"integers": [LOW, WORDS // 2, 1]}, "flips that leave nothing"),
    ({"integers": [LOW, -1, 1]}, "a negative chance"),
    ({"integers": [LOW, 1, 0]}, "flips where there is nothing permanent to flip"),
    ({"integers": [LOW, FLIP, 2]}, "a flag that is neither 0 nor 1"),
    ({"integers": [LOW, FLIP]}, "an integer too few"),
    ({"integers": [LOW, FLIP, 1, 0]}, "an integer too many"),
]
_ANSWERS: list[tuple[dict[str, Any], str]] = [
    ({"integers": MEMO, "value": 0, "words": {"memo/0": [LOW - 1]}}, "one below the threshold is a lie"),
    ({"integers": MEMO, "value": 0, "words": {"memo/0": [LOW]}}, "<= for <: the threshold itself is no lie"),
    ({"integers": MEMO, "value": 0, "words": {"memo/0": [LOW + 1]}}, "one above"),
    (
        {"integers": MEMO, "value": 1, "words": {"memo/1": [LOW - 1]}},
        "yes: one below the threshold, the chance of a 1 swapped",
    ),
    ({"integers": MEMO, "value": 1, "words": {"memo/1": [LOW]}}, "yes: the threshold itself"),
    ({"integers": MEMO, "value": 1, "words": {"memo/1": [0]}}, "the smallest word"),
    (
        {"integers": MEMO, "value": 0, "words": {"memo/0": [WORDS - 1]}},
        "words taken as signed: the largest is negative",
    ),
    ({"integers": FRESH, "value": 1, "words": {}}, "a permanent lie where everything is fresh"),
    ({"integers": MEMO, "value": 2, "words": {"memo/2": [0]}}, "a value that is neither yes nor no"),
    ({"integers": FRESH, "value": 2, "words": {}}, "a value beyond the domain, kept for ever as it is"),
    ({"integers": MEMO, "value": -1, "words": {"memo/-1": [0]}}, "a negative value"),
]
_PERMANENT: list[tuple[dict[str, Any], str]] = [
    ({"integers": MEMO, "value": 0, "secret": SECRET, **USED}, "from secret to answer: a lie"),
    ({"integers": MEMO, "value": 1, "secret": SECRET, **USED}, "one word for both answers: no would give yes away"),
    ({"integers": MEMO, "value": 0, "secret": OTHER_SECRET, **USED}, "another device"),
    ({"integers": MEMO, "value": 1, "secret": OTHER_SECRET, **USED}, "another device, yes"),
    ({"integers": MEMO, "value": 1, "secret": OTHER_SECRET, **USED, "metric": "editor.tabs"}, "a lie for yes"),
]
_REPORTS: list[tuple[dict[str, Any], str]] = [
    ({"integers": MEMO, "answer": [1], "words": [FLIP - 1]}, "one below the threshold is flipped"),
    ({"integers": MEMO, "answer": [1], "words": [FLIP]}, "<= for <: the threshold itself is not flipped"),
    ({"integers": MEMO, "answer": [0], "words": [FLIP + 1]}, "one above"),
    ({"integers": MEMO, "answer": [0], "words": [LOW]}, "the first round's chance used for the second"),
    ({"integers": STILL, "answer": [1], "words": [0]}, "without flips the smallest word flips nothing, and is taken"),
    ({"integers": FRESH, "answer": [0], "words": [1155094610]}, "fresh: one below the threshold lies"),
    ({"integers": FRESH, "answer": [0], "words": [1155094611]}, "fresh: the threshold itself does not"),
    ({"integers": FRESH, "answer": [1], "words": [1155094610]}, "fresh: a lie that depends on the value"),
]
_BULK: list[tuple[dict[str, Any], str]] = [
    (
        {"integers": MEMO, "values": [0, 1, 0], "words": [LOW, FLIP, LOW - 1, FLIP, LOW, FLIP - 1]},
        "all answers first and then all flips, in place of a row for each device",
    ),
    ({"integers": STILL, "values": [1, 1], "words": [LOW, 0, LOW - 1, 0]}, "no word for a flip whose chance is 0"),
    ({"integers": FRESH, "values": [1, 0, 1], "words": [1155094611, 0, 0]}, "two words each where one is enough"),
    ({"integers": MEMO, "values": [], "words": []}, "no devices"),
]
_LAWS: list[tuple[dict[str, Any], str]] = [
    ({"integers": MEMO, "value": 0}, "flips that are added and not composed"),
    ({"integers": MEMO, "value": 1}, "yes and no swapped"),
    ({"integers": STILL, "value": 1}, "without flips"),
    ({"integers": FRESH, "value": 0}, "the flips of something fresh"),
    ({"integers": [1, 1, 1], "value": 0}, "fractions that have gone through floating point"),
]
_PRICES: list[tuple[dict[str, Any], str]] = [
    ({"integers": MEMO, "windows": 1}, "one window: one entry, and not the price of one report"),
    ({"integers": MEMO, "windows": 2}, "two windows: both entries"),
    ({"integers": MEMO, "windows": 14}, "two weeks"),
    ({"integers": MEMO, "windows": 365}, "T L in place of the smaller bound"),
    ({"integers": [994178486, 1168134898, 1], "windows": 365}, "epsilon 0.5 with the default of 1.2"),
    ({"integers": [10, 1000000, 1], "windows": 2}, "a tiny chance: digits lost in 1 - (1 - 2p)²"),
    ({"integers": [WORDS // 2 - 1, WORDS // 2 - 1, 1], "windows": 3}, "prices near 0: digits lost in (1 - p) / p"),
    ({"integers": STILL, "windows": 1}, "no flips: no bound for changes, not even over one window"),
    ({"integers": FRESH, "windows": 365}, "fresh: the price of a steady device is not that of one report"),
]
_GRID = {"lower": 0, "step": 1000000}
_ESTIMATES: list[tuple[dict[str, Any], str]] = [
    (
        {"integers": MEMO, "n": 1000, "ones": 420, "level": 0.95},
        "a share: the lie left out of the estimate, or twice in it",
    ),
    ({"integers": MEMO, "n": 10000, "ones": 2500, "level": 0.95}, "an estimate below 0 that is clipped"),
    (
        {"integers": MEMO, "n": 10000, "ones": 9000, "level": 0.95},
        "an estimate above 1 that is clipped, se_shared of it",
    ),
    ({"integers": FRESH, "n": 1000, "ones": 420, "level": 0.95}, "se_shared of what is not permanent"),
    ({"integers": MEMO, "n": 700, "ones": 350, "level": 0.99}, "the quantile of another level"),
    ({"integers": MEMO, "n": 480, "ones": 240, "level": 0.95}, "the smallest n with Wilson's interval"),
    ({"integers": MEMO, "n": 480, "ones": 239, "level": 0.95}, "one less: Clopper and Pearson's"),
    ({"integers": MEMO, "n": 40, "ones": 0, "level": 0.95}, "no ones: the lower end is 0 before it is mapped"),
    ({"integers": MEMO, "n": 40, "ones": 40, "level": 0.95}, "only ones"),
    ({"integers": MEMO, "n": 1, "ones": 1, "level": 0.9}, "one report"),
    ({"integers": MEMO, "n": 0, "ones": 0, "level": 0.95}, "a division by no reports"),
]
_ESTIMATES = [(given | _GRID, note) for given, note in _ESTIMATES]
