"""What is seen while a replay runs."""

import io

from rich.console import Console

from hubbub.cli.watching import Watching
from hubbub.definitions import build
from hubbub.lock import Metric
from hubbub.replay import Outcome, Truth, flights
from tests.unit.replay_support import lock_of

LOCK = build(flights.registry(), None)


def outcome(value: float | None, half: float, true: float = 202.2) -> Outcome:
    low, high = (None, None) if value is None else (value - half, value + half)
    truth = Truth(0, None, 733, true, true, 733, true)
    return Outcome("2013-06-25T00:00:00Z", truth, 733, "provisional", value, low, high)


def shown(columns: int, *seen: tuple[Metric, Outcome]) -> list[str]:
    """The lines on a terminal of so many columns, before the last step."""
    console = Console(file=io.StringIO(), width=columns, force_terminal=True, color_system=None)
    watching = Watching(console, "2 645 aircraft report, and 66 125 devices of a PRETEND crowd", 200)
    for metric, one in seen:
        watching.seen(metric, one)
    watching.progress(180)
    with console.capture() as captured:
        console.print(watching._shown())
    watching.progress(20)
    with console.capture() as done:
        console.print(watching._shown())
    assert "Reading the estimates" in done.get()
    return captured.get().splitlines()


def test_whole_intervals_fit_eighty_columns() -> None:
    lines = shown(
        80,
        (LOCK.metrics[flights.LATE], outcome(0.1875, 0.0764, 0.21)),
        (LOCK.metrics[flights.CROWD], outcome(207.3, 17.1)),
        (LOCK.metrics[flights.DELAY], outcome(6.3, 16.9)),
        (LOCK.metrics[flights.MINUTES], outcome(None, 0.0)),
    )
    assert lines[0].split("  ")[0] == "metric"
    assert [" ".join(line.split()) for line in lines[1:5]] == [
        "flight.late 2013-06-25 21.0 % 18.8 % 11.1 to 26.4 %",
        "flight.minutes_crowd 2013-06-25 202 min 207 min 190 to 224 min",
        "flight.delay 2013-06-25 202 min 6 min -11 to 23 min",
        "flight.minutes 2013-06-25 202.2 min too few reports so far",
    ]
    assert lines[5] == "2 645 aircraft report, and 66 125 devices of a PRETEND crowd"
    assert " 90%" in lines[6]
    assert max(map(len, lines)) <= 80


def test_the_last_windows_alone() -> None:
    metric = lock_of().metrics["app.minutes"]
    assert len(shown(80, *[(metric, outcome(30.0, 9.0))] * 20)) == 1 + 8 + 2
    assert len(shown(80)) == 2
