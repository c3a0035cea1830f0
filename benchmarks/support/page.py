"""Tables of a run, put into a page of the docs in place of those of the run before."""

import os
import platform
import re
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "benchmarks.md"


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table in Markdown that reads well in a terminal too; first column to the left, the others to the right."""
    widths = [max(len(row[column]) for row in [head, *rows]) for column in range(len(head))]

    def line(cells: Sequence[str]) -> str:
        padded = (
            cell.rjust(width) if place else cell.ljust(width)
            for place, (cell, width) in enumerate(zip(cells, widths, strict=True))
        )
        return "| " + " | ".join(padded) + " |"

    rule = "|".join("-" * (width + 1) + ("-" if not place else ":") for place, width in enumerate(widths))
    return "\n".join([line(head), f"|{rule}|", *map(line, rows)])


def machine() -> str:
    """When and on what this runs, with how busy it was before."""
    load = f", load {os.getloadavg()[0]:.1f} before" if hasattr(os, "getloadavg") else ""
    version = ".".join(map(str, sys.version_info[:3]))
    return f"{datetime.now(UTC):%Y-%m-%d}, {os.cpu_count()} cores ({platform.machine()}{load}), Python {version}"


def fill(text: str, name: str, part: str) -> str:
    """The text with this part between its two marks, `<!-- NAME -->` and `<!-- /NAME -->`.

    Raises:
        ValueError: The marks are not there, once each.
    """
    filled, times = re.subn(
        rf"(<!-- {name} -->\n).*?(<!-- /{name} -->)",
        lambda found: f"{found[1]}\n{part}\n\n{found[2]}",
        text,
        flags=re.DOTALL,
    )
    if times != 1:
        raise ValueError(f"the marks of {name} must stand in the page once, and do {times} times")
    return filled


def write(name: str, part: str) -> None:
    """Put a part into the page of benchmarks."""
    PAGE.write_text(fill(PAGE.read_text("utf-8"), name, part), "utf-8")
