"""What a replay prints: truth beside estimate, one device's own bits, the prices."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

from rich.console import Console
from rich.table import Table
from rich.text import Text

from hubbub.cli.output import price_table, table_of
from hubbub.privacy import describe
from hubbub.replay.run import LEVEL, Outcome, Replay
from hubbub.wire import unpack

_PLOT, _WIDE = 25, 78  # characters of the plot, and of a terminal that has room for it


@dataclass(frozen=True)
class Scale:
    """How a metric's numbers are written: shares in per cent, means in their unit."""

    factor: float
    digits: int
    unit: str
    low: float
    high: float

    def text(self, number: float | None) -> str:
        """The number with its unit, or a dash where nothing may be shown."""
        return "–" if number is None else f"{self._bare(number)}{self.unit}"

    def interval(self, low: float | None, high: float | None) -> str:
        """Both ends with one unit."""
        return "–" if low is None or high is None else f"{self._bare(low)} to {self._bare(high)}{self.unit}"

    def _bare(self, number: float) -> str:
        return f"{round(number * self.factor, self.digits) + 0.0:.{self.digits}f}"

    def plot(self, outcome: Outcome) -> Text:
        """The interval as a line, estimate and truth as marks on it."""
        plot = Text(" " * _PLOT)
        truth = self._cell(outcome.truth_clipped)
        if outcome.ci_low is not None and outcome.ci_high is not None and outcome.value is not None:
            low, estimate, high = map(self._cell, (outcome.ci_low, outcome.value, outcome.ci_high))
            plot = Text(" " * low + "─" * (high - low + 1) + " " * (_PLOT - high - 1), style="cyan")
            plot = _marked(plot, estimate, "●", "bold cyan")
            if truth == estimate:
                return _marked(plot, truth, "◉", "bold yellow")
        return _marked(plot, truth, "┃", "bold yellow")

    def _cell(self, number: float) -> int:
        share = (number - self.low) / (self.high - self.low)
        return min(_PLOT - 1, max(0, round(share * (_PLOT - 1))))


def _marked(plot: Text, at: int, mark: str, style: str) -> Text:
    return plot[:at] + Text(mark, style=style) + plot[at + 1 :]


def as_rows(result: Replay) -> list[dict[str, object]]:
    """One row per window, for `--json`."""
    return [
        {
            "metric": result.metric.name,
            "window": outcome.window_start,
            "truth": outcome.truth,
            "truth_clipped": outcome.truth_clipped,
            "estimate": outcome.value,
            "ci_low": outcome.ci_low,
            "ci_high": outcome.ci_high,
            "n": outcome.n,
            "state": outcome.state,
        }
        for outcome in result.outcomes
    ]


def show(result: Replay, console: Console, remark: str = "") -> None:
    """Print the whole replay for people; `remark` says what to look at."""
    scale = _scale(result)
    console.print(f"{result.metric.name}: {result.metric.description}", style="bold")
    console.print(_table(result, scale, wide=console.width >= _WIDE))
    for line in _verdict(result):
        console.print(line)
    if remark:
        console.print(remark)
    console.print("\nOne device's own bits, seen from the device", style="bold")
    console.print(_bits(result, scale))
    console.print("What one device gives away by all this", style="bold")
    console.print(price_table(describe(result.metric)))


def _scale(result: Replay) -> Scale:
    ends = [end for o in result.outcomes for end in (o.ci_low, o.ci_high) if end is not None]
    ends += [o.truth_clipped for o in result.outcomes]
    if result.metric.kind == "boolean":
        return Scale(100.0, 0, " %", min(0.0, *ends), max(ends))
    unit = f" {result.metric.unit}" if result.metric.unit else ""
    width = max(ends) - min(ends)
    digits = max(0, 2 - math.floor(math.log10(width))) if width > 0 else 1
    return Scale(1.0, digits, unit, min(ends), min(ends) + (width or 1.0))


def _table(result: Replay, scale: Scale, *, wide: bool) -> Table:
    table = table_of()
    table.add_column(result.metric.window, no_wrap=True)
    table.add_column("n", justify="right", no_wrap=True)
    table.add_column("truth", justify="right", style="yellow", no_wrap=True)
    table.add_column("estimate", justify="right", style="cyan", no_wrap=True)
    table.add_column(f"{100 * LEVEL:.0f} % interval", justify="right", no_wrap=True)
    if wide:
        table.add_column("┃ truth ● estimate ◉ both", width=_PLOT)
    for outcome in result.outcomes:
        cells: list[str | Text] = [
            _when(result, outcome.window_start),
            str(outcome.n),
            scale.text(outcome.truth_clipped),
            scale.text(outcome.value),
            scale.interval(outcome.ci_low, outcome.ci_high) + (" *" if outcome.holds is False else "  "),
        ]
        table.add_row(*cells, *([scale.plot(outcome)] if wide else []))
    return table


def _verdict(result: Replay) -> Iterator[str]:
    shown = [outcome.holds for outcome in result.outcomes if outcome.holds is not None]
    missed = shown.count(False)
    if shown:
        yield (
            f"{len(shown) - missed} of {len(shown)} intervals hold the truth; about {LEVEL * len(shown):.0f} of "
            f"{len(shown)} are expected."
        )
    if missed:
        yield "* marks those that do not. Misses can come together: devices repeat their permanent answers."
    if len(shown) < len(result.outcomes):
        yield f"Where a dash stands, fewer than min_reports = {result.metric.min_reports} reports came."
    if any(abs(outcome.truth - outcome.truth_clipped) > 1e-9 for outcome in result.outcomes):
        yield "The truth is that of the clipped and rounded values, which is all that the metric can see."
    bits = sum((radix - 1).bit_length() for radix in result.metric.encoder.radices)
    reports = "1 report" if result.reports == 1 else f"{result.reports} reports of"
    size = "one bit" if bits == 1 else f"{bits} bits"
    yield f"{reports} {size} each travelled over HTTP; it took {result.seconds:.0f} s."
    if result.restarts:
        yield f"The collector died and was started again, {result.restarts} times; nothing was lost or counted twice."


def _bits(result: Replay, scale: Scale) -> Table:
    table = table_of()
    table.add_column(result.metric.window)
    table.add_column("its value", justify="right")
    table.add_column("permanent answer", justify="right")
    table.add_column("sent", justify="right")
    for trace in result.traces:
        value = ("no", "yes")[int(trace.value)] if result.metric.kind == "boolean" else scale.text(trace.value)
        fields = () if trace.sent is None else unpack(trace.sent, result.metric.encoder.radices)
        sent = " ".join(map(str, fields)) or "not its turn"
        table.add_row(_when(result, trace.window_start), value, " ".join(map(str, trace.answer)), sent)
    return table


def _when(result: Replay, start: str) -> str:
    """2013-06-12, or 2013-06-12T06 where windows are hours."""
    return start[: 13 if result.metric.window == "hour" else 10]
