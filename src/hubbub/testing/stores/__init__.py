"""Conformance of stores: run `check_store(factory)`, or each of `STORE_CHECKS` on a new store."""

from collections.abc import Callable

from hubbub.testing.stores.definitions import (
    check_a_lock_that_does_not_fit_is_refused_whole,
    check_a_renewed_metric_goes_on_with_the_same_encoding,
    check_every_entry_ever_accepted_is_kept,
    check_what_another_opening_accepted_is_known,
)
from hubbub.testing.stores.reading import (
    check_an_empty_write_counts_what_happened_elsewhere,
    check_cells_come_sorted_and_as_asked,
    check_estimates_are_published_once,
    check_new_store_is_empty,
    check_shown_summary_is_of_the_first_to_come,
    check_shown_summary_moves_in_full_steps,
)
from hubbub.testing.stores.reports import (
    check_a_write_is_kept_whole_or_not_at_all,
    check_duplicates_and_conflicts_change_nothing,
    check_duplicates_are_told_from_what_came_with_them,
    check_ids_are_kept_to_the_last_bit,
    check_order_of_arrival_is_not_kept,
    check_reports_are_counted_by_window_and_segment,
    check_same_id_elsewhere_is_another_report,
    check_the_stored_report_decides,
    check_what_was_written_is_there_after_opening_again,
    check_writers_take_turns,
)
from hubbub.testing.stores.tools import Opens

__all__ = ["STORE_CHECKS", "Opens", "StoreCheck", "check_store"]

StoreCheck = Callable[[Opens], None]

STORE_CHECKS: tuple[StoreCheck, ...] = (
    check_new_store_is_empty,
    check_a_write_is_kept_whole_or_not_at_all,
    check_reports_are_counted_by_window_and_segment,
    check_what_was_written_is_there_after_opening_again,
    check_ids_are_kept_to_the_last_bit,
    check_order_of_arrival_is_not_kept,
    check_same_id_elsewhere_is_another_report,
    check_duplicates_and_conflicts_change_nothing,
    check_duplicates_are_told_from_what_came_with_them,
    check_the_stored_report_decides,
    check_writers_take_turns,
    check_cells_come_sorted_and_as_asked,
    check_shown_summary_moves_in_full_steps,
    check_shown_summary_is_of_the_first_to_come,
    check_an_empty_write_counts_what_happened_elsewhere,
    check_estimates_are_published_once,
    check_every_entry_ever_accepted_is_kept,
    check_a_lock_that_does_not_fit_is_refused_whole,
    check_a_renewed_metric_goes_on_with_the_same_encoding,
    check_what_another_opening_accepted_is_known,
)


def check_store(factory: Callable[[], Opens]) -> None:
    """Hold a store to its contract.

    Args:
        factory: Makes a new place for a store at each call, and returns a function that opens the store there: empty at
            first, then with whatever was written to it.

    Raises:
        AssertionError: What failed, or which error a check met.
    """
    for check in STORE_CHECKS:
        try:
            check(factory())
        except Exception as error:
            raise AssertionError(f"{check.__name__}: {error}") from error
