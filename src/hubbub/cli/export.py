"""`hubbub export`: estimates as a file for other programs."""

import os
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hubbub.cli import candidates as words
from hubbub.cli.estimate import CLOCK, SOURCE, mind_time
from hubbub.cli.output import log
from hubbub.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hubbub.estimates import Row


def export(
    source: Annotated[str, typer.Argument(metavar="STORE|URL", help=SOURCE)],
    file: Annotated[str, typer.Argument(metavar="FILE", help="FILE.csv, FILE.parquet, or - for CSV on stdout.")],
    metric: Annotated[str | None, typer.Option(help="One metric; all by default.")] = None,
    start: Annotated[str | None, typer.Option(help="Only windows that begin at or after this date or time.")] = None,
    end: Annotated[str | None, typer.Option(help="Only windows that have ended by this date or time.")] = None,
    segment: Annotated[str | None, typer.Option(help="One segment; all by default.")] = None,
    level: Annotated[float, typer.Option(help="Chance with which an interval is to hold the truth.")] = 0.95,
    candidates: Annotated[Path | None, typer.Option(metavar="FILE", help=words.HELP)] = None,
    control: Annotated[words.Control, typer.Option(help=words.CONTROL)] = "bonferroni",
    force: Annotated[bool, typer.Option("--force", help="Replace the file if it is there.")] = False,
    clock: Annotated[Path | None, typer.Option(metavar="FILE", help=CLOCK)] = None,
) -> None:
    """Write estimates to a CSV or Parquet file: one row per metric, window and segment.

    The file appears whole or not at all. docs/reference/estimates.md says what the columns hold, and how days are put
    together: never by averaging standard errors. With --candidates there is one row per word that is found.
    """
    from hubbub import answers
    from hubbub.clock import FileClock
    from hubbub.estimates import word_rows
    from hubbub.estimates.files import csv_pieces

    path = _target(file, force)
    with answers.source(source, clock=None if clock is None else FileClock(clock)) as found:
        mind_time(found)
        within = answers.span(start, end)
        if candidates is None:
            rows = found.rows(metric, within, segment, level)
        else:
            rows = word_rows(words.find(found, metric, candidates, within, segment, level, control))
    if path is None:
        sys.stdout.writelines(csv_pieces(rows))
        return
    _write(rows, path)
    log().print(f"Wrote {path}: {len(rows)} rows", soft_wrap=True)


def _target(file: str, force: bool) -> Path | None:
    """Where to write, before anything is read; None is stdout."""
    if file == "-":
        return None
    path = Path(file)
    if path.suffix not in (".csv", ".parquet"):
        raise ParameterError("FILE", file, "a name that ends in .csv or .parquet, or -")
    if not path.parent.is_dir():
        raise ParameterError("FILE", file, "a file in a folder that exists")
    if path.suffix == ".parquet":
        import pyarrow  # noqa: F401  # what is missing is said before anything is read
    if not force and os.path.lexists(path):
        raise ParameterError("FILE", file, "a new file, or --force given")
    return path


def _write(rows: "Sequence[Row]", path: Path) -> None:
    from hubbub.estimates.files import write

    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    draft = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            write(rows, file, path.suffix.removeprefix("."))
            file.flush()
            os.fsync(file.fileno())
        umask = os.umask(0)
        os.umask(umask)
        draft.chmod(0o666 & ~umask)
        draft.replace(path)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
