"""C: consent, on the real wire."""

import json
import struct
import time
from pathlib import Path

from hubbub.client import Client, SqliteState
from hubbub.clock import FileClock
from tests.e2e.capture import Capture
from tests.unit.client_support import DAY, STARTS, lock, metric

THREE = [metric(f"m{number}") for number in range(3)]


def test_c1_nothing_begins_after_a_denial(tmp_path: Path) -> None:
    """Three reports wait, one of them after a failure: the person opts out, and no further request begins."""
    clock = FileClock(tmp_path / "clock")
    clock.set(STARTS)
    with Capture() as capture:  # there is no collector behind it: every post fails

        def device(*, background: bool) -> Client:
            return Client(
                lock(*THREE),
                capture.endpoint("one"),
                policy="research",
                state_dir=tmp_path / "device",
                clock=clock,
                background=background,
            )

        first = device(background=False)
        for one in THREE:
            first.add(one.name, 5)
        clock.set(STARTS + DAY)
        assert not first.flush(1)
        assert first.counters == {"unreachable": 1}
        began = len(capture.sent)
        assert began == 1
        assert first.consent("denied") == "denied"
        first.close()

        # The program is started again, its thread runs, days go by.
        second = device(background=True)
        for day in range(1, 8):
            for one in THREE:
                second.add(one.name, 5)
            clock.set(STARTS + day * DAY + 3600)
            time.sleep(0.15)  # the thread looks at a clock of this kind every tenth of a second
            assert second.flush(1)
        second.close()
        assert len(capture.sent) == began

    state = SqliteState(tmp_path / "device")
    assert state.outbox() == []
    assert state.consent() == "denied"
    state.close()


def test_c7_there_is_nothing_to_delete_but_on_the_device(tmp_path: Path) -> None:
    """Refused, agreed, refused again: requests are reports alone, none says so, and the folder keeps no value."""
    clock = FileClock(tmp_path / "clock")
    clock.set(STARTS)
    with Capture() as capture:

        def run(day: float, *words: str) -> None:
            clock.set(STARTS + day * DAY)
            device = Client(
                lock(THREE[0]),
                capture.endpoint("one"),
                policy="research",
                state_dir=tmp_path / "device",
                clock=clock,
                background=False,
                consent="unknown",
            )
            for word in words:
                device.consent(word)  # type: ignore[arg-type]
            device.add(THREE[0].name, 477)
            device.flush(1)
            device.close()

        run(0, "denied")
        run(1.5, "granted")
        run(2.5)
        assert capture.sent == []  # the day of the consent is sealed, the next one runs
        run(3)
        began = len(capture.sent)
        assert began == 1
        run(3.5, "denied", "granted", "denied")
        run(5)
        run(6)
        assert len(capture.sent) == began
        assert {key for _, body in capture.sent for key in json.loads(body)} == {"schema", "reports"}
    state = SqliteState(tmp_path / "device")
    assert state.outbox() == []
    ledger = state.ledger()
    assert ledger.accounts[THREE[0].name].sent == 0  # no answer came
    assert ledger.accounts[THREE[0].name].charged.life > 0  # what may have been told is not forgotten
    state.close()
    for path in (tmp_path / "device").iterdir():
        assert struct.pack(">d", 477.0) not in path.read_bytes()  # as SQLite stores it
