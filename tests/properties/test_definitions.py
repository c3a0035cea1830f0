"""Every accepted registry builds to a lock that is read back equal, and no price in it is above what was asked."""

import datetime
from decimal import Decimal
from typing import Any

import pytest
import tomlkit
from hypothesis import given, settings
from hypothesis import strategies as st

from hubbub.definitions import DefinitionErrors, Problem, build, loads, review, worth_lines
from hubbub.definitions.checks import decimal, millionths
from hubbub.definitions.keys import KEYS
from hubbub.encoders.one_bit_mean import MAX_ENTRIES, MAX_TICKS
from hubbub.lock import LABEL, MILLION, dump, parse

LABELS = st.from_regex(LABEL, fullmatch=True)
NAMES = st.from_regex(r"[a-z][a-z0-9_]{0,20}(\.[a-z][a-z0-9_]{0,20}){0,2}", fullmatch=True)
LINES = st.text(st.characters(exclude_categories=("C", "Z")), min_size=1, max_size=30)


def number(count: int) -> Decimal:
    return Decimal(decimal(count))


@st.composite
def domains(draw: st.DrawFn) -> dict[str, Any]:
    if draw(st.booleans()):
        return {"kind": "boolean"}
    step = draw(st.sampled_from([1, 100, 250_000, MILLION, 7_300_000]))
    lower = draw(st.integers(-(10**15), 10**15 - step))
    ticks = draw(st.integers(1, min(MAX_TICKS, (10**15 - lower) // step)))
    found: dict[str, Any] = {
        "kind": "mean",
        "unit": draw(st.sampled_from(["", "min", "°C"])),
        "lower": number(lower),
        "upper": number(lower + ticks * step),
        "step": number(step),
    }
    if draw(st.booleans()):
        found["bucket"] = draw(st.integers(-(-ticks // MAX_ENTRIES), ticks))
    return found


@st.composite
def definitions(draw: st.DrawFn) -> dict[str, Any]:
    epsilon = draw(st.integers(1000, 15_999_999))
    starts = draw(st.dates(datetime.date(2020, 1, 1), datetime.date(2040, 1, 1)))
    made: dict[str, Any] = {
        "version": draw(st.integers(1, 2**53 - 1)),
        "description": draw(LINES),
        "purpose": draw(LINES),
        "owners": draw(st.lists(LINES, min_size=1, max_size=3)),
        "epsilon": number(epsilon),
        "starts": starts,
        "expires": starts + datetime.timedelta(days=draw(st.integers(14, 400))),
        "window": draw(st.sampled_from(["hour", "day", "week"])),
        "report_every": draw(st.integers(1, 400)),
        "grace": draw(st.sampled_from(["1h", "36h", "90d", "2w"])),
        "min_reports": draw(st.integers(1, 10**6)),
        **draw(domains()),
    }
    strategy = draw(st.sampled_from(["default", "memo", "fresh", "visible"]))
    if strategy == "fresh":
        made["strategy"] = "fresh"
        made.pop("bucket", None)
    elif strategy == "memo":
        made["permanent_epsilon"] = number(draw(st.integers(epsilon + 1, 16_000_000)))
    elif strategy == "visible":
        made |= {"permanent_epsilon": number(epsilon), "changes_visible": True}
    if draw(st.booleans()):
        values = st.lists(LABELS, min_size=1, max_size=8, unique=True)
        made["dimensions"] = draw(
            st.dictionaries(st.from_regex("[a-z][a-z0-9_]{0,31}", fullmatch=True), values, max_size=2)
        )
    half = (
        (millionths(float(made["upper"])) - millionths(float(made["lower"]))) // 2 if "upper" in made else MILLION // 2
    )
    if half and draw(st.booleans()):
        made["expected_devices"] = draw(st.integers(1, 10**9))
        made["target_margin"] = number(draw(st.integers(1, half)))
    return made


REGISTRIES = st.dictionaries(NAMES, definitions(), min_size=1, max_size=3)


def written(metrics: dict[str, dict[str, Any]]) -> bytes:
    document = {"schema": "hubbub.registry/1", "collection": "c", "metrics": metrics}
    return tomlkit.dumps(_plain(document)).encode()


def _plain(value: Any) -> Any:
    """Decimals are written digit by digit, not as floats."""
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if isinstance(value, Decimal):
        return tomlkit.value(f"{value:f}")
    return value


@settings(max_examples=300)
@given(REGISTRIES)
def test_every_accepted_registry_builds_to_a_lock_that_is_read_back_equal(metrics: dict[str, dict[str, Any]]) -> None:
    registry = loads(written(metrics), "metrics.toml")
    lock = build(registry)
    assert parse(dump(lock)) == lock
    assert build(registry, lock) == lock
    for name, definition in registry.metrics.items():
        metric, asked = lock.metrics[name], definition.epsilon
        prices = metric.prices
        assert Decimal(repr(asked)) == metrics[name]["epsilon"]
        assert prices.report <= asked
        if definition.permanent is None:
            assert prices.change <= asked
            assert prices.steady == prices.life <= metric.reports * asked * (1 + 1e-12)
        else:
            assert prices.steady <= definition.permanent
            assert definition.changes_visible or prices.life <= metric.reports * prices.change * (1 + 1e-9) < float(
                "inf"
            )
        if definition.kind == "mean":
            top = metric.lower + (metric.encoder.size - 1) * metric.step
            assert [number(metric.lower), number(top)] == [metrics[name][key] for key in ("lower", "upper")]


@settings(max_examples=150)
@given(REGISTRIES)
def test_lint_has_something_to_say_of_each(metrics: dict[str, dict[str, Any]]) -> None:
    registry = loads(written(metrics), "metrics.toml")
    lock, reviews = build(registry), review(registry, datetime.date(2030, 1, 1))
    assert [found.name for found in reviews] == list(registry.metrics)
    for found in reviews:
        for worth in found.worth:
            assert 0 < worth.several <= worth.margin * (1 + 1e-12) <= worth.segment * (1 + 1e-12)
        for cure in found.cures:
            assert found.target is not None
            assert cure.margin < found.worth[0].margin
            assert cure.enough is (cure.margin <= found.target)
        assert any("has ended" in warning for warning in found.warnings) is (
            registry.metrics[found.name].expires <= datetime.date(2030, 1, 1)
        )
        for line in worth_lines(lock.metrics[found.name], found):
            assert "± " in line or line.startswith("mechanism ")
            assert "nan" not in line


@given(st.integers(-(10**15), 10**15))
def test_decimals_and_millionths_are_each_other_s_inverse(count: int) -> None:
    assert millionths(float(decimal(count))) == count


VALUES = st.recursive(
    st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats()
    | st.text(max_size=5)
    | st.dates()
    | st.datetimes()
    | st.times()
    | st.decimals(allow_nan=False, allow_infinity=False, places=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)
ODD_KEYS = st.sampled_from(sorted(KEYS)) | st.text(max_size=8)


@settings(max_examples=400)
@given(
    definitions(),
    st.dictionaries(ODD_KEYS, VALUES, min_size=1, max_size=4),
    st.lists(st.sampled_from(sorted(KEYS)), max_size=3),
)
def test_whatever_stands_there_is_accepted_or_explained(
    metric: dict[str, Any], odd: dict[str, Any], missing: list[str]
) -> None:
    changed = {key: value for key, value in metric.items() if key not in missing} | odd
    problems: tuple[Problem, ...] = ()
    try:
        lock = build(loads(written({"m": changed}), "metrics.toml"))
        assert parse(dump(lock)) == lock
    except DefinitionErrors as error:
        problems = error.problems
    for problem in problems:
        assert problem.key.startswith('metrics."m".')
        assert problem.problem
        assert problem.remedy
        assert all(text.isprintable() for text in problem)


@given(st.binary(max_size=60) | st.text("=[]{}\"'\\\n#.,-:0123456789abcTZ \t", max_size=60).map(str.encode))
def test_whatever_bytes_are_read_are_explained(raw: bytes) -> None:
    with pytest.raises(DefinitionErrors):
        loads(raw, "metrics.toml")
