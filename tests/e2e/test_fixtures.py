"""What earlier releases left behind: this one opens it, reads the right things out of it, and goes on with it."""

import base64
import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest

from hubbub.client import Client, SqliteState
from hubbub.client.ledger import Ledger
from hubbub.client.policy import resolve
from hubbub.clock import ManualClock
from hubbub.collector import create_app
from hubbub.definitions import build, load
from hubbub.estimates import rows
from hubbub.store import WindowKey, check, open_store
from tests.fixtures.scene import (
    CHANNEL,
    DAY,
    ENDPOINT,
    HOUR,
    LEFT,
    READ,
    RELEASES,
    Bridge,
    at_home,
    exchange,
    locked,
    sent,
)

FOLDERS = sorted(path.parent for path in RELEASES.glob("*/metrics.lock"))
assert FOLDERS, "there are no fixtures"
IDS = [folder.name for folder in FOLDERS]
pytestmark = pytest.mark.parametrize("folder", FOLDERS, ids=IDS)
Copied = Callable[[str], Path]


def expected(folder: Path, part: str) -> Any:
    return json.loads((folder / "expected.json").read_text("utf-8"))[part]


@pytest.fixture
def copied(folder: Path, tmp_path: Path) -> Copied:
    """A copy of something in the folder that may be changed."""

    def copy(name: str) -> Path:
        source, target = folder / name, tmp_path / name
        if source.is_dir():
            shutil.copytree(source, target)
        else:
            shutil.copy(source, target)
        return target

    return copy


# Its hourly yes or no costs 2.58 nats a day: permanent answers are looked at 24 times, which 0.1.0 did not reckon with.
POLICY = replace(resolve("standard", "unlimited"), per_day=4.1)


def client(folder: Path, state: SqliteState, clock: ManualClock, transport: Bridge | None = None) -> Client:
    """The device of the fixtures, started again."""
    return Client(
        locked(folder),
        ENDPOINT,
        policy=POLICY,
        state=state,
        dimensions=CHANNEL,
        clock=clock,
        transport=transport,
        background=False,
        consent="unknown",
    )


def accounts(ledger: Ledger) -> dict[str, Any]:
    return {
        name: {
            "sealed": account.sealed,
            "sent": account.sent,
            "versions": list(account.versions),
            "charged": list(account.charged),
        }
        for name, account in ledger.accounts.items()
    }


def test_lock_follows_from_its_registry(folder: Path) -> None:
    assert build(load(folder / "metrics.toml")) == locked(folder)


def test_device_goes_on_as_itself(folder: Path, copied: Copied) -> None:
    """The same secret, answers and charges; what waited is sent as it was."""
    known, clock = expected(folder, "device"), ManualClock(LEFT)
    with at_home(), open_store(copied("store.db")) as store:
        bridge = Bridge(create_app(store, [locked(folder)], clock=clock))
        state = SqliteState(copied("device"))
        device = client(folder, state, clock, bridge)
        assert {report.id: report.body.decode() for report in state.outbox()} == known["outbox"]
        assert accounts(device.ledger()) == known["accounts"]
        assert device.consent() == "granted"
        for name, answers in known["answers"].items():
            assert [list(device.preview(name, value).answer) for value in (0, 1)] == answers
        assert device.flush(60)
        assert device.counters == {"accepted": len(known["outbox"])}
        assert sorted(body.decode() for body in bridge.bodies) == sorted(known["outbox"].values())
        device.close()
        state.close()


def test_device_seals_sends_and_is_counted(folder: Path, copied: Copied) -> None:
    """Its day goes on: what it held is sealed at midnight, taken in by a store of its release, and estimated."""
    lock, clock = locked(folder), ManualClock(LEFT)
    minutes = lock.metrics["editor.minutes"]
    key = WindowKey("editor.minutes", minutes.hash[:32], minutes.windows.index(LEFT))
    with at_home(), open_store(copied("store.db")) as store:
        before = {row.segment: row.n for row in rows(store, now=READ + 20 * DAY) if _is(row, key)}
        state = SqliteState(copied("device"))
        bridge = Bridge(create_app(store, [lock], clock=clock))
        device = client(folder, state, clock, bridge)
        device.add("editor.minutes", 2.0)
        clock.set(READ + HOUR / 2)
        assert device.flush(60)
        windows = {(sent(body)["metric"], sent(body)["window"]) for body in bridge.bodies}
        assert len(windows) == len(bridge.bodies)
        assert {("editor.minutes", key.window), ("editor.opened", key.window)} <= windows
        assert check(store) == []
        after = {row.segment: row.n for row in rows(store, now=READ + 20 * DAY) if _is(row, key)}
        assert after == {**before, "beta": before["beta"] + 1}
        device.close()
        state.close()


def test_copied_folder_is_another_device(folder: Path, copied: Copied) -> None:
    """Found on another machine: another secret, charged beside the first; what is sealed stays sealed."""
    known, clock = expected(folder, "device"), ManualClock(LEFT)
    state = SqliteState(copied("device"))
    device = client(folder, state, clock)
    assert device.counters == {"state_copied": 1}
    assert not state.outbox()
    ledger = device.ledger()
    assert ledger.generation == 2
    for name, account in accounts(ledger).items():
        before = known["accounts"][name]
        assert account["sealed"] >= before["sealed"]
        assert all(now >= then for now, then in zip(account["charged"], before["charged"], strict=True))
    device.close()
    state.close()


def test_store(folder: Path, copied: Copied) -> None:
    """Every figure that was read out of it then."""
    known, path = expected(folder, "store"), copied("store.db")
    for read_only in (True, False):
        with open_store(path, read_only=read_only) as store:
            assert check(store) == []
            assert store.counters() == known["counters"]
            found = [msgspec.to_builtins(row) for row in rows(store, now=READ)]
        assert len(found) == len(known["rows"])
        for row, before in zip(found, known["rows"], strict=True):
            numbers = {key for key, value in before.items() if isinstance(value, float)}
            assert {key: row[key] for key in before.keys() - numbers} == {
                key: before[key] for key in before.keys() - numbers
            }
            assert {key: row[key] for key in numbers} == pytest.approx({key: before[key] for key in numbers}, rel=1e-9)


def test_wire(folder: Path, tmp_path: Path) -> None:
    """The bodies that it took or refused, in the same order, get the same answers."""
    recorded = json.loads((folder / "wire.json").read_text("utf-8"))
    assert recorded
    with open_store(tmp_path / "store.db") as store:
        app = create_app(store, [locked(folder)], clock=ManualClock(READ))
        for one in recorded:
            body = one["body"].encode()
            if one["headers"].get("content-encoding") == "gzip" and not body.startswith(b"{"):
                body = base64.b64decode(body)
            answer = exchange(app, body, one["headers"])
            assert answer.status == one["status"], one["name"]
            if answer.status == 200:
                assert answer.content == one["answer"], one["name"]
            else:
                assert answer.content["type"] == one["answer"]["type"], one["name"]


def _is(row: Any, key: WindowKey) -> bool:
    return (row.metric, row.hash, row.window_start) == (key.metric, key.hash, "2026-12-04T00:00:00Z")
