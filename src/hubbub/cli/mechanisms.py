"""`hubbub mechanisms`: what there is to choose from, at a given epsilon."""

import inspect
import math
from itertools import starmap
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hubbub.cli.output import console, emit_json

if TYPE_CHECKING:
    from rich.table import Table

    from hubbub.mechanisms import Mechanism

_NONE = {  # what leaving a parameter out means
    "permanent_epsilon": "none: all fresh",
    "bucket": "the whole range",
    "categories": "or lower, upper, buckets",
    "lower": "with buckets",
    "upper": "with buckets",
    "buckets": "or categories",
    "cohorts": "left out",
}
DEVICES = 10_000  # reports behind the accuracy that is shown
RANGE = 100  # steps of the grid of a mean
COORDINATES = 8  # of a vector


def mechanisms(
    epsilon: Annotated[float, typer.Option(metavar="NATS", help="Loss of one report, in nats.")] = 1.0,
    categories: Annotated[int, typer.Option(help="Categories where a mechanism counts several.")] = 20,
    kind: Annotated[str | None, typer.Option(help="Only those that measure this kind.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON array of mechanisms.")] = False,
) -> None:
    """List the mechanisms: what they measure, their parameters, what a report holds, how accurate they are."""
    from hubbub.errors import ParameterError
    from hubbub.mechanisms import registry

    kinds = sorted({kind for cls in registry.values() for kind in cls.kinds})
    if kind is not None and kind not in kinds:
        raise ParameterError("--kind", kind, "one of " + ", ".join(kinds))
    rows = [_row(cls, epsilon, categories) for cls in registry.values() if kind in (None, *cls.kinds)]
    if json:
        emit_json(rows)
        return
    out = console()
    for row in rows:
        out.print(row["mechanism"], style="bold", end="")
        out.print(f"  {', '.join(row['kinds'])}")
        out.print(_table(row))
        out.print()
    devices = f"{DEVICES:,}".replace(",", " ")
    out.print(
        f"Standard error: {devices} devices, one window, epsilon {epsilon:g}; of a number where it is largest, "
        f"so too of each of {COORDINATES} numbers of a vector, "
        f"of a share of {categories} categories, or of a word, where it is rare. "
        "Linkage: what a steady device's report tells about its next, at most."
    )


def _row(cls: "type[Mechanism]", epsilon: float, categories: int) -> dict[str, Any]:
    """One mechanism as data, with a registry's default of permanent answers."""
    from hubbub.mechanisms.base import default_permanent

    domain = _domain(cls, categories)
    fresh = cls.from_epsilon(epsilon, **domain)
    memo = cls.from_epsilon(epsilon, permanent_epsilon=default_permanent(epsilon), **domain) if cls.memo else fresh
    return {
        "mechanism": cls.name,
        "kinds": cls.kinds,
        "parameters": _parameters(cls),
        "bits": sum((radix - 1).bit_length() for radix in fresh.encoder.radices),
        "public_bits": memo.encoder.public_bits,
        "linkage_bits": {
            "fresh": fresh.encoder.linkage_bits,
            "memo": memo.encoder.linkage_bits if cls.memo else None,
        },
        "epsilon": epsilon,
        "categories": domain.get("categories"),
        "n": DEVICES,
        "standard_error": _error(fresh),
        "source": cls.source,
    }


def _domain(cls: "type[Mechanism]", categories: int) -> dict[str, Any]:
    if "choice" in cls.kinds or "histogram" in cls.kinds:
        return {"categories": categories}
    if "vector" in cls.kinds:
        return {"dimension": COORDINATES}
    return {"lower": 0, "upper": RANGE} if "mean" in cls.kinds else {}


def _error(mechanism: "Mechanism") -> float:
    """Standard error out of the range: of a rare category or word, or of a number where it is largest."""
    import numpy as np

    from hubbub.mechanisms.words import Words

    if isinstance(mechanism, Words):
        return mechanism.null_se(DEVICES)
    low, high = mechanism.bounds
    truth = mechanism.truth(0)
    rare = truth.ndim and "vector" not in mechanism.kinds
    truths = [0 * truth] if rare else [np.full(truth.shape, low + share * (high - low)) for share in (0, 0.5, 1)]
    worst = max(float(np.max(mechanism.variance(at, DEVICES))) for at in truths)
    return math.sqrt(worst) / (high - low)


def _parameters(cls: "type[Mechanism]") -> dict[str, object]:
    """Name -> default of all that `from_epsilon` makes use of beside epsilon; "required" where there is none.

    Every mechanism takes permanent_epsilon, and those that are fresh only refuse it.
    """
    parameters = list(inspect.signature(cls.from_epsilon).parameters.values())[1:]
    usable = [p for p in parameters if cls.memo or p.name != "permanent_epsilon"]
    return {p.name: "required" if p.default is p.empty else p.default for p in usable}


def _parameter(name: str, default: object) -> str:
    if default is None:
        return f"{name} ({_NONE.get(name, 'the best')})"
    return name if default == "required" else f"{name}={default}"


def _table(row: dict[str, Any]) -> "Table":
    from rich.table import Table

    linkage = row["linkage_bits"]
    table = Table.grid(padding=(0, 2))
    table.add_row("  parameters", ", ".join(starmap(_parameter, row["parameters"].items())))
    table.add_row("  message bits", str(row["bits"]))
    table.add_row("  public bits", _up(row["public_bits"]))
    kept = "" if linkage["memo"] is None else f"{_up(linkage['memo'])} permanent, "
    table.add_row("  linkage bits", f"{kept}{_up(linkage['fresh'])} fresh")
    table.add_row("  standard error", f"{100 * row['standard_error']:.2f} % of the range")
    table.add_row("  source", row["source"])
    return table


def _up(bits: float) -> str:
    return f"{math.ceil(100 * bits) / 100:g}"  # as `explain` says it
