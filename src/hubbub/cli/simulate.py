"""`hubbub simulate`: what a mechanism's error is, measured on drawn crowds beside what is exact."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from hubbub.cli.output import console, emit_json, log, needs, table_of
from hubbub.errors import ParameterError

if TYPE_CHECKING:
    import pandas

    from hubbub.mechanisms import Mechanism
    from hubbub.simulation import Measured, WordsMeasured

FALSE_ALARM = 1e-3  # chance that a right mechanism is marked, all rows together: about, squared errors being skewed
ENOUGH = 100  # crowds from which on a row is judged
COLUMN = "value"
_MOST = 1024  # categories that are taken from a column
_TYPED = {  # what parameters are called where they are typed
    **{name: f"--{name}" for name in ("epsilon", "runs", "n", "categories", "lower", "upper", "dimension", "norm")},
    **{name: f"--{name}" for name in ("distribution", "table", "column")},
    "buckets": "--categories",
}


class Drawn(NamedTuple):
    """What crowds are drawn from: columns of a table, or a named distribution where there is none."""

    table: "pandas.DataFrame | None"
    columns: Sequence[str]
    distribution: str


def simulate(
    kind: Annotated[str, typer.Argument(metavar="KIND", help="boolean, mean, choice, histogram, words or vector.")],
    epsilon: Annotated[float, typer.Option(metavar="NATS", help="Loss of one report, in nats.")] = 1.0,
    n: Annotated[int, typer.Option("--n", metavar="DEVICES", help="Devices in each run.")] = 10_000,
    runs: Annotated[int, typer.Option(help="Crowds that are drawn.")] = 200,
    mechanism: Annotated[list[str] | None, typer.Option(help="Only this one; again for others.")] = None,
    categories: Annotated[
        int, typer.Option(help="Categories of a choice, buckets of a histogram, words of a crowd.")
    ] = 20,
    lower: Annotated[float, typer.Option(help="Least value of a mean or histogram.")] = 0.0,
    upper: Annotated[float, typer.Option(help="Largest value of a mean or histogram.")] = 100.0,
    dimension: Annotated[int, typer.Option(help="Coordinates of a vector, unless columns are given.")] = 8,
    norm: Annotated[float, typer.Option(help="Largest size of a coordinate.")] = 1.0,
    distribution: Annotated[str, typer.Option(help="uniform, zipf, exponential, bell or point.")] = "zipf",
    table: Annotated[Path | None, typer.Option(metavar="FILE", help="Draw from a column of this table.")] = None,
    column: Annotated[
        list[str] | None,
        typer.Option(metavar="COL", help="That column, value by default; again for a vector's others."),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="The same seed draws the same crowds.")] = 1,
    json: Annotated[
        bool, typer.Option("--json", help="Print one JSON array of mechanisms, or of their coordinates.")
    ] = False,
) -> None:
    """Draw crowds, simulate every mechanism of a kind on them, and hold its error against the exact one.

    Of words these are the errors of shares of places, whose variance is exact; beside them stands what is found.
    The generator is fast and its seed known: nothing here protects anybody.
    """
    needs("analysis")
    import numpy as np
    from rich.progress import Progress

    found: list[Measured] = []
    with _typed():
        names = _names(kind, mechanism)
        columns = _columns(kind, table, column)
        drawn = Drawn(_read(kind, table, columns), columns, distribution)
        domain = _domain(kind, drawn, categories, (lower, upper), (dimension, norm))
        built = list(_built(names, epsilon, domain, chosen=bool(mechanism)))
        with Progress(console=log(), transient=True, disable=not log().is_terminal) as bar:
            task = bar.add_task("crowds", total=runs * len(built))
            for number, each in enumerate(built):
                rng = np.random.default_rng([seed, number])
                found += _measured(each, drawn, categories, n, runs, rng, lambda done: bar.advance(task, done))
    if json:
        emit_json(found)
        return
    _show(found, epsilon, kind)


@contextmanager
def _typed() -> Iterator[None]:
    """Name parameters as they were typed."""
    try:
        yield
    except ParameterError as error:
        raise ParameterError(_TYPED.get(error.name, error.name), error.value, error.expected) from None


def _names(kind: str, chosen: list[str] | None) -> list[str]:
    from hubbub.mechanisms import registry

    kinds = sorted({kind for cls in registry.values() for kind in cls.kinds})
    names = [name for name, cls in registry.items() if kind in cls.kinds]
    if kind not in kinds:
        raise ParameterError("KIND", kind, "one of " + ", ".join(kinds))
    for name in chosen or ():
        if name not in names:
            raise ParameterError("--mechanism", name, "one of " + ", ".join(names))
    return chosen or names


def _columns(kind: str, table: Path | None, column: list[str] | None) -> list[str]:
    if column and table is None:
        raise ParameterError("column", ", ".join(column), "left out without --table")
    if column and len(column) > 1 and kind != "vector":
        raise ParameterError("column", ", ".join(column), f"given once for the kind {kind}")
    return column or [COLUMN]


def _read(kind: str, table: Path | None, columns: list[str]) -> "pandas.DataFrame | None":
    from hubbub.simulation import cells

    return None if table is None else cells(table, columns, text=kind in ("choice", "words"))


def _domain(
    kind: str, drawn: Drawn, categories: int, ends: tuple[float, float], vector: tuple[int, float]
) -> Mapping[str, Any]:
    from hubbub.simulation import labels

    if kind == "choice" and drawn.table is not None:
        found = labels(drawn.table[drawn.columns[0]], _MOST)
        if not found:
            raise ParameterError("column", drawn.columns[0], "a column with labels")
        return {"categories": found}
    if kind == "vector" and drawn.table is not None and len(drawn.columns) < 2:
        raise ParameterError("column", ", ".join(drawn.columns), "given for each of two or more coordinates")
    domains: dict[str, dict[str, Any]] = {
        "choice": {"categories": categories},
        "histogram": {"lower": ends[0], "upper": ends[1], "buckets": categories},
        "mean": {"lower": ends[0], "upper": ends[1]},
        "vector": {"dimension": vector[0] if drawn.table is None else len(drawn.columns), "norm": vector[1]},
    }
    return domains.get(kind, {})


def _built(names: Sequence[str], epsilon: float, domain: Mapping[str, Any], *, chosen: bool) -> "Iterator[Mechanism]":
    """The mechanisms; without those that were not chosen and are not for so many coordinates."""
    from hubbub.mechanisms import registry

    left = len(names)
    for name in names:
        try:
            yield registry[name].from_epsilon(epsilon, **domain)
        except ParameterError as error:
            left -= 1
            if chosen or error.name != "dimension" or not left:
                raise
            log().print(f"{name} is left out: --dimension must be {error.expected}", soft_wrap=True)


def _measured(
    mechanism: "Mechanism",
    drawn: Drawn,
    categories: int,
    n: int,
    runs: int,
    rng: Any,
    progress: Callable[[int], None],
) -> "Sequence[Measured]":
    from hubbub import simulation
    from hubbub.mechanisms.vector import Vectors
    from hubbub.mechanisms.words import Words

    table, first = drawn.table, drawn.columns[0]
    if isinstance(mechanism, Words):
        if table is None:
            vocabulary = simulation.made_words(categories, drawn.distribution)
        else:
            vocabulary = simulation.words_of(table[first])
        return [simulation.measure_words(mechanism, vocabulary, n, runs, rng, progress)]
    if isinstance(mechanism, Vectors):
        if table is None:
            names = [str(place) for place in range(mechanism.encoder.dimension)]
            crowd = simulation.made_vectors(mechanism, drawn.distribution, rng)
        else:
            names, crowd = list(drawn.columns), simulation.vectors_of(mechanism, table)
        return simulation.measure_vectors(mechanism, crowd, names, n, runs, rng, progress)
    if table is None:
        chances = simulation.named(mechanism, drawn.distribution)
    else:
        chances = simulation.shares(mechanism, table[first])
    return [simulation.measure(mechanism, chances, n, runs, rng, progress)]


def _show(found: list["Measured"], epsilon: float, kind: str) -> None:
    from statistics import NormalDist

    from hubbub.simulation import CoordinateMeasured, WordsMeasured

    z = -NormalDist().inv_cdf(FALSE_ALARM / 2 / len(found))
    of = "of shares of places " if kind == "words" else ""
    title = f"n x mean squared error {of}at epsilon {epsilon:g}, {found[0].runs} crowds of {found[0].n} devices"
    rows = table_of(title)
    for name in ("mechanism", *(["coordinate"] if kind == "vector" else []), "measured", "exact", "ratio"):
        rows.add_column(name, justify="left" if name in ("mechanism", "coordinate") else "right")
    rows.add_column("95 % intervals that hold", justify="right")
    far = False
    for one in found if kind == "vector" else sorted(found, key=lambda one: one.exact):
        off = one.runs >= ENOUGH and abs(one.measured - one.exact) > z * one.noise
        far |= off
        place = [one.coordinate] if isinstance(one, CoordinateMeasured) else []
        ratio = f"{one.measured / one.exact:.3f}{' *' if off else ''}"
        cells = f"{one.measured:.4g}", f"{one.exact:.4g}", ratio, f"{100 * one.coverage:.1f} %"
        rows.add_row(one.mechanism, *place, *cells)
    console().print(rows)
    if far:
        console().print(
            f"* further from the exact error than chance explains (false alarm about {FALSE_ALARM:g} in all)."
        )
    if found[0].runs < ENOUGH:
        console().print(f"Fewer than {ENOUGH} crowds: too few to say whether an error is the exact one.")
    if words := [one for one in found if isinstance(one, WordsMeasured)]:
        _show_words(words)


def _show_words(found: "Sequence[WordsMeasured]") -> None:
    rows = table_of(f"words found among {found[0].candidates} candidates, half of which nobody has")
    for name in ("mechanism", "floor", "above it", "shown", "recall", "precision", "wrong", "hold"):
        rows.add_column(name, justify="left" if name == "mechanism" else "right")
    for one in sorted(found, key=lambda one: one.floor):
        shares = (f"{100 * share:.1f} %" for share in (one.recall, one.precision, one.wrong, one.held))
        rows.add_row(one.mechanism, f"{100 * one.floor:.3g} %", str(one.above), f"{one.shown:.1f}", *shares)
    console().print()
    console().print(rows)
    console().print(
        "A word as frequent as the detection floor is found as often as not; recall is of those above it. wrong: "
        "crowds that show a word which nobody has; hold: intervals of shown words that hold. Near the floor words show "
        "where chance errs upwards, so that their intervals hold less often."
    )
