"""`hubbub dossier` and `hubbub notice`: papers about a lock, for those who sign and for those whom it concerns."""

from pathlib import Path
from typing import Annotated

import typer

from hubbub.cli.output import emit_json, fail, log
from hubbub.errors import ParameterError

_FORMATS = ("md", "html")
Lock = Annotated[Path, typer.Argument(metavar="FILE", help="A metrics.lock, or a metrics.toml before it is built.")]
Form = Annotated[
    str | None,
    typer.Option("--format", metavar="md|html", help="By the name of OUT, else md; the page of html prints well."),
]
Out = Annotated[Path | None, typer.Option("--out", "-o", metavar="OUT", help="File to write in place of the output.")]


def dossier(
    file: Lock = Path("metrics.lock"),
    previous: Annotated[
        Path | None,
        typer.Option("--previous", metavar="FILE", help="The lock that was approved last."),
    ] = None,
    form: Form = None,
    out: Out = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object: hash of the lock and the text.")] = False,
) -> None:
    """Write what somebody who signs for a lock needs to know. Facts, no legal conclusions.

    Purposes, data, an example's exact bytes, prices, what is stored where, rights and how each is met, what is not
    protected, published collections beside it, the hashes that devices enforce, and what has changed.
    """
    from hubbub.definitions import read
    from hubbub.dossier import dossier as write

    lock = read(file)
    text = write(lock, None if previous is None else read(previous))
    if json:
        from hubbub.dossier.whole import digest

        emit_json({"collection": lock.collection, "sha256": digest(lock), "markdown": text})
        return
    _deliver(text, f"Dossier of {lock.collection}", "en", form, out)


def notice(
    file: Lock = Path("metrics.lock"),
    language: Annotated[str, typer.Option("--lang", metavar="en|zh", help="Language of the text.")] = "en",
    form: Form = None,
    out: Out = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object with the text.")] = False,
) -> None:
    """Write a text for the people at the devices, and facts for the stores' privacy forms. No legal conclusions."""
    from hubbub.definitions import read
    from hubbub.dossier import LANGUAGES
    from hubbub.dossier import notice as write

    if language not in LANGUAGES:
        raise ParameterError("--lang", language, "one of " + ", ".join(LANGUAGES))
    lock = read(file)
    text = write(lock, language)
    if json:
        emit_json({"collection": lock.collection, "language": language, "markdown": text})
        return
    _deliver(text, text.splitlines()[0].lstrip("# "), language, form, out)


def _deliver(text: str, title: str, language: str, form: str | None, out: Path | None) -> None:
    """Print the text or write it to a file, as Markdown or as a page."""
    from hubbub.definitions.building import replace
    from hubbub.dossier import page

    wanted = form or (out.suffix.lstrip(".") if out else "md")
    if wanted not in _FORMATS:
        if form is None:
            fail(f"--out {out}: the name must end in .md or .html, or --format must say which it is to be")
        raise ParameterError("--format", form, "one of " + ", ".join(_FORMATS))
    made = page(text, title, language) if wanted == "html" else text
    if out is None:
        print(made, end="")
        return
    replace(out, made.encode())
    log().print(f"wrote {out}")
