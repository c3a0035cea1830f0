"""Many people, a block at a time."""

import tracemalloc
from typing import Any

import numpy as np
import pytest

from hubbub.errors import ParameterError, PrivateValueError
from hubbub.mechanisms.base import collect
from hubbub.mechanisms.grr import Grr
from hubbub.mechanisms.oue import Oue
from hubbub.mechanisms.subset_selection import SubsetSelection
from hubbub.testing import GeneratorWords, ReplayWords


def words(seed: int = 1) -> GeneratorWords:
    return GeneratorWords(np.random.default_rng(seed))


@pytest.mark.parametrize("cls", [Grr, Oue, SubsetSelection])
@pytest.mark.parametrize("block", [1, 7, 100, 1000, None])
def test_blocks_give_what_one_call_gives(cls: Any, block: int | None) -> None:
    mechanism = cls.from_epsilon(1, categories=8)
    values = np.arange(100, dtype=np.int64) % 8
    once, blocks = words(), words()
    whole = mechanism.summarise(mechanism.randomise(values, once))
    assert collect(mechanism, values, blocks, block) == whole
    assert blocks.used == once.used


def test_a_refused_word_is_drawn_again_behind_its_block() -> None:
    mechanism = Grr.from_epsilon(1, categories=4)
    lies = 2**32 - 1
    tape = ReplayWords([lies, lies, 1, lies, 2])  # the first person's other one: refused, then 1
    assert collect(mechanism, np.array([0, 0]), tape, 1).counts.tolist() == [0, 0, 1, 1]
    assert tape.used == 5


def test_nobody() -> None:
    none = collect(Oue.from_epsilon(1, categories=3), np.zeros(0, np.int64), ReplayWords([]))
    assert (none.n, none.counts.tolist()) == (0, [0, 0, 0])


def test_a_bad_value_is_named_by_its_place_among_all() -> None:
    tape = ReplayWords([])
    with pytest.raises(PrivateValueError, match=r"^values\[3\] must be in \[0, 3\)$"):
        collect(Oue.from_epsilon(1, categories=3), np.array([0, 1, 2, 3]), tape, 2)
    assert tape.used == 0


@pytest.mark.parametrize("block", [0, -1, 1.5, True])
def test_a_bad_block_is_named(block: Any) -> None:
    with pytest.raises(ParameterError, match=r"^block must be an integer >= 1; got"):
        collect(Oue.from_epsilon(1, categories=3), np.zeros(2, np.int64), words(), block)


@pytest.mark.parametrize("cls", [Oue, SubsetSelection])
def test_memory_does_not_grow_with_people(cls: Any) -> None:
    mechanism, peaks = cls.from_epsilon(3, categories=1024), []
    for people in (2000, 8000):
        values = np.arange(people, dtype=np.int64) % 1024
        tracemalloc.start()
        collect(mechanism, values, words(), 500)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.1 * peaks[0] + 100_000
