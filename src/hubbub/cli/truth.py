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

_PLOT = 23  # characters


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
        return "–" if low is None or high is None else f"{self._bare(low)} … {self._bare(high)}{self.unit}"

    def _bare(self, number: float) -> str:
        return f"{round(number * self.factor, self.digits) + 0.0:.{self.digits}f}"

    def plot(self, outcome: Outcome) -> Text:
        """The interval as a line, the estimate as a dot, the truth as a bar."""
        row = outcome.row
        cells = [" "] * _PLOT
        if row.ci_low is not None and row.ci_high is not None and row.value is not None:
            for i in range(self._cell(row.ci_low), self._cell(row.ci_high) + 1):
                cells[i] = "─"
            cells[self._cell(row.value)] = "●"
        at = self._cell(outcome.truth_clipped)
        plot = Text("".join(cells), style="cyan")
        plot = plot[:at] + Text("┃", style="bold yellow") + plot[at + 1 :]
        return plot

    def _cell(self, number: float) -> int:
        share = (number - self.low) / (self.high - self.low)
        return min(_PLOT - 1, max(0, round(share * (_PLOT - 1))))


def as_rows(result: Replay) -> list[dict[str, object]]:
    """One row per window, for `--json`."""
    return [
        {
            "metric": result.metric.name,
            "window": outcome.window_start,
            "truth": outcome.truth,
            "truth_clipped": outcome.truth_clipped,
            "estimate": outcome.row.value,
            "ci_low": outcome.row.ci_low,
            "ci_high": outcome.row.ci_high,
            "n": outcome.row.n,
            "state": outcome.row.state,
        }
        for outcome in result.outcomes
    ]


def show(result: Replay, console: Console, remark: str = "") -> None:
    """Print the whole replay for people; `remark` says what to look at."""
    scale = _scale(result)
    console.print(_table(result, scale))
    for line in _verdict(result, scale):
        console.print(line)
    if remark:
        console.print(remark)
    console.print()
    console.print(_bits(result, scale))
    console.print(price_table(describe(result.metric), "What one device gives away by all this"))


def _scale(result: Replay) -> Scale:
    ends = [end for o in result.outcomes for end in (o.row.ci_low, o.row.ci_high) if end is not None]
    ends += [o.truth_clipped for o in result.outcomes]
    if result.metric.kind == "boolean":
        return Scale(100.0, 0, " %", min(0.0, *ends), max(ends))
    unit = f" {result.metric.unit}" if result.metric.unit else ""
    width = max(ends) - min(ends)
    digits = max(0, 2 - math.floor(math.log10(width))) if width > 0 else 1
    return Scale(1.0, digits, unit, min(ends), min(ends) + (width or 1.0))


def _table(result: Replay, scale: Scale) -> Table:
    table = table_of(f"{result.metric.name}: {_first(result.metric.description)}")
    table.add_column(result.metric.window)
    table.add_column("n", justify="right")
    table.add_column("truth", justify="right", style="yellow")
    table.add_column("estimate", justify="right", style="cyan")
    table.add_column(f"{100 * LEVEL:.0f} % interval", justify="right")
    table.add_column("┃ truth   ● estimate", width=_PLOT)
    for outcome in result.outcomes:
        row = outcome.row
        table.add_row(
            _when(result, outcome.window_start),
            str(row.n),
            scale.text(outcome.truth_clipped),
            scale.text(row.value),
            scale.interval(row.ci_low, row.ci_high) + (" *" if _misses(outcome) else ""),
            scale.plot(outcome),
        )
    return table


def _verdict(result: Replay, scale: Scale) -> Iterator[str]:
    shown = [outcome for outcome in result.outcomes if outcome.row.ci_low is not None]
    missed = sum(_misses(outcome) for outcome in shown)
    if shown:
        yield (
            f"{len(shown) - missed} of {len(shown)} intervals hold the truth; about {LEVEL * len(shown):.0f} of "
            f"{len(shown)} are expected" + (" (* does not)." if missed else ".")
        )
    if len(shown) < len(result.outcomes):
        least = result.metric.min_reports
        yield f"Where a dash stands, fewer than min_reports = {least} reports came, or none."
    if any(abs(outcome.truth - outcome.truth_clipped) > 1e-9 for outcome in result.outcomes):
        yield "The truth is that of the clipped and rounded values, which is all that the metric can see."
    bits = sum((radix - 1).bit_length() for radix in result.metric.encoder.radices)
    size = "one bit" if bits == 1 else f"{bits} bits"
    yield f"{result.reports} reports of {size} each travelled over HTTP; it took {result.seconds:.0f} s."
    if result.restarts:
        yield f"The collector died and was started again, {result.restarts} times; nothing was lost or counted twice."


def _bits(result: Replay, scale: Scale) -> Table:
    table = table_of("One device's own bits, seen from the device")
    table.add_column(result.metric.window)
    table.add_column("its value", justify="right")
    table.add_column("permanent answer", justify="right")
    table.add_column("sent", justify="right")
    for trace in result.traces:
        value = ("no", "yes")[int(trace.value)] if result.metric.kind == "boolean" else scale.text(trace.value)
        sent = " ".join(map(str, unpack(trace.sent, result.metric.encoder.radices)))
        table.add_row(_when(result, trace.window_start), value, " ".join(map(str, trace.answer)), sent)
    return table


def _misses(outcome: Outcome) -> bool:
    return outcome.row.ci_low is not None and not outcome.holds


def _when(result: Replay, start: str) -> str:
    """2013-06-12, or 2013-06-12T06 where windows are hours."""
    return start[: 13 if result.metric.window == "hour" else 10]


def _first(text: str, longest: int = 60) -> str:
    return text if len(text) <= longest else text[: longest - 1].rstrip() + "…"
