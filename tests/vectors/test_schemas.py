"""The schemas of spec/ against what hubbub really writes, sends and answers, and against the examples of the pages."""

import asyncio
import gzip
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from hubbub.client import Client, MemoryState, Response
from hubbub.clock import ManualClock
from hubbub.collector import create_app
from hubbub.encoders.one_bit_mean import OneBitMean
from hubbub.encoders.randomized_response import RandomizedResponse
from hubbub.errors import LockError
from hubbub.lock import Lock, Metric, dump, parse
from hubbub.store import open_store
from hubbub.windows import midnight
from hubbub.wire import MAX_BODY, MAX_REPORTS
from tests.unit.collecting import DAY, FIRST, JSON, ask, body, end, late, lock, minutes, sent

SPEC = Path(__file__).parents[2] / "spec"
SCHEMAS = {path.stem: json.loads(path.read_text("utf-8")) for path in (SPEC / "schemas").glob("*.json")}
Change = Callable[[dict[str, Any]], None]


def faults(schema: str, instance: object) -> list[str]:
    return [error.message for error in Draft202012Validator(SCHEMAS[schema]).iter_errors(instance)]


def example(page: str, number: int = 0) -> Any:
    blocks = re.findall(r"```json\n(.*?)```", (SPEC / page).read_text("utf-8"), re.DOTALL)
    return json.loads(blocks[number])


def locks() -> Iterator[Lock]:
    still = RandomizedResponse(511972653, 0, 1)
    yield lock(minutes(), late())
    yield lock(late(encoder=still, window="week", report_every=3), minutes(lower=-5, step=1, grace=3600))
    first, second = late(rotation="usage:0", report_every=2), minutes(rotation="usage:1", report_every=2)
    yield lock(first, replace(second, presence="hidden", dimensions=()))
    yield lock(late(aggregate="all"), minutes(aggregate="max"))
    yield lock(late(shuffler="Mixnet, run by Example"))
    yield lock(minutes(), _second(minutes()))
    yield lock(
        minutes(encoder=OneBitMean(480, 60, 511972656, 408877748, 0, 0), dimensions=(("os", ("a", "B.1+")),) * 2)
    )


def _second(mean: Metric) -> Metric:
    """The yes/no that this mean feeds."""
    same = {key: getattr(mean, key) for key in ("version", "window", "starts", "expires", "dimensions")}
    return late(name=f"{mean.name}.active", source=mean.hash, **same)


def test_all_are_there_and_are_schemas() -> None:
    assert SCHEMAS.keys() >= {"lock", "reports", "answer", "problem", "vectors", "registry"}
    for schema in SCHEMAS.values():
        Draft202012Validator.check_schema(schema)
    assert len({schema["$id"] for schema in SCHEMAS.values()}) == len(SCHEMAS)


@pytest.mark.parametrize(
    ("schema", "page", "number"),
    [("lock", "registry.md", 0), ("reports", "wire.md", 0), ("answer", "wire.md", 1), ("problem", "wire.md", 2)],
)
def test_examples_of_the_pages_fit(schema: str, page: str, number: int) -> None:
    assert faults(schema, example(page, number)) == []


def test_the_example_of_a_lock_is_one() -> None:
    written = example("registry.md")
    assert json.loads(dump(parse(json.dumps(written)))) == written


def test_locks_that_hubbub_writes_fit() -> None:
    for made in locks():
        assert faults("lock", json.loads(dump(made))) == []
        assert parse(dump(made)) == made


def _in(key: str, value: object) -> Change:
    return lambda metric: metric.update({key: value})


@pytest.mark.parametrize(
    "change",
    [
        _in("rotate", 1),
        lambda metric: metric.pop("report_every"),
        _in("version", 0),
        _in("version", True),
        _in("kind", "sum"),
        _in("encoder", "one_bit"),
        _in("integers", [480, 480, 511972653, 3271021990, 844441824]),
        _in("integers", [480, 480, 0, 3271021990, 844441824, 1]),
        _in("integers", [480, 480, 511972653, 3271021990, 844441824, 2]),
        _in("hash", "9" * 32),
        _in("hash", "A" * 64),
        _in("step", 0),
        _in("unit", "m" * 33),
        _in("labels", [""]),
        _in("window", "month"),
        _in("starts", "2026-1-1"),
        _in("grace", 3599),
        _in("grace", 90 * DAY + 1),
        _in("report_every", 401),
        _in("rotation", "a"),
        _in("rotation", "a:01"),
        _in("rotation", "a:1000"),
        _in("presence", "absent"),
        _in("seal", "exit"),
        _in("dimensions", [["channel"]]),
        _in("dimensions", [["Channel", ["stable"]]]),
        _in("dimensions", [["channel", []]]),
        _in("dimensions", [["channel", ["a", "a"]]]),
        _in("dimensions", [["channel", ["a/b"]]]),
        _in("aggregate", "median"),
        _in("aggregate", "sum"),
        _in("aggregate", "any"),
        _in("aggregate", None),
        _in("source", "9" * 64),
        _in("source", ""),
        _in("shuffler", ""),
        _in("shuffler", "x" * 101),
        _in("shuffler", None),
        _in("min_reports", 0),
        _in("prices", {"report": 1.0, "steady": 2.0, "change": 1.407606}),
        lambda metric: metric["prices"].update(life=-1),
        lambda metric: metric["prices"].update(life="257"),
        _in("description", ""),
        _in("purpose", "p" * 1001),
        _in("owners", []),
    ],
)
def test_a_broken_lock_is_refused_by_schema_and_reader_alike(change: Change) -> None:
    tree = example("registry.md")
    change(tree["metrics"]["editor.minutes"])
    assert faults("lock", tree)
    with pytest.raises(LockError):
        parse(json.dumps(tree))


@pytest.mark.parametrize("change", [{"schema": "hubbub.lock/2"}, {"collection": "Editor"}, {"version": 1}])
def test_a_broken_head_is_refused_by_schema_and_reader_alike(change: dict[str, Any]) -> None:
    tree = example("registry.md") | change
    assert faults("lock", tree)
    with pytest.raises(LockError):
        parse(json.dumps(tree))


@pytest.mark.parametrize("name", ["Editor", "a..b", "a.", "1a", "a" * 65, "édition"])
def test_a_broken_name_is_refused_by_schema_and_reader_alike(name: str) -> None:
    tree = example("registry.md")
    tree["metrics"] = {name: tree["metrics"]["editor.minutes"]}
    assert faults("lock", tree)
    with pytest.raises(LockError):
        parse(json.dumps(tree))


class Keeps:
    def __init__(self) -> None:
        self.bodies: list[bytes] = []

    def post(self, body: bytes, timeout: float) -> Response:
        self.bodies.append(body)
        return Response(200, b'{"accepted": 1, "results": []}')


def test_what_a_device_sends_fits() -> None:
    clock, kept = ManualClock(midnight("2026-12-01")), Keeps()
    client = Client(
        lock(minutes(), late()),
        "http://127.0.0.1:9",
        policy="research",
        state=MemoryState(),
        clock=clock,
        dimensions={"channel": "beta"},
        transport=kept,
        background=False,
    )
    client.add("editor.minutes", 12)
    clock.set(clock.now() + DAY)
    assert client.flush()
    assert len(kept.bodies) == 2
    for sent_body in map(json.loads, kept.bodies):
        assert faults("reports", sent_body) == []
        assert len(sent_body["reports"]) == 1


@pytest.mark.parametrize(
    "change",
    [
        {"id": "9F86D081884C7D65"},
        {"hash": "9" * 64},
        {"window": "20789"},
        {"window": 1.5},
        {"payload": "8"},
        {"segment": "/"},
        {"device": "a"},
    ],
)
def test_what_a_device_must_not_send_does_not_fit(change: dict[str, Any]) -> None:
    tree = example("wire.md")
    tree["reports"][0] |= change
    assert faults("reports", tree)


def test_every_answer_fits(tmp_path: Path) -> None:
    metric, clock = minutes(), ManualClock(float(end(FIRST)))
    twice = sent(metric, 1)
    reports: list[Any] = [
        twice,
        twice,
        {**twice, "payload": "00"},
        5,
        sent(metric, 2) | {"metric": "editor.other"},
        sent(metric, 3, hash="0" * 32),
        sent(metric, 4, id="X" * 16),
        sent(metric, 5, window=FIRST - 1),
        sent(metric, 6, payload="81"),
        sent(metric, 7, segment="nightly"),
        sent(metric, 8, window=FIRST + 1),
    ]
    with open_store(tmp_path / "store.db") as store:
        app = create_app(store, [lock(metric)], clock=clock)
        first = asyncio.run(ask(app, body(*reports)))
        clock.set(end(FIRST) + metric.grace)
        second = asyncio.run(ask(app, body(sent(metric, 9))))
    seen = set()
    for answer in (first, second):
        assert answer.status == 200
        assert faults("answer", answer.content) == []
        seen |= {result.get("code", result["status"]) for result in answer.content["results"]}
    codes = set(SCHEMAS["answer"]["$defs"]["result"]["properties"]["code"]["enum"])
    assert seen == codes - {"rate_limited"} | {"duplicate"}
    page = (SPEC / "wire.md").read_text("utf-8")
    assert all(f"| `{code}` |" in page for code in codes)


def test_every_problem_fits(tmp_path: Path) -> None:
    with open_store(tmp_path / "store.db") as store:
        app = create_app(store, [lock(late())], clock=ManualClock(0.0))

        async def all_of_them() -> list[Any]:
            packed = JSON | {"content-encoding": "gzip"}
            return [
                await ask(app, b"{"),
                await ask(app, b"[]"),
                await ask(app, b"x", headers=packed),
                await ask(app, body(schema="hubbub.reports/2")),
                await ask(app, path="/v1/other"),
                await ask(app, method="PUT"),
                await ask(app, b" " * (MAX_BODY + 1)),
                await ask(app, gzip.compress(b" " * (8 * MAX_BODY + 1)), headers=packed),
                await ask(app, body(*range(MAX_REPORTS + 1))),
                await ask(app, body(), headers={"content-type": "text/plain"}),
                await ask(app, body(), headers=JSON | {"content-encoding": "br"}),
            ]

        answers = asyncio.run(all_of_them())
    for answer in answers:
        assert faults("problem", answer.content) == []
        assert answer.content["status"] == answer.status
    page = (SPEC / "wire.md").read_text("utf-8")
    assert all(f"`{answer.problem[1]}`" in page for answer in answers)
    named = {urn for case in SCHEMAS["problem"]["oneOf"] for urn in case["properties"]["type"]["enum"]}
    silent = {  # see the tests of collector and dashboard
        f"urn:hubbub:problem:{code}"
        for code in (
            "slow_body",
            "unavailable",
            "invalid_parameter",
            "unknown_metric",
            "no_windows",
            "misdirected",
            "cross_site",
        )
    }
    assert {answer.content["type"] for answer in answers} == named - silent
