"""Random lives of a device whose folder is restored and copied: nothing that can be known is forgotten."""

import math
from collections.abc import Sequence
from dataclasses import replace
from random import Random

import pytest

from hubbub.client.ledger import YEAR, Ledger, take_up, with_secret
from hubbub.client.policy import RESEARCH
from hubbub.lock import Metric
from tests.unit.client_support import DAY, STARTS
from tests.unit.state_support import named, of
from tests.unit.test_client_ledger import born


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

    def begin(self, *, doubted: Sequence[str] = ()) -> None:
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
        walk.begin(doubted=[old] if action in ("restore", "copy") else [])
    assert walk.doubts
    assert walk.told
