"""What the description of the interface promises, held against both applications by generated requests."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from hypothesis.errors import Unsatisfiable
from schemathesis import GenerationMode, checks
from starlette.types import ASGIApp, Receive, Scope, Send

from hubbub.clock import ManualClock
from hubbub.collector import create_app as create_ingest_app
from hubbub.dashboard import create_app as create_read_app
from hubbub.serving import contract
from hubbub.store import open_store
from tests.unit.collecting import FIRST, end, late, lock, minutes, stored

METRICS = (minutes(), late())
EXAMPLES = 40  # for each operation
OPERATIONS = [(operation.method.upper(), operation.path) for operation in contract.OPERATIONS]
# A report that does not fit is refused alone, by its code, in an answer of 200.
EXCLUDED = {
    "/v1/reports": [checks.negative_data_rejection],
}
INGEST = ("/v1/reports", "/v1/stopped")


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[schemathesis.BaseSchema]:
    """Both listeners under one address, over a store that holds something."""
    path, clock = tmp_path_factory.mktemp("openapi") / "store.db", ManualClock(end(FIRST + 1))
    with open_store(path) as store, open_store(path, read_only=True) as reader:
        ingest = create_ingest_app(store, [lock(*METRICS)], clock=clock)
        read = create_read_app(reader, clock=clock)
        for window in (FIRST, FIRST + 1):
            store.write(stored(METRICS[0], 200, ones=80, window=window, segment="stable"))
            store.write(stored(METRICS[1], 200, ones=80, window=window))

        async def both(scope: Scope, receive: Receive, send: Send) -> None:
            app: ASGIApp = read
            if scope["type"] == "http":
                app = ingest if scope["path"] in INGEST else read
                headers = [field for field in scope["headers"] if field[0] != b"host"]
                scope = {**scope, "headers": [*headers, (b"host", b"127.0.0.1")]}
            await app(scope, receive, send)

        yield schemathesis.openapi.from_asgi("/openapi.json", both)


@pytest.mark.parametrize("mode", [GenerationMode.POSITIVE, GenerationMode.NEGATIVE], ids=["fitting", "unfitting"])
@pytest.mark.parametrize(("method", "path"), OPERATIONS)
def test_answers_are_those_described(
    method: str, path: str, mode: GenerationMode, api: schemathesis.BaseSchema
) -> None:
    """No fault of the server's, no status, type or shape that is not in the description, nothing bad accepted."""
    operation = api[path][method]
    seen: Counter[int] = Counter()

    @settings(max_examples=EXAMPLES, suppress_health_check=list(HealthCheck))
    @given(case=operation.as_strategy(generation_mode=mode))
    def ask(case: schemathesis.Case[Any]) -> None:
        response = case.call_and_validate(excluded_checks=EXCLUDED.get(path, []))
        seen[response.status_code] += 1

    try:
        ask()
    except Unsatisfiable:
        assert mode is GenerationMode.NEGATIVE  # it takes nothing that could be wrong
        return
    assert seen
    assert max(seen) < 500
