"""`hubbub estimate`: what a store, or a running collector, knows by now."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hubbub.cli import candidates as words
from hubbub.cli.output import complain, console, emit_json, table_of
from hubbub.errors import ParameterError

if TYPE_CHECKING:
    from rich.table import Table

    from hubbub.answers import Source, Span
    from hubbub.estimates import Known, Period, Row, WindowWords
    from hubbub.estimates.wording import Scale

SOURCE = 'A collector\'s store file, or the address that `hubbub serve` prints after "reading on".'
JSON = "Print one JSON array of rows, or of windows with --candidates; with --mean, an object of rows and means."
CLOCK = "Read the time, in unix seconds, from this file; for stores of `serve --clock`."


def estimate(
    source: Annotated[str, typer.Argument(metavar="STORE|URL", help=SOURCE)],
    metric: Annotated[str | None, typer.Argument(metavar="METRIC", help="One metric; all by default.")] = None,
    start: Annotated[str | None, typer.Option(help="Only windows that begin at or after this date or time.")] = None,
    end: Annotated[str | None, typer.Option(help="Only windows that have ended by this date or time.")] = None,
    segment: Annotated[str | None, typer.Option(help="One segment; all by default.")] = None,
    level: Annotated[float, typer.Option(help="Chance with which an interval is to hold the truth.")] = 0.95,
    mean: Annotated[bool, typer.Option("--mean", help="Add the mean over the windows that are listed.")] = False,
    candidates: Annotated[Path | None, typer.Option(metavar="FILE", help=words.HELP)] = None,
    control: Annotated[words.Control, typer.Option(help=words.CONTROL)] = "bonferroni",
    clock: Annotated[Path | None, typer.Option(metavar="FILE", help=CLOCK)] = None,
    json: Annotated[bool, typer.Option("--json", help=JSON)] = False,
) -> None:
    """Print estimates with their intervals, window by window, and how far they can be trusted yet.

    Dates and times are UTC. A mean over several windows is never as sharp as the same number of independent windows
    would be, since devices repeat their permanent answers; its interval says what it is worth.
    """
    from hubbub import answers
    from hubbub.clock import FileClock

    if mean and candidates is not None:
        raise ParameterError("--mean", mean, "left out with --candidates: words are found window by window")
    within = answers.span(start, end)
    with answers.source(source, clock=None if clock is None else FileClock(clock)) as found:
        mind_time(found)
        if candidates is not None:
            windows = words.find(found, metric, candidates, within, segment, level, control)
            if json:
                emit_json([window.plain for window in windows])
            else:
                words.show(windows, _known(found))
                _price_of_words(windows)
            return
        rows = found.rows(metric, within, segment, level)
        known = _known(found)
        means = list(_means(found, rows, within, level)) if mean else []
    if json:
        emit_json({"rows": rows, "means": means} if mean else rows)
        return
    _show(rows, means, known)


def mind_time(found: "Source") -> None:
    """Warn where states would be told by a clock that is not that of the store."""
    if found.ahead:
        complain(
            "warning: this store is of `serve --dev`, whose time runs ahead of this machine's; windows that have ended "
            "there show as open here, so ask at the address of its reading side, or say with --clock FILE what time it "
            "is there; words are looked for in the file alone"
        )


def _known(found: "Source") -> "dict[tuple[str, str], Known]":
    """The newest version of each encoding."""
    return {(entry.name, entry.hash): entry for entry in reversed(found.metrics())}


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
    from hubbub.estimates.active import AMONG
    from hubbub.estimates.wording import Scale
    from hubbub.lock import ACTIVE

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
                out.print(_mean_line(metric, period, scale))
        if any(row.category == AMONG for row in listed if metric.kind == "mean"):
            out.print(f"{AMONG}: the mean of all over the share of {name}{ACTIVE}; no value where that may be 0.")
        if metric.kind == "words":
            out.print(f"Words need candidates: `hubbub estimate STORE {name} --candidates FILE` finds those of a list.")
        out.print(_price_line(listed))
        out.print()
    _explain({row.state for row in rows} | {period.state for period in means})


def _price_of_words(windows: "Sequence[WindowWords]") -> None:
    if windows:
        console().print()
        console().print(_price_line(windows[-1:]))
    _explain({window.state for window in windows})


def _explain(states: Iterable[str]) -> None:
    """What the states mean, unless all is final."""
    from hubbub.estimates.wording import STATES

    found = sorted(states, key=list(STATES).index)
    for state in found:
        if found != ["final"]:
            console().print(f"{state}: {STATES[state]}.")


def _table(known: "Known", rows: Sequence["Row"], scale: "Scale") -> "Table":
    table = table_of()
    segments, categories = any(row.segment for row in rows), any(row.category for row in rows)
    table.add_column(known.window)
    if segments:
        table.add_column("segment")
    if categories:
        table.add_column("coordinate" if known.kind == "vector" else "category")
    table.add_column("n", justify="right")
    table.add_column("state")
    table.add_column("estimate", justify="right", style="cyan")
    table.add_column(f"{100 * rows[0].level:g} % interval", justify="right")
    for row in rows:
        cells = [_when(known, row.window_start), *_names(known, row, segments, categories), str(row.n), row.state]
        table.add_row(*cells, scale.text(row.value), scale.interval(row.ci_low, row.ci_high))
    return table


def _names(known: "Known", row: "Row", segments: bool, categories: bool) -> Iterator[str]:
    from hubbub.estimates.wording import category

    if segments:
        yield row.segment
    if categories:
        yield category(known.kind, known.unit, row.category)


def _mean_line(known: "Known", period: "Period", scale: "Scale") -> str:
    from hubbub.estimates.wording import category

    named = category(known.kind, known.unit, period.category) if period.category else ""
    which = f" {named}" if known.kind == "mean" else f" of {named}"
    of = (f" of {period.segment}" if period.segment else "") + (which if named else "")
    line = f"Mean{of} over {_windows(period.windows)}: "
    if period.value is None:
        return line + f"{period.state}, {period.n_effective} devices' worth of reports"
    line += f"{scale.text(period.value)}, {scale.interval(period.ci_low, period.ci_high)} ({period.state})"
    return line + (f"; {_windows(period.left_out)} without reports left out" if period.left_out else "")


def _windows(count: int) -> str:
    return "1 window" if count == 1 else f"{count} windows"


def _price_line(rows: "Sequence[Row | WindowWords]") -> str:
    """Of one metric; where it has a second report, of both together too."""
    from hubbub.estimates.active import AMONG
    from hubbub.lock import ACTIVE

    both = [row for row in rows if getattr(row, "category", None) == AMONG]
    one = _prices([row for row in rows if row not in both] or rows)
    pair = f"; with that of {rows[0].metric}{ACTIVE} {' and '.join(_prices(both))}" if both else ""
    if len(one) == 1:
        return f"Price: epsilon {one[0]} for each report, and they add up: everything is fresh{pair}."
    return f"Price: epsilon {one[0]} for one report, {one[1]} for a device that never changes, for ever{pair}."


def _prices(rows: "Sequence[Row | WindowWords]") -> list[str]:
    """Of one report and, where answers are permanent, of a device that never changes; by the newest row."""
    from hubbub.privacy import nats

    return [nats(price) for price in (rows[-1].epsilon, rows[-1].permanent_epsilon) if price is not None]


def _when(known: "Known", start: str) -> str:
    """2026-12-01, or 2026-12-01T06 where windows are hours."""
    return start[: 13 if known.window == "hour" else 10]
