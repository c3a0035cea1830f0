"""`hubbub explain`: what metrics give away, in words and numbers."""

import math
from pathlib import Path
from textwrap import TextWrapper
from typing import TYPE_CHECKING, Annotated

import typer

from hubbub.cli.output import chosen, console, emit_json, needs, price_table, table_of
from hubbub.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.table import Table

    from hubbub.lock import Metric
    from hubbub.privacy import Account, Amplified, Strategy

_WIDTH = 100  # longest line of prose


def explain(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="A metrics.lock, or a metrics.toml before it is built.")
    ] = Path("metrics.lock"),
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="One metric; all of them by default.")] = None,
    windows: Annotated[
        int | None,
        typer.Option(metavar="T", help="Add the prices of T windows of each metric's own, one by one and together."),
    ] = None,
    devices: Annotated[
        int | None,
        typer.Option("--n", metavar="N", help="Devices in one window and segment that a declared shuffler mixes."),
    ] = None,
    delta: Annotated[
        float | None, typer.Option(metavar="D", help="Chance beside epsilon that a shuffled figure leaves out.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON array of metrics.")] = False,
) -> None:
    """Say what metrics give away: the four prices, what they mean for a person, and what is not protected.

    Nothing rests on a shuffler but what --n and --delta add for metrics whose registry declares one.
    """
    from hubbub.definitions import read
    from hubbub.privacy import account, partner

    lock = read(file)
    metrics = chosen(lock, name)
    others = [partner(metric, lock.metrics) for metric in metrics]
    shuffled = _shuffled(metrics, devices, delta)
    accounts = [account(metric, windows) for metric in metrics]
    if json:
        each = zip(metrics, others, accounts, shuffled, strict=True)
        emit_json([_plain(metric, other, over, mixed) for metric, other, over, mixed in each])
        return
    for i, (metric, other, mixed) in enumerate(zip(metrics, others, shuffled, strict=True)):
        if i:
            console().print()
        _show(metric, other, mixed)
    if windows is not None:
        _show_accounts(accounts, windows)


def _shuffled(metrics: "Sequence[Metric]", devices: int | None, delta: float | None) -> "Sequence[Amplified | None]":
    """The shuffled figure of each metric that declares a shuffler, where both options are given."""
    if devices is None and delta is None:
        return [None] * len(metrics)
    if devices is None or delta is None:
        raise ParameterError("--n" if devices is None else "--delta", None, "given, as --n and --delta go together")
    if not any(metric.shuffler for metric in metrics):
        raise ParameterError("--n", devices, "left out where no metric declares a shuffler in its registry")
    needs("analysis")
    from hubbub.privacy import amplified

    return [amplified(metric, devices, delta) if metric.shuffler else None for metric in metrics]


def _plain(
    metric: "Metric", other: "Metric | None", over: "Account", shuffled: "Amplified | None"
) -> dict[str, object]:
    from hubbub.privacy import account, describe, strategies
    from hubbub.privacy import explain as sentences

    life = account(metric)
    return {
        "metric": metric.name,
        "version": metric.version,
        "hash": metric.hash,
        "prices": describe(metric),
        "exact_life": life.exact_life,
        "exact": life.exact,
        "account": over,
        "strategies": strategies(metric),
        "shuffled": shuffled,
        "sentences": sentences(metric, other),
    }


def _show(metric: "Metric", other: "Metric | None", shuffled: "Amplified | None") -> None:
    from hubbub.privacy import describe, sections, strategies
    from hubbub.privacy.precision import OTHERWISE

    out = console()
    out.print(f"{metric.name}: {metric.description}", style="bold")
    out.print(price_table(describe(metric)))
    if closer := _closer(metric):
        out.print(f"{closer}\n")
    prose = TextWrapper(min(out.width, _WIDTH), initial_indent="  ", subsequent_indent="    ", break_on_hyphens=False)
    for heading, sentences in sections(metric, other).items():
        out.print(heading, style="bold")
        if heading == OTHERWISE and (lines := strategies(metric)):
            out.print(_otherwise(lines))
        for sentence in sentences:
            out.print(prose.fill(sentence))
    if shuffled:
        out.print("What the declared shuffler would add", style="bold")
        for sentence in shuffled.sentences(metric):
            out.print(prose.fill(sentence))


def _closer(metric: "Metric") -> str:
    """What is known of the life's price below the bound; empty where nothing is."""
    from hubbub.privacy import account

    life = account(metric)
    if life.exact_life == life.life:
        return ""
    most = "Computed exactly, the whole life costs" if life.exact else "By a closer bound, the whole life costs at most"
    return f"{most} {_cell(life.exact_life)}; devices reckon with the bound."


def _otherwise(lines: "Sequence[Strategy]") -> "Table":
    table = table_of()
    table.add_column("strategy")
    for price in ("one report", "steady", "change", "life"):
        table.add_column(price, justify="right")
    for line in lines:
        prices = (line.epsilon, line.steady, line.change, line.life)
        reached = line.epsilon is not None
        table.add_row(line.label, *(_cell(price) if reached else "out of reach" for price in prices))
    return table


def _show_accounts(accounts: "Sequence[Account]", windows: int) -> None:
    from hubbub.privacy import plural, together

    lines = [*accounts, together(accounts)] if len(accounts) > 1 else accounts
    table = table_of(f"Over {plural(windows, 'window')} of each metric, one installation")
    table.add_column("metric", overflow="fold")
    table.add_column("over")
    for column in ("reports", "steady", "change", "life", "exactly"):
        table.add_column(column, justify="right")
    for line in lines:
        prices = map(_cell, (line.steady, line.change, line.life))
        over = plural(line.windows, line.window) if line.window else ""
        most = "" if line.exact or line.exact_life is None else "≤ "
        table.add_row(line.metric or "together", over, str(line.reports), *prices, most + _cell(line.exact_life))
    console().print()
    console().print(table)
    if any(one.windows < windows for one in accounts):
        console().print("No metric has more windows here than its life has.")
    if not lines[-1].window:
        console().print("Together adds up these windows of each metric's own, which are not the same stretch of time.")


def _cell(price: float | None) -> str:
    from hubbub.privacy import nats

    return nats(math.inf if price is None else price)
