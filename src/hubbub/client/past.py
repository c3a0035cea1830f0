"""What is over, of what an installation was charged for: bounds on what it can have told so far, never below that.

No window that begins after a seal was encoded, so each charge is cut there. What was measured at the same time is told
by the charges themselves, in force or not: a renewed secret or another encoding takes nothing back.
"""

import math
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from hubbub.client.charges import DAY, NOTHING, Charge, change, in_order, per_day, steady
from hubbub.client.ledger import Account, Ledger
from hubbub.encoders.base import Prices
from hubbub.windows import windows

_PriceOf = Callable[[Mapping[str, Charge]], Mapping[str, float]]


def over(account: Account) -> Account:
    """The account as if only those of its windows had been charged that are over."""
    return replace(account, charges=tuple(one.cut(account.sealed) for one in account.charges))


def told(account: Account) -> Prices:
    """What all that was charged can tell, in nats: prices of which none is above the one for any two histories.

    Bounds for many reports may be above what few can tell. Where a secret reports an encoding once, the price of that
    one report bounds everything; never where two reports share a permanent answer, which can tell more than twice that.
    """
    groups: dict[tuple[str, str], list[Charge]] = defaultdict(list)
    for one in account.charges:
        groups[one.under, one.hash].append(one)
    prices = [_together(charges) for charges in groups.values()] or [NOTHING]
    return Prices(
        max(one.report for one in prices),
        math.fsum(one.steady for one in prices),
        max(one.change for one in prices),
        math.fsum(one.life for one in prices),
    )


def one_day(ledger: Ledger) -> float:
    """Most that the reports about one day told so far, in nats, summed over metrics."""
    return _most(ledger, per_day, DAY)


def one_change(ledger: Ledger) -> float:
    """Most that one changed window told so far, in nats, summed over the metrics measured at the same time."""
    return _most(ledger, change, 1)


def span(charge: Charge) -> tuple[int, int]:
    """When the first of a charge's windows begins and the last one ends, in unix seconds; it must have one."""
    cut = windows(charge.window)
    return cut.start(charge.windows[0]), cut.end(charge.windows[-1])


def _most(ledger: Ledger, prices: _PriceOf, length: int) -> float:
    """The dearest stretch of so many seconds: one of those in which a charge begins."""
    told = [(name, one, span(one)) for name, one in _told(ledger)]
    dearest = 0.0
    for begins in {begins - begins % length for _, _, (begins, _) in told}:
        found: dict[str, dict[tuple[str, str], Charge]] = defaultdict(dict)
        for name, one, (first, last) in told:
            if first < begins + length and last > begins:
                found[name][one.under, one.hash] = one  # a renewal of the same encoding goes on with the same answers
        dearest = max(dearest, _sum(found, prices))
    return dearest


def _sum(found: Mapping[str, Mapping[tuple[str, str], Charge]], prices: _PriceOf) -> float:
    """What charges of one stretch come to; of a name that has several, each but the first stands for itself."""
    together, alone = {}, []
    for name, charges in found.items():
        together[name], *rest = charges.values()
        alone += [{name: replace(one, group="")} for one in rest]
    return math.fsum(price for some in (together, *alone) for price in prices(some).values())


def _together(charges: Sequence[Charge]) -> Prices:
    """Prices of charges of one secret and encoding together, in order."""
    prices = [one.prices for one in charges]
    added = Prices(
        max(one.report for one in prices),
        steady(charges),
        max(one.change for one in prices),
        math.fsum(one.life for one in prices),
    )
    return in_order(added, sum(one.reports for one in charges))


def _told(ledger: Ledger) -> Iterator[tuple[str, Charge]]:
    """By metric, the charges of which windows are over; those of an earlier secret end where the last one was drawn.

    Not where the next one was: of two secrets that were found in the two copies the older one goes on, until there is
    another. Where the one in use is not the last that was drawn, nobody can tell when any other one ended.
    """
    last = ledger.birth == max(ledger.secrets.values())
    for name, account in ledger.accounts.items():
        for one in over(account).charges:
            cut = one.cut(ledger.birth) if last and one.under != ledger.under else one
            if cut.windows:
                yield name, cut
