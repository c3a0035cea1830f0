"""`hubbub init`: a commented registry to start from."""

import datetime
import re
from pathlib import Path
from shlex import quote
from typing import Annotated

import typer

from hubbub.cli.output import fail
from hubbub.errors import ParameterError
from hubbub.lock import COLLECTION

FILE = "metrics.toml"


def init(
    directory: Annotated[
        Path, typer.Argument(metavar="DIR", help="Where to write it; made if it is not there.")
    ] = Path(),
    collection: Annotated[
        str, typer.Option(metavar="NAME", help="Collection id, one per app; made of the directory's name by default.")
    ] = "",
) -> None:
    """Write a metrics.toml with a yes/no and a mean, each key explained.

    An existing file is never overwritten.
    """
    from hubbub.definitions import template

    if collection and not COLLECTION.fullmatch(collection):
        raise ParameterError("--collection", collection, f"of the form {COLLECTION.pattern}")
    name = collection or _named_after(directory)
    text = template(name, datetime.datetime.now(datetime.UTC).date())
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
    name = re.sub(r"[^a-z0-9_-]+", "-", directory.resolve().name.lower()).strip("-_")
    return name if COLLECTION.fullmatch(name) else "my-app"
