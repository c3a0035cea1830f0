"""The public suite over every kind of store; another one joins by a line in STORES. It sees every planted fault."""

import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from hubbub.lock import Lock
from hubbub.store import Cell, Entry, Outcome, Report, WindowKey, open_store
from hubbub.store.sqlite import SqliteStore
from hubbub.testing import STORE_CHECKS, check_store
from hubbub.testing.stores import Opens, StoreCheck


def sqlite(folder: Path) -> Opens:
    return lambda: open_store(folder / "store.db")


STORES: tuple[Callable[[Path], Opens], ...] = (sqlite,)


@pytest.mark.parametrize("check", STORE_CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("store", STORES, ids=lambda store: store.__name__)
def test_store(store: Callable[[Path], Opens], check: StoreCheck, tmp_path: Path) -> None:
    check(store(tmp_path))


def test_every_check_is_in_the_suite() -> None:
    from hubbub.testing.stores import definitions, reading, reports

    written = {name for module in (definitions, reading, reports) for name in vars(module) if name.startswith("check_")}
    assert {check.__name__ for check in STORE_CHECKS} == written - {"check_store"}


class Forgets(SqliteStore):
    """Acknowledges without keeping."""

    def write(self, reports: Sequence[Report], *args: Any) -> list[Outcome]:
        return ["accepted"] * len(reports)


class CountsTwice(SqliteStore):
    """Takes every report for a new one."""

    def write(self, reports: Sequence[Report], *args: Any) -> list[Outcome]:
        super().write(reports, *args)
        return ["accepted"] * len(reports)


class TakesTheLast(SqliteStore):
    """Lets the last of two reports with one id stand."""

    def write(self, reports: Sequence[Report], *args: Any) -> list[Outcome]:
        outcomes = super().write(reports[::-1], *args)
        return outcomes[::-1]


class KeepsHalf(SqliteStore):
    """Writes reports one by one, so that a bad one leaves those before it."""

    def write(self, reports: Sequence[Report], *args: Any) -> list[Outcome]:
        outcomes: list[Outcome] = []
        for report in reports:
            outcomes += super().write([report])
        super().write([], *args)
        return outcomes


class ShowsAll(SqliteStore):
    """Shows each report as it comes."""

    def cells(self, *args: Any, **kwargs: Any) -> list[Cell]:
        return [Cell(c.key, c.segment, c.summary, c.summary) for c in super().cells(*args, **kwargs)]


class IgnoresFilters(SqliteStore):
    """Gives all cells of a metric, whatever was asked."""

    def cells(self, metric: str | None = None, **kwargs: Any) -> list[Cell]:
        return super().cells(metric)


class KeepsOrder(SqliteStore):
    """Shows in which order reports came."""

    def reports(self, key: WindowKey) -> list[Report]:
        return super().reports(key)[::-1]


class CutsIds(SqliteStore):
    """Loses an id's first bits, as JavaScript's numbers do."""

    def write(self, reports: Sequence[Report], *args: Any) -> list[Outcome]:
        return super().write([report._replace(id=int(float(report.id)) % 2**62) for report in reports], *args)


class TakesAnyLock(SqliteStore):
    """Keeps a lock although it does not fit."""

    def accept(self, lock: Lock) -> None:
        for metric in lock.metrics.values():
            super().accept(Lock(lock.collection, {metric.name: metric}))


class ForgetsLocks(SqliteStore):
    """Knows the last version only."""

    def locks(self) -> list[Entry]:
        return list({entry.metric.name: entry for entry in super().locks()}.values())


class CountsNothing(SqliteStore):
    """Drops what is to be counted."""

    def write(
        self,
        reports: Sequence[Report],
        tally: Mapping[str, int] | None = None,
        problems: Mapping[str, int] | None = None,
    ) -> list[Outcome]:
        return super().write(reports)


class PublishesAnew(SqliteStore):
    """Counts every row as news."""

    def publish(self, rows: Iterable[Sequence[object]]) -> int:
        waiting = list(rows)
        super().publish(waiting)
        return len(waiting)


FAULTS = [
    Forgets,
    CountsTwice,
    TakesTheLast,
    KeepsHalf,
    ShowsAll,
    IgnoresFilters,
    KeepsOrder,
    CutsIds,
    TakesAnyLock,
    ForgetsLocks,
    CountsNothing,
    PublishesAnew,
]


@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_is_seen(fault: type[SqliteStore], tmp_path: Path) -> None:
    numbers = iter(range(100))

    def factory() -> Opens:
        path = tmp_path / f"{next(numbers)}.db"
        return lambda: fault(path)

    with pytest.raises(AssertionError, match=r"^check_[a-z_]+: ."):
        check_store(factory)


def test_it_needs_no_test_framework_and_holds_without_assert(tmp_path: Path) -> None:
    program = """
import itertools, sys
from hubbub.store.sqlite import SqliteStore
from hubbub.testing import check_store
numbers = itertools.count()
def factory(kind):
    path = f"{sys.argv[1]}/{next(numbers)}.db"
    return lambda: kind(path)
class Sleepy(SqliteStore):
    def counters(self, *args): return {}
check_store(lambda: factory(SqliteStore))
assert False, "asserts must be switched off here"
try:
    check_store(lambda: factory(Sleepy))
except AssertionError:
    print(sorted({"pytest", "hypothesis", "_pytest"} & set(sys.modules)))
"""
    command = [sys.executable, "-O", "-c", program, str(tmp_path)]
    result = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (result.returncode, result.stdout) == (0, "[]\n"), result.stderr
