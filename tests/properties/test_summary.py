"""Summaries are a commutative monoid, and so are their bytes."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from hubbub.summary import Summary

SHAPE = (3,)
NONE = Summary(0, np.zeros(SHAPE, np.int64))
summaries = st.builds(
    lambda n, counts: Summary(n, np.array(counts, np.int64)),
    st.integers(0, 2**40),
    st.lists(st.integers(-(2**40), 2**40), min_size=3, max_size=3),
)


@given(summaries, summaries, summaries)
def test_addition(a: Summary, b: Summary, c: Summary) -> None:
    assert (a + b) + c == a + (b + c)
    assert a + b == b + a
    assert a + NONE == a == NONE + a
    assert sum((b, c), a) == a + b + c


@given(summaries, summaries)
def test_bytes(a: Summary, b: Summary) -> None:
    back = [Summary.from_bytes(one.n, one.to_bytes(), SHAPE) for one in (a, b)]
    assert back[0] + back[1] == a + b
    assert (a.to_bytes() == b.to_bytes()) == np.array_equal(a.counts, b.counts)
