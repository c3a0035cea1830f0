"""What a killed replay goes on from."""

import json
import shutil
import sqlite3
import stat
from collections import Counter
from contextlib import closing
from pathlib import Path

import pytest

from hubbub.client import Client, MemoryState, Response, StateError
from hubbub.client.memory import dumped, restored
from hubbub.clock import ManualClock
from hubbub.errors import HubbubError, ParameterError
from hubbub.replay import Saved
from hubbub.replay.saved import FILE, Place
from tests.unit.replay_support import lock_of

LOCK = lock_of()
METRIC = LOCK.metrics["app.minutes"]
FIRST = METRIC.life.start


class Sent:
    def __init__(self, status: int = 200) -> None:
        self.status = status
        self.bodies: list[bytes] = []

    def post(self, body: bytes, timeout: float) -> Response:
        self.bodies.append(body)
        return Response(self.status, b'{"accepted": 1, "results": []}')


def client(state: MemoryState, clock: ManualClock, sent: Sent) -> Client:
    return Client(
        LOCK,
        "http://127.0.0.1",
        policy="research",
        state=state,
        clock=clock,
        transport=sent,
        background=False,
        dimensions={"channel": "beta", "system": "mac"},
    )


def test_a_state_goes_on_where_it_was_dumped() -> None:
    clock, sent = ManualClock(METRIC.windows.start(FIRST) - 43200), Sent(503)
    state = MemoryState()
    device = client(state, clock, sent)
    for window in range(2):
        clock.set(METRIC.windows.start(FIRST + window) + 43200)
        device.set("app.minutes", 20.0 + window)
        device.flush()
    waiting = {report.body for report in state.outbox()}
    assert len(waiting) == 3  # one for each metric
    tree = json.loads(json.dumps(dumped(state)))
    again = restored(tree)
    assert dumped(again) == dumped(state)
    later = Sent()
    other = client(again, clock, later)
    assert other.ledger() == device.ledger()
    assert other.preview("app.minutes", 21.0)[:2] == device.preview("app.minutes", 21.0)[:2]
    assert other.flush()
    assert set(later.bodies) == waiting  # byte for byte
    assert {account.sent for account in other.ledger().accounts.values()} == {1}
    clock.set(METRIC.windows.start(FIRST + 2) + 43200)
    assert other.flush()
    assert {json.loads(body)["reports"][0]["window"] for body in later.bodies} == {FIRST, FIRST + 1}
    assert len(later.bodies) == 6


def test_no_dump_of_nothing_and_no_state_from_anything_else() -> None:
    with pytest.raises(StateError, match="cannot be dumped"):
        dumped(MemoryState())
    clock = ManualClock(METRIC.windows.start(FIRST))
    state = MemoryState()
    client(state, clock, Sent())
    good = json.loads(json.dumps(dumped(state)))
    damages: list[dict[str, object]] = [
        {},
        good | {"secret": "00"},
        good | {"secret": good["secret"][::-1]},
        good | {"ledger": {}},
        good | {"running": [["m"]]},
        good | {"outbox": [[1]]},
    ]
    for damaged in damages:
        with pytest.raises(ValueError, match="not the dump of a state"):
            restored(damaged)


def begun(clock: ManualClock) -> MemoryState:
    state = MemoryState()
    state.begin(LOCK, client(MemoryState(), clock, Sent())._setup.policy, clock.now())
    return state


def test_what_is_kept_is_there_again_and_for_the_owner_alone(tmp_path: Path) -> None:
    folder = tmp_path / "state"
    clock = ManualClock(METRIC.windows.start(FIRST))
    state = begun(clock)
    with Saved(folder, "one", last=7) as saved:
        assert saved.place == Place(last=7)
        assert saved.state(("a", 0)) is None
        saved.place.done, saved.place.counts, saved.place.sent = 3, Counter(accepted=5), {"m 1": "80"}
        saved.keep({("a", 0): state, ("a", 1): begun(clock)}, [b"one", b"two"])
        for file in folder.iterdir():
            assert stat.S_IMODE(file.stat().st_mode) == 0o600
    with Saved(folder, "one", last=9) as saved:
        assert saved.place == Place(7, 3, Counter(accepted=5), {"m 1": "80"})
        assert sorted(saved.held()) == [b"one", b"two"]
        found = saved.state(("a", 0))
        assert found is not None
        assert dumped(found) == dumped(state)
        assert saved.state(("a", 0)) is None  # nobody goes on with it twice
        saved.keep({}, [])
    with Saved(folder, "one") as saved:
        assert saved.held() == []
        assert saved.state(("a", 1)) is not None


def test_another_replays_folder_is_refused(tmp_path: Path) -> None:
    with Saved(tmp_path / "state", "one"):
        pass
    with pytest.raises(ParameterError, match="the folder of a replay of this table with these options"):
        Saved(tmp_path / "state", "two")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "letter.txt").write_text("dear")
    with pytest.raises(ParameterError, match="an empty folder"):
        Saved(tmp_path / "mine", "one")
    assert [file.name for file in (tmp_path / "mine").iterdir()] == ["letter.txt"]


def test_one_process_at_a_time(tmp_path: Path) -> None:
    with Saved(tmp_path, "one"), pytest.raises(ParameterError, match="no other replay is using"):
        Saved(tmp_path, "one")


def test_a_copy_is_refused_and_a_moved_folder_is_not(tmp_path: Path) -> None:
    with Saved(tmp_path / "state", "one") as saved:
        saved.keep({("a", 0): begun(ManualClock(METRIC.windows.start(FIRST)))}, [])
    shutil.copytree(tmp_path / "state", tmp_path / "copy")
    with pytest.raises(ParameterError, match="state must be the folder itself and no copy of it"):
        Saved(tmp_path / "copy", "one")
    (tmp_path / "state").rename(tmp_path / "moved")
    with Saved(tmp_path / "moved", "one") as saved:
        assert saved.state(("a", 0)) is not None


def test_what_was_kept_survives_a_power_cut(tmp_path: Path) -> None:
    with Saved(tmp_path, "one") as saved:
        assert saved._database.execute("PRAGMA synchronous").fetchone() == (2,)  # FULL
        assert saved._database.execute("PRAGMA journal_mode").fetchone() == ("truncate",)


def test_a_file_that_others_may_read_is_made_private(tmp_path: Path) -> None:
    with Saved(tmp_path, "one"):
        pass
    (tmp_path / FILE).chmod(0o644)
    with Saved(tmp_path, "one") as saved:
        saved.keep({}, [b"one"])
        assert {stat.S_IMODE(file.stat().st_mode) for file in tmp_path.iterdir()} == {0o600}


@pytest.mark.parametrize("there", [True, False], ids=["a link to a file", "a link to nothing"])
def test_no_link_is_followed(tmp_path: Path, there: bool) -> None:
    (tmp_path / "state").mkdir()
    if there:
        (tmp_path / "elsewhere").touch(0o644)
    (tmp_path / "state" / FILE).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(HubbubError, match=rf"{FILE}: cannot be used \("):
        Saved(tmp_path / "state", "one")
    assert (tmp_path / "elsewhere").exists() == there
    if there:
        assert (tmp_path / "elsewhere").stat().st_size == 0


def test_a_folder_that_is_none_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(HubbubError, match=f"{FILE}: cannot be used"):
        Saved(tmp_path / "file", "one")
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def damage(folder: Path, statement: str, *values: object) -> None:
    with closing(sqlite3.connect(folder / FILE)) as database, database:
        database.execute(statement, values)


WHOLE = {"last": 1, "done": 2, "counts": {"accepted": 1}, "sent": {"m 1": "80"}}


@pytest.mark.parametrize(
    "place",
    [
        "{",
        "{}",
        "[]",
        "[" * 100_000,
        *(json.dumps(WHOLE | damaged) for damaged in ({"last": "x"}, {"done": 1.5}, {"done": True}, {"sent": 5})),
        *(json.dumps(WHOLE | {"counts": counts}) for counts in (5, None, "accepted", {"accepted": "1"})),
        json.dumps(WHOLE | {"sent": {"m 1": 80}}),
    ],
)
def test_a_damaged_place_is_said(tmp_path: Path, place: str) -> None:
    with Saved(tmp_path, "one"):
        pass
    damage(tmp_path, "UPDATE place SET place = ?", json.dumps(WHOLE))
    with Saved(tmp_path, "one") as saved:
        assert saved.place == Place(1, 2, Counter(accepted=1), {"m 1": "80"})
    damage(tmp_path, "UPDATE place SET place = ?", place)
    with pytest.raises(HubbubError, match=f"{FILE}: is damaged; start again with an empty folder$"):
        Saved(tmp_path, "one")


@pytest.mark.parametrize("statement", ["DELETE FROM place", "DROP TABLE place", "DROP TABLE devices"])
def test_damaged_tables_are_said(tmp_path: Path, statement: str) -> None:
    with Saved(tmp_path, "one"):
        pass
    damage(tmp_path, statement)
    with pytest.raises(HubbubError, match=rf"{FILE}: (is damaged|cannot be used)"):
        Saved(tmp_path, "one")


def test_damaged_devices_and_reports_are_said(tmp_path: Path) -> None:
    with Saved(tmp_path, "one") as saved:
        saved.keep({("a", 0): begun(ManualClock(METRIC.windows.start(FIRST)))}, [b"report"])
    damage(tmp_path, "UPDATE devices SET state = '{}'")
    damage(tmp_path, "UPDATE held SET report = 'report'")
    with Saved(tmp_path, "one") as saved:
        with pytest.raises(HubbubError, match="is damaged"):
            saved.state(("a", 0))
        with pytest.raises(HubbubError, match="is damaged"):
            saved.held()


def test_a_damaged_file_is_said(tmp_path: Path) -> None:
    (tmp_path / FILE).write_bytes(b"no database" * 100)
    with pytest.raises(HubbubError, match="cannot be used"):
        Saved(tmp_path, "one")
