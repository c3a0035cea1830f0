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

_NONE = {"permanent_epsilon": "none: all fresh", "bucket": "the whole range"}  # what leaving a parameter out means
DEVICES = 10_000  # reports behind the accuracy that is shown


def mechanisms(
    epsilon: Annotated[float, typer.Option(metavar="NATS", help="Loss of one report, in nats.")] = 1.0,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON array of mechanisms.")] = False,
) -> None:
    """List the mechanisms: what they measure, their parameters, what a report holds, how accurate they are."""
    from hubbub.mechanisms import registry

    rows = [_row(cls, epsilon) for cls in registry.values()]
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
        f"Standard error: {devices} devices, one window, epsilon {epsilon:g}, mid-range, where it is largest."
        " Linkage: what a steady device's report tells about its next, with permanent or with fresh answers."
    )


def _row(cls: "type[Mechanism]", epsilon: float) -> dict[str, Any]:
    """One mechanism as data, on the first of its example domains, with a registry's default of permanent answers."""
    from hubbub.mechanisms.base import default_permanent

    domain = cls.examples[0]
    fresh = cls.from_epsilon(epsilon, **domain)
    memo = cls.from_epsilon(epsilon, permanent_epsilon=default_permanent(epsilon), **domain)
    low, high = fresh.bounds
    error = float(fresh.variance((low + high) / 2, DEVICES)) ** 0.5 / (high - low)
    return {
        "mechanism": cls.name,
        "kinds": cls.kinds,
        "parameters": _parameters(cls),
        "bits": sum((radix - 1).bit_length() for radix in fresh.encoder.radices),
        "public_bits": memo.encoder.public_bits,
        "linkage_bits": {"fresh": fresh.encoder.linkage_bits, "memo": memo.encoder.linkage_bits},
        "epsilon": epsilon,
        "n": DEVICES,
        "standard_error": error,
        "source": cls.source,
    }


def _parameters(cls: "type[Mechanism]") -> dict[str, object]:
    """Name -> default of all that `from_epsilon` takes beside epsilon; "required" where there is none."""
    parameters = list(inspect.signature(cls.from_epsilon).parameters.values())[1:]
    return {p.name: "required" if p.default is p.empty else p.default for p in parameters}


def _parameter(name: str, default: object) -> str:
    if default is None:
        return f"{name} ({_NONE[name]})"
    return name if default == "required" else f"{name}={default}"


def _table(row: dict[str, Any]) -> "Table":
    from rich.table import Table

    linkage = row["linkage_bits"]
    table = Table.grid(padding=(0, 2))
    table.add_row("  parameters", ", ".join(starmap(_parameter, row["parameters"].items())))
    table.add_row("  message bits", str(row["bits"]))
    table.add_row("  public bits", _up(row["public_bits"]))
    table.add_row("  linkage bits", f"{_up(linkage['memo'])} permanent, {_up(linkage['fresh'])} fresh")
    table.add_row("  standard error", f"{100 * row['standard_error']:.2f} % of the range")
    table.add_row("  source", row["source"])
    return table


def _up(bits: float) -> str:
    return f"{math.ceil(100 * bits) / 100:g}"  # as `explain` says it
