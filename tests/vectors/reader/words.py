"""spec/README.md: integers, words, the PRF, hashes and ids."""

import hashlib
from collections.abc import Iterator, Sequence
from itertools import count, islice
from typing import Any

SCALE = 2**32


class RefusedError(Exception):
    """The pages do not allow this input."""


def need(condition: object) -> None:
    if not condition:
        raise RefusedError


def fields(items: Sequence[str | int]) -> str:
    """Each item after the number of its bytes, as hex."""
    return "".join(f"{len(raw):08x}{raw.hex()}" for raw in (f"{item}".encode() for item in items))


def hmac_sha256(key: bytes, message: bytes) -> bytes:
    """RFC 2104 with SHA-256, for keys of at most 64 bytes."""
    inner, outer = (bytes(byte ^ pad for byte in key.ljust(64, b"\0")) for pad in (0x36, 0x5C))
    return hashlib.sha256(outer + hashlib.sha256(inner + message).digest()).digest()


def stream(secret: str, collection: str, metric: str, hash: str, purpose: str, key: Sequence[int]) -> Iterator[int]:
    """Permanent words, from the first one on."""
    head = fields(["hubbub/1", purpose, collection, metric, hash, *key])
    for block in count():
        digits = hmac_sha256(bytes.fromhex(secret), bytes.fromhex(head + f"{block:08x}")).hex()
        yield from (int(digits[i : i + 8], 16) for i in range(0, 64, 8))


def prf(counts: Sequence[int], **which: Any) -> Any:
    words = stream(**which)
    return [list(islice(words, taken)) for taken in counts]


def choose(bound: int, words: Iterator[int]) -> int:
    """Uniform on [0, bound)."""
    limit = SCALE - SCALE % bound
    return next(word for word in words if word < limit) % bound


class Counted:
    """Words that are given, and how many were taken."""

    def __init__(self, words: Sequence[int]) -> None:
        self._left = iter(words)
        self.used = 0

    def __iter__(self) -> "Counted":
        return self

    def __next__(self) -> int:
        word = next(self._left)
        self.used += 1
        return word


def below(bound: int, words: Sequence[int]) -> Any:
    tape = Counted(words)
    return {"value": choose(bound, tape), "used": tape.used}


def encoding_hash(
    kind: str,
    encoder: str,
    integers: list[int],
    lower: int,
    step: int,
    labels: list[str],
    window: str,
    report_every: int,
    rotation: str,
    presence: str,
    seal: str,
) -> str:
    shape: list[str | int] = [
        kind,
        encoder,
        *integers,
        lower,
        step,
        *labels,
        window,
        report_every,
        rotation,
        presence,
        seal,
    ]
    return hashlib.sha256(bytes.fromhex(fields(["hubbub/1", "encoding", *shape]))).hexdigest()


def report_id(window: int, **which: Any) -> str:
    first, second = islice(stream(purpose="id", key=[window], **which), 2)
    return f"{first:08x}{second:08x}"
