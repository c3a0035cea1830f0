"""A hundred thousand damaged bodies: each is answered, none by a fault of the collector's, and none makes it grow."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CHUNK = 10_000
CHUNKS = 10
GROWTH = 32 << 20  # bytes; a tenth of what the bodies of a chunk come to


@pytest.mark.parametrize("chunk", [0, *(pytest.param(n, marks=pytest.mark.slow) for n in range(1, CHUNKS))])
def test_no_body_breaks_it(chunk: int, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tests.e2e.mutations", str(tmp_path), str(chunk * CHUNK), str(CHUNK)]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
    found = json.loads(done.stdout)
    assert found["faults"] == []
    assert found["damage"] == []
    assert found["foreign"] == []
    assert set(found["statuses"]) <= {"200", "400", "413", "415"}
    assert sum(found["statuses"].values()) == CHUNK
    assert min(found["statuses"].get(status, 0) for status in ("200", "400", "415")) > CHUNK / 50
    assert found["stored"] > CHUNK / 100  # some were still whole
    assert found["grown"] < GROWTH
