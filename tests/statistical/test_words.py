"""Decoding holds what it says: words that nobody has are shown as seldom as asked, and intervals cover.

Seeds are fixed; each bound is passed by a right decoder but for once in 10 000 times or less, by the binomial law.
"""

from typing import Any

import numpy as np
import pytest

from hubbub.mechanisms.cms import Cms
from hubbub.mechanisms.hcms import Hcms
from hubbub.mechanisms.rappor import Rappor
from hubbub.mechanisms.words import Words

RUNS = 40
DEVICES = 100_000
REAL = [f"real{i}" for i in range(100)]  # what devices have, Zipf's law; thirty of them are candidates
ABSENT = [f"absent{i}" for i in range(400)]
SHARES = 1 / np.arange(1, 101) / (1 / np.arange(1, 101)).sum()
HEAVY = 4  # words whose intervals are counted

MECHANISMS: list[Any] = [
    Rappor.from_epsilon(2.0, permanent_epsilon=4.0, bits=64),
    pytest.param(
        Rappor.from_epsilon(2.0, permanent_epsilon=4.0, bits=32, hashes=2, cohorts=32), marks=pytest.mark.slow
    ),
    pytest.param(Cms.from_epsilon(2.0), marks=pytest.mark.slow),
    Hcms.from_epsilon(2.0, bits=64),
]


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=lambda m: f"{m.name}-{m.encoder.shape.segments}")
def test_few_words_are_found_that_nobody_has(mechanism: Words) -> None:
    rng = np.random.default_rng(20_261_204)
    values = mechanism.index(REAL)
    wrong, shares, covered, found = 0, [], 0, 0
    for _ in range(RUNS):
        summary = mechanism.simulate(rng.multinomial(DEVICES, SHARES), rng, values)
        each = mechanism.decode(summary, [*ABSENT, *REAL[:30]])
        wrong += any(word in ABSENT for word in each.words)
        found += len(each.words)
        low, high = each.interval()
        for i in range(HEAVY):
            at = each.words.index(REAL[i])
            covered += low[at] <= SHARES[i] <= high[at]
        many = mechanism.decode(summary, [*ABSENT, *REAL[:30]], control="benjamini_hochberg")
        assert set(many.words) >= set(each.words)
        shares.append(sum(word in ABSENT for word in many.words) / len(many.words))
    assert wrong <= 9  # of 40 at 5 %: more in 3 of 100 000 times
    assert np.mean(shares) <= 0.12  # at 5 %, of about 12 words each: as seldom
    assert covered >= 0.875 * RUNS * HEAVY  # of 160 at 95 %: fewer as seldom
    assert found >= 5 * RUNS  # it finds words


@pytest.mark.parametrize(("name", "share"), [("cms", 1.0), ("hcms", 0.5)])
def test_frequent_words_are_not_estimated_too_high_where_rows_have_few_reports(name: str, share: float) -> None:
    """Weights from the cells' own noise would put the mean z at 2.5 and 1.7."""
    mechanism: Words = Cms.from_epsilon(4.0) if name == "cms" else Hcms.from_epsilon(4.0)
    rng, devices, crowds = np.random.default_rng(20_261_205), 1000, 60
    counts, values = np.array([share, 1 - share]) * devices, mechanism.index(["vim", "grep"])
    z = []
    for _ in range(crowds):
        summary = mechanism.simulate(counts.astype(np.int64), rng, values)
        found = mechanism.decode(summary, ["vim", "grep", "make", "emacs"], least=1)
        at = found.words.index("vim")
        z.append((found.share[at] - share) / found.se[at])
    assert abs(np.mean(z)) <= 4.5 / np.sqrt(crowds)  # an unbiased estimate is beyond once in 100 000 times or less
