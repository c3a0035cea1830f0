"""`hubbub replay`: truth beside estimate, from a table of real values through the whole system."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hubbub.cli.output import console, emit_json, fail, log, needs
from hubbub.errors import ParameterError

if TYPE_CHECKING:
    from hubbub.lock import Lock, Metric
    from hubbub.replay import Columns, Fleet

_OPTIONS = {  # where the engine's names of them are others
    **{name: f"--{name}" for name in ("devices", "windows", "crowd", "state", "store")},
    "endpoint": "--collector",
}


def replay(
    table: Annotated[
        Path, typer.Argument(metavar="TABLE", help="CSV or Parquet file with one row per device and window.")
    ],
    registry: Annotated[
        Path, typer.Option(metavar="FILE", help="The metrics.toml that defines the metric, or the metrics.lock of it.")
    ] = Path("metrics.toml"),
    metric: Annotated[str, typer.Option(help="Name of the metric; the registry's only one by default.")] = "",
    device: Annotated[str, typer.Option(metavar="COL", help="Column that tells devices apart.")] = "device",
    window: Annotated[
        str, typer.Option(metavar="COL", help="Column with ISO dates, or numbers from the metric's first window.")
    ] = "window",
    value: Annotated[str, typer.Option(metavar="COL", help="Column with the value.")] = "value",
    segment: Annotated[
        str, typer.Option(metavar="COL", help="Column with the device's segment, where the metric has dimensions.")
    ] = "",
    awake: Annotated[
        str, typer.Option(metavar="COL", help="Column that says whether the program ran; by default in every row.")
    ] = "",
    devices: Annotated[int | None, typer.Option(min=1, help="Only the first so many devices.")] = None,
    windows: Annotated[int | None, typer.Option(min=1, help="Only the first so many windows.")] = None,
    crowd: Annotated[int, typer.Option(min=1, max=1000, help="PRETEND that each device of the table is so many.")] = 1,
    collector: Annotated[
        str, typer.Option(metavar="URL", help="Report to this collector; by default one is started for it.")
    ] = "",
    read: Annotated[
        str, typer.Option(metavar="URL", help="Read the estimates there; by default on the collector's next port.")
    ] = "",
    state: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Keep all in this folder; once killed, go on from there.")
    ] = None,
    store: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Keep the collector's store; thrown away by default.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON array of windows.")] = False,
) -> None:
    """Send a table of real values through devices, HTTP and a collector; print truth beside estimate.

    Each device of the table gets its own client with its own secret, and runs in the windows in which it has a row.
    Nothing but disguised bits reaches the collector.
    """
    needs("server")
    from hubbub.cli.ending import crowded
    from hubbub.cli.truth import as_rows, show
    from hubbub.cli.watching import Watching
    from hubbub.definitions import read as read_registry
    from hubbub.replay import Columns, Fleet, Given, Saved, steps
    from hubbub.replay import read as read_table
    from hubbub.replay import replay as run

    if store and (state or collector):
        fail("--store is for a collector that is started here and forgotten; leave it out with --state or --collector")
    if read and not collector:
        fail("--read is the address at which the estimates of a --collector are read")
    lock = read_registry(registry)
    chosen = _metric(lock, metric, segment)
    columns = Columns(device, window, value, segment, awake)
    with _named_as_options(), crowded(), ExitStack() as stack:
        given = Given(collector, read) if collector else None
        last = given.last(chosen) if given else None
        saved = None
        if state:
            options = (devices, windows, crowd, collector)
            saved = stack.enter_context(Saved(state, _origin(table, columns, options, lock, chosen), last))
            last = saved.place.last
        rows = read_table(table, columns, chosen, devices=devices, windows=windows, last=last)
        if given:
            given.check(rows, chosen, saved.place.done if saved else None)
        fleet = Fleet({chosen.name: rows}, crowd)
        watching = Watching(log(), _doing(fleet), steps([fleet], lock))
        seen = watching.seen if watching.on else None
        with ExitStack() as running:
            with watching:
                making = run(
                    [fleet], lock, store=store, saved=saved, given=given, progress=watching.progress, seen=seen
                )
                result = running.enter_context(making)
            if json:
                emit_json([row for series in result.series for row in as_rows(series)])
            else:
                show(result, console())


@contextmanager
def _named_as_options() -> Iterator[None]:
    """Have errors name options as they were given."""
    try:
        yield
    except ParameterError as error:
        raise ParameterError(_OPTIONS.get(error.name, error.name), error.value, error.expected) from None


def _doing(fleet: "Fleet") -> str:
    from hubbub.definitions.wording import spaced

    if fleet.crowd == 1:
        return f"{spaced(fleet.devices)} devices report"
    return f"{spaced(fleet.devices)} devices report: PRETEND, {fleet.crowd} for each of the table"


def _metric(lock: "Lock", name: str, segment: str) -> "Metric":
    known = {name: metric for name, metric in lock.metrics.items() if not metric.source}
    metric = known.get(name)
    if not name and len(known) == 1:
        metric = next(iter(known.values()))
    if metric is None:
        raise ParameterError("--metric", name, "one of " + ", ".join(sorted(known)))
    if metric.kind not in ("boolean", "mean"):
        raise ParameterError("--metric", metric.name, f"a boolean or a mean in this release, and no {metric.kind}")
    dimensions = "/".join(dimension for dimension, _ in metric.dimensions)
    if dimensions and not segment:
        fail(f"{metric.name} has dimensions: name the column that holds each device's {dimensions} with --segment")
    if segment and not dimensions:
        raise ParameterError("--segment", segment, f"left out, since {metric.name} has no dimensions")
    return metric


def _origin(table: Path, columns: "Columns", options: tuple[object, ...], lock: "Lock", metric: "Metric") -> str:
    """What tells a replay from others: all that is in the table, and what is done with it."""
    import hashlib

    from hubbub.lock import dump

    digest = hashlib.sha256(repr((columns, options, dump(lock), metric.name)).encode())
    with table.open("rb") as file:
        while part := file.read(1 << 20):
            digest.update(part)
    return digest.hexdigest()
