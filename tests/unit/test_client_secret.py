"""Losing, damaging, restoring and copying the folder: the secret comes back, charges stay, nothing opens again."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from hubbub.client import Report, Running, SqliteState, folder
from hubbub.client.ledger import LOST, MAX_SECRETS, YEAR
from hubbub.client.looking import look
from hubbub.client.policy import STRICT
from hubbub.client.state import Stored
from tests.unit.client_support import DAY, FRESH_MEAN, STARTS
from tests.unit.state_support import (
    BOTH,
    NAME,
    begin,
    days,
    lived,
    named,
    not_below,
    of,
    reopened,
    restored,
    saved,
    sealed,
    window,
)


def zeroed(path: Path) -> None:
    path.write_bytes(bytes(path.stat().st_size))


def halved(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def scribbled(path: Path) -> None:
    path.write_bytes(b"something else entirely, " * 300)


def emptied(path: Path) -> None:
    path.write_bytes(b"")


LOSSES = [Path.unlink, zeroed, halved, scribbled, emptied]


@pytest.mark.parametrize("file", ["state.db", "secret.json"])
@pytest.mark.parametrize("lose", LOSSES, ids=lambda lose: lose.__name__)
def test_either_copy_is_recovered_from_the_other(tmp_path: Path, file: str, lose: Callable[[Path], None]) -> None:
    before = lived(tmp_path)
    lose(tmp_path / file)
    after, stored = reopened(tmp_path)
    assert after.secret == before.secret
    assert after.recovered == "secret_recovered"
    not_below(after.ledger, before.ledger)
    assert {account.sealed for account in after.ledger.accounts.values()} == {STARTS + 60 * 3600}
    assert stored.reports == (1 if file == "secret.json" else 0)
    renamed = lose is not Path.unlink and (lose, file) != (emptied, "state.db")
    assert [path.name for path in tmp_path.glob("*corrupt*")] == ([f"{file}.corrupt-1"] if renamed else [])
    again, _ = reopened(tmp_path)
    assert (again.secret, again.recovered) == (before.secret, "")
    assert len(list(tmp_path.glob("*corrupt*"))) == renamed


def test_intact_files_are_neither_renamed_nor_rewritten(tmp_path: Path) -> None:
    before = lived(tmp_path)
    copy = (tmp_path / "secret.json").stat()
    for _ in range(3):
        after, stored = reopened(tmp_path)
        assert (after.secret, after.recovered, stored.reports) == (before.secret, "", 1)
    assert (tmp_path / "secret.json").stat().st_ino == copy.st_ino
    assert sorted(path.name for path in tmp_path.iterdir()) == ["secret.json", "state.db", "state.lock"]


def test_running_window_is_lost_with_the_memory_and_not_reported(tmp_path: Path) -> None:
    lived(tmp_path)
    (tmp_path / "secret.json").unlink()
    state = SqliteState(tmp_path)
    begin(state, seconds=2 * DAY + 5)
    state.run(days(2, 3))
    assert sealed(state, 9 * DAY).keys() == {f"a{DAY}", f"a{3 * DAY}"}
    state.close()


@pytest.mark.parametrize("lose", LOSSES, ids=lambda lose: lose.__name__)
def test_both_copies_lost_make_a_new_installation(tmp_path: Path, lose: Callable[[Path], None]) -> None:
    before = lived(tmp_path)
    for file in ("state.db", "secret.json"):
        lose(tmp_path / file)
    after, _ = reopened(tmp_path, 30)
    assert after.secret != before.secret
    assert after.ledger.birth == STARTS + 30 * 3600
    account = after.ledger.accounts[NAME]
    assert after.recovered == ("" if lose is Path.unlink else "state_lost")
    if lose is Path.unlink:
        assert [(one.under, one.begins) for one in account.charges] == [(after.ledger.under, STARTS + 30 * 3600)]
    else:  # something damaged lies there, so another secret may have reported until now
        spans = [(one.under, one.begins - STARTS, one.reports) for one in account.charges]
        assert spans == [(LOST, 0, 2), (after.ledger.under, 30 * 3600, 362)]
        assert account.charged.steady == pytest.approx(4, abs=1e-6)


def test_damaged_files_do_not_pile_up(tmp_path: Path) -> None:
    for _ in range(6):
        lived(tmp_path)
        scribbled(tmp_path / "state.db")
        scribbled(tmp_path / "secret.json")
    names = {path.name for path in tmp_path.glob("*corrupt*")}
    assert names == {f"{file}.corrupt-{number}" for file in ("state.db", "secret.json") for number in (1, 2, 3)}


def test_secret_without_its_ledger_is_charged_for_whole_lives(tmp_path: Path) -> None:
    before = lived(tmp_path)
    (tmp_path / "state.db").unlink()
    copy = tmp_path / "secret.json"
    tree = json.loads(copy.read_text())
    tree["kept"]["serial"] += 1
    copy.write_text(json.dumps(tree))
    later = of(named(), named("c", starts="2026-11-01"))
    after, _ = reopened(tmp_path, locked=later)
    assert after.secret == before.secret
    begins = {name: account.charges[0].begins - STARTS for name, account in after.ledger.accounts.items()}
    assert begins == {"a": 0, "c": -30 * DAY}
    for account in after.ledger.accounts.values():
        first, second = account.charges
        assert first.ends == STARTS + 3 * DAY
        assert second.begins == account.sealed == STARTS + 60 * 3600


def test_newcomer_after_a_recovery_is_charged_for_its_whole_life(tmp_path: Path) -> None:
    """It may have been accepted before, in what was lost."""
    lived(tmp_path)
    (tmp_path / "state.db").unlink()
    after, _ = reopened(tmp_path, locked=of(*BOTH.metrics.values(), named("c")))
    first, second = after.ledger.accounts["c"].charges
    assert first.begins == STARTS
    assert first.ends == STARTS + 3 * DAY
    assert second.begins == after.ledger.accounts["c"].sealed == STARTS + 60 * 3600
    assert first.reports + second.reports == BOTH.metrics["a"].reports
    assert {first.under, second.under} == {after.ledger.under}


@pytest.mark.parametrize("word", ["granted", "denied"])
@pytest.mark.parametrize("file", ["state.db", "secret.json"])
def test_consent_is_recovered(tmp_path: Path, file: str, word: str) -> None:
    lived(tmp_path)
    state = SqliteState(tmp_path)
    begin(state)
    state.set_consent(word)
    state.close()
    (tmp_path / file).unlink()
    state = SqliteState(tmp_path)
    begin(state)
    assert state.consent() == word
    state.close()


# Old copies


@pytest.mark.parametrize("files", [("state.db",), ("secret.json",), ("state.db", "secret.json")])
def test_restored_files_open_nothing(tmp_path: Path, files: tuple[str, ...]) -> None:
    lived(tmp_path)
    old = {name: data for name, data in saved(tmp_path).items() if name in files}
    state = SqliteState(tmp_path)
    second = of(named(version=2, step=2), BOTH.metrics["b"])
    begin(state, second, 3 * DAY)
    state.run([window(3 * DAY)])
    sealed(state, 4 * DAY)
    state.set_consent("denied")
    before = begin(state, second, 4 * DAY)
    state.close()
    restored(tmp_path, old)
    after, _ = reopened(tmp_path, 100, second)
    assert (after.secret, after.recovered) == (before.secret, "state_restored")
    assert {account.sealed for account in after.ledger.accounts.values()} == {STARTS + 100 * 3600}
    account = after.ledger.accounts[NAME]
    assert account.versions == (1, 2)
    if len(files) == 1:  # one of both still knows everything
        not_below(after.ledger, before.ledger)
        state = SqliteState(tmp_path)
        begin(state, second, 4 * DAY)
        assert state.consent() == "denied"
        state.close()
    else:  # nothing knows what was accepted since: what the definition in the lock can have reported is charged
        doubted, first, new = account.charges
        assert (first.version, first.ends) == (1, STARTS + 100 * 3600)
        assert (doubted.version, doubted.begins, doubted.ends) == (2, STARTS + 2 * DAY, STARTS + 5 * DAY)
        assert (new.version, new.begins) == (2, STARTS + 100 * 3600)


def test_two_secrets_in_one_folder(tmp_path: Path) -> None:
    """The older one goes on; what was charged under the other stays charged."""
    state = SqliteState(tmp_path / "older")
    older = begin(state, BOTH, 0)
    state.close()
    state = SqliteState(tmp_path / "younger")
    younger = begin(state, BOTH, 7 * DAY)
    state.close()
    for copy, other in (("older", "younger"), ("younger", "older")):
        mixed = tmp_path / f"mixed-{copy}"
        shutil.copytree(tmp_path / other, mixed)
        shutil.copy(tmp_path / copy / "secret.json", mixed)
        state = SqliteState(mixed)
        after = begin(state, BOTH, 9 * DAY)
        state.close()
        assert after.ledger.generation == 3  # both, and the one that was drawn because the folder is a copy
        assert after.secret not in (older.secret, younger.secret)
        for name, account in after.ledger.accounts.items():
            mine = sum(one.ledger.accounts[name].charged.life for one in (older, younger))
            assert account.charged.life > mine
            assert account.charged.steady == pytest.approx(6, abs=1e-6)


def test_older_secret_wins_in_its_own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folder.Folder, "identity", lambda self: "")
    first = lived(tmp_path / "a")
    state = SqliteState(tmp_path / "b")
    second = begin(state, BOTH, 7 * DAY)
    state.close()
    for copy, database in (("a", "b"), ("b", "a")):
        mixed = tmp_path / f"copy-of-{copy}"
        shutil.copytree(tmp_path / database, mixed)
        shutil.copy(tmp_path / copy / "secret.json", mixed)
        after, _ = reopened(mixed, 8 * 24)
        assert after.secret == first.secret
        assert after.recovered == "state_restored"
        assert after.ledger.birth == STARTS
        assert after.ledger.generation == 2
        for name, account in after.ledger.accounts.items():
            parts = [one.ledger.accounts[name].charged for one in (first, second)]
            assert account.charged.life == pytest.approx(sum(part.life for part in parts))
            assert account.charged.steady == pytest.approx(4, abs=1e-6)
            assert account.sealed == STARTS + 8 * DAY


@pytest.mark.parametrize("back", [False, True])
def test_a_hundred_restored_backups_report_no_window_twice(tmp_path: Path, back: bool) -> None:
    """The folder of the first day is put back every day; the clock goes on, or back to the day before and on again."""
    month = of(named(expires="2026-12-31"))
    encoded: list[int] = []

    def live(day: int, state: SqliteState) -> None:
        def encode(running: Running) -> Report:
            encoded.append((running.start - STARTS) // DAY)
            return Report(f"{len(encoded)}", b"")

        state.seal(STARTS + day * DAY, encode)
        state.run(days(day))

    state = SqliteState(tmp_path)
    begin(state, month)
    live(0, state)
    state.close()
    first_day = saved(tmp_path)
    life = state_charge(tmp_path)
    for day in range(1, 101):
        restored(tmp_path, first_day)
        state = SqliteState(tmp_path)
        assert begin(state, month, day * DAY - 3600).recovered == "state_restored"
        for then in (day, day - 1, day, day + 1) if back else (day, day + 1):
            live(then, state)
        state.close()
        if day % 3:
            first_day = saved(tmp_path)
        assert state_charge(tmp_path) == life
    assert len(encoded) == len(set(encoded)) > 15
    assert len(encoded) <= month.metrics[NAME].reports


def state_charge(path: Path) -> float:
    return look(path).memory.ledger.accounts[NAME].charged.life


def test_clock_that_is_set_back_a_hundred_times_reports_no_window_twice(tmp_path: Path) -> None:
    state = SqliteState(tmp_path)
    reports = 0
    for attempt in range(100):
        begin(state, BOTH, (attempt % 7) * DAY)
        for day in range(attempt % 7, attempt % 7 + 3):
            state.run(days(day))
            reports = len(sealed(state, (day + 1) * DAY))
    assert reports == 9  # days 0 to 8
    state.close()


# Copies of the folder


def test_copied_folder_is_a_new_installation_that_inherits_the_charges(tmp_path: Path) -> None:
    before = lived(tmp_path / "first")
    shutil.copytree(tmp_path / "first", tmp_path / "copy")
    after, stored = reopened(tmp_path / "copy")
    assert after.recovered == "state_copied"
    assert after.secret != before.secret
    assert (after.ledger.generation, after.ledger.birth) == (2, STARTS + 60 * 3600)
    assert stored == Stored(0, 0)  # those reports are the original's to send
    for name, account in after.ledger.accounts.items():
        old, new = account.charges
        assert old == before.ledger.accounts[name].charges[0]  # nothing of it is refunded
        assert (new.begins, new.ends) == (STARTS + 60 * 3600, old.ends)
        assert account.charged.steady == 2 * before.ledger.accounts[name].charged.steady
    again, _ = reopened(tmp_path / "copy")
    assert (again.secret, again.recovered) == (after.secret, "")
    original, _ = reopened(tmp_path / "first")
    assert (original.secret, original.recovered) == (before.secret, "")


def test_moved_folder_is_the_same_installation(tmp_path: Path) -> None:
    before = lived(tmp_path / "first")
    (tmp_path / "first").rename(tmp_path / "moved")
    after, stored = reopened(tmp_path / "moved")
    assert (after.secret, after.recovered, stored.reports) == (before.secret, "", 1)


def test_another_machine_makes_another_installation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = lived(tmp_path)
    monkeypatch.setattr(folder, "_machine", lambda: "another")
    after, _ = reopened(tmp_path)
    assert after.secret != before.secret
    assert after.recovered == "state_copied"


@pytest.mark.parametrize("file", ["state.db", "secret.json"])
def test_copy_of_one_file_alone_is_noticed(tmp_path: Path, file: str) -> None:
    before = lived(tmp_path / "first")
    (tmp_path / "copy").mkdir()
    shutil.copy(tmp_path / "first" / file, tmp_path / "copy")
    after, _ = reopened(tmp_path / "copy")
    assert after.secret != before.secret
    assert after.recovered == "state_copied"


def test_installation_that_is_copied_too_often_stops_reporting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lived(tmp_path)
    longer = of(named(), named("later", starts="2027-06-01", expires="2028-06-01"))
    for number in range(2, MAX_SECRETS + 2):
        monkeypatch.setattr(folder, "_machine", lambda number=number: str(number))
        after, _ = reopened(tmp_path, 24 * number, longer)
        assert after.ledger.generation == number
        assert bool(after.ledger.refused) == (number > MAX_SECRETS)
    assert after.ledger.refused.keys() == {"a", "later"}
    assert set(after.ledger.refused.values()) == {
        "4 secrets were drawn within a year, more than 3: the folder was copied or lost too often"
    }
    state = SqliteState(tmp_path)
    begin(state, longer, 100 * DAY)
    state.run([window(100 * DAY)])
    assert sealed(state, 200 * DAY) == {}
    state.close()
    for now, refused in ((STARTS + YEAR - 1, True), (STARTS + YEAR, False)):
        stopped = reopened(tmp_path, (now - STARTS) / 3600, longer)[0].ledger.refused
        assert ("later" in stopped) == refused


def test_copy_is_refused_what_the_original_used_up(tmp_path: Path) -> None:
    quiet = of(named(encoder=FRESH_MEAN, report_every=28))
    state = SqliteState(tmp_path / "first")
    begin(state, quiet, policy=STRICT)
    state.close()
    shutil.copytree(tmp_path / "first", tmp_path / "copy")
    state = SqliteState(tmp_path / "copy")
    after = begin(state, quiet, 20 * DAY, STRICT)
    state.close()
    assert after.ledger.refused.keys() == {"a"}  # 13 + 13 nats are more than 15
    state = SqliteState(tmp_path / "copy")
    state.run(days(24, 28))
    assert sealed(state, 40 * DAY) == {}
    state.close()
