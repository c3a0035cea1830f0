"""What a client costs the program that hosts it, with a hundred metrics and its state in a folder.

Each figure comes from processes of its own, the median of several (the best, for single calls): how long importing and
starting take and how much memory they add; one `add`; sealing a day of all metrics, which the client's thread does; and
posting one report to a server that answers at once. The target for starting is held against a folder that is there; the
first start of an installation waits for the disk a dozen times and is shown beside it, with its processor time.
"""

import argparse
import json
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

TARGETS = {"start_ms": 50.0, "rss_mb": 30.0, "add_us": 50.0}
METRICS = 100
STARTS, EXPIRES = "2026-12-01", "2027-11-30"


def write_lock(path: Path) -> None:
    """A lock of a hundred daily metrics, half of them means and half of them yes or no."""
    from hubbub.encoders.one_bit_mean import OneBitMean
    from hubbub.encoders.randomized_response import RandomizedResponse
    from hubbub.lock import MILLION, Lock, Metric, dump

    def metric(number: int) -> Metric:
        mean = number % 2 == 0
        return Metric(
            name=f"app.metric_{number}",
            version=1,
            kind="mean" if mean else "boolean",
            encoder=OneBitMean(480, 480, 511_972_653, 3_271_021_990, 844_441_824, 1)
            if mean
            else RandomizedResponse(511_972_653, 844_441_824, 1),
            lower=0,
            step=MILLION,
            unit="",
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

    metrics = (metric(number) for number in range(METRICS))
    path.write_text(dump(Lock("bench", {one.name: one for one in metrics})), "utf-8")


def resident() -> float:
    """Most megabytes that this process ever held."""
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most / (1 << 20) if sys.platform == "darwin" else most / 1024


def start(lock: Path, folder: Path) -> dict[str, float]:
    """Import and start, as a program does; what that takes."""
    bare, began = resident(), time.perf_counter()
    from hubbub.client import Client
    from hubbub.clock import ManualClock
    from hubbub.windows import midnight

    imported, cpu = time.perf_counter(), time.process_time()
    client = Client(
        lock, "http://127.0.0.1:9", policy="research", state_dir=folder, clock=ManualClock(midnight(STARTS)), in_ci=True
    )
    started = time.perf_counter()
    found = {
        "import_ms": 1e3 * (imported - began),
        "start_ms": 1e3 * (started - imported),
        "start_cpu_ms": 1e3 * (time.process_time() - cpu),
        "rss_mb": resident(),
        "added_mb": resident() - bare,
    }
    client.close()
    return found


def calls(lock: Path, folder: Path, count: int) -> dict[str, float]:
    """`add`, sealing and posting."""
    from hubbub.client import Client, Response
    from hubbub.clock import ManualClock
    from hubbub.windows import midnight

    class Answering:
        def post(self, body: bytes, timeout: float) -> Response:
            return Response(200, b'{"accepted": 1, "results": []}')

    clock = ManualClock(midnight(STARTS))
    client = Client(
        lock,
        "http://127.0.0.1:9",
        policy="research",
        state_dir=folder,
        clock=clock,
        transport=Answering(),
        background=False,
        in_ci=True,
    )
    names = [f"app.metric_{number}" for number in range(METRICS)]
    took = []
    for number in range(count):
        name, value = names[number % METRICS], number % 2 == 0 if number % METRICS % 2 else 1.5
        began = time.perf_counter()
        client.add(name, value)
        took.append(time.perf_counter() - began)
    took.sort()
    clock.set(clock.now() + 86_400)
    began = time.perf_counter()
    client.tick()
    sealed = time.perf_counter()
    if not client.flush(60.0) or client.counters != {"accepted": METRICS}:
        raise RuntimeError(f"not all was accepted: {client.counters}")
    posted = time.perf_counter()
    client.close()
    return {
        "add_us": 1e6 * took[len(took) // 2],
        "add_p99_us": 1e6 * took[int(0.99 * (len(took) - 1))],
        "seal_ms": 1e3 * (sealed - began),
        "post_us": 1e6 * (posted - sealed) / METRICS,
    }


def apart(what: str, *arguments: object) -> dict[str, float]:
    """What `start` or `calls` gives in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.client", "--part", what, *map(str, arguments)]
    found: dict[str, float] = json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)
    return found


def median(parts: Sequence[dict[str, float]]) -> dict[str, float]:
    return {key: statistics.median(part[key] for part in parts) for key in parts[0]}


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.client", description="What a client costs its host.")
    parser.add_argument("--quick", action="store_true", help="fewer processes and calls")
    parser.add_argument("--json", action="store_true", help="only the last line, the key figures as JSON")
    parser.add_argument("--part", nargs="+", help=argparse.SUPPRESS)
    options = parser.parse_args(argv)
    if options.part:
        what, lock, folder, *count = options.part
        part = start(Path(lock), Path(folder)) if what == "start" else calls(Path(lock), Path(folder), int(count[0]))
        print(json.dumps(part))
        return 0
    rounds, count = (5, 3_000) if options.quick else (15, 20_000)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_lock(lock := folder / "metrics.lock")
        first = median([apart("start", lock, folder / f"device-{number}") for number in range(rounds)])
        again = median([apart("start", lock, folder / f"device-{number}") for number in range(rounds)])
        work = median([apart("calls", lock, folder / f"working-{number}", count) for number in range(3)])
    figures = {
        "start_ms": again["start_ms"],
        "rss_mb": max(first["rss_mb"], again["rss_mb"]),
        "add_us": work["add_us"],
    }
    if not options.json:
        print(f"a client with {METRICS} metrics, its state in a folder")
        print(f"  import                 {first['import_ms']:8.1f} ms")
        print(f"  first start            {first['start_ms']:8.1f} ms    processor {first['start_cpu_ms']:.1f} ms")
        print(f"  start again            {again['start_ms']:8.1f} ms    target < {TARGETS['start_ms']:g}")
        print(f"  memory of the process  {figures['rss_mb']:8.1f} MB    target < {TARGETS['rss_mb']:g}")
        print(f"  of which the client's  {first['added_mb']:8.1f} MB")
        print(f"  add, median            {work['add_us']:8.1f} µs    target < {TARGETS['add_us']:g}")
        print(f"  add, 99 %              {work['add_p99_us']:8.1f} µs")
        print(f"  sealing a day          {work['seal_ms']:8.1f} ms    in the client's thread")
        print(f"  one post               {work['post_us']:8.1f} µs    without the network")
    ratios = {key: round(figures[key] / target, 3) for key, target in TARGETS.items()}
    print(json.dumps({"benchmark": "client", "to_target": ratios, "pass": max(ratios.values()) < 1}))
    return 0 if max(ratios.values()) < 1 else 1


if __name__ == "__main__":
    sys.exit(main())
