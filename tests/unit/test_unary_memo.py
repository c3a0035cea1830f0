"""Permanent bits for each position and state: what a change of the value moves, and what links two reports."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from hubbub.encoders.base import SCALE, shared_bits
from hubbub.mechanisms.columns import CELLS, blocks
from hubbub.mechanisms.oue import Oue
from hubbub.mechanisms.sue import Sue
from hubbub.prf import device_prf
from hubbub.testing import GeneratorWords

BOTH: list[Any] = [Sue, Oue]


def prf(number: int) -> Any:
    return device_prf(number.to_bytes(32, "big"), "app", "app.metric", "00" * 32)


@pytest.mark.parametrize("cls", BOTH)
def test_a_change_moves_two_positions_at_most(cls: Any) -> None:
    """Answers for each value would be drawn anew in all of them."""
    encoder = cls.from_epsilon(1, permanent_epsilon=2, categories=20).encoder
    moved = 0
    for number in range(50):
        kept = [encoder.permanent(value, prf(number)) for value in (3, 11, 3)]
        differ = [place for place in range(20) if kept[0][place] != kept[1][place]]
        assert set(differ) <= {3, 11}
        assert kept[0] == kept[2]
        moved += len(differ)
    assert 20 < moved < 80


@pytest.mark.parametrize("cls", BOTH)
def test_permanent_bits_have_their_chances(cls: Any) -> None:
    """Six standard errors over 400 devices, the own bit and the others: false alarm 10⁻⁸."""
    encoder = cls.from_epsilon(0.5, permanent_epsilon=1.5, categories=30).encoder
    kept = np.array([encoder.permanent(7, prf(number)) for number in range(400)])
    own, others = kept[:, 7].mean(), np.delete(kept, 7, axis=1).mean()
    p, q = map(float, encoder.kept())
    assert abs(own - p) < 6 * math.sqrt(p * (1 - p) / 400)
    assert abs(others - q) < 6 * math.sqrt(q * (1 - q) / (400 * 29))


@pytest.mark.parametrize("cls", BOTH)
def test_the_first_round_does_not_hang_on_the_second(cls: Any) -> None:
    """And both rounds together are the mechanism that draws everything afresh, to a few steps of 2⁻³²."""
    fresh = cls.from_epsilon(1, categories=7)
    kept = cls.from_epsilon(1, permanent_epsilon=2, categories=7)
    assert kept.encoder.lie == cls.from_epsilon(2, categories=7).encoder.lie
    assert kept.support == pytest.approx(fresh.support, abs=1e-9)
    assert kept.permanent_support[:2] == pytest.approx(cls.from_epsilon(2, categories=7).support[:2], abs=1e-9)
    assert cls.from_epsilon(1, permanent_epsilon=1, categories=7).encoder.flip == 0
    assert cls.from_epsilon(1, permanent_epsilon=1 + 1e-12, categories=7).encoder.flip > 0


@pytest.mark.parametrize("cls", BOTH)
def test_blocks_of_people_leave_no_seam(cls: Any) -> None:
    mechanism = cls.from_epsilon(1, permanent_epsilon=2, categories=300)
    n = CELLS // 601 + 30
    values = np.arange(n, dtype=np.int64) % 300
    source = GeneratorWords(np.random.default_rng(5))
    reports = mechanism.randomise(values, source)
    words = GeneratorWords(np.random.default_rng(5)).words(source.used).reshape(n, 601).tolist()
    assert len(blocks(n, 601)) == 2
    for person in (0, 1, n - 31, n - 30, n - 29, n - 1):
        left = iter(words[person])

        def drawn(count: int, left: Any = left) -> list[int]:
            return [next(left) for _ in range(count)]

        kept = mechanism.encoder.permanent(int(values[person]), lambda *_, drawn=drawn: drawn)
        assert mechanism.encoder.report(kept, drawn) == tuple(reports[person].tolist())


def test_linkage_grows_with_the_categories() -> None:
    """Who matches two days' reports of 1 024 bits expects 27 bits of evidence, and finds nearly everybody."""
    few, many = (Oue.from_epsilon(1, permanent_epsilon=2, categories=k).encoder for k in (128, 1024))
    each = (many.linkage_bits - few.linkage_bits) / (1024 - 128)
    assert each == pytest.approx(0.0265, abs=5e-5)
    assert each * 1024 == pytest.approx(27, abs=0.5)
    assert few.public_bits == many.public_bits == 0
    assert Oue.from_epsilon(1, categories=1024).encoder.linkage_bits < 1


@pytest.mark.parametrize("kept", [Fraction(1, 8), Fraction(1, 2), Fraction(99, 100)])
def test_shared_bits_are_a_mutual_information(kept: Fraction) -> None:
    zero, one = Fraction(1, 5), Fraction(7, 10)
    both: dict[tuple[int, int], float] = {}
    for hidden, share in ((0, 1 - kept), (1, kept)):
        sent = (1 - one, one) if hidden else (1 - zero, zero)
        for a, b in ((0, 0), (0, 1), (1, 0), (1, 1)):
            both[a, b] = both.get((a, b), 0) + float(share * sent[a] * sent[b])
    rate = both[1, 0] + both[1, 1]
    alone = (1 - rate, rate)
    told = sum(chance * math.log2(chance / (alone[a] * alone[b])) for (a, b), chance in both.items())
    assert shared_bits(kept, zero, one) == pytest.approx(told, abs=1e-12)
    assert shared_bits(kept, Fraction(0), Fraction(1)) == pytest.approx(
        -sum(float(p) * math.log2(p) for p in (kept, 1 - kept)), abs=1e-12
    )
    assert shared_bits(kept, Fraction(1, 2), Fraction(1, 2)) == pytest.approx(0, abs=1e-13)


@pytest.mark.parametrize("cls", BOTH)
def test_what_windows_share_is_the_first_round(cls: Any) -> None:
    mechanism, first = (cls.from_epsilon(e, permanent_epsilon=3, categories=3) for e in (0.7, 3))
    reports = mechanism.randomise(np.arange(3000) % 3, GeneratorWords(np.random.default_rng(4)))
    estimate = mechanism.estimate(mechanism.summarise(reports))
    assert estimate.se_shared**2 == pytest.approx(first.variance(estimate.value, 3000), rel=1e-9)
    assert (estimate.se_shared < estimate.se).all()
    assert mechanism.encoder.flip / SCALE > 0.2
