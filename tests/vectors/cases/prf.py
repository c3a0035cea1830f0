"""Fields, permanent words, uniform choices, encoding hashes and ids (spec/README.md)."""

from typing import Any

from tests.vectors.cases import MINUTES, OTHER_SECRET, SECRET, WORDS, Case, cases_of

SHAPE: dict[str, Any] = {
    "kind": "mean",
    "encoder": "one_bit_mean",
    "integers": [480, 480, 511972653, 3271021990, 844441824, 1],
    "lower": 0,
    "step": 1000000,
    "labels": [],
    "window": "day",
    "report_every": 1,
    "rotation": "",
    "presence": "ran",
    "seal": "window_end",
}
STREAM: dict[str, Any] = {"secret": SECRET, **MINUTES}
DEVICE: dict[str, Any] = {"secret": SECRET, "collection": "editor-desktop", "metric": "", "hash": ""}
LIMIT = WORDS - WORDS % 480  # the first word that a choice among 480 refuses


def cases() -> list[Case]:
    return [
        *cases_of("fields", _FIELDS),
        *cases_of("prf", _STREAMS),
        *cases_of("below", _CHOICES),
        *cases_of("encoding_hash", _HASHES),
        *cases_of("report_id", _IDS),
    ]


_FIELDS: list[tuple[dict[str, Any], str]] = [
    ({"items": []}, "no items, no bytes: a count in front"),
    ({"items": ["hubbub/1", "alpha"]}, "the example of the page: little-endian or one-byte lengths"),
    ({"items": ["a", "bc"]}, "with the next entry: fields joined without their lengths"),
    ({"items": ["ab", "c"]}, "with the entry before: fields joined without their lengths"),
    ({"items": ["", 0, -1, 9007199254740991]}, "integers in binary, an empty item left out, a lost sign"),
    ({"items": ["Größe", "名"]}, "lengths in characters and not in bytes of UTF-8"),
]
_STREAMS = [
    (
        STREAM | {"purpose": "alpha", "key": [], "counts": [8]},
        "one block: little-endian words, another hash, a wrong head",
    ),
    (
        STREAM | {"purpose": "alpha", "key": [], "counts": [9]},
        "the ninth word: counter from 1, in one byte or little-endian",
    ),
    (STREAM | {"purpose": "alpha", "key": [], "counts": [3, 0, 7]}, "words thrown away between two requests"),
    (STREAM | {"purpose": "memo", "key": [0], "counts": [1]}, "key 0 taken for no key"),
    (STREAM | {"purpose": "memo", "key": [1], "counts": [1]}, "the key left out of the head"),
    (STREAM | {"purpose": "memo", "key": [10], "counts": [1]}, "the key as a byte and not in decimal"),
    (STREAM | {"purpose": "memo", "key": [1, 0], "counts": [1]}, "two keys joined to the text of one"),
    (STREAM | {"purpose": "id", "key": [-1], "counts": [2]}, "a negative key"),
    (
        STREAM | {"purpose": "alpha", "key": [], "counts": [2], "secret": OTHER_SECRET},
        "bytes of the secret taken as signed",
    ),
    (STREAM | {"purpose": "alpha", "key": [], "counts": [2], "collection": "editor-web"}, "the collection left out"),
    (STREAM | {"purpose": "alpha", "key": [], "counts": [2], "metric": "editor.starts"}, "the metric left out"),
    (
        STREAM | {"purpose": "alpha", "key": [], "counts": [2], "hash": MINUTES["hash"][:32] + "0" * 32},
        "only the half of the hash that travels used as a key",
    ),
    (DEVICE | {"purpose": "turn", "key": [28], "counts": [1]}, "a turn for each metric and not for the device"),
    (DEVICE | {"purpose": "cohort", "key": [28], "counts": [1]}, "the same words for turn and cohort"),
]
_CHOICES = [
    ({"bound": 480, "words": [0]}, "the smallest word"),
    ({"bound": 480, "words": [479]}, "a word scaled down and not reduced"),
    ({"bound": 480, "words": [480]}, "the first word that wraps"),
    ({"bound": 480, "words": [LIMIT - 1, 7]}, "the last word that counts, refused"),
    ({"bound": 480, "words": [LIMIT, 7]}, "the first word that does not count, taken"),
    ({"bound": 480, "words": [WORDS - 1, LIMIT, 481]}, "only one word drawn again"),
    ({"bound": 1, "words": [WORDS - 1, 0]}, "no word taken where there is no choice"),
    ({"bound": 3, "words": [WORDS - 1, 5, 4]}, "32 bits of ones, which 3 does not divide into"),
    ({"bound": 4096, "words": [WORDS - 1, 0]}, "a power of two that refuses a word"),
    (
        {"bound": WORDS // 2 + 1, "words": [WORDS // 2 + 1, WORDS // 2, 0]},
        "the worst bound: almost every second word is refused",
    ),
    ({"bound": WORDS, "words": [WORDS - 1, 0]}, "a bound that does not fit 32 bits"),
]
_HASHES = [
    (SHAPE, "the example of the page"),
    (SHAPE | {"lower": -5000000}, "lower left out, or its sign lost"),
    (SHAPE | {"step": 500000}, "step left out, or in the unit"),
    (SHAPE | {"window": "week"}, "the window left out"),
    (SHAPE | {"report_every": 28}, "report_every left out"),
    (SHAPE | {"report_every": 6, "rotation": "usage:2"}, "rotation left out, or its rank"),
    (SHAPE | {"presence": "hidden"}, "presence left out"),
    (SHAPE | {"integers": [480, 480, 511972653, 3271021990, 844441823, 1]}, "an integer of the encoder left out"),
    (
        SHAPE | {"kind": "boolean", "encoder": "randomized_response", "integers": [511972653, 844441824, 1]},
        "fields of one kind used for another",
    ),
    (SHAPE | {"labels": ["none", "a"]}, "labels left out"),
    (SHAPE | {"labels": ["a", "none"]}, "labels sorted"),
]
_IDS = [
    (STREAM | {"window": 20789}, "the example of the page: words in the wrong order, little-endian"),
    (STREAM | {"window": 20790}, "the window left out: a second report would count as a duplicate"),
    (STREAM | {"window": -1}, "a negative window"),
    (STREAM | {"window": 10}, "a word with a leading zero written with fewer digits"),
    (STREAM | {"window": 20789, "hash": "0" * 64}, "the hash left out: two definitions would share their ids"),
]
