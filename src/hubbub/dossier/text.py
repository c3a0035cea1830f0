"""Markdown out of facts: text of a definition is shown as it is and never takes part in the layout."""

import re
from collections.abc import Iterable, Sequence

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~&!$])")
_FIRST = re.compile(r"^(\s*)([-+]|\d+[.)])")


def plain(text: object) -> str:
    """The text, so that no character of it is read as Markdown or HTML."""
    line = " ".join(str(text).split())
    return _FIRST.sub(_kept, _SPECIAL.sub(r"\\\1", line))


def code(text: object) -> str:
    """A name or number in type of its own; for text without backticks."""
    return f"`{text}`"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of cells that are Markdown already."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def bullets(lines: Iterable[str]) -> str:
    """A list, one line an item."""
    return "\n".join(f"- {line}" for line in lines)


def fenced(text: str, kind: str = "") -> str:
    """A block of text as it is, for text without three backticks in a row."""
    return f"```{kind}\n{text}\n```"


def document(parts: Iterable[str]) -> str:
    """The parts one below the other, with one final line end."""
    return "\n\n".join(part for part in parts if part) + "\n"


def _kept(found: re.Match[str]) -> str:
    mark = found[2]
    return found[1] + (f"{mark[:-1]}\\{mark[-1]}")
