"""The words of each window, from a list of candidates. Specification: spec/words.md."""

from collections.abc import Sequence
from typing import NamedTuple

from hubbub.errors import ParameterError
from hubbub.estimates.rows import withheld
from hubbub.estimates.spots import spots
from hubbub.mechanisms.word_table import Control, WordTable
from hubbub.mechanisms.words import Words
from hubbub.store import Store
from hubbub.windows import iso


class WindowWords(NamedTuple):
    """What one window and segment of a metric has.

    Attributes:
        window_start: Where the window begins.
        window_end: Where it ends.
        segment: Empty where the metric has one only.
        state: As of a row; there is no `too_uncertain`, for words below the floor are not shown.
        n: Reports.
        table: The words; None where nothing may be shown.
    """

    window_start: str
    window_end: str
    segment: str
    state: str
    n: int
    table: WordTable | None


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

    Raises:
        ParameterError: A metric that the store does not know or that is of another kind, a segment that it does not
            have, no candidates, or a level outside (0, 1).
        StoreError: The store cannot be read.
    """
    found = []
    for spot in spots(store, now=now, metric=metric, start=start, end=end, segment=segment):
        definition, summary = spot.definition, spot.summary(now)
        mechanism, least = definition.mechanism, definition.metric.min_reports
        if not isinstance(mechanism, Words):
            raise ParameterError("metric", metric, "one of the kind words")
        state, table = withheld(spot, now), None
        if not state:
            state = "final" if spot.closed(now) else "provisional"
            table = mechanism.decode(summary, candidates, level=level, control=control, least=least)
        times = iso(definition.windows.start(spot.window)), iso(spot.end)
        found.append(WindowWords(*times, spot.segment, state, summary.n, table))
    return found
