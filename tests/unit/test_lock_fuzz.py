"""Thousands of damaged locks: each is refused by a LockError, or read as a lock that is whole."""

import json
import random
from collections.abc import Iterator
from typing import Any

from hubbub.errors import LockError
from hubbub.lock import dump, parse
from tests.unit.sample_lock import lock

HALF = "\ud800"  # a lone surrogate, which JSON can hold and no file can
JUNK: list[Any] = [
    None,
    True,
    0,
    -1,
    1,
    2**31,
    2**53,
    10**400,
    0.5,
    1e308,
    "",
    "x",
    HALF,
    "x" * 2000,
    [],
    [[]],
    {},
    {"a": 1},
    [None],
    [{}],
]


def places(node: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield path
    for key, child in node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ():
        yield from places(child, (*path, key))


def test_mutated_trees_are_read_right_or_refused() -> None:
    rng = random.Random(1)
    whole = json.loads(dump(lock()))
    paths = [path for path in places(whole) if path]
    read = 0
    for _ in range(4000):
        mutant = json.loads(json.dumps(whole))
        for _ in range(rng.choice((1, 1, 2))):
            *way, last = rng.choice(paths)
            node = mutant
            try:
                for key in way:
                    node = node[key]
                node[last] = rng.choice(JUNK)
            except (KeyError, IndexError, TypeError):
                continue  # the first change removed this place
        try:
            found = parse(json.dumps(mutant))
        except LockError:
            continue
        read += 1
        assert parse(dump(found)) == found
    assert read < 1000


def test_mutated_bytes_are_read_right_or_refused() -> None:
    rng = random.Random(2)
    written = dump(lock()).encode()
    for _ in range(4000):
        mutant = bytearray(written)
        for _ in range(rng.choice((1, 2, 8))):
            at = rng.randrange(len(mutant))
            match rng.randrange(4):
                case 0:
                    mutant[at] = rng.randrange(256)
                case 1:
                    del mutant[at : at + rng.choice((1, 5, 100))]
                case 2:
                    mutant[at:at] = rng.choice((b"0", b'"', b"{", b"\\ud800", b",", b"e9", b"\xc3"))
                case 3:
                    mutant[at : at + 1] = bytes([mutant[at] ^ 1 << rng.randrange(8)])
        try:
            found = parse(bytes(mutant))
        except LockError:
            continue
        assert parse(dump(found)) == found
