"""C: consent, on the real wire."""

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
