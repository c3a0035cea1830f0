"""A state that ends with the process: for simulated devices and tests, since each new one is a new installation."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from hubbub.client.ledger import Account, Ledger, take_up
from hubbub.client.policy import Policy
from hubbub.client.records import ledger_of, ledger_tree
from hubbub.client.secret import Memory, drawn, name_of
from hubbub.client.state import (
    Encode,
    Installation,
    Merge,
    Report,
    Running,
    StateError,
    Stored,
    is_time,
    same_collection,
    second,
)
from hubbub.lock import Lock

_NONE = Account()
_Key = tuple[str, int]


class MemoryState:
    """A state that is forgotten with the process.

    A host's signal handler may call it in the midst of any other call, which SQLite would refuse: each step leaves it
    such that nothing is encoded twice.
    """

    def __init__(self) -> None:
        self._memory: Memory | None = None
        self._accounts: dict[str, Account] = {}
        self._running: dict[_Key, Running] = {}
        self._taken: dict[_Key, Running] = {}  # by a `seal` that has not come to its end
        self._outbox: dict[str, tuple[Report, str]] = {}  # with the metric's name
        self._consent = ""

    def begin(self, lock: Lock, policy: Policy, now: float) -> Installation:
        """Take up the metrics of a lock."""
        now = second("in memory", now)
        memory = self._memory or drawn(lock.collection, now)
        same_collection("in memory", memory.ledger.collection, lock.collection)
        known = self._accounts
        ledger = take_up(replace(memory.ledger, accounts=known), lock, policy, now)
        self._memory, self._accounts = replace(memory, ledger=ledger), dict(ledger.accounts)
        for windows in (self._running, self._taken):
            for key, w in list(windows.items()):
                if not (self._account(w.metric).continues(known.get(w.metric, _NONE)) and self._runs(w)):
                    windows.pop(key, None)
        return Installation(memory.secret, ledger)

    def ledger(self) -> Ledger:
        """What this installation accepted and gave away."""
        if self._memory is None:
            raise StateError("in memory", "nothing has begun", "call begin first")
        return replace(self._memory.ledger, accounts=dict(self._accounts))

    def run(self, windows: Iterable[Running]) -> None:
        """The program runs in these windows."""
        for window in windows:
            if self._runs(window) and (window.metric, window.start) not in self._taken:
                self._running.setdefault((window.metric, window.start), window)

    def record(self, window: Running, merge: Merge) -> bool:
        """Replace what a running window holds."""
        key = window.metric, window.start
        held = self._running.get(key)
        if held is None or held.hash != window.hash:
            return False
        self._running[key] = held.holding(merge(held.value))
        return True

    def seal(self, now: float, encode: Encode, hashes: Mapping[str, str] | None = None) -> None:
        """Turn every running window that ended into its report."""
        if not is_time(now):
            return
        mine = [w for w in list(self._running.values()) if hashes is None or hashes.get(w.metric) == w.hash]
        ended = sorted((w for w in mine if w.stop <= now), key=lambda w: (w.start, w.metric))
        seals: dict[str, int] = {}
        sealed: list[tuple[_Key, Report | None]] = []
        try:
            for window in ended:
                key = window.metric, window.start
                held = self._running.pop(key, None)
                if held is None:  # taken by a call within this one
                    continue
                self._taken[key] = held
                if self._runs(held) and held.start >= seals.get(held.metric, held.start):
                    sealed.append((key, encode(held)))
                    seals[held.metric] = held.stop
        except BaseException:
            self._put_back(ended)
            raise
        for key, report in sealed:
            taken = self._taken.get(key)
            if taken is None:  # wiped by a call within this one
                continue
            account = self._account(taken.metric)
            self._accounts[taken.metric] = account.at(max(account.sealed, taken.stop), account.sent)
            if report is not None:
                self._outbox.setdefault(report.id, (report._replace(attempts=0, sealed=int(now)), taken.metric))
        for window in ended:
            self._taken.pop((window.metric, window.start), None)

    def outbox(self, limit: int | None = None, due_by: float | None = None) -> Sequence[Report]:
        """Reports without a terminal answer in the order in which they are due."""
        found = sorted(
            (report for report, _ in list(self._outbox.values())), key=lambda report: (report.due, report.id)
        )
        return [report for report in found if due_by is None or report.due <= due_by][:limit]

    def delay(self, report_id: str, due: float) -> None:
        """A post of the report came to nothing."""
        if report_id in self._outbox:
            report, metric = self._outbox[report_id]
            due = due if is_time(due) else report.due
            self._outbox[report_id] = report._replace(due=due, attempts=report.attempts + 1), metric

    def done(self, report_id: str) -> None:
        """Forget a report that got its terminal answer, and count it as sent."""
        if report_id in self._outbox:
            _, metric = self._outbox.pop(report_id)
            account = self._account(metric)
            self._accounts[metric] = account.at(account.sealed, account.sent + 1)

    def trim(self, max_reports: int, max_bytes: int, sealed_before: float) -> int:
        """Drop reports that are too old, then the oldest beyond the limits."""
        if not self._outbox:
            return 0
        newest = sorted(self._outbox.values(), key=lambda entry: (entry[0].sealed, entry[0].id), reverse=True)
        oldest, size, kept = sealed_before if is_time(sealed_before) else -math.inf, 0, 0
        for report, _ in newest:
            size += len(report.body)
            if kept == max_reports or size > max_bytes or report.sealed < oldest:
                break
            kept += 1
        return sum(self._outbox.pop(report.id, None) is not None for report, _ in newest[kept:])

    def stored(self) -> Stored:
        """How much the outbox holds."""
        return Stored(len(self._outbox), sum(len(report.body) for report, _ in list(self._outbox.values())))

    def wipe(self, now: float) -> None:
        """Forget values and outbox, and seal what began before `now`."""
        for forgotten in (self._running, self._taken, self._outbox):
            forgotten.clear()
        if is_time(now):
            self._accounts = {name: account.sealed_until(math.ceil(now)) for name, account in self._accounts.items()}

    def consent(self) -> str:
        """What was last decided."""
        return self._consent

    def set_consent(self, consent: str) -> None:
        """Remember the person's decision."""
        self._consent = consent

    def abandon(self) -> None:
        """Nothing is shared with a parent."""

    def close(self) -> None:
        """Nothing is held open."""

    def _account(self, metric: str) -> Account:
        return self._accounts.get(metric, _NONE)

    def _put_back(self, windows: Iterable[Running]) -> None:
        for window in windows:
            key = window.metric, window.start
            if (held := self._taken.pop(key, None)) is not None:
                self._running.setdefault(key, held)

    def _runs(self, window: Running) -> bool:
        return self._account(window.metric).runs(window.hash, window.start, window.stop)


def dumped(state: MemoryState) -> dict[str, Any]:
    """All that a state holds, in plain types: the secret and values of a simulated device, to be kept like a folder's.

    Raises:
        StateError: Nothing has begun in it, or windows are just being sealed.
    """
    if state._memory is None or state._taken:
        raise StateError("in memory", "it cannot be dumped now", "do so between two calls, after begin")
    running, waiting = list(state._running.values()), list(state._outbox.values())
    return {
        "secret": state._memory.secret.hex(),
        "consent": state._consent,
        "ledger": ledger_tree(state.ledger()),
        "running": [(w.metric, w.hash, w.start, w.stop, w.segment, w.value) for w in running],
        "outbox": [(r.id, r.body.decode(), r.due, r.attempts, r.sealed, metric) for r, metric in waiting],
    }


def restored(tree: Mapping[str, Any]) -> MemoryState:
    """The state behind `dumped`; whoever goes on with it must let go of the one that was dumped.

    Raises:
        ValueError: It is no dump.
    """
    try:
        state, secret, ledger = MemoryState(), bytes.fromhex(tree["secret"]), ledger_of(tree["ledger"])
        if ledger.under != name_of(secret):
            raise ValueError
        state._memory, state._accounts = Memory(secret, "", 0, "", ledger), dict(ledger.accounts)
        state._consent = tree["consent"]
        for window in tree["running"]:
            metric, key, start, stop, segment, held = window
            held = tuple(held) if isinstance(held, list) else held  # JSON has no tuples
            state._running[metric, start] = Running(metric, key, start, stop, segment, held)
        for key, body, *rest, metric in tree["outbox"]:
            state._outbox[key] = Report(key, body.encode(), *rest), metric
    except (ValueError, TypeError, LookupError, AttributeError):
        raise ValueError("not the dump of a state") from None
    return state
