"""What a collector takes in over loopback HTTP, durable and deduplicated, beside what it is made of.

Three shapes of load: single reports, as devices send them, and batches of 20 and 100, as relays do. For each, in the
same run on the same machine,

    collector      `hubbub serve` as users start it, one load generator in a process of its own
    empty handler  the same HTTP server and the same requests, answered without a look at them
    bare store     `store.write` in this process, the same reports in groups of what the load has under way

and what limits: a process that has a core to itself does, or whatever else keeps all cores busy; otherwise the
collector waits, for its commits and for hand-overs between its threads. Collector and generator share the cores.
"""

import argparse
import json
import os
import random
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

from benchmarks.support import processes
from benchmarks.support.load import Figures, Job
from hubbub.clock import FileClock
from hubbub.lock import MILLION, Lock, Metric, dump
from hubbub.mechanisms import registry
from hubbub.store import Report, WindowKey, check, open_store

STARTS, EXPIRES = "2026-01-01", "2026-12-31"
BUSY = 0.85  # share of a core from which on a process is called the limit
METRIC = Metric(
    name="editor.minutes",
    version=1,
    kind="mean",
    encoder=registry["one_bit_mean"].from_epsilon(1.0, permanent_epsilon=2.0, upper=480).encoder,
    lower=0,
    step=MILLION,
    unit="min",
    labels=(),
    window="day",
    starts=STARTS,
    expires=EXPIRES,
    grace=14 * 86_400,
    report_every=1,
    rotation="",
    presence="ran",
    seal="window_end",
    dimensions=(),
    min_reports=100,
    description="For the benchmark",
    purpose="Measuring",
    owners=("bench@example.org",),
)
HASH = METRIC.hash[:32]
LATEST = METRIC.life[10]  # the window that has just ended; those before it are taken too


@dataclass(frozen=True)
class Shape:
    """One kind of load."""

    name: str
    batch: int
    connections: int
    rate: int  # requests a second that no machine reaches, for as many are made


SHAPES = (
    Shape("singles", 1, 64, 30_000),
    Shape("batches of 20", 20, 32, 6_000),
    Shape("batches of 100", 100, 16, 2_000),
)


class Server:
    """A server as a process of its own, ended with the block."""

    def __init__(self, *command: str) -> None:
        self._command = [sys.executable, "-m", *command]

    def __enter__(self) -> Self:
        self._process = subprocess.Popen(self._command, stdout=subprocess.PIPE, text=True)
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        found = re.search(r"([0-9]+)\n$", line)
        if found is None:
            raise RuntimeError(f"{' '.join(self._command)} did not start: {line!r}")
        self.port = int(found[1])
        return self

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        self._process.communicate()

    def busiest(self, before: dict[int, float]) -> tuple[int, float]:
        """The process of this server that took most processor time since `before`, and how much."""
        return max(((pid, now - before.get(pid, 0.0)) for pid, now in self.cpu().items()), key=lambda pair: pair[1])

    def cpu(self) -> dict[int, float]:
        """Processor time of each of its processes so far."""
        return {pid: processes.cpu(pid) or 0.0 for pid in processes.family(self._process.pid)}

    def resident(self) -> dict[int, int]:
        """Bytes that each of its processes holds."""
        return processes.family(self._process.pid)


@dataclass(frozen=True)
class Line:
    """One shape's figures."""

    shape: Shape
    load: Figures
    server_cpu: float  # share of a core
    idle: float  # cores that had nothing to do
    empty: float  # reports a second that the empty handler answers
    bare: float  # reports a second that the store alone takes

    @property
    def rate(self) -> float:
        return self.load.reports / self.load.seconds

    @property
    def limit(self) -> str:
        """What has no room left."""
        if self.server_cpu >= BUSY and self.load.cpu >= BUSY:
            return "both processes, each on a core"
        if self.server_cpu >= BUSY:
            return "the collector's core"
        if self.load.cpu >= BUSY:
            return "the load generator's core"
        if self.idle < 1 - BUSY:
            return "the cores, which other processes had too"
        return "waits: commits, hand-overs between threads"


def job(shape: Shape, port: int, window: int, seconds: float, seed: int) -> Job:
    return Job(
        port=port,
        metric=METRIC.name,
        hash=HASH,
        window=window,
        batch=shape.batch,
        connections=shape.connections,
        requests=int(shape.rate * seconds),
        seconds=seconds,
        seed=seed,
    )


def bare(shape: Shape, reports: int, folder: Path, seed: int) -> float:
    """Reports a second that the store takes in this process, in groups of what the load has under way."""
    source = random.Random(seed)
    group = shape.batch * shape.connections
    key = WindowKey(METRIC.name, HASH, LATEST)
    made = [
        [Report(key, source.getrandbits(64) - 2**63, "", source.choice(("00", "80"))) for _ in range(group)]
        for _ in range(-(-reports // group))
    ]
    with open_store(folder / f"bare-{seed}.db") as store:
        store.accept(Lock("bench", {METRIC.name: METRIC}))
        start = time.perf_counter()
        for part in made:
            store.write(part)
        return len(made) * group / (time.perf_counter() - start)


def fsync(folder: Path) -> float:
    """Milliseconds that an append of 4 KiB takes to be on the disk, the median of some."""
    took = []
    with (folder / "fsync").open("wb", buffering=0) as file:
        for _ in range(50):
            start = time.perf_counter()
            file.write(bytes(4096))
            os.fsync(file.fileno())
            took.append(time.perf_counter() - start)
    return 1e3 * statistics.median(took)


def measure(folder: Path, seconds: float, rounds: int) -> tuple[list[Line], dict[int, int], int]:
    """The lines of the table, memory of the collector's processes at the end, and the one of them that took it in."""
    (folder / "metrics.lock").write_text(dump(Lock("bench", {METRIC.name: METRIC})), "utf-8")
    FileClock(folder / "clock").set(float(METRIC.windows.end(LATEST)))
    serve = ("hubbub", "serve", "--lock", str(folder / "metrics.lock"), "--store", str(folder / "store.db"))
    lines: list[Line] = []
    seed = reports = 0
    options = ("--port", "0", "--read-port", "0", "--clock", str(folder / "clock"))
    with Server(*serve, *options) as collector, Server("benchmarks.support.empty") as empty:
        for shape in SHAPES:
            tries = []
            for _ in range(rounds):
                seed += 1
                nothing = Figures.of(job(shape, empty.port, LATEST, seconds / 2, seed))
                before, idle = collector.cpu(), processes.idle()
                figures = Figures.of(job(shape, collector.port, LATEST - seed, seconds, seed))
                idle = (processes.idle() - idle) / figures.seconds
                ingest, spent = collector.busiest(before)
                reports += figures.reports
                alone = bare(shape, min(figures.reports, 200_000), folder, seed)
                tries.append(
                    Line(shape, figures, spent / figures.seconds, idle, nothing.reports / nothing.seconds, alone)
                )
            middle = sorted(tries, key=lambda line: line.rate)[len(tries) // 2]
            lines.append(
                replace(
                    middle,
                    empty=statistics.median(line.empty for line in tries),
                    bare=statistics.median(line.bare for line in tries),
                )
            )
        resident = collector.resident()
    with open_store(folder / "store.db", read_only=True) as store:
        stored = sum(cell.summary.n for cell in store.cells())
        if stored != reports or (problems := check(store)):
            raise RuntimeError(f"{reports} reports were acknowledged, {stored} are stored: {problems}")
    return lines, resident, ingest


def show(lines: Sequence[Line], resident: dict[int, int], ingest: int, disk: float) -> None:
    head = (
        f"{'':<16}{'reports/s':>10}{'of empty':>10}{'of store':>10}{'p50 ms':>8}{'p99 ms':>8}{'server':>8}{'load':>6}"
    )
    print(head)
    for line in lines:
        print(
            f"{line.shape.name:<16}{line.rate:>10,.0f}{line.rate / line.empty:>10.0%}{line.rate / line.bare:>10.0%}"
            f"{line.load.p50:>8.1f}{line.load.p99:>8.1f}{line.server_cpu:>8.0%}{line.load.cpu:>6.0%}"
            f"  limit: {line.limit}"
        )
    print("\nof empty: the same server and requests with a handler that does nothing, reports/s")
    print("  " + "; ".join(f"{line.shape.name} {line.empty:,.0f}" for line in lines))
    print("of store: store.write in process with the same reports, groups of what is under way, reports/s")
    print(
        "  "
        + "; ".join(
            f"{line.shape.name} {line.bare:,.0f} (by {line.shape.batch * line.shape.connections})" for line in lines
        )
    )
    others = ", ".join(f"{size / 1e6:.0f}" for pid, size in resident.items() if pid != ingest)
    print(
        f"memory at the end: ingest process {resident[ingest] / 1e6:.0f} MB"
        + (f"; beside it {others} MB" * bool(others))
    )
    print(f"fsync of 4 KiB: {disk:.2f} ms; cores: {os.cpu_count()}")


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.ingest", description="What a collector takes in.")
    parser.add_argument("--quick", action="store_true", help="one short round of each")
    parser.add_argument("--json", action="store_true", help="only the last line, the key figures as JSON")
    parser.add_argument(
        "--folder", type=Path, help="where the stores are written for the time being (a disk, not memory)"
    )
    options = parser.parse_args(argv)
    seconds, rounds = (3.0, 1) if options.quick else (8.0, 5)
    with tempfile.TemporaryDirectory(dir=options.folder) as name:
        folder = Path(name)
        disk = fsync(folder)
        lines, resident, ingest = measure(folder, seconds, rounds)
    if not options.json:
        show(lines, resident, ingest, disk)
    result: dict[str, Any] = {"benchmark": "ingest", "rss_mb": round(resident[ingest] / 1e6, 1)}
    result["reports_per_s"] = {line.shape.name: round(line.rate) for line in lines}
    result["to_empty"] = {line.shape.name: round(line.rate / line.empty, 3) for line in lines}
    result["to_store"] = {line.shape.name: round(line.rate / line.bare, 3) for line in lines}
    result["limit"] = {line.shape.name: line.limit for line in lines}
    print(json.dumps(result))
    return 0


if __name__ == "__main__":
    sys.exit(main())
