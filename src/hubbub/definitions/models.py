"""The keys of metrics.toml: their types, ranges, defaults, meaning and remedies stand here and nowhere else.

Checks, messages and spec/schemas/registry.json follow from these types (hubbub.definitions.keys).
"""

import datetime
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal, NamedTuple

from msgspec import Meta, Struct

from hubbub.encoders.one_bit_mean import MAX_TICKS
from hubbub.lock import COLLECTION, DIMENSION, LABEL, MAX_EVERY, MAX_INTEGER, MAX_TEXT
from hubbub.mechanisms.base import MAX_EPSILON, MIN_EPSILON, default_permanent

SCHEMA = "hubbub.registry/1"
LARGEST = 1_000_000_000  # of a number in a metric's unit: its millionths are exact in a double
MAX_NAME = 64
FIRST_YEAR, LAST_YEAR = 1970, 9000  # far enough from the ends of the calendar to reckon with
NAME = r"^[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)*$"
HOURS = {"h": 1, "d": 24, "w": 168}  # units of a duration


class Domain(NamedTuple):
    """Keys that say which values a kind has."""

    required: tuple[str, ...]
    optional: tuple[str, ...] = ()


KINDS: Mapping[str, Domain] = {
    "boolean": Domain(()),
    "mean": Domain(("lower", "upper"), ("unit", "step", "bucket")),
    "choice": Domain(("categories",)),
    "histogram": Domain(("lower", "upper", "buckets"), ("unit",)),
    "words": Domain((), ("bits", "hashes", "cohorts")),
    "vector": Domain(("dimension", "norm"), ("unit",)),
}
RESERVED = {"rotation": "a group", "presence": "hidden", "seal": "exit"}  # words of a later release


def _key(description: str, remedy: str, form: str = "", **limits: Any) -> Meta:
    """What a key means, what to do where it is wrong, and in words what stands there (numbers: from their limits)."""
    return Meta(description=description, extra={"remedy": remedy, "form": form}, **limits)


_Label = Annotated[str, Meta(pattern=f"^{LABEL.pattern}$")]
_Dimension = Annotated[str, Meta(pattern=f"^{DIMENSION.pattern}$")]
_Name = Annotated[str, Meta(pattern=NAME, max_length=MAX_NAME)]
_Line = Annotated[str, Meta(min_length=1, max_length=254)]
_number = {"ge": -LARGEST, "le": LARGEST}
_count = {"ge": 1, "le": MAX_INTEGER}
_loss = {"ge": MIN_EPSILON, "le": MAX_EPSILON}


class Definition(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One metric."""

    version: Annotated[
        int,
        _key("Number of this definition of the metric; only ever rises.", "start with version = 1", **_count),
    ]
    kind: Annotated[
        Literal["boolean", "mean", "choice", "histogram", "words", "vector"],
        _key("What is measured.", 'write kind = "boolean" for a share, kind = "mean" for a number'),
    ]
    description: Annotated[
        str,
        _key(
            "What one device's value is, for whoever reads the number.",
            'say what one value is, as in "Minutes the editor was in front, per installation and day"',
            min_length=1,
            max_length=MAX_TEXT,
        ),
    ]
    purpose: Annotated[
        str,
        _key(
            "What the number will decide, for whoever is asked.",
            'say what it will decide, as in "Decide which platform to speed up first"',
            min_length=1,
            max_length=MAX_TEXT,
        ),
    ]
    owners: Annotated[
        list[_Line],
        _key(
            "Who answers for the metric.",
            'write owners = ["telemetry@example.org"]',
            "a list of at least one address or name, in quotes",
            min_length=1,
        ),
    ]
    unit: Annotated[
        str, _key("Unit of the value, as shown beside numbers.", 'write it short, as in unit = "min"', max_length=32)
    ] = ""
    lower: (
        Annotated[float, _key("Smallest value, in the unit; less is clipped.", "write lower = 0", **_number)] | None
    ) = None
    upper: (
        Annotated[
            float,
            _key(
                "Largest value, in the unit; more is clipped. Half the range is worth four times the devices.",
                "write what nearly all devices stay below: upper = 480 for minutes a day",
                **_number,
            ),
        ]
        | None
    ) = None
    step: Annotated[
        float,
        _key(
            "Distance of two values, in the unit; those between are rounded.",
            "write step = 1; a coarse step costs half of itself at most",
            ge=0.000001,
            le=LARGEST,
        ),
    ] = 1.0
    epsilon: Annotated[
        float,
        _key(
            "What one report may give away, in nats.", "write epsilon = 1.0; less is more private, less exact", **_loss
        ),
    ]
    strategy: Annotated[
        Literal["memo", "fresh"],
        _key(
            "memo: permanent answers, cheap for steady devices; fresh: every report is drawn anew and losses add up.",
            'write strategy = "memo", or leave it out',
        ),
    ] = "memo"
    permanent_epsilon: (
        Annotated[
            float,
            _key(
                "What a device that never changes may give away for ever, in nats; max(2 epsilon, 1.2) if left out.",
                "leave it out for max(2 epsilon, 1.2)",
                **_loss,
            ),
        ]
        | None
    ) = None
    window: Annotated[
        Literal["hour", "day", "week"], _key("One report in each of these, in UTC.", 'write window = "day"')
    ] = "day"
    starts: Annotated[
        datetime.date,
        _key(
            "First day (UTC) that is measured.",
            "write starts = 2026-12-01, without quotes",
            "a date such as 2026-12-01, without quotes",
        ),
    ]
    expires: Annotated[
        datetime.date,
        _key(
            "Day (UTC) on which measuring ends, at most 400 days after starts.",
            "write expires = 2027-11-30, without quotes",
            "a date such as 2027-11-30, without quotes",
        ),
    ]
    grace: Annotated[
        str,
        _key(
            "How long after its window a report may still arrive: a number of hours (h), days (d) or weeks (w).",
            'write grace = "14d", or leave it out',
            'a duration such as "36h", "14d" or "2w"',
            pattern="^[1-9][0-9]{0,4}[hdw]$",
        ),
    ] = "14d"
    report_every: Annotated[
        int,
        _key(
            "r: the turn of each device comes in every r-th window.",
            "write report_every = 1, or leave it out",
            ge=1,
            le=MAX_EVERY,
        ),
    ] = 1
    rotation: Annotated[
        Literal[""], _key("Reserved: group of metrics that take turns.", "leave rotation out in this release")
    ] = ""
    presence: Annotated[
        Literal["ran"],
        _key(
            "ran: one report for each window in which the program ran. Reserved: hidden.",
            'write presence = "ran", or leave it out',
        ),
    ] = "ran"
    seal: Annotated[
        Literal["window_end"],
        _key(
            "window_end: the report is made when its window has ended. Reserved: exit.",
            'write seal = "window_end", or leave it out',
        ),
    ] = "window_end"
    dimensions: Annotated[
        dict[_Dimension, list[_Label]],
        _key(
            "Public facts sent in the clear with each report, each with its closed list of values; at most 64 cells.",
            'write it as in dimensions = { channel = ["stable", "beta"] }',
            "a table that gives each name its list of values",
        ),
    ] = {}
    expected_devices: (
        Annotated[
            int,
            _key(
                "Devices that run in one window; lint says what they are worth.",
                "write your best guess: expected_devices = 50_000",
                **_count,
            ),
        ]
        | None
    ) = None
    target_margin: (
        Annotated[
            float,
            _key(
                "Half-width of the 95 % interval that is wanted for one window, in the unit (boolean: a share).",
                "write the half-width in the unit: target_margin = 10, or 0.02 for two points of a share",
                ge=0.000001,
                le=LARGEST,
            ),
        ]
        | None
    ) = None
    min_reports: Annotated[
        int, _key("Nothing is shown for fewer reports.", "write min_reports = 100, or leave it out", **_count)
    ] = 100
    mechanism: (
        Annotated[
            str,
            _key(
                "Mechanism, where a kind has several.",
                "leave mechanism out: the one of least variance is taken",
                min_length=1,
                max_length=64,
            ),
        ]
        | None
    ) = None
    max_bits: (
        Annotated[
            int,
            _key("Longest message, in bits; mechanisms with longer ones are left out.", "leave max_bits out", **_count),
        ]
        | None
    ) = None
    max_change: (
        Annotated[
            float,
            _key(
                "Highest price of one changed window, in nats; dearer mechanisms are left out.",
                "leave max_change out",
                ge=MIN_EPSILON,
                le=LARGEST,
            ),
        ]
        | None
    ) = None
    max_life: (
        Annotated[
            float,
            _key(
                "Highest price of a whole life, in nats; dearer mechanisms are left out.",
                "leave max_life out",
                ge=MIN_EPSILON,
                le=LARGEST,
            ),
        ]
        | None
    ) = None
    bucket: (
        Annotated[
            int,
            _key(
                "Kind mean: steps that share one permanent answer; the whole range, the most private, if left out.",
                "leave bucket out: the whole range is the most private and costs nothing in one window",
                ge=1,
                le=MAX_TICKS,
            ),
        ]
        | None
    ) = None
    changes_visible: Annotated[
        bool,
        _key(
            "true: permanent_epsilon may equal epsilon, nothing hides a change, and a device's life has no bound.",
            "write changes_visible = false, or leave it out",
        ),
    ] = False
    categories: (
        Annotated[
            list[Annotated[str, Meta(min_length=1, max_length=64)]],
            _key(
                "Kind choice: the labels.", 'write categories = ["a", "b"]', "a list of labels in quotes", min_length=1
            ),
        ]
        | None
    ) = None
    buckets: Annotated[int, _key("Kind histogram: number of buckets.", "write buckets = 20", ge=2, le=4096)] | None = (
        None
    )
    bits: (
        Annotated[
            int,
            _key("Kind words: bits of a filter, or of each row of a sketch.", "leave bits out, or write 128", **_count),
        ]
        | None
    ) = None
    hashes: (
        Annotated[
            int,
            _key("Kind words: bits that a word sets in its filter, or rows of a sketch.", "leave hashes out", **_count),
        ]
        | None
    ) = None
    cohorts: (
        Annotated[
            int, _key("Kind words: groups of devices whose filters differ.", "leave cohorts out, or write 16", **_count)
        ]
        | None
    ) = None
    dimension: Annotated[int, _key("Kind vector: number of entries.", "write dimension = 16", **_count)] | None = None
    norm: (
        Annotated[float, _key("Kind vector: longer vectors are clipped.", "write norm = 1", ge=0.000001, le=LARGEST)]
        | None
    ) = None

    @property
    def permanent(self) -> float | None:
        """What a device that never changes may give away for ever, in nats; None where everything is fresh."""
        if self.strategy == "fresh":
            return None
        if self.permanent_epsilon is not None:
            return self.permanent_epsilon
        return default_permanent(self.epsilon)


class Document(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What people write about the metrics of one collection; `hubbub registry build` turns it into metrics.lock."""

    schema: Annotated[
        Literal["hubbub.registry/1"], _key("Form of this file.", f'write schema = "{SCHEMA}", or use another release')
    ]
    collection: Annotated[
        str,
        _key(
            "Id of the app or service; part of every permanent answer, so never change it.",
            'write it in a-z, 0-9, _ and -, as in collection = "editor-desktop"',
            "an id of at most 64 characters",
            pattern=f"^{COLLECTION.pattern}$",
        ),
    ]
    metrics: Annotated[
        dict[_Name, Definition],
        _key(
            "The metrics by name.",
            'add a table such as [metrics."editor.used"]; `hubbub init` writes a first file',
            "one table for each metric",
            min_length=1,
        ),
    ]


def duration(text: str) -> int:
    """Seconds of a duration such as "36h", "14d" or "2w"."""
    return int(text[:-1]) * HOURS[text[-1]] * 3600


@dataclass(frozen=True)
class Registry:
    """An accepted metrics.toml.

    Attributes:
        file: Where it was read, for messages.
        collection: Id of the app or service.
        metrics: The definitions by name.
    """

    file: str
    collection: str
    metrics: Mapping[str, Definition]
