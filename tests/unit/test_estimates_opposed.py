"""How negatively the permanent answers of one device can be correlated: what differences of two windows rest on."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from hubbub.encoders.base import SCALE, Answer, Encoder, Words
from hubbub.encoders.d_bit_flip import DBitFlip
from hubbub.encoders.grr import Grr
from hubbub.encoders.olh_pool import OlhPool as Pool
from hubbub.encoders.oue import Oue
from hubbub.encoders.sue import Sue
from hubbub.estimates import Period, difference, period
from hubbub.estimates.combining import apart
from hubbub.mechanisms import registry
from hubbub.mechanisms.base import any_estimate
from hubbub.mechanisms.estimate import Reals
from hubbub.mechanisms.olh_pool import OlhPool
from hubbub.store import Report, open_store
from hubbub.wire import pack
from tests.unit.collecting import DAY, FIRST, GRACE, end, key, late, lock

Chances = dict[int, Fraction]  # of representative words
Drawn = dict[tuple[str, int], Sequence[Chances]]  # what each word of a stream can be
Z = 1.959963984540054


def cut(*cuts: int, even: int = 1) -> Chances:
    """Words by which of these they are below, and by their remainder."""
    found: Chances = {}
    for low, high in pairwise(sorted({0, SCALE, *cuts})):
        for first in range(low, min(high, low + even)):
            found[first] = Fraction(len(range(first, high, even)), SCALE)
    return found


def evenly(bound: int) -> Chances:
    return {word: Fraction(1, bound) for word in range(bound)}


def pool(size: int, g: int) -> tuple[Encoder, Drawn]:
    e = Pool(size, g, SCALE // (20 * g), SCALE // (5 * g), 1)
    return e, {("pool", 0): [evenly(e.seeds)], **{("memo", h): [cut((g - 1) * e.lie, even=g - 1)] for h in range(g)}}


def flipped(size: int, d: int) -> tuple[Encoder, Drawn]:
    e = DBitFlip(size, d, SCALE // 4, SCALE // 8, 1)
    bits: Drawn = {("memo", state): [cut(e.lie, SCALE - e.lie)] * d for state in (0, 1)}
    return e, bits | ({("pool", 0): [evenly(size)]} if d < size else {})


def encoders() -> Iterator[tuple[Any, Drawn]]:
    """Small ones, with what their permanent words can be."""
    for size in (3, 4):
        grr = registry["grr"].from_epsilon(1, permanent_epsilon=2, categories=size).encoder
        assert isinstance(grr, Grr)
        yield grr, {("memo", value): [cut(grr.keep), evenly(size - 1)] for value in range(size)}
    for name in ("sue", "oue"):
        unary = registry[name].from_epsilon(1, permanent_epsilon=2, categories=3).encoder
        assert isinstance(unary, Sue | Oue)
        yield unary, {("memo", state): [cut(unary.lie, unary.own)] * 3 for state in (0, 1)}
    for size, d in ((4, 1), (4, 2), (3, 3)):
        yield flipped(size, d)
    for size, g in ((3, 3), (4, 2), (8, 2), (9, 3)):
        yield pool(size, g)


def answers(e: Encoder, drawn: Drawn) -> list[tuple[Fraction, list[Answer]]]:
    """The answers to all values that the device can have, with the chance of each list, through the encoder itself."""
    found = []
    places = [(stream, options) for stream, words in drawn.items() for options in words]
    for chosen in product(*(options.items() for _, options in places)):
        streams: dict[tuple[str, int], list[int]] = {}
        for (stream, _), (word, _) in zip(places, chosen, strict=True):
            streams.setdefault(stream, []).append(word)

        def prf(purpose: str, *key: int, streams: dict[tuple[str, int], list[int]] = streams) -> Words:
            left = iter(streams[purpose, key[0] if key else 0])
            return lambda count: [next(left) for _ in range(count)]

        found.append(
            (
                math.prod((chance for _, chance in chosen), start=Fraction(1)),
                [e.permanent(v, prf) for v in range(e.size)],
            )
        )
    assert sum(chance for chance, _ in found) == 1
    return found


def told(e: Any, answer: Answer, category: int) -> Fraction:
    """What a permanent answer adds to the count of a category."""
    if isinstance(e, Grr):
        return Fraction(answer[0] == category)
    if isinstance(e, Sue | Oue):
        return Fraction(answer[category])
    if isinstance(e, Pool):
        return Fraction(e.hash(answer[0], category) == answer[1])
    asked = list(e.asked(answer[: e.public]))
    bits = answer[e.public :]
    return bits[asked.index(category)] - Fraction(e.lie, SCALE) if category in asked else Fraction(0)


@pytest.mark.parametrize(("e", "drawn"), [pytest.param(*one, id=f"{one[0].name}-{one[0].size}") for one in encoders()])
def test_the_least_covariance_is_as_stated(e: Any, drawn: Drawn) -> None:
    """Exact, of every category and every two values; a pool attains what it states, all others never are below 0."""
    worlds, places = answers(e, drawn), range(e.size)
    least: Fraction | float = math.inf
    for category in places:
        table = [(chance, [told(e, answer, category) for answer in each]) for chance, each in worlds]
        mean = [sum(chance * row[value] for chance, row in table) for value in places]
        assert len({mean[value] for value in places if value != category}) == 1
        for u, w in product(places, repeat=2):
            both = sum(chance * row[u] * row[w] for chance, row in table)
            least = min(least, both - mean[u] * mean[w])
    stated = any_estimate(registry[e.name].from_encoder(e)).crowd.opposed
    assert -min(float(least), 0.0) == pytest.approx(stated, rel=1e-9)
    assert stated == 0 or isinstance(e, Pool)


def test_no_pool_is_worse_than_one_out_of_all_numbers_of_its_length() -> None:
    """In units of the value, where permanent answers never lie, it is g to the power of -t: the bound of the page."""
    for size, g in ((4, 2), (8, 2), (100, 2), (9, 3), (1000, 5)):
        mechanism = OlhPool.from_encoder(Pool(size, g, 1, SCALE // (4 * g), 1))
        crowd = any_estimate(mechanism).crowd
        assert crowd.opposed * crowd.scale**2 == pytest.approx(float(g) ** -mechanism.encoder.digits, rel=1e-6)


PEOPLE = 600


def crossing(mechanism: OlhPool) -> tuple[Reals, Reals]:
    """If all devices move from one value to another and none ever holds the category.

    The chance of each pair of counts, and that a device's two reports support it.
    """
    e = mechanism.encoder
    first, last = e.rounds()
    keep, lie = Fraction(first, SCALE), Fraction(e.lie, SCALE)
    own, other = Fraction(last, SCALE), Fraction(e.flip, SCALE)
    table = np.zeros((2, 2))
    category, u, w = 0, 1, e.g  # their digits are not parallel
    for seed in range(e.seeds):
        hashes = [e.hash(seed, value) for value in (category, u, w)]
        for mine, yours in product(range(e.g), repeat=2):
            if hashes[1] == hashes[2] and mine != yours:
                continue
            chance = Fraction(1, e.seeds) * (keep if mine == hashes[1] else lie)
            if hashes[1] != hashes[2]:
                chance *= keep if yours == hashes[2] else lie
            a, b = (own if answer == hashes[0] else other for answer in (mine, yours))
            table += float(chance) * np.outer([float(1 - a), float(a)], [float(1 - b), float(b)])
    assert table.sum() == pytest.approx(1)
    side = PEOPLE + 1
    return np.fft.ifft2(np.fft.fft2(table, (side, side)) ** PEOPLE).real, table


@pytest.mark.parametrize(("epsilon", "permanent", "size", "g"), [(6, 12, 8, 2), (4, 8, 9, 3)])
def test_differences_hold_where_all_devices_move(epsilon: float, permanent: float, size: int, g: int) -> None:
    """Exact over both counts: short without the term, as wide as needed with it."""
    mechanism = OlhPool.from_epsilon(epsilon, permanent_epsilon=permanent, categories=size, g=g)
    chances, table = crossing(mechanism)
    one = any_estimate(mechanism)
    ones = np.arange(PEOPLE + 1)
    every = replace(one, value=one.at_zero + ones / PEOPLE * one.per_one, n=PEOPLE, ones=ones)
    low, high = every.interval(0.95)
    before, after = ((end[:, None], value[:, None], top[:, None]) for end, value, top in [(low, every.value, high)] * 2)
    after = tuple(column.T for column in after)  # type: ignore[assignment]
    held = []
    for opposed in (0.0, 2 * one.crowd.scale**2 * one.crowd.opposed / PEOPLE):
        least, most = apart(before, after, Z * Z * opposed)
        held.append(float(chances[(least <= 0) & (most >= 0)].sum()))
    assert held[0] < 0.945 < 0.9475 < held[1] < 0.96
    covariance = (table[1, 1] - table[1].sum() * table[:, 1].sum()) * one.per_one**2
    assert covariance == pytest.approx(-one.crowd.opposed * one.crowd.scale**2, rel=1e-9)


def test_periods_carry_it(tmp_path: Path) -> None:
    """A window has its own, a mean that of its windows, and a difference the product, to either side."""
    mechanism = OlhPool.from_epsilon(4, permanent_epsilon=8, categories=9, g=3)
    metric = replace(late(), kind="choice", encoder=mechanism.encoder, labels=tuple("abcdefgh"), report_every=2)
    radices = mechanism.encoder.radices
    with open_store(tmp_path / "store.db") as store:
        store.accept(lock(metric))
        for day in range(5):
            start = 10_000 * day
            sent = [
                Report(key(metric, FIRST + day), start + i, "", pack((i % radices[0], i % radices[1]), radices))
                for i in range(300 + 100 * day)
            ]
            store.write(sent)

        def mean(first: int, last: int) -> Period:
            start, stop = ((FIRST + day) * DAY for day in (first, last))
            now = end(FIRST + 40) + GRACE
            return period(store, now=now, metric=metric.name, category="a", start=start, end=stop)

        one, other, several = mean(0, 1), mean(2, 3), mean(0, 4)
    assert one.n == 300
    least = any_estimate(mechanism).crowd
    assert one.se_opposed == pytest.approx(least.scale * math.sqrt(least.opposed / 300))
    crowd = ((300**-0.5 + 500**-0.5) ** 2 + (400**-0.5 + 600**-0.5) ** 2) / 4**2
    assert several.se_opposed == pytest.approx(least.scale * math.sqrt(least.opposed * crowd))
    found = difference(one, other)
    assert one.se
    assert other.se
    assert one.se_opposed
    assert other.se_opposed
    assert found.se**2 - one.se**2 - other.se**2 == pytest.approx(2 * one.se_opposed * other.se_opposed)
    plain = difference(*(msgspec.structs.replace(each, se_opposed=0.0) for each in (one, other)))
    for wide, narrow in ((found.ci_low, plain.ci_low), (found.ci_high, plain.ci_high)):
        added = (wide - found.value) ** 2 - (narrow - found.value) ** 2
        assert added == pytest.approx(2 * Z**2 * one.se_opposed * other.se_opposed)
