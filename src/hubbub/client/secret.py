"""The secret of an installation with all that must not be forgotten, and how it is recovered when a copy is lost.

It is kept twice: in `state.db` and, as a whole, in `secret.json`. While one of them is as it was left, no charge is
forgotten. Where all that is left may be older than what was sent, whatever the secret can have told in between of the
lock at hand is charged; of what other locks asked for in between nothing is known. Nothing that began before is encoded
again. Specification: spec/ledger.md, "The secret and its two copies".
"""

import hashlib
import hmac
import json
import os
from collections.abc import Collection
from dataclasses import dataclass, field, replace
from typing import Any

from hubbub.client.ledger import LOST, Ledger, merged, stop, with_secret
from hubbub.client.records import DamagedError, ledger_of, ledger_tree
from hubbub.prf import SECRET_BYTES

SCHEMA = "hubbub.secret/1"
FILE = "secret.json"
_PLAIN = ("schema", "secret", "collection", "birth", "generation", "mark", "consent")
DENIED = "denied"


@dataclass(frozen=True, slots=True)
class Memory:
    """All that must outlive the loss of one of its copies."""

    secret: bytes = field(repr=False)
    mark: str  # of the machine and folder it was kept in, keyed by the secret; empty where there is none
    serial: int  # counts what was written to the second copy
    consent: str
    ledger: Ledger


@dataclass(frozen=True, slots=True)
class Copy:
    """What `secret.json` says; the ledger is None where only the secret could be read."""

    bare: Memory  # the secret with nothing charged under it
    memory: Memory | None


@dataclass(frozen=True, slots=True)
class Recovered:
    """The memory to go on with."""

    memory: Memory
    doubted: Collection[str]  # names the secrets under which more may have been sent than it knows
    word: str  # what happened, as a local counter calls it; empty where the memory is whole
    renewed: bool = False  # another secret than before: what was sealed under the old one is not this device's to send


def name_of(secret: bytes) -> str:
    """Sixteen hex digits that stand for a secret where charges are told apart."""
    return hmac.digest(secret, b"hubbub/1 name of this secret", "sha256").hex()[:16]


def mark_of(secret: bytes, identity: str) -> str:
    """The mark of a machine and folder, which says nothing to whoever does not hold the secret."""
    return hmac.digest(secret, b"hubbub/1 mark of this folder" + identity.encode(), "sha256").hex() if identity else ""


def drawn(collection: str, now: int, identity: str = "") -> Memory:
    """A new installation."""
    secret = os.urandom(SECRET_BYTES)
    under = name_of(secret)
    return Memory(secret, mark_of(secret, identity), 0, "", Ledger(collection, under, {under: now}))


def written(memory: Memory) -> bytes:
    """The text of `secret.json`: who the installation is and, with a check of its own, what it must not forget."""
    ledger = memory.ledger
    plain = {
        "schema": SCHEMA,
        "secret": memory.secret.hex(),
        "collection": ledger.collection,
        "birth": ledger.birth,
        "generation": ledger.generation,
        "mark": memory.mark,
        "consent": memory.consent,
    }
    kept = {"serial": memory.serial, "ledger": ledger_tree(ledger)}
    tree = {**plain, "check": check(plain), "kept": kept, "kept_check": check(kept)}
    return (json.dumps(tree, indent=1, sort_keys=True, allow_nan=False) + "\n").encode()


def read(data: bytes) -> Copy:
    """What a `secret.json` says.

    Raises:
        DamagedError: Not even its secret can be told.
    """
    try:
        tree = json.loads(data)
        plain = {key: tree[key] for key in _PLAIN}
        if tree["check"] != check(plain) or plain["schema"] != SCHEMA:
            raise DamagedError
        secret = bytes.fromhex(plain["secret"])
        under = name_of(secret)
        ledger = Ledger(plain["collection"], under, {under: plain["birth"]})
    except (ValueError, TypeError, LookupError, RecursionError):
        raise DamagedError from None
    bare = Memory(secret, plain["mark"], 0, plain["consent"], ledger)
    return Copy(bare, _kept(bare, tree))


def _kept(bare: Memory, tree: dict[str, Any]) -> Memory | None:
    try:
        kept = tree["kept"]
        if tree["kept_check"] != check(kept):
            return None
        return replace(bare, serial=kept["serial"], ledger=ledger_of(kept["ledger"]))
    except (ValueError, TypeError, LookupError):
        return None


def check(tree: object) -> str:
    """What tells a record from one that was damaged."""
    return hashlib.sha256(json.dumps(tree, sort_keys=True).encode()).hexdigest()


def recovered(
    database: Memory | None,
    copy: Copy | None,
    *,
    untouched: bool,
    damaged: bool,
    collection: str,
    now: int,
    identity: str,
) -> Recovered:
    """Decide what to go on with.

    Args:
        database: What `state.db` holds, None where it is missing or was put aside.
        copy: What `secret.json` holds, likewise.
        untouched: Both are as this program left them.
        damaged: One of them was put aside just now, so there was an installation before.
        collection: Of the lock.
        now: Unix seconds.
        identity: Of machine and folder.
    """
    found = _joined(database, copy.memory or copy.bare if copy else None)
    if found is None:
        fresh = drawn(collection, now, identity)
        return Recovered(fresh, [LOST], "state_lost") if damaged else Recovered(fresh, (), "")
    doubted = _doubted(database, copy, now)
    if found.mark and identity and not hmac.compare_digest(found.mark, mark_of(found.secret, identity)):
        fresh = drawn(collection, now, identity)
        ledger = with_secret(found.ledger, fresh.ledger.under, now)
        memory = replace(fresh, serial=found.serial, consent=found.consent, ledger=ledger)
        return Recovered(memory, doubted, "state_copied", renewed=True)
    found = replace(found, mark=mark_of(found.secret, identity))
    if untouched:
        return Recovered(found, (), "")
    return Recovered(found, doubted, "state_restored" if database and copy else "secret_recovered")


def _doubted(database: Memory | None, copy: Copy | None, now: int) -> Collection[str]:
    """Names of the secrets that were found, but of those that had too many beside them to report anything."""
    found = [one.ledger for one in (database, (copy.memory or copy.bare) if copy else None) if one]
    return sorted({ledger.under for ledger in found if not stop(ledger.secrets, now)})


def _joined(one: Memory | None, other: Memory | None) -> Memory | None:
    """One memory of two: the older secret, every charge, the later seals, a denial of consent in either."""
    if one is None or other is None:
        return one or other
    first, second = sorted((one, other), key=lambda memory: memory.ledger.birth)
    if one.secret == other.secret:
        first, second = one, other
    return Memory(
        first.secret,
        first.mark,
        max(first.serial, second.serial),
        DENIED if DENIED in (first.consent, second.consent) else one.consent,
        merged(first.ledger, second.ledger),
    )
