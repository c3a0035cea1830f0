"""d-bit flip (spec/mechanisms/d_bit_flip.md)."""

from typing import Any

from tests.vectors.cases import MINUTES, OTHER_SECRET, SECRET, WORDS, Case, cases_of

LIE, ONE = 1621524826, 1155094610
OWN = WORDS - LIE
FOUR = [4, 2, LIE, 0, 0]  # epsilon 1
SINGLE = [5, 1, ONE, 0, 0]  # epsilon 1
LEFT = [5, 3, LIE, 0, 0]  # epsilon 1; those left out are drawn
ALL = [4, 4, LIE, 0, 0]  # epsilon 1
WIDE = [1024, 4, 783511659, 0, 0]  # epsilon 3
LOW, FLIP = 1155094610, 1009333258
KEPT = [4, 2, LOW, FLIP, 1]  # epsilon 1, permanent_epsilon 2
KEPT_ONE = [5, 1, 511972652, 844441824, 1]  # epsilon 1, permanent_epsilon 2
KEPT_ALL = [3, 3, LOW, FLIP, 1]
PLAIN = [5, 3, LIE, 0, 1]  # epsilon = permanent_epsilon: nothing is flipped
LAST = WORDS - 1
NAME = {"encoder": "d_bit_flip"}


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
    ({"integers": FOUR}, "linkage: that one of two buckets is asked, and how many bits differ on average"),
    ({"integers": SINGLE}, "one bucket: two values are never both asked about"),
    ({"integers": LEFT}, "more than half of the buckets"),
    ({"integers": ALL}, "all buckets: no public fields, which would say nothing"),
    ({"integers": [4, 3, LIE, 0, 0]}, "all but one: public fields are bits too"),
    ({"integers": WIDE}, "many buckets, few of them asked"),
    ({"integers": [65_536, 1, ONE, 0, 0]}, "the largest size"),
    ({"integers": [3, 2, 1, 0, 0]}, "the smallest chance of a lie: linkage is all of the value and not more"),
    ({"integers": [3, 2, WORDS // 2 - 1, 0, 0]}, "the largest chance of a lie: linkage near 0"),
    ({"integers": [3, 2, WORDS // 2, 0, 0]}, "reports that tell nothing: the estimate divides by 0"),
    ({"integers": [3, 2, 0, 0, 0]}, "bits that are never wrong"),
    ({"integers": [4, 0, LIE, 0, 0]}, "no bucket asked"),
    ({"integers": [4, 5, LIE, 0, 0]}, "more buckets asked than there are"),
    ({"integers": [1, 1, LIE, 0, 0]}, "one bucket"),
    ({"integers": [65_537, 1, LIE, 0, 0]}, "more buckets than there may be"),
    ({"integers": KEPT}, "public fields as if the buckets were drawn each time; linkage of two bits, not of all"),
    ({"integers": KEPT_ONE}, "one bucket: its number is public for ever"),
    ({"integers": KEPT_ALL}, "all buckets: no public field, no public bits"),
    ({"integers": PLAIN}, "no second round: a report is the permanent answer"),
    ({"integers": [4, 2, LIE, 1, 0]}, "a second round where nothing is permanent"),
    ({"integers": [4, 2, LIE, WORDS // 2, 1]}, "reports that tell nothing of the permanent answer"),
    ({"integers": [4, 2, LIE, 0, 2]}, "memo that is neither"),
    ({"integers": [4, 2, LIE, 0]}, "an integer too few"),
    ({"integers": [4, 2, LIE, 0, 0, 0]}, "an integer too many"),
]
_ANSWERS: list[tuple[dict[str, Any], str]] = [
    ({"integers": FOUR, "value": 3, "words": {}}, "permanent buckets where everything is fresh"),
    ({"integers": FOUR, "value": 4, "words": {}}, "a value beyond the buckets, kept as it is"),
    ({"integers": FOUR, "value": -1, "words": {}}, "a negative value"),
    (
        {"integers": KEPT, "value": 2, "words": {"pool": [2], "memo/0": [0, LOW], "memo/1/0": [WORDS - LOW]}},
        "<= for <; the word of the first stream: the own bucket has one of its own",
    ),
    (
        {"integers": KEPT, "value": 0, "words": {"pool": [7], "memo/0": [LOW - 1, 0], "memo/1/1": [LAST]}},
        "after the last bucket comes the first: the own one is asked second",
    ),
    (
        {"integers": KEPT, "value": 1, "words": {"pool": [6], "memo/0": [LOW - 1, LOW], "memo/1/3": [LAST]}},
        "the own bucket not asked: its word is drawn all the same, by its place",
    ),
    (
        {"integers": KEPT_ONE, "value": 4, "words": {"pool": [LAST, 4], "memo/0": [0], "memo/1/0": [LAST]}},
        "a word for the pool that is refused",
    ),
    (
        {"integers": KEPT_ALL, "value": 1, "words": {"memo/0": [0, 0, LAST], "memo/1/1": [LAST]}},
        "all asked: no word of the pool",
    ),
    ({"integers": KEPT, "value": 4, "words": {"pool": [0]}}, "a value beyond the buckets"),
]
_PERMANENT: list[tuple[dict[str, Any], str]] = [
    ({"integers": FOUR, "value": 2, "secret": SECRET, **MINUTES}, "fresh: nothing follows from the secret"),
    ({"integers": KEPT, "value": 0, "secret": SECRET, **MINUTES}, "buckets by value: the first is that of the device"),
    ({"integers": KEPT, "value": 2, "secret": SECRET, **MINUTES}, "another value: the same buckets"),
    ({"integers": KEPT, "value": 2, "secret": OTHER_SECRET, **MINUTES}, "the buckets of another device"),
    ({"integers": KEPT_ALL, "value": 2, "secret": SECRET, **MINUTES}, "all asked: as symmetric unary encoding"),
]
_REPORTS: list[tuple[dict[str, Any], str]] = [
    ({"integers": FOUR, "answer": [1], "words": [1, 3, OWN - 1, LIE - 1]}, "one below each threshold is 1"),
    ({"integers": FOUR, "answer": [1], "words": [1, 3, OWN, LIE]}, "<= for <: the thresholds themselves are 0"),
    (
        {"integers": FOUR, "answer": [1], "words": [2, 0, OWN - 1, LIE]},
        "the own bucket not asked: no bit is more likely 1",
    ),
    (
        {"integers": FOUR, "answer": [3], "words": [2, 1, LIE, LIE]},
        "buckets sent in the order in which they were drawn",
    ),
    ({"integers": FOUR, "answer": [3], "words": [1, 1, LIE, LIE]}, "a bucket drawn twice: the last one in its place"),
    (
        {"integers": FOUR, "answer": [2], "words": [2, 3, LIE, LIE]},
        "bits in the order of the draws, not of the buckets",
    ),
    ({"integers": FOUR, "answer": [0], "words": [WORDS - 1, 0, 1, OWN - 1, LIE]}, "a refused word for the first draw"),
    ({"integers": SINGLE, "answer": [4], "words": [4, ONE]}, "the last bucket: its field is its number"),
    ({"integers": SINGLE, "answer": [4], "words": [WORDS - 1, 3, ONE]}, "one bucket, not the own one; a refused word"),
    ({"integers": LEFT, "answer": [0], "words": [0, 1, LIE, LIE, LIE]}, "what is drawn is left out, and not asked"),
    (
        {"integers": LEFT, "answer": [4], "words": [3, 3, LIE - 1, LIE, LIE - 1]},
        "left out: one drawn twice, the last one",
    ),
    ({"integers": ALL, "answer": [3], "words": [LIE, LIE - 1, LIE, LIE]}, "all asked: no word for a draw"),
    ({"integers": KEPT, "answer": [3, 0, 1], "words": [FLIP - 1, FLIP - 1]}, "<= for <"),
    (
        {"integers": KEPT, "answer": [2, 1, 0], "words": [FLIP, FLIP]},
        "a word for the public field",
    ),
    ({"integers": KEPT_ALL, "answer": [1, 0, 1], "words": [LAST, 0, 0]}, "flips that never clear a bit"),
    ({"integers": PLAIN, "answer": [4, 1, 0, 1], "words": [0, 0, LAST]}, "no second round: words are taken"),
]
_BULK: list[tuple[dict[str, Any], str]] = [
    (
        {"integers": FOUR, "values": [3, 0], "words": [0, 3, LIE, LIE, 2, 2, LIE - 1, OWN - 1]},
        "all draws first, in place of a row for each device",
    ),
    (
        {
            "integers": LEFT,
            "values": [0, 4],
            "words": [0, WORDS - 1, LIE, LIE, LIE, 3, WORDS - 1, LIE, LIE, LIE, WORDS - 1, 2, 4],
        },
        "refused words drawn again at once and not after the block",
    ),
    ({"integers": ALL, "values": [0], "words": [LIE, LIE, LIE, LIE - 1]}, "all asked: bits alone"),
    ({"integers": FOUR, "values": [], "words": []}, "no devices"),
    (
        {
            "integers": KEPT_ONE,
            "values": [3, 0],
            "words": [LAST, 0, LAST, 844441824, 1, 511972651, 0, 844441823, 8],
        },
        "permanent words: a refused one drawn again at once and not after the block",
    ),
    (
        {
            "integers": KEPT_ALL,
            "values": [2],
            "words": [LOW - 1, LOW, 0, LAST, LAST, WORDS - LOW, FLIP, FLIP, FLIP - 1],
        },
        "all asked: no word of the pool, the own bucket's stream second",
    ),
]
_LAWS: list[tuple[dict[str, Any], str]] = [
    ({"integers": FOUR, "value": 1}, "the first two buckets, the own one among them"),
    ({"integers": FOUR, "value": 1, "public": [0, 2]}, "buckets 0 and 3, not the own one: all bits alike"),
    ({"integers": FOUR, "value": 3, "public": [2, 2]}, "buckets 2 and 3"),
    ({"integers": SINGLE, "value": 4, "public": [4]}, "one bit, by the whole loss"),
    ({"integers": LEFT, "value": 2, "public": [0, 1, 2]}, "buckets 0, 2 and 4"),
    ({"integers": [3, 3, LIE, 0, 0], "value": 2}, "all asked: no public fields"),
    ({"integers": KEPT, "value": 1}, "the first two buckets, flips composed"),
    ({"integers": KEPT, "value": 0, "public": [3]}, "the last bucket, then the first, in this order"),
    ({"integers": KEPT, "value": 1, "public": [2]}, "the own bucket not asked: all bits alike"),
    ({"integers": KEPT_ONE, "value": 4, "public": [4]}, "one bit, by the whole loss of both rounds"),
]
_PRICES: list[tuple[dict[str, Any], str]] = [
    ({"integers": FOUR, "windows": 1}, "the loss of a single bit where two may differ"),
    ({"integers": SINGLE, "windows": 1}, "the loss of two bits where only one may differ: half of epsilon unused"),
    ({"integers": LEFT, "windows": 365}, "the price of a steady device is not that of one report"),
    ({"integers": WIDE, "windows": 7}, "a price that depends on the number of buckets"),
    ({"integers": [2, 1, WORDS // 2 - 1, 0, 0], "windows": 3}, "a price near 0: digits lost in p / q"),
    ({"integers": [2, 2, 1, 0, 0], "windows": 1}, "the largest price"),
    ({"integers": KEPT, "windows": 14}, "two positions: each by itself"),
    ({"integers": KEPT_ONE, "windows": 1}, "one bucket: a change of two bits where only one may differ"),
    ({"integers": KEPT_ONE, "windows": 14}, "one bucket: a life of two bits"),
    ({"integers": [1024, 64, LOW, FLIP, 1], "windows": 365}, "buckets that are not asked, paid for"),
    ({"integers": [1024, 64, LOW, FLIP, 1], "windows": 7}, "fewer windows than half the positions"),
    ({"integers": PLAIN, "windows": 1}, "no flips: no bound for changes, not even over one window"),
]
_MANY = [500, 520, 480, 500, 240, 210, 190, 170]
_ESTIMATES: list[tuple[dict[str, Any], str]] = [
    ({"integers": FOUR, "n": 1000, "counts": _MANY, "level": 0.95}, "divided by the reports about a bucket"),
    (
        {"integers": FOUR, "n": 1000, "counts": _MANY, "level": 0.95, "simultaneous": True},
        "intervals that hold at once",
    ),
    (
        {
            "integers": SINGLE,
            "n": 9000,
            "counts": [1800, 1700, 1900, 1750, 1850, 900, 450, 460, 470, 480],
            "level": 0.9,
        },
        "one bucket each; values below 0",
    ),
    (
        {"integers": LEFT, "n": 60, "counts": [30, 40, 36, 34, 40, 20, 15, 12, 13, 14], "level": 0.95},
        "few devices: no Wilson interval",
    ),
    (
        {"integers": ALL, "n": 1000, "counts": [1000, 1000, 1000, 1000, 480, 390, 410, 372], "level": 0.95},
        "all asked: the interval of a count",
    ),
    ({"integers": FOUR, "n": 1, "counts": [1, 1, 0, 0, 1, 0, 0, 0], "level": 0.99}, "one report"),
    ({"integers": KEPT, "n": 1000, "counts": _MANY, "level": 0.95}, "se_shared of values where few buckets are asked"),
    (
        {"integers": PLAIN, "n": 60, "counts": [30, 40, 36, 34, 40, 20, 15, 12, 13, 14], "level": 0.95},
        "no second round: all error is shared",
    ),
    (
        {"integers": KEPT_ALL, "n": 1000, "counts": [1000, 1000, 1000, 480, 390, 410], "level": 0.95},
        "all asked: se_shared of permanent answers",
    ),
    ({"integers": FOUR, "n": 0, "counts": [0, 0, 0, 0, 0, 0, 0, 0], "level": 0.95}, "a division by no reports"),
    ({"integers": FOUR, "n": 2, "counts": [1, 1, 1, 1, 2, 0, 0, 0], "level": 0.95}, "more ones than bits"),
    (
        {"integers": FOUR, "n": 2, "counts": [2, 1, 1, 1, 1, 0, 0, 0], "level": 0.95},
        "more than two bits for each report",
    ),
    (
        {"integers": FOUR, "n": 2, "counts": [3, 1, 0, 0, 1, 0, 0, 0], "level": 0.95},
        "more reports about a bucket than there are",
    ),
    ({"integers": FOUR, "n": 2, "counts": [1, 1, 1, 1], "level": 0.95}, "no count of the ones"),
]
