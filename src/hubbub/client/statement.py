"""The ledger as the owner of the device reads it: what left it, what that gives away, what may follow.

Whatever can be told without the network is told here; the secret and what a window holds are not.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from hubbub.client.charges import change, per_day
from hubbub.client.ledger import NEVER, Account, Ledger
from hubbub.client.looking import Seen, waiting_plain
from hubbub.client.odds import percent
from hubbub.client.past import one_change, one_day, over, span, told
from hubbub.client.policy import RESEARCH, UNLIMITED, PolicyError, enforce, nats
from hubbub.client.wording import plural
from hubbub.lock import Lock, Metric, shown
from hubbub.windows import iso

_PRICES = {
    "report": "one report",
    "steady": "a value that never changes, for ever",
    "change": "one changed window",
    "life": "any two histories, for ever",
}
_CHOICES = {
    "granted": "The person agreed.",
    "denied": "The person refused: nothing is recorded or sent.",
    "": "The person has not chosen yet; until then the program decides whether anything is sent.",
}
_FORBIDDEN = {
    "DO_NOT_TRACK": "DO_NOT_TRACK is set where this was run: a program started there records and sends nothing.",
    "CI": "CI is set where this was run: a program started there records and sends nothing, unless it was told to.",
    "": "Neither DO_NOT_TRACK nor CI is set where this was run; a program started with one records and sends nothing.",
}
_READING = """\
How to read it
  A price bounds what all of that can tell anybody who links it, whatever else they know: of two possibilities that they
  held to be equally likely (even odds), one becomes at most so likely. 50 % is nothing at all, 100 % is certainty.
  "So far" counts every window that is over, also one whose report was never drawn (nobody had agreed) or never left: no
  more than that was told, maybe nothing. "Charged" counts all that may be reported, too.
  Sums charged are those that the policy is held against. They reckon with renewals, which go on with the same permanent
  answers; so for few reports they can be above the prices of the metrics, and above the sum for any two histories.
  Not hidden: that the program ran, and when it sent; what is sent openly; what is true of everybody.
  All windows that may be reported are charged when a definition is accepted; those that a metric never reaches because
  it ends early are given back. Nothing else is forgotten unless an older copy of this folder is put back: then what was
  accepted after that copy, and was gone again when it came back, is not known here.
How to stop it
  Refuse in the program, or set DO_NOT_TRACK=1 where it is started: what waits is wiped and nothing more is sent.
  Whoever deletes the folder has a new installation, charged anew and looked at anew, on top of what this one told.
  The collector cannot find what came from this device, nor delete it: reports carry no name of it."""


class _Left(NamedTuple):
    """What may still come of the definition in force."""

    reports: int  # at most
    noun: str  # for what each of them stands
    begins: int  # when the first of those windows begins, unix seconds
    ends: int  # when the last one ends


def ledger_plain(ledger: Ledger, lock: Lock | None = None, seen: Seen | None = None) -> dict[str, Any]:
    """A ledger in plain types.

    Args:
        lock: To name metrics of it that were never taken up, too.
        seen: What lies in the folder besides.
    """
    plain = {
        "collection": ledger.collection,
        "birth": iso(ledger.birth),
        "generation": ledger.generation,
        "births": [iso(birth) for birth in sorted(ledger.secrets.values())],
        "policy": None if ledger.policy is None else ledger.policy.name,
        "lock_refused": _unlocked(ledger, lock),
        "metrics": {
            name: _account_plain(account, _waits(name, seen)) for name, account in _accounts(ledger, lock).items()
        },
        "totals": [
            {
                "what": what,
                "so_far": shown(so_far),
                "charged": shown(charged),
                "allowed": shown(most),
                "odds": percent(charged),
            }
            for what, so_far, charged, most in _totals(ledger)
        ],
    }
    if seen is None:
        return plain
    return plain | {
        "consent": seen.memory.consent or None,
        "forbidden_by": seen.forbidden or None,
        "waiting": [waiting_plain(one) for one in seen.waiting],
        "running": [{"metric": one.metric, "start": iso(one.start), "stop": iso(one.stop)} for one in seen.running],
    }


def ledger_text(ledger: Ledger, lock: Lock | None = None, seen: Seen | None = None, *, bodies: bool = False) -> str:
    """A ledger for people.

    Args:
        lock: To say what its metrics are for, and to name those that were never taken up.
        seen: What lies in the folder besides.
        bodies: Whether to print the bytes of each report that waits.
    """
    return "\n".join(
        [
            *_who(ledger, lock, seen),
            *(
                line
                for name, account in sorted(_accounts(ledger, lock).items())
                for line in _about(name, account, lock, seen)
            ),
            *_now(seen, bodies=bodies),
            "All metrics together",
            *_price_table(
                ("allowed",),
                [(what, so_far, charged, _allowed(most)) for what, so_far, charged, most in _totals(ledger)],
            ),
            "",
            _READING,
        ]
    )


def _who(ledger: Ledger, lock: Lock | None, seen: Seen | None) -> Iterator[str]:
    policy = "no policy yet" if ledger.policy is None else f"policy {ledger.policy.name}"
    yield f"Collection {ledger.collection}; installed {iso(min(ledger.secrets.values()))}; {policy}."
    earlier = sorted(birth for under, birth in ledger.secrets.items() if under != ledger.under)
    if earlier:
        yield (
            f"Its secret is number {ledger.generation}, drawn {iso(ledger.birth)}; earlier ones were drawn"
            f" {', '.join(map(iso, earlier))}. What was charged under them stays charged."
        )
    if seen is not None:
        yield _CHOICES.get(seen.memory.consent, _CHOICES[""])
        yield _FORBIDDEN.get(seen.forbidden, _FORBIDDEN[""])
    if lock is None:
        yield "What is measured, and what for, stands in the program's metrics.lock: --lock FILE shows it here."
    for problem in _unlocked(ledger, lock):
        yield f"By the policy of the last start the program refuses this lock as a whole: {problem}."
    yield ""


def _about(name: str, account: Account, lock: Lock | None, seen: Seen | None) -> Iterator[str]:
    """One metric."""
    yield name
    if lock is not None and name in lock.metrics:
        yield from _definition(lock.metrics[name])
    if account.refused:
        yield f"  not answered  {account.refused}"
    if account.charges:
        yield from _reports(account, _waits(name, seen), denied=seen is not None and seen.memory.consent == "denied")
        yield f"  versions      {', '.join(map(str, account.versions))}" + _in_force(account)
        yield from _price_table((), list(zip(_PRICES.values(), told(over(account)), told(account), strict=True)))
    yield ""


def _definition(metric: Metric) -> Iterator[str]:
    yield f"  measures      {metric.description}"
    yield f"  for           {metric.purpose}"
    if metric.dimensions:
        yield f"  sent openly   {', '.join(dimension for dimension, _ in metric.dimensions)}"
    if metric.group:
        yield f"  reported      in one {metric.window} of {metric.report_every}: takes turns in rotation {metric.group}"
    elif metric.report_every > 1:
        yield f"  reported      in one {metric.window} of {metric.report_every}: its turn in a panel"
    if metric.presence == "hidden":
        yield f"  reported too  every {metric.window} in which the program did not run, as if with nothing recorded"


def _reports(account: Account, waiting: int, *, denied: bool) -> Iterator[str]:
    """What was sent of a metric and what may follow."""
    begins, stops = _past(account)
    about = f"; about windows from {iso(begins)} to {iso(stops)}" if begins is not None and account.sent else ""
    yield f"  sent          {plural(account.sent, 'report')} that the collector took or refused for good{about}"
    if account.sealed != NEVER:
        yield f"  sealed        no new report for what began before {iso(account.sealed)}"
    if begins is not None and not account.sent + waiting:
        yield '  so far        no report is known to have left; the prices "so far" are bounds on what could have'
    if (left := _left(account, waiting)) is None:
        yield "  may follow    nothing"
        return
    each = "" if left.reports == 1 else "each "
    what = (
        f"{plural(left.reports, 'report')} at most, {each}for one {left.noun}"
        f" from {iso(left.begins)} to {iso(left.ends)}"
    )
    yield "  may follow    " + (f"none while refused; once the person agrees, {what}" if denied else what)


def _in_force(account: Account) -> str:
    return f"; {account.current.version} in force" if account.current else "; none in force"


def _now(seen: Seen | None, *, bodies: bool) -> Iterator[str]:
    """What waits and what runs."""
    if seen is None:
        return
    yield "Waiting to be sent"
    for one in seen.waiting:
        window = "" if one.start is None else f" for the window from {iso(one.start)}"
        put_off = f"; put off {plural(one.attempts, 'time')}" if one.attempts else ""
        yield f"  {one.metric}{window}, not before {iso(one.due)} unless the program asks{put_off}"
        if bodies:
            yield f"    {one.body}"
    if not seen.waiting:
        yield "  nothing"
    yield "Being recorded on this device; one report of each is drawn when its window ends"
    for running in seen.running:
        yield f"  {running.metric}, until {iso(running.stop)}"
    if not seen.running:
        yield "  nothing"
    yield ""


def _past(account: Account) -> tuple[int | None, int]:
    """When the first window that is over begins, None where there is none, and when the last one ends."""
    spans = [span(one) for one in over(account).charges if one.windows]
    return min((begins for begins, _ in spans), default=None), max((stops for _, stops in spans), default=NEVER)


def _left(account: Account, waiting: int) -> _Left | None:
    """What may follow besides the reports that wait."""
    last = account.current
    if last is None:
        return None
    left = replace(last, begins=max(last.begins, account.sealed))  # a window that a denial sealed midway is over, too
    known = account.sent + waiting  # of all charges, each of which allows so many reports and no more
    most = min(left.reports, max(0, sum(one.reports for one in account.charges) - known))
    return _Left(most, left.window, *span(left)) if most else None


def _waits(name: str, seen: Seen | None) -> int:
    """How many reports of a metric wait."""
    return 0 if seen is None else sum(one.metric == name for one in seen.waiting)


def _unlocked(ledger: Ledger, lock: Lock | None) -> Sequence[str]:
    """Why the program refuses the lock as a whole, by the policy that it had at its last start."""
    try:
        if lock is not None and ledger.policy is not None:
            enforce(lock, ledger.policy)
    except PolicyError as error:
        return error.problems
    return ()


def _accounts(ledger: Ledger, lock: Lock | None) -> Mapping[str, Account]:
    waiting = Account(refused="the program has not begun with this lock yet")
    return {**dict.fromkeys(lock.metrics if lock else (), waiting), **ledger.accounts}


def _account_plain(account: Account, waiting: int) -> dict[str, Any]:
    current, left, (begins, _) = account.current, _left(account, waiting), _past(account)
    so_far, charged = told(over(account))._asdict(), told(account)._asdict()
    return {
        "versions": list(account.versions),
        "in_force": None if current is None else current.version,
        "hash": None if current is None else current.hash,
        "sent": account.sent,
        "first_window_begins": None if begins is None else iso(begins),
        "sealed_until": None if account.sealed == NEVER else iso(account.sealed),
        "reports_left": left.reports if left else 0,
        "last_window_ends": iso(left.ends) if left else None,
        "so_far": {key: shown(price) for key, price in so_far.items()},
        "prices": {key: shown(price) for key, price in charged.items()},
        "odds": {key: percent(price) for key, price in charged.items()},
        "life_by_year": {str(year): shown(life) for year, life in account.life_by_year.items()},
        "refused": account.refused or None,
    }


def _totals(ledger: Ledger) -> list[tuple[str, float, float, float]]:
    """What is summed over metrics, the sum for windows that are over, that for all charged, and the policy's limit.

    All that windows that are over can tell bounds each sum over them; sums of all charged are those that the limit is
    held against.
    """
    past = replace(ledger, accounts={name: over(account) for name, account in ledger.accounts.items()})
    so_far = [told(account) for account in past.accounts.values()]
    most = math.fsum(one.life for one in so_far)
    in_force = {name: account.current for name, account in ledger.accounts.items() if account.current}
    policy = ledger.policy or RESEARCH  # without limits
    day, changed, by_year = min(one_day(ledger), most), min(one_change(ledger), most), past.life_by_year
    return [
        ("reports about one day", day, max(day, math.fsum(per_day(in_force).values())), policy.per_day),
        ("values that never change", math.fsum(one.steady for one in so_far), ledger.steady, policy.steady),
        ("one changed window", changed, max(changed, math.fsum(change(in_force).values())), policy.change),
        *(
            (f"any two histories of {year}", min(by_year.get(year, 0.0), most), price, policy.life)
            for year, price in ledger.life_by_year.items()
        ),
        ("any two histories, for ever", most, ledger.life, policy.life_for_ever),
    ]


def _allowed(limit: float) -> str:
    return UNLIMITED if math.isinf(limit) else f"{limit:g}"


def _price_table(more: tuple[str, ...], rows: Sequence[tuple[Any, ...]]) -> list[str]:
    """Prices so far and of all that was charged, each also as what even odds become; columns that line up, indented."""
    head = ("price of", "so far", "even odds become", "charged", "even odds become", *more)
    told = [(what, nats(a), percent(a), nats(b), percent(b), *rest) for what, a, b, *rest in rows]
    widths = [max(map(len, column)) for column in zip(head, *told, strict=True)]
    lines = ("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in (head, *told))
    return [f"  {line}".rstrip() for line in lines]
