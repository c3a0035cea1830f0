"""A replay to a collector that runs already: what it tells stands beside the truth, if it is of the same."""

import os
import signal
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from hubbub.errors import HubbubError
from hubbub.lock import Lock, dump
from hubbub.replay import Fleet, Given, Table, replay
from hubbub.replay.collector import Collector
from hubbub.replay.mixer import Mixer
from tests.e2e.test_replay import outcomes, replayed
from tests.unit.replay_support import REGISTRY, lock_of, table_of
from tests.unit.serving import listens, within


@pytest.fixture(scope="module")
def lock() -> Lock:
    return lock_of()


def test_a_given_collector_that_dies_is_told(lock: Lock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = dump(lock)
    (tmp_path / "metrics.lock").write_text(text)
    first = lock.metrics["app.used"].life.start
    (tmp_path / "clock").write_text(str(lock.metrics["app.used"].windows.start(first + 6)))
    with Collector(tmp_path / "metrics.lock", tmp_path / "hubbub.db", tmp_path / "clock") as collector:
        given = Given(collector.endpoint, collector.read_endpoint)
        fleet = Fleet({"app.used": table_of(3, 20, first)})
        with replay([fleet], lock, given=given) as result:
            assert not result.checked
            # Not final yet: 16 reports came of the second window, and rows go in steps of min_reports.
            assert [outcome.n for outcome in result.series[0].outcomes] == [20, 0, 20]
        os.kill(collector.pid, signal.SIGKILL)
        port = urlsplit(given.endpoint).port or 0
        assert within(lambda: not listens(port))  # its processes follow it; on a busy machine that takes a moment
        monkeypatch.setattr("hubbub.replay.run.Mixer", partial(Mixer, patience=0.0))
        with pytest.raises(HubbubError, match=f"the collector at {given.endpoint} takes no reports: "):
            replayed(table_of(3, 20, first), "app.used", lock, given=given)


def test_a_given_collector_tells_of_this_version_and_of_segments(lock: Lock, tmp_path: Path) -> None:
    wide = lock_of(REGISTRY.replace("upper = 60", "upper = 90").replace("version = 1", "version = 2"))
    for name, one in (("metrics.lock", lock), ("wide.lock", wide)):
        (tmp_path / name).write_text(dump(one))
    first = lock.metrics["app.minutes"].life.start
    (tmp_path / "clock").write_text(str(lock.metrics["app.minutes"].windows.start(first + 6)))
    table = Table({first + w: {f"d{d}": 30.0 for d in range(40)} for w in range(2)})
    collector = Collector(tmp_path / "metrics.lock", tmp_path / "hubbub.db", tmp_path / "clock")
    collector._command += ["--lock", str(tmp_path / "wide.lock")]
    with collector:
        given = Given(collector.endpoint, collector.read_endpoint)
        alone = outcomes(replayed(table, "app.minutes", lock, given=given))
        twice = Table({window: {f"{d}{n}": 30.0 for d in row for n in "ab"} for window, row in table.windows.items()})
        replayed(twice, "app.minutes", wide, given=given)
        again = outcomes(replayed(table, "app.minutes", lock, given=given))
        assert [outcome.n for outcome in alone] == [40, 40]
        assert [outcome.n for outcome in again] == [80, 80]
        cells = {f"d{d}": lock.metrics["app.split"].segments[d % 2] for d in range(80)}
        result = replayed(Table(table_of(1, 80, first).windows, cells), "app.split", lock, given=given)
        told = {outcome.truth.segment: (outcome.truth.devices, outcome.n) for outcome in outcomes(result)}
        assert told == dict.fromkeys(lock.metrics["app.split"].segments[:2], (40, 40))
        assert result.reports == 80
