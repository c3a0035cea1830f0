"""The collector is killed at any moment under load: what it acknowledged is there, and everything is there once."""

import os
import random
import signal
import threading
import time
from collections import Counter
from http.client import HTTPException
from pathlib import Path
from typing import Any

from hubbub.store import check, open_store
from tests.unit.collecting import FIRST, body, end, key, late, lock, minutes, sent
from tests.unit.serving import PATIENCE, Serving

KILLS = 6
CLIENTS = 4


class Sender(threading.Thread):
    """Sends batches until told to stop, each again and again until it is answered, and notes what was acknowledged."""

    def __init__(self, served: Serving, number: int, stop: threading.Event) -> None:
        super().__init__()
        self._served, self._stop_it, self._random = served, stop, random.Random(number)
        self._next = number << 40
        self.acknowledged: Counter[tuple[str, int]] = Counter()
        self.failure: BaseException | None = None

    def run(self) -> None:
        try:
            while not self._stop_it.is_set():
                self._deliver(self._batch())
        except BaseException as error:
            self.failure = error

    def _batch(self) -> list[dict[str, Any]]:
        batch = []
        for _ in range(self._random.choice((1, 1, 1, 20))):
            metric, self._next = self._random.choice((late(), minutes())), self._next + 1
            payload, segment = self._random.choice(("00", "80")), self._random.choice(metric.segments)
            batch.append(sent(metric, self._next, payload=payload, segment=segment))
        return batch

    def _deliver(self, batch: list[dict[str, Any]]) -> None:
        content, deadline = body(*batch), time.monotonic() + PATIENCE
        while True:
            try:
                status, answer = self._served.post(content)
            except (OSError, HTTPException):  # it died before, during or after
                assert time.monotonic() < deadline
                time.sleep(0.01)
                continue
            assert status == 200, answer
            assert {result["status"] for result in answer["results"]} <= {"duplicate"}, answer
            assert answer["accepted"] + len(answer["results"]) == len(batch)
            self.acknowledged.update((report["metric"], int(report["id"], 16)) for report in batch)
            return


def test_killed_at_any_moment(tmp_path: Path) -> None:
    stop, moments = threading.Event(), random.Random(20261201)
    with Serving(tmp_path, lock(late(), minutes()), now=end(FIRST)) as served:
        senders = [Sender(served, number, stop) for number in range(CLIENTS)]
        for sender in senders:
            sender.start()
        try:
            for kill in range(KILLS):
                time.sleep(moments.uniform(0.02, 0.3))
                match kill % 3:
                    case 0:  # it ends whole
                        served.kill()
                        served.start()
                    case 1:  # the parent dies, and its children with it
                        assert served.stop(signal.SIGKILL)[0] == -signal.SIGKILL
                        served.start()
                    case 2:  # the parent starts another one
                        os.kill(served.children()["hubbub.collector"], signal.SIGKILL)
            time.sleep(0.2)
        finally:
            stop.set()
            for sender in senders:
                sender.join()
    assert [sender.failure for sender in senders] == [None] * CLIENTS
    acknowledged = sum((sender.acknowledged for sender in senders), Counter())
    assert set(acknowledged.values()) == {1}
    with open_store(served.store) as store:
        held = Counter(
            (metric.name, report.id) for metric in (late(), minutes()) for report in store.reports(key(metric))
        )
        assert held == acknowledged
        assert sum(cell.summary.n for cell in store.cells()) == acknowledged.total()
        assert check(store) == []
        assert store.counters()["accepted"] == acknowledged.total()
    assert acknowledged.total() > 200  # there was load
