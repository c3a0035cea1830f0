"""What the tests of the client share: locks, a transport that answers by script, an encoder that hides nothing."""

import json
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar

from hubbub.client import Client, MemoryState, Response, State, Transport
from hubbub.client.policy import RESEARCH
from hubbub.clock import Clock, ManualClock
from hubbub.encoders.base import SCALE, Answer, Encoder, Law, Payload, Prf, Prices, Words
from hubbub.encoders.one_bit_mean import OneBitMean
from hubbub.encoders.randomized_response import RandomizedResponse
from hubbub.lock import MILLION, Lock, Metric
from hubbub.windows import midnight

STARTS = midnight("2026-12-01")  # a Tuesday
DAY = 86_400
ENDPOINT = "http://127.0.0.1:9"
MEAN = OneBitMean(480, 480, 511972653, 3271021990, 844441824, 1)  # memo, epsilon 1, permanent 2
FRESH_MEAN = OneBitMean(480, 480, 1155076176, 1984814944, 0, 0)
YES_NO = RandomizedResponse(511972653, 844441824, 1)


@dataclass(frozen=True)
class Plain:
    """For tests alone: sends the value itself and the word of noise beside it, so that both can be read off."""

    name: ClassVar[str] = "test_plain"
    kinds: ClassVar[tuple[str, ...]] = ("boolean", "mean")
    public: ClassVar[int] = 0
    public_bits: ClassVar[float] = 0.0
    linkage_bits: ClassVar[float] = 0.0
    memo: ClassVar[int] = 0
    size: int

    @property
    def radices(self) -> tuple[int, ...]:
        return (self.size, SCALE)

    def permanent(self, value: int, prf: Prf) -> Answer:
        return (value,)

    def report(self, answer: Answer, words: Words) -> Payload:
        return (*answer, words(1)[0])

    def possible(self, payload: Payload) -> bool:
        return True

    def law(self, value: int, public: Payload = ()) -> Law:
        return {(value,): Fraction(1)}

    def prices(self, windows: int) -> Prices:
        return Prices(1.0, 1.0, 1.0, 1.0)

    def canonical(self) -> tuple[int, ...]:
        return (self.size,)


def metric(name: str = "editor.minutes", kind: str = "mean", encoder: Encoder | None = None, **changes: Any) -> Metric:
    """A metric of December 2026 and the year after it."""
    plain: dict[str, Any] = {
        "version": 1,
        "lower": 0,
        "step": MILLION,
        "unit": "min",
        "labels": (),
        "window": "day",
        "starts": "2026-12-01",
        "expires": "2027-11-30",
        "grace": 14 * DAY,
        "report_every": 1,
        "rotation": "",
        "presence": "ran",
        "seal": "window_end",
        "dimensions": (),
        "min_reports": 100,
        "description": "What it is",
        "purpose": "What it is for",
        "owners": ("telemetry@example.org",),
    }
    default: Encoder = MEAN if kind == "mean" else YES_NO
    return Metric(name=name, kind=kind, encoder=encoder or default, **(plain | changes))


def lock(*metrics: Metric, collection: str = "editor-desktop") -> Lock:
    made = Lock(collection, {m.name: m for m in metrics or (metric(),)})
    if any(isinstance(m.encoder, Plain) for m in made.metrics.values()):
        vars(made)["checked"] = made  # no registry has its encoder, so the reader of locks would refuse it
    return made


Step = Response | Exception | Callable[[bytes], Response]
ACCEPTED = Response(200, b'{"accepted": 1, "results": []}')


def result(status: str, **more: str) -> Response:
    """A collector's answer that holds one result."""
    entry = {"index": 0, "id": "0" * 16, "status": status} | more
    return Response(200, json.dumps({"accepted": 0, "results": [entry]}).encode())


@dataclass
class Script:
    """A transport that plays its steps one by one, then accepts everything."""

    steps: Iterable[Step] = ()
    bodies: list[bytes] = field(default_factory=list)
    timeouts: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._steps = iter(self.steps)

    def post(self, body: bytes, timeout: float) -> Response:
        self.bodies.append(body)
        self.timeouts.append(timeout)
        step = next(self._steps, ACCEPTED)
        if isinstance(step, Exception):
            raise step
        return step if isinstance(step, Response) else step(body)

    @property
    def reports(self) -> list[dict[str, Any]]:
        """The report of each body, in the order in which they were sent."""
        return [report_of(body) for body in self.bodies]


def report_of(body: bytes) -> dict[str, Any]:
    """The one report of a body."""
    tree = json.loads(body)
    assert tree.keys() == {"schema", "reports"}
    assert tree["schema"] == "hubbub.reports/1"
    (report,) = tree["reports"]
    assert isinstance(report, dict)
    return report


def client(
    locked: Lock,
    clock: Clock,
    *,
    state: State | None = None,
    transport: Transport | None = None,
    dimensions: Mapping[str, str] | None = None,
    **more: Any,
) -> Client:
    """A client in memory, without a thread and without limits, whose reports are all accepted."""
    given: dict[str, Any] = {"policy": "research", "background": False} | more
    return Client(
        locked,
        ENDPOINT,
        state=MemoryState() if state is None else state,
        clock=clock,
        transport=transport or Script(),
        dimensions=dimensions or {},
        **given,
    )


def live(device: Client, clock: ManualClock, until: float) -> None:
    """What the thread of a client does until then, without the waiting."""
    while clock.now() < until:
        clock.set(max(clock.now(), min(device._sender.step(), until)))


def secret_of(state: State, locked: Lock, now: float = STARTS) -> bytes:
    """The secret of a state in which a client of this lock has begun, by this clock."""
    return state.begin(locked, RESEARCH, math.ceil(now)).secret
