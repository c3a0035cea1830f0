"""When, how many and how long: the requests of a device tell nothing of what is done at it.

Devices whose program runs for thirty days and more, by the step that a client's thread takes, under a clock. One is in
use all the time, one never, one gets nothing but what is no number. False alarm 1e-6 for each check, seeds fixed.
"""

import math
import random
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from typing import NamedTuple

import pytest

from hubbub.client import Response, schedule
from hubbub.client.sender import Sender
from hubbub.clock import ManualClock
from hubbub.testing.mechanisms.draws import FALSE_ALARM, chi_square
from tests.unit.client_support import ACCEPTED, DAY, MEAN, STARTS, YES_NO, client, lock, metric, report_of

DEVICES = 25
DAYS = 30
HOUR = 3600
METRICS = (
    metric("a.minutes", encoder=MEAN),
    metric("b.opened", kind="boolean", encoder=YES_NO),
    metric("c.minutes", encoder=MEAN, window="hour", expires="2026-12-03"),
)
WINDOWS = 2 * (DAYS - 1) + len(METRICS[2].life) - 1  # less the first, partial ones


class Request(NamedTuple):
    time: float
    metric: str
    window: int
    length: int


Use = Callable[[random.Random], Iterator[tuple[float, object]]]


def active(rng: random.Random) -> Iterator[tuple[float, object]]:
    """Values at random moments of waking hours, more on some days than on others."""
    for day in range(DAYS):
        for _ in range(rng.randrange(12)):
            yield day * DAY + rng.uniform(7, 23) * HOUR, rng.choice((0.1, 250.0, 480.0, True))


def idle(rng: random.Random) -> Iterator[tuple[float, object]]:
    yield from ()


def nonsense(rng: random.Random) -> Iterator[tuple[float, object]]:
    for time, _ in active(rng):
        yield time, math.nan


class Noted:
    def __init__(self, clock: ManualClock) -> None:
        self.requests: list[Request] = []
        self._clock = clock

    def post(self, body: bytes, timeout: float) -> Response:
        report = report_of(body)
        self.requests.append(Request(self._clock.now(), report["metric"], report["window"], len(body)))
        return ACCEPTED


def device(rng: random.Random, use: Use, *, by_use: bool) -> list[Request]:
    """The requests of one device.

    Args:
        by_use: Let what is done at the device decide when windows are sealed, as the code must not.
    """
    clock = ManualClock(STARTS + 100.0)
    noted = Noted(clock)
    running = client(lock(*METRICS), clock, transport=noted, background=not by_use)
    moments = sorted(use(rng), key=lambda moment: moment[0])
    end = STARTS + (DAYS + 2) * DAY
    step = clock.now()
    while clock.now() < end:
        coming = STARTS + moments[0][0] if moments else end
        if by_use and not moments:
            break
        clock.set(max(clock.now(), min(step, coming)))
        if coming <= step or by_use:
            clock.set(max(clock.now(), coming))
            _, value = moments.pop(0) if moments else (0, None)
            for one in METRICS:
                running.add(one.name, value)
            step = running._sender.step() if by_use else clock.now()
        else:
            step = running._sender.step()
    return noted.requests


@cache
def requests(use: Use, *, by_use: bool = False) -> list[list[Request]]:
    """The requests of many devices, each of which is used in its own way."""
    rng = random.Random(20_261_206)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Sender, "start", lambda self: None)  # its step is called here in place of its thread
        patch.setattr(schedule, "_LOT", rng)
        return [device(rng, use, by_use=by_use) for _ in range(DEVICES)]


def delays(sent: list[list[Request]]) -> list[float]:
    """By what part of the time over which they are spread requests come after the end of their window."""
    by_name = {one.name: one.windows for one in METRICS}
    found = []
    for request in (request for requests in sent for request in requests):
        cut = by_name[request.metric]
        found.append((request.time - cut.end(request.window)) / min(cut.length, DAY))
    return found


def uniform(parts: list[float], cells: int = 20) -> float:
    """Chance of draws at least this far from uniform ones on [0, 1)."""
    seen = Counter(math.floor(part * cells) for part in parts)
    table = [(float(seen[cell]), len(parts) / cells) for cell in range(cells)]
    return chi_square([[*table, (float(len(parts) - sum(seen[cell] for cell in range(cells))), 0.0)]])


USES: tuple[Use, ...] = (active, idle, nonsense)


@pytest.mark.parametrize("use", USES)
def test_number_and_length(use: Use) -> None:
    """The same for every device: one request for each window, and of one length for each metric."""
    for sent in requests(use):
        kept = [request for request in sent if request.window < METRICS[0].life[DAYS] or request.metric[0] == "c"]
        assert len(kept) == WINDOWS
        assert len({request[1:3] for request in kept}) == WINDOWS
        assert {(request.metric, request.length) for request in sent} == {
            (request.metric, request.length) for request in requests(idle)[0]
        }
        assert len({(request.metric, request.length) for request in sent}) == len(METRICS)


@pytest.mark.parametrize("use", USES)
def test_times(use: Use) -> None:
    """Uniform over the time after the window, whatever is done at the device: the same law for all of them."""
    assert uniform(delays(requests(use))) >= FALSE_ALARM


@pytest.mark.parametrize("use", USES)
def test_order(use: Use) -> None:
    """Of two daily reports that are due at the same midnight, each is first half of the time."""
    first = Counter[str]()
    for sent in requests(use):
        seen: set[int] = set()
        for request in sent:
            if request.metric[0] in "ab" and request.window not in seen:
                seen.add(request.window)
                first[request.metric] += 1
    total = first.total()
    assert chi_square([[(first[one.name], total / 2) for one in METRICS[:2]]]) >= FALSE_ALARM


def test_sealing_by_use_would_be_seen() -> None:
    assert uniform(delays(requests(active, by_use=True))) < FALSE_ALARM
