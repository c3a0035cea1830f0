"""Load on a collector, from a process of its own: `python -m benchmarks.support.load JOB` prints its figures as JSON.

Requests are made before the clock starts. Each connection is kept alive and has one request under way: the next one
follows the whole answer, nothing is pipelined.
"""

import json
import random
import re
import selectors
import socket
import subprocess
import sys
import time
from typing import NamedTuple, Self, cast

PATIENCE = 30.0  # seconds without any answer
_HEAD = "POST /v1/reports HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n"
_LENGTH = re.compile(rb"\r\ncontent-length: ([0-9]+)\r\n", re.IGNORECASE)
_ALL_ACCEPTED = b'"results":[]}'


class Job(NamedTuple):
    """What to send: reports of one metric and window, with random ids and payloads."""

    port: int
    metric: str
    hash: str
    window: int
    batch: int  # reports in a request
    connections: int
    requests: int  # at most
    seconds: float  # at most
    seed: int


class Figures(NamedTuple):
    """What came of it."""

    reports: int  # acknowledged as new
    requests: int
    seconds: float
    cpu: float  # share of one core that this process took
    p50: float  # milliseconds from request to whole answer
    p99: float

    @classmethod
    def of(cls, job: Job) -> Self:
        """The figures of a job, run by a process of its own."""
        command = [sys.executable, "-m", "benchmarks.support.load", json.dumps(job)]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
        return cls(*json.loads(done.stdout))


def requests(job: Job) -> list[bytes]:
    """The whole requests, as bytes."""
    source = random.Random(job.seed)
    place = f'"metric":"{job.metric}","hash":"{job.hash}","window":{job.window},"segment":""'
    entry = f'{{"id":"%016x",{place},"payload":"%s"}}'
    made = []
    for _ in range(job.requests):
        entries = (entry % (source.getrandbits(64), source.choice(("00", "80"))) for _ in range(job.batch))
        body = f'{{"schema":"hubbub.reports/1","reports":[{",".join(entries)}]}}'
        made.append(f"{_HEAD}content-length: {len(body)}\r\n\r\n{body}".encode())
    return made


def run(job: Job) -> Figures:
    """Send until the requests or the time are used up, then wait for the answers that are due.

    Raises:
        RuntimeError: An answer is not a 200 that accepts everything, or none came.
    """
    waiting = iter(requests(job))
    selector = selectors.DefaultSelector()
    parts: dict[socket.socket, bytes] = {}
    sent: dict[socket.socket, float] = {}
    took: list[float] = []
    connections = [socket.create_connection(("127.0.0.1", job.port), PATIENCE) for _ in range(job.connections)]
    cpu, start = time.process_time(), time.perf_counter()
    for connection in connections:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        selector.register(connection, selectors.EVENT_READ)
        if (request := next(waiting, None)) is not None:
            sent[connection] = time.perf_counter()
            connection.sendall(request)
    end = start + job.seconds
    while sent:
        ready = selector.select(PATIENCE)
        if not ready:
            raise RuntimeError(f"no answer within {PATIENCE:g} s")
        for key, _ in ready:
            connection = cast(socket.socket, key.fileobj)
            data = parts.pop(connection, b"") + connection.recv(65536)
            if not _complete(data):
                parts[connection] = data
                continue
            now = time.perf_counter()
            took.append(now - sent.pop(connection))
            request = next(waiting, None) if now < end else None
            if request is not None:
                sent[connection] = now
                connection.sendall(request)
    seconds = time.perf_counter() - start
    share = (time.process_time() - cpu) / seconds
    for connection in connections:
        connection.close()
    took.sort()
    p50, p99 = (1e3 * took[int(quantile * (len(took) - 1))] for quantile in (0.5, 0.99))
    return Figures(len(took) * job.batch, len(took), seconds, share, p50, p99)


def _complete(data: bytes) -> bool:
    head = data.find(b"\r\n\r\n")
    length = _LENGTH.search(data, 0, head + 2) if head >= 0 else None
    if length is None or len(data) < head + 4 + int(length[1]):
        if not data:
            raise RuntimeError("the connection was closed")
        return False
    if not data.startswith(b"HTTP/1.1 200 ") or not data.endswith(_ALL_ACCEPTED):
        raise RuntimeError(f"not all accepted: {data[:300]!r}")
    return True


if __name__ == "__main__":
    print(json.dumps(run(Job(*json.loads(sys.argv[1])))))
