"""`hubbub explain`: what metrics give away, in words and numbers."""

from pathlib import Path
from textwrap import TextWrapper
from typing import TYPE_CHECKING, Annotated

import typer

from hubbub.cli.output import chosen, console, emit_json, price_table

if TYPE_CHECKING:
    from hubbub.lock import Metric

_WIDTH = 100  # longest line of prose


def explain(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="A metrics.lock, or a metrics.toml before it is built.")
    ] = Path("metrics.lock"),
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="One metric; all of them by default.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON array of metrics.")] = False,
) -> None:
    """Say what metrics give away: the four prices, what they mean for a person, and what is not protected."""
    from hubbub.definitions import read

    metrics = chosen(read(file), name)
    if json:
        emit_json([_plain(metric) for metric in metrics])
        return
    for i, metric in enumerate(metrics):
        if i:
            console().print()
        _show(metric)


def _plain(metric: "Metric") -> dict[str, object]:
    from hubbub.privacy import describe, exact_life
    from hubbub.privacy import explain as sentences

    return {
        "metric": metric.name,
        "version": metric.version,
        "hash": metric.hash,
        "prices": describe(metric),
        "exact_life": exact_life(metric.encoder, metric.reports),
        "sentences": sentences(metric),
    }


def _show(metric: "Metric") -> None:
    from hubbub.privacy import describe, exact_life, nats, sections

    out = console()
    out.print(f"{metric.name}: {metric.description}", style="bold")
    out.print(price_table(describe(metric)))
    exact = exact_life(metric.encoder, metric.reports)
    if exact < metric.prices.life:
        out.print(f"Computed exactly, the whole life costs {nats(exact)}; devices reckon with the bound.\n")
    prose = TextWrapper(min(out.width, _WIDTH), initial_indent="  ", subsequent_indent="    ", break_on_hyphens=False)
    for heading, sentences in sections(metric).items():
        out.print(heading, style="bold")
        for sentence in sentences:
            out.print(prose.fill(sentence))
