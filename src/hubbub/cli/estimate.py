"""`hubbub estimate`: what a store, or a running collector, knows by now."""

import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hubbub.cli.output import console, emit_json, table_of
from hubbub.errors import ParameterError

if TYPE_CHECKING:
    from rich.table import Table

    from hubbub.answers import Source, Span
    from hubbub.estimates import Known, Period, Row
    from hubbub.estimates.wording import Scale

SOURCE = 'A collector\'s store file, or the address that `hubbub serve` prints after "reading on".'
CLOCK = "Read the time, in unix seconds, from this file; for stores of `serve --clock`."


def estimate(
    source: Annotated[str, typer.Argument(metavar="STORE|URL", help=SOURCE)],
    metric: Annotated[str | None, typer.Argument(metavar="METRIC", help="One metric; all by default.")] = None,
    start: Annotated[str | None, typer.Option(help="Only windows that begin at or after this date or time.")] = None,
    end: Annotated[str | None, typer.Option(help="Only windows that have ended by this date or time.")] = None,
    segment: Annotated[str | None, typer.Option(help="One segment; all by default.")] = None,
    level: Annotated[float, typer.Option(help="Chance with which an interval is to hold the truth.")] = 0.95,
    mean: Annotated[bool, typer.Option("--mean", help="Add the mean over the windows that are listed.")] = False,
    clock: Annotated[Path | None, typer.Option(metavar="FILE", help=CLOCK)] = None,
    json: Annotated[
        bool, typer.Option("--json", help="Print one JSON array of rows; with --mean, an object of rows and means.")
    ] = False,
) -> None:
    """Print estimates with their intervals, window by window, and how far they can be trusted yet.

    Dates and times are UTC. A mean over several windows is never as sharp as the same number of independent windows
    would be, since devices repeat their permanent answers; its interval says what it is worth.
    """
    from hubbub import answers
    from hubbub.clock import FileClock

    within = answers.span(start, end)
    with answers.source(source, clock=None if clock is None else FileClock(clock)) as found:
        rows = found.rows(metric, within, segment, level)
        means = list(_means(found, rows, within, level)) if mean else []
        known = {(entry.name, entry.hash): entry for entry in reversed(found.metrics())}  # the newest version stays
    if json:
        emit_json({"rows": rows, "means": means} if mean else rows)
        return
    _show(rows, means, known)


def _means(found: "Source", rows: Sequence["Row"], within: "Span", level: float) -> Iterator["Period"]:
    """The mean of each metric, encoding and segment that has a window which has ended."""
    series = {(row.metric, row.hash, row.segment, row.category): row.version for row in rows}
    for (name, _, segment, category), version in series.items():
        try:
            yield found.period(name, within, segment, version, level, category)
        except ParameterError as error:
            if error.name != "metric":  # no window has ended yet
                raise


def _show(rows: Sequence["Row"], means: Sequence["Period"], known: "dict[tuple[str, str], Known]") -> None:
    from hubbub.estimates.wording import STATES, Scale

    out = console()
    if not rows:
        out.print("No reports yet." if not known else "No windows with reports in this range.")
    tables: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        tables.setdefault((row.metric, row.hash), []).append(row)
    for (name, hash_), listed in sorted(tables.items(), key=lambda item: (item[0][0], item[1][-1].version)):
        metric = known[name, hash_]
        scale = Scale.of(metric.kind, metric.unit, listed)
        out.print(f"{name}, version {metric.version}: {metric.description}", style="bold")
        out.print(_table(metric, listed, scale))
        for period in means:
            if (period.metric, period.hash) == (name, hash_):
                out.print(_mean_line(period, scale))
        out.print(_price_line(listed[-1]))
        out.print()
    states = sorted({row.state for row in rows} | {period.state for period in means}, key=list(STATES).index)
    for state in states:
        if states != ["final"]:
            out.print(f"{state}: {STATES[state]}.")


def _table(known: "Known", rows: Sequence["Row"], scale: "Scale") -> "Table":
    table = table_of()
    segments, categories = any(row.segment for row in rows), any(row.category for row in rows)
    table.add_column(known.window)
    if segments:
        table.add_column("segment")
    if categories:
        table.add_column("category")
    table.add_column("n", justify="right")
    table.add_column("state")
    table.add_column("estimate", justify="right", style="cyan")
    table.add_column(f"{100 * rows[0].level:g} % interval", justify="right")
    for row in rows:
        cells = [_when(known, row.window_start), *_names(row, segments, categories), str(row.n), row.state]
        table.add_row(*cells, scale.text(row.value), scale.interval(row.ci_low, row.ci_high))
    return table


def _names(row: "Row", segments: bool, categories: bool) -> Iterator[str]:
    if segments:
        yield row.segment
    if categories:
        yield row.category or ""


def _mean_line(period: "Period", scale: "Scale") -> str:
    of = "".join(f" of {name}" for name in (period.segment, period.category) if name)
    line = f"Mean{of} over {_windows(period.windows)}: "
    if period.value is None:
        return line + f"{period.state}, {period.n_effective} devices' worth of reports"
    line += f"{scale.text(period.value)}, {scale.interval(period.ci_low, period.ci_high)} ({period.state})"
    return line + (f"; {_windows(period.left_out)} without reports left out" if period.left_out else "")


def _windows(count: int) -> str:
    return "1 window" if count == 1 else f"{count} windows"


def _price_line(row: "Row") -> str:
    from hubbub.privacy import nats

    report, steady = (math.inf if price is None else price for price in (row.epsilon, row.permanent_epsilon))
    device = (
        "no bound for a device that never changes: everything is fresh"
        if math.isinf(steady)
        else (f"{nats(steady)} for a device that never changes, for ever")
    )
    return f"Price: epsilon {nats(report)} for one report, {device}."


def _when(known: "Known", start: str) -> str:
    """2026-12-01, or 2026-12-01T06 where windows are hours."""
    return start[: 13 if known.window == "hour" else 10]
