"""`hubbub init`: a commented registry to start from."""

import re
from pathlib import Path
from shlex import quote
from typing import Annotated

import typer

from hubbub.cli.output import fail, today
from hubbub.lock import COLLECTION

FILE = "metrics.toml"
_FORM = "write it in a-z, 0-9, _ and -, as in --collection editor-desktop"


def init(
    directory: Annotated[
        Path, typer.Argument(metavar="DIR", help="Where to write it; made if it is not there.")
    ] = Path(),
    collection: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Collection id, one per app; made of the directory's name by default."),
    ] = None,
) -> None:
    """Write a metrics.toml with a yes/no and a mean, each key explained.

    An existing file is never overwritten.
    """
    from hubbub.definitions import template
    from hubbub.definitions.problems import no_collection, toml

    if collection is not None and (problem := no_collection(collection)):
        fail(f"--collection = {toml(collection)} {problem}; {_FORM}")
    name = _named_after(directory) if collection is None else collection
    text = template(name, today())
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / FILE
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        fail(f"{path} exists already and is left as it is")
    print(f"Wrote {path}: collection {name}, a yes/no and a mean. Make them yours, then:\n")
    source, lock = quote(str(path)), quote(str(path.with_suffix(".lock")))
    steps = {
        f"hubbub registry lint {source}": "what each metric will be worth",
        f"hubbub registry build {source}": "write metrics.lock, which ships inside the app",
        f"hubbub explain {lock}": "what it gives away, in words",
    }
    width = max(map(len, steps))
    for command, effect in steps.items():
        print(f"  {command:{width}}  # {effect}")


def _named_after(directory: Path) -> str:
    folder = directory.resolve().name
    name = re.sub(r"[^a-z0-9_-]+", "-", folder.lower()).strip("-_")
    if not folder.isascii() or not COLLECTION.fullmatch(name):
        fail(f"no collection id can be made of the directory's name {folder!r}; name one: {_FORM}")
    return name
