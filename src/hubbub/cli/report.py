"""`hubbub report`: one value from the shell, through the client that apps use."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hubbub.cli.output import emit_json, fail
from hubbub.errors import ParameterError

if TYPE_CHECKING:
    from hubbub.client import Client
    from hubbub.client.state import State
    from hubbub.lock import Lock, Metric

_LIFE = re.compile(r"\blife=(?!\S)")  # as code would give it
_VALUE = "A number (a negative one after --), numbers such as 1,-0.5 for a vector, a label, or yes or no."
_WORDS: Mapping[str, object] = {"yes": True, "true": True, "no": False, "false": False}
_FAILURES = ("storage_busy", "state_failed", "internal_error")
_TAKEN = {"accepted": "accepted", "duplicate": "there already"}  # counters of answers, in words
_MISSED = {
    "unreachable": "the collector was not reached",
    "unavailable": "the collector was not ready",
    "unreadable": "what answered is no collector",
    "transport_failed": "it could not be sent",
    "too_early": "the collector's clock is behind",
    "rate_limited": "the collector took no more",
}


@dataclass(frozen=True)
class Told:
    """What became of the value and of the reports that waited; the value itself is repeated nowhere.

    Attributes:
        recorded: Whether the value stands in the window.
        reason: Why not: `first_window` (the installation is younger than the window), `outside_life`, `denied`.
        leaves_after: The report of the window leaves with the first run after this.
        first_window: Where the first window begins that this installation reports, if it is not this one.
        report_every: What is recorded leaves only in this installation's turn, one window in so many; 1: in each.
        answers: Reports sent in this run, by what became of them.
        waiting: Reports that wait for the next run.
    """

    metric: str
    window_start: str
    window_end: str
    recorded: bool
    reason: str | None
    leaves_after: str | None
    first_window: str | None
    report_every: int
    answers: Mapping[str, int]
    waiting: int


def report(
    metric: Annotated[str, typer.Argument(metavar="METRIC", help="A metric of the lock.")],
    value: Annotated[str, typer.Argument(metavar="VALUE", help=_VALUE)],
    lock: Annotated[Path, typer.Option(metavar="FILE", help="The metrics.lock.")],
    endpoint: Annotated[str, typer.Option(metavar="URL", help="Address of the collector.")],
    state: Annotated[Path, typer.Option(metavar="DIR", help="Folder of this installation; made if it is not there.")],
    add: Annotated[bool, typer.Option("--add", help="Add to what the window holds; replaced by default.")] = False,
    dimension: Annotated[
        list[str] | None, typer.Option(metavar="NAME=VALUE", help="A public dimension that the lock names.")
    ] = None,
    policy: Annotated[str, typer.Option(help="Limits on the lock: strict, standard or research.")] = "standard",
    life: Annotated[
        str | None, typer.Option(metavar="NATS", help='Limit on life prices a year, or "unlimited".')
    ] = None,
    timeout: Annotated[float, typer.Option(min=0, help="Seconds for sending, in all.")] = 10.0,
    clock: Annotated[Path | None, typer.Option(metavar="FILE", help="Read the time, in unix seconds, here.")] = None,
    in_ci: Annotated[bool, typer.Option("--in-ci", help="Also where the variable CI is set.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Record one value, and send the reports of windows that have ended.

    Made for a job that runs once in every window: each run records for the window that it runs in, and carries what
    earlier runs recorded. A report leaves when its window has ended, so never in the run that recorded it. A folder is
    one installation: its secret and what it may still give away. One that is thrown away counts as another person.
    """
    from hubbub.client import Client, SqliteState
    from hubbub.client.consent import forbidding
    from hubbub.clock import FileClock, SystemClock
    from hubbub.definitions import read_lock

    definitions = read_lock(lock)
    names = sorted(name for name, found in definitions.metrics.items() if not found.source)
    if metric not in names:
        raise ParameterError("METRIC", metric, "one of " + ", ".join(names))
    given = _value(definitions.metrics[metric], value, add=add)
    dimensions = dict(map(_dimension, dimension or ()))
    limit = _life(life)
    time = SystemClock() if clock is None else FileClock(clock)
    _check(definitions, endpoint, policy, limit, dimensions)
    opened = partial(
        Client,
        definitions,
        endpoint,
        policy=policy,
        life=limit,
        dimensions=dimensions,
        clock=time,
        background=False,
        in_ci=in_ci,
    )
    if variable := forbidding(in_ci=in_ci):
        client = opened(state_dir=state)  # which wipes what waits, and makes no folder where there is none
        client.close()
        remedy = "; --in-ci does it all the same" if variable == "CI" else ""
        fail(f"{variable} is set, so nothing is recorded or sent{_wiped(client.counters.get('wiped', 0))}{remedy}")
    held = SqliteState(state)
    try:
        client = opened(state=held)
        told = _run(client, held, definitions.metrics[metric], given, time.now(), timeout=timeout, add=add)
        client.close()
    finally:
        held.close()
    if json:
        emit_json(told)
        return
    for line in _lines(told, definitions.metrics[metric], sorted(definitions.metrics.keys() - {metric})):
        print(line)


def _wiped(reports: int) -> str:
    if not reports:
        return ""
    return ", and 1 report that waited is wiped" if reports == 1 else f", and {reports} reports that waited are wiped"


def _check(lock: "Lock", endpoint: str, policy: str, life: float | str | None, dimensions: dict[str, str]) -> None:
    """Refuse what the client would, before the folder is made, in the words of the command line."""
    from hubbub.client import Client, MemoryState
    from hubbub.client.policy import PolicyError

    state = MemoryState()
    try:
        Client(lock, endpoint, policy=policy, life=life, state=state, dimensions=dimensions, background=False).close()
    except PolicyError as error:
        raise PolicyError(error.policy, [_LIFE.sub("--life", problem) for problem in error.problems]) from None


def _run(
    client: "Client", state: "State", metric: "Metric", value: object, now: float, *, timeout: float, add: bool
) -> Told:
    from hubbub.windows import iso

    cut = metric.windows
    window = cut.index(now)
    (client.add if add else client.set)(metric.name, value)
    counters = client.counters
    if counters.get("refused_by_policy"):
        fail(f"{metric.name} is not answered by this installation: {client.ledger().refused[metric.name]}")
    if failed := [name for name in _FAILURES if counters.get(name)]:
        fail(f"the value was not recorded, the state failed ({', '.join(failed)})")
    reason = None
    if counters.get("denied"):
        reason = "denied"
    elif window not in metric.life:
        reason = "outside_life"
    elif counters.get("sealed_window"):
        reason = "first_window"
    client.flush(timeout)
    later = client.counters
    return Told(
        metric=metric.name,
        window_start=iso(cut.start(window)),
        window_end=iso(cut.end(window)),
        recorded=reason is None,
        reason=reason,
        leaves_after=iso(cut.end(window)) if reason is None else None,
        first_window=_first(client, metric, window) if reason == "first_window" else None,
        report_every=metric.report_every,
        answers={name: later[name] - counters.get(name, 0) for name in sorted(later) if _sent(name, counters, later)},
        waiting=state.stored().reports,
    )


def _sent(name: str, before: Mapping[str, int], after: Mapping[str, int]) -> bool:
    from hubbub.client.answers import CODES

    return name in (*_TAKEN, *_MISSED, "refused", "rejected", *CODES) and after[name] > before.get(name, 0)


def _first(client: "Client", metric: "Metric", window: int) -> str | None:
    """Where the first window begins that this installation may report after this one."""
    from hubbub.windows import iso

    account, cut = client.ledger().accounts.get(metric.name), metric.windows
    for later in range(window + 1, metric.life.stop):
        if account is not None and account.allows(cut.start(later), cut.end(later)):
            return iso(cut.start(later))
    return None


def _value(metric: "Metric", text: str, *, add: bool) -> object:
    from hubbub.client.reporter import form
    from hubbub.encoders.vector import of_vectors
    from hubbub.lock import NONE

    value: object = text if metric.kind in ("choice", "words") else _plain(text)
    if metric.kind == "vector":
        value = [_plain(part) for part in text.split(",")]
    takes = form(metric).added if add else form(metric).read
    if takes(value) is None:
        wanted = {"boolean": "yes or no", "choice": ", ".join((NONE, *metric.labels)), "words": "a word"}
        if metric.kind == "vector":
            wanted["vector"] = f"{of_vectors(metric.encoder).dimension} finite numbers with commas between them"
        if metric.aggregate == "share":
            wanted[metric.kind] = "yes or no" if add else "a share in [0, 1]"
        fail(f"VALUE must be {wanted.get(metric.kind, 'a finite number')}, for {metric.name} is a {metric.kind}")
    return value


def _plain(text: str) -> object:
    value = _WORDS.get(text.lower())
    if value is None:
        try:
            value = float(text)
        except ValueError:
            value = text
    return value


def _dimension(text: str) -> tuple[str, str]:
    name, sign, value = text.partition("=")
    if not sign:
        raise ParameterError("--dimension", text, "NAME=VALUE")
    return name, value


def _life(text: str | None) -> float | str | None:
    try:
        return None if text is None else float(text)
    except ValueError:
        return text


def _lines(told: Told, metric: "Metric", others: Sequence[str]) -> Iterator[str]:
    window = f"the window from {told.window_start} to {told.window_end}"
    if told.recorded:
        yield f"Recorded a value of {told.metric} for {window}."
        yield f"Its report leaves with the first run after {told.leaves_after}."
        if metric.report_every > 1:
            yield f"It leaves only where it is this installation's turn: in one of {metric.report_every} windows."
        if others:
            yield f"The lock's other metrics ({', '.join(others)}) are reported too: what was recorded, or nothing."
    else:
        yield {
            "first_window": f"Not recorded: {window} began before this installation, or is sealed.",
            "outside_life": f"Not recorded: {window} is outside the life of {told.metric}.",
            "denied": "Not recorded: consent is denied in this folder.",
        }[told.reason or ""]
        if told.first_window:
            yield f"The first window that it reports begins at {told.first_window}."
    answered = {name: count for name, count in told.answers.items() if name not in _MISSED}
    missed = [_MISSED[name] for name in told.answers if name in _MISSED]
    if answered:
        words = (f"{count} {_TAKEN.get(name, f'refused ({name})')}" for name, count in answered.items())
        yield f"Sent of earlier windows: {', '.join(words)}."
    if told.waiting:
        reports = "1 report waits" if told.waiting == 1 else f"{told.waiting} reports wait"
        yield f"{reports} for the next run" + (f": {missed[0]}." if missed else ".")
    elif not answered:
        yield "No earlier report was due."
