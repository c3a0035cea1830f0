"""The device's randomness: permanent words from a keyed PRF, fresh words from the operating system.

Permanent words are HMAC-SHA-256 in counter mode over length-prefixed fields, so that everything a device must keep for
ever follows from one 32-byte secret. What the blocks of one stream share is hashed once (docs/decisions/0013).
Specification: spec/README.md, sections "PRF" and "Encoding hash".
"""

import hashlib
import os
from collections.abc import Sequence
from functools import lru_cache
from struct import unpack

from hubbub.encoders.base import Prf, Words
from hubbub.encoders.fields import fields

SECRET_BYTES = 32
_ONE = ("cohort", "turn")  # purposes of which a device has one, whatever the metric
_BLOCK = 64  # bytes that SHA-256 takes at a time


def device_prf(secret: bytes, collection: str, metric: str, encoding_hash: str) -> Prf:
    """The permanent words of one device for one metric as it is encoded now.

    Args:
        secret: 32 bytes that never leave the device.
        collection: Collection id of the lock.
        metric: Name of the metric; cohort and turn, of which a device has one, do not depend on it.
        encoding_hash: All 64 hex digits; the same holds for it.
    """
    inner, outer = (hashlib.sha256(bytes(byte ^ pad for byte in secret.ljust(_BLOCK, b"\0"))) for pad in (0x36, 0x5C))

    def prf(purpose: str, *key: int) -> Words:
        whose = ("", "") if purpose in _ONE else (metric, encoding_hash)
        head = inner.copy()
        head.update(_head(purpose, collection, *whose) + fields(key))
        spare: list[int] = []
        block = 0

        def words(count: int) -> Sequence[int]:
            nonlocal spare, block
            lacking = -((len(spare) - count) // 8)
            if lacking > 0:
                tags = []
                for number in range(block, block + lacking):
                    message, tag = head.copy(), outer.copy()
                    message.update(number.to_bytes(4, "big"))
                    tag.update(message.digest())
                    tags.append(tag.digest())
                spare += unpack(f">{8 * lacking}I", b"".join(tags))
                block += lacking
            out, spare = spare[:count], spare[count:]
            return out

        return words

    return prf


@lru_cache(maxsize=1024)  # the same for all devices of a process
def _head(purpose: str, collection: str, metric: str, encoding_hash: str) -> bytes:
    return fields(("hubbub/1", purpose, collection, metric, encoding_hash))


def report_id(prf: Prf, window: int) -> str:
    """Sixteen hex digits that name this device's one report for the window; they link nothing without the secret."""
    high, low = prf("id", window)(2)
    return f"{high:08x}{low:08x}"


def encoding_hash(*shape: str | int) -> str:
    """SHA-256 over all that shapes a report's law or meaning, 64 hex digits; the first 32 travel."""
    return hashlib.sha256(fields(("hubbub/1", "encoding", *shape))).hexdigest()


def os_words(count: int) -> Sequence[int]:
    """The next `count` words from the operating system's generator, read afresh at each call (so forks never share)."""
    return unpack(f">{count}I", os.urandom(4 * count))
