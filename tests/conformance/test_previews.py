"""Previews and examples in papers: how often devices send the very bytes, by the code of every registered encoder."""

from fractions import Fraction

import pytest

from hubbub.client.reporter import Preview, Reporter
from hubbub.client.showing import chance, often
from hubbub.encoders import registry
from hubbub.encoders.base import SCALE, Encoder
from hubbub.encoders.olh_pool import OlhPool
from hubbub.mechanisms import registry as mechanisms
from hubbub.testing.mechanisms import Case, cases
from hubbub.testing.mechanisms.cases import looked_at
from hubbub.testing.mechanisms.laws import history_law
from tests.unit.state_support import named

CASES = [case for cls in mechanisms.values() for case in cases(cls)]


def test_every_encoder_is_among_the_cases() -> None:
    found = [case.build().encoder for case in CASES]
    assert {encoder.name for encoder in found} == {*registry}
    openly = {(encoder.name, encoder.memo) for encoder in found if encoder.public}
    assert openly >= {("olh_pool", 1), ("rappor", 1), ("d_bit_flip", 1), ("rappor", 0), ("d_bit_flip", 0)}
    assert {name for name, memo in openly if not memo} >= {"olh", "cms", "hcms", "hybrid", "harmony"}


@pytest.mark.parametrize("case", CASES, ids=str)
def test_each_payload_has_the_chance_that_the_devices_code_gives_it(case: Case) -> None:
    encoder: Encoder = case.build().encoder
    seen: set[tuple[int, ...]] = set()
    values = [*looked_at(encoder)]
    for value in {values[0], values[len(values) // 2], values[-1]}:
        law = {payload: exact for (payload,), exact in history_law(encoder, (value,)).items()}
        seen |= {*law}
        assert {payload: chance(encoder, value, payload) for payload in law} == law
        assert sum(chance(encoder, value, payload) for payload in seen) == Fraction(1)


def test_a_crowd_of_devices_sends_the_bytes_as_often_as_is_said() -> None:
    pool = OlhPool(120, 3, SCALE // 5, SCALE // 10, 1)
    metric = named(kind="choice", encoder=pool, labels=tuple(f"l{i}" for i in range(119)))
    devices = [Reporter(metric, "c", i.to_bytes(32, "big"), "") for i in range(6000)]
    sent = [device.preview("l3").payload for device in devices]
    expected = float(chance(pool, 4, (7, pool.hash(7, 4))))
    assert expected < 0.02  # a 121st of what it is for devices with the same seed
    assert abs(sent.count((7, pool.hash(7, 4))) / len(sent) - expected) < 5 * (expected / len(sent)) ** 0.5
    seldom, told = often(metric, Preview(4, (7, 0), (7, pool.hash(7, 4))))
    assert not seldom
    assert dict(told)["l3"] == f"{100 * expected:.3g} %"
