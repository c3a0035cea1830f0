"""What the tests of store, estimates and collector share: metrics, reports, requests without a server."""

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from jsonschema import Draft202012Validator
from starlette.types import ASGIApp, Message, Scope

from hubbub.lock import Metric
from hubbub.testing.stores.samples import (
    DAY,
    EXPIRES,
    FIRST,
    GRACE,
    LAST,
    STARTS,
    end,
    key,
    late,
    lock,
    minutes,
    stored,
)

__all__ = [
    "ANSWER",
    "DAY",
    "EXPIRES",
    "FIRST",
    "GRACE",
    "JSON",
    "LAST",
    "PROBLEM",
    "STARTS",
    "Answer",
    "ask",
    "body",
    "end",
    "key",
    "late",
    "lock",
    "minutes",
    "post",
    "sent",
    "stored",
]

JSON = {"content-type": "application/json"}
SCHEMAS = Path(__file__).parents[2] / "spec" / "schemas"
ANSWER, PROBLEM = (
    Draft202012Validator(json.loads((SCHEMAS / name).read_text("utf-8"))) for name in ("answer.json", "problem.json")
)


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
    query: str = "",
    headers: dict[str, str] = JSON,
    hangs: bool = False,
) -> Answer:
    """One request, its body in one or more parts; with `hangs`, nothing follows them. Answers fit the schemas."""
    parts = [content] if isinstance(content, bytes) else list(content)
    coming: list[Message] = [{"type": "http.request", "body": part, "more_body": True} for part in parts]
    if not hangs:
        coming[-1]["more_body"] = False
    raw = [(name.encode(), value.encode()) for name, value in headers.items()]
    scope: Scope = {"type": "http", "method": method, "path": path, "headers": raw, "query_string": query.encode()}
    messages: list[Message] = []

    async def receive() -> Message:
        if not coming:
            await asyncio.Event().wait()
        return coming.pop(0)

    async def send(message: Message) -> None:
        messages.append(message)

    await app(scope, receive, send)
    first, *pieces = messages
    fields = {name.decode(): value.decode() for name, value in first["headers"]}
    whole = b"".join(piece["body"] for piece in pieces)
    assert len(pieces) > 1 or int(fields["content-length"]) == len(whole)  # in pieces: as a stream, of no known length
    told = json.loads(whole) if "json" in fields["content-type"] else whole.decode(errors="replace")
    answer = Answer(first["status"], fields, told)
    if answer.status != 200:
        PROBLEM.validate(answer.content)
    elif path == "/v1/reports":
        ANSWER.validate(answer.content)
    return answer


def post(app: ASGIApp, content: bytes | Sequence[bytes], headers: dict[str, str] = JSON) -> Answer:
    return asyncio.run(ask(app, content, headers=headers))
