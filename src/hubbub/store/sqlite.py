"""A store in one SQLite file: write-ahead log, one transaction per group of reports, an fsync before each returns."""

import os
import sqlite3
import threading
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from types import TracebackType
from typing import Any, Self

import msgspec

from hubbub.clock import ScaledClock
from hubbub.errors import ParameterError
from hubbub.lock import Lock, dump, parse
from hubbub.store.base import (
    ESTIMATE_COLUMNS,
    PROBLEMS_TOTAL,
    REPORTS_TOTAL,
    Cell,
    Entry,
    Outcome,
    Report,
    StoreError,
    WindowKey,
)
from hubbub.store.catalogue import Catalogue, Definition
from hubbub.store.schema import CLOCK, connect
from hubbub.summary import Summary

# One statement per window: rows bound one by one would hand the interpreter's lock to the event loop at each of them.
_INSERT = """INSERT OR IGNORE INTO reports (window_id, id, segment, payload)
    SELECT ?, json_extract(value, '$[0]'), json_extract(value, '$[1]'), json_extract(value, '$[2]') FROM json_each(?)"""
_THERE = """SELECT r.id, r.segment, r.payload FROM json_each(?) AS j JOIN reports AS r
    ON r.window_id = ? AND r.id = j.value"""
_CELL = "SELECT n, counts, shown_n, shown_counts FROM cells WHERE window_id = ? AND segment = ?"
_SET_CELL = """INSERT INTO cells (window_id, segment, n, counts, shown_n, shown_counts) VALUES (?, ?, ?, ?, ?, ?)
    ON CONFLICT (window_id, segment) DO UPDATE SET n = excluded.n, counts = excluded.counts,
    shown_n = excluded.shown_n, shown_counts = excluded.shown_counts"""
_CELLS = """SELECT w.metric, w.hash, w.window, c.segment, c.n, c.counts, c.shown_n, c.shown_counts
    FROM windows AS w JOIN cells AS c ON c.window_id = w.id"""
_CELLS_ORDER = " ORDER BY w.metric, w.hash, w.window, c.segment"
_COUNT = """INSERT INTO counters (name, labels, value) VALUES (?, ?, ?)
    ON CONFLICT (name, labels) DO UPDATE SET value = value + excluded.value"""
_LISTED = ", ".join(ESTIMATE_COLUMNS)
_PUBLISH = f"""INSERT INTO estimates ({_LISTED}) VALUES ({", ".join("?" * len(ESTIMATE_COLUMNS))})
    ON CONFLICT (metric, hash, window_start, segment, ifnull(category, '')) DO UPDATE
    SET ({_LISTED}) = ({", ".join(f"excluded.{column}" for column in ESTIMATE_COLUMNS)})
    WHERE ({_LISTED}) IS NOT ({", ".join(f"excluded.{column}" for column in ESTIMATE_COLUMNS)})"""
_PUBLISHED = f"SELECT {_LISTED} FROM estimates WHERE ?1 IS NULL OR metric = ?1"
_PUBLISHED_ORDER = " ORDER BY metric, hash, window_start, segment, ifnull(category, '')"
_AT_ONCE = 200  # estimates in one transaction, so that a writer of reports never waits for long


class SqliteStore:
    """The store in the file at `path`; `hubbub.store.open_store` is the way in."""

    def __init__(self, path: str | os.PathLike[str], *, read_only: bool = False, dev: bool | None = None) -> None:
        self._path = path
        self._turn = threading.RLock()
        self._connection, self.dev = connect(path, read_only=read_only, dev=dev)
        try:
            self._catalogue = Catalogue(self.locks())
        except BaseException:
            self._connection.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the file."""
        with self._turn:
            self._connection.close()

    @property
    def clock(self) -> ScaledClock | None:
        """The clock that a store of `serve --dev` runs by."""
        found = self._read("SELECT value FROM marks WHERE name = ?", (CLOCK,)) if self.dev else []
        return ScaledClock(*msgspec.json.decode(found[0][0], type=tuple[float, float, float])) if found else None

    def run_by(self, clock: ScaledClock) -> None:
        """Keep the clock that a store of `serve --dev` runs by from now on."""
        if not self.dev:
            raise ParameterError(
                "clock", clock.speed, "left out for a store of real reports, whose time is the world's"
            )
        told = msgspec.json.encode((clock.speed, clock.start, clock.origin)).decode()
        with self._transaction():
            self._connection.execute("INSERT OR REPLACE INTO marks (name, value) VALUES (?, ?)", (CLOCK, told))

    def accept(self, lock: Lock) -> None:
        """Keep the lock's metrics for good."""
        with self._transaction():
            catalogue = Catalogue(self.locks())
            for metric in lock.metrics.values():
                catalogue.add(Entry(lock.collection, metric))
                entry = dump(Lock(lock.collection, {metric.name: metric}))
                self._connection.execute(
                    "INSERT OR IGNORE INTO locks (collection, metric, version, hash, entry) VALUES (?, ?, ?, ?, ?)",
                    (lock.collection, metric.name, metric.version, metric.hash, entry),
                )
        self._catalogue = catalogue

    def locks(self) -> list[Entry]:
        """Every metric ever accepted, in that order."""
        return [_entry(text) for (text,) in self._read("SELECT entry FROM locks ORDER BY id")]

    def write(
        self,
        reports: Sequence[Report],
        tally: Mapping[str, int] | None = None,
        problems: Mapping[str, int] | None = None,
    ) -> list[Outcome]:
        """Store reports and count them in one durable transaction."""
        groups: dict[WindowKey, list[int]] = {}
        for position, report in enumerate(reports):
            groups.setdefault(report.key, []).append(position)
        outcomes: list[Outcome] = ["accepted"] * len(reports)
        with self._transaction():
            for key, positions in groups.items():
                found = self._write_window(key, [reports[position] for position in positions])
                for position, outcome in zip(positions, found, strict=True):
                    outcomes[position] = outcome
            for name, counts in ((REPORTS_TOTAL, Counter(outcomes) + Counter(tally)), (PROBLEMS_TOTAL, problems or {})):
                for code, times in counts.items():
                    self._connection.execute(_COUNT, (name, f'code="{code}"', times))
        return outcomes

    def windows(self, metric: str | None = None) -> list[WindowKey]:
        """Every window with reports, of one metric or all, sorted."""
        where, values = ("", ()) if metric is None else ("WHERE metric = ?", (metric,))
        query = f"SELECT metric, hash, window FROM windows {where} ORDER BY metric, hash, window"
        return [WindowKey(*row) for row in self._read(query, values)]

    def reports(self, key: WindowKey) -> list[Report]:
        """The window's reports, sorted by id."""
        query = """SELECT id, segment, payload FROM reports WHERE window_id =
            (SELECT id FROM windows WHERE metric = ? AND hash = ? AND window = ?) ORDER BY id"""
        return [Report(key, *row) for row in self._read(query, key)]

    def cells(
        self,
        metric: str | None = None,
        *,
        hash: str | None = None,
        windows: range | None = None,
        segment: str | None = None,
    ) -> list[Cell]:
        """The summaries of one metric or all, sorted by metric, hash, window and segment."""
        wanted: dict[str, str | int | None] = {"w.metric = ?": metric, "w.hash = ?": hash, "c.segment = ?": segment}
        if windows is not None:
            wanted |= {"w.window >= ?": windows.start, "w.window < ?": windows.stop}
        given = {condition: value for condition, value in wanted.items() if value is not None}
        query = _CELLS + (" WHERE " + " AND ".join(given) if given else "") + _CELLS_ORDER
        rows = self._read(query, list(given.values()))
        catalogue = Catalogue(self.locks())  # after the cells: whatever they belong to was accepted by then
        cells = []
        for name, hash_, window, where, n, counts, shown_n, shown_counts in rows:
            key = WindowKey(name, hash_, window)
            shape = _definition(catalogue, key).mechanism.counts_shape
            summary, shown = Summary.from_bytes(n, counts, shape), Summary.from_bytes(shown_n, shown_counts, shape)
            cells.append(Cell(key, where, summary, shown))
        return cells

    def counters(self, name: str = REPORTS_TOTAL) -> dict[str, int]:
        """How often each code came about since the store was made."""
        rows = self._read("SELECT labels, value FROM counters WHERE name = ? ORDER BY labels", (name,))
        return {labels.removeprefix('code="').removesuffix('"'): value for labels, value in rows}

    def publish(self, rows: Iterable[Sequence[object]]) -> int:
        """Put estimates into their table, few at a time, and say how many are news."""
        changed, waiting = 0, list(rows)
        for start in range(0, len(waiting), _AT_ONCE):
            with self._transaction():
                for row in waiting[start : start + _AT_ONCE]:
                    changed += self._connection.execute(_PUBLISH, row).rowcount
        return changed

    def published(self, metric: str | None = None) -> list[tuple[Any, ...]]:
        """The rows of the table of estimates, sorted."""
        return self._read(_PUBLISHED + _PUBLISHED_ORDER, (metric,))

    def _write_window(self, key: WindowKey, reports: list[Report]) -> list[Outcome]:
        definition = _definition(self._catalogue, key)
        window = self._window_id(key)
        first: dict[int, Report] = {}
        for report in reports:
            first.setdefault(report.id, report)
        there = self._insert(window, first)
        waiting = first.keys() - there.keys()
        outcomes: list[Outcome] = []
        fresh: dict[str, list[str]] = {}
        for report in reports:
            if report.id in waiting:
                waiting.remove(report.id)
                fresh.setdefault(report.segment, []).append(report.payload)
                outcomes.append("accepted")
            else:
                held = there.get(report.id) or first[report.id][2:]
                outcomes.append("duplicate" if held == report[2:] else "conflict")
        for segment, payloads in fresh.items():
            self._add(window, segment, definition, payloads)
        return outcomes

    def _window_id(self, key: WindowKey) -> int:
        self._connection.execute("INSERT OR IGNORE INTO windows (metric, hash, window) VALUES (?, ?, ?)", key)
        query = "SELECT id FROM windows WHERE metric = ? AND hash = ? AND window = ?"
        return int(self._connection.execute(query, key).fetchone()[0])

    def _insert(self, window: int, reports: Mapping[int, Report]) -> dict[int, tuple[str, str]]:
        """Insert those that are not there; segment and payload of those that were, by id."""
        execute = self._connection.execute
        execute("SAVEPOINT before")
        inserted = execute(_INSERT, (window, _json(reports.values()))).rowcount
        there: dict[int, tuple[str, str]] = {}
        if inserted < len(reports):
            # Afterwards nothing tells apart what was there and what has just come, so look from before it.
            execute("ROLLBACK TO before")
            ids = msgspec.json.encode(list(reports)).decode()
            there = {id_: (segment, payload) for id_, segment, payload in execute(_THERE, (ids, window))}
            execute(_INSERT, (window, _json(report for report in reports.values() if report.id not in there)))
        execute("RELEASE before")
        return there

    def _add(self, window: int, segment: str, definition: Definition, payloads: list[str]) -> None:
        """Count new reports of a segment, and step its shown summary forward where `min_reports` of them are full."""
        row = self._connection.execute(_CELL, (window, segment)).fetchone()
        summary = shown = definition.summarise(())
        if row is not None:
            n, counts, shown_n, shown_counts = row
            shape = summary.counts.shape
            summary, shown = Summary.from_bytes(n, counts, shape), Summary.from_bytes(shown_n, shown_counts, shape)
        step = definition.metric.min_reports
        full = (summary.n + len(payloads)) // step * step - summary.n
        if full > 0:
            shown = summary = summary + definition.summarise(payloads[:full])
            payloads = payloads[full:]
        summary = summary + definition.summarise(payloads)
        values = summary.n, summary.to_bytes(), shown.n, shown.to_bytes()
        self._connection.execute(_SET_CELL, (window, segment, *values))

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        with self._turn, self._errors():
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._connection.execute("COMMIT")
            except BaseException:
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise

    def _read(self, query: str, values: Sequence[object] = ()) -> list[Any]:
        with self._turn, self._errors():
            return self._connection.execute(query, values).fetchall()

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise StoreError(f"{self._path}: {error}") from None


def _json(reports: Iterable[Report]) -> str:
    """Rows for `_INSERT`, in the order of the table's key."""
    return msgspec.json.encode(sorted(report[1:] for report in reports)).decode()


@lru_cache(maxsize=1024)
def _entry(text: str) -> Entry:
    lock = parse(text)
    (metric,) = lock.metrics.values()
    return Entry(lock.collection, metric)


def _definition(catalogue: Catalogue, key: WindowKey) -> Definition:
    definition = catalogue.find(key)
    if definition is None:
        raise ParameterError("report.key", tuple(key), "a window of a metric that the store has accepted")
    return definition
