"""Checks of what a store shows: cells, steps, counters, the table of estimates."""

from hubbub.store import ESTIMATE_COLUMNS, PROBLEMS_TOTAL, check
from hubbub.testing.stores.samples import FIRST, key, late, minutes, stored
from hubbub.testing.stores.tools import Opens, counts, filled, same


def check_new_store_is_empty(opens: Opens) -> None:
    """There is nothing in it, and it is one of real reports."""
    with opens() as store:
        same((store.locks(), store.windows(), store.cells(), store.published()), ([], [], [], []), "what it holds")
        same((store.counters(), store.counters(PROBLEMS_TOTAL)), ({}, {}), "counters")
        same((check(store), store.dev, store.clock), ([], False, None), "its state")


def check_cells_come_sorted_and_as_asked(opens: Opens) -> None:
    """By metric, hash, window and segment; all of them, or those of one metric, hash, segment or stretch of windows."""
    days = FIRST, FIRST + 1, FIRST + 2
    with filled(opens) as store:
        for segment in ("stable", "beta"):
            for window in reversed(days):
                store.write(stored(minutes(), 1, window=window, segment=segment, start=len(segment)))
        store.write(stored(late(), 1))
        every = [(cell.key, cell.segment) for cell in store.cells()]
        mine = [(key(minutes(), window), segment) for window in days for segment in ("beta", "stable")]
        same(every, [*mine, (key(late()), "")], "all cells")
        where, hash_ = "editor.minutes", key(minutes()).hash
        asked = {
            "one metric": (store.cells(where), mine),
            "no such metric": (store.cells("no.such"), []),
            "one hash": (store.cells(where, hash=hash_), mine),
            "no such hash": (store.cells(where, hash="0" * 32), []),
            "one segment": (store.cells(where, segment="beta"), mine[::2]),
            "no segment": (store.cells(segment=""), [(key(late()), "")]),
            "some windows": (store.cells(where, windows=range(FIRST + 1, FIRST + 3)), mine[2:]),
            "no windows": (store.cells(where, windows=range(FIRST, FIRST)), []),
            "all of it": (store.cells(where, hash=hash_, windows=range(FIRST, FIRST + 1), segment="stable"), mine[1:2]),
        }
        for what, (cells, expected) in asked.items():
            same([(cell.key, cell.segment) for cell in cells], expected, f"cells, {what}")


def check_shown_summary_moves_in_full_steps(opens: Opens) -> None:
    """What may be shown while reports come is the summary of the first n, for the last n that `min_reports` divides."""
    reports = stored(late(), 350, ones=180)
    seen = []
    with filled(opens) as store:
        for start, stop in ((0, 99), (99, 100), (100, 199), (199, 350)):
            store.write(reports[start:stop])
            seen.append(counts(store)[key(late()), ""])
        same(seen, [(99, 99, 0, 0), (100, 100, 100, 100), (199, 180, 100, 100), (350, 180, 300, 180)], "steps")


def check_shown_summary_is_of_the_first_to_come(opens: Opens) -> None:
    """Not of those with the lowest ids."""
    with filled(opens) as store:
        store.write(stored(late(), 130, ones=30)[::-1])
        same(counts(store), {(key(late()), ""): (130, 30, 100, 0)}, "summaries")


def check_an_empty_write_counts_what_happened_elsewhere(opens: Opens) -> None:
    """Reports by what became of them, requests by why they were refused."""
    with filled(opens) as store:
        same(store.write([]), [], "outcomes")
        same(store.write([], {"too_late": 2, "conflict": 1}, {"too_large": 3}), [], "outcomes")
        store.write(stored(late(), 1) * 2, {"too_late": 1}, {"too_large": 1, "slow_body": 1})
        same(store.counters(), {"accepted": 1, "conflict": 1, "duplicate": 1, "too_late": 3}, "reports")
        same(store.counters(PROBLEMS_TOTAL), {"slow_body": 1, "too_large": 4}, "requests")


def check_estimates_are_published_once(opens: Opens) -> None:
    """A row takes the place of the one before it; the same again is no news."""
    first = _row(state="provisional", n=100, value=0.25)
    other = _row(window_start="2026-12-02T00:00:00Z")
    label = _row(category="crash")
    with filled(opens) as store:
        same(store.publish([first, other]), 2, "changed rows")
        same(store.publish(row for row in (first, other, label)), 1, "changed rows with one that is new")
        final = _row(state="final", n=123, value=0.1 + 0.2)
        same(store.publish([final, other, label]), 1, "changed rows with one that is final now")
        same(store.published(), [final, label, other], "the table")
        many = [_row(metric="b", window_start=f"{year}-01-01T00:00:00Z") for year in range(2000, 3000)]
        same(store.publish(many), 1000, "changed rows of a thousand")
        same(store.published("b"), many, "the table of one metric")
    with opens() as store:
        same(len(store.published()), 1003, "rows after opening again")


def _row(**changes: object) -> tuple[object, ...]:
    row = {
        **dict.fromkeys(ESTIMATE_COLUMNS),
        "metric": "a",
        "version": 1,
        "hash": "0" * 32,
        "window_start": "2026-12-01T00:00:00Z",
        "window_end": "2026-12-02T00:00:00Z",
        "segment": "",
        "state": "open",
        "n": 0,
        "n_effective": 0,
        "level": 0.95,
        **changes,
    }
    return tuple(row[column] for column in ESTIMATE_COLUMNS)
