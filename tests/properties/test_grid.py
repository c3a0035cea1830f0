"""A number gets the same tick on a device and in bulk, to the last bit, and its truth is never far from it."""

import math

from hypothesis import example, given, settings
from hypothesis import strategies as st

from hubbub.client.values import KINDS
from hubbub.encoders.base import SCALE
from hubbub.encoders.one_bit_mean import OneBitMean
from hubbub.lock import MAX_INTEGER, MILLION
from hubbub.mechanisms import of_metric
from tests.unit.sample_lock import metric

LOW = 511_972_653
grids = st.tuples(
    st.integers(-(10**9), 10**9) | st.integers(-MAX_INTEGER, MAX_INTEGER),
    st.sampled_from((1, 7, 1000, 333_333, MILLION, 60 * MILLION)) | st.integers(1, MAX_INTEGER),
    st.sampled_from((1, 2, 480, 86_400)) | st.integers(1, SCALE - 1),
)
places = st.floats(-0.1, 1.1) | st.sampled_from((0.0, 0.5, 1.0))


@settings(max_examples=400)
@given(grids, places, st.integers(-3, 3), st.floats(-1e300, 1e300))
@example((MAX_INTEGER, 1, 12), 1.0, 0, 0.0)  # doubles are coarser than a step here
@example((-2_000_000, 500_000, 480), 0.5, 0, -1.75)
def test_a_device_and_bulk_agree(grid: tuple[int, int, int], place: float, nudge: int, anywhere: float) -> None:
    lower, step, ticks = grid
    one = metric(OneBitMean(ticks, ticks, LOW, SCALE - 2 * LOW, 0, 0), lower=lower, step=step)
    bulk, device = of_metric(one), KINDS["mean"].index(one)
    inside = lower / MILLION + place * ticks * (step / MILLION)
    half = lower / MILLION + (math.floor(place * ticks) + 0.5) * (step / MILLION)
    values = [inside, half, *bulk.bounds, anywhere]
    for _ in range(abs(nudge)):
        values = [math.nextafter(value, math.copysign(math.inf, nudge)) for value in values]
    assert bulk.index(values).tolist() == [device(value) for value in values]
    for value, tick in zip(values, bulk.index(values).tolist(), strict=True):
        assert 0 <= tick <= ticks
        clipped = min(max(value, bulk.bounds[0]), bulk.bounds[1])
        slack = 1e-9 * max(1.0, abs(lower), ticks * step) / MILLION
        assert abs(float(bulk.truth(tick)) - clipped) <= step / MILLION / 2 + slack
