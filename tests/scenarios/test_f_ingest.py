"""F: what is thrown at a collector."""

import asyncio
import gzip
import json
import re
import subprocess
import sys
import tempfile
import zlib
from collections import Counter
from pathlib import Path

from hubbub.clock import ManualClock
from hubbub.collector import create_app
from hubbub.dashboard import create_app as create_read_app
from hubbub.store import open_store
from tests.e2e.mutations import GZIP, resident
from tests.scenarios.chain import read
from tests.unit.collecting import FIRST, JSON, LAST, ask, body, end, late, lock, minutes, post, sent

ROOT = Path(__file__).parents[2]
GROWTH = 64 << 20  # bytes; the largest body that is taken has 8 MiB unpacked
BOMB = 512 << 20  # bytes that come out of half a megabyte


def bomb(size: int) -> bytes:
    """A body of spaces, of `size` bytes when unpacked."""
    packer, part = zlib.compressobj(9, zlib.DEFLATED, 16 + zlib.MAX_WBITS), b" " * (1 << 20)
    return b"".join([*(packer.compress(part) for _ in range(size >> 20)), packer.flush()])


def bodies() -> dict[str, tuple[bytes, dict[str, str]]]:
    """Each of these, several times over, must not cost more memory than a large body does."""
    whole = body(sent(late(), 1))
    packed, large = gzip.compress(whole), bomb(BOMB)
    assert len(large) < 1 << 20
    return {
        "bomb": (large, GZIP),
        "bomb of bombs": (gzip.compress(large), GZIP),
        "bomb of many members": (gzip.compress(b" " * (7 << 20)) * 100, GZIP),
        "two members": (packed + packed, GZIP),
        "cut off": (packed[:-4], GZIP),
        "not gzip": (whole, GZIP),
        "gzip that is not said": (packed, JSON),
        "another encoding": (whole, {**JSON, "content-encoding": "deflate"}),
        "two encodings": (packed, {**JSON, "content-encoding": "gzip, gzip"}),
        "deep": (b"[" * 1_000_000, JSON),
        "wide": (b'{"schema":"hubbub.reports/1","reports":[' + b"0," * 500_000 + b"0]}", JSON),
        "wide, packed": (
            gzip.compress(b'{"schema":"hubbub.reports/1","reports":[' + b"[]," * 2_700_000 + b"0]}"),
            GZIP,
        ),
    }


def throw() -> None:
    """Throw them, and print the status of each and by how much this process grew."""
    thrown = bodies()
    with tempfile.TemporaryDirectory() as folder, open_store(Path(folder) / "store.db") as store:
        app = create_app(store, [lock(late())], clock=ManualClock(end(FIRST)))

        async def run() -> dict[str, list[int]]:
            assert (await ask(app, body(sent(late(), 2)))).content["accepted"] == 1
            return {
                name: [(await ask(app, content, headers=headers)).status for _ in range(3)]
                for name, (content, headers) in thrown.items()
            }

        before = resident()
        statuses = asyncio.run(run())
        print(json.dumps({"statuses": statuses, "grown": resident() - before}))


def test_f3_every_refusal_can_be_seen(tmp_path: Path) -> None:
    """In the answer, by index and code; and in the counters that Prometheus reads, by code."""
    metric = minutes()
    now = end(FIRST) + metric.grace  # the first day is over for good
    there = {"window": FIRST + 2}
    batch = [
        sent(metric, 1, **there),
        sent(metric, 1, **there),
        sent(metric, 1, **there, segment="beta"),
        {**sent(metric, 2, **there), "metric": "editor.hours"},
        sent(metric, 3, **there, hash="0" * 32),
        sent(metric, 4, **there, id="4"),
        sent(metric, 5, **there, payload="40"),
        sent(metric, 6, **there, segment="nightly"),
        sent(metric, 7, window=LAST + 1),
        sent(metric, 8, window=LAST),
        sent(metric, 9, window=FIRST),
    ]
    with open_store(tmp_path / "store.db") as store:
        app = create_app(store, [lock(metric)], clock=ManualClock(now))
        seen = Counter(code or status for status, code in post(app, body(*batch)).codes.values())
        assert seen == {
            **dict.fromkeys(("duplicate", "conflict", "unknown_metric", "hash_mismatch", "invalid_id"), 1),
            **dict.fromkeys(("invalid_payload", "unknown_segment", "metric_ended", "too_early", "too_late"), 1),
        }
        for content, headers in ((b"{", JSON), (b"", {"content-type": "text/plain"}), (b"x", GZIP)):
            post(app, content, headers)
        asyncio.run(ask(app, method="GET", path="/readyz"))  # what is refused is written with the next commit
        status, text = read(create_read_app(store, clock=ManualClock(now)), "/metrics")
    assert status == 200
    counted = {code: int(value) for code, value in re.findall(r'^\w+{code="(\w+)"} (\d+)$', text, re.MULTILINE)}
    refused = {*seen, "invalid_json", "unsupported_media_type", "invalid_gzip"}
    assert {code for code, times in counted.items() if times} == refused | {"accepted"}
    assert {counted[code] for code in refused} == {1}


def test_f1_bombs() -> None:
    """Limits hold before and after unpacking; each has its own answer; memory stays."""
    code = "from tests.scenarios.test_f_ingest import throw; throw()"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
    found = json.loads(done.stdout)
    assert {name: set(statuses) for name, statuses in found["statuses"].items()} == {
        "bomb": {413},
        "bomb of bombs": {400},
        "bomb of many members": {400},
        "two members": {400},
        "cut off": {400},
        "not gzip": {400},
        "gzip that is not said": {400},
        "another encoding": {415},
        "two encodings": {415},
        "deep": {413},
        "wide": {413},
        "wide, packed": {413},
    }
    assert found["grown"] < GROWTH
