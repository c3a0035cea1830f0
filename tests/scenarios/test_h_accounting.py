"""H: what is charged, when state is copied or brought back; and what of a device can be seen on the wire."""

import json
import shutil
from pathlib import Path

from hubbub.client import Client, MemoryState, SqliteState
from hubbub.client.policy import Policy
from hubbub.clock import FileClock, ManualClock
from tests.e2e.capture import Capture
from tests.scenarios.chain import chain
from tests.unit.client_support import DAY, FRESH_MEAN, STARTS, client, lock, metric

DAILY = metric(expires="2026-12-31")


def test_h2_copies_of_a_folder_are_devices_of_their_own(tmp_path: Path) -> None:
    """Twenty machines made from one image: none sends under the id of another, each of them is charged anew."""
    count = 20
    with chain(tmp_path, lock(DAILY)) as whole:
        state = SqliteState(tmp_path / "image")
        _, clock, _ = whole.device(state=state)
        charged = state.ledger().accounts[DAILY.name].charged.life
        state.close()
        for number in range(count):
            folder = shutil.copytree(tmp_path / "image", tmp_path / f"machine-{number}")
            state = SqliteState(folder)
            clock = ManualClock(STARTS + DAY / 2)
            device = client(lock(DAILY), clock, state=state, transport=whole.network())
            assert device.counters == {"state_copied": 1}
            clock.set(STARTS + DAY)
            device.add(DAILY.name, 5)
            clock.set(STARTS + 2 * DAY)
            whole.clock.set(STARTS + 2 * DAY)
            assert device.flush()
            assert state.ledger().accounts[DAILY.name].charged.life > charged
            state.close()
        assert whole.counters() == {"accepted": count}
        assert whole.stored() == {(DAILY.name, DAILY.windows.index(STARTS + DAY)): count}


def test_containers_that_do_not_last_never_report(tmp_path: Path) -> None:
    """Under a policy that lets a new secret wait, whoever is thrown away within that time is no device at all."""
    daily = metric(encoder=FRESH_MEAN, expires="2027-02-01")
    policy = Policy("own", probation_seconds=7 * DAY)
    with chain(tmp_path, lock(daily)) as whole:

        def live(days: int, number: int) -> None:
            clock = ManualClock(STARTS + number * DAY / 24)
            device = client(lock(daily), clock, policy=policy, state=MemoryState(), transport=whole.network())
            for day in range(days):
                clock.set(STARTS + day * DAY + DAY / 2)
                whole.clock.set(clock.now())
                device.add(daily.name, 5)
                device.flush()
                if day:
                    assert device.ledger().accounts[daily.name].charges[0].begins > STARTS + 7 * DAY

        for number in range(1, 15):
            live(8, number)
        assert whole.counters() == {}
        live(11, 1)  # born in the first hour of day 0: its first window is day 8
        assert whole.stored() == {
            (daily.name, daily.windows.index(STARTS + 8 * DAY)): 1,
            (daily.name, daily.windows.index(STARTS + 9 * DAY)): 1,
        }


def test_folder_brought_back_a_hundred_times(tmp_path: Path) -> None:
    """However often an old copy is put in place, in whole or in part: no window has two reports, none more than T."""
    with chain(tmp_path, lock(DAILY)) as whole:
        network, clock, kept = whole.network(), ManualClock(STARTS), tmp_path / "kept"

        def run(*moments: float) -> None:
            state = SqliteState(tmp_path / "device")
            device = client(lock(DAILY), clock, state=state, transport=network)
            for moment in moments:
                device.add(DAILY.name, 5)
                clock.set(moment)
                whole.clock.set(moment)
                device.flush()
            state.close()

        run(STARTS + 1.5 * DAY, STARTS + 2.5 * DAY)
        shutil.copytree(tmp_path / "device", kept)
        for number in range(100):
            files = (("state.db",), ("secret.json",), ("state.db", "secret.json"))[number % 3]
            for name in files:
                shutil.copy(kept / name, tmp_path / "device" / name)
            run(clock.now() + DAY / 5, clock.now() + DAY / 2)
        payloads: dict[int, set[str]] = {}
        for report in network.reports:
            payloads.setdefault(report["window"], set()).add(json.dumps(report))
        assert len(payloads) > 2  # it did report
        assert {len(said) for said in payloads.values()} == {1}
        assert len(payloads) <= DAILY.reports


def test_clock_set_back_a_hundred_times(tmp_path: Path) -> None:
    with chain(tmp_path, lock(DAILY)) as whole:
        network = whole.network()
        state = SqliteState(tmp_path / "device")
        clock = ManualClock(STARTS)
        device = client(lock(DAILY), clock, state=state, transport=network)
        whole.clock.set(STARTS + 20 * DAY)
        for number in range(100):
            device.add(DAILY.name, 5)
            clock.set(clock.now() + (1.2 if number % 2 else -1) * DAY)
            device.flush()
        state.close()
        said = {(report["window"], report["payload"], report["id"]) for report in network.reports}
        assert 5 < len(said) == len({window for window, _, _ in said}) <= DAILY.reports


def test_requests_of_all_devices_look_alike(tmp_path: Path) -> None:
    """On the real wire: the same headers, the same keys, bodies of one length, whatever a device did."""
    clock = FileClock(tmp_path / "clock")
    uses = {"busy": [480.0] * 50, "idle": [], "broken": [float("nan")] * 50}
    with Capture() as capture:
        for name, values in uses.items():
            clock.set(STARTS)
            device = Client(
                lock(DAILY),
                capture.endpoint(name),
                policy="research",
                state_dir=tmp_path / name,
                clock=clock,
                background=False,
            )
            for day in range(1, 4):
                for value in values:
                    device.add(DAILY.name, value)
                clock.set(STARTS + day * DAY)
                device.flush(1)
            device.close()
        seen = {name: [one for one in capture.exchanges if one.sender == name] for name in uses}
        assert {len(exchanges) for exchanges in seen.values()} == {3}
        assert len({(len(one.body), json.dumps(one.headers)) for one in capture.exchanges}) == 1
        headers = {name.lower() for name in capture.exchanges[0].headers}
        assert headers == {"host", "content-type", "content-length"}
