"""The words of each window, from a list of candidates. Specification: spec/words.md."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from hubbub.errors import ParameterError
from hubbub.estimates.rows import WITHHELD, Row, constants, times, withheld
from hubbub.estimates.spots import spots
from hubbub.mechanisms.word_table import Control, WordTable, asked_for
from hubbub.mechanisms.words import Words
from hubbub.store import Store

Progress = Callable[[int, int], None]  # windows and segments that are done, and how many there are


class WindowWords(NamedTuple):
    """What one window and segment of a metric has.

    Attributes:
        metric: Its name.
        version: Of its definition.
        hash: Encoding hash as it travels.
        window_start: Where the window begins.
        window_end: Where it ends.
        segment: Empty where the metric has one only.
        state: As of a row; there is no `too_uncertain`, for words below the floor are not shown.
        n: Reports.
        epsilon: What one report gives away, nats, rounded up.
        permanent_epsilon: What a device that never changes gives away for ever; None where nothing is permanent.
        level: As asked.
        table: The words; None where nothing may be shown.
    """

    metric: str
    version: int
    hash: str
    window_start: str
    window_end: str
    segment: str
    state: str
    n: int
    epsilon: float | None
    permanent_epsilon: float | None
    level: float
    table: WordTable | None

    @property
    def plain(self) -> dict[str, Any]:
        """For JSON: the table's columns beside the others, a row for each word; null where nothing may be shown."""
        told = self._asdict()
        table = told.pop("table")
        names = ("control", "candidates", "passed", "floor", "least", "unallocated", "unallocated_se")
        told |= {name: getattr(table, name, None) for name in names}
        return {**told, "hidden": table and table.hidden, "words": table and table.rows()}


def words(
    store: Store,
    candidates: Sequence[str],
    *,
    now: float,
    metric: str,
    start: float | None = None,
    end: float | None = None,
    segment: str | None = None,
    level: float = 0.95,
    control: Control = "bonferroni",
    progress: Progress = lambda done, total: None,
) -> list[WindowWords]:
    """The candidates that each window is found to have, as it stands at `now`; windows are never added.

    A word is shown only if it is estimated to be that of `min_reports` devices.

    Args:
        store: Where the summaries are.
        candidates: Words that are looked for.
        now: Unix seconds.
        metric: Its name.
        start: Only windows that lie wholly in [start, end), in unix seconds.
        end: See `start`.
        segment: Only this one.
        level: As of `Words.decode`.
        control: As of `Words.decode`.
        progress: Told before each window and segment.

    Raises:
        ParameterError: A metric that the store does not know or that is of another kind, a segment that it does not
            have, no candidates, or a level outside (0, 1).
        StoreError: The store cannot be read.
    """
    asked_for(candidates, level, control, 0)
    kinds = {entry.metric.kind for entry in store.locks() if entry.metric.name == metric}
    if kinds - {"words"}:
        raise ParameterError("metric", metric, "one of the kind words")
    found: list[WindowWords] = []
    total = sum(1 for _ in spots(store, now=now, metric=metric, start=start, end=end, segment=segment))
    for spot in spots(store, now=now, metric=metric, start=start, end=end, segment=segment):
        progress(len(found), total)
        definition, summary = spot.definition, spot.summary(now)
        mechanism, least = definition.mechanism, definition.metric.min_reports
        assert isinstance(mechanism, Words)
        state, table = withheld(spot, now), None
        if not state:
            state = "final" if spot.closed(now) else "provisional"
            table = mechanism.decode(summary, candidates, level=level, control=control, least=least)
        same = constants(definition, level)
        del same["manipulation_per_percent"]
        found.append(WindowWords(segment=spot.segment, state=state, n=summary.n, table=table, **times(spot), **same))
    return found


def word_rows(found: Iterable[WindowWords]) -> list[Row]:
    """As estimate rows: one for each word, which is the category; one without a value where no word is shown.

    `se_shared` and `manipulation_per_percent` are null: of a regression neither is known.
    """
    return [row for window in found for row in _rows(window)]


def _rows(window: WindowWords) -> Iterator[Row]:
    same = {**window._asdict(), "n_effective": window.n, "manipulation_per_percent": None}
    del same["table"]
    shown = window.table.rows() if window.table else []
    if not shown:
        yield Row(category=None, **same, **WITHHELD)
    for word in shown:
        yield Row(
            category=word["word"],
            value=word["share"],
            se=word["se"],
            se_shared=None,
            ci_low=word["ci_low"],
            ci_high=word["ci_high"],
            method="regression",
            tidied=min(max(word["share"], 0.0), 1.0),
            **same,
        )
