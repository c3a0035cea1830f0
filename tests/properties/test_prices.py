"""Every price is at least what brute force finds over all pairs of histories and all that can be sent, in fractions."""

import json
import math
from collections.abc import Iterator, Sequence
from decimal import Context, Decimal
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest

from hubbub.encoders.base import SCALE, Prices
from hubbub.encoders.one_bit_mean import OneBitMean as MeanDevice
from hubbub.encoders.randomized_response import RandomizedResponse as YesNoDevice
from hubbub.lock import dump, parse, shown
from hubbub.mechanisms import of_metric
from hubbub.mechanisms.one_bit_mean import OneBitMean
from hubbub.mechanisms.randomized_response import RandomizedResponse
from hubbub.privacy import describe
from hubbub.testing.mechanisms.laws import history_law
from tests.unit.sample_lock import lock, metric

DIGITS = Context(prec=40)
MOST_HISTORIES = 2401
Device = MeanDevice | YesNoDevice


def devices(seed: int, count: int) -> Iterator[Device]:
    """One-bit means with up to three buckets, dividing the range or not, and yes/no; permanent or fresh."""
    rng = np.random.default_rng(seed)
    for i in range(count):
        epsilon = math.exp(rng.uniform(math.log(0.001), math.log(16)))
        higher = math.exp(rng.uniform(math.log(epsilon), math.log(16)))
        permanent = (None, epsilon, min(16.0, epsilon * 1.01), higher, higher)[i % 5]
        if i % 4 == 0:
            yield RandomizedResponse.from_epsilon(epsilon, permanent_epsilon=permanent).encoder
        else:
            bucket, entries = int(rng.integers(1, 4)), i % 4
            upper = max(bucket, entries * bucket - int(rng.integers(bucket)))
            domain = {} if permanent is None else {"bucket": bucket}
            yield OneBitMean.from_epsilon(epsilon, permanent_epsilon=permanent, upper=upper, **domain).encoder


def chances(device: Device, windows: int) -> Any:
    """Chance of each sequence of bits from each history, shape (size,) * windows + (2,) * windows.

    From first principles; Python integers, all to be divided by `whole(device, windows)`.
    """
    found = np.empty((device.size,) * windows + (2,) * windows, object)
    for history in product(range(device.size), repeat=windows):
        for sent in product((0, 1), repeat=windows):
            found[history + sent] = (_kept if device.memo else _fresh)(device, history, sent)
    return found


def whole(device: Device, windows: int) -> int:
    """What the chances of one history add up to."""
    bucket, ones = _coins(device)
    if device.memo:
        return int(bucket * SCALE ** (len(ones) + windows))
    return int((bucket * SCALE) ** windows)


def _coins(device: Device) -> tuple[int, list[int]]:
    """Values of alpha, and the share of ones of each entry."""
    if isinstance(device, MeanDevice):
        return device.bucket, [device.low + k * device.rise for k in range(device.top + 1)]
    return 1, [device.low, SCALE - device.low]


def _kept(device: Device, history: Sequence[int], sent: Sequence[int]) -> int:
    """One alpha and one bit per entry for ever; each report is flipped anew."""
    bucket, ones = _coins(device)
    total = 0
    for alpha in range(bucket):
        entries = [(value + alpha) // bucket for value in history]
        chance = 1
        for k, share in enumerate(ones):
            as_one = as_zero = 1
            for entry, bit in zip(entries, sent, strict=True):
                if entry == k:
                    as_one *= SCALE - device.flip if bit else device.flip
                    as_zero *= device.flip if bit else SCALE - device.flip
            chance *= share * as_one + (SCALE - share) * as_zero
        total += chance
    return total


def _fresh(device: Device, history: Sequence[int], sent: Sequence[int]) -> int:
    """Alpha and coin anew in each window."""
    bucket, ones = _coins(device)
    chance = 1
    for value, bit in zip(history, sent, strict=True):
        share = sum(ones[(value + alpha) // bucket] for alpha in range(bucket))
        chance *= share if bit else bucket * SCALE - share
    return chance


def worst(found: Any, axes: tuple[int, ...]) -> Fraction | None:
    """Largest ratio of two chances that differ in these axes only; None if one of them is zero."""
    pairs = [(a, b) for a, b in zip(found.max(axis=axes).ravel(), found.min(axis=axes).ravel(), strict=True) if a]
    return max(Fraction(a, b) for a, b in pairs) if all(b for _, b in pairs) else None


def covers(price: float, ratio: Fraction | None) -> bool:
    if ratio is None:
        return price == math.inf
    return Decimal(price) >= DIGITS.divide(Decimal(ratio.numerator), Decimal(ratio.denominator)).ln(DIGITS)


def brute_force(device: Device, windows: int) -> dict[str, Fraction | None]:
    """The four losses, found by comparing all histories."""
    found = chances(device, windows)
    steady = np.array([found[(value,) * windows] for value in range(device.size)], object)
    changes = [worst(found, (window,)) for window in range(windows)]
    return {
        "report": worst(chances(device, 1), (0,)),
        "steady": worst(steady, (0,)),
        "change": None if None in changes else max(ratio for ratio in changes if ratio is not None),
        "life": worst(found, tuple(range(windows))),
    }


def test_prices_are_at_least_brute_force() -> None:
    lengths, kinds, both = [], set(), {(YesNoDevice, 0, False), (YesNoDevice, 1, False)}
    for device in devices(4, 60):
        for windows in range(1, 5):
            if device.size**windows > MOST_HISTORIES:
                break
            prices = device.prices(windows)
            for name, ratio in brute_force(device, windows).items():
                assert covers(getattr(prices, name), ratio), (device, windows, name)
            lengths.append(windows)
            kinds.add(
                (type(device), device.memo, isinstance(device, MeanDevice) and bool(device.ticks % device.bucket))
            )
    assert lengths.count(4) > 30
    assert kinds == {(MeanDevice, 0, False), (MeanDevice, 1, False), (MeanDevice, 1, True), *both}


def test_brute_force_is_about_what_devices_do() -> None:
    for device in devices(5, 20):
        windows = 2 if device.size > 3 else 3
        found, total = chances(device, windows), whole(device, windows)
        for history in list(product(range(device.size), repeat=windows))[:: max(1, device.size // 2)]:
            stated = {
                tuple((bit,) for bit in sent): Fraction(found[history + sent], total)
                for sent in product((0, 1), repeat=windows)
            }
            assert history_law(device, history) == {sent: chance for sent, chance in stated.items() if chance}


def test_prices_are_not_wasteful() -> None:
    """One report, a steady life and a fresh one cost exactly what is said; no life costs more than all changes."""
    for device in devices(6, 40):
        for windows in (1, 2, 30, 9600):
            prices = device.prices(windows)
            assert prices.life <= windows * prices.change * (1 + 1e-9)
            assert prices.report == device.prices(1).report
            if device.memo:
                assert prices.steady == device.prices(1).steady
            else:
                assert prices.steady == prices.life == pytest.approx(windows * prices.report, rel=1e-9)
    losses = brute_force(OneBitMean.from_epsilon(1, permanent_epsilon=2, upper=1).encoder, 4)
    assert math.log(losses["report"] or 0) < math.log(losses["steady"] or 0) < 2


def test_device_lock_and_mechanism_show_the_same_prices() -> None:
    for device in devices(7, 40):
        one = metric(device)
        text = dump(lock(one))
        written = json.loads(text)["metrics"][one.name]["prices"]
        real = device.prices(30)
        assert one.reports == 30
        for name in Prices._fields:
            price = getattr(real, name)
            assert written[name] == shown(price)
            assert shown(price) is None if math.isinf(price) else 0 <= shown(price) - price <= 1.000_001e-6
        most = written["life"]  # a life of 30 reports can cost less than a steady value without end
        shows = {key: price if most is None else min(price, most) for key, price in written.items()}
        assert {line.key: line.epsilon for line in describe(one)} == shows
        (read,) = parse(text).metrics.values()
        assert read.prices == real
        mechanism = of_metric(read)
        assert (mechanism.epsilon, mechanism.change_epsilon) == (real.report, real.change)
        assert mechanism.permanent_epsilon == (real.steady if device.memo else math.inf)
