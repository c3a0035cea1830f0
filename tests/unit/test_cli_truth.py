"""What a replay prints."""

import io

import pytest
from rich.console import Console

from hubbub.cli.truth import show
from hubbub.replay import Outcome, Replay, Series, Trace, Truth
from tests.unit.replay_support import REGISTRY, lock_of


def printed(*n: int, columns: int = 100, reports: int = 300, text: str = REGISTRY, checked: bool = False) -> str:
    """Of one window for each n: 300 devices whose mean, 48.2 and clipped 41.4, lies beside the interval."""
    metric = lock_of(text).metrics["app.minutes"]
    truth = Truth(metric.life.start, None, 300, 48.2, 41.4, 300, 41.4)
    start = "2026-03-02T00:00:00Z"
    outcomes = tuple(Outcome(start, truth, one, "provisional", 50.2, 46.1, 54.3) for one in n)
    series = Series(metric, 1, outcomes)
    trace = Trace(start, 48.0, (1,), "80")
    console = Console(file=io.StringIO(), width=columns)
    show(Replay((series,), (trace,), reports, 2.0, 0, checked, "http://127.0.0.1:1"), console)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_estimates_of_other_devices_are_not_held_against_the_truth() -> None:
    told = printed(300, 400, 280, columns=80)
    assert [line.rstrip()[-1] for line in told.splitlines() if line.startswith(" 2026") and "54.3" in line] == [
        "*",
        "3",
        "3",
    ]
    assert "0 of 1 intervals hold the truth; about 1 of 1 are expected." in told
    assert "Left out of this: 2 rows whose n is not the number of the table's devices." in told
    assert "Left out" not in printed(300)
    panel = REGISTRY.replace("upper = 60\n", "upper = 60\nreport_every = 3\n")
    assert "Left out" not in printed(100, text=panel)
    assert "Left out of this: 1 row whose" in printed(400, text=panel)


@pytest.mark.parametrize("columns", [40, 80, 200])
def test_no_number_is_cut(columns: int) -> None:
    told = printed(300, columns=columns)
    assert "…" not in told
    (line,) = (line for line in told.splitlines() if "54.3" in line)
    assert line.split()[:8] == ["2026-03-02", "300", "48.2", "41.4", "50.2", "46.1", "to", "54.3"]


def test_one_report_and_many() -> None:
    assert "\n1 report of one bit travelled over HTTP" in printed(300, reports=1, checked=True)
    assert "\n12 345 reports of one bit each travelled over HTTP" in printed(300, reports=12_345, checked=True)
