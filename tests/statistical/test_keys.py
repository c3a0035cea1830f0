"""What holds a device's permanent words apart: one name under two definitions, forced through, tells nothing of either.

Every other way to get there is refused (tests/scenarios/README.md); this is what is left if all of them fail. False
alarm 1e-6 for each check, with fixed seeds; the same check sees words that are shared.
"""

import random
from collections import Counter
from dataclasses import replace
from itertools import product

import pytest

from hubbub.encoders.base import SCALE, Answer
from hubbub.encoders.one_bit_mean import OneBitMean
from hubbub.lock import Metric
from hubbub.prf import device_prf
from hubbub.testing.mechanisms.draws import FALSE_ALARM, chi_square
from hubbub.testing.mechanisms.laws import answer_law
from tests.unit.client_support import MEAN, YES_NO, metric

DEVICES = 10_000
SEED = 20_261_205
HALF = OneBitMean(480, 240, 511_972_653, (SCALE - 2 * 511_972_653) // 2, 844_441_824, 1)
ONE = metric()
OTHERS = {
    "epsilon": replace(ONE, encoder=replace(MEAN, flip=MEAN.flip + 1)),
    "permanent epsilon": replace(ONE, encoder=replace(MEAN, low=MEAN.low + 1, rise=MEAN.rise - 2)),
    "upper": replace(ONE, encoder=replace(MEAN, ticks=481, bucket=481)),
    "bucket": replace(ONE, encoder=HALF),
    "lower": replace(ONE, lower=1),
    "step": replace(ONE, step=ONE.step + 1),
    "window": replace(ONE, window="hour"),
    "report_every": replace(ONE, report_every=2),
    "kind": metric(kind="boolean", encoder=YES_NO),
    "name": replace(ONE, name="editor.seconds"),
}


def answers(definition: Metric, value: int, collection: str = "editor-desktop") -> list[Answer]:
    """What the devices keep for ever in place of the value; their secrets are the same whatever the definition."""
    rng = random.Random(SEED)
    keys = ((collection, definition.name, definition.hash) for _ in range(DEVICES))
    return [definition.encoder.permanent(value, device_prf(rng.randbytes(32), *key)) for key in keys]


def middle(definition: Metric) -> int:
    """A value whose answer is as uncertain as it can be, so that something shared would show."""
    return definition.encoder.size // 2


def together(a: list[Answer], b: list[Answer], one: Metric, other: Metric) -> float:
    """Chance of answers at least this far from independent ones of the right laws."""
    seen = Counter(zip(a, b, strict=True))
    laws = answer_law(one.encoder, middle(one)), answer_law(other.encoder, middle(other))
    return chi_square([[(seen[x, y], DEVICES * float(laws[0][x] * laws[1][y])) for x, y in product(*laws)]])


@pytest.mark.parametrize("change", OTHERS)
def test_another_definition_under_the_same_name(change: str) -> None:
    other = OTHERS[change]
    assert other.version == ONE.version  # as if it had never been raised
    assert together(answers(ONE, middle(ONE)), answers(other, middle(other)), ONE, other) >= FALSE_ALARM


def test_another_collection() -> None:
    value = middle(ONE)
    assert together(answers(ONE, value), answers(ONE, value, "another"), ONE, ONE) >= FALSE_ALARM


def test_shared_words_are_seen() -> None:
    """Were the encoding hash no part of the key, the answers would hang together."""
    other = OTHERS["permanent epsilon"]
    rng = random.Random(SEED)
    keyed_by_name = [
        other.encoder.permanent(middle(other), device_prf(rng.randbytes(32), "editor-desktop", ONE.name, ONE.hash))
        for _ in range(DEVICES)
    ]
    assert together(answers(ONE, middle(ONE)), keyed_by_name, ONE, other) < FALSE_ALARM


@pytest.mark.parametrize("purpose", ["alpha", "memo", "id"])
@pytest.mark.parametrize("change", ["epsilon", "upper", "window"])
def test_words_themselves(purpose: str, change: str) -> None:
    """The joint of four leading bits of each."""
    rng, seen = random.Random(SEED), Counter[tuple[int, int]]()
    for _ in range(DEVICES):
        secret = rng.randbytes(32)
        words = (device_prf(secret, "editor-desktop", ONE.name, m.hash)(purpose, 1)(1) for m in (ONE, OTHERS[change]))
        one, other = (word[0] >> 28 for word in words)
        seen[one, other] += 1
    table = [(float(seen[one, other]), DEVICES / 256) for one in range(16) for other in range(16)]
    assert chi_square([table]) >= FALSE_ALARM
