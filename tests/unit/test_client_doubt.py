"""What is charged where a memory may be older than what was sent, or the clock is not set."""

import math
import shutil
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from hubbub.client import SqliteState
from hubbub.client.ledger import OLDEST, YEAR, Ledger, take_up, with_secret
from hubbub.client.past import over
from hubbub.client.policy import RESEARCH, STRICT, Policy
from hubbub.client.state import Installation
from hubbub.lock import Lock, Metric
from hubbub.windows import midnight
from tests.unit.client_support import DAY, FRESH_MEAN, MEAN, STARTS
from tests.unit.state_support import begin, named, not_below, of, restored, saved, sealed, window
from tests.unit.test_client_ledger import LIFE, born, life, taken

NOON = 5 * DAY + DAY // 2
QUIET = named(encoder=FRESH_MEAN, report_every=28)


def doubted(ledger: Ledger, *metrics: Metric, seconds: int = NOON, policy: Policy = RESEARCH) -> Ledger:
    """The ledger at a start at which more may have been sent than it knows, under the secret it was made with."""
    return take_up(ledger, of(*metrics), policy, STARTS + seconds, doubted="s")


def reports(ledger: Ledger, name: str = "a") -> list[int]:
    return [one.reports for one in ledger.accounts[name].charges]


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
    assert reports(doubted(left, named(), named("b"))) == [2, 4, LIFE - 6]
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


def test_doubt_under_a_clock_that_is_not_set_is_charged_in_full() -> None:
    ledger = take_up(born(1000), of(named()), replace(RESEARCH, probation_seconds=DAY), 1000, doubted="s")
    assert ledger.refused
    assert reports(ledger) == [LIFE]
    assert ledger.accounts["a"].sealed < STARTS  # nothing of it is silenced
    assert reports(take_up(ledger, of(named()), RESEARCH, STARTS)) == [LIFE, LIFE]


def test_copy_that_is_refused_counts_what_the_first_one_told_since() -> None:
    """Two lives are more than its policy allows; "so far" reaches to now all the same, in the lock or not."""
    tight = replace(RESEARCH, life_per_year=250.0)
    copied = with_secret(taken((of(named(), named("b", encoder=FRESH_MEAN, report_every=28)), 0)), "t", STARTS + NOON)
    ledger = doubted(copied, named(), policy=tight)
    assert "life prices of 2027" in ledger.refused["a"]
    assert reports(replace(ledger, accounts={"a": over(ledger.accounts["a"])})) == [5]
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
    assert reports(after.ledger) == [2, 38, LIFE - 40]
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


# Walks


def shape(rng: Random, version: int) -> Metric:
    """Some definition of this version, of another encoding than any other version or of the same."""
    return named(
        version=version,
        step=rng.choice((1, version)),
        report_every=rng.choice((1, 2, 5)),
        window=rng.choice(("hour", "day")),
        expires=rng.choice(("2027-01-10", "2027-11-30")),
    )


Key = tuple[str, int, str, str]  # name, version, encoding and secret


class Walk:
    """A device with two metrics, that is updated, saved, restored and copied at random, and all that it reported."""

    def __init__(self, seed: int) -> None:
        self.rng = Random(seed)
        self.day = 0
        self.present = {"a", "b"}
        self.metrics = {name: replace(shape(self.rng, 1), name=name) for name in "ab"}
        self.ledger = born()
        self.told: dict[Key, set[int]] = {}  # starts of windows
        self.saved: list[tuple[Ledger, dict[Key, set[int]]]] = []
        self.doubts = 0

    def begin(self, *, doubted: str = "") -> None:
        policy = replace(RESEARCH, life_per_year=self.rng.choice((math.inf, 400.0, 60.0)))
        lock = of(*(self.metrics[name] for name in sorted(self.present)))
        self.ledger = take_up(self.ledger, lock, policy, STARTS + (self.day + 1) * DAY + 5400, doubted=doubted)
        self.check()

    def live(self) -> None:
        accounts = dict(self.ledger.accounts)
        for day in range(self.day + 1, self.day + self.rng.randint(2, 9)):
            for name in self.present & accounts.keys():
                metric, today = self.metrics[name], STARTS + day * DAY
                cut = metric.windows
                for start in range(today, today + DAY, cut.length):
                    account = accounts[name]
                    if (
                        account.runs(metric.hash, start, start + cut.length)
                        and not cut.index(start) % metric.report_every
                    ):
                        accounts[name] = account.at(start + cut.length, account.sent + 1)
                        self.told.setdefault((name, metric.version, metric.hash, self.ledger.under), set()).add(start)
            self.day = day
        self.ledger = replace(self.ledger, accounts=accounts)

    def update(self) -> None:
        name = self.rng.choice("ab")
        self.present ^= {name}
        if self.rng.random() < 0.7:
            self.present |= {name}
            self.metrics[name] = replace(shape(self.rng, self.metrics[name].version + 1), name=name)

    def save(self) -> None:
        self.saved.append((self.ledger, {key: set(starts) for key, starts in self.told.items()}))

    def come_back(self) -> None:
        """Of what was told after the copy, only what the copy or the lock of the day knows of can be charged."""
        self.doubts += 1
        self.ledger, before = self.rng.choice(self.saved)
        lock = {(name, self.metrics[name].version, self.metrics[name].hash, self.ledger.under) for name in self.present}
        in_force = {
            (name, account.current.version, account.current.hash, account.current.under)
            for name, account in self.ledger.accounts.items()
            if account.current
        }
        for key in self.told:
            if key not in lock | in_force:
                self.told[key] = set(before.get(key, ()))

    def check(self) -> None:
        for (name, version, encoding, under), starts in self.told.items():
            charges = self.ledger.accounts[name].charges if starts else ()
            mine = [one for one in charges if (one.version, one.hash, one.under) == (version, encoding, under)]
            assert all(any(one.begins <= start < one.ends for one in mine) for start in starts)


@pytest.mark.parametrize("seed", range(60))
def test_walks_through_copies_forget_nothing_that_can_be_known(seed: int) -> None:
    walk = Walk(seed)
    walk.begin()
    walk.save()
    for step in range(40):
        action = walk.rng.choice(("live", "live", "update", "save", "restore", "copy", "start"))
        old = walk.ledger.under
        if action in ("live", "update", "save"):
            getattr(walk, action)()
        elif action in ("restore", "copy"):
            walk.come_back()
            old = walk.ledger.under
        if action == "copy":
            walk.ledger = with_secret(walk.ledger, f"copy {step}", STARTS - YEAR)  # so that none are too many
        walk.begin(doubted=old if action in ("restore", "copy") else "")
    assert walk.doubts
    assert walk.told


# Clocks that are not set

UNSET = (1000, midnight("1980-01-01"), OLDEST - 1)  # what clocks say that nobody has set


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
