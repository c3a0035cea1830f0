"""What is seen while a replay runs: the last windows whose reports came in, and how far it is. On a terminal alone."""

from collections import deque
from types import TracebackType
from typing import Self

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress import BarColumn, Progress, TaskProgressColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from hubbub.estimates.wording import Scale
from hubbub.lock import Metric
from hubbub.replay import LEVEL, Outcome

_ROWS = 8  # windows on show, so that it fits any terminal


class Watching:
    """A progress bar under the windows that have brought reports so far; a context manager that takes them away.

    Args:
        console: Where to show it.
        doing: What goes on, in a line.
        total: Steps that there are.
    """

    def __init__(self, console: Console, doing: str, total: int) -> None:
        self._doing = doing
        self._bar = Progress(BarColumn(), TaskProgressColumn(), TimeRemainingColumn(), console=console)
        self._task = self._bar.add_task("", total=total)
        self._rows: deque[tuple[Text | str, ...]] = deque(maxlen=_ROWS)
        self._live = Live(console=console, transient=True, get_renderable=self._shown, refresh_per_second=4)
        self.on = console.is_terminal

    def __enter__(self) -> Self:
        if self.on:
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._live.stop()

    def progress(self, steps: int) -> None:
        """So many more steps are done; may be called from any thread."""
        self._bar.advance(self._task, steps)

    def seen(self, metric: Metric, outcome: Outcome) -> None:
        """A window's reports come in."""
        scale = Scale.of(metric.kind, metric.unit, [outcome])
        window, truth = outcome.window_start[:10], Text(scale.text(outcome.truth.clipped), "yellow")
        if outcome.value is None:
            told = Text("too few"), Text("reports so far", "dim")
        else:
            interval = scale.interval(outcome.ci_low, outcome.ci_high)
            told = Text(scale.text(outcome.value), "cyan"), Text(interval, "cyan")
        self._rows.append((metric.name, window, truth, *told))

    def _shown(self) -> RenderableType:
        done = "Reading the estimates …" if self._bar.finished else self._doing
        return Group(*([self._table()] if self._rows else []), Text(done), self._bar)

    def _table(self) -> Table:
        table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
        table.add_column("metric")
        table.add_column("window", no_wrap=True)
        table.add_column("clipped truth", justify="right", no_wrap=True)
        table.add_column("so far", justify="right", no_wrap=True)
        table.add_column(f"{100 * LEVEL:.0f} % interval", justify="right", no_wrap=True)
        for row in self._rows:
            table.add_row(*row)
        return table
