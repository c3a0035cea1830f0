"""What holds for every lock: what is stored where and for how long, how rights are met, what is not protected."""

from collections.abc import Iterator

from hubbub.dossier.sharing import Shared, linkage, shufflers
from hubbub.dossier.text import bullets, plain, table
from hubbub.lock import Lock
from hubbub.privacy.words import bits

_DEVICE = (
    (
        "secret of 32 bytes with birth and generation (kept twice, never sent); the person's choice about consent; "
        "ledger of what was accepted, charged and sent (totals, no values); a mark of machine and folder, of "
        "`/etc/machine-id` under the secret (never sent; by it a copied folder is noticed)",
        "until the state folder is deleted",
    ),
    (
        "what the app recorded in the running window (wiped when its report is made)",
        "until the program first runs after the window's end, or consent is denied",
    ),
    (
        "reports that wait, as the bytes that will be sent (wiped on denial)",
        "until a final answer, or for 100 days (a step of the clock of more than that is not counted)",
    ),
    (
        "damaged files that were put aside, `state.db.corrupt-1` to `-3` (may hold what was recorded)",
        "until consent is denied or the state folder is deleted",
    ),
)
_COLLECTOR = (
    (
        "each accepted report: id, segment, payload, by metric and window; sums of reports by metric, window and "
        "segment",
        "until whoever runs the collector deletes them",
    ),
    ("estimates with their intervals", "replaced as sums change"),
    ("counts of what was refused, by reason", "for as long as the store"),
)
_RIGHTS = (
    (
        "to be informed",
        "`hubbub notice` writes the text, `hubbub explain` the figures; showing them to people is the app's part",
    ),
    (
        "access, on the device",
        "`hubbub ledger show` and `hubbub ledger preview` (or `python -m hubbub.client`) show what was charged and "
        "sent, what may follow, the bytes of what waits, and what would be sent for a value",
    ),
    (
        "access, at the collector",
        "reports carry no name, account or identifier to look for; how far some can be told to be of one device "
        "stands above. A list of a device's ids would tie its reports together, so there is no command that makes one",
    ),
    (
        "withdrawal of consent, objection",
        '`client.consent("denied")`, or `DO_NOT_TRACK` in the environment: values and waiting reports are wiped, '
        "and nothing is recorded or sent any more",
    ),
    (
        "erasure, on the device",
        "deleting the state folder; a later installation is a new one, with prices of its own",
    ),
    (
        "erasure, at the collector",
        "no command finds the reports of one device among the others; those of whole windows can be deleted by "
        "whoever runs the collector",
    ),
    (
        "rectification",
        "a report is drawn at random and says nothing certain about its device; wrong answers are part of the method",
    ),
    ("no automated decision", "the software makes none; it works out figures about crowds"),
    ("portability", "`hubbub ledger show --json`, on the device"),
)
_OPEN = (
    "The guarantee is one of computation: it rests on HMAC-SHA-256 and on the operating system's random numbers.",
    "A program that sends values by other ways beside it.",
    "Anybody who can reach the collector can send made-up reports; each estimate says how far they move it.",
)
_MIXED = "Metrics whose windows without the program are filled in do not hide them where others report beside them."
_GETTING = (
    (
        "the collector's store, or a copy of it",
        "disguised reports by metric, window and segment; sums; estimates. No address, user agent or time of arrival",
        "the prices above, also if all reports of a device were tied together",
    ),
    (
        "the network on the way",
        "addresses, times and sizes; the disguised reports too unless the address begins with https",
        "for the reports the prices above; for addresses and times nothing",
    ),
    (
        "the collector's machine while it runs",
        "what the store and the network show",
        "as there",
    ),
    (
        "the device's files",
        "what was recorded and not yet sealed, the secret, waiting reports, the ledger",
        "nothing: permanent answers can be computed from the secret",
    ),
    ("metrics.lock", "what is asked", "it is meant to be read"),
)
_MIXING = (
    "reports as they pass through it, and addresses and times of devices that send to it; whether it can read the "
    "payloads hubbub does not know",
    "for the reports the prices above, none of which counts on it; for addresses and times nothing",
)
_UNSAID_OF_MIXING = "under which agreement reports are mixed on the way, in which country, and what is kept there"
_UNSAID = (
    "who is responsible, and how to reach them",
    "on what legal ground",
    "whether people are asked first, in which words, and how that can be shown later",
    "which policy and which limits of a year the app sets, and whether its address begins with https",
    "where the collector stands and in which country, who runs it or works on it, who else gets its figures",
    "how many people are asked",
    "how long reports and sums are kept, and who deletes them",
    "who can read the collector's files and its figures",
    "whether children use the program, or values tell of health, belief or the like",
)


def stored(lock: Lock) -> Iterator[str]:
    """What lies where, and for how long."""
    graces = sorted({metric.grace // 3600 for metric in lock.metrics.values()})
    hours = f"{graces[0]}" if len(graces) == 1 else f"{graces[0]} to {graces[-1]}" if graces else "0"
    yield "On the device, in one folder that its owner alone can read:"
    yield table(("what", "how long"), _DEVICE)
    yield (
        'An app that asks first (`consent="unknown"`) stores the secret and what is recorded from the start, and '
        'sends nothing before the choice. One that does not (`"granted"`, the default) sends from the first whole '
        "window on. Which it is stands in the app, not in the lock."
    )
    yield "At the collector:"
    yield table(("what", "how long"), _COLLECTOR)
    yield (
        f"Reports are taken until {hours} hours after the end of their window. This release has no command that "
        "deletes old reports by itself: a period of retention is for the operator to set and to keep."
    )


def belonging(lock: Lock) -> Iterator[str]:
    """How far reports can be told to be of one device, metric by metric."""
    yield (
        "Reports carry no identifier and travel one by one. But numbers that a device keeps for good travel in the "
        "clear, and permanent answers repeat: so a report tells something about the same device's other reports of "
        "that metric. With n bits, one device in 2 to the power of n could be meant; from about as many bits as the "
        "crowd has, a report is as good as an identifier. No price above rests on reports not being tied together."
    )
    rows = [
        (plain(name), bits(clear + hidden), bits(clear))
        for name, one in sorted(lock.metrics.items())
        for clear, hidden in (linkage(one),)
    ]
    yield table(("metric", "bits about the next report, at most", "of these in the clear"), rows)


def getting(lock: Lock) -> str:
    """Who gets what, if somebody gets at a place."""
    way = [
        (f"{plain(who)}, who mixes reports of {plain(', '.join(names))} on the way, as the owners declare", *_MIXING)
        for who, names in shufflers(lock.metrics[name] for name in sorted(lock.metrics)).items()
    ]
    first, second, *others = _GETTING
    return table(("who gets at", "what that shows", "what bounds it"), [first, second, *way, *others])


def unsaid(lock: Lock) -> str:
    """What no lock can know, with room to fill it in."""
    mixing = [_UNSAID_OF_MIXING] if shufflers(lock.metrics.values()) else []
    return table(("for whoever runs the collection to add", " "), [(what, " ") for what in (*_UNSAID, *mixing)])


def rights() -> str:
    """How what people may ask for is met by what is there; no statement about what they may ask for."""
    return table(("what is asked for", "what there is"), _RIGHTS)


def unprotected(lock: Lock, found: Shared) -> str:
    """What no price covers: what `explain` says of several metrics, and what holds for every lock."""
    explained = [line for heading in ("What is not hidden", "What is not protected") for line in found.lines(heading)]
    mixed = [_MIXED] if len({metric.presence for metric in lock.metrics.values()}) > 1 else []
    return bullets([*explained, *mixed, *_OPEN])
