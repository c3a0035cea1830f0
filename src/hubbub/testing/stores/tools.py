"""What the checks of stores share."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from hubbub.store import Store, WindowKey, check
from hubbub.testing.mechanisms.cases import hold
from hubbub.testing.stores.samples import late, lock, minutes

Opens = Callable[[], Store]  # opens a store that is new at first, and the same one at every further call
Counts = dict[tuple[WindowKey, str], tuple[int, int, int, int]]


def same(got: object, expected: object, what: str) -> None:
    """Fail unless both are equal."""
    hold(got == expected, f"{what}: {got!r} instead of {expected!r}")


@contextmanager
def refusing(kind: type[Exception], pattern: str, what: str) -> Iterator[None]:
    """Fail unless what stands inside is refused with this kind of error and a message of this form."""
    try:
        yield
    except kind as error:
        hold(re.search(pattern, str(error)) is not None, f"{what} is refused with {str(error)!r}, not {pattern!r}")
    else:
        hold(False, f"{what} is not refused")


@contextmanager
def filled(opens: Opens) -> Iterator[Store]:
    """The store with both sample metrics; at the end every summary equals a recount."""
    with opens() as store:
        store.accept(lock(minutes(), late()))
        yield store
        same(check(store), [], "summaries against a recount")


def counts(store: Store) -> Counts:
    """How many reports and ones each cell holds, and shows."""
    return {
        (cell.key, cell.segment): (cell.summary.n, int(cell.summary.counts), cell.shown.n, int(cell.shown.counts))
        for cell in store.cells()
    }
