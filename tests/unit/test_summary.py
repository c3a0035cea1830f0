"""Summaries: they add, and travel as bytes."""

import numpy as np
import pytest

from hubbub.errors import ParameterError
from hubbub.summary import Summary


def test_they_add() -> None:
    one, other = Summary(3, np.array([1, 2])), Summary(4, np.array([0, 4]))
    assert one + other == Summary(7, np.array([1, 6]))
    assert one == Summary(3, np.array([1, 2]))
    assert one != other
    assert one != Summary(4, np.array([1, 2]))
    assert one != "a summary"


def test_adding_changes_neither() -> None:
    counts = np.array(5)
    one = Summary(9, counts)
    assert (one + one).counts == 10
    assert counts == 5


@pytest.mark.parametrize("shape", [(2,), (1,), (3, 1)])
def test_other_shapes_are_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(ParameterError, match=r"counts.shape must be \(\), as in the other summary"):
        Summary(1, np.array(1)) + Summary(1, np.zeros(shape, np.dtype(np.int64)))


def test_bytes_are_the_same_on_every_machine() -> None:
    assert Summary(9, np.array(258)).to_bytes() == b"\x02\x01" + bytes(6)
    assert Summary(9, np.array([1, -2], ">i4")).to_bytes() == b"\x01" + bytes(7) + b"\xfe" + b"\xff" * 7


@pytest.mark.parametrize("shape", [(), (1,), (5,), (2, 3), (0,)])
def test_bytes_bring_it_back(shape: tuple[int, ...]) -> None:
    counts = np.arange(int(np.prod(shape)), dtype=np.int64).reshape(shape) - 2**40
    back = Summary.from_bytes(7, Summary(7, counts).to_bytes(), shape)
    assert back == Summary(7, counts)
    assert (back.counts.shape, back.counts.dtype) == (shape, np.dtype(np.int64))
    back.counts[...] = 0  # a copy that may be written to


@pytest.mark.parametrize(("length", "shape"), [(0, ()), (7, ()), (9, ()), (16, ()), (8, (2,)), (24, (2,)), (8, (0,))])
def test_other_lengths_are_refused(length: int, shape: tuple[int, ...]) -> None:
    with pytest.raises(ParameterError, match=f"counts must be {8 * int(np.prod(shape))} bytes; got '{length} bytes'"):
        Summary.from_bytes(1, bytes(length), shape)


def test_it_is_no_key() -> None:
    with pytest.raises(TypeError):
        hash(Summary(1, np.array(1)))
