"""The description of the interface: whole, made from the models that the code uses, and true to spec/."""

import asyncio
import json
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import msgspec
import pytest
from jsonschema import Draft202012Validator

from hubbub import __version__
from hubbub.clock import ManualClock
from hubbub.collector import create_app as ingest_app
from hubbub.dashboard import create_app as read_app
from hubbub.lock import dump
from hubbub.mechanisms.grr import Grr
from hubbub.serving import contract, openapi
from hubbub.store import open_store
from hubbub.wire import MAX_REPORTS, REPORTS_SCHEMA
from tests.unit.collecting import FIRST, SCHEMAS, ask, body, end, late, lock, minutes, sent, stored

CHOICE = Grr.from_epsilon(1.0, categories=3).encoder
SERVERS = {"ingest": "http://127.0.0.1:1", "read": "http://127.0.0.1:2"}
DOCUMENT: dict[str, Any] = json.loads(msgspec.json.encode(openapi.document(SERVERS)))


def fits(schema: Any, content: Any) -> bool:
    """Whether content is of a schema of the document."""
    return Draft202012Validator({**schema, "components": DOCUMENT["components"]}).is_valid(content)


def described(path: str, method: str = "get", status: str = "200") -> Any:
    content = DOCUMENT["paths"][path][method]["responses"][status]["content"]
    (kind,) = content.values()
    return kind["schema"]


def test_it_is_whole() -> None:
    assert DOCUMENT["openapi"] == "3.1.0"
    assert DOCUMENT["info"]["version"] == __version__
    assert set(DOCUMENT["paths"]) == {
        "/v1/reports",
        "/v1/stopped",
        "/v1/metrics",
        "/v1/metrics/{name}/estimates",
        "/v1/metrics/{name}/estimates.csv",
        "/v1/metrics/{name}/estimates.parquet",
        "/v1/metrics/{name}/mean",
        "/metrics",
        "/healthz",
        "/readyz",
    }
    assert [server["url"] for server in DOCUMENT["paths"]["/v1/reports"]["servers"]] == [SERVERS["ingest"]]
    assert [server["url"] for server in DOCUMENT["paths"]["/healthz"]["servers"]] == list(SERVERS.values())
    names = [item["operationId"] for path in DOCUMENT["paths"].values() for item in path.values() if "tags" in item]
    assert len(set(names)) == len(names) == len(DOCUMENT["paths"])
    references = set(json.dumps(DOCUMENT).split('"#/components/schemas/')[1:])
    assert {text.partition('"')[0] for text in references} <= set(DOCUMENT["components"]["schemas"])
    for schema in DOCUMENT["components"]["schemas"].values():
        Draft202012Validator.check_schema(schema)


def test_the_read_listener_serves_it(tmp_path: Path) -> None:
    with open_store(tmp_path / "store.db") as store:
        app = read_app(store, ingest=SERVERS["ingest"], read=SERVERS["read"])
        answer = asyncio.run(ask(app, method="GET", path="/openapi.json", headers={}))
    assert answer.content == DOCUMENT


def test_every_answer_fits(tmp_path: Path) -> None:
    with open_store(tmp_path / "store.db") as store:
        ingest = ingest_app(store, [lock(late(), minutes())], clock=ManualClock(end(FIRST)))
        store.write(stored(late(), 200, ones=70))
        read = read_app(store, clock=ManualClock(end(FIRST)))

        async def run() -> None:
            sending = body(sent(late(), 900), sent(late(), 900), sent(late(), 901, window=0), 7)
            answers = {"/v1/reports": await ask(ingest, sending)}
            answers["/v1/stopped"] = await ask(ingest, method="GET", path="/v1/stopped")
            for path in ("/v1/metrics", "/healthz", "/readyz", "/metrics"):
                answers[path] = await ask(read, method="GET", path=path, headers={})
            for what in ("estimates", "estimates.csv", "estimates.parquet", "mean"):
                path = f"/v1/metrics/flight.late/{what}"
                answers[f"/v1/metrics/{{name}}/{what}"] = await ask(read, method="GET", path=path, headers={})
            assert set(answers) == set(DOCUMENT["paths"])
            for path, answer in answers.items():
                assert answer.status == 200
                assert answer.content or path == "/v1/stopped"
                assert fits(described(path, "post" if path == "/v1/reports" else "get"), answer.content), path
            bad = await ask(read, method="GET", path="/v1/metrics/flight.late/estimates", query="level=2", headers={})
            assert fits(described("/v1/metrics/{name}/estimates", status="400"), bad.content)
            unknown = await ask(read, method="GET", path="/v1/metrics/no.such/estimates", headers={})
            assert fits(described("/v1/metrics/{name}/estimates", status="404"), unknown.content)
            assert not fits(described("/v1/metrics/{name}/estimates", status="400"), unknown.content)

        asyncio.run(run())


def test_all_that_the_lock_says_of_a_metric_is_told_by_its_names(tmp_path: Path) -> None:
    mean = minutes(name="a", aggregate="max", report_every=2, dimensions=())
    active = late(name="a.active", source=mean.hash, report_every=2)
    hidden = late(name="b", presence="hidden", rotation="group:1", report_every=2)
    label = late(name="c", kind="choice", labels=("x", "y"), owners=("me", "you"), shuffler="a relay")
    label = replace(label, encoder=CHOICE)
    both = lock(mean, active, hidden, label)
    with open_store(tmp_path / "store.db") as store:
        store.accept(both)
        told = asyncio.run(ask(read_app(store), method="GET", path="/v1/metrics", headers={})).content
    written = json.loads(dump(both))["metrics"]
    assert [entry["name"] for entry in told] == list(written)
    for entry in told:
        key, locked = entry["name"], written[entry["name"]]
        travelling = {"hash": locked["hash"][:32], "source": locked.get("source", "")[:32]}
        stated = {"aggregate": both.metrics[key].aggregated, "shuffler": "a relay" if key == "c" else ""}
        assert {name: entry[name] for name in {*locked, *travelling, *stated}} == locked | travelling | stated
        assert set(entry) - set(locked) - set(travelling) - set(stated) == {"name", "segments", "last"}
    assert [(entry["rotation"], entry["presence"]) for entry in told][2] == ("group:1", "hidden")
    assert told[1]["source"] == told[0]["hash"]


@pytest.mark.parametrize("name", ["reports", "answer"])
def test_its_models_are_those_of_the_specification(name: str) -> None:
    """Samples that one schema takes or refuses, the other takes or refuses too."""
    page = Draft202012Validator(json.loads((SCHEMAS / f"{name}.json").read_text("utf-8")))
    schema = {"$ref": f"#/components/schemas/{ {'reports': 'Upload', 'answer': 'Answer'}[name] }"}
    result = {"index": 0, "id": "0" * 16, "status": "rejected", "code": "too_late"}
    samples: dict[str, list[Any]] = {
        "reports": [
            {"schema": REPORTS_SCHEMA, "reports": []},
            {"schema": REPORTS_SCHEMA, "reports": [sent(minutes())]},
            {"schema": REPORTS_SCHEMA, "reports": [{k: v for k, v in sent(late()).items() if k != "segment"}]},
            {"schema": "hubbub.reports/2", "reports": []},
            {"schema": REPORTS_SCHEMA},
            {"schema": REPORTS_SCHEMA, "reports": [sent(late())] * (MAX_REPORTS + 1)},
            *({"schema": REPORTS_SCHEMA, "reports": [{**sent(late()), k: 1.5}]} for k in sent(late())),
            {"schema": REPORTS_SCHEMA, "reports": [sent(late(), id="F" * 16)]},
            {"schema": REPORTS_SCHEMA, "reports": [sent(late(), hash="0" * 64)]},
            {"schema": REPORTS_SCHEMA, "reports": [sent(late(), payload="8")]},
        ],
        "answer": [
            {"accepted": 0, "results": []},
            {"accepted": 1, "results": [result, {**result, "id": None}]},
            {"accepted": -1, "results": []},
            {"accepted": 1},
            *({"accepted": 1, "results": [{**result, key: "other"}]} for key in ("index", "status", "code")),
        ],
    }
    verdicts = [(page.is_valid(sample), fits(schema, sample)) for sample in samples[name]]
    assert all(one == other for one, other in verdicts), verdicts
    assert {one for one, _ in verdicts} == {True, False}


def test_codes_are_those_of_the_specification() -> None:
    answer = json.loads((SCHEMAS / "answer.json").read_text("utf-8"))
    assert set(get_args(contract.Code)) == set(answer["$defs"]["result"]["properties"]["code"]["enum"])
    problem = json.loads((SCHEMAS / "problem.json").read_text("utf-8"))
    urns = {urn for case in problem["oneOf"] for urn in case["properties"]["type"]["enum"]}
    codes = {code for operation in contract.OPERATIONS for codes in operation.problems.values() for code in codes}
    assert {urn.rpartition(":")[2] for urn in urns} == codes | {"not_found", "method_not_allowed"}
