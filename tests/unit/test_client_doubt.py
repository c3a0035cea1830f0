"""What is charged where a memory may be older than what was sent, or the clock is not set."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from hubbub.client import Client, SqliteState, StateError, folder, secret
from hubbub.client.ledger import MAX_SECRETS, OLDEST, Ledger, merged, take_up, with_secret
from hubbub.client.past import over
from hubbub.client.policy import RESEARCH, STRICT, Policy
from hubbub.client.records import ledger_tree
from hubbub.client.state import Installation
from hubbub.client.transport import Response
from hubbub.clock import ManualClock
from hubbub.lock import Lock, Metric
from hubbub.windows import midnight
from tests.unit.client_support import ACCEPTED, DAY, FRESH_MEAN, MEAN, STARTS
from tests.unit.state_support import begin, named, not_below, of, restored, saved, sealed, window
from tests.unit.test_client_ledger import LIFE, born, life, taken

NOON = 5 * DAY + DAY // 2
QUIET = named(encoder=FRESH_MEAN, report_every=28)


def doubted(ledger: Ledger, *metrics: Metric, seconds: int = NOON, policy: Policy = RESEARCH) -> Ledger:
    """The ledger at a start at which more may have been sent than it knows, under the secret it was made with."""
    return take_up(ledger, of(*metrics), policy, STARTS + seconds, doubted=["s"])


def reports(ledger: Ledger, name: str = "a") -> list[int]:
    return [one.reports for one in ledger.accounts[name].charges]


def told_so_far(ledger: Ledger, name: str = "a") -> int:
    return sum(one.reports for one in over(ledger.accounts[name]).charges)


def test_doubted_memory_seals_everything_and_charges_what_can_have_been_sent() -> None:
    old = taken((of(named()), 0))
    ledger = doubted(old, named(), named("b"))
    assert ledger.accounts["a"].sealed == STARTS + NOON
    assert (reports(ledger), reports(ledger, "b")) == ([LIFE], [6, LIFE - 6])
    for account in ledger.accounts.values():
        assert not account.allows(STARTS + 5 * DAY, STARTS + 6 * DAY)
        assert account.allows(STARTS + 6 * DAY, STARTS + 7 * DAY)
    assert ledger.accounts["b"].charged.steady == MEAN.prices(1).steady  # one secret, one encoding
    assert ledger.accounts["b"].charged.life >= life(LIFE)
    assert reports(doubted(ledger, named(), named("b")), "b") == [6, LIFE - 6]  # a second doubt adds nothing
    assert reports(doubted(old, named(), named("b"), seconds=5 * DAY), "b") == [5, LIFE - 5]


def test_doubted_memory_charges_a_metric_that_may_have_come_back() -> None:
    """It left on day 2, and may have been back from that day on."""
    left = taken((of(named(), named("b")), 0), (of(named("b")), 2 * DAY))
    assert reports(doubted(left, named(), named("b"))) == [6, LIFE - 6]
    gone = doubted(left, named("b"))
    assert reports(gone) == [2]


def test_doubted_memory_charges_what_it_refuses() -> None:
    """Whether the policy has room, the definition is over or there are too many secrets: it may have been reported."""
    dear = replace(RESEARCH, life_per_year=6.0)
    ledger = doubted(taken(policy=dear), named(expires="2026-12-25"), policy=dear)
    assert "would bring the life prices of 2026" in ledger.refused["a"]
    assert reports(ledger) == [6]
    assert ledger.accounts["a"].charged.life == life(6)
    again = take_up(ledger, of(named(expires="2026-12-25")), dear, STARTS + 6 * DAY)
    assert reports(again) == [6]

    ended = doubted(born(), named(expires="2026-12-04"))
    assert ended.refused == {"a": "no whole window of it is left before 2026-12-04T00:00:00Z"}
    assert reports(ended) == [3]

    many = replace(born(), secrets=dict.fromkeys("stuv", STARTS))
    stopped = doubted(many, named())
    assert "4 secrets were drawn" in stopped.refused["a"]
    assert reports(stopped) == [6]


def test_doubted_memory_charges_nothing_that_cannot_have_been_accepted() -> None:
    known = taken((of(named(version=3)), 0), (of(), DAY))
    assert reports(doubted(known, named(version=2))) == [1]
    assert reports(doubted(known, named(version=3, step=2))) == [1]
    assert reports(doubted(born(), named(starts="2026-12-10"))) == [LIFE - 9]


def test_doubted_memory_of_another_secret_charges_that_one() -> None:
    """A copy draws a secret of its own; what the first one can have told is charged as if the copy had known it."""
    first = taken((of(named()), 0))
    copied = with_secret(first, "t", STARTS + NOON)
    ledger = doubted(copied, named(), named("b"))
    assert [(one.under, one.reports) for one in ledger.accounts["a"].charges] == [("s", LIFE), ("t", LIFE - 6)]
    assert [(one.under, one.reports) for one in ledger.accounts["b"].charges] == [("s", 6), ("t", LIFE - 6)]
    unknown, known = ledger.accounts["b"].charged, ledger.accounts["a"].charged
    assert unknown.steady == known.steady == 2 * MEAN.prices(1).steady
    assert unknown.life < known.life


def test_starts_that_doubt_again_and_again_add_no_more_charges() -> None:
    """One metric is refused, one in force and one renewed in the end: there is room for that as after one doubt."""
    dear, other = named("dear"), named("b", encoder=FRESH_MEAN, report_every=28)
    panel = named("panel", encoder=FRESH_MEAN, report_every=12)
    tight = replace(RESEARCH, life_per_year=90.0)
    ledger = take_up(born(), of(other, panel), tight, STARTS)
    sizes = []
    for day in range(60):
        ledger = doubted(ledger, dear, other, panel, seconds=day * DAY + 99, policy=tight)
        assert ledger.refused.keys() == {"dear"}
        assert [reports(ledger, name) for name in ("dear", "b", "panel")] == [[day + 1], [13], [31]]
        sizes.append(len(json.dumps(ledger_tree(ledger))))
    assert max(sizes) - min(sizes) < 50  # digits
    assert ledger.accounts["dear"].life == life(60)
    renewed = take_up(ledger, of(replace(other, version=2)), tight, STARTS + 60 * DAY)
    assert renewed.refused == {}


def test_doubt_in_the_last_window_adds_nothing_to_a_charge_that_reaches_there() -> None:
    assert reports(doubted(taken((of(named()), 0)), named(), seconds=LIFE * DAY - 5)) == [LIFE]


def test_doubt_lengthens_the_charge_that_ends_at_the_seal_and_no_earlier_one() -> None:
    ledger = taken((of(named()), 0), (of(), 10 * DAY), (of(named()), 30 * DAY), (of(), 60 * DAY))
    assert reports(doubted(ledger, named(), seconds=70 * DAY - 5)) == [10, 40, LIFE - 70]


def test_two_copies_of_a_charge_are_priced_by_the_longer_one() -> None:
    """Also where this release does not know its encoder and goes by what was stated."""
    short, long = (doubted(born(), named(expires="2026-12-25"), seconds=day * DAY) for day in (2, 5))
    unknown = [
        replace(one, accounts={"a": replace(account, charges=(replace(account.charges[0], encoder="of another"),))})
        for one in (short, long)
        for account in one.accounts.values()
    ]
    for one, other in (unknown, unknown[::-1]):
        assert merged(one, other).life == unknown[1].life > unknown[0].life


def test_each_copy_says_by_itself_whether_its_secret_could_still_report() -> None:
    one, other = (secret.drawn("c", STARTS + day * DAY) for day in range(2))

    def doubts(*more: str) -> set[str]:
        births = {**other.ledger.secrets, **dict.fromkeys(more, STARTS)}
        many = replace(other, ledger=replace(other.ledger, secrets=births))
        sides = {"untouched": False, "damaged": False, "collection": "c", "now": STARTS + NOON, "identity": "here"}
        found = secret.recovered(one, secret.Copy(many, many), **sides)  # type: ignore[arg-type]
        assert found.word == "state_restored"
        return set(found.doubted)

    assert doubts("t", "u") == {one.ledger.under, other.ledger.under}  # four together, not in either
    assert doubts("t", "u", "v") == {one.ledger.under}


def test_copy_that_is_refused_counts_what_the_first_one_told_since() -> None:
    """Two lives are more than its policy allows; "so far" reaches to now all the same, in the lock or not."""
    tight = replace(RESEARCH, life_per_year=250.0)
    copied = with_secret(taken((of(named(), named("b", encoder=FRESH_MEAN, report_every=28)), 0)), "t", STARTS + NOON)
    ledger = doubted(copied, named(), policy=tight)
    assert "life prices of 2027" in ledger.refused["a"]
    assert told_so_far(ledger) == 5
    assert ledger.accounts["b"].sealed == STARTS + NOON


def test_clone_of_an_image_that_did_not_know_a_metric_is_charged_about_one_life_of_it() -> None:
    """So a policy that the lock keeps to with little to spare has room for it; a known one takes two lives."""
    image = take_up(born(), of(), STRICT, STARTS)
    ledger = doubted(with_secret(image, "t", STARTS + 100 * DAY), QUIET, seconds=100 * DAY, policy=STRICT)
    assert ledger.refused == {}
    assert reports(ledger) == [4, 10]
    assert QUIET.reports == 13
    assert ledger.accounts["a"].allows(STARTS + 107 * DAY, STARTS + 108 * DAY)


# Folders


class Posted:
    """A collector that takes everything."""

    def __init__(self) -> None:
        self.bodies: list[bytes] = []

    def post(self, body: bytes, timeout: float) -> Response:
        self.bodies.append(body)
        return ACCEPTED


def lives(path: Path, lock: Lock, first: int, last: int) -> Installation:
    """A device that runs from the first of these days to before the last, and reports each."""
    state = SqliteState(path)
    found = begin(state, lock, first * DAY)
    for day in range(first, last):
        state.run([window(day * DAY, name, DAY, locked=lock) for name in lock.metrics])
        sealed(state, (day + 1) * DAY)
    ledger = state.ledger()
    state.close()
    return replace(found, ledger=ledger)


def test_backup_that_comes_back_after_a_metric_did(tmp_path: Path) -> None:
    both, without = of(named(), named("b")), of(named("b"))
    lives(tmp_path, both, 0, 2)
    lives(tmp_path, without, 2, 3)
    backup = saved(tmp_path)
    before = lives(tmp_path, both, 10, 40)
    assert reports(before.ledger) == [2, LIFE - 10]
    restored(tmp_path, backup)
    after = lives(tmp_path, both, 40, 40)
    assert after.recovered == "state_restored"
    assert reports(after.ledger) == [40, LIFE - 40]
    not_below(after.ledger, replace(before.ledger, accounts={"a": replace(before.ledger.accounts["a"], sent=0)}))


def test_backup_that_is_put_into_a_new_folder(tmp_path: Path) -> None:
    first, second = of(named()), of(named(version=2, step=2), named("b"))
    lives(tmp_path / "state", first, 0, 2)
    shutil.copytree(tmp_path / "state", tmp_path / "backup")
    before = lives(tmp_path / "state", second, 2, 40)
    (tmp_path / "state").rename(tmp_path / "gone")  # so that the new folder is another one
    shutil.copytree(tmp_path / "backup", tmp_path / "state")
    after = lives(tmp_path / "state", second, 40, 40)
    old, new = before.ledger.under, after.ledger.under
    assert (after.recovered, old == new) == ("state_copied", False)
    spans = {
        name: [(one.version, one.under, one.reports) for one in account.charges]
        for name, account in after.ledger.accounts.items()
    }
    assert spans == {
        "a": [(1, old, LIFE), (2, old, 38), (2, new, LIFE - 40)],
        "b": [(1, old, 40), (1, new, LIFE - 40)],
    }
    not_below(after.ledger, before.ledger)
    again = lives(tmp_path / "state", second, 40, 40)
    assert (again.recovered, again.ledger) == ("", after.ledger)


@pytest.mark.parametrize(("reached", "back"), [(2, 10), (6, 10)])
def test_backup_older_than_a_renewal_encodes_no_window_again(tmp_path: Path, reached: int, back: int) -> None:
    """Windows in which the program did not run are filled in, so each that is not sealed is encoded."""
    state, clock, posted = tmp_path / "state", ManualClock(STARTS), Posted()

    def run(version: int, expires: str, first: int, last: int) -> Ledger:
        clock.set(STARTS + first * DAY + DAY // 2)
        hidden = named(version=version, expires=expires, encoder=FRESH_MEAN, presence="hidden")
        device = Client(
            of(hidden),
            "http://127.0.0.1:9",
            state_dir=state,
            transport=posted,
            clock=clock,
            policy=RESEARCH,
            background=False,
            consent="granted",
        )
        for day in range(first, last):
            clock.set(STARTS + day * DAY + DAY // 2)
            device.set("a", day)
            device.tick()
            device.flush()
        device.close()
        return device.ledger()

    run(1, "2026-12-05", 0, 2)
    backup = saved(state)
    run(2, "2027-11-30", reached, back)
    for path in state.iterdir():
        if path.name != "state.lock":
            path.unlink()
    restored(state, backup)
    after = run(2, "2027-11-30", back, back + 3)
    windows = [entry["window"] for body in posted.bodies for entry in json.loads(body)["reports"]]
    assert len(windows) >= back - reached
    assert len(set(windows)) == len(windows)
    assert told_so_far(after) >= len(windows)


def test_folder_of_a_machine_that_is_new_at_each_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With too many secrets it stops, and what could report nothing is charged for nothing."""
    found = []
    for number in range(9):
        monkeypatch.setattr(folder, "_machine", lambda number=number: str(number))
        found.append(lives(tmp_path, of(named(), named("b")), number, number).ledger)
    assert found[-1].generation == 9
    assert found[MAX_SECRETS].refused.keys() == {"a", "b"}
    charges = [[account.charges for account in ledger.accounts.values()] for ledger in found]
    assert charges[MAX_SECRETS:] == charges[MAX_SECRETS : MAX_SECRETS + 1] * (9 - MAX_SECRETS)


def test_two_secrets_in_two_copies_are_both_doubted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folder.Folder, "identity", lambda self: "")
    older = lives(tmp_path / "state", of(named()), 0, 3).ledger.under
    younger = lives(tmp_path / "other", of(named()), 1, 5).ledger.under
    shutil.copy(tmp_path / "other" / secret.FILE, tmp_path / "state")
    after = lives(tmp_path / "state", of(named(), named("b")), 20, 20)
    assert (after.recovered, after.ledger.under) == ("state_restored", older)
    charges = after.ledger.accounts["b"].charges
    assert {(one.under, one.reports) for one in charges} == {(older, 20), (younger, 20), (older, LIFE - 20)}


# Clocks that are not set

UNSET = (1000, midnight("1980-01-01"), OLDEST - 1)  # what clocks say that nobody has set


@pytest.mark.parametrize("clock", UNSET)
@pytest.mark.parametrize("word", ["state_restored", "state_copied", "state_lost", "secret_recovered"])
def test_doubt_waits_until_the_clock_is_set(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, clock: int, word: str
) -> None:
    """Nothing is accepted, run or written, so the doubt is there at the start after that, too."""
    one, both = of(named()), of(named(), named("b"))
    lives(tmp_path, one, 0, 2)
    backup = saved(tmp_path)
    lives(tmp_path, both, 2, 5)
    if word == "state_restored":
        restored(tmp_path, backup)
    elif word == "state_copied":
        monkeypatch.setattr(folder, "_machine", lambda: "another")
    else:
        (tmp_path / "state.db").write_bytes(b"x" * 999)
        if word == "state_lost":
            (tmp_path / secret.FILE).write_bytes(b"x")
    for _ in range(2):
        state = SqliteState(tmp_path)
        before = sorted(saved(tmp_path).values())  # what is damaged is renamed
        with pytest.raises(StateError, match="start the program again once the clock is set"):
            state.begin(both, RESEARCH, clock)
        assert sorted(saved(tmp_path).values()) == before
        state.close()
    after = lives(tmp_path, both, 5, 5)
    assert after.recovered == word
    assert after.ledger.accounts["b"].sealed == STARTS + 5 * DAY
    assert told_so_far(after.ledger, "b") >= 3


@pytest.mark.parametrize("clock", UNSET)
def test_new_secret_waits_from_when_the_clock_is_set(clock: int) -> None:
    unset = take_up(born(clock), of(QUIET), STRICT, clock)
    assert unset.birth == clock
    assert unset.refused["a"].endswith("start the program again once it is set")
    assert unset.accounts["a"].charges == ()
    ledger = take_up(unset, of(QUIET), STRICT, STARTS + 20 * DAY)
    assert ledger.refused == {}
    assert ledger.birth == STARTS + 20 * DAY
    assert ledger.accounts["a"].sealed == ledger.accounts["a"].charges[0].begins == STARTS + 27 * DAY
    later = take_up(ledger, of(QUIET), STRICT, STARTS + 40 * DAY)
    assert (later.birth, later.accounts) == (ledger.birth, ledger.accounts)


@pytest.mark.parametrize("clock", UNSET)
def test_clock_that_is_not_set_for_one_start_changes_no_birth(clock: int) -> None:
    ledger = take_up(born(), of(QUIET), STRICT, STARTS)
    unset = take_up(ledger, of(QUIET), STRICT, clock)
    assert (unset.birth, unset.accounts) == (ledger.birth, ledger.accounts)
    more = take_up(unset, of(QUIET, named("b", encoder=FRESH_MEAN, report_every=364)), STRICT, clock)
    assert more.refused == {}
    assert more.accounts["b"].sealed == STARTS + 7 * DAY


def test_times_before_there_was_hubbub_hold_nothing_back_without_a_wait() -> None:
    """Replays of old tables: what runs goes on over a start, and the metric is in force."""
    old = named(starts="2013-01-01", expires="2014-01-01")
    begun = midnight("2013-01-01") - DAY // 2
    ledger = take_up(born(begun), of(old), RESEARCH, begun)
    assert reports(ledger) == [365]
    again = take_up(ledger, of(old), RESEARCH, begun + 100 * DAY)
    assert (again.birth, again.accounts) == (begun, ledger.accounts)
    unset = take_up(born(1000), of(named()), RESEARCH, 1000)
    right = take_up(unset, of(named()), RESEARCH, STARTS + NOON)
    assert (right.birth, right.accounts) == (STARTS + NOON, unset.accounts)
