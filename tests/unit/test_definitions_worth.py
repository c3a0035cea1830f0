"""What lint says a metric will be worth, against exact variances and the table of half-widths that users plan with."""

import datetime
import math
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from docs.scripts import worth as readme
from hubbub import mechanisms
from hubbub.definitions import Review, build, loads, review, worth_lines
from hubbub.definitions.building import locked
from hubbub.definitions.worth import Z, cures, margin, several, worth
from hubbub.estimates.combining import mean_of
from hubbub.mechanisms import Mechanism, of_metric
from hubbub.mechanisms.base import any_estimate, default_permanent
from hubbub.mechanisms.one_bit_mean import OneBitMean
from hubbub.mechanisms.randomized_response import RandomizedResponse
from hubbub.mechanisms.rappor import Rappor
from hubbub.testing import Case, cases
from hubbub.testing.mechanisms.cases import laws, looked_at, mean_under, simulated
from tests.unit.definitions_support import BOOLEAN, MEAN, lines, registry, text

TODAY = datetime.date(2026, 11, 30)
FLEETS = (2_000_000, 50_000, 4_000, 700)
NUMBERS = [cls for cls in mechanisms.registry.values() if {"boolean", "mean", "vector"} & {*cls.kinds}]
SHARES = [cls for cls in mechanisms.registry.values() if {"choice", "histogram"} & {*cls.kinds}]
JUMPS = {"hadamard_response"}  # where more epsilon gives it more blocks, a crowd within one of them becomes worse
DOMAINS: Mapping[str, Mapping[str, Any]] = {
    "boolean": {},
    "mean": {"upper": 100},
    "choice": {"categories": 12},
    "histogram": {"categories": 12},
    "words": {},
    "vector": {"dimension": 3},
}


def found(table: Mapping[str, str | None] = MEAN, /, **changes: str | None) -> Review:
    return review(loads(text(dict(table) | changes).encode(), "metrics.toml"), TODAY)[0]


def said(table: Mapping[str, str | None] = MEAN, /, **changes: str | None) -> list[str]:
    accepted = loads(text(dict(table) | changes).encode(), "metrics.toml")
    return worth_lines(build(accepted).metrics["editor.minutes"], review(accepted, TODAY)[0])


@pytest.mark.parametrize(
    "mechanism",
    [
        OneBitMean.from_epsilon(1.0, permanent_epsilon=2.0, upper=1440),
        OneBitMean.from_epsilon(0.5, lower=-3, upper=5, step=0.25),
        RandomizedResponse.from_epsilon(2.0, permanent_epsilon=4.0),
    ],
)
@pytest.mark.parametrize("n", [1, 700, 4_000])
def test_margin_is_that_of_the_exact_variance_at_the_worst_truth(mechanism: Mechanism, n: int) -> None:
    low, high = mechanism.bounds
    exact = [Z * math.sqrt(mechanism.variance(low + share * (high - low), n)) for share in np.linspace(0, 1, 101)]
    assert margin(mechanism, n) == pytest.approx(max(exact), rel=1e-12)
    assert max(exact) == exact[50]


def squares(mechanism: Mechanism) -> np.ndarray[Any, np.dtype[np.float64]]:
    """(values, numbers) mean square of the estimates from one report of each value, by its exact law."""
    found = np.array([mean_under(mechanism, law, 2) for law in laws(mechanism)])
    return found.reshape(len(found), -1)


@pytest.mark.parametrize("case", [case for cls in NUMBERS for case in cases(cls)], ids=str)
def test_margin_is_that_of_the_worst_crowd(case: Case) -> None:
    """Of all crowds of one value or two, in whatever parts: no crowd of more is worse, as one of its pairs is."""
    mechanism, parts = case.build(), np.linspace(0, 1, 1001)[:, None]
    square = squares(mechanism)
    mean = np.array([mechanism.truth(value) for value in looked_at(mechanism.encoder)]).reshape(square.shape)
    pairs = [(one, other) for one in range(len(mean)) for other in range(one, len(mean))]
    worst = max(
        ((1 - parts) * square[a] + parts * square[b] - ((1 - parts) * mean[a] + parts * mean[b]) ** 2).max()
        for a, b in pairs
    )
    assert margin(mechanism, 1) == pytest.approx(Z * math.sqrt(worst), rel=1e-5)


@pytest.mark.parametrize("case", [case for cls in SHARES for case in cases(cls)], ids=str)
def test_margin_of_a_rare_category_wherever_all_others_stand(case: Case) -> None:
    mechanism = case.build()
    square = squares(mechanism)
    np.fill_diagonal(square, 0)
    assert margin(mechanism, 1) == pytest.approx(Z * math.sqrt(square.max()), rel=1e-6)


@pytest.mark.parametrize("case", [case for cls in NUMBERS for case in cases(cls)], ids=str)
def test_margin_is_that_of_the_interval_which_is_printed(case: Case) -> None:
    """Half of 50 000 devices at each end, and all alike; so many that intervals are normal to half a per cent."""
    mechanism, n, rng = case.build(), 50_000, np.random.default_rng(6)
    wide = len(looked_at(mechanism.encoder))

    def printed(*crowd: int) -> float:
        counts = np.bincount(crowd, minlength=wide) * (n // len(crowd))
        low, high = mechanism.estimate(simulated(mechanism, counts, rng)).interval()
        return float((high - low).max()) / 2

    assert printed(0, wide - 1) == pytest.approx(margin(mechanism, n), rel=0.02)
    assert max(printed(0), printed(wide // 2), printed(wide - 1)) < 1.02 * margin(mechanism, n)


@pytest.mark.parametrize(
    "case", [case for cls in NUMBERS + SHARES for case in cases(cls, (0.01, 0.5, 1, 2.5))], ids=str
)
@pytest.mark.parametrize(("windows", "every"), [(7, 1), (7, 2), (28, 28)])
def test_several_windows_are_those_of_the_interval_which_is_printed(case: Case, windows: int, every: int) -> None:
    mechanism, n = case.build(), 10**8
    one = any_estimate(mechanism)
    rare = "categories" in case.domain or "buckets" in case.domain
    turns, (low, high) = [window % every for window in range(windows)], mechanism.bounds

    def printed(truth: float) -> float:
        window = replace(one.pick(0) if one.value.ndim else one, value=np.asarray(truth))
        mean = mean_of([window] * windows, [n] * windows, turns, 0.95)
        return float(mean.high - mean.low) / 2

    worst = printed(0) if rare else max(map(printed, np.linspace(low, high, 101)))
    assert several(mechanism, n, windows, every) == pytest.approx(worst, rel=1e-3)


@pytest.mark.parametrize("name", [name for name in mechanisms.registry if name not in JUMPS])
@pytest.mark.parametrize("strategy", ["memo", "fresh"])
def test_more_epsilon_never_widens(name: str, strategy: str) -> None:
    cls, found = mechanisms.registry[name], []
    if strategy == "memo" and not cls.memo:
        return
    for epsilon in np.geomspace(0.1, 16, 15).tolist():
        permanent = default_permanent(epsilon) if strategy == "memo" else None
        mechanism = cls.from_epsilon(epsilon, permanent_epsilon=permanent, **DOMAINS[cls.kinds[0]])
        found.append([margin(mechanism, 1), *(several(mechanism, 1, windows) for windows in (1, 7, 28))])
    assert (np.diff(found, axis=0) <= 1e-6 * np.array(found[1:])).all()
    assert [line[1] for line in found] == [line[0] for line in found]


def test_windows_of_words_share_permanent_answers() -> None:
    fresh, kept = (Rappor.from_epsilon(1, permanent_epsilon=loss, bits=16, cohorts=1) for loss in (None, 2))
    assert several(fresh, 10, 7) == pytest.approx(margin(fresh, 70), rel=1e-12)
    shared, crowd = Z * kept.null_shared(10), kept.crowd()
    k = (1 / 16 - crowd.zero) / crowd.scale  # of bits that are set, where all words are as common
    assert kept.null_shared(10) ** 2 == pytest.approx(crowd.scale**2 * k * (1 - k) / 10 / (1 - 1 / 16), rel=1e-9)
    assert several(kept, 10, 7) == pytest.approx(over(7, margin(kept, 10), shared), rel=1e-9)
    assert several(kept, 10, 10**6) == pytest.approx(shared, rel=1e-3)


def test_margin_where_the_bucket_reaches_beyond_the_range() -> None:
    mechanism = OneBitMean.from_epsilon(1.0, permanent_epsilon=2.0, upper=100, bucket=70)
    whole = OneBitMean.from_epsilon(1.0, permanent_epsilon=2.0, upper=140, bucket=70)
    assert margin(mechanism, 50) == pytest.approx(margin(whole, 50), rel=1e-12)


# 95 % half-widths at a mean of 210, not the worst: the first rows of the table that defaults were chosen by.
@pytest.mark.parametrize(
    ("upper", "epsilon", "expected"),
    [
        (1440, 1.0, (2.0, 12.9, 45.6, 109)),
        (720, 1.0, (1.1, 6.7, 23.7, 56.6)),
        (480, 1.0, (0.7, 4.5, 16.1, 38.4)),
        (720, 2.0, (0.6, 3.9, 13.9, 33.2)),
        (720, 4.0, (0.5, 3.0, 10.6, 25.3)),
    ],
)
def test_worst_margin_beside_the_table_at_210(upper: int, epsilon: float, expected: tuple[float, ...]) -> None:
    metric = build(registry(upper=str(upper), epsilon=str(epsilon), permanent_epsilon=None)).metrics["editor.minutes"]
    mechanism = of_metric(metric)
    for n, width in zip(FLEETS, expected, strict=True):
        at_210 = Z * math.sqrt(mechanism.variance(210, n))
        assert at_210 == pytest.approx(width, abs=0.5 if width > 100 else 0.051)
        assert at_210 <= worth(metric, n).margin <= 1.11 * at_210


def test_the_table_of_the_readme_is_what_lint_says_of_the_defaults() -> None:
    yes = build(loads(text(BOOLEAN).encode(), "metrics.toml")).metrics["editor.minutes"]
    minutes = build(registry()).metrics["editor.minutes"]
    for n in readme.DEVICES:
        assert readme.yes_no(n) == pytest.approx(worth(yes, n).margin, rel=1e-6)
        assert readme.mean(n) == pytest.approx(worth(minutes, n).margin, rel=1e-6)


@pytest.mark.parametrize(("epsilon", "points"), [("0.5", 6.3), ("1", 3.2), ("2", 1.8)])
def test_worst_share_beside_the_table_at_a_fifth(epsilon: str, points: float) -> None:
    metric = build(loads(text(BOOLEAN | {"epsilon": epsilon}).encode(), "metrics.toml")).metrics["editor.minutes"]
    at_a_fifth = 100 * Z * math.sqrt(of_metric(metric).variance(0.2, 4_000))
    assert at_a_fifth == pytest.approx(points, abs=0.05)
    assert (
        at_a_fifth
        < 100 * worth(metric, 4_000).margin
        == pytest.approx(98 / math.tanh(float(epsilon) / 2) / 63.2456, rel=1e-3)
    )


def over(windows: int, se: float, shared: float) -> float:
    return math.sqrt(windows * (se**2 - shared**2) + (windows * shared) ** 2) / windows


@pytest.mark.parametrize(("windows", "at_210"), [(7, 28.6), (28, 25.7)])
def test_several_windows_by_the_rule_on_shared_noise(windows: int, at_210: float) -> None:
    memo, steady = (
        OneBitMean.from_epsilon(1.0, permanent_epsilon=2.0, upper=1440),
        OneBitMean.from_epsilon(2.0, upper=1440),
    )
    table = over(windows, *(Z * math.sqrt(mechanism.variance(210, 4_000)) for mechanism in (memo, steady)))
    assert table == pytest.approx(at_210, abs=0.05)
    worst = over(windows, margin(memo, 4_000), margin(steady, 4_000))
    assert several(memo, 4_000, windows) == pytest.approx(worst, rel=1e-6)
    assert table < worst < 1.2 * table


def test_several_windows_of_fresh_noise_share_the_devices() -> None:
    fresh = OneBitMean.from_epsilon(1.0, upper=1440)
    people = Z * 720 / math.sqrt(4_000)  # half of them at each end: what no number of windows makes smaller
    assert several(fresh, 4_000, 10**6) == pytest.approx(people, rel=1e-3)


def test_windows_of_different_turns_are_different_devices() -> None:
    memo = OneBitMean.from_epsilon(1.0, permanent_epsilon=2.0, upper=1440)
    assert several(memo, 143, 7, 28) == pytest.approx(margin(memo, 7 * 143), rel=1e-12)
    odd = [several(memo, 143, windows) * windows for windows in (4, 3)]
    assert several(memo, 143, 7, 2) == pytest.approx(math.hypot(*odd) / 7, rel=1e-12)
    two = several(memo, 143, 2, 1)
    assert several(memo, 143, 4, 2) == pytest.approx(two / math.sqrt(2), rel=1e-12)


def test_reports_and_segments() -> None:
    one = worth(build(registry()).metrics["editor.minutes"], 4_000)
    dims = '{ channel = ["a", "b", "c"], os = ["x", "y", "z"] }'
    metric = build(registry(dimensions=dims, report_every="4")).metrics["editor.minutes"]
    panel = worth(metric, 4_000)
    assert panel.margin == pytest.approx(2 * one.margin, rel=1e-12)
    assert panel.segment == pytest.approx(3 * panel.margin, rel=1e-12)
    assert panel.share == pytest.approx(panel.margin / 480, rel=1e-12)
    assert (one.segment, one.windows) == (one.margin, 7)


def test_cures_of_the_first_example() -> None:
    made = found(upper="1440", expected_devices="4_000", target_margin="10").cures
    assert [(cure.key, cure.value, cure.enough) for cure in made] == [
        ("upper", 480, False),  # a third of the range: further down too many values would be clipped
        ("epsilon", 2, False),
        ("expected_devices", 94_000, True),
    ]
    assert [cure.margin for cure in made] == pytest.approx([16.1, 29.3, 9.96], abs=0.05)


def test_cures_that_are_enough_are_the_mildest() -> None:
    made = found(upper="1440", bucket="1440", expected_devices="4_000", target_margin="32").cures
    assert [(cure.key, cure.value, cure.enough) for cure in made] == [
        ("upper", 950, True),
        ("epsilon", 2, True),
        ("expected_devices", 9_200, True),
    ]
    for cure, milder in zip(made, (960, 1.5, 9_100), strict=True):
        assert cure.margin <= 32
        definition = registry(**{"upper": "1440", "expected_devices": "4000", cure.key: f"{milder}"}).metrics[
            "editor.minutes"
        ]
        devices = definition.expected_devices or 0
        assert margin(of_metric(locked("x", definition)), devices) > 32


def test_epsilon_beyond_two_is_advised_only_where_it_is_enough() -> None:
    assert [
        c.value for c in found(upper="1440", expected_devices="4000", target_margin="24").cures if c.key == "epsilon"
    ] == [4]
    assert [
        c.value for c in found(upper="1440", expected_devices="4000", target_margin="22").cures if c.key == "epsilon"
    ] == [2]
    beyond = found(upper="1440", epsilon="3", expected_devices="4000", target_margin="22")
    assert [c.key for c in beyond.cures] == ["upper", "expected_devices"]


def test_cures_of_a_share_a_panel_and_an_uneven_grid() -> None:
    share = found(BOOLEAN, expected_devices="700", target_margin="0.05", report_every="4").cures
    assert [cure.key for cure in share] == ["epsilon", "report_every", "expected_devices"]
    assert share[1].margin == pytest.approx(Z * math.sqrt(0.25 / 700) / math.tanh(0.5), rel=1e-6)
    grid = found(lower="-7", upper="42", step="7", expected_devices="4_000", target_margin="1.2").cures
    assert [(cure.key, cure.value) for cure in grid][:1] == [("upper", 28)]


def test_no_cures_where_none_are_wanted() -> None:
    assert found(expected_devices="4000", target_margin="20").cures == ()
    assert found(expected_devices="4000").cures == ()
    assert found(target_margin="1").cures == ()
    assert cures(registry(expected_devices="4_000").metrics["editor.minutes"]) == []


def test_cures_stay_within_the_limits() -> None:
    asked = {"expected_devices": "4_000", "target_margin": "1", "strategy": '"fresh"'}
    assert [cure.key for cure in found(**asked, max_change="1.6").cures] == ["upper", "epsilon", "expected_devices"]
    assert [c.value for c in found(**asked, max_change="1.6").cures if c.key == "epsilon"] == [1.5]
    assert [cure.key for cure in found(**asked, max_change="1").cures] == ["upper", "expected_devices"]
    turns = found(**asked, max_life="100", report_every="4").cures  # 91 reports; 364 would cost 364
    assert [cure.key for cure in turns] == ["upper", "expected_devices"]
    kept = {"epsilon": "0.25", "permanent_epsilon": "1", "expected_devices": "4_000", "target_margin": "0.05"}
    share = found(BOOLEAN, **kept).cures
    assert [(cure.key, cure.value) for cure in share] == [("epsilon", 0.75), ("expected_devices", 25_000)]
    # With the permanent_epsilon that is written 0.75 would cost 377 for life; at 1 that goes, and it is 258.
    share = found(BOOLEAN, **kept, max_life="300").cures
    assert [(cure.key, cure.value) for cure in share] == [("epsilon", 1), ("expected_devices", 25_000)]


def test_what_is_compared_may_exceed_the_limits() -> None:
    assert found(max_life="300").warnings == ()  # 364 fresh reports cost 364
    two = {name: MEAN | {"rotation": '"usage"', "max_life": "135"} for name in ('"editor.minutes"', '"editor.hours"')}
    whole = (
        text(two['"editor.minutes"']) + f'[metrics."editor.hours"]\n{lines(two[chr(34) + "editor.hours" + chr(34)])}'
    )
    assert "instead of 514." in review(loads(whole.encode(), "metrics.toml"), TODAY)[0].turns


def test_sentences() -> None:
    wanted = {"upper": "1440", "expected_devices": "4_000", "target_margin": "10"}
    assert said(**wanted) == [
        "with 4 000 devices a day ± 48 min (3.4 % of the range) at worst; a week ± 33",
        "target ± 10 missed; cheapest cures: upper 480 → ± 16, epsilon 2 → ± 29, 94 000 devices → ± 10",
    ]
    assert said(**wanted | {"target_margin": "40"})[1].startswith("target ± 40 missed, but met by the mean of a week; ")
    assert said(**wanted | {"target_margin": "50"})[1] == "target ± 50 met"
    assert said(expected_devices="2_000_000", unit='""', dimensions='{ os = ["a", "b"] }', window='"hour"') == [
        "with 2 000 000 devices an hour ± 0.72 (0.15 % of the range) at worst; a day ± 0.45; in each of 2 segments ± 1"
    ]
    one = said(expected_devices="1", target_margin="1")
    assert one[0].startswith("with 1 device a day ± 1 020 min (212 % of the range)")
    assert said(BOOLEAN, expected_devices="4000", target_margin="0.05", window='"week"') == [
        "with 4 000 devices a week ± 3.4 points at worst; four weeks ± 2.4 points",
        "target ± 5 points met",
    ]


def test_sentences_without_expected_devices() -> None:
    assert said(upper="1440") == [
        "with 700 devices a day ± 115, with 4 000 ± 48, with 50 000 ± 14 at worst; write expected_devices for yours"
    ]
    assert said(upper="1440", target_margin="50")[1] == "target ± 50 met with 4 000 devices"
    assert said(upper="1440", target_margin="5")[1] == "target ± 5 missed by all of them"
    assert said(upper="1_000_000")[0].startswith("with 700 devices a day ± 80 200, with 4 000 ± 33 500")


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"report_every": "28"}, "report_every = 28 shares the factor 7 with the 7 days of the week"),
        ({"report_every": "28"}, "write 27"),
        ({"report_every": "6", "window": '"hour"'}, "shares the factor 6 with the 168 hours of the week"),
        (
            {"bucket": "100"},
            "bucket = 100 does not divide the 480 steps of the range: intervals are those of 500 steps, 4.2 %",
        ),
        ({"grace": '"2d"'}, 'grace = "2d" leaves out devices that come back later'),
        (
            {"expected_devices": "99"},
            "nothing will be shown: a window gets about 99 reports, fewer than min_reports = 100",
        ),
        (
            {"expected_devices": "300", "dimensions": '{ os = ["a", "b", "c", "d"] }'},
            "each segment of a window gets about 75",
        ),
        ({"expected_devices": "1"}, "a window gets about 1 report,"),
        (
            {"starts": "1990-01-01", "expires": "1990-12-01"},
            "has ended on 1990-12-01 and measures nothing; renew it: hubbub registry renew",
        ),
        ({"starts": "2026-01-01", "expires": "2026-11-30"}, "has ended on 2026-11-30"),
        ({"permanent_epsilon": "1.01"}, "one changed window costs up to"),
        ({"permanent_epsilon": "0.2", "epsilon": "0.1"}, "write 1.2 or leave it out"),
        ({"changes_visible": "true"}, "changes_visible = true changes nothing"),
        ({"expires": "2026-12-03"}, 'strategy = "fresh" would give away less: the device sends only 2 reports'),
        ({"expires": "2026-12-02"}, "the device sends only 1 report in"),
    ],
)
def test_warnings(changes: dict[str, str], words: str) -> None:
    warnings = found(**changes).warnings
    assert len(warnings) == 1
    assert words in warnings[0]


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"report_every": "27"},
        {"starts": "2026-01-01", "expires": "2026-12-01"},
        {"report_every": "14", "window": '"week"'},
        {"bucket": "48"},
        {"grace": '"3d"'},
        {"expected_devices": "100"},
        {"permanent_epsilon": "2"},
        {"epsilon": "0.1"},
        {"epsilon": "0.6"},
        {"epsilon": "8"},
        {"permanent_epsilon": "1", "changes_visible": "true"},
        {"strategy": '"fresh"'},
        {"strategy": '"fresh"', "expires": "2026-12-03"},
    ],
)
def test_nothing_to_warn_of(changes: dict[str, str]) -> None:
    assert found(**changes).warnings == ()


def test_reports_of_a_panel_are_those_of_its_turn() -> None:
    told, few = found(expected_devices="300", report_every="4").warnings
    assert few.startswith("nothing will be shown: a window gets about 75 reports")
    assert told.startswith("a report of a steady device tells up to 2.11 bits about its next, 2 of them in the clear")


CHOICE = BOOLEAN | {"kind": '"choice"', "categories": str([*"abcdefghijkl"]), "epsilon": "3", "permanent_epsilon": "6"}


@pytest.mark.parametrize(
    ("every", "devices", "warned"),
    [
        (
            "29",
            "30_000",
            "; among 30000 devices that leaves less than 1024 that it could be: write a lower report_every",
        ),
        ("16", "30_000", "write a lower report_every, at most 15"),
        ("15", "30_000", None),
        ("29", "60_000", None),
        ("1", "30_000", None),
        ("1", "1_000", None),  # 0.91 bits, and nothing by a turn: whatever the crowd, it is not told from half of it
        ("2", "1_000", "that it could be: write a lower report_every"),
    ],
)
def test_lint_counts_the_turn(every: str, devices: str, warned: str | None) -> None:
    told = [one for one in found(CHOICE, report_every=every, expected_devices=devices).warnings if "steady" in one]
    metric = build(loads(text(CHOICE).encode(), "metrics.toml")).metrics["editor.minutes"]
    bits = metric.encoder.linkage_bits + math.log2(int(every))
    crowd = int(devices.replace("_", "")) / 2**bits
    assert len(told) == (warned is not None)
    if warned:
        assert crowd < 1024
        assert warned in told[0]
        assert f"tells up to {math.ceil(100 * bits) / 100:g} bits about its next" in told[0]
        assert f"of them in the clear (its turn is one of {every})" in told[0]


def test_lint_counts_what_a_device_keeps_in_the_clear() -> None:
    words = BOOLEAN | {"kind": '"words"', "epsilon": "4.0", "expected_devices": "30_000"}
    encoder = build(loads(text(words).encode(), "metrics.toml")).metrics["editor.minutes"].encoder
    assert encoder.public_bits == 4
    bits = math.ceil(100 * (4 + encoder.linkage_bits)) / 100
    (told,) = (one for one in found(words).warnings if "steady" in one)
    assert told.startswith(f"a report of a steady device tells up to {bits:g} bits about its next, 4 of them in the")


def test_lint_holds_each_of_two_reports_against_its_half() -> None:
    asked = MEAN | {"active": "true", "permanent_epsilon": "1.5"}
    registry = loads(text(asked).encode(), "metrics.toml")
    mean, share = review(registry, TODAY)
    assert 2.1 * 0.5 < build(registry).metrics[mean.name].prices.change < 2.1
    (told,) = mean.warnings
    assert "permanent_epsilon = 1.5 is too close to epsilon = 1; write 2.4 or leave it out" in told
    assert share.warnings == ()  # they are those of what feeds it


def test_lint_counts_the_segment() -> None:
    """Of 30 000 devices in turns of 15 more than 1 024 are left, but not in either of two segments."""
    asked = {"report_every": "15", "expected_devices": "30_000"}
    assert not any("steady" in one for one in found(CHOICE, **asked).warnings)
    warnings = found(CHOICE, **asked, dimensions='{ channel = ["stable", "beta"] }').warnings
    assert any("among 15000 devices of a segment that leaves less than 1024" in one for one in warnings)


@pytest.mark.parametrize(
    ("devices", "warned"), [("1_000", True), ("60_000", False), ("2_000_000", False), ("10_000_000", False)]
)
def test_lint_says_where_a_steady_device_is_one_of_few(devices: str, warned: bool) -> None:
    labels = ", ".join(f'"c{i}"' for i in range(100))
    text_of_it = text(
        BOOLEAN | {"kind": '"choice"', "categories": f"[{labels}]", "mechanism": '"oue"', "expected_devices": devices}
    )
    (one,) = review(loads(text_of_it.encode(), "metrics.toml"), datetime.date(2026, 11, 30))
    assert any("a report of a steady device tells up to" in warning for warning in one.warnings) == warned


@pytest.mark.parametrize(
    ("table", "advice"),
    [
        (
            MEAN | {"epsilon": "4", "strategy": '"fresh"', "expected_devices": "4_000"},
            'take mechanism = "one_bit_mean" or write epsilon = 2',
        ),
        (
            CHOICE | {"strategy": '"fresh"', "permanent_epsilon": None, "expected_devices": "1_000"},
            'take mechanism = "oue" or write epsilon = 2',
        ),
        (BOOLEAN | {"kind": '"words"', "expected_devices": "50_000"}, "write epsilon = 0.25"),
        (
            CHOICE
            | {"epsilon": "8", "strategy": '"fresh"', "permanent_epsilon": None, "mechanism": '"grr"'}
            | {"expected_devices": "2_000", "report_every": "4"},
            "write a lower report_every, and write epsilon = 2",
        ),
        (BOOLEAN | {"kind": '"words"', "expected_devices": "1_000"}, "ask for less: no other mechanism"),
    ],
)
def test_lint_advises_what_leaves_more_devices(table: Mapping[str, str | None], advice: str) -> None:
    (told,) = [one for one in found(table).warnings if "steady" in one]
    assert told.partition("that it could be: ")[2].startswith(advice)
    for key, value in re.findall(r"(mechanism|epsilon) = (\S+)", advice):
        changed = dict(table) | {"report_every": "1", key: value}
        assert not any("steady" in one for one in found(changed).warnings)


@pytest.mark.parametrize("epsilon", [1, 2, 4, 8])
@pytest.mark.parametrize(("windows", "every"), [(7, 1), (28, 28)])
def test_several_windows_of_a_rare_category_where_few_devices_decide(epsilon: float, windows: int, every: int) -> None:
    """As printed of a category nobody has, 4 000 reports a window: within six standard errors of 200 draws."""
    held, n, rng = mechanisms.registry["grr"].from_epsilon(epsilon, categories=8), 4_000, np.random.default_rng(11)
    turns, crowd = [window % every for window in range(windows)], np.array([n // 2, n // 2, *[0] * 6])
    widths = []
    for _ in range(200):
        found = [held.estimate(held.simulate(crowd, rng)).pick(7) for _ in range(windows)]
        mean = mean_of(found, [n] * windows, turns, 0.95)
        widths.append(float(mean.high - mean.low) / 2)
    assert several(held, n, windows, every) == pytest.approx(
        np.mean(widths), abs=6 * np.std(widths) / 200**0.5, rel=0.02
    )
