"""Devices with real secrets: what many of them send over two windows follows the exact law.

False alarm 1e-6 for each check, with fixed seeds; each is shown to see an epsilon a tenth off, on both sides.
"""

import random
from collections import Counter
from collections.abc import Mapping
from fractions import Fraction
from functools import cache
from typing import Any

import pytest

from hubbub.encoders.base import Payload
from hubbub.encoders.fields import fields
from hubbub.mechanisms.one_bit_mean import OneBitMean
from hubbub.mechanisms.randomized_response import RandomizedResponse
from hubbub.prf import device_prf
from hubbub.testing.mechanisms.draws import FALSE_ALARM, chi_square
from hubbub.testing.mechanisms.laws import history_law

DEVICES = 20_000
SEED = 20_261_204
Sent = tuple[Payload, ...]


def share(factor: float = 1) -> RandomizedResponse:
    return RandomizedResponse.from_epsilon(1 * factor, permanent_epsilon=2 * factor)


def mean(factor: float = 1) -> OneBitMean:
    return OneBitMean.from_epsilon(1 * factor, permanent_epsilon=2 * factor, upper=6, bucket=3)


@cache
def send(encoder: Any, history: tuple[int, ...]) -> Counter[Sent]:
    """What many devices send that all have these values."""
    rng = random.Random(SEED)

    def words(count: int) -> list[int]:
        return [rng.getrandbits(32) for _ in range(count)]

    sent: Counter[Sent] = Counter()
    for _ in range(DEVICES):
        prf = device_prf(rng.randbytes(32), "editor", "editor.minutes", "ab" * 32)
        sent[tuple(encoder.report(encoder.permanent(value, prf), words) for value in history)] += 1
    return sent


def fit(sent: Counter[Sent], law: Mapping[Sent, Fraction]) -> float:
    outcomes = sorted({*sent, *law})
    return chi_square([[(sent[one], DEVICES * float(law.get(one, 0))) for one in outcomes]])


@pytest.mark.parametrize(
    ("build", "history"), [(share, (1, 1)), (share, (0, 1)), (mean, (0, 0)), (mean, (6, 0)), (mean, (5, 5))]
)
def test_two_windows(build: Any, history: tuple[int, ...]) -> None:
    sent = send(build().encoder, history)
    assert sum(sent.values()) == DEVICES
    assert fit(sent, history_law(build().encoder, history)) >= FALSE_ALARM


@pytest.mark.parametrize("factor", [0.9, 1.1])
@pytest.mark.parametrize(("build", "history"), [(share, (1, 1)), (share, (0, 1)), (mean, (0, 0)), (mean, (6, 0))])
def test_two_windows_of_another_epsilon(build: Any, history: tuple[int, ...], factor: float) -> None:
    assert fit(send(build().encoder, history), history_law(build(factor).encoder, history)) < FALSE_ALARM


def test_windows_share_their_permanent_answer() -> None:
    """Taken for independent reports of the right law, the same draws do not pass."""
    sent = send(share().encoder, (1, 1))
    alone = share().law(1)
    independent: dict[Sent, Fraction] = {(a, b): alone[a] * alone[b] for a in alone for b in alone}
    assert fit(sent, independent) < FALSE_ALARM


@pytest.mark.parametrize("purpose", ["alpha", "memo", "id"])
def test_permanent_words_are_uniform_and_unrelated(purpose: str) -> None:
    """Each byte of a word, and each bit of the difference of two words under neighbouring keys."""
    counts = [Counter[int]() for _ in range(4)]
    bits = Counter[int]()
    for device in range(DEVICES):
        prf = device_prf(fields((device,)).ljust(32, b"\0"), "editor", "editor.minutes", "ab" * 32)
        one, other = prf(purpose, 1)(1)[0], prf(purpose, 2)(1)[0]
        for place, byte in enumerate(one.to_bytes(4, "big")):
            counts[place][byte] += 1
        bits.update(bit for bit in range(32) if (one ^ other) >> bit & 1)
    tables = [[(float(count[byte]), DEVICES / 256) for byte in range(256)] for count in counts]
    assert chi_square(tables) >= FALSE_ALARM
    assert (
        chi_square([[(bits[bit], DEVICES / 2), (DEVICES - bits[bit], DEVICES / 2)] for bit in range(32)]) >= FALSE_ALARM
    )
