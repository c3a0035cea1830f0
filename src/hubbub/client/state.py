"""What a device remembers: its secret, its ledger, running windows, the outbox, the person's consent.

Each method is one transaction. The rules that no caller may break are kept here: a window is run and encoded only if
the ledger charged it, by the definition in force and no other, and its metric's seal has not passed it, whatever clock,
version or window length say; sealing stores the report, wipes the value and advances the seal at once. `MemoryState`
forgets all with the process (simulated devices, tests); `SqliteState` keeps it in a folder. Specification:
spec/windows.md, "Seals", and spec/ledger.md.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from hubbub.client.ledger import Ledger
from hubbub.client.policy import Policy
from hubbub.errors import HubbubError
from hubbub.lock import Lock


class StateError(HubbubError):
    """A device's state cannot be used. The message never holds a value or a secret.

    Args:
        where: The folder, or what stands for it.
        problem: What is wrong with it.
        remedy: What to do about it.
        busy: Whether somebody else holds it, so that the same call may succeed later.
    """

    def __init__(
        self,
        where: str,
        problem: str,
        remedy: str = "give state_dir a folder that this program can write",
        *,
        busy: bool = False,
    ) -> None:
        super().__init__(f"state {where}: {problem}; {remedy}")
        self.where = where
        self.problem = problem
        self.remedy = remedy
        self.busy = busy


Held = float | tuple[float, ...]  # what a window holds: a number, or as many as its kind says


@dataclass(frozen=True, slots=True)
class Running:
    """A window of one metric in which the program ran, [start, stop) in unix seconds, and what it holds so far."""

    metric: str
    hash: str  # of the encoding that its value is for; under any other one the window is neither run nor encoded
    start: int
    stop: int
    segment: str  # as it was when the program first ran in the window
    value: Held | None = field(default=None, repr=False)  # None: nothing valid was recorded

    def holding(self, value: Held) -> "Running":
        """The window once it holds this; `replace` would take most of the time of recording."""
        return Running(self.metric, self.hash, self.start, self.stop, self.segment, value)


class Report(NamedTuple):
    """A sealed report: its id and the very bytes that are posted until a terminal answer."""

    id: str
    body: bytes
    due: float = 0.0  # unix seconds; not posted earlier
    attempts: int = 0  # posts so far, and times that were missed (schedule.late); the state counts them
    sealed: int = 0  # unix second of sealing; the state sets it


class Stored(NamedTuple):
    """What the outbox holds."""

    reports: int
    bytes: int  # of bodies


@dataclass(frozen=True, slots=True)
class Installation:
    """What a device begins with."""

    secret: bytes = field(repr=False)
    ledger: Ledger
    recovered: str = ""  # what had happened to the memory, as a local counter calls it


FARTHEST = 2**35  # seconds: about a thousand years

Encode = Callable[[Running], Report | None]
Merge = Callable[[Held | None], Held]


class State(Protocol):
    """A device's memory; every method is one transaction and may raise `StateError`, and nothing else by itself."""

    def begin(self, lock: Lock, policy: Policy, now: float) -> Installation:
        """Take up the metrics of a lock at unix time `now`; see `hubbub.client.ledger.take_up`.

        A metric that is new, redefined or back in the lock begins at `now` as on the day of installation: what ran
        under another definition is wiped, and windows that begin before `now` are sealed. The secret is drawn at the
        first call. Where the memory was recovered from a second copy, or is older than it should be, every window that
        began before `now` is sealed.

        Raises:
            StateError: Also where `now` is no time (see `is_time`): nothing can be sealed by it, so nothing may begin.
        """
        ...

    def ledger(self) -> Ledger:
        """What this installation accepted and gave away, as of now."""
        ...

    def run(self, windows: Iterable[Running]) -> None:
        """The program runs in these windows; those that run already or that the ledger does not allow stay as is.

        A window of another encoding than the one in force is not allowed: several clients, of an older and a newer
        release, may use one state.
        """
        ...

    def record(self, window: Running, merge: Merge) -> bool:
        """Replace what a running window holds by `merge` of it; False where that window does not run."""
        ...

    def seal(self, now: float, encode: Encode, hashes: Mapping[str, str] | None = None) -> None:
        """Turn every running window that ended by `now` into its report, oldest first; none where `now` is no time.

        `encode` draws the noise and the time at which the report is due. The report goes to the outbox (None: there is
        none, and never will be), the window and its value are wiped and the metric's seal moves to the window's end,
        all or nothing.

        Args:
            hashes: The encodings that `encode` knows, by metric; windows of others are left to those who do. None: all.
        """
        ...

    def outbox(self, limit: int | None = None, due_by: float | None = None) -> Sequence[Report]:
        """Reports without a terminal answer in the order in which they are due."""
        ...

    def delay(self, report_id: str, due: float) -> None:
        """A post of the report came to nothing; it is due again at `due`, or as before where that is no time."""
        ...

    def done(self, report_id: str) -> None:
        """Forget a report that got its terminal answer, and count it as sent."""
        ...

    def trim(self, max_reports: int, max_bytes: int, sealed_before: float) -> int:
        """Drop reports sealed before a time (if it is one), then the oldest until the rest keeps to both limits.

        Returns:
            How many were dropped. Their windows stay sealed.
        """
        ...

    def stored(self) -> Stored:
        """How much the outbox holds."""
        ...

    def wipe(self, now: float) -> None:
        """Forget values and outbox; every window that began before `now` is sealed, so none is ever filled in later.

        Where `now` is no time, nothing is sealed but all is forgotten.
        """
        ...

    def consent(self) -> str:
        """What `set_consent` was last given, empty until then."""
        ...

    def set_consent(self, consent: str) -> None:
        """Remember the person's decision; kept as long as the secret."""
        ...

    def abandon(self) -> None:
        """In the child of a fork: close, but leave alone what belongs to the parent."""
        ...

    def close(self) -> None:
        """Release what the state holds open; nothing is lost."""
        ...


def is_time(now: float) -> bool:
    """Whether a clock says a time at all, and one that can be: what it says else seals, drops and begins nothing."""
    return abs(now) <= FARTHEST  # not where it is no number


def second(where: str, now: float) -> int:
    """The first whole second at or after `now`.

    Raises:
        StateError: It is no time.
    """
    if not is_time(now):
        raise StateError(where, "the clock says no time that can be", "set the clock")
    return math.ceil(now)


def same_collection(where: str, known: str, collection: str) -> None:
    """Refuse a lock of another collection.

    Raises:
        StateError: The state belongs to another one.
    """
    if known != collection:
        problem = f"it belongs to collection {known!r}, the lock to {collection!r}"
        raise StateError(where, problem, "give each collection a state of its own")
