"""`hubbub registry`: definitions of metrics, from what people write to what ships inside the app."""

import datetime
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from textwrap import TextWrapper
from typing import TYPE_CHECKING, Annotated

import typer

from hubbub.cli.output import chosen, console, emit_json, log, price_table, today
from hubbub.errors import LockError, ParameterError

if TYPE_CHECKING:
    from hubbub.definitions import Change, Review
    from hubbub.lock import Lock, Metric

app = typer.Typer(help="Write, check, build and compare definitions of metrics.", no_args_is_help=True)

_WIDTH = 110  # longest line of prose
_TOGETHER = re.compile(r"(?<=±) | (?=\d{3}\b)(?<=\d )| (?=%)")  # spaces at which no line ends: 4 000, ± 48, 3 %
_Source = Annotated[Path, typer.Argument(metavar="FILE", help="A metrics.toml.")]
_Either = typer.Argument(metavar="FILE", help="A metrics.lock, or a metrics.toml before it is built.")
_Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]


@app.command(short_help="Check a metrics.toml and say what each metric will be worth.")
def lint(file: _Source = Path("metrics.toml"), json: _Json = False) -> None:
    """Check a metrics.toml: all that is wrong with it, each with its remedy, and what each metric will be worth.

    Half-widths are those of 95 % intervals for the crowd that is worst: half at either end of the range, or nearly so.
    """
    from hubbub.definitions import DefinitionErrors, build, load, review

    try:
        registry = load(file)
        lock, reviews = build(registry), review(registry, today())
    except DefinitionErrors as error:
        if json:
            emit_json({"file": str(file), "problems": [problem._asdict() for problem in error.problems], "metrics": []})
        raise
    if json:
        emit_json({"file": str(file), "problems": [], "metrics": reviews})
        return
    warned = sum(len(found.warnings) for found in reviews)
    verdict = f"no errors, {_count(warned, 'warning')}" if warned else "no problems"
    _say(f"{file}: {_count(len(reviews), 'metric')} of {registry.collection}, {verdict}")
    for found in reviews:
        _say_review(lock.metrics[found.name], found)


@app.command(short_help="Build the metrics.lock that ships inside the app.")
def build(
    file: _Source = Path("metrics.toml"),
    lock: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The metrics.lock to write; beside the metrics.toml by default.")
    ] = None,
) -> None:
    """Build the lock that ships inside the app, is reviewed with it, and is all that devices and collectors read.

    It must be able to follow the lock that is there; nothing is written where anything is wrong.
    """
    from hubbub.definitions import build, compare, load, review, save

    registry = load(file)
    path = lock or file.with_suffix(".lock")
    if path.suffix == ".toml":
        raise ParameterError("--lock", str(path), "the name of a metrics.lock, not of a metrics.toml")
    previous = _previous(path) if path.exists() else None
    new = build(registry, previous)
    for found in review(registry, today()):
        for warning in found.warnings:
            log().print(f"{found.name}: {warning}", soft_wrap=True)
    if not save(new, path):
        _say(f"{path} is up to date: {_count(len(new.metrics), 'metric')} of {new.collection}")
        return
    _say(f"Wrote {path}: {_count(len(new.metrics), 'metric')} of {new.collection}")
    if previous:
        _say_changes(compare(previous, new))


@app.command(short_help="Show metrics with their prices in words.")
def show(
    file: Annotated[Path, _Either] = Path("metrics.lock"),
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="One metric; all of them by default.")] = None,
    json: _Json = False,
) -> None:
    """Show what is measured and the four prices of each metric, and what all of them cost one installation together."""
    from hubbub.definitions import read
    from hubbub.lock import shown

    lock = read(file)
    metrics = chosen(lock, name)
    if json:
        plain = {"collection": lock.collection, "metrics": [_plain(metric) for metric in metrics]}
        emit_json(plain | {"sums": {key: shown(total) for key, total in _sums(metrics).items()}})
        return
    for metric in metrics:
        _say_metric(metric)
    if len(metrics) > 1:
        _say_sums(metrics)


@app.command(short_help="Say what a new lock changes, and whether it asks for more.")
def diff(
    old: Annotated[Path, typer.Argument(metavar="OLD", help="A metrics.lock or a metrics.toml.")],
    new: Annotated[Path, typer.Argument(metavar="NEW", help="A metrics.lock or a metrics.toml.")],
    check: Annotated[bool, typer.Option("--check", help="End with exit code 1 if devices are asked for more.")] = False,
    json: _Json = False,
) -> None:
    """Say for each metric whether a change asks for more, draws permanent answers again, or breaks the series."""
    from hubbub.definitions import compare, read, refusals

    before, after = read(old), read(new)
    changes, refused = compare(before, after), list(refusals(before, after))
    more = any(change.more for change in changes)
    if json:
        plain = [problem._asdict() for problem in refused]
        emit_json({"asks_for_more": more, "changes": changes, "refusals": plain})
    else:
        _say_changes(changes)
        for problem in refused:
            _say(
                f"`registry build` will refuse it: {problem.key} = {problem.value} {problem.problem}; {problem.remedy}"
            )
        _say("Devices are asked for more." if more else "Devices are not asked for more.")
    if check and more:
        raise typer.Exit(1)


@app.command(short_help="Prolong a metric under its next version.")
def renew(
    file: _Source,
    name: Annotated[str, typer.Argument(metavar="NAME", help="The metric.")],
    expires: Annotated[
        str, typer.Option(metavar="DATE", help="Day (UTC) on which measuring ends, as 2027-11-30; later than before.")
    ],
    starts: Annotated[str | None, typer.Option(metavar="DATE", help="First day (UTC); as it was by default.")] = None,
) -> None:
    """Prolong a metric in its metrics.toml: the next version, with new dates, and all else as it was.

    What devices encode stays the same, so they keep their permanent answers.
    """
    from hubbub.definitions import renew
    from hubbub.privacy import nats
    from hubbub.privacy.prices import of_life

    done = renew(file, name, _date("--expires", expires), None if starts is None else _date("--starts", starts))
    was, now = done.old, done.new
    _say(f"{name}: version {was.version} -> {now.version}, measured from {now.starts} to {now.expires} in {file}")
    if done.keeps_answers:
        more = of_life(was).steady < was.prices.steady
        most = f"epsilon {nats(was.prices.steady)} at most in all" if more else "nothing more"
        _say(f"The encoding is the same: permanent answers are kept, a device that never changes gives away {most}.")
    else:
        _say("The encoding is the same: the series goes on. Nothing is permanent here, so each report adds to the sum.")
    _say(
        f"Whole life of version {now.version}: epsilon {nats(now.prices.life)} (version {was.version}: "
        f"{nats(was.prices.life)})."
    )
    if max(was.starts, f"{today()}") < min(now.starts, was.expires):
        _say(
            f"warning: a lock holds one version, so devices that get this one measure nothing before {now.starts}; "
            f"version {was.version} would have gone on until {was.expires}."
        )
    _say(f"Now build it: hubbub registry build {file}")


@app.command(short_help="Print the JSON Schema of metrics.toml.")
def schema() -> None:
    """Print the JSON Schema of metrics.toml, for editors that complete and check as you type."""
    from hubbub.definitions import schema

    emit_json(schema())


def _date(option: str, text: str) -> datetime.date:
    try:
        day = datetime.date.fromisoformat(text)
        if day.isoformat() != text:  # 20271130 and 2027-W48-2 would do for Python, and not for TOML
            raise ValueError
        return day
    except ValueError:
        raise ParameterError(option, text, "a date such as 2027-11-30") from None


def _previous(path: Path) -> "Lock":
    from hubbub.definitions import read_lock

    try:
        return read_lock(path)
    except LockError as error:
        remedy = "bring back the one from version control: it tells what devices were promised"
        raise LockError(error.where, error.problem, remedy) from None


def _say(text: str, indent: int = 0, style: str = "") -> None:
    """Print prose, wrapped with its indent; further lines a little deeper."""
    margin, out = " " * indent, console()
    wrapper = TextWrapper(min(out.width, _WIDTH), break_on_hyphens=False, break_long_words=False)
    wrapper.initial_indent, wrapper.subsequent_indent = margin, margin + "  "
    kept = _TOGETHER.sub("\0", text)
    out.print(wrapper.fill(kept).replace("\0", " "), soft_wrap=True, style=style)


def _say_review(metric: "Metric", found: "Review") -> None:
    from hubbub.definitions import worth_lines

    console().print()
    _say(f"{metric.name}  {_measured(metric)}", style="bold")
    for line in worth_lines(metric, found):
        _say(line, 2)
    for warning in found.warnings:
        _say(f"warning: {warning}", 2)


def _measured(metric: "Metric") -> str:
    """What is measured, in one line."""
    from hubbub.definitions import COMES_TO, facts

    known = facts(metric)
    what = "a share of yes"
    if metric.kind == "choice":
        what = f"shares of {len(metric.labels) + 1} answers"
    if metric.kind == "histogram":
        unit = f" {metric.unit}" if metric.unit else ""
        what = f"shares of {known['buckets']} buckets from {known['lower']} to {known['upper']}{unit}"
    if metric.kind == "words":
        what = "shares of words that are not listed beforehand"
    if metric.kind == "vector":
        unit = f" {metric.unit}" if metric.unit else ""
        what = f"means of {known['dimension']} coordinates from -{known['norm']} to {known['norm']}{unit}"
    if metric.kind == "mean":
        what = f"mean of {known['lower']} to {known['upper']}{' ' + metric.unit if metric.unit else ''}"
    if metric.aggregate:
        what += f", each {COMES_TO[metric.aggregate]}"
    every = f"every {metric.report_every} {metric.window}s" if metric.report_every > 1 else f"every {metric.window}"
    return f"{what}, one report {every}" + (f", in turns with the others of {metric.group}" if metric.group else "")


def _say_metric(metric: "Metric") -> None:
    from hubbub.privacy import describe

    _say(f"{metric.name}  {metric.description}", style="bold")
    _say(f"version {metric.version}: {_measured(metric)}; {_life(metric)}", 2)
    if metric.dimensions:
        names = " and ".join(name for name, _ in metric.dimensions)
        _say(f"sent in the clear: {names}; segments {', '.join(metric.segments)}", 2)
    if metric.shuffler:
        _say(f"mixed on the way, as its owners declare, by {metric.shuffler}; no price counts on it", 2)
    _say(f"hash {metric.hash}", 2)
    console().print(price_table(describe(metric)))


def _life(metric: "Metric") -> str:
    reports = _count(metric.reports, "report")
    return f"{_count(len(metric.life), metric.window)} from {metric.starts} to {metric.expires}, {reports}"


def _sums(metrics: Sequence["Metric"]) -> dict[str, float]:
    """Sums of each price over metrics: what they give away together, by sequential composition."""
    from hubbub.encoders.base import Prices
    from hubbub.privacy.prices import of_life

    return {key: sum(getattr(of_life(metric), key) for metric in metrics) for key in Prices._fields}


def _say_sums(metrics: Sequence["Metric"]) -> None:
    from hubbub.privacy import in_words, nats
    from hubbub.privacy.prices import of_life

    _say(f"All {len(metrics)} metrics together, one installation (their prices add up)", style="bold")
    labels = ("one report of each", "a device that never changes", "one changed window of each", "whole life")
    for label, total in zip(labels, _sums(metrics).values(), strict=True):
        console().print(f"  {label:40}{nats(total):>10}   {in_words(total)}", soft_wrap=True)
    for group in sorted({metric.group for metric in metrics if metric.group}):
        members = [metric for metric in metrics if metric.group == group]
        dearest = nats(max(of_life(metric).change for metric in members))
        _say(
            f"The metrics of {group} take turns, so at most one of them reports each {members[0].window}: one changed "
            f"{members[0].window} costs epsilon {dearest} for all of them together, whatever changed.",
            2,
        )


def _say_changes(changes: Iterable["Change"]) -> None:
    for change in changes:
        versions = " -> ".join(str(v) for v in dict.fromkeys(change.versions) if v is not None)
        _say(f"{change.name}  {change.status} (version {versions})", style="bold")
        for key, before, after in change.keys:
            if key not in ("version", "hash") and not key.startswith("price of "):
                _say(f"{key}: {before or 'none'} -> {after or 'none'}", 2)
        for reason in change.more:
            _say(f"asks for more: {reason}", 2)
        if change.breaks:
            _say("breaks the series: old and new estimates are not of the same thing", 2)


def _plain(metric: "Metric") -> dict[str, object]:
    from msgspec.json import decode

    from hubbub.lock import Lock, dump
    from hubbub.privacy import describe

    entry = decode(dump(Lock("x", {metric.name: metric})))["metrics"][metric.name]
    counts = {"windows": len(metric.life), "reports": metric.reports, "segments": metric.segments}
    return {"metric": metric.name, **entry, **counts, "prices": describe(metric)}


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
