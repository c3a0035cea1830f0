"""What one installation has given away, by metric name: it only grows, and it decides what may still be accepted.

Everything here is arithmetic on values that do not change; states keep a ledger and move its seals. No decision looks
at what was recorded. Specification: spec/ledger.md.
"""

import math
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from itertools import product

from hubbub.client.charges import NOTHING, Charge, charge, steady
from hubbub.client.policy import Policy, nats
from hubbub.encoders.base import Prices
from hubbub.lock import Lock, Metric
from hubbub.windows import iso, midnight

YEAR = 365 * 86_400
MAX_SECRETS = 3  # that may be born within a year; with one more, the installation stops reporting
NEVER = -(2**62)  # the seal of a name under which nothing was ever accepted
OLDEST = midnight("2026-01-01")  # before it there was no hubbub, so a clock that says so is not set
LOST = "lost"  # stands for a secret that nobody can name any more


@dataclass(frozen=True, slots=True)
class Account:
    """One metric name: what was accepted under it, and up to where its windows are used up."""

    sealed: int = NEVER  # unix seconds; no window that begins earlier is ever encoded again
    sent: int = 0  # reports that got a terminal answer
    active: bool = False  # whether the definition of the last charge is in force
    refused: str = ""  # why the definition in the lock is not
    charges: tuple[Charge, ...] = ()  # the last one is the one in force

    @property
    def current(self) -> Charge | None:
        """The charge of the definition in force."""
        return self.charges[-1] if self.active else None

    @property
    def versions(self) -> tuple[int, ...]:
        """Versions ever accepted."""
        return tuple(sorted({one.version for one in self.charges}))

    @property
    def charged(self) -> Prices:
        """The name's prices: the dearest report and change, and the sums of what adds up."""
        prices = [one.prices for one in self.charges] or [NOTHING]
        return Prices(
            max(p.report for p in prices),
            steady(self.charges),
            max(p.change for p in prices),
            self.life,
        )

    @property
    def life(self) -> float:
        """Sum of the life prices of all charges."""
        return math.fsum(one.prices.life for one in self.charges)

    @property
    def life_by_year(self) -> Mapping[int, float]:
        """Life prices of the windows that begin in each calendar year."""
        return _total(one.life_by_year for one in self.charges)

    def allows(self, start: int, stop: int) -> bool:
        """Whether a window may be run and encoded: paid for, and not sealed."""
        return self.current is not None and start >= self.sealed and self.current.allows(start, stop)

    def runs(self, encoding: str, start: int, stop: int) -> bool:
        """The same for a window of this encoding: only the one in force is."""
        return self.current is not None and self.current.hash == encoding and self.allows(start, stop)

    def at(self, sealed: int, sent: int) -> "Account":
        """The account with this seal and this count; for every report, so without the slower `replace`."""
        return Account(sealed, sent, self.active, self.refused, self.charges)

    def continues(self, other: "Account") -> bool:
        """Whether the same definition is in force as in another account, so that what runs may go on."""
        mine, theirs = self.current, other.current
        return mine is not None and theirs is not None and (mine.hash, mine.under) == (theirs.hash, theirs.under)

    def ended(self, at: int) -> "Account":
        """The account once its definition is no longer in force; windows that end after `at` are refunded."""
        if not self.active:
            return self
        last = self.charges[-1].cut(max(at, self.sealed))
        return replace(self, active=False, charges=(*self.charges[:-1], last))

    def sealed_until(self, now: int) -> "Account":
        """The account once everything that began before `now` counts as sealed.

        A clock that is years ahead seals no further than the charges reach. Those not in force count too: where a copy
        is older than a renewal, one of them says what was reported beyond the definition that it holds in force.
        """
        ends = max((one.ends for one in self.charges), default=NEVER)
        return replace(self, sealed=max(self.sealed, min(now, ends)))


@dataclass(frozen=True)
class Ledger:
    """What one installation accepted and gave away, over all of its secrets."""

    collection: str
    under: str  # a digest that names the secret in use; kept on the device like the rest
    secrets: Mapping[str, int]  # the same of every secret there was, and when it was born
    accounts: Mapping[str, Account] = field(default_factory=dict)
    policy: Policy | None = None  # the one of the last start

    @property
    def birth(self) -> int:
        """When the secret in use was drawn, in unix seconds."""
        return self.secrets[self.under]

    @property
    def generation(self) -> int:
        """How many secrets there were."""
        return len(self.secrets)

    @property
    def steady(self) -> float:
        """Sum of the steady prices of everything ever accepted."""
        return math.fsum(steady(account.charges) for account in self.accounts.values())

    @property
    def life(self) -> float:
        """Sum of the life prices of everything ever accepted."""
        return math.fsum(account.life for account in self.accounts.values())

    @property
    def life_by_year(self) -> Mapping[int, float]:
        """Sum of the life prices by calendar year."""
        return _total(account.life_by_year for account in self.accounts.values())

    @property
    def refused(self) -> Mapping[str, str]:
        """Why metrics of the lock are not answered, by name."""
        return {name: account.refused for name, account in self.accounts.items() if account.refused}


def take_up(ledger: Ledger, lock: Lock, policy: Policy, now: int, *, doubted: Collection[str] = ()) -> Ledger:
    """The ledger once the metrics of a lock are those in force.

    Definitions that left the lock, or were replaced, end. Those that are new to the device are charged for what is left
    of their life if the policy allows that on top of everything before, in order of name; else they are refused.

    Args:
        doubted: Names of the secrets under which more may have been sent than the memory knows (it was recovered,
            restored or copied): all that began before `now`, at which the clock must be set, counts as sealed, and
            whatever of the lock each of them can have reported by then is charged, whether or not the policy allows it.
            Empty where the memory is whole.
    """
    birth = _birth(ledger.birth, now)
    first = birth + policy.probation_seconds if policy.probation_seconds else NEVER
    stopped = stop(ledger.secrets, now)
    asked = {} if stopped else lock.metrics
    accounts = {name: replace(account, refused="") for name, account in ledger.accounts.items()}
    if doubted:
        for (name, metric), under in product(lock.metrics.items(), doubted):
            accounts[name] = _doubted(accounts.get(name, Account()), metric, under, now)
        accounts = {name: account.sealed_until(now) for name, account in accounts.items()}
    carried = {name: _carried_on(account, asked.get(name), now) for name, account in accounts.items()}
    accounts = {name: account for name, (account, _) in carried.items()}
    books = _Books(accounts, policy)
    for name, metric in sorted(lock.metrics.items()):
        account = accounts.get(name, Account())
        if stopped:
            accounts[name] = replace(account, refused=stopped)
        elif account.active:
            accounts[name] = replace(account, sealed=max(account.sealed, first))
        elif policy.probation_seconds and birth < OLDEST:
            accounts[name] = replace(account, refused=_unset(now))
        else:
            since = carried[name][1] if name in carried else now
            accounts[name] = _accepted(account, metric, ledger.under, max(since, first), books)
    return replace(
        ledger,
        secrets={**ledger.secrets, ledger.under: birth},
        accounts={name: account for name, account in accounts.items() if account.charges or account.refused},
        policy=policy,
    )


def with_secret(ledger: Ledger, under: str, now: int) -> Ledger:
    """The ledger once another secret was drawn: nothing is in force, and nothing of the old charges is refunded."""
    accounts = {name: replace(account, active=False) for name, account in ledger.accounts.items()}
    return replace(ledger, under=under, secrets={**ledger.secrets, under: now}, accounts=accounts)


def merged(ledger: Ledger, other: Ledger) -> Ledger:
    """Two memories of one installation: the secret of the first, every charge of both, the later of two seals."""
    if other.under != ledger.under:
        other = with_secret(other, ledger.under, ledger.birth)
    accounts = {
        name: _joined(ledger.accounts.get(name, Account()), other.accounts.get(name, Account()), ledger.under)
        for name in {**ledger.accounts, **other.accounts}
    }
    births = {under: min(ledger.secrets.get(under, birth), birth) for under, birth in other.secrets.items()}
    return replace(ledger, secrets={**ledger.secrets, **births}, accounts=accounts)


def _joined(one: Account, other: Account, under: str) -> Account:
    charges: dict[tuple[str, int, str, int], Charge] = {}  # of the same begin, the one that reaches further
    for found in (*one.charges, *other.charges):
        key = (found.under, found.version, found.hash, found.begins)
        known = charges.get(key, found)
        longer = found if found.ends > known.ends else known
        charges[key] = replace(longer, expires=min(known.expires, found.expires))
    ordered = tuple(sorted(charges.values(), key=lambda one: (one.under == under, one.version, one.begins)))
    in_force = {(last.under, last.version, last.begins) for account in (one, other) if (last := account.current)}
    last = ordered[-1] if ordered else None
    return Account(
        sealed=max(one.sealed, other.sealed),
        sent=max(one.sent, other.sent),
        active=last is not None and (last.under, last.version, last.begins) in in_force,
        charges=ordered,
    )


def _birth(known: int, now: int) -> int:
    """The birth to go by. One that a clock was never set for counts as none, and becomes now."""
    if now < OLDEST:
        return known
    # A clock that was ahead at birth does not hold back the device until it gets there.
    return now if known < OLDEST else min(known, now)


def _unset(now: int) -> str:
    return (
        f"the clock says {iso(now)}, so nobody can tell how long this new secret has waited: "
        "start the program again once it is set"
    )


def stop(secrets: Mapping[str, int], now: int) -> str:
    """Why an installation that had these secrets reports nothing, at any time from the last birth until `now`."""
    recent = sum(birth > now - YEAR for birth in secrets.values())
    if recent <= MAX_SECRETS:
        return ""
    return (
        f"{recent} secrets were drawn within a year, more than {MAX_SECRETS}: the folder was copied or lost too often"
    )


def _carried_on(account: Account, metric: Metric | None, now: int) -> tuple[Account, int]:
    """The account as the lock leaves it, and from when on another definition may be charged."""
    last = account.current
    if last is None:
        return account, now
    if metric is None or metric.hash != last.hash or metric.version < last.version:
        return account.sealed_until(now).ended(now), now
    if metric.version > last.version:  # renewed: the window that runs is reported under the new dates
        return account.ended(account.sealed), account.sealed
    expires = min(last.expires, midnight(metric.expires))
    last = replace(last.cut(max(expires, account.sealed)), expires=expires)
    return replace(account, charges=(*account.charges[:-1], last)), now


def _barred(account: Account, metric: Metric) -> str:
    """Why a name that was charged like this can accept no such definition, at any time; nothing where it can."""
    highest = max((one.version for one in account.charges), default=0)
    if metric.version < highest:
        return f"version {metric.version} is below the {highest} that was accepted here"
    if any(one.version == metric.version and one.hash != metric.hash for one in account.charges):
        return f"version {metric.version} was accepted here with another encoding"
    return ""


def _expiry(account: Account, metric: Metric) -> int:
    """Where the definition ends at the latest: no later than a charge of this version allows."""
    return min([midnight(metric.expires), *(one.expires for one in account.charges if one.version == metric.version)])


def _doubted(account: Account, metric: Metric, under: str, now: int) -> Account:
    """The account once it is charged for what this secret can have reported of the definition, unknown to the memory.

    That is what began after the seal, until the end of the window that runs; nothing where a charge covers all of it.
    A charge not in force that reaches there is lengthened, so starts that doubt again and again add no more charges.
    """
    over = metric.windows.end(metric.windows.index(now - 1))
    expires = _expiry(account, metric)
    begins, ends = max(midnight(metric.starts), account.sealed), min(expires, over)
    new = replace(charge(metric, under, begins, ends), expires=expires)
    known = len(account.charges) - account.active  # the charge in force stays the last one
    reach = {  # charges of this definition and secret that hold its begin or end there, by place
        i: one
        for i, one in enumerate(account.charges)
        if (one.version, one.hash, one.under) == (new.version, new.hash, under) and one.begins <= begins <= one.ends
    }
    if _barred(account, metric) or not new.windows or any(ends <= one.ends for one in reach.values()):
        return account
    place = next((i for i in reach if i < known), None)
    if place is None:
        return replace(account, charges=(*account.charges[:known], new, *account.charges[known:]))
    longer = replace(charge(metric, under, reach[place].begins, ends), expires=expires)
    return replace(account, charges=(*account.charges[:place], longer, *account.charges[place + 1 :]))


def _accepted(account: Account, metric: Metric, under: str, since: int, books: "_Books") -> Account:
    """The account with the metric's definition in force, or refused."""
    if problem := _barred(account, metric):
        return replace(account, refused=problem)
    expires, sealed = _expiry(account, metric), max(since, account.sealed)
    new = charge(metric, under, max(midnight(metric.starts), sealed), expires)
    if not new.windows:
        return replace(account, refused=f"no whole window of it is left before {iso(expires)}")
    accepted = replace(account, sealed=sealed, active=True, charges=(*account.charges, new))
    problem = books.take(metric.name, accepted)
    return replace(account, refused=problem) if problem else accepted


class _Books:
    """The running totals that newcomers are held against."""

    def __init__(self, accounts: Mapping[str, Account], policy: Policy) -> None:
        self._policy = policy
        self._steady = {name: steady(account.charges) for name, account in accounts.items()}
        self._years = {name: account.life_by_year for name, account in accounts.items()}
        self._lives = {name: account.life for name, account in accounts.items()}

    def take(self, name: str, account: Account) -> str:
        """Book the account, or say which limit it would break."""
        policy, own, years = self._policy, steady(account.charges), account.life_by_year
        for what, known, price, limit in (
            ("steady prices", self._steady, own, policy.steady),
            ("life prices", self._lives, account.life, policy.life_for_ever),
        ):
            total = math.fsum((*(one for other, one in known.items() if other != name), price))
            if total > limit:
                return f"it would bring the {what} ever charged to {nats(total)} nats, more than the {limit:g} allowed"
        for year, life in sorted(years.items()):
            total = math.fsum((*(lives.get(year, 0.0) for other, lives in self._years.items() if other != name), life))
            if account.charges[-1].life_by_year.get(year) and total > policy.life:
                what = f"life prices of {year}"
                return f"it would bring the {what} to {nats(total)} nats, more than the {policy.life:g} allowed"
        self._steady[name], self._years[name], self._lives[name] = own, years, account.life
        return ""


def _total(years: Iterable[Mapping[int, float]]) -> Mapping[int, float]:
    prices: defaultdict[int, list[float]] = defaultdict(list)
    for one in years:
        for year, life in one.items():
            prices[year].append(life)
    return {year: math.fsum(lives) for year, lives in sorted(prices.items())}
