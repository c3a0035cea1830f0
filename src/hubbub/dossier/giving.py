"""What the dossier says about prices: metric by metric, all together, beside policies and beside other collections."""

import math
from collections.abc import Iterator, Mapping, Sequence

from hubbub.client.charges import DAY, Charge, change, grouped, per_day, whole
from hubbub.client.policy import PRESETS, UNLIMITED, PolicyError, enforce, resolve
from hubbub.dossier.deployments import DEPLOYMENTS
from hubbub.dossier.sharing import Shared
from hubbub.dossier.text import bullets, code, plain, table
from hubbub.lock import Lock
from hubbub.privacy import describe, in_words, nats
from hubbub.privacy.prices import of_life
from hubbub.windows import windows

_ELSEWHERE = ("What is sent", "What is not hidden", "What is not protected")  # headings of other parts


def given_away(lock: Lock, found: Shared) -> Iterator[str]:
    """The four prices of each metric, what they mean, sums over metrics, and which policies refuse them."""
    four = {name: describe(metric) for name, metric in sorted(lock.metrics.items())}
    labels = [line.label for line in next(iter(four.values()), [])]
    yield "Each price as epsilon, and what even odds can become by it:"
    yield table(
        ("metric", *labels),
        ((plain(name), *(f"{line.nats}, {line.odds}" for line in lines)) for name, lines in four.items()),
    )
    for heading in found.sentences:
        if heading not in _ELSEWHERE and (said := list(found.lines(heading))):
            yield f"**{heading}**"
            yield bullets(said)
    yield "**All metrics together**"
    yield table(("price of", "epsilon", ""), ((what, nats(price), in_words(price)) for what, price in _sums(lock)))
    if any(of_life(metric) != metric.prices for metric in lock.metrics.values()):
        yield (
            "These sums are what policies are held against. They reckon with renewals, which go on with the same "
            "permanent answers, and so may be more than the lives above come to."
        )
    yield from _policies(lock)


def compared(lock: Lock) -> Iterator[str]:
    """Figures that others have published, below those of this lock."""
    charges = {name: whole(metric) for name, metric in lock.metrics.items()}
    day = math.fsum(per_day(charges).values())
    steady = math.fsum(one.prices.steady for one in charges.values())
    sources = {source: str(i) for i, source in enumerate(dict.fromkeys(one.source for one in DEPLOYMENTS), 1)}
    yield (
        "Figures of different units are not of the same thing. What others call a day of a person compares two lives "
        "that differ in one day; a price of one day is paid again for the next one, a price for ever is not."
    )
    rows = [
        ("**this lock**", f"**{nats(_changed_day(charges))}**", "one day of one installation", ""),
        ("**this lock**", f"**{nats(day)}**", "all reports about one day, by themselves", ""),
        ("**this lock**", f"**{nats(steady)}**", "values that never change, while these last", ""),
        *((plain(one.what), one.epsilon, one.unit, sources[one.source]) for one in DEPLOYMENTS),
    ]
    yield table(("collection", "epsilon", "price of", "source"), rows)
    yield "\n".join(f"{i}. {plain(source)}" for source, i in sources.items())


def _sums(lock: Lock) -> Iterator[tuple[str, float]]:
    charges = {name: whole(metric) for name, metric in lock.metrics.items()}
    years: dict[int, float] = {}
    for one in charges.values():
        for year, life in one.life_by_year.items():
            years[year] = years.get(year, 0.0) + life
    yield "all reports about one day", math.fsum(per_day(charges).values())
    steady = math.fsum(one.prices.steady for one in charges.values())
    yield "a device on which nothing ever changes, while these last", steady
    yield "one window in which everything changes", math.fsum(change(charges).values())
    yield from ((f"any two histories of the year {year}", price) for year, price in sorted(years.items()))


def _policies(lock: Lock) -> Iterator[str]:
    yield "Devices refuse a lock that asks for more than the policy their app has chosen:"
    refused = {name: _problems(lock, name) for name in PRESETS}
    rows = [(code(name), "refused" if problems else "accepted" + _own(name)) for name, problems in refused.items()]
    yield table(("policy", "this lock"), rows)
    for name, problems in refused.items():
        if problems:
            yield f"What {code(name)} does not allow:"
            yield bullets(plain(problem.partition("; ")[0]) for problem in problems)  # then comes what to change


def _own(name: str) -> str:
    return "; the limit on the prices of a year is the app's own to write" if _limitless(name) else ""


def _limitless(name: str) -> bool:
    """Whether the policy leaves the limit of a year to the app."""
    return PRESETS[name].life_per_year is None


def _problems(lock: Lock, name: str) -> Sequence[str]:
    try:
        enforce(lock, resolve(name, UNLIMITED if _limitless(name) else None))
    except PolicyError as error:
        return error.problems
    return ()


def _changed_day(charges: Mapping[str, Charge]) -> float:
    """Two histories that differ in one day, in everything: each report about it at the price of a changed window."""
    found = []
    for members in grouped(charges).values():
        prices = sorted((one.prices.change for one in members), reverse=True)
        rounds, rest = divmod(max(1, DAY // windows(members[0].window).length), members[0].report_every)
        found.append(rounds * math.fsum(prices) + math.fsum(prices[:rest]))
    return math.fsum(found)
