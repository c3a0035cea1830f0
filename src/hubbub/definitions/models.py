"""The keys of a metric in metrics.toml: types, ranges, defaults, meaning and remedies stand here and nowhere else.

Checks, messages and spec/schemas/registry.json follow from these types (hubbub.definitions.keys).
"""

import datetime
from typing import Annotated, Literal

from msgspec import Struct

from hubbub.definitions.forms import COUNT, LARGEST, LOSS, NUMBER, Dimension, Label, Line, Text, key
from hubbub.encoders.one_bit_mean import MAX_TICKS
from hubbub.encoders.vector import MAX_DIMENSION
from hubbub.lock import DIMENSION, MAX_EVERY, MAX_SHUFFLER, MAX_TEXT
from hubbub.mechanisms.base import MIN_EPSILON, default_permanent


class Definition(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One metric."""

    version: Annotated[
        int,
        key("Number of this definition of the metric; only ever rises.", "start with version = 1", **COUNT),
    ]
    kind: Annotated[
        Literal["boolean", "mean", "choice", "histogram", "words", "vector"],
        key("What is measured.", 'write kind = "boolean" for a share, kind = "mean" for a number'),
    ]
    description: Annotated[
        str,
        key(
            "What one device's value is, for whoever reads the number.",
            'say what one value is, as in "Minutes the editor was in front, per installation and day"',
            min_length=1,
            max_length=MAX_TEXT,
        ),
    ]
    purpose: Annotated[
        str,
        key(
            "What the number will decide, for whoever is asked.",
            'say what it will decide, as in "Decide which platform to speed up first"',
            min_length=1,
            max_length=MAX_TEXT,
        ),
    ]
    owners: Annotated[
        list[Line],
        key(
            "Who answers for the metric.",
            'write owners = ["telemetry@example.org"]',
            "a list of at least one address or name, in quotes",
            min_length=1,
        ),
    ]
    unit: Annotated[
        str, key("Unit of the value, as shown beside numbers.", 'write it short, as in unit = "min"', max_length=32)
    ] = ""
    lower: (
        Annotated[float, key("Smallest value, in the unit; less is clipped.", "write lower = 0", **NUMBER)] | None
    ) = None
    upper: (
        Annotated[
            float,
            key(
                "Largest value, in the unit; more is clipped. Half the range is worth four times the devices.",
                "write what nearly all devices stay below: upper = 480 for minutes a day",
                **NUMBER,
            ),
        ]
        | None
    ) = None
    step: Annotated[
        float,
        key(
            "Distance of two values, in the unit; those between are rounded.",
            "write step = 1; a coarse step costs half of itself at most",
            ge=0.000001,
            le=LARGEST,
        ),
    ] = 1.0
    epsilon: Annotated[
        float,
        key("What one report may give away, in nats.", "write epsilon = 1.0; less is more private, less exact", **LOSS),
    ]
    strategy: Annotated[
        Literal["memo", "fresh"],
        key(
            "memo: permanent answers, cheap for steady devices; fresh: every report is drawn anew and losses add up.",
            'write strategy = "memo", or leave it out',
        ),
    ] = "memo"
    permanent_epsilon: (
        Annotated[
            float,
            key(
                "What a device that never changes may give away for ever, in nats; max(2 epsilon, 1.2) if left out.",
                "leave it out for max(2 epsilon, 1.2)",
                **LOSS,
            ),
        ]
        | None
    ) = None
    aggregate: (
        Annotated[
            Literal["sum", "count", "max", "last", "share", "any", "all", "first", "most"],
            key(
                "What several values in one window come to; sum, any or last, by the kind, if left out.",
                'leave aggregate out, or write aggregate = "last"',
            ),
        ]
        | None
    ) = None
    active: Annotated[
        bool,
        key(
            "Kind mean: true adds the mean among those that recorded anything; a second report tells whether, and the "
            "two share epsilon evenly.",
            "write active = true, or leave it out",
        ),
    ] = False
    window: Annotated[
        Literal["hour", "day", "week"], key("One report in each of these, in UTC.", 'write window = "day"')
    ] = "day"
    starts: Annotated[
        datetime.date,
        key(
            "First day (UTC) that is measured.",
            "write starts = 2026-12-01, without quotes",
            "a date such as 2026-12-01, without quotes",
        ),
    ]
    expires: Annotated[
        datetime.date,
        key(
            "Day (UTC) on which measuring ends, at most 400 days after starts.",
            "write expires = 2027-11-30, without quotes",
            "a date such as 2027-11-30, without quotes",
        ),
    ]
    grace: Annotated[
        str,
        key(
            "How long after its window a report may still arrive: a number of hours (h), days (d) or weeks (w).",
            'write grace = "14d", or leave it out',
            'a duration such as "36h", "14d" or "2w"',
            pattern="^[1-9][0-9]{0,4}[hdw]$",
        ),
    ] = "14d"
    report_every: Annotated[
        int,
        key(
            "r: the turn of each device comes in every r-th window.",
            "write report_every = 1, or leave it out",
            ge=1,
            le=MAX_EVERY,
        ),
    ] = 1
    rotation: Annotated[
        str,
        key(
            "Group of metrics that take turns: a device sends one report in each window for all of them together.",
            'give each metric of the group the same name, as in rotation = "usage", or leave it out',
            "the name of a group of metrics, in a-z, 0-9 and _, at most 32 characters",
            pattern=f"^({DIMENSION.pattern})?$",
        ),
    ] = ""
    presence: Annotated[
        Literal["ran", "hidden"],
        key(
            "ran: one report for each window in which the program ran. hidden: those in which it did not are reported "
            "as 0, no or none once it runs again, if it does so within grace.",
            'write presence = "ran", or leave it out',
        ),
    ] = "ran"
    seal: Annotated[
        Literal["window_end"],
        key(
            "window_end: the report is made when its window has ended. Reserved: exit.",
            'write seal = "window_end", or leave it out',
        ),
    ] = "window_end"
    dimensions: Annotated[
        dict[Dimension, list[Label]],
        key(
            "Public facts sent in the clear with each report, each with its closed list of values; at most 64 cells.",
            'write it as in dimensions = { channel = ["stable", "beta"] }',
            "a table that gives each name its list of values",
        ),
    ] = {}
    shuffler: (
        Annotated[
            str,
            key(
                "Strategy fresh: who mixes reports of many devices on the way, and who runs it; no price counts on it.",
                'write shuffler = "Mixnet, run by Example", or leave it out',
                min_length=1,
                max_length=MAX_SHUFFLER,
            ),
        ]
        | None
    ) = None
    expected_devices: (
        Annotated[
            int,
            key(
                "Devices that run in one window; lint says what they are worth.",
                "write your best guess: expected_devices = 50_000",
                **COUNT,
            ),
        ]
        | None
    ) = None
    target_margin: (
        Annotated[
            float,
            key(
                "Half-width of the 95 % interval that is wanted for one window, in the unit (boolean: a share).",
                "write the half-width in the unit: target_margin = 10, or 0.02 for two points of a share",
                ge=0.000001,
                le=LARGEST,
            ),
        ]
        | None
    ) = None
    min_reports: Annotated[
        int, key("Nothing is shown for fewer reports.", "write min_reports = 100, or leave it out", **COUNT)
    ] = 100
    mechanism: (
        Annotated[
            str,
            key(
                "Mechanism, where a kind has several.",
                "leave mechanism out: the best one is taken",
                min_length=1,
                max_length=64,
            ),
        ]
        | None
    ) = None
    max_bits: (
        Annotated[
            int,
            key("Longest message, in bits; mechanisms with longer ones are left out.", "leave max_bits out", **COUNT),
        ]
        | None
    ) = None
    max_change: (
        Annotated[
            float,
            key(
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
            key(
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
            key(
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
        key(
            "true: permanent_epsilon may equal epsilon, nothing hides a change, and a device's life has no bound.",
            "write changes_visible = false, or leave it out",
        ),
    ] = False
    categories: (
        Annotated[
            list[Text],
            key(
                "Kind choice: the labels.", 'write categories = ["a", "b"]', "a list of labels in quotes", min_length=1
            ),
        ]
        | None
    ) = None
    buckets: Annotated[int, key("Kind histogram: number of buckets.", "write buckets = 20", ge=2, le=4096)] | None = (
        None
    )
    bits: (
        Annotated[
            int,
            key("Kind words: bits of a filter, or of each row of a sketch.", "leave bits out, or write 128", **COUNT),
        ]
        | None
    ) = None
    hashes: (
        Annotated[
            int,
            key("Kind words: bits that a word sets in its filter, or rows of a sketch.", "leave hashes out", **COUNT),
        ]
        | None
    ) = None
    cohorts: (
        Annotated[
            int, key("Kind words: groups of devices whose filters differ.", "leave cohorts out, or write 16", **COUNT)
        ]
        | None
    ) = None
    dimension: (
        Annotated[int, key("Kind vector: number of coordinates.", "write dimension = 16", ge=2, le=MAX_DIMENSION)]
        | None
    ) = None
    norm: (
        Annotated[
            float,
            key("Kind vector: each coordinate is clipped to [-norm, norm].", "write norm = 1", ge=0.000001, le=LARGEST),
        ]
        | None
    ) = None
    coordinates: (
        Annotated[
            list[Text],
            key(
                "Kind vector: names of the coordinates.",
                "leave coordinates out for 0, 1, 2",
                "a list of names in quotes",
            ),
        ]
        | None
    ) = None

    @property
    def reports(self) -> int:
        """Reports of one window among which its losses are shared out."""
        return 2 if self.active else 1

    @property
    def permanent(self) -> float | None:
        """What a device that never changes may give away for ever, in nats; None where everything is fresh."""
        if self.strategy == "fresh":
            return None
        if self.permanent_epsilon is not None:
            return self.permanent_epsilon
        return self.reports * default_permanent(self.epsilon / self.reports)
