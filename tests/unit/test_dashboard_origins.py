"""Who may ask the read application: this machine alone, under its own name, and no page of another origin."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.types import ASGIApp

from hubbub.clock import ManualClock
from hubbub.dashboard import create_app
from hubbub.store import open_store
from tests.unit.collecting import FIRST, Answer, ask, end, late, lock, stored

ESTIMATES = "/v1/metrics/flight.late/estimates"


@pytest.fixture
def app(tmp_path: Path) -> Iterator[ASGIApp]:
    with open_store(tmp_path / "store.db") as store:
        store.accept(lock(late()))
        store.write(stored(late(), 200, ones=70))
        yield create_app(store, clock=ManualClock(end(FIRST)))


def get(app: ASGIApp, path: str, **headers: str) -> Answer:
    return asyncio.run(ask(app, method="GET", path=path, headers=headers))


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("127.0.0.1:8378", 200),
        ("127.0.0.1", 200),
        ("127.9.9.9:1", 200),
        ("localhost:8378", 200),
        ("LOCALHOST", 200),
        ("[::1]:8378", 200),
        ("[::1]", 200),
        ("telemetry.example.org:8378", 421),
        ("127.0.0.1.example.org", 421),
        ("localhost.example.org", 421),
        ("192.0.2.1:8378", 421),
        ("0.0.0.0:8378", 421),
        ("", 421),
        ("127.0.0.1:8378, example.org", 421),
    ],
)
def test_only_under_a_loopback_name(app: ASGIApp, host: str, status: int) -> None:
    answer = get(app, "/v1/metrics", host=host)
    assert answer.status == status
    if status == 421:
        assert answer.problem == (421, "misdirected")


@pytest.mark.parametrize(
    ("site", "dest", "status"),
    [
        ("none", "document", 200),  # typed, or a bookmark
        ("same-origin", "empty", 200),
        ("same-origin", "script", 200),
        ("cross-site", "document", 200),  # a link
        ("same-site", "document", 200),
        ("cross-site", "image", 403),
        ("cross-site", "iframe", 403),
        ("cross-site", "", 403),
        ("same-site", "empty", 403),  # another port of this machine
    ],
)
def test_pages_of_other_origins_may_lead_here_and_embed_nothing(
    app: ASGIApp, site: str, dest: str, status: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    if status == 403:
        monkeypatch.setattr("hubbub.dashboard.api.rows", None)  # nothing is worked out
    for path in (ESTIMATES, "/v1/metrics", "/", ESTIMATES + ".parquet"):
        answer = get(app, path, **({"sec-fetch-site": site} | ({"sec-fetch-dest": dest} if dest else {})))
        assert answer.status == status
        if status == 403:
            assert answer.problem == (403, "cross_site")
