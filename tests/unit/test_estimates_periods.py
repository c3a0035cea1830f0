"""Several windows: their mean and differences, and the claim about permanent noise that differences rest on."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import product
from pathlib import Path

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hubbub.encoders.base import SCALE, Encoder, Words
from hubbub.encoders.one_bit_mean import OneBitMean
from hubbub.encoders.randomized_response import RandomizedResponse
from hubbub.errors import ParameterError
from hubbub.estimates import Period, difference, period, rows
from hubbub.estimates.combining import apart, combine
from hubbub.lock import Metric
from hubbub.mechanisms import of_metric
from hubbub.mechanisms.intervals import FEW, binomial
from hubbub.store import Store, open_store
from hubbub.summary import Summary
from tests.unit.collecting import DAY, FIRST, GRACE, end, late, lock, minutes, stored

Z = 1.959963984540054
CLOSED = end(FIRST + 40) + GRACE
WITHHELD = ("value", "se", "se_opposed", "ci_low", "ci_high", "method", "tidied")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(tmp_path / "store.db") as store:
        yield store


def days(store: Store, counts: Sequence[tuple[int, int]], *, segment: str = "stable", **changes: object) -> None:
    """Days with (reports, ones) each, from the first on."""
    metric = replace(minutes(), expires="2027-06-01", **changes)  # type: ignore[arg-type]
    store.accept(lock(metric))
    for day, (n, ones) in enumerate(counts):
        store.write(stored(metric, n, ones=ones, window=FIRST + day, segment=segment, start=len(segment) * 10**6))


def week(store: Store, now: float = CLOSED, **asked: object) -> Period:
    given: dict[str, object] = {
        "metric": "editor.minutes",
        "segment": "stable",
        "start": FIRST * DAY,
        "end": (FIRST + 7) * DAY,
    }
    return period(store, now=now, **(given | asked))  # type: ignore[arg-type]


def test_a_single_window_is_its_row(store: Store) -> None:
    for n, ones in ((300, 120), (4000, 1800)):
        days(store, [(n, ones)])
        (row,) = rows(store, now=CLOSED, segment="stable", end=end(FIRST))
        found = week(store, end=end(FIRST))
        for field in Period.__struct_fields__:
            if field not in ("windows", "left_out", "se_opposed"):
                assert getattr(found, field) == getattr(row, field), field
        assert (found.windows, found.left_out) == (1, 0)


def test_mean_of_a_week(store: Store) -> None:
    counts = [(1000, 400 + 10 * day) for day in range(7)]
    days(store, counts)
    found = week(store)
    mechanism = of_metric(minutes())
    estimates = [mechanism.estimate(Summary(n, np.array(ones))) for n, ones in counts]
    assert (found.state, found.windows, found.left_out, found.n, found.n_effective) == ("final", 7, 0, 7000, 1000)
    assert (found.window_start, found.window_end) == ("2026-12-01T00:00:00Z", "2026-12-08T00:00:00Z")
    assert found.value == found.tidied == pytest.approx(np.mean([e.value for e in estimates]))
    # The formula of the specification, which takes each window at its own estimate; here they are nearly alike.
    own = sum(float(e.se) ** 2 - float(e.se_shared) ** 2 for e in estimates)
    bound = math.sqrt(own + sum(float(e.se_shared) for e in estimates) ** 2) / 7
    assert found.se == pytest.approx(bound, rel=3e-3)
    assert found.ci_high - found.ci_low == pytest.approx(2 * Z * bound, rel=0.01)  # type: ignore[operator]
    assert found.method == "wilson"
    assert (found.epsilon, found.permanent_epsilon) == (1.0, 2.0)


def test_weights_are_equal_whatever_n_is(store: Store) -> None:
    days(store, [(40_000, 20_000), (200, 60)])
    values = [row.value for row in rows(store, now=CLOSED, segment="stable", end=end(FIRST + 1))]
    assert week(store).value == pytest.approx(np.mean(values))  # type: ignore[arg-type]


def test_versions_with_one_encoding_go_together(store: Store) -> None:
    days(store, [(1000, 400)])
    days(store, [(0, 0), (1000, 500)], version=2)
    found = week(store)
    assert (found.windows, found.version) == (2, 2)
    assert week(store, version=2) == found


def test_versions_with_two_encodings_do_not(store: Store) -> None:
    days(store, [(1000, 400)])
    other = minutes(epsilon=2.0, version=2)
    store.accept(lock(other))
    store.write(stored(other, 500, ones=100, segment="stable"))
    with pytest.raises(ParameterError, match="version must be one of 1, 2, which are encoded differently; got None"):
        week(store)
    assert [week(store, version=version).n for version in (1, 2)] == [1000, 500]
    with pytest.raises(ParameterError, match="version must be one of 1, 2; got 3"):
        week(store, version=3)


@pytest.mark.parametrize(
    "asked", [{"metric": "no.such"}, {"segment": "gamma"}, {"level": 1}, {"start": CLOSED, "end": FIRST}]
)
def test_what_there_is_not(store: Store, asked: dict[str, object]) -> None:
    days(store, [(1000, 400)])
    (name,) = asked.keys() - {"end"}
    with pytest.raises(ParameterError, match=f"{name} must be"):
        week(store, **asked)  # type: ignore[arg-type]


def test_no_windows(store: Store) -> None:
    days(store, [(1000, 400)])
    with pytest.raises(ParameterError, match="metric must be a metric with windows that have ended, from start to end"):
        week(store, start=None, end=FIRST * DAY)
    with pytest.raises(ParameterError, match="windows that have ended"):
        week(store, now=end(FIRST) - 1)


def test_a_segment_must_be_named_where_there_are_several(store: Store) -> None:
    days(store, [(1000, 400)])
    with pytest.raises(ParameterError, match="segment must be one of 'beta', 'stable'; got None"):
        week(store, segment=None)
    fresh = late()
    store.accept(lock(fresh))
    store.write(stored(fresh, 1000, ones=400))
    assert week(store, metric="flight.late", segment=None, end=end(FIRST)).n == 1000


@pytest.mark.parametrize(
    ("counts", "now", "state", "known"),
    [
        ([(1000, 400), (1000, 400)], end(FIRST + 1) + GRACE, "final", (2, 0, 2000)),
        ([(1000, 400), (1000, 400)], end(FIRST + 1) + GRACE - 1, "provisional", (2, 0, 2000)),
        ([(150, 60), (150, 60)], end(FIRST + 1), "provisional", (2, 0, 200)),
        ([(150, 60), (99, 60)], end(FIRST + 1), "provisional", (1, 1, 100)),
        ([(50, 20), (60, 20)], end(FIRST + 1), "open", (0, 2, 0)),
        ([(50, 20), (60, 20)], end(FIRST + 1) + GRACE, "suppressed", (2, 0, 110)),
        ([(150, 60), (0, 0), (150, 60)], end(FIRST + 2) + GRACE, "final", (2, 1, 300)),
        ([(150, 60), (40, 20)], end(FIRST + 1) + GRACE, "suppressed", (2, 0, 190)),
    ],
)
def test_states(
    store: Store, counts: list[tuple[int, int]], now: float, state: str, known: tuple[int, int, int]
) -> None:
    days(store, counts, min_reports=100)
    found = week(store, now, end=end(FIRST + len(counts) - 1))
    assert (found.state, found.windows, found.left_out, found.n) == (state, *known)
    withheld = [name for name in WITHHELD if getattr(found, name) is None]
    assert withheld == (list(WITHHELD) if state in ("open", "suppressed") else [])


def test_an_interval_wider_than_the_range_says_nothing(store: Store) -> None:
    days(store, [(8, 4), (8, 4)], min_reports=5)
    assert week(store).state == "too_uncertain"


def test_empty(store: Store) -> None:
    days(store, [(1000, 400)])
    found = week(store, start=(FIRST + 2) * DAY)
    assert (found.state, found.windows, found.left_out, found.n) == ("empty", 0, 5, 0)


def test_polling_never_shows_a_single_report(store: Store) -> None:
    days(store, [(0, 0), (0, 0)])
    metric = replace(minutes(), expires="2027-06-01")
    seen: list[Period] = []
    for number in range(450):
        store.write(stored(metric, 1, ones=number % 3 == 0, window=FIRST + number % 2, segment="stable", start=number))
        found = week(store, end(FIRST + 1), end=end(FIRST + 1))
        if not seen or seen[-1] != found:
            seen.append(found)
    assert [found.n for found in seen] == [0, 100, 200, 300, 400]


# What `combine` makes of windows, in shares of permanent ones


@pytest.mark.parametrize("metric", [late(), minutes(), minutes(epsilon=3.0), late(epsilon=0.2)])
def test_what_is_drawn_afresh_is_the_same_at_every_truth(metric: Metric) -> None:
    """N (se² - se_shared²), which `combine` takes for a constant of the metric."""
    mechanism, n = of_metric(metric), 5000
    line = mechanism.line  # type: ignore[attr-defined]
    low, high = round(n * line.rate(line.lower)), round(n * line.rate(line.lower + line.span))
    for ones in np.linspace(low + 1, high - 1, 7).astype(int):
        one = mechanism.estimate(Summary(n, ones))
        flip = (1 - one.crowd.scale / one.per_one) / 2
        assert one.crowd.noise == pytest.approx(flip * (1 - flip) / (1 - 2 * flip) ** 2)
        assert float(one.se**2 - one.se_shared**2) == pytest.approx(one.per_one**2 * flip * (1 - flip) / n, rel=1e-9)
        kept = (float(one.value) - one.crowd.zero) / one.crowd.scale
        assert flip + (1 - 2 * flip) * kept == pytest.approx(ones / n)
    flips = metric.encoder.canonical()[-2:] if metric.kind == "mean" else (0, 0)
    assert flip == pytest.approx(flips[0] / SCALE if flips[1] else line.q)


def fresh(flip: float) -> float:
    """Variance that a bit adds which each report flips with this chance."""
    return flip * (1 - flip) / (1 - 2 * flip) ** 2


def test_what_windows_share_does_not_average_out() -> None:
    n, flip = np.full(28, 10_000), 0.2
    noise = flip * (1 - flip) / (1 - 2 * flip) ** 2 / 10_000
    for turns, shared in ((np.zeros(28), 0.25), (np.arange(28) % 7, 0.25 / 7), (np.arange(28), 0.25 / 28)):
        found = combine(np.full(28, 0.5), n, turns, noise=fresh(flip), level=0.95)
        assert found.se == pytest.approx(math.sqrt(noise / 28 + shared / 10_000))
        assert float(found.high - found.low) == pytest.approx(2 * Z * float(found.se), rel=1e-3)


def test_windows_of_different_size() -> None:
    n = np.array([100, 10_000, 400])
    found = combine([0.3, 0.5, 0.7], n, [0, 0, 0], noise=0.0, level=0.95)
    assert found.value == pytest.approx(0.5)
    tilted = (0.3 / 10 + 0.5 / 100 + 0.7 / 20) / 0.16  # few reports, much weight
    assert found.se == pytest.approx(math.sqrt(tilted * (1 - tilted)) * 0.16 / 3)
    together = sum(math.sqrt(k * (1 - k) / reports) for k, reports in zip((0.3, 0.5, 0.7), n, strict=True)) / 3
    assert together < found.se < 1.1 * together


@pytest.mark.parametrize("slope", [0.6, 0.0, -0.6])
@pytest.mark.parametrize("kept", [(0.1, 0.2, 0.15), (0.9, 0.85, 0.8)])
def test_each_end_is_as_far_out_as_the_errors_of_that_mean(kept: tuple[float, ...], slope: float) -> None:
    shares, n, turns = np.array(kept), np.array([5_000, 6_000, 50_000]), [0, 0, 1]
    found = combine(shares, n, turns, noise=0.7, slope=slope, level=0.95)
    lead = np.array([(5_000**-0.5 + 6_000**-0.5) * size**-0.5 for size in n[:2]] + [1 / 50_000])
    (pull, lean), (u, far) = (
        (shares @ part / part.sum(), 3 * part @ lead / (part.sum() * lead.sum())) for part in (lead, 1 / n)
    )
    value = shares.mean()

    def reach(mean: float) -> float:
        off = mean - value
        at, drawn = pull + lean * off, 0.7 + slope * (u + far * off)
        return Z * math.sqrt((1 / n).sum() / 9 * drawn + lead.sum() / 9 * at * (1 - at))

    assert found.method == "wilson"
    assert lean > 1.05
    assert reach(value) == pytest.approx(Z * float(found.se))
    for edge in map(float, (found.low, found.high)):
        assert abs(edge - value) == pytest.approx(max(reach(edge), reach(value)), rel=1e-9)


@given(st.lists(st.tuples(st.floats(0, 1), st.integers(1, 10**6), st.integers(0, 3)), min_size=1, max_size=30))
def test_no_error_that_windows_can_share_is_larger(windows: list[tuple[float, int, int]]) -> None:
    """All windows of a turn off the same way, each by its own standard error."""
    shares, reports, turns = map(np.array, zip(*windows, strict=True))
    found = combine(shares, reports, turns, noise=0.7, slope=-0.2, level=0.95)
    errors = np.sqrt(shares * (1 - shares) / reports)
    shared = sum(errors[turns == turn].sum() ** 2 for turn in range(4))
    drawn = ((0.7 - 0.2 * shares) / reports).sum()
    assert float(found.se) ** 2 * len(shares) ** 2 >= (shared + drawn) * (1 - 1e-9)


@pytest.mark.parametrize("flip", [0.0, 0.3])
@pytest.mark.parametrize("ones", [0, 3, 400, 800, 1997, 2000])
def test_windows_of_different_people_are_one_crowd(flip: float, ones: int) -> None:
    """Without noise, and otherwise where Wilson's interval is used, the interval is that of all reports together."""
    turns = np.arange(4)
    kept = (ones / 2000 - flip) / (1 - 2 * flip)
    found = combine(np.full(4, kept), np.full(4, 500), turns, noise=fresh(flip), level=0.95)
    low, high, method = binomial(np.array(ones), 2000, 0.95)
    ends = (np.array([low, high]) - flip) / (1 - 2 * flip)
    if method == "wilson" and found.method == "wilson":
        assert [float(found.low), float(found.high)] == pytest.approx(ends.tolist(), rel=1e-9)
    elif flip == 0.0:
        assert found.low <= ends[0] + 1e-9
        assert found.high >= ends[1] - 1e-9
        assert found.high - found.low < 1.1 * (ends[1] - ends[0])


def test_reports_that_are_all_alike_are_not_certainty() -> None:
    for kept in (0.0, 1.0):
        found = combine(np.full(7, kept), np.full(7, 200), np.zeros(7), noise=0.0, level=0.95)
        assert found.method == "clopper_pearson"
        assert found.se == 0
        assert found.high - found.low > 0.015


def test_noise_may_reach_beyond_the_range() -> None:
    """There nothing is left of what windows share, so the interval is that of the noise."""
    found = combine([0.6, 0.6], [10**6, 10**6], [0, 0], noise=fresh(0.4995), level=0.95)
    noise = 0.25 / 0.001**2 / 10**6 / 2
    assert found.method == "wilson"
    assert [float(found.low), float(found.high)] == pytest.approx(
        [0.6 - Z * math.sqrt(noise), 0.6 + Z * math.sqrt(noise)], rel=1e-5
    )


@pytest.mark.parametrize("kept", [-0.4, -0.05, 0.0, 0.02, 0.3, 0.5, 0.98, 1.0, 1.3])
@pytest.mark.parametrize("size", [20, 500, 10**6])
@pytest.mark.parametrize("level", [0.5, 0.95, 0.999])
def test_the_interval_mirrors_and_holds_the_estimate(kept: float, size: int, level: float) -> None:
    shape = {"reports": np.full(5, size), "turns": np.zeros(5), "noise": fresh(0.27), "level": level}
    one, other = combine(np.full(5, kept), **shape), combine(np.full(5, 1 - kept), **shape)  # type: ignore[arg-type]
    assert one.low < one.value < one.high
    assert 1 - float(other.high) == pytest.approx(float(one.low), abs=1e-12)
    assert 1 - float(other.low) == pytest.approx(float(one.high), abs=1e-12)
    held = min(max(kept, 0.0), 1.0)
    assert (one.method == "clopper_pearson") == (held * (1 - held) * size < FEW)


def test_many_fleets_at_once() -> None:
    kept = np.random.default_rng(1).uniform(0, 1, (50, 7))
    shape = {"reports": np.full(7, 900), "turns": np.zeros(7), "noise": fresh(0.1), "level": 0.9}
    both = combine(kept, **shape)  # type: ignore[arg-type]
    for i in (0, 17, 49):
        one = combine(kept[i], **shape)  # type: ignore[arg-type]
        assert (both.value[i], both.se[i], both.low[i], both.high[i]) == (one.value, one.se, one.low, one.high)


# Differences


def span(**changes: object) -> Period:
    whole = Period(
        metric="editor.minutes",
        version=1,
        hash="0" * 32,
        window_start="2026-12-01T00:00:00Z",
        window_end="2026-12-08T00:00:00Z",
        segment="",
        category=None,
        state="final",
        windows=7,
        left_out=0,
        n=7000,
        n_effective=1000,
        value=200.0,
        se=3.0,
        se_opposed=0.0,
        ci_low=194.0,
        ci_high=207.0,
        level=0.95,
        method="wilson",
        tidied=200.0,
        epsilon=1.0,
        permanent_epsilon=2.0,
        manipulation_per_percent=10.0,
    )
    return msgspec.structs.replace(whole, **changes)


def test_difference_of_periods() -> None:
    before, after = span(), span(value=230.0, se=4.0, ci_low=220.0, ci_high=238.0)
    found = difference(after, before)
    assert (found.metric, found.hash, found.category, found.level) == ("editor.minutes", "0" * 32, None, 0.95)
    figures = found.value, found.se, found.ci_low, found.ci_high
    assert figures == pytest.approx((30, 5, 30 - math.hypot(10, 7), 30 + math.hypot(8, 6)))
    back = difference(before, after)
    assert (back.value, back.ci_low, back.ci_high) == pytest.approx((-30, -found.ci_high, -found.ci_low))


def test_difference_of_segments(store: Store) -> None:
    days(store, [(1000, 400)] * 7)
    days(store, [(1000, 500)] * 7, segment="beta")
    found = difference(week(store, segment="beta"), week(store))
    assert found.value > found.ci_low > 0


def test_many_differences_at_once() -> None:
    a, b = (np.array([1.0, 2.0]), np.array([2.0, 4.0]), np.array([3.0, 5.0])), (0.5, 1.0, 1.5)
    low, high = apart(a, b)
    assert low.tolist() == pytest.approx([1 - math.hypot(1, 0.5), 3 - math.hypot(2, 0.5)])
    assert high.tolist() == pytest.approx([1 + math.hypot(1, 0.5), 3 + math.hypot(1, 0.5)])


@pytest.mark.parametrize("field", ["metric", "hash", "category", "level"])
def test_periods_that_do_not_belong_together(field: str) -> None:
    other = span(**{field: 0.5 if field == "level" else "x"})
    with pytest.raises(ParameterError, match=rf"periods\.{field} must be .*, as in the first"):
        difference(span(), other)


@pytest.mark.parametrize("first", [True, False])
def test_periods_without_a_value(first: bool) -> None:
    nothing = span(state="suppressed", **dict.fromkeys(WITHHELD))
    with pytest.raises(
        ParameterError, match=r"periods must be periods that have a value; got '2026-12-01.* suppressed'"
    ):
        difference(*((nothing, span()) if first else (span(), nothing)))


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
