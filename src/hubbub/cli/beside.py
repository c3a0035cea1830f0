"""What a crowd of pretend devices prints: truth beside estimate, and how many intervals hold it."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from hubbub.cli.output import console, table_of

if TYPE_CHECKING:
    from rich.table import Table

    from hubbub.estimates import Known, Row
    from hubbub.lock import Metric
    from hubbub.replay.crowd import Outcome

    Pair = tuple[Outcome, Row | None]

LEVEL = 0.95
_MOST = 30  # rows of a metric that are printed
_FEW = 10  # categories of a metric that are printed
_WHAT = {"vector": "coordinate", "words": "word"}  # in place of category


def as_row(outcome: "Outcome", row: "Row | None") -> dict[str, object]:
    """For `--json`."""
    figures = {"estimate": row and row.value, "ci_low": row and row.ci_low, "ci_high": row and row.ci_high}
    return {
        "metric": outcome.key.metric,
        "window": outcome.key.start,
        "segment": outcome.segment,
        "category": outcome.category,
        "sent": outcome.sent,
        "truth": outcome.truth,
        "truth_clipped": outcome.truth_clipped,
        **figures,
        "n": 0 if row is None else row.n,
        "state": "empty" if row is None else row.state,
    }


def show(pairs: "Sequence[Pair]", known: "Mapping[tuple[str, str], Known]") -> None:
    """Print a table for each metric, and what they say together.

    Args:
        pairs: Outcomes and their rows, those of a window and segment one after the other.
        known: The metrics, by name and hash.
    """
    out = console()
    if not pairs:
        out.print("No window was over yet, so nothing was reported.")
    tables: dict[tuple[str, str], list[Pair]] = {}
    for outcome, row in pairs:
        tables.setdefault(outcome.key[:2], []).append((outcome, row))
    for key, listed in tables.items():
        metric = known[key]
        picked, names = _picked(listed, metric)
        last = _last(picked)
        out.print(f"{metric.name}: {metric.description}", style="bold")
        out.print(_table(last, metric))
        if remark := _left_out(len(last), len(picked), len(_categories(picked)), names, metric.kind):
            out.print(f"{remark}\n")
    for line in _verdict(pairs):
        out.print(line)


def date(seconds: float, characters: int = 16) -> str:
    """2026-12-01T06:30, or fewer characters of it."""
    from hubbub.windows import iso

    return iso(int(seconds))[:characters]


def start(metric: "Metric", window: int) -> str:
    """2026-12-01, or 2026-12-01T06 where windows are hours."""
    return date(metric.windows.start(window), 13 if metric.window == "hour" else 10)


def many(count: int, what: str) -> str:
    """A number of things."""
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


def _categories(pairs: "Sequence[Pair]") -> dict[str, float]:
    """Of how many devices each is, over all windows."""
    found: dict[str, float] = {}
    for outcome, _ in pairs:
        found[outcome.category] = found.get(outcome.category, 0.0) + outcome.truth_clipped * outcome.sent
    return found


def _picked(pairs: "Sequence[Pair]", known: "Known") -> "tuple[Sequence[Pair], int]":
    """Those of the commonest categories, or of the first coordinates; and how many categories there are."""
    totals = _categories(pairs)
    order = totals if known.kind == "vector" else sorted(totals, key=lambda name: -totals[name])
    shown = set(list(order)[:_FEW])
    return [pair for pair in pairs if pair[0].category in shown], len(totals)


def _last(pairs: "Sequence[Pair]") -> "Sequence[Pair]":
    """The last `_MOST` of them at most, without the rest of a window and segment that is cut."""
    last = pairs[-_MOST:]
    if len(last) < len(pairs) and pairs[-_MOST - 1][0].key[:4] == last[0][0].key[:4]:
        cut = last[0][0].key[:4]
        return [pair for pair in last if pair[0].key[:4] != cut]
    return last


def _left_out(last: int, rows: int, shown: int, names: int, kind: str) -> str:
    """What a table does not show."""
    what = _WHAT.get(kind, "category")
    remarks = []
    if shown < names:
        plural = "categories" if what == "category" else f"{what}s"
        which = f"first {shown} of {names} {plural}" if kind == "vector" else f"{shown} commonest of {names} {plural}"
        remarks.append(which)
    if last < rows:
        remarks.append(f"last {last} of {rows} rows" + (" of them" if remarks else ""))
    return f"The {', the '.join(remarks)}; --json prints all." if remarks else ""


def _table(pairs: "Sequence[Pair]", known: "Known") -> "Table":
    from hubbub.estimates.wording import Scale, category

    scale = Scale.of(known.kind, known.unit, [row for _, row in pairs if row is not None])
    named = any(outcome.category for outcome, _ in pairs)
    table = table_of()
    table.add_column(known.window)
    if known.dimensions:
        table.add_column("segment")
    if named:
        table.add_column(_WHAT.get(known.kind, "category"))
    table.add_column("n", justify="right")
    table.add_column("truth", justify="right", style="yellow")
    table.add_column("estimate", justify="right", style="cyan")
    table.add_column(f"{100 * LEVEL:g} % interval", justify="right")
    for outcome, row in pairs:
        cells = [start(outcome.metric, outcome.window), *([outcome.segment] if known.dimensions else [])]
        if named:
            cells.append(_legible(category(known.kind, known.unit, outcome.category or None)))
        truth, mark = scale.text(outcome.truth_clipped), " *" if _holds(outcome, row) is False else "  "
        if row is None:
            table.add_row(*cells, "0", truth, "–", "–  ")
        else:
            interval = scale.interval(row.ci_low, row.ci_high) + mark
            table.add_row(*cells, str(row.n), truth, scale.text(row.value), interval)
    return table


def _legible(name: str) -> str:
    """A category on a terminal, where a list of somebody's words may hold anything."""
    return "".join(sign if sign.isprintable() else "?" for sign in name)


def _holds(outcome: "Outcome", row: "Row | None") -> bool | None:
    """Whether the interval holds the truth; None without an interval."""
    if row is None or row.ci_low is None or row.ci_high is None:
        return None
    return row.ci_low <= outcome.truth_clipped <= row.ci_high


def _verdict(every: "Sequence[Pair]") -> Iterator[str]:
    """What the tables say, and what else there is to know about them."""
    pairs = [pair for pair in every if pair[0].metric.kind != "words"]
    held = [one for pair in pairs if (one := _holds(*pair)) is not None]
    found = [one for pair in every if pair[0].metric.kind == "words" and (one := _holds(*pair)) is not None]
    if held:
        yield (
            f"{held.count(True)} of {len(held)} intervals hold the truth, about {LEVEL * len(held):.0f} are expected"
            + (": * marks those that do not." if False in held else ".")
        )
    if found:
        yield (
            f"Of words that were found, {found.count(True)} of {len(found)} intervals hold the truth; it may be fewer"
            " than of others, since a rare word is found where it seems commoner than it is."
        )
        if len(found) < len(every) - len(pairs):
            yield "Words with a dash were not found: too few devices have them."
    if len(held) < len(pairs):
        yield "Where a dash stands, fewer than min_reports reports came."
    if any(row is not None and row.value is None and _holds(outcome, row) is not None for outcome, row in pairs):
        yield "Where only the estimate is a dash, the share of the active cannot be told from 0."
    if any(abs(outcome.truth - outcome.truth_clipped) > 1e-9 for outcome, _ in every):
        yield "Values beyond the range are clipped: the truth is that of clipped ones, all that the metric can see."
    if any(row is not None and 0 < row.n < outcome.sent for outcome, row in every):
        yield "Until its window is final, a row moves on in steps of min_reports."
    if any(row is not None and row.n > outcome.sent for outcome, row in every):
        yield "n counts other devices too where it is larger than the crowd; the truth is that of the crowd alone."
