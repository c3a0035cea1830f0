"""What the tests of store, estimates and collector share: metrics, reports, requests without a server."""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from jsonschema import Draft202012Validator
from starlette.types import ASGIApp, Message, Scope

from hubbub.encoders.base import Encoder
from hubbub.lock import MILLION, Lock, Metric
from hubbub.mechanisms import registry
from hubbub.store import Report, WindowKey
from hubbub.windows import midnight

DAY = 86_400
STARTS, EXPIRES = "2026-12-01", "2027-01-01"
FIRST, LAST = midnight(STARTS) // DAY, midnight(EXPIRES) // DAY - 1  # days that may be reported
GRACE = 14 * DAY
JSON = {"content-type": "application/json"}
SCHEMAS = Path(__file__).parents[2] / "spec" / "schemas"
ANSWER, PROBLEM = (
    Draft202012Validator(json.loads((SCHEMAS / name).read_text("utf-8"))) for name in ("answer.json", "problem.json")
)


def end(window: int) -> int:
    """First second after a day."""
    return (window + 1) * DAY


def minutes(*, epsilon: float = 1.0, upper: int = 480, **changes: Any) -> Metric:
    """A memoised mean with two segments: the editor's minutes a day."""
    mechanism = registry["one_bit_mean"].from_epsilon(epsilon, permanent_epsilon=2 * epsilon, upper=upper)
    metric = _metric("editor.minutes", "mean", mechanism.encoder)
    return replace(metric, **{"unit": "min", "dimensions": (("channel", ("stable", "beta")),), **changes})


def late(*, epsilon: float = 1.0, **changes: Any) -> Metric:
    """A fresh yes or no without segments."""
    return replace(
        _metric("flight.late", "boolean", registry["randomized_response"].from_epsilon(epsilon).encoder), **changes
    )


def _metric(name: str, kind: str, encoder: Encoder) -> Metric:
    return Metric(
        name=name,
        version=1,
        kind=kind,
        encoder=encoder,
        lower=0,
        step=MILLION,
        unit="",
        labels=(),
        window="day",
        starts=STARTS,
        expires=EXPIRES,
        grace=GRACE,
        report_every=1,
        rotation="",
        presence="ran",
        seal="window_end",
        dimensions=(),
        min_reports=100,
        description="For tests",
        purpose="Testing",
        owners=("tests@example.org",),
    )


def lock(*metrics: Metric, collection: str = "editor") -> Lock:
    return Lock(collection, {metric.name: metric for metric in metrics})


def key(metric: Metric, window: int = FIRST) -> WindowKey:
    return WindowKey(metric.name, metric.hash[:32], window)


def stored(
    metric: Metric, count: int, *, ones: int = 0, window: int = FIRST, segment: str = "", start: int = 0
) -> list[Report]:
    """Reports with the ids from `start` on, the first of them ones."""
    return [Report(key(metric, window), start + i, segment, "80" if i < ones else "00") for i in range(count)]


def sent(metric: Metric, number: int = 1, **changes: Any) -> dict[str, Any]:
    """A report as a device sends it."""
    segment = metric.segments[0]
    report = {"id": f"{number:016x}", "metric": metric.name, "hash": metric.hash[:32], "window": FIRST}
    return {**report, "segment": segment, "payload": "80", **changes}


def body(*reports: Any, **changes: Any) -> bytes:
    return json.dumps({"schema": "hubbub.reports/1", "reports": reports, **changes}).encode()


class Answer(NamedTuple):
    status: int
    headers: dict[str, str]
    content: Any

    @property
    def problem(self) -> tuple[int, str]:
        """Status and code of a request that was refused as a whole."""
        assert self.headers["content-type"] == "application/problem+json"
        assert self.content["status"] == self.status
        assert self.content["title"]
        return self.status, self.content["type"].removeprefix("urn:hubbub:problem:")

    @property
    def codes(self) -> dict[int, tuple[str, str | None]]:
        """Status and code of each report that was not accepted, by its index."""
        assert self.status == 200, self.content
        return {result["index"]: (result["status"], result.get("code")) for result in self.content["results"]}


async def ask(
    app: ASGIApp,
    content: bytes | Sequence[bytes] = b"",
    *,
    method: str = "POST",
    path: str = "/v1/reports",
    headers: dict[str, str] = JSON,
    hangs: bool = False,
) -> Answer:
    """One request, its body in one or more parts; with `hangs`, nothing follows them. Answers fit the schemas."""
    parts = [content] if isinstance(content, bytes) else list(content)
    coming: list[Message] = [{"type": "http.request", "body": part, "more_body": True} for part in parts]
    if not hangs:
        coming[-1]["more_body"] = False
    raw = [(name.encode(), value.encode()) for name, value in headers.items()]
    scope: Scope = {"type": "http", "method": method, "path": path, "headers": raw, "query_string": b""}
    messages: list[Message] = []

    async def receive() -> Message:
        if not coming:
            await asyncio.Event().wait()
        return coming.pop(0)

    async def send(message: Message) -> None:
        messages.append(message)

    await app(scope, receive, send)
    first, last = messages
    fields = {name.decode(): value.decode() for name, value in first["headers"]}
    assert int(fields["content-length"]) == len(last["body"])
    answer = Answer(first["status"], fields, json.loads(last["body"]))
    if answer.status != 200:
        PROBLEM.validate(answer.content)
    elif path == "/v1/reports":
        ANSWER.validate(answer.content)
    return answer


def post(app: ASGIApp, content: bytes | Sequence[bytes], headers: dict[str, str] = JSON) -> Answer:
    return asyncio.run(ask(app, content, headers=headers))
