"""The store against a dictionary: any history of writes, any mixture of new, repeated and contradicting reports."""

import tempfile
from collections import Counter
from itertools import pairwise
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from hubbub.lock import Metric
from hubbub.store import Outcome, Report, WindowKey, check, open_store
from tests.unit.collecting import FIRST, key, late, lock, minutes

METRICS = (minutes(min_reports=3), late(min_reports=2))
KEYS = {key(metric, window): metric for metric in METRICS for window in (FIRST, FIRST + 1)}


@st.composite
def reports(draw: st.DrawFn) -> Report:
    """Few windows, ids, segments and payloads, so that they meet."""
    where = draw(st.sampled_from(list(KEYS)))
    segment = draw(st.sampled_from(KEYS[where].segments))
    return Report(where, draw(st.integers(-4, 4)), segment, draw(st.sampled_from(["00", "80"])))


class Model:
    """What a store is: a dictionary of reports, and for each cell the payloads in the order they came."""

    def __init__(self) -> None:
        self.held: dict[tuple[WindowKey, int], tuple[str, str]] = {}
        self.cells: dict[tuple[WindowKey, str], list[str]] = {}

    def add(self, report: Report) -> Outcome:
        where = report.key, report.id
        if where in self.held:
            return "duplicate" if self.held[where] == report[2:] else "conflict"
        self.held[where] = report.segment, report.payload
        self.cells.setdefault((report.key, report.segment), []).append(report.payload)
        return "accepted"


def ones(payloads: list[str]) -> tuple[int, int]:
    return len(payloads), payloads.count("80")


def full(metric: Metric, payloads: list[str]) -> list[str]:
    return payloads[: len(payloads) // metric.min_reports * metric.min_reports]


@settings(max_examples=60)
@given(st.lists(st.lists(reports(), max_size=25), max_size=6), st.booleans())
def test_store_is_its_model(groups: list[list[Report]], reopen: bool) -> None:
    model, outcomes = Model(), Counter[str]()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "store.db")
        store = open_store(path)
        store.accept(lock(*METRICS))
        for group in groups:
            expected = [model.add(report) for report in group]
            assert store.write(group) == expected
            outcomes.update(expected)
            if reopen:
                store.close()
                store = open_store(path)
            cells = {(cell.key, cell.segment): cell for cell in store.cells()}
            assert {where: (c.summary.n, int(c.summary.counts)) for where, c in cells.items()} == {
                where: ones(payloads) for where, payloads in model.cells.items()
            }
            assert {where: (c.shown.n, int(c.shown.counts)) for where, c in cells.items()} == {
                where: ones(full(KEYS[where[0]], payloads)) for where, payloads in model.cells.items()
            }
        held = {(report.key, report.id): report[2:] for where in store.windows() for report in store.reports(where)}
        assert held == model.held
        assert store.counters() == dict(sorted(outcomes.items()))
        assert check(store) == []
        store.close()


@settings(max_examples=40)
@given(st.lists(reports(), max_size=40), st.lists(st.integers(0, 40), max_size=5))
def test_how_reports_are_grouped_makes_no_difference(given_: list[Report], cuts: list[int]) -> None:
    bounds = [0, *sorted(cuts), len(given_)]
    with tempfile.TemporaryDirectory() as folder:
        together, apart = open_store(Path(folder, "a.db")), open_store(Path(folder, "b.db"))
        for store in (together, apart):
            store.accept(lock(*METRICS))
        outcomes = [o for start, stop in pairwise(bounds) for o in apart.write(given_[start:stop])]
        assert together.write(given_) == outcomes
        assert together.cells() == apart.cells()
        together.close()
        apart.close()
