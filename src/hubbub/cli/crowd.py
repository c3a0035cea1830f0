"""`hubbub crowd`: pretend devices for one's own registry, on a collector in dev mode."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated

import typer

from hubbub.cli.output import complain, console, emit_json, log, needs, table_of
from hubbub.errors import HubbubError, ParameterError
from hubbub.wire import TRAVELLING_HASH

if TYPE_CHECKING:
    from rich.table import Table

    from hubbub.answers.remote import Listener
    from hubbub.clock import ScaledClock
    from hubbub.estimates import Known, Row
    from hubbub.lock import Lock, Metric
    from hubbub.replay.crowd import Crowd, Outcome, Plan

    Pair = tuple[Outcome, Row | None]

LEVEL = 0.95
_INTERRUPTED = 130
_MOST = 30  # rows of a metric that are printed


def crowd(
    registry: Annotated[Path, typer.Argument(metavar="REGISTRY", help="A metrics.toml, or the metrics.lock of it.")],
    devices: Annotated[int, typer.Option(min=1, max=100_000, help="How many devices.")] = 5000,
    collector: Annotated[
        str, typer.Option(metavar="URL", help='Where they post: what `serve --dev` prints after "listening on".')
    ] = "http://127.0.0.1:8377",
    read: Annotated[
        str | None, typer.Option(metavar="URL", help="Where estimates are read; the collector's next port by default.")
    ] = None,
    windows: Annotated[
        int | None,
        typer.Option(min=1, help="How long, in windows of the longest kind; 24 hours, 7 days or 2 weeks by default."),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Another one makes other devices.")] = 0,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON array of windows.")] = False,
) -> None:
    """Fill your own yes/no and mean metrics with pretend devices, to see them on the dashboard before real ones.

    Metrics of other kinds, and the second report of `active = true`, are named and left out.

    Works with a collector of `hubbub serve --dev` alone, where a day passes in 10 s. Each device is a real client with
    its own secret that sends disguised reports over HTTP; what it would say is made up, so the truth can be printed
    beside the estimate. Ctrl-C ends it with what there is.
    """
    needs("server")
    from hubbub.cli.ending import crowded
    from hubbub.definitions import read as read_registry
    from hubbub.replay import crowd as crowds
    from hubbub.replay import dev
    from hubbub.replay.health import next_port

    lock = read_registry(registry)
    remedy = _remedy(registry)
    try:
        clock = dev.clock_of(collector, f"start one: {remedy}")
    except ParameterError as error:
        raise ParameterError("--collector", collector, error.expected) from None
    plan = crowds.plan(lock, clock.now(), windows)
    _leave_out(plan)
    dev.admit(collector, ((metric, span[0]) for metric, span in plan.spans.items()), f"start it anew: {remedy}")
    address = next_port(collector) if read is None else read
    with crowded(), _reading(address, collector, plan) as listener:
        _announce(plan, clock, devices)
        found = _live(lock, plan, collector, clock, devices, seed)
        pairs = _beside(found, listener)
        known = {(entry.name, entry.hash): entry for entry in listener.metrics()}
    if json:
        emit_json([_as_row(*pair) for pair in pairs])
    else:
        _show(pairs, known)
        console().print(f"Look at {address}/ in a browser.", soft_wrap=True)
    for line in _failings(found):
        complain(line)
    if found.interrupted:
        raise typer.Exit(_INTERRUPTED)


def _remedy(registry: Path) -> str:
    lock = quote(str(registry.with_suffix(".lock")))
    serve = f"`hubbub serve --dev --lock {lock} --store hubbub.db`"
    return serve if registry.suffix == ".lock" else f"`hubbub registry build {quote(str(registry))}`, then {serve}"


def _leave_out(plan: "Plan") -> None:
    """Say what will not be reported."""
    for name, why in plan.left_out.items():
        complain(f"{name} is left out: {why}")
    if not plan.spans:
        cure = "--windows N reaches further" if plan.end else "a collector that is started anew begins at the present"
        raise HubbubError(
            f"no metric of this registry can be reported; the collector's clock shows {_date(plan.born)}, and {cure}"
        )


def _announce(plan: "Plan", clock: "ScaledClock", devices: int) -> None:
    """Say what will happen."""
    seconds = (plan.end - plan.born) / clock.speed
    complain(f"{devices} pretend devices, until {_date(plan.end)} by the collector's clock: at least {seconds:.0f} s")
    for metric, span in plan.spans.items():
        complain(f"{metric.name}: {_many(len(span), metric.window)} from {_start(metric, span[0])} on")
        expected = devices / metric.report_every / len(metric.segments)
        if expected < metric.min_reports:
            complain(
                f"{metric.name}: about {expected:.0f} reports come in each, but nothing is shown for fewer than"
                f" min_reports = {metric.min_reports}"
            )


def _live(lock: "Lock", plan: "Plan", collector: str, clock: "ScaledClock", devices: int, seed: int) -> "Crowd":
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    from hubbub.replay.crowd import run

    columns = TextColumn("{task.description}"), BarColumn(), TimeRemainingColumn()
    with Progress(*columns, console=log(), transient=True, disable=not log().is_terminal) as bar:
        task = bar.add_task(_date(plan.born), total=plan.end - plan.born)

        def progress(now: float) -> None:
            bar.update(task, completed=now - plan.born, description=_date(now))

        return run(lock, plan, collector, clock, devices=devices, seed=seed, progress=progress)


@contextmanager
def _reading(address: str, collector: str, plan: "Plan") -> "Iterator[Listener]":
    """The listener from which the estimates of this collector are read."""
    from hubbub.answers import AnswersError
    from hubbub.answers.remote import Listener

    try:
        opened = Listener(address)
    except ParameterError as error:
        raise ParameterError("--read", address, error.expected) from None
    with opened as listener:
        try:
            known = {(entry.name, entry.hash) for entry in listener.metrics()}
        except AnswersError as error:
            raise HubbubError(f"--read: {error}") from None
        if any((metric.name, metric.hash[:TRAVELLING_HASH]) not in known for metric in plan.spans):
            raise HubbubError(f"--read: {address} shows another store than that of {collector}")
        yield listener


def _beside(found: "Crowd", listener: "Listener") -> "list[Pair]":
    """Each outcome with its row, by metric, window and segment."""
    from hubbub.answers import Span
    from hubbub.replay.crowd import key_of

    rows: dict[tuple[str, str, str, str], Row] = {}
    for metric in {outcome.metric for outcome in found.outcomes}:
        first = min(metric.windows.start(o.window) for o in found.outcomes if o.metric == metric)
        listed = listener.rows(metric.name, Span(first, None), None, LEVEL)
        rows |= {key_of(row): row for row in listed if row.category is None}  # and no ratios
    pairs = [(outcome, rows.get(outcome.key)) for outcome in found.outcomes]
    return sorted(pairs, key=lambda pair: pair[0].key)


def _as_row(outcome: "Outcome", row: "Row | None") -> dict[str, object]:
    """For `--json`."""
    name, _, start, segment = outcome.key
    figures = {"estimate": row and row.value, "ci_low": row and row.ci_low, "ci_high": row and row.ci_high}
    return {
        "metric": name,
        "window": start,
        "segment": segment,
        "sent": outcome.sent,
        "truth": outcome.truth,
        "truth_clipped": outcome.truth_clipped,
        **figures,
        "n": 0 if row is None else row.n,
        "state": "empty" if row is None else row.state,
    }


def _show(pairs: "Sequence[Pair]", known: "Mapping[tuple[str, str], Known]") -> None:
    out = console()
    if not pairs:
        out.print("No window was over yet, so nothing was reported.")
    tables: dict[tuple[str, str], list[Pair]] = {}
    for outcome, row in pairs:
        tables.setdefault(outcome.key[:2], []).append((outcome, row))
    for key, listed in tables.items():
        out.print(f"{key[0]}: {known[key].description}", style="bold")
        out.print(_table(listed[-_MOST:], known[key]))
        if len(listed) > _MOST:
            out.print(f"The last {_MOST} of {len(listed)} rows; --json prints all of them.\n")
    for line in _verdict(pairs):
        out.print(line)


def _table(pairs: "Sequence[Pair]", known: "Known") -> "Table":
    from hubbub.estimates.wording import Scale

    scale = Scale.of(known.kind, known.unit, [row for _, row in pairs if row is not None])
    table = table_of()
    table.add_column(known.window)
    if known.dimensions:
        table.add_column("segment")
    table.add_column("n", justify="right")
    table.add_column("truth", justify="right", style="yellow")
    table.add_column("estimate", justify="right", style="cyan")
    table.add_column(f"{100 * LEVEL:g} % interval", justify="right")
    for outcome, row in pairs:
        cells = [_start(outcome.metric, outcome.window), *([outcome.segment] if known.dimensions else [])]
        truth, mark = scale.text(outcome.truth_clipped), " *" if _holds(outcome, row) is False else "  "
        if row is None:
            table.add_row(*cells, "0", truth, "–", "–  ")
        else:
            interval = scale.interval(row.ci_low, row.ci_high) + mark
            table.add_row(*cells, str(row.n), truth, scale.text(row.value), interval)
    return table


def _holds(outcome: "Outcome", row: "Row | None") -> bool | None:
    """Whether the interval holds the truth; None without an interval."""
    if row is None or row.ci_low is None or row.ci_high is None:
        return None
    return row.ci_low <= outcome.truth_clipped <= row.ci_high


def _verdict(pairs: "Sequence[Pair]") -> Iterator[str]:
    """What the tables say, and what else there is to know about them."""
    held = [held for pair in pairs if (held := _holds(*pair)) is not None]
    if held:
        yield (
            f"{held.count(True)} of {len(held)} intervals hold the truth, about {LEVEL * len(held):.0f} are expected"
            + (": * marks those that do not." if False in held else ".")
        )
    if len(held) < len(pairs):
        yield "Where a dash stands, fewer than min_reports reports came."
    if any(abs(outcome.truth - outcome.truth_clipped) > 1e-9 for outcome, _ in pairs):
        yield "Values beyond the range are clipped: the truth is that of clipped ones, all that the metric can see."
    if any(row is not None and 0 < row.n < outcome.sent for outcome, row in pairs):
        yield "Until its window is final, a row moves on in steps of min_reports."
    if any(row is not None and row.n > outcome.sent for outcome, row in pairs):
        yield "n counts other devices too where it is larger than the crowd; the truth is that of the crowd alone."


def _failings(found: "Crowd") -> Iterator[str]:
    """What did not go well."""
    for code, count in sorted(found.answers.items()):
        if code not in ("accepted", "duplicate"):
            yield f"warning: {_many(count, 'answer')} of the collector: {code}"
    if found.waiting and not found.interrupted:
        yield f"warning: {_many(found.waiting, 'report')} were put off by the collector and are lost"
    if found.interrupted:
        yield "interrupted; what the devices had sent is kept"


def _many(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


def _start(metric: "Metric", window: int) -> str:
    """2026-12-01, or 2026-12-01T06 where windows are hours."""
    return _date(metric.windows.start(window), 13 if metric.window == "hour" else 10)


def _date(seconds: float, characters: int = 16) -> str:
    from hubbub.windows import iso

    return iso(int(seconds))[:characters]
