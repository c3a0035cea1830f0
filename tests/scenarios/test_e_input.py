"""E: definitions and input from another release, and values that are none."""

import json
import math
from dataclasses import replace
from pathlib import Path

import pytest

from hubbub.client import Client, MemoryState, Response
from hubbub.clock import ManualClock
from hubbub.errors import LockError
from hubbub.lock import dump, parse
from tests.scenarios.chain import chain
from tests.unit.client_support import DAY, STARTS, Plain, Script, client, lock, metric
from tests.unit.collecting import body, sent

DAILY = metric(expires="2026-12-02")


def test_e1_newer_device_older_collector(tmp_path: Path) -> None:
    """Keys of body and report that the collector does not know are passed over."""
    with chain(tmp_path, lock(DAILY)) as whole:
        whole.clock.set(STARTS + DAY)
        report = sent(DAILY, 1) | {"quality": {"nested": [1, None]}, "sdk": "9.9"}
        answer = whole.post(body(report, relay="one", sent_at=1.5))
        assert answer.content == {"accepted": 1, "results": []}


def test_e1_newer_collector_older_device(tmp_path: Path) -> None:
    """Keys of an answer that the device does not know are passed over, unknown words are terminal."""
    two = [metric("m0", expires="2026-12-02"), metric("m1", expires="2026-12-02")]
    answers = iter(
        [
            Response(200, b'{"accepted": 1, "results": [], "hint": {"wait": 9}, "stopped": ["m1"]}'),
            Response(200, b'{"accepted": 0, "results": [{"index": 0, "id": "", "status": "quarantined", "code": 7}]}'),
        ]
    )
    clock = ManualClock(STARTS)
    device = client(lock(*two), clock, transport=Script(answers))
    clock.set(STARTS + DAY)
    assert device.flush()
    assert device.counters == {"accepted": 1, "rejected": 1}


@pytest.mark.parametrize("where", ["top", "metric", "prices"])
def test_e1_definitions_must_be_understood(where: str) -> None:
    """Not so with what shapes a report: a key that is not known refuses the lock."""
    tree = json.loads(dump(lock(DAILY)))
    table = {"top": tree, "metric": tree["metrics"][DAILY.name], "prices": tree["metrics"][DAILY.name]["prices"]}[where]
    table["report_never"] = 28
    with pytest.raises(LockError, match="unknown key"):
        Client(parse(json.dumps(tree)), "http://127.0.0.1:9", policy="research", state=MemoryState())


def test_e2_values_that_are_none_leave_no_trace(tmp_path: Path) -> None:
    """The window's report is the null's, and the day after it is as any other."""
    plain = metric(encoder=Plain(481))
    script, clock = Script(), ManualClock(STARTS)
    device = client(lock(plain), clock, transport=script)
    poison = [math.nan, math.inf, -math.inf, None, True, "7", b"7", [7], 1e400, 10**400, object()]
    for value in poison:
        device.add(plain.name, value)
        device.set(plain.name, value)
    clock.set(STARTS + DAY)
    device.add(plain.name, -0.0)
    device.add(plain.name, 12)
    clock.set(STARTS + 2 * DAY)
    device.flush()
    values = {report["window"]: int.from_bytes(bytes.fromhex(report["payload"])) >> 39 for report in script.reports}
    assert list(dict(sorted(values.items())).values()) == [0, 12]
    counted = device.counters["invalid_value"]
    assert counted >= 2 * (len(poison) - 1)  # 10**400 is a number, if a large one
    assert counted % 2 == 0


@pytest.mark.parametrize("mechanism", ["none", "identity", "test_plain"])
def test_e4_mechanisms_come_from_the_registry_alone(mechanism: str) -> None:
    tree = json.loads(dump(lock(DAILY)))
    tree["metrics"][DAILY.name]["encoder"] = mechanism
    with pytest.raises(LockError, match="encoder"):
        parse(json.dumps(tree))


def test_e4_report_under_other_parameters_is_not_taken(tmp_path: Path) -> None:
    """Whatever a sender claims: the parameters are those of the hash, and the collector knows which it has."""
    other = replace(DAILY, encoder=replace(DAILY.encoder, flip=1))  # type: ignore[type-var]
    with chain(tmp_path, lock(DAILY)) as whole:
        whole.clock.set(STARTS + DAY)
        answer = whole.post(body(sent(other, 1), {**sent(DAILY, 2), "epsilon": 99}))
        assert answer.codes == {0: ("rejected", "hash_mismatch")}
        assert whole.stored().total() == 1
