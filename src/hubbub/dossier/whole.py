"""The dossier of a lock: all that somebody who signs for it needs to know, made from the lock alone."""

import hashlib
import math
from collections.abc import Iterator, Mapping, Sequence

from hubbub import __version__
from hubbub.client.charges import DAY, Charge, change, grouped, per_day, whole
from hubbub.client.policy import PRESETS, UNLIMITED, PolicyError, enforce, resolve
from hubbub.definitions import Change, compare
from hubbub.dossier.deployments import DEPLOYMENTS
from hubbub.dossier.metrics import common, section, shared_section
from hubbub.dossier.standing import belonging, getting, rights, stored, unprotected, unsaid
from hubbub.dossier.text import bullets, code, document, plain, table
from hubbub.lock import Lock, dump
from hubbub.privacy import in_words, nats
from hubbub.windows import windows


def dossier(lock: Lock, previous: Lock | None = None) -> str:
    """Markdown; the same lock gives the same text.

    Args:
        lock: What is to be approved.
        previous: What was approved last.
    """
    metrics = [lock.metrics[name] for name in sorted(lock.metrics)]
    return document(
        [
            f"# Dossier of {plain(lock.collection)}",
            *_front(lock, previous),
            "## What is asked",
            table(
                ("metric", "purpose", "owners", "from", "until"),
                ((plain(m.name), plain(m.purpose), plain(", ".join(m.owners)), m.starts, m.expires) for m in metrics),
            ),
            "## What one installation gives away in all",
            *_sums(lock),
            "## Beside published collections",
            *_compared(lock),
            "## What holds for all of them",
            *shared_section(metrics),
            "## The metrics one by one",
            *(section(metric, lock.collection, common(metrics)) for metric in metrics),
            "## How far reports can be told to be of one device",
            *belonging(lock),
            "## What is stored where, and for how long",
            *stored(lock),
            "## What people may ask for, and what there is",
            rights(),
            "## Who gets what, if somebody gets at a place",
            getting(),
            "## What is not protected",
            unprotected(),
            "## What the lock cannot say",
            unsaid(),
            "## What devices hold to",
            *_enforced(lock),
            "## Since the last approved one",
            *_since(lock, previous),
            "## Approval",
            table(("", "name", "date", "signature"), [(role, " ", " ", " ") for role in ("asked by", "approved by")]),
        ]
    )


def digest(lock: Lock) -> str:
    """SHA-256 of the lock's file, as `registry build` writes it."""
    return hashlib.sha256(dump(lock).encode()).hexdigest()


def _front(lock: Lock, previous: Lock | None) -> Iterator[str]:
    yield (
        f"Facts about the collection {code(lock.collection)}, {len(lock.metrics)} metrics, for those who answer for "
        "it: what is asked, what leaves a device, what that gives away at most, and what is not protected. Each figure "
        "follows from the definitions that the app ships and that each device checks. It draws no legal conclusions."
    )
    rows = [("this lock", code(digest(lock)))]
    if previous is not None:
        rows.append(("approved last", code(digest(previous))))
    yield table(("metrics.lock", "SHA-256 of the file"), rows)
    yield f"Made by hubbub {__version__} from the lock alone; whoever has the lock can make it again."


def _sums(lock: Lock) -> Iterator[str]:
    charges = {name: whole(metric) for name, metric in lock.metrics.items()}
    years: dict[int, float] = {}
    for one in charges.values():
        for year, life in one.life_by_year.items():
            years[year] = years.get(year, 0.0) + life
    steady = math.fsum(one.prices.steady for one in charges.values())
    sums = [
        ("all reports about one day", math.fsum(per_day(charges).values())),
        ("a device on which nothing ever changes, while these last", steady),
        ("one window in which everything changes", math.fsum(change(charges).values())),
        *((f"any two histories of the year {year}", price) for year, price in sorted(years.items())),
    ]
    yield (
        "Prices of different metrics add up. Epsilon bounds the evidence: by what was sent, odds between two "
        "possibilities change at most by the factor e to the power of epsilon. The last column says how sure somebody "
        "can become who held both for equally likely."
    )
    yield table(("price of", "epsilon", ""), ((what, nats(price), in_words(price)) for what, price in sums))
    yield "Devices refuse a lock that asks for more than the policy their app has chosen:"
    refused = {name: _problems(lock, name) for name in PRESETS}
    rows = [(code(name), "refused" if problems else "accepted" + _own(name)) for name, problems in refused.items()]
    yield table(("policy", "this lock"), rows)
    for name, problems in refused.items():
        if problems:
            yield f"What {code(name)} does not allow:"
            yield bullets(map(plain, problems))


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


def _compared(lock: Lock) -> Iterator[str]:
    charges = {name: whole(metric) for name, metric in lock.metrics.items()}
    day = math.fsum(per_day(charges).values())
    steady = math.fsum(one.prices.steady for one in charges.values())
    yield (
        "Figures of different units are not of the same thing. What others call a day of a person compares two lives "
        "that differ in one day; a price of one day is paid again for the next one, a price for ever is not."
    )
    rows = [
        ("**this lock**", f"**{nats(_changed_day(charges))}**", "one day of one installation", "one changed day"),
        ("**this lock**", f"**{nats(day)}**", "all reports about one day, by themselves", "above"),
        ("**this lock**", f"**{nats(steady)}**", "values that never change, while these last", "above"),
        *((plain(one.what), one.epsilon, one.unit, plain(one.source)) for one in DEPLOYMENTS),
    ]
    yield table(("collection", "epsilon", "price of", "source"), rows)


def _changed_day(charges: Mapping[str, Charge]) -> float:
    """Two histories that differ in one day, in everything: each report about it at the price of a changed window."""
    found = []
    for members in grouped(charges).values():
        prices = sorted((one.prices.change for one in members), reverse=True)
        rounds, rest = divmod(max(1, DAY // windows(members[0].window).length), members[0].report_every)
        found.append(rounds * math.fsum(prices) + math.fsum(prices[:rest]))
    return math.fsum(found)


def _enforced(lock: Lock) -> Iterator[str]:
    yield (
        "The lock is part of the app. A device answers only what stands in it, recomputes these hashes and all prices "
        "from its integers, and refuses a lock in which they do not fit; no server can add to it."
    )
    rows = [
        (plain(name), str(metric.version), code(metric.hash), metric.expires)
        for name, metric in sorted(lock.metrics.items())
    ]
    yield table(("metric", "version", "encoding hash", "ends"), rows)


def _since(lock: Lock, previous: Lock | None) -> Iterator[str]:
    if previous is None:
        yield "No earlier lock was given (`--previous`)."
        return
    if lock.collection != previous.collection:
        yield f"The one approved last is of another collection, {code(previous.collection)}: every device begins anew."
    changes = [one for one in compare(previous, lock) if one.status != "unchanged"]
    if not changes:
        yield "Nothing has changed."
        return
    more = sum(bool(one.more) for one in changes)
    yield (
        f"{len(changes)} of {len(lock.metrics.keys() | previous.metrics.keys())} metrics differ; "
        + (f"more is asked of devices by {more}." if more else "none asks devices for more.")
    )
    for one in changes:
        versions = " to ".join(str(version) for version in dict.fromkeys(one.versions) if version is not None)
        yield f"**{plain(one.name)}**: {one.status}, version {versions}"
        if lines := list(_lines(one)):
            yield bullets(lines)


def _lines(one: Change) -> Iterator[str]:
    yield from (f"**asks for more**: {plain(reason)}" for reason in one.more)
    if one.breaks:
        yield "old and new estimates are not of the same thing"
    for key, before, after in one.keys:
        if not key.startswith("price of "):
            yield f"{plain(key)}: {plain(before) or 'none'} → {plain(after) or 'none'}"
