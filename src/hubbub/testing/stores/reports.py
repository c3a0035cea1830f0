"""Checks of what a store does with reports: kept once, whole or not at all, counted by window and segment."""

import threading

from hubbub.errors import ParameterError
from hubbub.store import PROBLEMS_TOTAL, Report, WindowKey
from hubbub.testing.stores.samples import FIRST, LAST, key, late, lock, minutes, stored
from hubbub.testing.stores.tools import Opens, counts, filled, refusing, same

_UNKNOWN = r"report\.key must be a window of a metric that the store has accepted"


def check_reports_are_counted_by_window_and_segment(opens: Opens) -> None:
    """Each report enters the summary of its metric, hash, window and segment, and no other."""
    metric = minutes()
    reports = stored(metric, 5, ones=2, segment="stable") + stored(metric, 3, ones=3, segment="beta", start=5)
    reports += stored(metric, 4, ones=1, window=FIRST + 1, segment="stable") + stored(late(), 2, ones=1)
    with filled(opens) as store:
        same(store.write(reports), ["accepted"] * 14, "outcomes")
        expected = {
            (key(metric), "stable"): (5, 2, 0, 0),
            (key(metric), "beta"): (3, 3, 0, 0),
            (key(metric, FIRST + 1), "stable"): (4, 1, 0, 0),
            (key(late()), ""): (2, 1, 0, 0),
        }
        same(counts(store), expected, "summaries")
        same(store.windows(), [key(metric), key(metric, FIRST + 1), key(late())], "windows")
        same(store.windows("flight.late"), [key(late())], "windows of one metric")
        same(store.windows("no.such"), [], "windows of no metric")
        same(store.reports(key(late())), stored(late(), 2, ones=1), "reports")


def check_what_was_written_is_there_after_opening_again(opens: Opens) -> None:
    """Reports, summaries, shown summaries and ids survive."""
    with filled(opens) as store:
        store.write(stored(late(), 150, ones=40))
    with opens() as again:
        same(counts(again), {(key(late()), ""): (150, 40, 100, 40)}, "summaries")
        same(again.reports(key(late())), stored(late(), 150, ones=40), "reports")
        same(again.write(stored(late(), 1, ones=1)), ["duplicate"], "a report from before")
        same(again.write(stored(late(), 1, start=150)), ["accepted"], "a new report")


def check_ids_are_kept_to_the_last_bit(opens: Opens) -> None:
    """All 64 bits of an id tell reports apart."""
    ids = (-(2**63), -1, 0, 1, 2**53, 2**53 + 1, 2**63 - 1)
    reports = [Report(key(late()), id_, "", "80") for id_ in ids]
    with filled(opens) as store:
        for report in reports:
            same(store.write([report]), ["accepted"], f"id {report.id}")
            again = store.write([report, report._replace(payload="00")])
            same(again, ["duplicate", "conflict"], f"id {report.id} again")
        same(store.reports(key(late())), reports, "reports, sorted by id")


def check_order_of_arrival_is_not_kept(opens: Opens) -> None:
    """Reports come back sorted by id."""
    reports = stored(late(), 50, ones=9)
    with filled(opens) as store:
        store.write(reports[25:][::-1])
        store.write(reports[:25][::-1])
        same(store.reports(key(late())), reports, "reports")


def check_same_id_elsewhere_is_another_report(opens: Opens) -> None:
    """Ids are told apart within one metric, hash and window only."""
    with filled(opens) as store:
        store.accept(lock(late(version=2, epsilon=0.5)))
        versions = (late(), late(version=2, epsilon=0.5))
        others = [stored(metric, 1, window=window)[0] for metric in versions for window in (FIRST, FIRST + 1)]
        others += stored(minutes(), 1, segment="beta")
        same(store.write(others), ["accepted"] * 5, "outcomes")


def check_duplicates_and_conflicts_change_nothing(opens: Opens) -> None:
    """The same report again, or another one with its id, together with it or later."""
    first = Report(key(minutes()), 7, "stable", "80")
    others = [first, first._replace(payload="00"), first._replace(segment="beta"), first]
    expected = ["accepted", "duplicate", "conflict", "conflict", "duplicate"]
    with filled(opens) as store:
        same(store.write([first, *others]), expected, "outcomes of one write")
        second = [report._replace(key=key(minutes(), FIRST + 1)) for report in (first, *others)]
        same(store.write(second[:1]) + store.write(second[1:]), expected, "outcomes of two writes")
        cells = {(key(minutes(), window), "stable"): (1, 1, 0, 0) for window in (FIRST, FIRST + 1)}
        same(counts(store), cells, "summaries")
        same(store.reports(key(minutes())), [first], "reports")
        same(store.counters(), {"accepted": 2, "conflict": 4, "duplicate": 4}, "counters")


def check_duplicates_are_told_from_what_came_with_them(opens: Opens) -> None:
    """A write of new and old reports by turns, one of the old ones changed."""
    old, new = stored(late(), 300, ones=150), stored(late(), 300, ones=100, start=300)
    mixed = [report for pair in zip(new, old, strict=True) for report in pair]
    mixed[1] = mixed[1]._replace(payload="00")  # it was a one
    with filled(opens) as store:
        store.write(old)
        same(store.write(mixed), ["accepted", "conflict"] + ["accepted", "duplicate"] * 299, "outcomes")
        same(counts(store), {(key(late()), ""): (600, 250, 600, 250)}, "summaries")


def check_the_stored_report_decides(opens: Opens) -> None:
    """A conflict is told by what is stored, not by what came first in the same write."""
    held = stored(late(), 1, ones=1)[0]
    with filled(opens) as store:
        store.write([held])
        same(store.write([held._replace(payload="00"), held]), ["conflict", "duplicate"], "outcomes")


def check_a_write_is_kept_whole_or_not_at_all(opens: Opens) -> None:
    """A report that no lock knows sinks the write it came in, counts included, and nothing else."""
    strangers = [
        Report(WindowKey("no.such", "0" * 32, FIRST), 1, "", "80"),
        Report(WindowKey("flight.late", "0" * 32, FIRST), 1, "", "80"),
        *stored(late(), 1, window=FIRST - 1),
        *stored(late(), 1, window=LAST + 1),
    ]
    with filled(opens) as store:
        for stranger in strangers:
            with refusing(ParameterError, _UNKNOWN, f"a report of {stranger.key}"):
                store.write([*stored(late(), 3), stranger], {"too_late": 1}, {"too_large": 1})
            held = store.windows(), store.cells(), store.counters(), store.counters(PROBLEMS_TOTAL)
            same(held, ([], [], {}, {}), f"what is kept beside a report of {stranger.key}")
        same(store.write(stored(late(), 3)), ["accepted"] * 3, "outcomes")


def check_writers_take_turns(opens: Opens) -> None:
    """The same reports from several threads at once: each is accepted once and counted once."""
    with filled(opens) as store:
        outcomes: list[str] = []

        def write() -> None:
            for start in range(0, 200, 10):
                outcomes.extend(store.write(stored(late(), 10, ones=10, start=start)))

        threads = [threading.Thread(target=write) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        same(sorted(outcomes), ["accepted"] * 200 + ["duplicate"] * 600, "outcomes")
        same(counts(store), {(key(late()), ""): (200, 200, 200, 200)}, "summaries")
