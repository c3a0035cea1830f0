"""What counts as a value of each kind, and its place on the grid."""

import math
import sys
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from hubbub.client.values import KINDS, wanted
from hubbub.clock import ManualClock
from hubbub.errors import PrivateValueError
from hubbub.lock import MILLION, Metric
from hubbub.mechanisms.grr import Grr
from hubbub.mechanisms.harmony import Harmony
from hubbub.mechanisms.one_bit_mean import OneBitMean
from tests.unit.client_support import STARTS, Plain, client, lock, metric

MEAN, BOOLEAN = KINDS["mean"], KINDS["boolean"]
READ_NUMBER, READ_YES_OR_NO = MEAN.read(metric()), BOOLEAN.read(metric())


class Hostile:
    """Raises whatever one asks of it."""

    def __eq__(self, other: object) -> bool:
        raise RuntimeError("compared")

    __hash__ = None  # type: ignore[assignment]

    def __bool__(self) -> bool:
        raise RuntimeError("asked")


class Loud(float):
    """A number that cannot be converted."""

    def __float__(self) -> float:
        raise RuntimeError("converted")


@pytest.mark.parametrize(
    ("value", "read"),
    [
        (3, 3.0),
        (-0.0, 0.0),
        (1e300, 1e300),
        (2**1023, 2.0**1023),
        (np.float64(2.5), 2.5),
        (np.float32(2.5), 2.5),
        (np.int64(7), 7.0),
        (Fraction(1, 4), 0.25),
    ],
)
def test_numbers_are_read(value: object, read: float) -> None:
    assert READ_NUMBER(value) == read
    assert type(READ_NUMBER(value)) is float


NOT_NUMBERS: list[Any] = [
    True,
    False,
    np.True_,
    None,
    "3",
    b"3",
    "",
    math.nan,
    math.inf,
    -math.inf,
    np.float64("nan"),
    float("1e400"),
    10**400,
    -(10**5000),
    3 + 0j,
    Decimal(3),
    [3],
    np.array([3.0]),
    object(),
    Hostile(),
    Loud(3),
]


@pytest.mark.parametrize("value", NOT_NUMBERS, ids=lambda value: type(value).__name__)
def test_what_is_no_number(value: object) -> None:
    assert READ_NUMBER(value) is None


@pytest.mark.parametrize(
    ("value", "read"),
    [(True, 1.0), (False, 0.0), (1, 1.0), (0, 0.0), (1.0, 1.0), (-0.0, 0.0), (np.True_, 1.0), (np.False_, 0.0)],
)
def test_yes_and_no(value: object, read: float) -> None:
    assert READ_YES_OR_NO(value) == read


@pytest.mark.parametrize("value", [None, "yes", "True", "", 2, -1, 0.5, math.nan, [], np.array([0, 1]), Hostile()])
def test_what_is_neither_yes_nor_no(value: object) -> None:
    assert READ_YES_OR_NO(value) is None


@pytest.mark.parametrize(("lower", "step", "ticks"), [(0, 1.0, 480), (-2.5, 0.1, 75), (1e9, 1e-6, 1000), (-7, 3, 1)])
def test_device_and_bulk_agree_on_ticks(lower: float, step: float, ticks: int) -> None:
    asked = metric(encoder=Plain(ticks + 1), lower=round(lower * 1e6), step=round(step * 1e6))
    index = MEAN.index(asked)
    bulk = OneBitMean.from_epsilon(1.0, lower=lower, upper=lower + ticks * step, step=step)
    values = [lower + part * step for part in np.linspace(-2, ticks + 2, 50 * (ticks + 4) + 1).tolist()]
    values += [beside for v in values[::7] for beside in (math.nextafter(v, -1e300), math.nextafter(v, 1e300))]
    values += [sys.float_info.max, -sys.float_info.max, 0.0, -0.0, 5e-324]
    assert [index(float(v)) for v in values] == bulk.index(values).tolist()


@pytest.mark.parametrize(
    ("value", "tick"),
    [(math.inf, 10), (-math.inf, 0), (10.0, 10), (9.5, 10), (9.499999, 9), (0.5, 1), (0.49999999999999994, 1)],
)
def test_grid(value: float, tick: int) -> None:
    # The double just below one half is rounded up by the addition itself: every language must do the same.
    assert MEAN.index(metric(encoder=Plain(11)))(value) == tick


def test_put() -> None:
    assert MEAN.put(3.0, replace=False)(4.0) == 7.0
    assert MEAN.put(3.0, replace=True)(4.0) == 3.0
    assert MEAN.put(3.0, replace=False)(None) == 3.0
    assert BOOLEAN.put(0.0, replace=False)(1.0) == 1.0
    assert BOOLEAN.put(0.0, replace=True)(1.0) == 0.0


CATEGORIES = 15


@pytest.mark.parametrize(
    ("one", "words"),
    [
        (metric(kind="boolean"), "yes or no"),
        (metric(), "a number from 0 to 480 min; it is clipped to that range"),
        (metric(lower=-2_500_000, step=MILLION // 2), "a number from -2.5 to 237.5 min; it is clipped to that range"),
        (metric(kind="histogram", encoder=Grr.from_epsilon(1, categories=4).encoder, unit=""), "a number from 0 to 4;"),
        (metric(aggregate="share"), "a number from 0 to 1, or yes or no"),
        (metric(kind="choice", encoder=Plain(3), labels=("dark", "light")), "one of dark, light, none"),
        (metric(kind="words", encoder=Plain(2**40)), "a word"),
        (metric(kind="vector", encoder=Harmony.from_epsilon(1, dimension=3).encoder), "3 numbers, each from 0 to "),
    ],
)
def test_what_is_wanted_in_words(one: Metric, words: str) -> None:
    assert wanted(one).startswith(words)


def test_no_message_names_more_than_a_dozen_labels() -> None:
    labels = tuple(f"l{number}" for number in range(CATEGORIES))
    said = wanted(metric(kind="choice", encoder=Plain(CATEGORIES + 1), labels=labels))
    assert said == f"one of {', '.join(labels[:12])}, … and 4 more"
    dozen = wanted(metric(kind="choice", encoder=Plain(12), labels=labels[:11]))
    assert dozen == f"one of {', '.join(labels[:11])}, none"


@pytest.mark.parametrize("value", ["secret7731", math.nan, [7731]])
def test_preview_of_no_value_says_what_is_wanted_and_not_what_came(value: object) -> None:
    one = metric("panel", kind="choice", encoder=Grr.from_epsilon(1, categories=3).encoder, labels=("dark", "light"))
    with pytest.raises(PrivateValueError) as caught:
        client(lock(one), ManualClock(STARTS)).preview("panel", value)
    assert str(caught.value) == "value of panel is not one that a choice takes; give one of dark, light, none"
