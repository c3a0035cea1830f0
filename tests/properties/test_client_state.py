"""Whatever a lock, a clock and a disk do: no second is encoded twice, and nothing that was paid is forgotten."""

import math
import shutil
import tempfile
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from hubbub.client import MemoryState, Report, Running, SqliteState, State
from hubbub.client.ledger import MAX_SECRETS, Account, Ledger
from hubbub.client.policy import RESEARCH
from hubbub.client.state import Stored
from hubbub.lock import Lock, Metric
from tests.unit.client_support import DAY, FRESH_MEAN, MEAN, STARTS
from tests.unit.state_support import named, of

HOUR = 3600
NAMES = ("a", "b")
LIMIT = 14.0  # seven encodings with permanent answers, then nothing more
POLICY = replace(RESEARCH, name="test", steady=LIMIT)
WINDOWS = ("hour", "day", "week")
METRICS = st.builds(
    named,
    st.sampled_from(NAMES),
    version=st.integers(1, 6),
    window=st.sampled_from(WINDOWS),
    report_every=st.sampled_from([1, 1, 3]),
    step=st.sampled_from([1, 2]),
    starts=st.sampled_from(["2026-12-01", "2026-12-05"]),
    expires=st.sampled_from(["2026-12-10", "2026-12-20", "2027-11-30"]),
    encoder=st.sampled_from([MEAN, MEAN, FRESH_MEAN]),
)
HOURLY = named(window="hour")
LOCKS = st.lists(METRICS, max_size=2).map(lambda metrics: of(*metrics))


class Encoded(NamedTuple):
    """A window that was encoded, under which secret and by which definition."""

    under: str
    name: str
    start: int
    stop: int
    hash: str


def used(account: Account) -> float:
    """The life prices of what can have been reported by now: what no refund touches."""
    return sum(charge.cut(account.sealed).prices.life for charge in account.charges)


class Installation(RuleBasedStateMachine):
    """A device in memory: locks come and go, the clock runs both ways."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(prefix="hubbub-test-")) / "state"
        self.lock: Lock = of()
        self.now = self.latest = STARTS
        self.encoded: list[Encoded] = []
        self.before: Ledger | None = None  # the ledger that the next one may not fall below
        self.state = self.opened()

    def opened(self) -> State:
        return MemoryState()

    def teardown(self) -> None:
        self.state.close()
        shutil.rmtree(self.folder.parent)

    def encode(self, running: Running) -> Report:
        ledger = self.state.ledger()
        current = ledger.accounts[running.metric].current
        assert current is not None
        assert current.allows(running.start, running.stop)
        assert current.hash == running.hash
        self.encoded.append(Encoded(ledger.under, running.metric, running.start, running.stop, current.hash))
        return Report(f"{len(self.encoded)}", b"")

    def begin(self, lock: Lock | None = None) -> None:
        self.lock = self.lock if lock is None else lock
        self.state.begin(self.lock, POLICY, self.now)

    def current(self, metric: Metric) -> Running:
        windows = metric.windows
        window = windows.index(self.now)
        return Running(metric.name, metric.hash, windows.start(window), windows.end(window), "")

    @initialize(lock=LOCKS)
    def first(self, lock: Lock) -> None:
        self.begin(lock)

    @rule(lock=LOCKS)
    def update(self, lock: Lock) -> None:
        self.begin(lock)

    @rule(version=st.integers(1, 3), window=st.sampled_from(WINDOWS), step=st.sampled_from([1, 2]))
    def next_version(self, version: int, window: str, step: int) -> None:
        """An app that always goes on to higher versions, as most do."""
        highest = max((max(a.versions, default=0) for a in self.state.ledger().accounts.values()), default=0)
        self.begin(of(named("a", version=highest + version, window=window, step=step)))

    @rule(seconds=st.sampled_from([1, HOUR - 1, HOUR, DAY, DAY + 1, 7 * DAY, 400 * DAY, -1, -HOUR, -DAY, -9 * DAY]))
    def wait(self, seconds: int) -> None:
        self.now += seconds
        self.latest = max(self.latest, self.now)
        self.live()

    @rule()
    def live(self) -> None:
        """What a client does: seal what has ended, run in the current windows."""
        self.live_by(self.lock)

    def live_by(self, lock: Lock) -> None:
        self.state.seal(self.now, self.encode, {name: metric.hash for name, metric in lock.metrics.items()})
        self.state.run([self.current(metric) for metric in lock.metrics.values()])

    @rule(lock=LOCKS)
    def live_by_another_release(self, lock: Lock) -> None:
        """A client of an older or newer lock that shares the state and has not noticed what is in force."""
        self.live_by(lock)

    @rule(clock=st.sampled_from([math.nan, math.inf, -math.inf, 1e18, -1e19, 1e300]))
    def live_by_no_clock(self, clock: float) -> None:
        before = self.state.ledger(), self.state.outbox()
        self.state.seal(clock, self.encode)
        assert (self.state.ledger(), self.state.outbox()) == before

    @rule(hours=st.integers(1, 30))
    def live_on(self, hours: int) -> None:
        for _ in range(hours):
            self.now += HOUR
            self.live()
        self.latest = max(self.latest, self.now)

    @rule()
    def wipe(self) -> None:
        self.state.wipe(self.now)

    @invariant()
    def no_second_is_encoded_twice(self) -> None:
        spans: dict[tuple[str, str], list[tuple[int, int]]] = {}
        for one in self.encoded:
            spans.setdefault((one.under, one.name), []).append((one.start, one.stop))
        for key, found in spans.items():
            assert all(first[1] <= second[0] for first, second in pairwise(sorted(found))), key

    @invariant()
    def nothing_is_forgotten(self) -> None:
        ledger, before = self.state.ledger(), self.before
        if before is not None:
            for name, old in before.accounts.items():
                if not old.charges:
                    continue
                new = ledger.accounts[name]
                assert new.sealed >= old.sealed
                assert used(new) >= used(old) * (1 - 1e-12)
                assert set(new.versions) >= set(old.versions)
        self.before = ledger

    @invariant()
    def limits_are_kept(self) -> None:
        assert self.state.ledger().steady <= LIMIT

    @invariant()
    def reports_are_paid(self) -> None:
        """Each window that was encoded under the secret in use lies in a charge, and one version has one encoding."""
        ledger = self.state.ledger()
        for one in self.encoded:
            if one.under == ledger.under:
                charges = ledger.accounts[one.name].charges
                assert any(charge.hash == one.hash and charge.allows(one.start, one.stop) for charge in charges)
        for account in ledger.accounts.values():
            for version in account.versions:
                assert len({charge.hash for charge in account.charges if charge.version == version}) == 1


class Folder(Installation):
    """The same in a folder that loses files, is restored from old copies and is copied elsewhere."""

    def __init__(self) -> None:
        super().__init__()
        self.old: dict[str, bytes] = {}
        self.copies = 0

    def opened(self) -> State:
        return SqliteState(self.folder)

    def again(self) -> None:
        self.state = self.opened()
        self.begin()

    @rule()
    def restart(self) -> None:
        self.state.close()
        self.again()

    @rule(file=st.sampled_from(["state.db", "secret.json"]), how=st.sampled_from(["unlink", "zero", "half"]))
    def lose(self, file: str, how: str) -> None:
        secret = self.state.ledger().under
        self.state.close()
        path = self.folder / file
        data = path.read_bytes()
        if how == "unlink":
            path.unlink()
        else:
            path.write_bytes(bytes(len(data)) if how == "zero" else data[: len(data) // 2])
        self.again()
        assert self.state.ledger().under == secret

    @rule()
    def save(self) -> None:
        self.state.close()
        self.old = {path.name: path.read_bytes() for path in self.folder.iterdir() if path.name != "state.lock"}
        self.again()

    @precondition(lambda self: self.old and self.now == self.latest)
    @rule(file=st.sampled_from(["state.db", "secret.json", "both"]))
    def restore(self, file: str) -> None:
        """An old copy comes back while the clock tells the truth; with both files old, what was accepted is unknown."""
        self.state.close()
        for name, data in self.old.items():
            if file in (name, "both"):
                (self.folder / name).write_bytes(data)
        if file == "both":
            self.before = None
            self.encoded = [one._replace(hash="") for one in self.encoded]
        self.again()

    @precondition(lambda self: self.copies < MAX_SECRETS + 1)
    @rule()
    def copy(self) -> None:
        self.state.close()
        self.copies += 1
        secret = self.before.under if self.before else ""
        copy = self.folder.with_name(f"copy-{self.copies}")
        shutil.copytree(self.folder, copy)
        self.folder, self.old = copy, {}
        self.again()
        ledger = self.state.ledger()
        assert ledger.under != secret
        year = [birth for birth in ledger.secrets.values() if birth > self.now - 365 * DAY]
        if len(year) > MAX_SECRETS:
            assert not any(account.active for account in ledger.accounts.values())

    @invariant()
    def reports_are_paid(self) -> None:
        """As far as the memory reaches: a restored one does not know every definition."""
        kept, self.encoded = self.encoded, [one for one in self.encoded if one.hash]
        super().reports_are_paid()
        self.encoded = kept


class Outbox(RuleBasedStateMachine):
    """The outbox of both states beside a plain list."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.mkdtemp(prefix="hubbub-test-")
        self.states: list[State] = [MemoryState(), SqliteState(self.folder)]
        self.model: list[Report] = []
        self.number = 0
        for state in self.states:
            state.begin(of(HOURLY), RESEARCH, STARTS)

    def teardown(self) -> None:
        for state in self.states:
            state.close()
        shutil.rmtree(self.folder)

    @rule(size=st.integers(0, 40), due=st.integers(0, 9), pause=st.sampled_from([0, 0, 5]))
    def seal(self, size: int, due: float, pause: int) -> None:
        start = STARTS + self.number
        sealed = STARTS + self.number + 1 + pause
        report = Report(f"r{self.number}", b"x" * size, float(due))
        for state in self.states:
            state.run([Running("a", HOURLY.hash, start, start + 1, "")])
            state.seal(sealed, lambda running: report)
        self.model.append(report._replace(sealed=sealed))
        self.number += 1 + pause

    @rule(which=st.integers(0, 9), due=st.integers(0, 9))
    def delay(self, which: int, due: float) -> None:
        if which < len(self.model):
            report = self.model[which]
            self.model[which] = report._replace(due=float(due), attempts=report.attempts + 1)
            for state in self.states:
                state.delay(report.id, due)

    @rule(which=st.integers(0, 9))
    def done(self, which: int) -> None:
        if which < len(self.model):
            report = self.model.pop(which)
            for state in self.states:
                state.done(report.id)

    @rule(most=st.integers(0, 6), size=st.integers(0, 120), age=st.integers(0, 20))
    def trim(self, most: int, size: int, age: int) -> None:
        kept: list[Report] = []
        for report in sorted(self.model, key=lambda report: (report.sealed, report.id), reverse=True):
            held = sum(len(one.body) for one in kept) + len(report.body)
            if report.sealed < STARTS + age or len(kept) == most or held > size:
                break
            kept.append(report)
        dropped = len(self.model) - len(kept)
        self.model = [report for report in self.model if report in kept]
        assert [state.trim(most, size, STARTS + age) for state in self.states] == [dropped] * 2

    @rule()
    def wipe(self) -> None:
        self.model.clear()
        for state in self.states:
            state.wipe(STARTS)

    @rule()
    def restart(self) -> None:
        self.states[1].close()
        self.states[1] = SqliteState(self.folder)

    @invariant()
    def both_hold_what_the_model_holds(self) -> None:
        expected = sorted(self.model, key=lambda report: (report.due, report.id))
        size = Stored(len(expected), sum(len(report.body) for report in expected))
        for state in self.states:
            assert state.outbox() == expected
            assert state.outbox(limit=2, due_by=4) == [report for report in expected if report.due <= 4][:2]
            assert state.stored() == size


TestInstallation = Installation.TestCase
TestInstallation.settings = settings(max_examples=150, stateful_step_count=30)
TestFolder = Folder.TestCase
TestFolder.settings = settings(max_examples=30, stateful_step_count=20)
TestOutbox = Outbox.TestCase
TestOutbox.settings = settings(max_examples=30, stateful_step_count=25)
