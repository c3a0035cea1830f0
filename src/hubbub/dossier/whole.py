"""The dossier of a lock: all that somebody who signs for it needs to know, made from the lock alone."""

import hashlib
from collections.abc import Iterator, Sequence

from hubbub import __version__
from hubbub.definitions import Change, compare
from hubbub.dossier.giving import compared, given_away
from hubbub.dossier.metrics import examples, reports, rows, section
from hubbub.dossier.sharing import shared
from hubbub.dossier.standing import belonging, getting, rights, stored, unprotected, unsaid
from hubbub.dossier.text import bullets, code, document, plain, table
from hubbub.lock import Lock, Metric, dump


def dossier(lock: Lock, previous: Lock | None = None) -> str:
    """Markdown; the same lock gives the same text.

    Args:
        lock: What is to be approved.
        previous: What was approved last.
    """
    metrics = [lock.metrics[name] for name in sorted(lock.metrics)]
    found = shared(metrics, [rows(metric) for metric in metrics])
    return document(
        [
            f"# Dossier of {plain(lock.collection)}",
            *_front(lock, previous),
            "## What is asked",
            *_asked(metrics),
            "## What one installation gives away",
            *given_away(lock, found),
            "## Beside published collections",
            *compared(lock),
            "## What leaves a device",
            *reports(found),
            "## The metrics one by one",
            examples(),
            *(section(metric, lock.collection, found) for metric in metrics),
            "## How far reports can be told to be of one device",
            *belonging(lock),
            "## What is stored where, and for how long",
            *stored(lock),
            "## What people may ask for, and what there is",
            rights(),
            "## Who gets what, if somebody gets at a place",
            getting(lock),
            "## What is not hidden and not protected",
            unprotected(lock, found),
            "## What the lock cannot say",
            unsaid(lock),
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
    count = len(lock.metrics)
    yield (
        f"Facts about the collection {code(lock.collection)}, {count} metric{'' if count == 1 else 's'}, for those who "
        "answer for it. Each figure follows from the definitions that the app ships and that each device checks. No "
        "legal conclusions are drawn."
    )
    rows = [("this lock", code(digest(lock)))]
    if previous is not None:
        rows.append(("approved last", code(digest(previous))))
    yield table(("metrics.lock", "SHA-256 of the file"), rows)
    yield f"Made by hubbub {__version__} from the lock alone; whoever has the lock can make it again."


def _asked(metrics: Sequence[Metric]) -> Iterator[str]:
    owners = {metric.owners for metric in metrics}
    head = ("metric", "purpose", "from, a day in UTC", "until, not that day itself")
    cells = [(plain(m.name), plain(m.purpose), m.starts, m.expires) for m in metrics]
    if len(owners) == 1:
        yield f"Owners: {plain(', '.join(owners.pop()))}."
        yield table(head, cells)
    else:
        named = (plain(", ".join(metric.owners)) for metric in metrics)
        yield table((*head, "owners"), ((*cell, names) for cell, names in zip(cells, named, strict=True)))


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
    yield from (f"**asks for more**: {plain(reason.replace(' -> ', ' → '))}" for reason in one.more)
    if one.breaks:
        yield "old and new estimates are not of the same thing"
    for key, before, after in one.keys:
        if not key.startswith("price of "):
            yield f"{plain(key)}: {plain(before) or 'none'} → {plain(after) or 'none'}"
