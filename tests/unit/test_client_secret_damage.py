"""Files of the folder damaged at random: a start raises nothing, and nothing is forgotten that an intact copy knows."""

import json
import os
import subprocess
import sys
from pathlib import Path
from random import Random

import pytest

from hubbub.client import SqliteState
from hubbub.client.state import Installation
from tests.unit.client_support import DAY, STARTS
from tests.unit.state_support import begin, days, lived, not_below, reopened, restored, saved, sealed, window

ROOT = Path(__file__).parents[2]
ROUNDS = 60  # of damage, per file


def checked(path: Path, before: Installation, both: bool) -> str:
    """Begin after some damage: nothing is raised, nothing forgotten that one intact copy knows."""
    state = SqliteState(path)
    after = begin(state, seconds=60 * 3600)
    state.run(days(3))
    sealed(state, 4 * DAY)
    state.close()
    if not both:
        assert after.secret == before.secret
        not_below(after.ledger, before.ledger)
    return after.recovered


@pytest.mark.parametrize("files", [("state.db",), ("secret.json",), ("state.db", "secret.json")], ids=len)
def test_damage_at_random_is_survived(tmp_path: Path, files: tuple[str, ...]) -> None:
    random = Random(20261201)
    before = lived(tmp_path)
    intact = saved(tmp_path)
    words = set()
    for _ in range(ROUNDS):
        state_dir = tmp_path
        restored(state_dir, intact)
        for file in files:
            data = bytearray(intact[file])
            if random.random() < 0.3:
                del data[random.randrange(len(data)) :]
            for _ in range(random.choice((1, 1, 4, 64))):
                if data:
                    data[random.randrange(len(data))] ^= 1 << random.randrange(8)
            (state_dir / file).write_bytes(data)
        words.add(checked(state_dir, before, len(files) > 1))
        for found in tmp_path.glob("*corrupt*"):
            found.unlink()
        for name in ("state.db-wal", "state.db-shm"):
            (tmp_path / name).unlink(missing_ok=True)
    assert "secret_recovered" in words or len(files) > 1


def leave(path: Path) -> None:
    """A life that ends without a goodbye, so that all of it still stands in the write-ahead log."""
    state = SqliteState(path)
    state._tables.db.execute("PRAGMA wal_autocheckpoint = 0")
    state._purge = lambda: None  # type: ignore[method-assign]
    begin(state)
    state.run(days(0))
    state.record(window(0), lambda held: 5.0)
    os._exit(0)


def test_damaged_write_ahead_log_is_survived(tmp_path: Path) -> None:
    code = "import sys, pathlib, tests.unit.test_client_secret_damage as t; t.leave(pathlib.Path(sys.argv[1]))"
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], cwd=ROOT, check=True)
    assert {"state.db-wal", "secret.json"} <= {path.name for path in tmp_path.iterdir()}
    random, intact = Random(7), saved(tmp_path)
    secret = bytes.fromhex(json.loads(intact["secret.json"])["secret"])
    for _ in range(ROUNDS // 2):
        for name in intact:
            if name != "secret.json":
                (tmp_path / name).write_bytes(intact[name])
        (tmp_path / "state.db-shm").unlink()
        log = bytearray(intact["state.db-wal"])
        del log[random.randrange(len(log)) :]
        if log:
            log[random.randrange(len(log))] ^= 255
        (tmp_path / "state.db-wal").write_bytes(log)
        after, _ = reopened(tmp_path, 12)
        assert after.secret == secret
        assert all(account.sealed >= STARTS for account in after.ledger.accounts.values())
        (tmp_path / "secret.json").write_bytes(intact["secret.json"])
        for found in tmp_path.glob("*corrupt*"):
            found.unlink()
