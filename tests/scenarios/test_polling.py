"""Whoever reads after every single report: sums of whole steps, and nothing of the reports within them.

Each report keeps its own guarantee in any case; what is tested here is that the collector adds nothing to it: no single
report, and no moment at which one came.
"""

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from hubbub.clock import ManualClock
from hubbub.dashboard import create_app
from hubbub.estimates import period, rows
from hubbub.store import Report, Store, open_store
from tests.scenarios.chain import read
from tests.unit.collecting import FIRST, end, key, late, lock, minutes

STEP = 10
METRICS = (minutes(min_reports=STEP), late(min_reports=STEP))
NOW = end(FIRST)  # the window has ended and reports still come
CELLS = (("stable", 0), ("beta", 0), ("", 1))
View = Callable[[Store], Any]


def arrivals(seed: int) -> list[Report]:
    """Reports of three cells in one order; their payloads depend on the seed, their number by step does not.

    Within each step of each cell the same payloads come in an order of their own.
    """
    schedule, shuffled = random.Random(7), random.Random(seed)
    cells = [cell for cell in CELLS for _ in range(4 * STEP - 3)]
    schedule.shuffle(cells)
    payloads = {cell: [schedule.choice(("00", "80")) for _ in range(4 * STEP)] for cell in CELLS}
    for cell, list_ in payloads.items():
        steps = [list_[start : start + STEP] for start in range(0, len(list_), STEP)]
        for step in steps:
            shuffled.shuffle(step)
        payloads[cell] = [payload for step in steps for payload in step]
    ids = random.Random(seed + 1)
    return [
        Report(key(METRICS[which]), ids.getrandbits(63), segment, payloads[segment, which].pop(0))
        for segment, which in cells
    ]


def table(store: Store) -> Any:
    return msgspec.to_builtins(rows(store, now=NOW))


def together(store: Store) -> Any:
    """The mean over the windows there are; refused while no window has any."""
    return [
        msgspec.to_builtins(period(store, now=NOW, metric=METRICS[which].name, segment=segment))
        for segment, which in CELLS
        if any(cell.segment == segment for cell in store.cells(METRICS[which].name))
    ]


def pages(store: Store) -> Any:
    """What the read process answers."""
    app = create_app(store, clock=ManualClock(NOW))
    names = [metric.name for metric in METRICS]
    paths = ["/v1/metrics", *(f"/v1/metrics/{name}/estimates" for name in names), f"/v1/metrics/{names[1]}/mean"]
    return [read(app, path) for path in paths]


def views(folder: Path, seed: int, view: View) -> list[Any]:
    """What is seen after each report."""
    with open_store(folder / f"{seed}-{view.__name__}.db") as store:
        store.accept(lock(*METRICS))
        seen = []
        for report in arrivals(seed):
            assert store.write([report]) == ["accepted"]
            seen.append(view(store))
        return seen


@pytest.mark.parametrize("view", [table, together, pages])
def test_order_within_a_step_cannot_be_seen(view: View, tmp_path: Path) -> None:
    """Other payloads at every single moment, the same sums of each step: no reader can tell the two apart."""
    orders = [[report.payload for report in arrivals(seed)] for seed in (1, 2)]
    differing = sum(one != other for one, other in zip(*orders, strict=True))
    assert differing > len(orders[0]) / 4
    assert views(tmp_path, 1, view) == views(tmp_path, 2, view)


def test_figures_change_only_by_whole_steps(tmp_path: Path) -> None:
    seen = views(tmp_path, 1, table)
    figures: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for one in seen:
        for row in one:
            history = figures.setdefault((row["metric"], row["segment"]), [])
            if not history or history[-1] != row:
                history.append(row)
    assert len(figures) == len(CELLS)
    for history in figures.values():
        assert [row["n"] for row in history] == [0, 10, 20, 30]
        assert {row["state"] for row in history} <= {"open", "provisional", "too_uncertain"}


def test_reader_of_every_report_would_be_seen(tmp_path: Path) -> None:
    """The summaries themselves do tell: the views above are what holds them back."""

    def summaries(store: Store) -> Any:
        return [(cell.segment, cell.summary.n, cell.summary.counts.tolist()) for cell in store.cells()]

    assert views(tmp_path, 1, summaries) != views(tmp_path, 2, summaries)
