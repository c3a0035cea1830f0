"""What a replay prints: truth beside estimate, what grace cost, one device's own bits, the prices."""

import math
from collections.abc import Iterator, Sequence

from rich.console import Console
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from hubbub.cli.output import price_table, table_of
from hubbub.definitions.wording import spaced
from hubbub.estimates.wording import Scale
from hubbub.lock import Metric
from hubbub.privacy import describe
from hubbub.replay import LEVEL, Outcome, Replay, Series, Trace
from hubbub.wire import unpack

PLOT = 25  # characters
_TRACES = 14  # windows in which one device is looked at
_WIDEST = 1000  # columns of a table


class Plot:
    """A line for each window: the interval, with estimate and truth as marks on it."""

    def __init__(self, outcomes: Sequence[Outcome]) -> None:
        ends = [end for o in outcomes for end in (o.ci_low, o.ci_high) if end is not None]
        ends += [o.truth.clipped for o in outcomes]
        self._low = min(ends)
        self._width = max(ends) - self._low or 1.0

    def line(self, outcome: Outcome, mark: str = "●", stroke: str = "─") -> Text:
        """One window."""
        plot = self.band(outcome, Text(" " * PLOT), stroke)
        truth = self._cell(outcome.truth.clipped)
        if outcome.value is not None:
            estimate = self._cell(outcome.value)
            plot = _marked(plot, estimate, mark, "bold cyan")
            if truth == estimate:
                return _marked(plot, truth, "◉", "bold yellow")
        return _marked(plot, truth, "┃", "bold yellow")

    def band(self, outcome: Outcome, under: Text, stroke: str) -> Text:
        """The interval of a window drawn over another line."""
        if outcome.ci_low is None or outcome.ci_high is None:
            return under
        low, high = self._cell(outcome.ci_low), self._cell(outcome.ci_high)
        return under[:low] + Text(stroke * (high - low + 1), style="cyan") + under[high + 1 :]

    def _cell(self, number: float) -> int:
        return min(PLOT - 1, max(0, round((number - self._low) / self._width * (PLOT - 1))))


def _marked(plot: Text, at: int, mark: str, style: str) -> Text:
    return plot[:at] + Text(mark, style=style) + plot[at + 1 :]


def as_rows(series: Series) -> Iterator[dict[str, object]]:
    """One row per window (and segment), for `--json`."""
    for outcome in series.outcomes:
        truth = outcome.truth
        yield {
            "metric": series.metric.name,
            "window": outcome.window_start,
            **({"segment": truth.segment} if series.metric.dimensions else {}),
            **({"pretend_crowd": series.crowd} if series.crowd > 1 else {}),
            "truth": truth.raw,
            "truth_clipped": truth.clipped,
            "estimate": outcome.value,
            "ci_low": outcome.ci_low,
            "ci_high": outcome.ci_high,
            "n": outcome.n,
            "state": outcome.state,
            "devices": truth.devices,
            "truth_arrived": truth.clipped_arrived,
        }


def show(result: Replay, console: Console) -> None:
    """Print a replay for people."""
    (series,) = result.series
    scale = Scale.of(series.metric.kind, series.metric.unit, series.outcomes)
    console.print(f"{series.metric.name}: {series.metric.description}", style="bold")
    if series.crowd > 1:
        console.print(pretence(series.crowd), style="bold magenta")
    _print(_table(series, scale, console), console)
    for line in _verdict(result, series, scale):
        console.print(line)
    console.print("\nOne device's own bits, seen from the device", style="bold")
    _print(_bits(series.metric, result.traces[:_TRACES], scale), console)
    if (more := len(result.traces) - _TRACES) > 0:
        console.print(f"… and in {more} more windows.")
    length = f"{spaced(len(series.metric.life))} {series.metric.window}s"
    console.print(f"What one device gives away if it reports all the metric's life, {length}", style="bold")
    console.print(price_table(describe(series.metric)))


def pretence(crowd: int) -> str:
    """What is said wherever a crowd is shown."""
    return f"PRETEND crowd: {crowd} devices, each with a secret of its own, stand for every device of the table."


def _table(series: Series, scale: Scale, console: Console) -> Table:
    """With a plot where there is room for it."""
    bare, plotted = _columns(series, scale), _columns(series, scale)
    plotted.add_column("┃ truth ● estimate ◉ both", width=PLOT)
    plot = Plot(series.outcomes)
    for outcome in series.outcomes:
        cells = _cells(series, scale, outcome)
        bare.add_row(*cells)
        plotted.add_row(*cells, plot.line(outcome))
    return plotted if _width(plotted, console) < console.width else bare


def _print(table: Table, console: Console) -> None:
    """Print a table whole: lines that are longer than the terminal wrap there; made to fit, numbers would be cut."""
    if (width := _width(table, console)) > console.width:
        table.width = width
    console.print(table, crop=False)


def _width(table: Table, console: Console) -> int:
    return Measurement.get(console, console.options.update(max_width=_WIDEST), table).maximum


def _clips(series: Series) -> bool:
    return any(abs(outcome.truth.raw - outcome.truth.clipped) > 1e-9 for outcome in series.outcomes)


def _columns(series: Series, scale: Scale) -> Table:
    table = table_of()
    table.add_column(series.metric.window, no_wrap=True)
    if series.metric.dimensions:
        table.add_column("segment", no_wrap=True)
    table.add_column("n", justify="right", no_wrap=True)
    table.add_column("truth", justify="right", style="yellow", no_wrap=True)
    if _clips(series):
        table.add_column("clipped", justify="right", style="yellow", no_wrap=True)
    table.add_column("estimate", justify="right", style="cyan", no_wrap=True)
    unit = f",{scale.unit}" if scale.unit else ""
    table.add_column(f"{100 * LEVEL:.0f} % interval{unit}", justify="right", no_wrap=True)
    return table


def _cells(series: Series, scale: Scale, outcome: Outcome) -> list[str]:
    truth = outcome.truth
    cells = [when(series.metric, outcome.window_start)]
    if series.metric.dimensions:
        cells.append("all" if truth.segment is None else truth.segment)
    cells += [spaced(outcome.n), scale.bare(truth.raw)]
    if _clips(series):
        cells.append(scale.bare(truth.clipped))
    told = scale.interval(outcome.ci_low, outcome.ci_high).removesuffix(scale.unit)
    missed = outcome.holds is False and _alike(series, outcome)
    return [*cells, scale.bare(outcome.value), told + (" *" if missed else "  ")]


def _alike(series: Series, outcome: Outcome) -> bool:
    """Whether the estimate is of those devices whose truth stands beside it; not where others report too."""
    reports, devices = outcome.n, outcome.truth.arrived
    return reports == devices or (series.metric.report_every > 1 and reports < devices)


def _verdict(result: Replay, series: Series, scale: Scale) -> Iterator[str]:
    every = [outcome for outcome in series.outcomes if outcome.holds is not None]
    shown = [outcome for outcome in every if _alike(series, outcome)]
    missed = sum(outcome.holds is False for outcome in shown)
    if shown:
        yield (
            f"{len(shown) - missed} of {len(shown)} intervals hold the truth; about {LEVEL * len(shown):.0f} of "
            f"{len(shown)} are expected."
        )
    if missed:
        yield "* marks those that do not. Misses can come together: devices repeat their permanent answers."
    if more := len(every) - len(shown):
        rows = "1 row" if more == 1 else f"{more} rows"
        yield (
            f"Left out of this: {rows} whose n is not the number of the table's devices. Others report there too, or n"
            " is on its way there in steps of min_reports."
        )
    if series.problem:
        yield f"There are no estimates: {series.problem}"
    elif len(every) < len(series.outcomes):
        yield f"Where a dash stands, fewer than min_reports = {series.metric.min_reports} reports came."
    if any(abs(outcome.truth.raw - outcome.truth.clipped) > 1e-9 for outcome in series.outcomes):
        yield "Intervals are for the clipped truth, of values clipped and rounded: it is all that the metric can see."
    yield from _grace(series, shown, scale)
    if result.checked:
        bits = sum((radix - 1).bit_length() for radix in series.metric.encoder.radices)
        reports = "1 report" if result.reports == 1 else f"{spaced(result.reports)} reports"
        size = "one bit" if bits == 1 else f"{bits} bits"
        each = "" if result.reports == 1 else " each"
        yield f"{reports} of {size}{each} travelled over HTTP; it took {result.seconds:.0f} s."
        if series.metric.report_every == 1:
            yield "Each window holds exactly the reports that it must: none was lost or counted twice."
    else:
        yield (
            f"Others may report there too, so n was not held against the table. Estimates: {result.read_endpoint}/; "
            "rows are provisional until no report can come any more."
        )
    if result.restarts:
        yield f"The collector died and was started again, {result.restarts} times; nothing was lost or counted twice."


def _grace(series: Series, shown: Sequence[Outcome], scale: Scale) -> Iterator[str]:
    """What was refused because the device came back too late, and what that does to the truth."""
    truths = [outcome.truth for outcome in series.whole]
    devices, arrived = sum(truth.devices for truth in truths), sum(truth.arrived for truth in truths)
    if arrived == devices:
        return
    days, lost = series.metric.grace / 86_400, devices - arrived
    yield (
        f"{spaced(lost)} of {spaced(devices)} device-windows ({100 * lost / devices:.1f} %) were lost: the device came"
        f" back more than {days:g} days (grace) after the window had ended, and its report was refused."
    )
    if not arrived:
        return
    finer = Scale(scale.factor, scale.digits + 1, scale.unit)
    every = math.fsum(truth.clipped * truth.devices for truth in truths) / devices
    those = math.fsum((truth.clipped_arrived or 0.0) * truth.arrived for truth in truths) / arrived
    holding = sum(outcome.holds_arrived is True for outcome in shown)
    yield (
        f"Mean of all device-windows {finer.text(every)}, of those that arrived {finer.text(those)}: a bias of "
        f"{finer.text(those - every)}. {holding} of {len(shown)} intervals hold the truth of those that arrived."
    )


def _bits(metric: Metric, traces: Sequence[Trace], scale: Scale) -> Table:
    table = table_of()
    table.add_column(metric.window)
    table.add_column("its value", justify="right")
    table.add_column("permanent answer", justify="right")
    table.add_column("sent", justify="right")
    for trace in traces:
        value = ("no", "yes")[int(trace.value)] if metric.kind == "boolean" else f"{trace.value:g}{scale.unit}"
        fields = () if trace.sent is None else unpack(trace.sent, metric.encoder.radices)
        sent = " ".join(map(str, fields)) or "not its turn"
        table.add_row(when(metric, trace.window_start), value, " ".join(map(str, trace.answer)), sent)
    return table


def when(metric: Metric, start: str) -> str:
    """2013-06-12, or 2013-06-12T06 where windows are hours."""
    return start[: 13 if metric.window == "hour" else 10]
