"""Thousands of damaged bodies: each is answered, none with a 5xx, and only whole reports are stored."""

import asyncio
import gzip
import random
from pathlib import Path

from hubbub.clock import ManualClock
from hubbub.collector import create_app
from hubbub.store import check, open_store
from tests.unit.collecting import FIRST, JSON, ask, body, end, key, late, lock, minutes, sent

BODIES = 4000
INTERESTING = [
    b"\0",
    b'"',
    b"\\",
    b"{",
    b"}",
    b"[",
    b"]",
    b",",
    b"\xff",
    b"\\u0000",
    b"\\ud800",
    b"1e999",
    b"-0",
    b"9" * 400,
]


def damaged(raw: bytes, source: random.Random) -> bytes:
    """The body with a few bytes changed, removed, repeated or put in."""
    out = bytearray(raw)
    for _ in range(source.choice((1, 1, 1, 2, 5))):
        at, length = source.randrange(len(out) + 1), source.choice((1, 1, 2, 8, 64))
        match source.randrange(4):
            case 0 if at < len(out):
                out[at] = source.randrange(256)
            case 1:
                del out[at : at + length]
            case 2:
                out[at:at] = out[at : at + length]
            case _:
                out[at:at] = source.choice(INTERESTING)
    return bytes(out)


def test_no_body_breaks_it(tmp_path: Path) -> None:
    source = random.Random(9)
    whole = body(sent(minutes(), 1), sent(late(), 2, window=FIRST + 1), sent(late(), 3))
    packed = gzip.compress(whole)
    statuses: dict[int, int] = {}

    with open_store(tmp_path / "store.db") as store:
        app = create_app(store, [lock(minutes(), late())], clock=ManualClock(end(FIRST + 1)))

        async def run() -> None:
            for number in range(BODIES):
                zipped = number % 4 == 0
                content = damaged(packed, source) if zipped else damaged(whole, source)
                answer = await ask(app, content, headers={**JSON, **({"content-encoding": "gzip"} if zipped else {})})
                statuses[answer.status] = statuses.get(answer.status, 0) + 1
                assert answer.status in (200, 400), content
                if answer.status == 200:
                    assert answer.content["accepted"] + len(answer.content["results"]) <= 4, content

        asyncio.run(run())
        assert min(statuses.values()) > BODIES / 20
        assert sum(statuses.values()) == BODIES
        assert check(store) == []
        assert set(store.windows()) <= {key(minutes()), key(minutes(), FIRST + 1), key(late()), key(late(), FIRST + 1)}
        assert set(store.counters()) > {
            "invalid_id",
            "invalid_payload",
            "unknown_metric",
            "hash_mismatch",
            "metric_ended",
        }
