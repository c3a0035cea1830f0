"""`hubbub simulate`: what a mechanism's error is, measured on drawn crowds beside what is exact."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hubbub.cli.output import console, emit_json, log, needs, table_of
from hubbub.errors import ParameterError

if TYPE_CHECKING:
    import pandas

    from hubbub.mechanisms import Mechanism
    from hubbub.simulation import Measured

FALSE_ALARM = 1e-3  # chance that a right mechanism is marked, all rows together: about, squared errors being skewed
ENOUGH = 100  # crowds from which on a row is judged
_MOST = 1024  # categories that are taken from a column


def simulate(
    kind: Annotated[str, typer.Argument(metavar="KIND", help="boolean, mean, choice or histogram.")],
    epsilon: Annotated[float, typer.Option(metavar="NATS", help="Loss of one report, in nats.")] = 1.0,
    n: Annotated[int, typer.Option("--n", metavar="DEVICES", help="Devices in each run.")] = 10_000,
    runs: Annotated[int, typer.Option(help="Crowds that are drawn.")] = 200,
    mechanism: Annotated[list[str] | None, typer.Option(help="Only this one; again for others.")] = None,
    categories: Annotated[int, typer.Option(help="Categories of a choice, buckets of a histogram.")] = 20,
    lower: Annotated[float, typer.Option(help="Least value of a mean or histogram.")] = 0.0,
    upper: Annotated[float, typer.Option(help="Largest value of a mean or histogram.")] = 100.0,
    distribution: Annotated[str, typer.Option(help="uniform, zipf, exponential, bell or point.")] = "zipf",
    table: Annotated[Path | None, typer.Option(metavar="FILE", help="Draw from a column of this table.")] = None,
    column: Annotated[str, typer.Option(metavar="COL", help="That column.")] = "value",
    seed: Annotated[int, typer.Option(min=0, help="The same seed draws the same crowds.")] = 1,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON array of mechanisms.")] = False,
) -> None:
    """Draw crowds, simulate every mechanism of a kind on them, and hold its error against the exact one.

    The generator is fast and its seed known: nothing here protects anybody.
    """
    needs("analysis")
    import numpy as np
    from rich.progress import Progress

    from hubbub.simulation import cells, measure, named, shares

    drawn = None if table is None else cells(table, column)
    domain = _domain(kind, categories, lower, upper, drawn)
    built = [_built(name, epsilon, domain) for name in _names(kind, mechanism)]
    found: list[Measured] = []
    with Progress(console=log(), transient=True, disable=not log().is_terminal) as bar:
        task = bar.add_task("crowds", total=runs * len(built))
        for each in built:
            chances = named(each, distribution) if drawn is None else shares(each, drawn)
            rng = np.random.default_rng([seed, len(found)])
            found.append(measure(each, chances, n, runs, rng, lambda done: bar.advance(task, done)))
    if json:
        emit_json(found)
        return
    _show(found, epsilon)


def _names(kind: str, chosen: list[str] | None) -> list[str]:
    from hubbub.mechanisms import registry

    # Words are too many to draw a crowd over them; python -m benchmarks.words does it with a dictionary. A vector is no
    # column of a table.
    kinds = sorted({kind for cls in registry.values() for kind in cls.kinds} - {"words", "vector"})
    names = [name for name, cls in registry.items() if kind in cls.kinds]
    if kind not in kinds:
        raise ParameterError("KIND", kind, "one of " + ", ".join(kinds))
    for name in chosen or ():
        if name not in names:
            raise ParameterError("--mechanism", name, "one of " + ", ".join(names))
    return chosen or names


def _domain(
    kind: str, categories: int, lower: float, upper: float, drawn: "pandas.Series[Any] | None"
) -> Mapping[str, Any]:
    from hubbub.simulation import labels

    if kind == "choice":
        return {"categories": categories if drawn is None else labels(drawn, _MOST)}
    if kind == "histogram":
        return {"lower": lower, "upper": upper, "buckets": categories}
    return {"lower": lower, "upper": upper} if kind == "mean" else {}


def _built(name: str, epsilon: float, domain: Mapping[str, Any]) -> "Mechanism":
    from hubbub.mechanisms import registry

    return registry[name].from_epsilon(epsilon, **domain)


def _show(found: list["Measured"], epsilon: float) -> None:
    from statistics import NormalDist

    z = -NormalDist().inv_cdf(FALSE_ALARM / 2 / len(found))
    rows = table_of(f"n x mean squared error at epsilon {epsilon:g}, {found[0].runs} crowds of {found[0].n} devices")
    for name in ("mechanism", "measured", "exact", "ratio", "95 % intervals that hold"):
        rows.add_column(name, justify="left" if name == "mechanism" else "right")
    far = False
    for one in sorted(found, key=lambda one: one.exact):
        off = one.runs >= ENOUGH and abs(one.measured - one.exact) > z * one.noise
        far |= off
        ratio = f"{one.measured / one.exact:.3f}{' *' if off else ''}"
        cells = f"{one.measured:.4g}", f"{one.exact:.4g}", ratio, f"{100 * one.coverage:.1f} %"
        rows.add_row(one.mechanism, *cells)
    console().print(rows)
    if far:
        console().print(
            f"* further from the exact error than chance explains (false alarm about {FALSE_ALARM:g} in all)."
        )
    if found[0].runs < ENOUGH:
        console().print(f"Fewer than {ENOUGH} crowds: too few to say whether an error is the exact one.")
