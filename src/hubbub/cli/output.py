"""What commands print: results on stdout (tables for people, `--json` for programs), everything else on stderr."""

import sys
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from hubbub.privacy import PriceLine


def complain(message: str) -> None:
    """Say on stderr what went wrong, unwrapped, so that paths can be copied."""
    print(f"hubbub: {message}", file=sys.stderr)


def fail(message: str) -> NoReturn:
    """End the command because of bad input: the message on stderr, exit code 2."""
    complain(message)
    raise SystemExit(2)


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
