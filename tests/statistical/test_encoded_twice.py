"""Two encodings of one window, forced past every seal: exact, by enumeration of all that a device's own code can do.

The noise of a report comes from the operating system, so that such an accident costs no more than one more window.
Were it a function of the secret and the window, it would cost everything (spec/windows.md, "Seals").
"""

import json
import math
from collections.abc import Callable
from fractions import Fraction
from itertools import product
from typing import Any

import pytest

from hubbub import prf as words_of
from hubbub.client.reporter import Reporter
from hubbub.client.state import Running
from hubbub.encoders.base import Prf, Words
from hubbub.lock import Metric
from hubbub.mechanisms.one_bit_mean import OneBitMean
from hubbub.mechanisms.randomized_response import RandomizedResponse
from hubbub.testing import exact_law
from tests.unit.client_support import STARTS, metric

MEMO_MEAN = OneBitMean.from_epsilon(1.0, permanent_epsilon=2.0, upper=4).encoder
FINE_MEAN = OneBitMean.from_epsilon(1.0, permanent_epsilon=2.0, upper=4, bucket=2).encoder
FRESH_MEAN = OneBitMean.from_epsilon(1.0, upper=4).encoder
METRICS = {
    "memo": metric(encoder=MEMO_MEAN),
    "memo, two buckets": metric(encoder=FINE_MEAN),
    "fresh": metric(encoder=FRESH_MEAN),
    "yes or no": metric(kind="boolean", encoder=RandomizedResponse.from_epsilon(1.0, permanent_epsilon=2.0).encoder),
    "fresh yes or no": metric(kind="boolean", encoder=RandomizedResponse.from_epsilon(1.0).encoder),
}
Bodies = tuple[bytes, ...]
Law = dict[Bodies, Fraction]


def law(definition: Metric, values: tuple[float, ...], monkeypatch: pytest.MonkeyPatch, *, derived: bool) -> Law:
    """Chance of each sequence of bodies, where one window is encoded with each of these values in turn.

    Args:
        derived: Draw the noise from the device's permanent words instead, as the code must not.
    """
    start = definition.windows.start(definition.life[0])
    device = Reporter(definition, "editor-desktop", bytes(32), "")

    def run(prf: Prf, words: Words) -> Bodies:
        def permanent(purpose: str, *key: int) -> Words:
            return (lambda count: [0] * count) if purpose == "id" else prf(purpose, *key)

        monkeypatch.setattr(device, "_prf", permanent)
        sent = []
        for value in values:
            noise = prf("noise", definition.life[0]) if derived else words
            monkeypatch.setattr(words_of, "os_words", noise)
            running = Running(
                definition.name, definition.hash, start, definition.windows.end(definition.life[0]), "", value
            )
            report = device.encode(running, STARTS)
            assert report is not None
            sent.append(report.body)
        return tuple(sent)

    return exact_law(run)


def worst(laws: list[Law]) -> float:
    """The largest log ratio of what two histories make likely."""
    most = 0.0
    for one, other in product(laws, repeat=2):
        for bodies, chance in one.items():
            if not (there := other.get(bodies)):
                return math.inf
            most = max(most, math.log(chance / there))
    return most


@pytest.fixture
def encoded_twice(monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[Law]]:
    """The laws of all pairs of values that one window can be encoded with."""

    def laws(definition: Metric, *, derived: bool = False) -> list[Law]:
        pairs: Any = product(map(float, range(definition.encoder.size)), repeat=2)
        return [law(definition, pair, monkeypatch, derived=derived) for pair in pairs]

    return laws


@pytest.mark.parametrize("name", METRICS)
def test_costs_one_more_window(name: str, encoded_twice: Callable[..., list[Law]]) -> None:
    definition = METRICS[name]
    once, twice = definition.encoder.prices(1), definition.encoder.prices(2)
    found = worst(encoded_twice(definition))
    assert found <= twice.life
    assert twice.life <= once.life + once.change  # and that is what a window costs, no more
    assert found > once.life  # it is not free either: the check sees the second report


@pytest.mark.parametrize("name", METRICS)
def test_noise_from_the_secret_would_cost_everything(name: str, encoded_twice: Callable[..., list[Law]]) -> None:
    assert worst(encoded_twice(METRICS[name], derived=True)) == math.inf


@pytest.mark.parametrize("name", METRICS)
def test_bytes_differ_though_the_value_does_not(name: str, encoded_twice: Callable[..., list[Law]]) -> None:
    """Different bytes are no proof of a change."""
    definition = METRICS[name]
    for position, laws in enumerate(encoded_twice(definition)):
        if position % (definition.encoder.size + 1) == 0:  # the same value both times
            assert any(first != second for first, second in laws)


def test_the_id_is_the_same_so_that_one_of_them_counts() -> None:
    definition = METRICS["fresh"]
    device = Reporter(definition, "editor-desktop", bytes(range(32)), "")
    start, stop = (definition.windows.start(definition.life[0] + more) for more in (0, 1))
    bodies = [
        device.encode(Running(definition.name, definition.hash, start, stop, "", value), STARTS) for value in (0.0, 4.0)
    ]
    (one,), (other,) = (json.loads(report.body)["reports"] for report in bodies if report)
    assert (one["id"], one["window"]) == (other["id"], other["window"])
