"""Checks of what a store does with locks."""

from hubbub.errors import LockError, ParameterError
from hubbub.testing.stores.samples import EXPIRES, LAST, late, lock, minutes, stored
from hubbub.testing.stores.tools import Opens, filled, refusing, same


def check_every_entry_ever_accepted_is_kept(opens: Opens) -> None:
    """In the order they came, each once, also when the text alone differs."""
    versions = [late(), late(version=2, purpose="Another text"), late(version=3, epsilon=0.5), minutes()]
    with opens() as store:
        for metric in (*versions, versions[0]):
            store.accept(lock(metric))
    with opens() as store:
        same([(entry.collection, entry.metric) for entry in store.locks()], [("editor", m) for m in versions], "locks")


def check_a_lock_that_does_not_fit_is_refused_whole(opens: Opens) -> None:
    """The same version with another encoding, or the same metric in another collection."""
    others = {
        r"metrics\.\"flight\.late\"\.version: 1 is known with another encoding": lock(late(epsilon=0.5)),
        r"known as a metric of the collection 'editor', here of 'viewer'": lock(late(version=2), collection="viewer"),
    }
    with opens() as store:
        store.accept(lock(late()))
        for message, other in others.items():
            with refusing(LockError, message, "a lock that does not fit"):
                store.accept(lock(minutes(), *other.metrics.values(), collection=other.collection))
            same([entry.metric for entry in store.locks()], [late()], "locks")
            with refusing(ParameterError, "accepted", "a report of a lock that was refused"):
                store.write(stored(minutes(), 1, segment="beta"))


def check_a_renewed_metric_goes_on_with_the_same_encoding(opens: Opens) -> None:
    """A later version with the same encoding takes the windows after the first one's."""
    renewed = late(version=2, starts=EXPIRES, expires="2027-02-01")
    with filled(opens) as store:
        with refusing(ParameterError, "accepted", "a report of a window that comes later"):
            store.write(stored(late(), 1, window=LAST + 1))
        store.accept(lock(renewed))
        outcomes = store.write(stored(late(), 1, window=LAST) + stored(late(), 1, window=LAST + 1))
        same(outcomes, ["accepted"] * 2, "outcomes")


def check_what_another_opening_accepted_is_known(opens: Opens) -> None:
    """A store that is open already reads cells of metrics that were accepted elsewhere meanwhile."""
    with opens() as reader, filled(opens) as writer:
        writer.write(stored(late(), 2, ones=1))
        same([cell.summary.n for cell in reader.cells()], [2], "cells")
        same(len(reader.locks()), 2, "locks")
