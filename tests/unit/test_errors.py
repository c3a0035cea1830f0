"""Errors say what they promise, also on the other side of a process."""

import pickle

import pytest

from hubbub.errors import HubbubError, LockError, ParameterError


@pytest.mark.parametrize("error", [ParameterError("epsilon", -1, "> 0"), LockError("a.hash", "is wrong", "build it")])
def test_errors_cross_processes(error: HubbubError) -> None:
    copy = pickle.loads(pickle.dumps(error))
    assert type(copy) is type(error)
    assert (str(copy), vars(copy)) == (str(error), vars(error))
