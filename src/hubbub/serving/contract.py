"""What the two listeners take and answer, as models and as a list of operations; spec/wire.md says what it means."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from hubbub.clock import Clock, ScaledClock
from hubbub.estimates import Known, Period, Row
from hubbub.store import Store
from hubbub.wire import MAX_REPORTS

Listener = Literal["ingest", "read"]
Status = Literal["duplicate", "rejected", "retry"]
Code = Literal[
    "unknown_metric",
    "metric_ended",
    "hash_mismatch",
    "invalid_id",
    "invalid_payload",
    "unknown_segment",
    "too_early",
    "too_late",
    "conflict",
    "rate_limited",
]
Mode = Literal["real", "dev"]
Date = Annotated[str, Meta(pattern="^[0-9]{4}-[0-9]{2}-[0-9]{2}$")]
PROMETHEUS = "text/plain; version=0.0.4; charset=utf-8"
FILES = {"csv": "text/csv; charset=utf-8", "parquet": "application/vnd.apache.parquet"}  # media types by suffix


class Sent(msgspec.Struct):
    """A report."""

    id: Annotated[str, Meta(pattern="^[0-9a-f]{16}$")]
    metric: Annotated[str, Meta(min_length=1, max_length=64)]
    hash: Annotated[str, Meta(pattern="^[0-9a-f]{32}$")]
    window: int
    payload: Annotated[str, Meta(pattern="^([0-9a-f]{2})*$")]
    segment: str = ""


class Upload(msgspec.Struct):
    """Reports of one device, or those of many that a relay has mixed."""

    schema: Literal["hubbub.reports/1"]
    reports: Annotated[list[Sent], Meta(max_length=MAX_REPORTS)]


class Result(msgspec.Struct):
    """What became of a report that was not accepted anew; `index` is its place in the request, from 0."""

    index: Annotated[int, Meta(ge=0)]
    id: str | None
    status: Status
    code: Code | UnsetType = UNSET


class Answer(msgspec.Struct):
    """How many reports were accepted, and are stored for good; and what became of the others, in order."""

    accepted: Annotated[int, Meta(ge=0)]
    results: list[Result]


class Stopped(msgspec.Struct):
    """Metrics that end before the `expires` of their lock: the first day that is no longer reported."""

    stopped: dict[str, Date]


class Simulated(msgspec.Struct):
    """A clock that agreed with the real one at `origin`, unix seconds, and runs `speed` times as fast."""

    origin: float
    speed: Annotated[float, Meta(gt=0)]


class Health(msgspec.Struct, omit_defaults=True):
    """`dev` where time runs ahead and nothing is real; there the listener of devices tells its `clock`."""

    status: Literal["alive", "ready"]
    mode: Mode = "real"
    clock: Simulated | UnsetType = UNSET


class Problem(msgspec.Struct, omit_defaults=True):
    """Why a request was not taken (RFC 9457)."""

    type: Annotated[str, Meta(pattern="^urn:hubbub:problem:[a-z_]+$")]
    title: str
    status: int
    max_bytes: int | UnsetType = UNSET
    max_reports: int | UnsetType = UNSET
    parameter: str | UnsetType = UNSET
    value: str | UnsetType = UNSET
    expected: str | UnsetType = UNSET


class Last(msgspec.Struct, frozen=True):
    """The latest window that has ended: the state of each segment's estimate."""

    window_start: str
    window_end: str
    states: dict[str, str]


class Listed(Known, frozen=True):
    """One version of a metric, by the names of its lock; `last` is null before the first report.

    `hash`, and `source` where another metric feeds it, as they travel; `grace` in seconds; `lower` and `step` in
    millionths of the unit; `aggregate` also where the lock leaves it out; prices in nats, null where there is no bound.
    """

    last: Last | None


def mode_of(store: Store) -> Mode:
    """What `Health` says of a process that serves this store."""
    return "dev" if store.dev else "real"


def simulated(store: Store, clock: Clock) -> Simulated | UnsetType:
    """What `Health` says of the time of a process that serves this store by this clock."""
    if not store.dev or not isinstance(clock, ScaledClock) or clock.start != clock.origin:
        return UNSET
    return Simulated(clock.origin, clock.speed)


@dataclass(frozen=True)
class Parameter:
    """A parameter of a path or a query."""

    name: str
    description: str
    schema: Mapping[str, Any]
    where: Literal["path", "query"] = "query"


@dataclass(frozen=True)
class Operation:
    """One thing that can be asked for.

    Attributes:
        answer: Model of the answer with status 200; text of another kind if it is a media type.
        body: Model of what is sent.
        problems: Codes by status.
    """

    listener: Listener
    method: str
    path: str
    summary: str
    answer: Any
    parameters: tuple[Parameter, ...] = ()
    body: Any = None
    problems: Mapping[int, tuple[str, ...]] = field(default_factory=dict)


_NAME = Parameter("name", "Name of a metric", {"type": "string", "minLength": 1, "maxLength": 64}, "path")
_TIME: Mapping[str, Any] = {
    "type": "string",
    "anyOf": [{"format": "date"}, {"format": "date-time"}],
    "examples": ["2026-12-01", "2026-12-01T00:00:00Z"],
}
_SPAN = (
    Parameter("start", "Only windows that begin at or after this date (its midnight, UTC) or time", _TIME),
    Parameter("end", "Only windows that have ended by this date (its midnight, UTC) or time", _TIME),
    Parameter("segment", "Only this segment", {"type": "string"}),
)
_LEVEL = Parameter(
    "level",
    "Chance with which an interval is to hold the truth",
    {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1, "default": 0.95},
)
_VERSION = Parameter("version", "Only this version of the metric", {"type": "integer", "minimum": 1})
_CATEGORY = Parameter(
    "category", "One category or coordinate, of metrics that have several; empty: rows without one", {"type": "string"}
)
_ASKED = {
    400: ("invalid_parameter",),
    403: ("cross_site",),
    404: ("unknown_metric",),
    421: ("misdirected",),
    503: ("unavailable",),
}
_MEAN = {**_ASKED, 404: ("unknown_metric", "no_windows")}
_DOWN = {503: ("unavailable",)}

OPERATIONS: tuple[Operation, ...] = (
    Operation(
        "ingest",
        "post",
        "/v1/reports",
        "Send reports",
        Answer,
        body=Upload,
        problems={
            400: ("invalid_json", "invalid_body", "invalid_gzip", "unknown_schema"),
            408: ("slow_body",),
            413: ("too_large", "too_many_reports"),
            415: ("unsupported_media_type", "unsupported_encoding"),
            503: ("unavailable",),
        },
    ),
    Operation("ingest", "get", "/v1/stopped", "Metrics that end early", Stopped),
    Operation("read", "get", "/v1/metrics", "Every version of every metric", list[Listed], problems=_DOWN),
    Operation(
        "read",
        "get",
        "/v1/metrics/{name}/estimates",
        "Estimates by window and segment",
        list[Row],
        (_NAME, *_SPAN, _VERSION, _LEVEL, _CATEGORY),
        problems=_ASKED,
    ),
    *(
        Operation(
            "read",
            "get",
            f"/v1/metrics/{{name}}/estimates.{suffix}",
            "The same as a file, with the columns of `hubbub export`",
            media,
            (_NAME, *_SPAN, _VERSION, _LEVEL, _CATEGORY),
            problems=_ASKED,
        )
        for suffix, media in FILES.items()
    ),
    Operation(
        "read",
        "get",
        "/v1/metrics/{name}/mean",
        "Several windows together, each with the same weight",
        Period,
        (_NAME, *_SPAN, _VERSION, _LEVEL, _CATEGORY),
        problems=_MEAN,
    ),
    Operation("read", "get", "/metrics", "Counters for Prometheus, renewed once a minute", PROMETHEUS, problems=_DOWN),
    *(
        Operation(listener, "get", path, summary, Health, problems=problems)
        for listener in ("ingest", "read")
        for path, summary, problems in (
            ("/healthz", "Whether the process answers", {}),
            ("/readyz", "Whether it can use its store", _DOWN),
        )
    ),
)
