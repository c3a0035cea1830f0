"""Every program of examples/ is run: what it prints, what it sends, and that nothing happens before somebody agreed."""

import re
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from hubbub.clock import FileClock
from hubbub.definitions import build, load
from hubbub.lock import Lock, dump, parse
from hubbub.windows import midnight
from tests.unit.serving import PATIENCE, Serving

EXAMPLES = Path(__file__).parents[2] / "examples"
AGENT = EXAMPLES / "host_agent.py"
DAY = 86_400


def run(program: Path, *options: str, path: Path | None = None) -> subprocess.CompletedProcess[str]:
    environment = {} if path is None else {"PYTHONPATH": str(path)}
    command = [sys.executable, str(program), *options]
    return subprocess.run(command, capture_output=True, text=True, timeout=2 * PATIENCE, check=False, env=environment)


def test_every_example_is_in_the_list() -> None:
    page = (EXAMPLES / "README.md").read_text("utf-8")
    found = sorted(path.name for path in EXAMPLES.iterdir() if path.name != "README.md")
    assert found == ["first_steps.py", "host_agent", "host_agent.py"]
    assert [name for name in found if f"({name})" not in page] == []


def test_first_steps_estimate_the_truth() -> None:
    """False alarm 2e-9: six standard errors of the estimate from 4 000 reports, whatever the devices drew."""
    done = run(EXAMPLES / "first_steps.py")
    assert (done.returncode, done.stderr) == (0, "")
    held, _, estimate, truth = done.stdout.splitlines()
    assert set(held.partition(":")[2].split()) <= {"00", "80", "…"}
    shares = [float(re.findall(r"([-0-9.]+)%", line)[0]) for line in (estimate, truth)]
    assert abs(shares[0] - shares[1]) < 6 * 1.71


# The host agent


@pytest.fixture(scope="module")
def lock() -> Lock:
    return parse((EXAMPLES / "host_agent" / "metrics.lock").read_text("utf-8"))


@pytest.fixture
def serving(tmp_path: Path, lock: Lock) -> Iterator[Serving]:
    """A collector, two days after the metrics began."""
    now = midnight(max(metric.starts for metric in lock.metrics.values())) + 2.5 * DAY
    with Serving(tmp_path, lock, now=now) as started:
        yield started


def agent(serving: Serving, state: Path, *options: str) -> list[str]:
    return [
        f"--endpoint=http://127.0.0.1:{serving.port}",
        f"--state={state}",
        f"--clock={state.with_name('clock')}",
        "--every=0.1",
        *options,
    ]


def test_the_lock_is_that_of_the_definitions_beside_it(lock: Lock) -> None:
    """Also lint: what is wrong with a definition refuses the build, and every target is met."""
    registry = load(EXAMPLES / "host_agent" / "metrics.toml")
    assert dump(build(registry, None)) == dump(lock)


def test_lint_has_nothing_to_say() -> None:
    command = [sys.executable, "-m", "hubbub", "registry", "lint", "metrics.toml"]
    folder = EXAMPLES / "host_agent"
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert done.returncode == 0
    assert "no problems" in done.stdout
    assert "missed" not in done.stdout


def test_reports_of_the_agent_arrive(serving: Serving, tmp_path: Path) -> None:
    state, clock = tmp_path / "state", FileClock(tmp_path / "clock")
    accepted = []
    for options in (["--once", "--agree"], ["--once"], ["--once"]):  # the first day is that of installation
        done = run(AGENT, *agent(serving, state, *options))
        assert (done.returncode, done.stderr) == (0, ""), done
        accepted += re.findall(r"(\d+) reports accepted", done.stdout)
        clock.set(clock.now() + DAY)
    assert accepted == ["0", "0", "2"]
    with closing(sqlite3.connect(serving.store)) as database:
        assert database.execute("SELECT count(*) FROM reports").fetchone() == (2,)
    assert run(AGENT, *agent(serving, state, "--withdraw")).returncode == 0
    refused = run(AGENT, *agent(serving, state, "--once"))
    assert (refused.returncode, refused.stdout) == (2, "")


def test_nothing_is_kept_or_sent_before_somebody_agreed(tmp_path: Path) -> None:
    state = tmp_path / "state"
    asked = run(AGENT, f"--state={state}", "--once")
    assert (asked.returncode, asked.stdout) == (2, "")
    assert "not agreed" in asked.stderr
    shown = run(AGENT, f"--state={state}", "--preview")
    assert shown.returncode == 0, shown
    assert "bytes to send" in shown.stdout
    assert "any two histories" in shown.stdout
    assert not state.exists()


def test_ctrl_c_ends_it_cleanly(serving: Serving, tmp_path: Path) -> None:
    state = tmp_path / "state"
    command = [sys.executable, str(AGENT), *agent(serving, state, "--agree", "--every=60")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
        try:
            assert running.stdout is not None
            assert running.stdout.readline().startswith("host_agent: measuring every 60 s")
            running.send_signal(signal.SIGINT)
            rest, errors = running.communicate(timeout=PATIENCE)
        finally:
            running.kill()
    assert (running.returncode, errors) == (0, "")
    assert "0 reports accepted" in rest
    assert run(AGENT, *agent(serving, state, "--once")).returncode == 0  # the state is free again, and agreed to


def test_what_is_missing_or_wrong_is_said(tmp_path: Path) -> None:
    (tmp_path / "psutil.py").write_text("raise ImportError\n")
    missing = run(AGENT, "--preview", path=tmp_path)
    assert (missing.returncode, missing.stdout) == (2, "")
    assert missing.stderr == "host_agent: needs psutil: pip install psutil\n"
    for options, words in ((["--every=0"], "must be in (0, 86400]; got '0'"), (["--endpoint=ftp:/x"], "endpoint must")):
        wrong = run(AGENT, f"--state={tmp_path / 'state'}", *options)
        assert (wrong.returncode, wrong.stdout) == (2, "")
        assert words in wrong.stderr
        assert "Traceback" not in wrong.stderr
