"""Sets of many people at once are those that Floyd's method draws word by word, with numba and without."""

import sys

import numpy as np
import pytest
from numpy.typing import NDArray

from hubbub.encoders.base import SCALE
from hubbub.encoders.subset_selection import SubsetSelection as Device
from hubbub.mechanisms import subset_selection
from hubbub.mechanisms.base import at_once
from hubbub.mechanisms.floyd import Floyd
from hubbub.mechanisms.subset_loop import compiled, fill
from hubbub.mechanisms.subset_selection import SubsetSelection
from hubbub.testing import Case, GeneratorWords, ReplayWords, cases
from hubbub.testing.mechanisms.bulk import check_bulk_equals_device, check_words_do_not_depend_on_values
from hubbub.testing.mechanisms.forms import check_batches_and_merges, check_refusals

LOOP = compiled()
CHECKED = (check_bulk_equals_device, check_words_do_not_depend_on_values, check_batches_and_merges, check_refusals)


def one_by_one(numbers: int, drawn: int, words: list[int]) -> list[int]:
    """What a device draws, in order."""
    found: list[int] = []
    for top, word in zip(range(numbers - drawn, numbers), words, strict=True):
        number = word % (top + 1)
        found.append(top if number in found else number)
    return found


@pytest.mark.parametrize(
    ("numbers", "drawn", "width"), [(1, 1, 2), (2, 2, 2), (5, 1, 6), (5, 5, 5), (7, 3, 9), (40, 39, 40), (300, 80, 301)]
)
def test_sets_are_those_of_devices(numbers: int, drawn: int, width: int) -> None:
    rng, people = np.random.default_rng([numbers, drawn]), 200
    words = rng.integers(0, 2**32, (people, drawn), dtype=np.uint32)
    words[:20] = 0  # everything drawn before
    words[20:120] = rng.integers(0, max(2, drawn // 2), (100, drawn))  # much of it, and tops of what was
    words[120:150] = numbers - drawn + rng.integers(0, drawn, (30, drawn))
    floyd = Floyd.of(numbers, drawn, width, people + 3)
    for first, last in ((0, people), (5, 6), (0, 0)):
        sets, at = floyd.sets(words[first:last])
        assert sets.shape == (last - first, width)
        assert at.shape == (last - first, drawn)
        for i, row in enumerate(words[first:last].tolist()):
            expected = one_by_one(numbers, drawn, row)
            assert (at[i] - i * width).tolist() == expected
            assert np.flatnonzero(sets[i]).tolist() == sorted(expected)


def sent(device: Device, value: int, row: NDArray[np.uint32]) -> tuple[int, ...]:
    """What a device with these words sends, all of which it uses."""
    tape = ReplayWords(row)
    report = device.report((value,), lambda count: tape.words(count).tolist())
    assert tape.used == len(row)
    return report


def none() -> None:
    """What `compiled` returns without numba."""


def unwanted() -> None:
    pytest.fail("compiled for a few people")


def test_numba_is_among_the_locked_packages() -> None:
    assert LOOP is not None


@pytest.mark.parametrize(("size", "omega"), [(2, 1), (3, 2), (5, 1), (7, 3), (40, 39), (300, 80)])
def test_the_loop_draws_what_devices_do(size: int, omega: int) -> None:
    rng, people, device = np.random.default_rng([size, omega]), 120, Device(size, omega, SCALE * omega // size + 1)
    words = rng.integers(0, SCALE - 2 * size, (people, omega + 2), dtype=np.uint32)  # no bound refuses them
    words[:10] = 0  # everything drawn before
    words[10:60, 1:] = rng.integers(0, max(2, omega // 2), (50, omega + 1))  # much of it, and tops of what was
    words[60:63, 0] = device.keep - 1, device.keep, device.keep + 1
    values = rng.integers(0, size, people)
    values[:2] = 0, size - 1
    expected = [list(sent(device, value, row)) for value, row in zip(values.tolist(), words, strict=True)]
    for loop in (fill, LOOP):
        assert loop is not None
        sets = np.full((people, size), 7, np.uint8)
        loop(words, values, device.keep, omega, sets)
        assert sets.tolist() == expected


@pytest.mark.parametrize(("epsilon", "k"), [(1, 2), (0.01, 7), (1, 128), (4, 1024), (1, 5000)])
def test_reports_are_the_same_without_numba(monkeypatch: pytest.MonkeyPatch, epsilon: float, k: int) -> None:
    mechanism = SubsetSelection.from_epsilon(epsilon, categories=k)
    people = at_once(mechanism.encoder)
    rng = np.random.default_rng(k)
    values = rng.integers(0, k, people)[::-1]  # not one after another in memory
    values.flags.writeable = False
    with_numba = mechanism.randomise(values, source := GeneratorWords(np.random.default_rng(1)))
    monkeypatch.setattr(subset_selection, "compiled", none)
    without = mechanism.randomise(values, other := GeneratorWords(np.random.default_rng(1)))
    assert with_numba.dtype == without.dtype
    assert with_numba.tobytes() == without.tobytes()
    assert source.used == other.used


def test_few_people_do_not_wait_for_numba(monkeypatch: pytest.MonkeyPatch) -> None:
    mechanism = SubsetSelection.from_epsilon(1, categories=1024)
    values, source = np.zeros(at_once(mechanism.encoder), np.int64), GeneratorWords(np.random.default_rng(1))
    monkeypatch.setattr(subset_selection, "compiled", unwanted)
    mechanism.randomise(values[1:], source)
    with pytest.raises(pytest.fail.Exception):
        mechanism.randomise(values, source)


def test_numba_may_be_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "numba", None)
    assert compiled.__wrapped__() is None


@pytest.mark.parametrize("case", list(cases(SubsetSelection)), ids=str)
def test_reports_with_numba_pass_the_suite(monkeypatch: pytest.MonkeyPatch, case: Case) -> None:
    monkeypatch.setattr(subset_selection, "at_once", lambda _: 0)  # which calls of the suite are too small for
    for check in CHECKED:
        check(case)
