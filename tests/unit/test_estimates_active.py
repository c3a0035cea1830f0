"""The mean among those that recorded anything over several windows: what it is made of, its states, its refusals."""

import math
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest

from hubbub.definitions import build, loads
from hubbub.errors import ParameterError
from hubbub.estimates import Period, difference, period, rows
from hubbub.estimates.active import AMONG
from hubbub.estimates.combining import combine, over
from hubbub.lock import Metric
from hubbub.mechanisms import of_metric
from hubbub.mechanisms.ratio import fieller
from hubbub.store import Store, open_store
from hubbub.summary import Summary
from hubbub.testing.stores.samples import DAY, FIRST, end, lock, stored
from tests.unit.definitions_support import MEAN, text

NAME = "editor.minutes"
CLOSED = end(FIRST) + 60 * DAY
Z = 1.959963984540054
Counts = tuple[int, int]  # reports and ones


def metrics(**changes: str | None) -> tuple[Metric, Metric]:
    keys = {**MEAN, "active": "true", "epsilon": "4.0", "upper": "240", **changes}
    mean, share = build(loads(text(keys).encode(), "t")).metrics.values()
    return mean, share


def over_days(store: Store, days: Sequence[tuple[Counts, Counts]], **changes: str | None) -> tuple[Metric, Metric]:
    """Days with the reports of the mean and those of the share, from the first on."""
    both = metrics(**changes)
    store.accept(lock(*both))
    for i, metric in enumerate(both):
        for day, counts in enumerate(days):
            store.write(stored(metric, counts[i][0], ones=counts[i][1], window=FIRST + day))
    return both


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(tmp_path / "store.db") as store:
        yield store


def among(store: Store, days: int = 7, start: int = 0, now: float = CLOSED, **asked: object) -> Period:
    span = {"start": (FIRST + start) * DAY, "end": (FIRST + start + days) * DAY}
    return period(store, now=now, metric=NAME, category=AMONG, **(span | asked))  # type: ignore[arg-type]


USUAL: Sequence[tuple[Counts, Counts]] = [((2000, 800 + 20 * day), (2000 - 100 * day, 1200)) for day in range(7)]


def test_mean_over_mean(store: Store) -> None:
    mean, share = over_days(store, USUAL)
    found = among(store)
    fewest = [min(n for n, _ in day) for day in USUAL]
    parts, values = [], []
    for i, metric in enumerate((mean, share)):
        mechanism = of_metric(metric)
        estimates = [mechanism.estimate(Summary(day[i][0], np.array(day[i][1]))) for day in USUAL]
        crowd = estimates[0].crowd
        kept = [(float(one.value) - crowd.zero) / crowd.scale for one in estimates]
        made = combine(kept, fewest, [0] * 7, noise=crowd.noise, level=0.95)
        low, value, high = (crowd.zero + crowd.scale * x for x in (made.low, made.value, made.high))
        parts.append((low, value, high))
        values.append((np.mean([one.value for one in estimates]), crowd.scale * made.se))
    (m, m_se), (s, s_se) = values
    ends = [float(t) for t in over(*parts)]
    assert found.value == found.tidied == pytest.approx(m / s)
    assert [found.ci_low, found.ci_high] == pytest.approx(ends)
    assert found.se == pytest.approx(math.hypot(m_se, m / s * s_se) / s)
    assert (found.state, found.windows, found.left_out, found.method) == ("final", 7, 0, "fieller")
    assert (found.n, found.n_effective, found.se_opposed) == (sum(fewest), 1700, 0)
    whole = {name: period(store, now=CLOSED, metric=name) for name in (NAME, f"{NAME}.active")}
    assert found.value == pytest.approx(whole[NAME].value / whole[f"{NAME}.active"].value)  # type: ignore[operator]
    assert found.epsilon == pytest.approx(sum(one.epsilon or 0 for one in whole.values()))
    assert found.permanent_epsilon == pytest.approx(sum(one.permanent_epsilon or 0 for one in whole.values()))
    assert (found.manipulation_per_percent, found.category, found.metric) == (None, AMONG, NAME)


def test_a_single_window_is_its_row(store: Store) -> None:
    over_days(store, USUAL[:1])
    (row,) = [row for row in rows(store, now=CLOSED, metric=NAME, end=end(FIRST)) if row.category == AMONG]
    found = among(store, 1)
    for field in Period.__struct_fields__:
        if field not in ("windows", "left_out", "se_opposed"):
            assert getattr(found, field) == getattr(row, field), field
    mean, share = (one for one in rows(store, now=CLOSED, end=end(FIRST)) if one.category is None)
    ratio = (mean.value or 0) / (share.value or 1)
    assert row.value == pytest.approx(ratio)
    for key in ("se", "se_shared"):
        assert getattr(row, key) == pytest.approx(
            math.hypot(getattr(mean, key), ratio * getattr(share, key)) / (share.value or 0)
        )


def test_an_interval_wider_than_the_range_is_too_uncertain(store: Store) -> None:
    mean, share = metrics()
    zeros = [round(2000 * float(of_metric(metric).encoder.law(0)[(1,)])) for metric in (mean, share)]
    over_days(store, [((2000, zeros[0] + 40), (2000, zeros[1] + 60))])
    found = among(store, 1)
    assert found.value is not None
    assert (found.ci_high or 0) - (found.ci_low or 0) > 240
    assert found.state == "too_uncertain"


def test_windows_that_lack_one_of_the_two_are_left_out(store: Store) -> None:
    over_days(store, [((2000, 900), (0, 0)), *USUAL[1:3], ((0, 0), (2000, 1200))])
    found = among(store, 4)
    assert (found.windows, found.left_out, found.n) == (2, 2, 1900 + 1800)
    assert (found.window_start, found.window_end) == ("2026-12-02T00:00:00Z", "2026-12-04T00:00:00Z")
    assert found.value == among(store, 2, start=1).value


def test_states_follow_both_parts(store: Store) -> None:
    over_days(store, [((2000, 900), (40, 24))] * 7)
    assert (among(store).state, among(store).value, among(store).n_effective) == ("suppressed", None, 40)
    assert among(store, now=end(FIRST + 7)).state == "open"
    assert period(store, now=CLOSED, metric=NAME, end=end(FIRST + 6)).state == "final"
    with pytest.raises(ParameterError, match="metric"):
        among(store, start=90)


def test_provisional_while_reports_come(store: Store) -> None:
    over_days(store, USUAL)
    assert among(store, now=end(FIRST + 6) + 1).state == "provisional"


def test_a_share_that_may_be_0_leaves_no_value(store: Store) -> None:
    mean, share = metrics()
    zeros = [round(2000 * float(of_metric(metric).encoder.law(0)[(1,)])) for metric in (mean, share)]
    over_days(store, [((2000, zeros[0]), (2000, zeros[1] - 40)), ((2000, zeros[0]), (2000, zeros[1] + 10))])
    for days, start in ((2, 0), (1, 0), (1, 1)):
        found = among(store, days, start)
        assert (found.state, found.value, found.se, found.tidied) == ("too_uncertain", None, None, None)
        assert (found.ci_low, found.ci_high) == (0, 240)
    with pytest.raises(ParameterError, match="periods that have a value"):
        difference(among(store, 1, 1), among(store, 1, 0))


def test_turns_are_other_devices(tmp_path: Path) -> None:
    found = {}
    for every in ("1", "7"):
        with open_store(tmp_path / every) as store:
            over_days(store, [((300, 120), (300, 180))] * 7, report_every=every)
            found[every] = among(store)
    assert {every: one.n_effective for every, one in found.items()} == {"1": 300, "7": 2100}
    widths = {every: one.ci_high - one.ci_low for every, one in found.items()}  # type: ignore[operator]
    assert widths["7"] < 0.75 * widths["1"]


def test_errors_are_added_where_a_mean_may_have_either_sign(store: Store) -> None:
    over_days(store, USUAL, lower="-240")
    found = among(store)
    assert found.value is not None
    assert found.se is not None
    parts = [period(store, now=CLOSED, metric=name) for name in (NAME, f"{NAME}.active")]
    m, s = (float(one.value or 0) for one in parts)
    m_se, s_se = (float(one.se or 0) for one in parts)
    assert m < 0
    # A little more, as those of the mean are made with fewer reports here.
    assert 1 < found.se / ((m_se + abs(m / s) * s_se) / s) < 1.2
    assert found.ci_low is not None
    assert 1 < found.ci_low * (parts[1].ci_low or 0) / (parts[0].ci_low or 0) < 1.2


@pytest.mark.parametrize(("lower", "opposed"), [("0", False), ("-240", True)])
def test_differences(store: Store, lower: str, opposed: bool) -> None:
    """Where such a mean may have either sign, errors of two periods may be opposed as far as any can."""
    over_days(store, [((2000, 900), (2000, 1200))] * 3 + [((2000, 1100), (2000, 1200))] * 4, lower=lower)
    before, after = among(store, 3), among(store, 4, start=3)
    change = difference(after, before)
    assert (before.se_opposed, after.se_opposed) == ((before.se, after.se) if opposed else (0, 0))
    plain, worst = math.hypot(before.se or 0, after.se or 0), (before.se or 0) + (after.se or 0)
    assert change.se == pytest.approx(worst if opposed else plain)
    assert change.ci_low < change.value < change.ci_high
    with pytest.raises(ParameterError, match="category"):
        difference(after, period(store, now=CLOSED, metric=NAME))


def test_refusals(store: Store) -> None:
    over_days(store, USUAL)
    with pytest.raises(ParameterError, match=r"category must be left out, or 'among active' of a mean with active"):
        period(store, now=CLOSED, metric=NAME, category="active")
    with pytest.raises(ParameterError, match="category"):
        period(store, now=CLOSED, metric=f"{NAME}.active", category=AMONG)


def test_ends_of_a_quotient_are_fieller_s_where_both_are_symmetric() -> None:
    rng = np.random.default_rng(20_261_208)
    m, s, off_m, off_s = rng.normal(0, 2, 500), rng.uniform(0.5, 3, 500), rng.exponential(1, 500), rng.random(500)
    low, high = over((m - off_m, m, m + off_m), (s - off_s, s, s + off_s))
    expected = fieller(m, s, (off_m / Z) ** 2, (off_s / Z) ** 2, 0, 0.95)
    bounded = s > off_s
    assert 100 < bounded.sum() < 500
    np.testing.assert_allclose(low[bounded], expected[0][bounded], rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(high[bounded], expected[1][bounded], rtol=1e-9, atol=1e-12)
    assert np.isinf(low[~bounded]).all()
    assert np.isinf(high[~bounded]).all()


def test_ends_of_a_quotient_whose_errors_are_added() -> None:
    for m, (low, high) in {2.0: (1 / 5, 3 / 3), 0.0: (-1 / 3, 1 / 3), -2.0: (-3 / 3, -1 / 5)}.items():
        assert [float(t) for t in over((m - 1, m, m + 1), (3, 4, 5), opposed=True)] == pytest.approx([low, high])


def test_ends_of_a_quotient_solve_their_equation_where_they_are_not() -> None:
    """Those of the denominator further up than it is large, too, and numerators of either sign."""
    rng = np.random.default_rng(20_261_209)
    m, s = rng.normal(0, 2, 2000), rng.uniform(0.1, 1, 2000)
    down, up, below, above = *rng.exponential(1, (2, 2000)), s * rng.random(2000), rng.exponential(1, 2000)
    low, high = over((m - down, m, m + up), (s - below, s, s + above))
    for t, off, d in (
        (low, down, np.where(low > 0, above, below)),
        (high, up, np.where(high > 0, below, above)),
    ):
        np.testing.assert_allclose(np.abs(m - t * s), np.sqrt(off**2 + (t * d) ** 2), rtol=1e-6, atol=1e-9)
    assert ((low < m / s) & (m / s < high)).all()
    assert (above > s).any()
    assert (low > 0).any()
    assert (high < 0).any()
