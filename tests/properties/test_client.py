"""Whatever an app, a clock, a network and restarts do: each window leaves at most once, unchanged, and none is lost."""

import math
import shutil
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from hubbub.client import Choice, MemoryState, Response, SqliteState, State, consent
from hubbub.clock import ManualClock
from hubbub.encoders.base import SCALE, below
from hubbub.lock import Lock, Metric
from hubbub.prf import device_prf, report_id
from hubbub.windows import midnight
from hubbub.wire import unpack
from tests.unit.client_support import ACCEPTED, STARTS, Plain, client, lock, metric, report_of, result, secret_of

HOUR, DAY = 3600, 86_400
TOP = 1000
BASE = (
    metric("daily", encoder=Plain(TOP + 1), starts="2026-12-02", expires="2026-12-20"),
    metric("hourly", "boolean", Plain(2), window="hour"),
    metric("panel", encoder=Plain(TOP + 1), report_every=3),
    metric("weekly", encoder=Plain(TOP + 1), window="week"),
    metric("hidden", encoder=Plain(TOP + 1), presence="hidden", grace=5 * DAY),
    metric("turns.first", encoder=Plain(TOP + 1), report_every=2, rotation="turns:0"),
    metric("turns.second", encoder=Plain(TOP + 1), report_every=2, rotation="turns:1", presence="hidden"),
)
NAMES = [m.name for m in BASE]
LOCKS = (
    lock(*BASE),
    lock(*BASE[1:], metric("daily", encoder=Plain(TOP + 2), version=2)),  # redefined
    lock(*BASE[:2], *BASE[3:]),  # without the panel
    lock(*BASE[:3], metric("weekly", encoder=Plain(TOP + 1), version=2)),  # daily from now on
    lock(BASE[0], metric("hourly", "boolean", Plain(2), window="hour", version=2, expires="2026-12-30"), *BASE[2:]),
)
DEFINITIONS = {(m.name, m.hash[:32]): m for locked in LOCKS for m in locked.metrics.values()}
STEPS = st.sampled_from(["accept", "duplicate", "reject", "retry", "busy", "refuse", "cut", "lost"])
ANSWERS = {
    "accept": ACCEPTED,
    "duplicate": result("duplicate"),
    "reject": result("rejected", code="too_late"),
    "retry": result("retry", code="too_early"),
    "busy": Response(503, b""),
    "refuse": Response(400, b""),
    "cut": Response(200, ACCEPTED.body[:9]),
}
TERMINAL = {"accept", "duplicate", "reject", "refuse"}


class Key(NamedTuple):
    """What may be encoded once: a metric's definition and a window."""

    metric: str
    hash: str
    window: int


@dataclass
class Account:
    """What the device may still report under a metric name."""

    sealed: float = -math.inf
    hash: str = ""  # of the definition in force, empty where there is none
    version: int = 0
    begins: float = 0
    ends: float = 0
    seen: dict[int, str] = field(default_factory=dict)

    def seal(self, now: int) -> None:
        if self.hash:
            self.sealed = max(self.sealed, min(now, self.ends))


def key_of(body: bytes) -> Key:
    report = report_of(body)
    asked = DEFINITIONS[report["metric"], report["hash"]]
    return Key(asked.name, asked.hash, report["window"])


class Network:
    """Takes each body down before it answers as it is told; what was answered for good is remembered."""

    def __init__(self) -> None:
        self.steps: list[str] = []
        self.sent: list[bytes] = []
        self.settled: set[bytes] = set()

    def post(self, body: bytes, timeout: float) -> Response:
        assert body not in self.settled, "sent again after a terminal answer"
        self.sent.append(body)
        step = self.steps.pop() if self.steps else "lost"
        if step in TERMINAL:
            self.settled.add(body)
        if step == "lost":
            raise ConnectionResetError
        return ANSWERS[step]


class Device(RuleBasedStateMachine):
    """A device beside a model of what it owes: written from the specification, one dictionary of windows."""

    def open_state(self) -> State:
        return MemoryState()

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(prefix="hubbub-test-"))
        self.network = Network()
        self.clock = ManualClock(STARTS)
        self.locked: Lock = LOCKS[0]
        self.accounts: dict[str, Account] = {}
        self.choice = ""
        self.gone: set[Key] = set()  # sealed without a report, or wiped before it was sent
        self.running: dict[Key, float | None] = {}
        self.owed: dict[Key, float | None] = {}  # all that was ever sealed, and what it held
        self.wiped: list[int] = []  # the windows in which the device was when it was last wiped

    def teardown(self) -> None:
        self.client.close()
        self.state.close()
        shutil.rmtree(self.folder)

    # The model

    def metric(self, name: str) -> Metric | None:
        return self.locked.metrics.get(name)

    def begin(self) -> None:
        now = math.ceil(self.clock.now())
        for name in {*self.accounts, *self.locked.metrics}:
            asked, account = self.metric(name), self.accounts.setdefault(name, Account())
            since, renewed = float(now), False
            if account.hash and asked and asked.hash == account.hash and asked.version == account.version:
                continue
            if account.hash:
                renewed = asked is not None and asked.hash == account.hash and asked.version > account.version
                if renewed:
                    since = account.sealed
                else:
                    account.seal(now)
                account.hash = ""
            if asked and self.acceptable(asked, account, max(since, account.sealed)):
                account.sealed = max(since, account.sealed)
                account.hash, account.version = asked.hash, asked.version
                account.begins, account.ends = max(midnight(asked.starts), account.sealed), midnight(asked.expires)
                account.seen[asked.version] = asked.hash
            if not (renewed and account.hash):
                self.running = {key: held for key, held in self.running.items() if key.metric != name}
        if self.holds_now() == "denied":
            self.wipe(now)

    def acceptable(self, asked: Metric, account: Account, since: float) -> bool:
        left = asked.windows.inside(math.ceil(max(midnight(asked.starts), since)), midnight(asked.expires))
        versions = account.seen
        if asked.version < max(versions, default=0) or versions.get(asked.version, asked.hash) != asked.hash:
            return False
        return len(left) > 0

    def holds_now(self) -> str:
        return self.choice or self.default

    def wipe(self, now: int) -> None:
        self.running, self.wiped = {}, self.around()
        for account in self.accounts.values():
            account.seal(now)
        settled = {key_of(body) for body in self.network.settled}
        self.gone |= {key for key in self.owed if key not in settled}

    def turn(self, every: int) -> int:
        return below(every, device_prf(self.secret, self.locked.collection, "", "")("turn", every))

    def current(self, asked: Metric) -> Key:
        return Key(asked.name, asked.hash, asked.windows.index(self.clock.now()))

    def around(self) -> list[int]:
        return [asked.windows.index(self.clock.now()) for asked in self.locked.metrics.values()]

    def mine(self, asked: Metric, window: int) -> bool:
        """Whether the device is to report the window, once it has ended."""
        account, every = self.accounts[asked.name], asked.report_every
        rank = int(asked.rotation[-1]) if asked.rotation else 0
        start, stop = asked.windows.start(window), asked.windows.end(window)
        turn = window in asked.life and window % every == (self.turn(every) + rank) % every
        return turn and account.hash != "" and start >= max(account.sealed, account.begins) and stop <= account.ends

    def fill(self, asked: Metric) -> None:
        """What ended within grace without the program, and is not sealed, counts as if it had run."""
        now = self.clock.now()
        for window in range(asked.windows.index(now - asked.grace), asked.windows.index(now)):
            stop = asked.windows.end(window)
            if stop <= now < stop + asked.grace and self.mine(asked, window):
                self.running.setdefault(Key(asked.name, asked.hash, window), None)

    def advance(self) -> None:
        if self.holds_now() == "denied":
            hidden = any(asked.presence == "hidden" for asked in self.locked.metrics.values())
            if hidden and self.wiped != self.around():
                self.wipe(math.ceil(self.clock.now()))
            return
        for asked in self.locked.metrics.values():
            if asked.presence == "hidden":
                self.fill(asked)
        for key in sorted(self.running, key=lambda key: key.window):
            asked = self.locked.metrics[key.metric]
            if asked.windows.end(key.window) <= self.clock.now():
                assert key not in self.owed
                self.owed[key] = self.running.pop(key)
                self.accounts[key.metric].sealed = asked.windows.end(key.window)
                if self.holds_now() != "granted":
                    self.gone.add(key)
        for asked in self.locked.metrics.values():
            key = self.current(asked)
            if self.mine(asked, key.window):
                self.running.setdefault(key, None)

    # What can happen

    @initialize(hours=st.integers(0, 60), which=st.sampled_from(LOCKS), default=st.sampled_from(consent.DEFAULTS))
    def install(self, hours: int, which: Lock, default: Choice) -> None:
        self.default = default
        self.clock.set(STARTS - DAY + hours * HOUR)
        self.locked = which
        self.state = self.open_state()
        self.start()
        assert len(self.secret) == 32

    def start(self) -> None:
        self.client = client(self.locked, self.clock, state=self.state, transport=self.network, consent=self.default)
        self.secret = secret_of(self.state, self.locked, self.clock.now())
        self.begin()
        self.advance()

    @rule(choice=st.sampled_from(consent.CHOICES))
    def choose(self, choice: Choice) -> None:
        self.client.consent(choice)
        self.advance()  # what ended until now, as it was until now
        if "denied" in (choice, self.holds_now()):
            self.wipe(math.ceil(self.clock.now()))
        self.choice = choice
        self.advance()

    @rule(name=st.sampled_from(NAMES), value=st.integers(-20, 200), replace=st.booleans())
    def record_number(self, name: str, value: int, replace: bool) -> None:
        (self.client.set if replace else self.client.add)(name, value)
        self.advance()
        asked = self.metric(name)
        if (
            asked
            and self.holds_now() != "denied"
            and self.current(asked) in self.running
            and (asked.kind == "mean" or value in (0, 1))
        ):
            held = self.running[self.current(asked)]
            if held is not None and not replace:
                value = max(int(held), value) if asked.kind == "boolean" else int(held) + value
            self.running[self.current(asked)] = value

    @rule(name=st.sampled_from(NAMES), value=st.sampled_from([math.nan, math.inf, None, "1", 10**400]))
    def record_nonsense(self, name: str, value: object) -> None:
        self.client.add(name, value)
        self.client.set(name, value)
        self.advance()

    @rule()
    def tick(self) -> None:
        self.client.tick()
        self.advance()

    @rule(seconds=st.sampled_from([0.5, 1800, HOUR, 5 * HOUR, DAY, 2 * DAY, 7 * DAY, 40 * DAY]), back=st.booleans())
    def move_clock(self, seconds: float, back: bool) -> None:
        self.clock.set(self.clock.now() + (-seconds if back else seconds))

    @rule(days=st.integers(1, 3))
    def next_midnight(self, days: int) -> None:
        self.clock.set((self.clock.now() // DAY + days) * DAY)

    @rule(steps=st.lists(STEPS, max_size=8))
    def flush(self, steps: list[str]) -> None:
        self.network.steps = steps
        empty = self.client.flush(timeout=1000)
        self.advance()
        assert empty == (not self.state.outbox())

    @rule(which=st.sampled_from(LOCKS))
    def restart(self, which: Lock) -> None:
        self.client.close()
        if isinstance(self.state, SqliteState):
            self.state.close()
            self.state = self.open_state()
        self.locked = which
        self.start()

    # What must hold all the time

    @invariant()
    @precondition(lambda self: hasattr(self, "client"))
    def holds(self) -> None:
        waiting = [report.body for report in self.state.outbox()]
        assert len(set(waiting)) == len(waiting)
        assert not self.network.settled & set(waiting), "kept after a terminal answer"
        encoded: dict[Key, bytes] = {}
        for body in {*waiting, *self.network.sent}:
            report = report_of(body)
            asked = DEFINITIONS[report["metric"], report["hash"]]
            key = key_of(body)
            assert key not in encoded, "two payloads for one window"
            encoded[key] = body
            value = self.owed[key] or 0.0  # KeyError: reported though it was not due
            sent, _ = unpack(report["payload"], (asked.encoder.size, SCALE))
            assert sent == min(max(value, 0), asked.encoder.size - 1)
            prf = device_prf(self.secret, self.locked.collection, asked.name, asked.hash)
            assert report["id"] == report_id(prf, key.window)
        turns = [key.window for key in encoded if key.metric.startswith("turns.")]
        assert len(set(turns)) == len(turns), "two of a group that takes turns reported one window"
        assert self.owed.keys() - encoded.keys() <= self.gone, "a window was lost"
        assert not {key_of(body) for body in waiting} & self.gone, "kept though it was to be forgotten"
        assert {key for key in encoded if key not in self.gone} == self.owed.keys() - self.gone


class DeviceInFolder(Device):
    """The same with a database that is closed and opened at each restart."""

    def open_state(self) -> State:
        return SqliteState(self.folder)


TestDevice = Device.TestCase
TestDevice.settings = settings(max_examples=100, stateful_step_count=50, deadline=None)
TestDeviceInFolder = DeviceInFolder.TestCase
TestDeviceInFolder.settings = settings(max_examples=20, stateful_step_count=40, deadline=None)
