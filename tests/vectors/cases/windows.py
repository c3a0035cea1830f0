"""Windows, dates, life, which ones are due, and what arrives early or late (spec/windows.md)."""

from tests.vectors.cases import OTHER_SECRET, SECRET, Case, cases_of

DAY, WEEK = 86400, 604800


def cases() -> list[Case]:
    return [
        *cases_of("window", _INDEX),
        *cases_of("span", _SPANS),
        *cases_of("date", _DATES),
        *cases_of("life", _LIVES),
        *cases_of("due", _DUE),
        *cases_of("arrival", _ARRIVALS),
    ]


_INDEX = [
    ({"window": "hour", "now": 0}, "the epoch itself"),
    ({"window": "hour", "now": 3599.999}, "the last millisecond of an hour rounded up"),
    ({"window": "hour", "now": 3600}, "windows that contain their end"),
    ({"window": "day", "now": 1796169600}, "midnight counted to the day before"),
    ({"window": "day", "now": 1796169599.5}, "the last half second of a day"),
    ({"window": "day", "now": 1796169600 + DAY - 1}, "the last second of a day"),
    ({"window": "day", "now": -1}, "rounding towards zero: 1969 in day 0"),
    ({"window": "day", "now": -DAY}, "a negative start counted to the window before"),
    ({"window": "day", "now": -DAY - 1}, "one second before it"),
    ({"window": "week", "now": 345600}, "the first Monday: weeks that begin on Thursday or Sunday"),
    ({"window": "week", "now": 345599}, "the Sunday before it: rounding towards zero"),
    ({"window": "week", "now": 0}, "the epoch was a Thursday, in week -1"),
    ({"window": "week", "now": 1796601600}, "Monday 2026-12-07"),
    ({"window": "week", "now": 1796601599}, "Sunday 2026-12-06, its last second"),
    ({"window": "hour", "now": 4102444800}, "the year 2100: times of 32 bits"),
]
_SPANS = [
    ({"window": "hour", "index": -1}, "negative windows"),
    ({"window": "day", "index": 20789}, "the second of December 2026"),
    ({"window": "week", "index": 0}, "the origin of weeks left out"),
    ({"window": "week", "index": 2970}, "weeks counted from the epoch"),
    ({"window": "hour", "index": 1000000}, "the year 2084: seconds of 32 bits"),
]
_DATES = [
    ({"date": "1970-01-01"}, "the epoch"),
    ({"date": "2026-12-01"}, "midnight of the local time zone"),
    ({"date": "2028-02-29"}, "leap years"),
    ({"date": "2100-03-01"}, "2100 taken for a leap year"),
    ({"date": "1969-12-31"}, "dates before the epoch"),
    ({"date": "2027-02-29"}, "a day that there is not, moved into March"),
    ({"date": "2026-13-01"}, "a month that there is not"),
    ({"date": "2026-1-01"}, "a digit left out"),
    ({"date": "20261201"}, "the form without hyphens"),
    ({"date": "2026-W49-2"}, "the form with weeks"),
    ({"date": "2026-12-01T00:00:00Z"}, "a time beside the date"),
    ({"date": " 2026-12-01"}, "blanks"),
]
_LIVES = [
    (
        {"window": "day", "starts": "2026-12-01", "expires": "2027-11-30", "report_every": 1},
        "the day of expires counted, or the first one not",
    ),
    ({"window": "hour", "starts": "2026-12-01", "expires": "2026-12-02", "report_every": 1}, "24 hours, no more"),
    (
        {"window": "week", "starts": "2026-12-01", "expires": "2026-12-28", "report_every": 1},
        "a week that begins before starts; expires on a Monday closes the week before it",
    ),
    (
        {"window": "week", "starts": "2026-12-07", "expires": "2026-12-27", "report_every": 1},
        "starts on a Monday; a week that ends after expires",
    ),
    (
        {"window": "week", "starts": "2026-12-01", "expires": "2026-12-13", "report_every": 1},
        "no whole week: an empty life",
    ),
    ({"window": "day", "starts": "2026-12-01", "expires": "2026-12-30", "report_every": 28}, "29 / 28 rounded down"),
    ({"window": "day", "starts": "2026-12-01", "expires": "2026-12-29", "report_every": 28}, "one report too many"),
    ({"window": "day", "starts": "1969-12-30", "expires": "1970-01-03", "report_every": 3}, "windows before the epoch"),
]
_DAYS = {"window": "day", "starts": "2026-12-01", "expires": "2027-01-01"}
_DUE = [
    (
        {"secret": SECRET, "collection": "a", "report_every": 1, "indices": [20787, 20788, 20818, 20819], **_DAYS},
        "days outside the life",
    ),
    (
        {"secret": SECRET, "collection": "a", "report_every": 5, "indices": list(range(20788, 20800)), **_DAYS},
        "turns counted from starts and not from window 0",
    ),
    (
        {"secret": OTHER_SECRET, "collection": "a", "report_every": 5, "indices": list(range(20788, 20800)), **_DAYS},
        "the same turn for every device",
    ),
    (
        {
            "secret": SECRET,
            "collection": "a",
            "report_every": 3,
            "indices": list(range(-4, 4)),
            "window": "day",
            "starts": "1969-12-01",
            "expires": "1970-02-01",
        },
        "a remainder that is negative for windows before the epoch",
    ),
    (
        {
            "secret": SECRET,
            "collection": "a",
            "report_every": 5,
            "rotation": "usage:0",
            "indices": list(range(20788, 20800)),
            **_DAYS,
        },
        "a turn drawn for each group: the first metric of one has the turn of every panel",
    ),
    (
        {
            "secret": SECRET,
            "collection": "a",
            "report_every": 5,
            "rotation": "usage:3",
            "indices": list(range(20788, 20800)),
            **_DAYS,
        },
        "ranks counted backwards, or from 1",
    ),
]
_END = 1796256000  # of day 20789
_ARRIVALS = [
    (
        {"window": "day", "index": 20789, "grace": DAY, "now": _END - 600},
        "a clock that is just 600 seconds ahead, refused",
    ),
    ({"window": "day", "index": 20789, "grace": DAY, "now": _END - 600.5}, "half a second more, taken"),
    ({"window": "day", "index": 20789, "grace": DAY, "now": _END}, "grace counted from the start of the window"),
    ({"window": "day", "index": 20789, "grace": DAY, "now": _END + DAY - 1}, "the last second of grace"),
    (
        {"window": "day", "index": 20789, "grace": DAY, "now": _END + DAY - 0.5},
        "fractions of a second cut off too early",
    ),
    ({"window": "day", "index": 20789, "grace": DAY, "now": _END + DAY}, "the first moment that is too late, taken"),
    ({"window": "week", "index": 2970, "grace": 3600, "now": 345600 + 2971 * WEEK + 3599}, "weeks from the epoch"),
    (
        {"window": "week", "index": 2970, "grace": 3600, "now": 345600 + 2971 * WEEK + 3600},
        "weeks from the epoch, too late",
    ),
    ({"window": "hour", "index": 0, "grace": 3600, "now": 2999}, "600 seconds of skew left out"),
]
