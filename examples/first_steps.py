"""Four thousand devices answer a yes/no, none of them openly, and the share comes out.

    pip install 'hubbub[server]'
    python first_steps.py

The devices are real clients. In place of HTTP and `hubbub serve`, a list takes their reports, so that all can be seen.
"""

import json
import os
import random

import numpy as np

from hubbub.client import Client, MemoryState, Response
from hubbub.clock import ManualClock
from hubbub.definitions import build, loads
from hubbub.mechanisms import of_metric
from hubbub.windows import midnight
from hubbub.wire import unpack

REGISTRY = b"""
schema = "hubbub.registry/1"
collection = "first-steps"
[metrics."app.used_search"]
version = 1
kind = "boolean"
description = "Whether search was used, per installation and day"
purpose = "Show that half-truths add up"
owners = ["telemetry@example.org"]
epsilon = 1.0             # what one report gives away at most: even odds become 73.2 %
starts = 2026-12-01
expires = 2027-11-30
"""
DEVICES, SHARE = 4_000, 0.20


class Collected:
    """Takes what devices post, as a collector would, and keeps it in sight."""

    def __init__(self) -> None:
        self.payloads: list[str] = []

    def post(self, body: bytes, timeout: float) -> Response:
        """Keep the reports and say that they were accepted."""
        self.payloads += [report["payload"] for report in json.loads(body)["reports"]]
        return Response(200, b'{"accepted": 1, "results": []}')


for variable in ("DO_NOT_TRACK", "CI"):  # these devices are nobody's
    os.environ.pop(variable, None)
lock = build(loads(REGISTRY, "the registry above"), None)  # the exact integers: what ships inside an app
metric = lock.metrics["app.used_search"]
collected, clock = Collected(), ManualClock(midnight(metric.starts))
devices = [
    Client(
        lock, "https://example.org", state=MemoryState(), life=300, clock=clock, transport=collected, background=False
    )
    for _ in range(DEVICES)
]
answers = [random.random() < SHARE for _ in devices]
for device, used in zip(devices, answers, strict=True):
    device.set("app.used_search", used)  # stays on the device
clock.set(midnight(metric.starts) + 86_400)  # the day is over
for device in devices:
    device.flush()  # one disguised bit leaves

mechanism = of_metric(metric)
bits = np.array([unpack(payload, metric.encoder.radices) for payload in collected.payloads])
estimate = mechanism.estimate(mechanism.summarise(bits))
low, high = estimate.interval(0.95)
print("what the collector holds:", *collected.payloads[:12], "…")
print(f"says yes:                 {bits.mean():.1%} of {estimate.n} reports, half-truths all")
print(f"estimate:                 {estimate.value:.1%}, 95 % interval {low:.1%} to {high:.1%}")
print(f"truth, which nobody sent: {np.mean(answers):.1%}")
