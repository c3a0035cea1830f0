"""One-bit mean (spec/mechanisms/one_bit_mean.md) and from a number to a tick (spec/registry.md)."""

from typing import Any

from tests.vectors.cases import MINUTES, OTHER_SECRET, SECRET, WORDS, Case, cases_of

FLIP = 844441824
MEMO = [480, 480, 511972653, 3271021990, FLIP, 1]  # K = 1: epsilon 1, permanent 2
FINE = [480, 60, 511972656, 408877748, 844441821, 1]  # K = 8
BEYOND = [1440, 700, 511972655, 1090340662, 844441822, 1]  # K = 3: the last bucket ends at 2 100
SMALL = [7, 3, 511972655, 1090340662, 844441822, 1]  # K = 3, range 9
FRESH = [480, 480, 1155094611, 1984778074, 0, 0]
FRESH_FINE = [480, 60, 511972656, 408877748, 0, 0]
MOST = [4096, 1, 511973376, 798589, 844441248, 1]  # K = 4 096
STILL = [480, 480, 511972653, 3271021990, 0, 1]
NAME = {"encoder": "one_bit_mean"}
LIMIT = WORDS - WORDS % 480


def threshold(integers: list[int], entry: int) -> int:
    return integers[2] + entry * integers[3]


def cases() -> list[Case]:
    return [
        *cases_of("tick", _TICKS),
        *cases_of("encoder", _ENCODERS, **NAME),
        *cases_of("answer", _ANSWERS, **NAME),
        *cases_of("permanent", _PERMANENT, **NAME),
        *cases_of("report", _REPORTS, **NAME),
        *cases_of("bulk", _BULK, **NAME),
        *cases_of("law", _LAWS, **NAME),
        *cases_of("prices", _PRICES, **NAME),
        *cases_of("estimate", _ESTIMATES, **NAME),
    ]


def _grid(lower: int, step: int, ticks: int, *numbers: tuple[float, str]) -> list[tuple[dict[str, Any], str]]:
    return [({"lower": lower, "step": step, "ticks": ticks, "x": x}, note) for x, note in numbers]


_TICKS = [
    *_grid(
        0,
        1000000,
        480,
        (-3, "below the range"),
        (0.5, "halves to even"),
        (1.5, "halves down"),
        (0.49999999999999994, "the sum with 0.5 is a double as well, and rounds to 1"),
        (479.5, "the upper end"),
        (480.4, "above the range"),
        (1e308, "a number whose steps are an infinity"),
        (125, "a whole number"),
    ),
    *_grid(
        -5000000,
        100000,
        100,
        (-5, "the lower end"),
        (-4.95, "halves of a step that is no double"),
        (0.25, "halves of a step of 0.1"),
        (-0.05, "a negative number rounded towards zero"),
        (5, "the upper end as -5 + 100 · 0.1"),
    ),
    *_grid(
        100000, 300000, 3, (0.25, "division by 0.3 in place of multiplication by 3.33"), (0.7, "lower in millionths")
    ),
]
_ENCODERS: list[tuple[dict[str, Any], str]] = [
    ({"integers": MEMO}, "size without the upper end"),
    ({"integers": BEYOND}, "a size as large as the last bucket reaches"),
    ({"integers": FRESH}, "linkage where everything is fresh"),
    ({"integers": MOST}, "4 096 entries refused"),
    ({"integers": [1, 1, 1, WORDS - 2, 0, 1]}, "the smallest range and the smallest chance"),
    ({"integers": [WORDS - 1, WORDS - 1, 511972653, 3271021990, FLIP, 1]}, "the largest range"),
    ({"integers": [4097, 1, 511973376, 798394, FLIP, 1]}, "4 097 entries"),
    ({"integers": [480, 480, 511972653, 3271021989, FLIP, 1]}, "a rise that is too small by one"),
    ({"integers": [480, 480, 511972653, 3271021991, FLIP, 1]}, "a rise that is too large by one"),
    (
        {"integers": [1440, 700, 511972653, 1090340663, FLIP, 1]},
        "a rise that does not divide: 3 of them miss the top by one",
    ),
    ({"integers": [480, 480, 0, WORDS, FLIP, 1]}, "an entry that is never 1"),
    ({"integers": [480, 480, WORDS // 2, 0, FLIP, 1]}, "a coin that tells nothing"),
    ({"integers": [0, 0, 511972653, 3271021990, FLIP, 1]}, "no range: a division by 0"),
    ({"integers": [480, 0, 511972653, 3271021990, FLIP, 1]}, "no bucket: a division by 0"),
    ({"integers": [480, 481, 511972653, 3271021990, FLIP, 1]}, "a bucket beyond the range"),
    ({"integers": [WORDS, WORDS, 511972653, 3271021990, FLIP, 1]}, "ticks beyond 32 bits"),
    ({"integers": [480, 480, 511972653, 3271021990, 1, 0]}, "flips where nothing is permanent"),
    ({"integers": [480, 480, 511972653, 3271021990, WORDS // 2, 1]}, "flips that leave nothing"),
    ({"integers": [480, 480, 511972653, 3271021990, FLIP, 2]}, "a flag that is neither 0 nor 1"),
    ({"integers": [480, 480, 511972653, 3271021990, FLIP]}, "an integer too few"),
]


def _steps(integers: list[int], value: int, alpha: list[int], entry: int, word: int) -> dict[str, Any]:
    """The neighbours of the entry have words too, and alpha a spare one, for whoever takes a wrong one."""
    entries = range(max(0, entry - 1), min(entry + 1, -(-integers[0] // integers[1])) + 1)
    streams = {f"memo/{each}": [word] for each in entries}
    return {"integers": integers, "value": value, "words": {"alpha": [*alpha, 0], **streams}}


_ANSWERS: list[tuple[dict[str, Any], str]] = [
    (_steps(MEMO, 125, [354], 0, threshold(MEMO, 0) - 1), "one below the threshold of entry 0 is a 1"),
    (_steps(MEMO, 125, [354], 0, threshold(MEMO, 0)), "<= for <: the threshold itself is a 0"),
    (_steps(MEMO, 125, [354], 0, threshold(MEMO, 0) + 1), "one above"),
    (
        _steps(MEMO, 125, [355], 1, threshold(MEMO, 1) - 1),
        "value + alpha = bucket: an upper end that belongs to entry 0",
    ),
    (_steps(MEMO, 125, [355], 1, threshold(MEMO, 1)), "the threshold of the last entry itself"),
    (_steps(MEMO, 125, [0], 0, threshold(MEMO, 0)), "alpha subtracted, or up and down swapped"),
    (_steps(MEMO, 125, [479], 1, threshold(MEMO, 0)), "alpha subtracted, or up and down swapped: the other side"),
    (_steps(MEMO, 0, [479], 0, 0), "value 0 in entry 1: alpha from 1 to bucket"),
    (_steps(MEMO, 480, [0], 1, WORDS - 1), "the largest value in an entry below the last; words taken as signed"),
    (_steps(MEMO, 480, [479], 1, threshold(MEMO, 1) - 1), "the largest value beyond the last entry"),
    (_steps(MEMO, 125, [LIMIT - 1], 1, threshold(MEMO, 1) - 1), "the last word for alpha that counts"),
    (_steps(MEMO, 125, [LIMIT, 354], 0, threshold(MEMO, 0)), "a word at the limit: alpha is drawn again"),
    (_steps(MEMO, 125, [WORDS - 1, LIMIT, 355], 1, threshold(MEMO, 1) - 1), "two refused words"),
    (_steps(FINE, 125, [54], 2, threshold(FINE, 2) - 1), "ceil for floor: 179 / 60"),
    (_steps(FINE, 125, [55], 3, threshold(FINE, 3) - 1), "180 / 60"),
    (_steps(FINE, 125, [55], 3, threshold(FINE, 3)), "the threshold of an entry in the middle"),
    (_steps(BEYOND, 1440, [659], 2, threshold(BEYOND, 2)), "ticks beyond the last whole bucket: 2 099 / 700"),
    (_steps(BEYOND, 1440, [660], 3, threshold(BEYOND, 3) - 1), "the entry that reaches beyond the range"),
    (
        _steps(MOST, 4096, [WORDS - 1], 4096, threshold(MOST, 4096) - 1),
        "bucket 1: a word for alpha is taken all the same",
    ),
    (_steps(MOST, 1, [0], 1, threshold(MOST, 1)), "thresholds in floating point"),
    ({"integers": FRESH, "value": 125, "words": {}}, "a permanent answer where everything is fresh"),
    (_steps(MEMO, 481, [479], 1, 0), "a value beyond the range, in an entry beyond the last"),
    (_steps(MEMO, -1, [0], 0, 0), "a negative value, in entry -1: a chance below the lowest"),
    ({"integers": FRESH, "value": 481, "words": {}}, "a value beyond the range, kept as it is"),
]
_PERMANENT: list[tuple[dict[str, Any], str]] = [
    *(
        ({"integers": MEMO, "value": value, "secret": secret, **MINUTES}, f"from secret to answer{note}")
        for secret, value, note in (
            (SECRET, 0, ""),
            (SECRET, 258, ": alpha is 221, so 258 is the last value of entry 0"),
            (SECRET, 259, ": the first value of entry 1"),
            (OTHER_SECRET, 125, " of another device"),
        )
    ),
    *(
        ({"integers": FINE, "value": value, "secret": SECRET, **MINUTES}, "eight entries")
        for value in (0, 40, 340, 480)
    ),
]
_REPORTS: list[tuple[dict[str, Any], str]] = [
    ({"integers": MEMO, "answer": [1], "words": [FLIP - 1]}, "one below the threshold is flipped"),
    ({"integers": MEMO, "answer": [1], "words": [FLIP]}, "<= for <: the threshold itself is not flipped"),
    ({"integers": MEMO, "answer": [0], "words": [FLIP + 1]}, "one above"),
    ({"integers": STILL, "answer": [0], "words": [0]}, "without flips the smallest word flips nothing, and is taken"),
    ({"integers": FRESH, "answer": [125], "words": [354, 1155094610]}, "fresh: alpha first, then the coin"),
    ({"integers": FRESH, "answer": [125], "words": [354, 1155094611]}, "fresh: the threshold itself"),
    ({"integers": FRESH, "answer": [125], "words": [355, WORDS - 1155094612]}, "fresh: the last entry"),
    (
        {"integers": FRESH, "answer": [125], "words": [LIMIT, 355, WORDS - 1155094611]},
        "fresh: a refused word, then alpha",
    ),
    ({"integers": FRESH_FINE, "answer": [480], "words": [59, WORDS - 511972657]}, "fresh, with buckets"),
]
_BULK: list[tuple[dict[str, Any], str]] = [
    (
        {
            "integers": MEMO,
            "values": [125, 125, 480],
            "words": [354, threshold(MEMO, 0), FLIP, 355, threshold(MEMO, 1) - 1, FLIP, 0, 0, FLIP - 1],
        },
        "all alphas first, in place of a row for each device",
    ),
    (
        {
            "integers": MEMO,
            "values": [125, 125, 125],
            "words": [
                *(LIMIT, threshold(MEMO, 0), FLIP, 354, LIMIT, FLIP, WORDS - 1, threshold(MEMO, 0), FLIP),
                *(355, LIMIT, 354),
            ],
        },
        "refused words for alpha drawn again at once and not after the block, or one by one for each device",
    ),
    ({"integers": FRESH, "values": [0, 480], "words": [479, 1155094610, 0, WORDS - 1155094611]}, "three words each"),
    ({"integers": FRESH, "values": [125, 0], "words": [LIMIT, 1155094611, 0, 0, 355]}, "fresh, with a refused word"),
    ({"integers": MEMO, "values": [], "words": []}, "no devices"),
]
_LAWS: list[tuple[dict[str, Any], str]] = [
    *(
        ({"integers": SMALL, "value": value}, "range 9 and not 7: not linear, or beyond the range")
        for value in range(8)
    ),
    ({"integers": MEMO, "value": 0}, "flips that are added and not composed"),
    ({"integers": MEMO, "value": 125}, "up and down swapped"),
    ({"integers": MEMO, "value": 480}, "the upper end"),
    ({"integers": FINE, "value": 125}, "chances of an entry and not of alpha"),
    ({"integers": BEYOND, "value": 1440}, "the last bucket scaled to the range"),
    ({"integers": FRESH, "value": 125}, "fresh"),
]
_PRICES: list[tuple[dict[str, Any], str]] = [
    ({"integers": MEMO, "windows": 1}, "one window: the largest entry alone"),
    ({"integers": MEMO, "windows": 14}, "two weeks"),
    ({"integers": MEMO, "windows": 364}, "the example of the registry"),
    ({"integers": FINE, "windows": 3}, "fewer windows than entries: the smallest in place of the largest"),
    ({"integers": FINE, "windows": 14}, "more windows than entries"),
    ({"integers": BEYOND, "windows": 14}, "report and steady of the whole last bucket; life without its entry"),
    ({"integers": SMALL, "windows": 4}, "the same on a small range"),
    ({"integers": MOST, "windows": 365}, "4 097 entries, 365 of them used"),
    ({"integers": [1, 1, 1, WORDS - 2, 1000000, 1], "windows": 1}, "a tiny chance: digits lost in 1 - (1 - 2p)²"),
    ({"integers": STILL, "windows": 1}, "no flips: no bound for changes, not even over one window"),
    ({"integers": FRESH, "windows": 364}, "fresh: losses add up for a steady device too"),
    ({"integers": FRESH_FINE, "windows": 1}, "fresh, one window"),
]
_MIN = {"lower": 0, "step": 1000000}
_ESTIMATES: list[tuple[dict[str, Any], str]] = [
    ({"integers": MEMO, "n": 4000, "ones": 1900, "level": 0.95, **_MIN}, "the example of the registry"),
    ({"integers": MEMO, "n": 4000, "ones": 900, "level": 0.95, **_MIN}, "an estimate below the range that is clipped"),
    (
        {"integers": MEMO, "n": 4000, "ones": 3300, "level": 0.95, **_MIN},
        "an estimate above the range; se_shared of it",
    ),
    ({"integers": FINE, "n": 4000, "ones": 1900, "level": 0.95, **_MIN}, "the range taken for one bucket"),
    ({"integers": BEYOND, "n": 4000, "ones": 1900, "level": 0.95, **_MIN}, "range 1 440 in place of 2 100"),
    ({"integers": FRESH, "n": 4000, "ones": 1900, "level": 0.95, **_MIN}, "se_shared of what is not permanent"),
    (
        {"integers": SMALL, "n": 900, "ones": 500, "level": 0.9, "lower": -2000000, "step": 500000},
        "lower and step left out",
    ),
    (
        {"integers": MEMO, "n": 60, "ones": 7, "level": 0.95, **_MIN},
        "Clopper and Pearson's interval, mapped to the unit",
    ),
    ({"integers": MEMO, "n": 60, "ones": 60, "level": 0.99, **_MIN}, "only ones"),
    ({"integers": MEMO, "n": 0, "ones": 0, "level": 0.95, **_MIN}, "a division by no reports"),
]
