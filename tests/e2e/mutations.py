"""Damaged copies of recorded bodies, thrown at a collector: `python -m tests.e2e.mutations FOLDER FIRST COUNT`.

A process of its own, so that its memory can be measured; what came of it is printed as JSON.
"""

import asyncio
import base64
import gzip
import json
import random
import resource
import sys
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

from hubbub.clock import ManualClock
from hubbub.collector import create_app
from hubbub.store import check, open_store
from tests.fixtures.scene import READ, RELEASES, locked
from tests.unit.collecting import JSON, ask

FOLDER = max(path.parent for path in RELEASES.glob("*/wire.json"))
TOGETHER = 64  # bodies under way at a time: they share commits, as they would
PATIENCE = 30.0  # seconds for the answers to them
WARM = 2000  # bodies after which memory is looked at first
GZIP = {**JSON, "content-encoding": "gzip"}
SIGNS = b"0123456789abcdefABCDEFxyz./_-"
TOKENS = (
    *(b"\0", b'"', b"\\", b"{", b"}", b"[", b"]", b",", b":", b"\xff", b"\xc3\x28", b"\xed\xa0\x80"),
    *(b"\\u0000", b"\\ud800", b"1e999", b"-0", b"NaN", b"null", b"true", b"9" * 400, b"[" * 3000, b'{"":' * 2000),
    *(b'"id"', b'"window"', b'"payload"', b"18446744073709551616", b"-9223372036854775809", b"\xef\xbb\xbf"),
)


class Body(NamedTuple):
    content: bytes
    headers: dict[str, str]


def recorded() -> list[Body]:
    """The bodies of the fixtures: those of the wire, good and bad, and what a device has in its outbox."""
    bodies = []
    for one in json.loads((FOLDER / "wire.json").read_text("utf-8")):
        content = one["body"].encode()
        if "content-encoding" in one["headers"] and not content.startswith(b"{"):
            content = base64.b64decode(content)
        bodies.append(Body(content, one["headers"]))
    outbox = json.loads((FOLDER / "expected.json").read_text("utf-8"))["device"]["outbox"]
    return bodies + [Body(body.encode(), JSON) for body in list(outbox.values())[:5]]


def damaged(number: int, bodies: list[Body]) -> Body:
    """The body of this number, always the same."""
    source = random.Random(number)
    content, headers = source.choice(bodies)
    inside = source.random() < 0.1  # compressed whole after the damage, rather than damaged once compressed
    out = bytearray(content)
    gentle = source.random() < 0.5  # one sign for another, so that it mostly stays JSON
    for _ in range(source.choice((1, 1, 1, 2, 5, 20))):
        if gentle and (signs := [place for place, byte in enumerate(out) if byte in SIGNS]):
            out[source.choice(signs)] = source.choice(SIGNS)
            continue
        at, length = source.randrange(len(out) + 1), source.choice((1, 1, 2, 8, 64))
        match source.randrange(8):
            case 0 if at < len(out):
                out[at] ^= 1 << source.randrange(8)
            case 1 if at < len(out):
                out[at] = source.randrange(256)
            case 2:
                del out[at : at + length]
            case 3:
                out[at:at] = out[at : at + length] * source.choice((1, 2, 50))
            case 4:
                other = source.choice(bodies).content
                start = source.randrange(len(other) + 1)
                out[at:at] = other[start : start + source.choice((8, 64, 1000))]
            case 5:
                del out[at:]
            case 6:
                out[at:at] = source.randbytes(length)
            case _:
                out[at:at] = source.choice(TOKENS)
    return Body(gzip.compress(out, 1), GZIP) if inside else Body(bytes(out), headers)


def resident() -> int:
    """Most bytes that this process ever held."""
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most * 1024


def run(folder: Path, first: int, count: int) -> dict[str, Any]:
    """Throw them; how often each status came, what did not fit, and how much memory was taken."""
    bodies, lock = recorded(), locked(FOLDER)
    statuses, warm = Counter[int](), 0
    faults: list[str] = []

    async def answer(number: int) -> None:
        body = damaged(number, bodies)
        try:
            statuses[(await ask(app, body.content, headers=body.headers)).status] += 1
        except Exception as error:
            faults.append(f"body {number}: {type(error).__name__}: {str(error)[:500]}")

    async def all_of_them() -> None:
        nonlocal warm
        for start in range(first, first + count, TOGETHER):
            part = range(start, min(start + TOGETHER, first + count))
            async with asyncio.timeout(PATIENCE):
                await asyncio.gather(*map(answer, part))
            if start < first + WARM:
                warm = resident()

    with open_store(folder / "store.db") as store:
        app = create_app(store, [lock], clock=ManualClock(READ))
        asyncio.run(all_of_them())
        known = {(metric.name, metric.hash[:32]) for metric in lock.metrics.values()}
        return {
            "statuses": statuses,
            "faults": faults[:10],
            "grown": resident() - warm,
            "damage": check(store),
            "foreign": [tuple(key) for key in store.windows() if tuple(key[:2]) not in known],
            "stored": sum(cell.summary.n for cell in store.cells()),
        }


if __name__ == "__main__":
    print(json.dumps(run(Path(sys.argv[1]), *map(int, sys.argv[2:4]))))
