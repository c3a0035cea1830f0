"""What every store must do. Another kind of store joins by a line in STORES."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from hubbub.errors import LockError, ParameterError
from hubbub.lock import Lock
from hubbub.store import Report, Store, WindowKey, check, open_store
from tests.unit.collecting import EXPIRES, FIRST, LAST, key, late, lock, minutes, stored

Open = Callable[[], Store]  # each call opens the same store once more


def sqlite(folder: Path) -> Open:
    return lambda: open_store(folder / "store.db")


STORES = [sqlite]


@pytest.fixture(params=STORES)
def opens(request: pytest.FixtureRequest, tmp_path: Path) -> Open:
    kind: Callable[[Path], Open] = request.param
    return kind(tmp_path)


@pytest.fixture
def store(opens: Open) -> Iterator[Store]:
    with opens() as store:
        store.accept(lock(minutes(), late()))
        yield store


def counts(store: Store) -> dict[tuple[WindowKey, str], tuple[int, int, int, int]]:
    """How many reports and ones each cell holds, and shows."""
    cells = store.cells()
    return {
        (cell.key, cell.segment): (cell.summary.n, int(cell.summary.counts), cell.shown.n, int(cell.shown.counts))
        for cell in cells
    }


def test_new_store_is_empty(opens: Open) -> None:
    with opens() as store:
        assert (store.locks(), store.windows(), store.cells(), store.counters(), check(store)) == ([], [], [], {}, [])


def test_reports_are_counted_by_window_and_segment(store: Store) -> None:
    metric = minutes()
    reports = stored(metric, 5, ones=2, segment="stable") + stored(metric, 3, ones=3, segment="beta", start=5)
    reports += stored(metric, 4, ones=1, window=FIRST + 1, segment="stable") + stored(late(), 2, ones=1)
    assert store.write(reports) == ["accepted"] * 14
    assert counts(store) == {
        (key(metric), "stable"): (5, 2, 0, 0),
        (key(metric), "beta"): (3, 3, 0, 0),
        (key(metric, FIRST + 1), "stable"): (4, 1, 0, 0),
        (key(late()), ""): (2, 1, 0, 0),
    }
    assert store.windows() == [key(metric), key(metric, FIRST + 1), key(late())]
    assert store.reports(key(late())) == stored(late(), 2, ones=1)
    assert check(store) == []


def test_what_was_written_is_there_after_opening_again(opens: Open, store: Store) -> None:
    store.write(stored(late(), 150, ones=40))
    store.close()
    with opens() as again:
        assert counts(again) == {(key(late()), ""): (150, 40, 100, 40)}
        assert again.reports(key(late())) == stored(late(), 150, ones=40)
        assert again.write(stored(late(), 1, ones=1)) == ["duplicate"]
        assert again.write(stored(late(), 1, start=150)) == ["accepted"]


def test_cells_come_sorted_and_by_metric(store: Store) -> None:
    for segment in ("stable", "beta"):
        for window in (FIRST + 2, FIRST):
            store.write(stored(minutes(), 1, window=window, segment=segment, start=len(segment)))
    store.write(stored(late(), 1))
    found = [(cell.key.window, cell.segment) for cell in store.cells("editor.minutes")]
    assert found == [(w, s) for w in (FIRST, FIRST + 2) for s in ("beta", "stable")]
    assert [cell.key.metric for cell in store.cells()] == ["editor.minutes"] * 4 + ["flight.late"]
    assert store.cells("no.such") == []


@pytest.mark.parametrize("id_", [0, 1, 2**63 - 1, -(2**63), -1])
def test_ids_are_kept_to_the_last_bit(store: Store, id_: int) -> None:
    report = Report(key(late()), id_, "", "80")
    assert store.write([report]) == ["accepted"]
    assert store.write([report, report._replace(payload="00")]) == ["duplicate", "conflict"]
    assert store.reports(key(late())) == [report]


def test_order_of_arrival_is_not_kept(store: Store) -> None:
    reports = stored(late(), 50, ones=9)
    store.write(reports[25:][::-1])
    store.write(reports[:25][::-1])
    assert store.reports(key(late())) == reports


def test_same_id_elsewhere_is_another_report(store: Store) -> None:
    store.accept(lock(late(version=2, epsilon=0.5)))
    others = [stored(m, 1, window=w)[0] for m in (late(), late(version=2, epsilon=0.5)) for w in (FIRST, FIRST + 1)]
    others += stored(minutes(), 1, segment="beta")
    assert store.write(others) == ["accepted"] * 5


@pytest.mark.parametrize("apart", [True, False], ids=["two writes", "one write"])
def test_duplicates_and_conflicts_change_nothing(store: Store, apart: bool) -> None:
    first = Report(key(minutes()), 7, "stable", "80")
    others = [first, first._replace(payload="00"), first._replace(segment="beta"), first]
    outcomes = store.write([first]) + store.write(others) if apart else store.write([first, *others])
    assert outcomes == ["accepted", "duplicate", "conflict", "conflict", "duplicate"]
    assert counts(store) == {(key(minutes()), "stable"): (1, 1, 0, 0)}
    assert store.reports(key(minutes())) == [first]
    assert store.counters() == {"accepted": 1, "duplicate": 2, "conflict": 2}


def test_duplicates_are_told_from_what_came_with_them(store: Store) -> None:
    old, new = stored(late(), 300, ones=150), stored(late(), 300, ones=100, start=300)
    store.write(old)
    mixed = [report for pair in zip(new, old, strict=True) for report in pair]
    mixed[1] = mixed[1]._replace(payload="00")  # it was a one
    assert store.write(mixed) == ["accepted", "conflict"] + ["accepted", "duplicate"] * 299
    assert counts(store) == {(key(late()), ""): (600, 250, 600, 250)}
    assert check(store) == []


def test_the_stored_report_decides_not_the_first_of_its_group(store: Store) -> None:
    held = stored(late(), 1, ones=1)[0]
    store.write([held])
    assert store.write([held._replace(payload="00"), held]) == ["conflict", "duplicate"]


def test_shown_summary_moves_in_full_steps(store: Store) -> None:
    reports = stored(late(), 350, ones=180)
    seen = []
    for start, stop in ((0, 99), (99, 100), (100, 199), (199, 350)):
        store.write(reports[start:stop])
        seen.append(counts(store)[key(late()), ""])
    assert seen == [(99, 99, 0, 0), (100, 100, 100, 100), (199, 180, 100, 100), (350, 180, 300, 180)]


def test_shown_summary_is_of_the_first_to_come(store: Store) -> None:
    reports = stored(late(), 130, ones=30)
    store.write(reports[::-1])
    assert counts(store) == {(key(late()), ""): (130, 30, 100, 0)}


def test_a_write_is_kept_whole_or_not_at_all(store: Store) -> None:
    strangers = [
        Report(WindowKey("no.such", "0" * 32, FIRST), 1, "", "80"),
        Report(WindowKey("flight.late", "0" * 32, FIRST), 1, "", "80"),
        *stored(late(), 1, window=FIRST - 1),
        *stored(late(), 1, window=LAST + 1),
    ]
    for stranger in strangers:
        with pytest.raises(
            ParameterError, match=r"report\.key must be a window of a metric that the store has accepted"
        ):
            store.write([*stored(late(), 3), stranger], {"too_late": 1})
        assert (store.windows(), store.cells(), store.counters()) == ([], [], {})
    assert store.write(stored(late(), 3)) == ["accepted"] * 3


def test_an_empty_write_counts_what_happened_elsewhere(store: Store) -> None:
    assert store.write([]) == []
    assert store.write([], {"too_late": 2, "conflict": 1}) == []
    store.write(stored(late(), 1) * 2, {"too_late": 1})
    assert store.counters() == {"accepted": 1, "conflict": 1, "duplicate": 1, "too_late": 3}


def test_every_entry_ever_accepted_is_kept(opens: Open) -> None:
    versions = [late(), late(version=2, purpose="Another text"), late(version=3, epsilon=0.5), minutes()]
    with opens() as store:
        for metric in (*versions, versions[0]):
            store.accept(lock(metric))
    with opens() as store:
        assert [(entry.collection, entry.metric) for entry in store.locks()] == [("editor", m) for m in versions]


@pytest.mark.parametrize(
    ("other", "message"),
    [
        (lock(late(epsilon=0.5)), r"metrics\.\"flight\.late\"\.version: 1 is known with another encoding"),
        (lock(late(version=2), collection="viewer"), r"known as a metric of the collection 'editor', here of 'viewer'"),
    ],
    ids=["same version, other encoding", "other collection"],
)
def test_a_lock_that_does_not_fit_is_refused_whole(opens: Open, other: Lock, message: str) -> None:
    with opens() as store:
        store.accept(lock(late()))
        with pytest.raises(LockError, match=message):
            store.accept(lock(minutes(), *other.metrics.values(), collection=other.collection))
        assert [entry.metric for entry in store.locks()] == [late()]
        with pytest.raises(ParameterError):
            store.write(stored(minutes(), 1, segment="beta"))


def test_a_renewed_metric_goes_on_with_the_same_encoding(store: Store) -> None:
    renewed = late(version=2, starts=EXPIRES, expires="2027-02-01")
    assert renewed.hash == late().hash
    with pytest.raises(ParameterError):
        store.write(stored(late(), 1, window=LAST + 1))
    store.accept(lock(renewed))
    assert store.write(stored(late(), 1, window=LAST) + stored(late(), 1, window=LAST + 1)) == ["accepted"] * 2
