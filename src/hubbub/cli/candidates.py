"""Words that `hubbub estimate` and `hubbub export` look for: their list, the work, what is printed."""

from collections.abc import Sequence
from pathlib import Path
from statistics import NormalDist
from typing import TYPE_CHECKING, Literal

from hubbub.cli.output import console, log, table_of
from hubbub.errors import ParameterError

if TYPE_CHECKING:
    from rich.table import Table

    from hubbub.answers import Source, Span
    from hubbub.estimates import Known, WindowWords
    from hubbub.estimates.wording import Scale
    from hubbub.mechanisms.word_table import WordTable

Control = Literal["bonferroni", "benjamini_hochberg"]
HELP = "Look for the words of this list, one a line in UTF-8; for a metric of words, in a store file."
CONTROL = "bonferroni: hardly any word that nobody has; benjamini_hochberg: few of those shown."
MOST_BYTES = 256 << 20  # of a list
LONGEST = 4096  # bytes of a word
_NAME = "--candidates"


def read(path: Path) -> list[str]:
    """The words of a list, each once, as they stand there: blanks and capitals count.

    Raises:
        ParameterError: The file is too large, or holds none, or a line is not a word; named by its number.
    """
    from hubbub.mechanisms.word_table import MOST_CANDIDATES

    with path.open("rb") as file:
        raw = file.read(MOST_BYTES + 1)
    if len(raw) > MOST_BYTES:
        raise ParameterError(_NAME, str(path), f"a list of at most {MOST_BYTES} bytes")
    lines = raw.removeprefix(b"\xef\xbb\xbf").split(b"\n")
    if not lines[-1]:  # what the last line ends with
        del lines[-1]
    if not 1 <= len(lines) <= MOST_CANDIDATES:
        raise ParameterError(_NAME, f"{path}, with {len(lines)} lines", f"a list of 1 to {MOST_CANDIDATES} words")
    return list(dict.fromkeys(_word(path, number, line.removesuffix(b"\r")) for number, line in enumerate(lines, 1)))


def _word(path: Path, number: int, line: bytes) -> str:
    where = f"{path}, line {number}"
    if not line:
        raise ParameterError(_NAME, f"{where}, which is empty", "a list with a word in each line")
    if len(line) > LONGEST:
        raise ParameterError(_NAME, f"{where}, of {len(line)} bytes", f"a list of words of at most {LONGEST} bytes")
    try:
        return line.decode()
    except UnicodeDecodeError:
        raise ParameterError(_NAME, where, "a list of words in UTF-8") from None


def find(
    found: "Source",
    metric: str | None,
    path: Path,
    within: "Span",
    segment: str | None,
    level: float,
    control: Control,
) -> "list[WindowWords]":
    """What each window is found to have, with a bar on a terminal.

    Raises:
        ParameterError: No metric is named, or one of another kind; or the list, or anything asked for, cannot be used.
    """
    from rich.progress import Progress

    if metric is None:
        raise ParameterError("metric", metric, f"the name of a metric of words where {_NAME} are given")
    words = read(path)
    with Progress(console=log(), transient=True, disable=not log().is_terminal) as bar:
        task = bar.add_task(f"{len(words)} candidates", total=None)
        return found.words(
            metric,
            words,
            within,
            segment,
            level,
            control,
            lambda done, total: bar.update(task, completed=done, total=total),
        )


def show(found: "Sequence[WindowWords]", known: "dict[tuple[str, str], Known]") -> None:
    """Print them for people, window by window."""
    from hubbub.estimates import word_rows
    from hubbub.estimates.wording import Scale

    out = console()
    if not found:
        out.print("No windows with reports in this range.")
    heading = None
    for window in found:
        metric = known[window.metric, window.hash]
        if heading != metric:
            heading = metric
            out.print(f"{metric.name}, version {metric.version}: {metric.description}", style="bold")
        when = window.window_start[: 13 if metric.window == "hour" else 10]
        place = f"{when}, {window.segment}" if window.segment else when
        out.print(f"\n{place}: {window.state}, {window.n} reports", style="bold")
        if window.table is None:
            continue
        if window.table.words:
            scale = Scale.of(metric.kind, metric.unit, word_rows([window]))
            out.print(_table(window.table, scale))
            out.print(_unallocated(window.table, scale))
        out.print(_found(window.table))


def _table(found: "WordTable", scale: "Scale") -> "Table":
    table = table_of()
    table.add_column("word")
    for name in ("share", "standard error", f"{100 * found.level:g} % interval"):
        table.add_column(name, justify="right", style="cyan" if name == "share" else None)
    for row in found.rows():
        figures = scale.text(row["share"]), scale.text(row["se"]), scale.interval(row["ci_low"], row["ci_high"])
        table.add_row(_legible(row["word"]), *figures)
    return table


def _found(found: "WordTable") -> str:
    return (
        f"{len(found.words)} of {found.candidates} candidates found, {found.hidden} not: a word shows only above "
        f"{100 * found.floor:.3g} % (detection floor) and from {found.least:g} devices on."
    )


def _unallocated(found: "WordTable", scale: "Scale") -> str:
    half = NormalDist().inv_cdf(0.5 + found.level / 2) * found.unallocated_se
    return f"Unallocated: {scale.bare(found.unallocated)} ± {scale.text(half)} have another word or none."


def _legible(word: str) -> str:
    """A word on a terminal: what is no sign of its own is written as a number."""
    return "".join(sign if sign.isprintable() else sign.encode("unicode_escape").decode() for sign in word)
