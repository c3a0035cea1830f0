"""Single changes of an accepted metrics.toml that must be refused, each with what its message says."""

from typing import Any, NamedTuple

from hubbub.definitions.keys import KEYS, kinds_with
from tests.unit.definitions_support import MEAN

FRESH = {"strategy": '"fresh"'}


class Bad(NamedTuple):
    """One change of an accepted metrics.toml, and what the message must say."""

    changes: dict[str, str | None]
    key: str
    value: str
    problem: str
    remedy: str
    schema: bool = True  # whether the JSON Schema alone refuses it too


def wrong(key: str, value: str, problem: str, remedy: str = "", **others: Any) -> Bad:
    """A key with a wrong value; the remedy is that of the key."""
    schema = others.pop("schema", True)
    return Bad({key: value} | others, key, value, problem, remedy or KEYS[key].remedy, schema)


BAD = [
    # each key out of its range
    wrong("version", "0", "is not a whole number >= 1"),
    wrong("version", "9007199254740992", "is not a whole number >= 1"),
    wrong("kind", '"bolean"', 'is not one of "boolean", "mean"', 'did you mean "boolean"?'),
    wrong("kind", '"Means"', 'is not one of "boolean", "mean"', 'did you mean "mean"?'),
    wrong("kind", '"number"', 'is not one of "boolean", "mean"'),
    wrong("description", '""', "is not text of 1 to 1000 characters"),
    wrong("purpose", '""', "is not text of 1 to 1000 characters"),
    wrong("owners", "[]", "is not a list of at least one address or name"),
    wrong("owners", '[""]', "is not a list of at least one address or name"),
    wrong("unit", f'"{"m" * 33}"', "is not text of 0 to 32 characters"),
    wrong("lower", "-1000000001", "is not a number in [-1000000000, 1000000000]"),
    wrong("upper", "1000000001", "is not a number in [-1000000000, 1000000000]"),
    wrong("step", "0", "is not a number in [0.000001, 1000000000]"),
    wrong("step", "-1", "is not a number in [0.000001, 1000000000]"),
    wrong("epsilon", "0", "is not a number in [0.001, 16]"),
    wrong("epsilon", "16.000001", "is not a number in [0.001, 16]"),
    wrong("permanent_epsilon", "20.5", "is not a number in [0.001, 16]"),
    wrong("strategy", '"memoise"', 'is not one of "memo", "fresh"', 'did you mean "memo"?'),
    wrong("window", '"month"', 'is not one of "hour", "day", "week"'),
    wrong("grace", '"2 weeks"', 'is not a duration such as "36h"'),
    wrong("grace", '"0d"', 'is not a duration such as "36h"'),
    wrong("grace", '"91d"', "is not between 1 h and 90 d", schema=False),
    wrong("report_every", "0", "is not a whole number in [1, 400]"),
    wrong("report_every", "401", "is not a whole number in [1, 400]"),
    wrong("expected_devices", "0", "is not a whole number >= 1"),
    wrong("target_margin", "0", "is not a number in [0.000001, 1000000000]"),
    wrong("target_margin", "240.5", "is more than 240, half the range", schema=False),
    wrong(
        "target_margin",
        "2",
        "is more than 0.5, half the range",
        kind='"boolean"',
        unit=None,
        lower=None,
        upper=None,
        schema=False,
    ),
    wrong("min_reports", "0", "is not a whole number >= 1"),
    wrong("bucket", "0", "is not a whole number in [1, 4294967295]"),
    wrong("bucket", "481", "is not in [1, 480], counted in steps", "leave bucket out", schema=False),
    wrong("bucket", "2", "is not in [3, 8193]", "at most 4096 buckets", upper="8193", schema=False),
    # each of the wrong type
    wrong("version", '"1"', "is not a whole number >= 1"),
    wrong("version", "1.5", "is not a whole number >= 1"),
    wrong("version", "true", "is not a whole number >= 1"),
    wrong("kind", "3", 'is not one of "boolean", "mean"'),
    wrong("description", "12", "is not text of 1 to 1000 characters"),
    wrong("owners", '"me@example.org"', "is not a list of at least one address or name"),
    wrong("owners", "[1]", "is not a list of at least one address or name"),
    wrong("upper", '"480"', "is not a number in"),
    wrong("lower", "true", "is not a number in"),
    wrong("upper", "nan", "is not a number in", schema=False),
    wrong("upper", "inf", "is not a number in"),
    wrong("epsilon", "[1.0]", "is not a number in [0.001, 16]"),
    wrong("epsilon", "2026-12-01", "is not a number in [0.001, 16]"),
    wrong("starts", '"2026-12-01"', "is not a date such as 2026-12-01, without quotes", schema=False),
    wrong("expires", "2027-11-30T00:00:00", "is not a date such as 2027-11-30, without quotes", schema=False),
    wrong("starts", "20261201", "is not a date such as 2026-12-01, without quotes"),
    wrong("grace", "14", 'is not a duration such as "36h"'),
    wrong("dimensions", '["stable", "beta"]', "is not a table that gives each name its list of values"),
    wrong("changes_visible", '"yes"', "is not true or false"),
    wrong("expected_devices", "4E+3", "is not a whole number >= 1", schema=False),
    wrong("mechanism", "1", "is not text of 1 to 64 characters"),
    # numbers finer than millionths, exactly
    wrong("epsilon", "1.0000001", "has 7 decimals, more than 6", "round it to 6 decimals: 1", schema=False),
    wrong("upper", "479.99999999999999999999999999999", "has 29 decimals", "round it to 6 decimals: 480", schema=False),
    wrong("lower", "1E-7", "has 7 decimals", "round it to 6 decimals: 0", schema=False),
    # reserved for later releases
    wrong("seal", '"exit"', "is reserved for a later release", 'write seal = "window_end"'),
    wrong("presence", '"ran "', 'is not one of "ran", "hidden"', 'did you mean "ran"?'),
    wrong(
        "dimensions",
        '{ os = ["a", "b"] }',
        'cannot stand beside presence = "hidden"',
        'remove dimensions, or write presence = "ran"',
        presence='"hidden"',
        schema=False,
    ),
    wrong("rotation", '"Usage"', "is not the name of a group of metrics"),
    wrong("rotation", '"usage:0"', "is not the name of a group of metrics"),
    wrong("rotation", '"usage"', "is a group of one", "give another metric the same rotation", schema=False),
    # keys that do not fit together
    wrong("upper", "0", "is not above lower = 0", schema=False),
    wrong("upper", "-5", "is not above lower = 0", schema=False),
    wrong("upper", "482", "is not a whole number of steps of 5", "write upper = 480 or 485", step="5", schema=False),
    wrong(
        "upper",
        "0.25",
        "steps of 0.5 above lower = -0.5",
        "write upper = 0 or 0.5",
        lower="-0.5",
        step="0.5",
        schema=False,
    ),
    wrong(
        "step",
        "0.000001",
        "cuts the range into 480000000000 steps, more than 4294967295",
        "coarser",
        upper="480000",
        schema=False,
    ),
    wrong("permanent_epsilon", "0.9", "is less than epsilon = 1.0", "leave it out for 2", schema=False),
    wrong("permanent_epsilon", "1", "nothing would hide a change", "or write changes_visible = true", schema=False),
    Bad({"epsilon": "16"}, "permanent_epsilon", "", "nothing would hide a change", "write a smaller epsilon", False),
    wrong("permanent_epsilon", "2", "where strategy = ", "remove permanent_epsilon", **FRESH, schema=False),
    wrong("bucket", "48", "where strategy = ", "remove bucket", **FRESH, schema=False),
    wrong("changes_visible", "true", "where strategy = ", "remove changes_visible", **FRESH, schema=False),
    wrong("starts", "9999-12-31", "is not in the years 1970 to 9000", schema=False),
    wrong("starts", "9999-06-01", "is not in the years 1970 to 9000", schema=False),
    wrong("starts", "1969-12-31", "is not in the years 1970 to 9000", schema=False),
    wrong("expires", "9001-01-01", "is not in the years 1970 to 9000", schema=False),
    wrong("expires", "2026-12-01", "is not after starts = 2026-12-01", "write a date up to 2028-01-05", schema=False),
    wrong("expires", "2026-11-30", "is not after starts = 2026-12-01", "write a date up to 2028-01-05", schema=False),
    wrong(
        "expires",
        "2028-01-06",
        "is 401 days after starts = 2026-12-01",
        "expires = 2028-01-05 or earlier",
        schema=False,
    ),
    wrong("expires", "2026-12-13", "leaves no whole week", "write a later date", window='"week"', schema=False),
    wrong("mechanism", '"oue"', "is not a mechanism for the kind mean", "or use one_bit_mean", schema=False),
    wrong("mechanism", '"randomized_response"', "is not a mechanism for the kind mean", "one_bit_mean", schema=False),
    wrong("mechanism", '"hybrid"', "draws each report anew", 'write strategy = "fresh", or leave', schema=False),
    # dimensions
    Bad({"dimensions": "{ os = [] }"}, "dimensions.os", "[]", "has no values", "at least one", False),
    Bad({"dimensions": '{ os = ["a", "b", "a"] }'}, "dimensions.os", '["a", "b", "a"]', '"a" twice', "once", False),
    Bad({"dimensions": "{ os = [1] }"}, "dimensions.os", "1", "is no value of a dimension", "rename it"),
    Bad({"dimensions": '{ os = "a" }'}, "dimensions.os", '"a"', "is not a list of values", "dimensions ="),
    Bad({"dimensions": '{ os = ["a/b"] }'}, "dimensions.os", '"a/b"', "is no value of a dimension", "rename it"),
    Bad({"dimensions": f'{{ os = ["{"a" * 65}"] }}'}, "dimensions.os", '"aaa', "at most 64 characters", "rename it"),
    Bad({"dimensions": '{ OS = ["a"] }'}, "dimensions.OS", "", "is no name of a dimension", "rename it"),
    Bad({"dimensions": f'{{ {"o" * 33} = ["a"] }}'}, "dimensions.", "", "at most 32 characters", "rename it"),
    Bad(
        {"dimensions": f"{{ a = {[str(i) for i in range(5)]}, b = {[str(i) for i in range(13)]} }}"},
        "dimensions",
        "{ a = ",
        "makes 65 cells, more than 64",
        "list fewer values",
        False,
    ),
    # a shuffler
    wrong("shuffler", '""', "is not text of 1 to 100 characters", **FRESH),
    wrong("shuffler", f'"{"m" * 101}"', "is not text of 1 to 100 characters", **FRESH)._replace(value='"mmm'),
    wrong("shuffler", '" "', "is blank", schema=False, **FRESH),
    wrong("shuffler", '"a\\nb"', "holds more than one line", "on one line", schema=False, **FRESH),
    wrong(
        "shuffler",
        '"Mixnet"',
        "cannot stand beside permanent answers: mixed or not, they come again and can be told by that",
        'write strategy = "fresh", or remove shuffler',
        schema=False,
    ),
    # texts
    wrong("description", '"a\\u001b[2J"', "holds a character that cannot be printed", "on one line", schema=False),
    wrong("description", '"a\\nb"', "holds more than one line", "on one line", schema=False),
    wrong("purpose", '"a\\r\\nb"', "holds more than one line", "on one line", schema=False),
    wrong("owners", '["a", "b\\tc"]', "holds a character that cannot be printed", "on one line", schema=False),
    wrong("description", '" "', "is blank", schema=False),
    wrong("purpose", '"  "', "is blank", schema=False),
    wrong("owners", '["a", " "]', "is blank", schema=False),
    wrong("unit", '" "', "is blank", schema=False),
    wrong("unit", '"m\\n"', "holds more than one line", "on one line", schema=False)._replace(value='"m\\n"'),
    wrong("grace", '"14d\\n"', "holds more than one line", "on one line", schema=False),
    Bad({"dimensions": '{ os = ["\\u0430ndroid"] }'}, "dimensions.os", '"аndroid"', "is U+0430 CYRILLIC", "rename it"),
    Bad({"dimensions": '{ os = ["ünï"] }'}, "dimensions.os", '"ünï"', "is no value of a dimension: char", "rename it"),
    Bad(
        {"dimensions": '{ "\\u043Es" = ["a"] }'}, 'dimensions."оs"', "", "is no name of a dimension: char", "rename it"
    ),
    wrong("dimensions", '["ünï"]', "is not a table that gives each name its list of values\n"),
    wrong("grace", '"１4d"', "U+FF11 FULLWIDTH DIGIT ONE"),
    # keys that are unknown
    Bad({"max": "480"}, "max", "480", "unknown key", "remove it; known are version, kind"),
    Bad({"min_report": "5"}, "min_report", "5", "unknown key", "did you mean min_reports?"),
    Bad({'"epsil\\u043En"': "1"}, '"epsil', "1", "U+043E CYRILLIC SMALL LETTER O", "did you mean epsilon?"),
]
BAD += [  # what two reports of one value need
    Bad({"active": "true", **changes}, "active", "true", "needs 0 among the values", "write lower = 0", schema=False)
    for changes in ({"lower": "10"}, {"lower": "-10", "upper": "-5"}, {"lower": "-1", "upper": "5", "step": "2"})
]
BAD += [
    Bad(
        {"active": "true", "epsilon": "0.001999"},
        "epsilon",
        "0.001999",
        "is too little to be shared by two reports",
        "write epsilon = 0.002 or more",
        schema=False,
    ),
    Bad(
        {"active": "true", "permanent_epsilon": "0.5"},
        "permanent_epsilon",
        "0.5",
        "is less than epsilon = 1.0",
        "leave it out for 2.4",
        schema=False,
    ),
]
BAD += [  # each key in another case, and a second time
    Bad(
        {key: None, key.capitalize(): MEAN[key]},
        key.capitalize(),
        "",
        "unknown key",
        f"keys are in small letters: {key}",
    )
    for key in MEAN
]
BAD += [  # each key missing that must be there
    Bad({key: None}, key, "", "is missing", KEYS[key].remedy)
    for key in MEAN
    if KEYS[key].required or key in ("lower", "upper")
]
BAD += [  # each key of another kind
    Bad({key: value}, key, value, f"belongs to the kind {kinds_with(key)[0]}, not to mean", f"remove {key}")
    for key, value in {
        "categories": '["a"]',
        "buckets": "20",
        "bits": "8",
        "hashes": "2",
        "cohorts": "4",
        "dimension": "3",
        "norm": "1.5",
    }.items()
]
