"""Several windows: their mean and differences, and the claim about permanent noise that differences rest on."""

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import product

import msgspec
import pytest

from hubbub.encoders.base import SCALE, Encoder, Words
from hubbub.encoders.one_bit_mean import OneBitMean
from hubbub.encoders.randomized_response import RandomizedResponse
from hubbub.errors import ParameterError
from hubbub.estimates import Period, Row, difference, mean_of

Z = 1.959963984540054


def row(day: int = 1, **changes: object) -> Row:
    whole = Row(
        metric="editor.minutes",
        version=1,
        hash="0" * 32,
        window_start=f"2026-12-{day:02}T00:00:00Z",
        window_end=f"2026-12-{day + 1:02}T00:00:00Z",
        segment="",
        category=None,
        state="final",
        n=1000,
        n_effective=1000,
        value=200.0,
        se=5.0,
        se_shared=3.0,
        ci_low=190.0,
        ci_high=210.0,
        level=0.95,
        method="wilson",
        tidied=200.0,
        epsilon=1.0,
        permanent_epsilon=2.0,
        manipulation_per_percent=10.0,
    )
    return msgspec.structs.replace(whole, **changes)


def test_a_single_window_is_itself() -> None:
    assert mean_of([row()]) == Period(
        metric="editor.minutes",
        hash="0" * 32,
        segment="",
        category=None,
        windows=1,
        n=1000,
        value=200.0,
        se=5.0,
        ci_low=200 - Z * 5,
        ci_high=200 + Z * 5,
        level=0.95,
    )


def test_what_windows_share_does_not_average_out() -> None:
    period = mean_of(
        [row(1, value=190.0), row(2, value=200.0, se=math.sqrt(13), se_shared=2.0, n=500), row(3, value=225.0)]
    )
    assert (period.windows, period.n) == (3, 2500)
    assert period.value == pytest.approx(205)
    assert period.se == pytest.approx(math.sqrt(16 + 9 + 16 + (3 + 2 + 3) ** 2) / 3)
    assert (period.ci_low, period.ci_high) == pytest.approx((205 - Z * period.se, 205 + Z * period.se))


def test_weights_are_equal_whatever_n_is() -> None:
    assert mean_of([row(1, value=0.0, n=10**6), row(2, value=100.0, n=100)]).value == 50


def test_many_windows_end_at_what_they_share() -> None:
    assert mean_of([row(day) for day in range(1, 29)]).se == pytest.approx(math.sqrt(9 + 16 / 28))
    assert mean_of([row(day, se_shared=0.0) for day in range(1, 29)]).se == pytest.approx(5 / math.sqrt(28))


def test_a_shared_part_above_the_whole_does_not_pay_back() -> None:
    assert mean_of([row(1, se=2.9), row(2, se=2.9)]).se == 3


def test_reports_that_are_all_alike_are_not_certainty() -> None:
    period = mean_of([row(1, se=0.0, se_shared=0.0, ci_low=190.0, ci_high=200.0), row(2, se=0.0, se_shared=0.0)])
    assert period.se == pytest.approx(math.hypot(5 / Z, 10 / Z) / 2)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"metric": "other"}, r"rows\.metric must be 'editor\.minutes', as in the first; got 'other'"),
        ({"hash": "1" * 32}, r"rows\.hash must be"),
        ({"segment": "beta"}, r"rows\.segment must be '', as in the first; got 'beta'"),
        ({"category": "red"}, r"rows\.category must be None, as in the first; got 'red'"),
        ({"level": 0.9}, r"rows\.level must be 0\.95, as in the first; got 0\.9"),
        (
            {"window_start": "2026-12-01T00:00:00Z"},
            r"rows must be rows of different windows; got '2026-12-01T00:00:00Z'",
        ),
        (
            {"value": None, "se": None, "se_shared": None, "state": "suppressed"},
            r"rows must be rows that have a value; got '2026-12-02T00:00:00Z, suppressed'",
        ),
    ],
)
def test_rows_that_do_not_belong_together(changes: dict[str, object], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        mean_of([row(1), row(2, **changes)])


def test_no_rows() -> None:
    with pytest.raises(ParameterError, match="rows must be at least one row"):
        mean_of([])


def test_versions_with_one_encoding_go_together() -> None:
    assert mean_of([row(1), row(2, version=2)]).windows == 2


def test_difference_of_periods() -> None:
    before, after = mean_of([row(1), row(2)]), mean_of([row(3, value=230.0), row(4, value=210.0), row(5, value=220.0)])
    se = math.hypot(math.sqrt(16 * 2 + 36) / 2, math.sqrt(16 * 3 + 81) / 3)
    found = difference(after, before)
    assert (found.metric, found.hash, found.category, found.level) == ("editor.minutes", "0" * 32, None, 0.95)
    figures = found.value, found.se, found.ci_low, found.ci_high
    assert figures == pytest.approx((20, se, 20 - Z * se, 20 + Z * se))
    assert difference(before, after).value == pytest.approx(-20)


def test_difference_of_segments() -> None:
    a, b = mean_of([row(segment="stable")]), mean_of([row(segment="beta", value=150.0)])
    assert difference(a, b).value == 50


@pytest.mark.parametrize("field", ["metric", "hash", "category", "level"])
def test_periods_that_do_not_belong_together(field: str) -> None:
    other = msgspec.structs.replace(mean_of([row()]), **{field: 0.5 if field == "level" else "x"})
    with pytest.raises(ParameterError, match=rf"periods\.{field} must be .*, as in the first"):
        difference(mean_of([row()]), other)


class Recorder:
    """A device's permanent words with a given alpha; notes which permanent bit was asked for."""

    def __init__(self, alpha: int) -> None:
        self.alpha = alpha
        self.entry = -1

    def __call__(self, purpose: str, *key: int) -> Words:
        if purpose == "memo":
            (self.entry,) = key
        return self._words

    def _words(self, count: int) -> Sequence[int]:
        return [self.alpha] * count


def entry(encoder: Encoder, value: int, alpha: int) -> int:
    """Which permanent bit the encoder answers with."""
    recorder = Recorder(alpha)
    encoder.permanent(value, recorder)
    return recorder.entry


def small_encoders() -> Iterator[tuple[Encoder, int, dict[int, Fraction]]]:
    """Encoders, the number of their alphas, and the chance of a 1 of each permanent bit."""
    for low in (1, SCALE // 9, SCALE // 2 - 1000):
        response = RandomizedResponse(low, 1000, 1)
        yield response, 1, {0: Fraction(low, SCALE), 1: 1 - Fraction(low, SCALE)}
        for ticks, bucket in ((6, 1), (6, 2), (6, 6), (7, 3), (9, 4)):
            top = -(-ticks // bucket)
            rise = (SCALE - 2 * low) // top // 2 * 2
            mean = OneBitMean(ticks, bucket, (SCALE - rise * top) // 2, rise, 1000, 1)
            yield mean, bucket, {k: Fraction(mean.low + k * rise, SCALE) for k in range(top + 1)}


def test_permanent_noise_of_two_windows_is_never_negatively_correlated() -> None:
    """Exact: the covariance of one device's permanent bits for any two values is at least 0."""
    pairs = 0
    for encoder, alphas, chance in small_encoders():
        for first, second in product(range(encoder.size), repeat=2):
            both = one = other = Fraction(0)
            for alpha in range(alphas):
                j, k = entry(encoder, first, alpha), entry(encoder, second, alpha)
                both += chance[j] if j == k else chance[j] * chance[k]
                one += chance[j]
                other += chance[k]
            assert both / alphas >= one / alphas * other / alphas
            pairs += 1
    assert pairs > 500
