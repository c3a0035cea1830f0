"""`hubbub crowd`: pretend devices for one's own registry, on a collector in dev mode."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated

import typer

from hubbub.cli.beside import LEVEL, as_row, date, many, show, start
from hubbub.cli.output import complain, console, emit_json, log, needs
from hubbub.errors import HubbubError, ParameterError
from hubbub.wire import TRAVELLING_HASH

if TYPE_CHECKING:
    from hubbub.answers import Source
    from hubbub.answers.remote import Listener
    from hubbub.cli.beside import Pair
    from hubbub.clock import ScaledClock
    from hubbub.estimates import Row
    from hubbub.lock import Lock
    from hubbub.replay.crowd import Crowd, Key, Outcome, Plan

_INTERRUPTED = 130


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
    words: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="What they say for metrics of words, one a line, commonest first."),
    ] = None,
    list_words: Annotated[
        bool, typer.Option("--list-words", help="Print the words that they say without --words, and end.")
    ] = False,
    store: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="The collector's store, to find words in: they are not told over HTTP."),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON array of windows.")] = False,
) -> None:
    """Fill your own metrics with pretend devices, to see them on the dashboard before real ones.

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

    said = _words(words, seed)
    if list_words:
        print("\n".join(said))
        return
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
    with crowded(), _reading(address, collector, plan) as listener, _within(store, clock, plan) as file:
        _announce(plan, clock, devices)
        found = _live(lock, plan, collector, clock, devices, seed, said)
        pairs = _beside(found, listener, file, said)
        known = {(entry.name, entry.hash): entry for entry in listener.metrics()}
    if json:
        emit_json([as_row(*pair) for pair in pairs])
    else:
        show(pairs, known)
        asked = sorted({outcome.metric.name for outcome in found.outcomes if outcome.metric.kind == "words"})
        if asked and store is None:
            _how_to_find(asked, registry, seed, words, clock.now())
        console().print(f"Look at {address}/ in a browser.", soft_wrap=True)
    for line in _failings(found):
        complain(line)
    if found.interrupted:
        raise typer.Exit(_INTERRUPTED)


def _words(path: Path | None, seed: int) -> Sequence[str]:
    """What devices say for metrics of words."""
    from hubbub.cli.candidates import read
    from hubbub.replay.vocabulary import made

    if path is None:
        return made(seed)
    try:
        return read(path)
    except ParameterError as error:
        raise ParameterError("--words", error.value, error.expected) from None


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
            f"no metric of this registry can be reported; the collector's clock shows {date(plan.born)}, and {cure}"
        )


def _announce(plan: "Plan", clock: "ScaledClock", devices: int) -> None:
    """Say what will happen."""
    seconds = (plan.end - plan.born) / clock.speed
    complain(f"{devices} pretend devices, until {date(plan.end)} by the collector's clock: at least {seconds:.0f} s")
    for metric, span in plan.spans.items():
        complain(f"{metric.name}: {many(len(span), metric.window)} from {start(metric, span[0])} on")
        expected = devices / metric.report_every / len(metric.segments)
        if expected < metric.min_reports:
            complain(
                f"{metric.name}: about {expected:.0f} reports come in each, but nothing is shown for fewer than"
                f" min_reports = {metric.min_reports}"
            )


def _live(
    lock: "Lock", plan: "Plan", collector: str, clock: "ScaledClock", devices: int, seed: int, words: Sequence[str]
) -> "Crowd":
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    from hubbub.replay.crowd import run

    columns = TextColumn("{task.description}"), BarColumn(), TimeRemainingColumn()
    with Progress(*columns, console=log(), transient=True, disable=not log().is_terminal) as bar:
        task = bar.add_task(date(plan.born), total=plan.end - plan.born)

        def progress(now: float) -> None:
            bar.update(task, completed=now - plan.born, description=date(now))

        return run(lock, plan, collector, clock, devices=devices, seed=seed, words=words, progress=progress)


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


@contextmanager
def _within(path: Path | None, clock: "ScaledClock", plan: "Plan") -> "Iterator[Source | None]":
    """The collector's store, if it was given."""
    from hubbub import answers

    if path is None:
        yield None
        return
    with answers.source(path, clock=clock) as file:
        known = {(entry.name, entry.hash) for entry in file.metrics()}
        if any((metric.name, metric.hash[:TRAVELLING_HASH]) not in known for metric in plan.spans):
            raise HubbubError(f"--store: {path} is not the store of this collector")
        yield file


def _beside(found: "Crowd", listener: "Listener", file: "Source | None", words: Sequence[str]) -> "list[Pair]":
    """Each outcome with its row, by metric, window and segment; of words that were not found, that without a value."""
    from hubbub.answers import Span
    from hubbub.estimates import word_rows
    from hubbub.replay.crowd import key_of

    rows: dict[Key, Row] = {}
    for metric in {outcome.metric for outcome in found.outcomes}:
        span = Span(min(metric.windows.start(o.window) for o in found.outcomes if o.metric == metric), None)
        listed = listener.rows(metric.name, span, None, LEVEL)
        if metric.kind == "words" and file is not None:
            windows = file.words(metric.name, words, span, None, LEVEL, "bonferroni", lambda done, total: None)
            listed += word_rows(windows)
        rows |= {key_of(row): row for row in listed}

    def row(outcome: "Outcome") -> "Row | None":
        key = outcome.key
        return rows.get(key) or (rows.get(key._replace(category="")) if outcome.metric.kind == "words" else None)

    return sorted(((outcome, row(outcome)) for outcome in found.outcomes), key=lambda pair: pair[0].key[:4])


def _how_to_find(metrics: Sequence[str], registry: Path, seed: int, words: Path | None, now: float) -> None:
    """Say how to find the words of these metrics."""
    listed = "words.txt" if words is None else quote(str(words))
    lines = [f"echo {now:.0f} > now.txt"]
    if words is None:
        lines.append(f"hubbub crowd {quote(str(registry))}{f' --seed {seed}' if seed else ''} --list-words > {listed}")
    lines += [f"hubbub estimate STORE {name} --candidates {listed} --clock now.txt" for name in metrics]
    console().print(
        "Words are found in the collector's store alone, the file that `serve --dev` names: here with --store STORE,"
        " or later, by the clock that it had:\n"
    )
    for line in lines:
        console().print(f"  {line}", soft_wrap=True)
    console().print()


def _failings(found: "Crowd") -> Iterator[str]:
    """What did not go well."""
    for code, count in sorted(found.answers.items()):
        if code not in ("accepted", "duplicate"):
            yield f"warning: {many(count, 'answer')} of the collector: {code}"
    if found.waiting and not found.interrupted:
        yield f"warning: {many(found.waiting, 'report')} were put off by the collector and are lost"
    if found.interrupted:
        yield "interrupted; what the devices had sent is kept"
