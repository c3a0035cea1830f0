"""Windows cut time without gap or overlap."""

import math

from hypothesis import example, given
from hypothesis import strategies as st

from hubbub.windows import NAMES, windows

names = st.sampled_from(NAMES)
moments = st.floats(1, 1e11) | st.floats(
    -1e11, -1
)  # any second but the one about the epoch, where doubles get too fine


@given(names, moments)
@example("week", math.nextafter(345_600, 0))
@example("hour", math.nextafter(1_796_083_200, 0))
def test_every_moment_lies_in_its_window(name: str, now: float) -> None:
    cut = windows(name)
    window = cut.index(now)
    assert cut.start(window) <= now < cut.end(window)


@given(names, st.integers(-(10**6), 10**6))
def test_the_last_moment_before_a_start_is_outside(name: str, window: int) -> None:
    cut = windows(name)
    start = float(cut.start(window))
    assert cut.index(start) == window
    if start:
        assert cut.index(math.nextafter(start, -math.inf)) == window - 1


@given(names, st.integers(-(10**10), 10**10), st.integers(-(10**6), 2 * 10**6))
def test_inside_is_all_whole_windows(name: str, starts: int, length: int) -> None:
    cut = windows(name)
    expires = starts + length
    near = range(cut.index(min(starts, expires)) - 1, cut.index(max(starts, expires)) + 2)
    whole = [window for window in near if starts <= cut.start(window) and cut.end(window) <= expires]
    assert list(cut.inside(starts, expires)) == whole
