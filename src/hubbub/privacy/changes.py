"""How many devices ever show that their value moved for good: those whose permanent answers to both values differ.

Where the two are the same, or both values lead to one entry, reports after the move have the law of those before it,
for ever. Where they differ, each further report tells more. With everything fresh there is no such shelter.

Source: hubbub's own derivation; spec/prices.md, "A move for good".
"""

import math
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise
from operator import ne

from hubbub.encoders.base import SCALE, Encoder, check
from hubbub.encoders.choices import stays
from hubbub.encoders.d_bit_flip import DBitFlip
from hubbub.encoders.grr import Grr
from hubbub.encoders.olh_pool import OlhPool
from hubbub.encoders.one_bit_mean import OneBitMean
from hubbub.encoders.randomized_response import RandomizedResponse
from hubbub.encoders.rappor import Rappor
from hubbub.encoders.unary import Unary


def visible(encoder: Encoder, before: int, after: int) -> Fraction | None:
    """Exact share of devices on which a move for good from one value to another shows in time, in [0, 1].

    1 where everything is fresh; None where it is not known for this encoder.

    Raises:
        ParameterError: Values outside [0, size).
    """
    for name, value in (("before", before), ("after", after)):
        check(name, value, 0, encoder.size - 1)
    if before == after:
        return Fraction(0)
    if not encoder.memo:
        return Fraction(1)
    if isinstance(encoder, RandomizedResponse):
        return _differ(Fraction(encoder.low, SCALE), 1 - Fraction(encoder.low, SCALE))
    if isinstance(encoder, OneBitMean):
        return sum((share * _between(encoder, i, j) for i, j, share in _led(encoder, before, after)), Fraction(0))
    if isinstance(encoder, Grr):
        return _other_answer(encoder.keep, encoder.size)
    if isinstance(encoder, OlhPool):
        return (1 - encoder.collisions) * _other_answer(encoder.rounds()[0], encoder.g)
    if isinstance(encoder, DBitFlip):
        return _among_asked(encoder, abs(before - after))
    if isinstance(encoder, Unary):
        own, other = encoder.kept()
        return 1 - (1 - _differ(own, other)) ** 2
    if isinstance(encoder, Rappor):
        return _in_cohorts(encoder, before, after)
    return None


def most_visible(encoder: Encoder) -> tuple[Fraction, bool] | None:
    """The share for two categories, or words, of which a move shows most often, and whether it is that of any two."""
    if isinstance(encoder, Rappor) and encoder.memo:  # most of two words that never share a place
        alike = 1 - _differ(*encoder.entries())
        return 1 - alike ** (2 * encoder.hashes), False
    most = visible(encoder, 0, encoder.size // 2)
    return None if most is None else (most, most == visible(encoder, 0, 1))


def percent_of(share: Fraction) -> str:
    """A share of devices as printed, rounded up to tenths: `26.4 %`."""
    return f"{math.ceil(share * 1000) / 10:g} %"


def _other_answer(keep: int, answers: int) -> Fraction:
    p, q = stays(keep, answers)
    return 1 - 2 * p * q - (answers - 2) * q**2


def _among_asked(encoder: DBitFlip, apart: int) -> Fraction:
    """Of two buckets so far apart, those of both that are asked, over all rows of d buckets."""
    k, d = encoder.size, encoder.d
    both = k if d == k else max(0, d - apart) + max(0, d - (k - apart))
    one = 2 * (d - both)
    shows = _differ(Fraction(encoder.lie, SCALE), 1 - Fraction(encoder.lie, SCALE))
    return Fraction(one, k) * shows + Fraction(both, k) * (1 - (1 - shows) ** 2)


def _in_cohorts(encoder: Rappor, before: int, after: int) -> Fraction:
    """Over all cohorts: in each, the positions that one word sets and the other does not."""
    pairs = ((encoder.filter(cohort, before), encoder.filter(cohort, after)) for cohort in range(encoder.cohorts))
    apart = Counter(sum(map(ne, *pair)) for pair in pairs)
    alike = 1 - _differ(*encoder.entries())
    return sum((Fraction(times, encoder.cohorts) * (1 - alike**n) for n, times in apart.items()), Fraction(0))


def _between(encoder: OneBitMean, i: int, j: int) -> Fraction:
    if i == j:
        return Fraction(0)
    return _differ(*(Fraction(encoder.low + k * encoder.rise, SCALE) for k in (i, j)))


def _differ(p: Fraction, q: Fraction) -> Fraction:
    return p * (1 - q) + q * (1 - p)


def _led(encoder: OneBitMean, before: int, after: int) -> Iterator[tuple[int, int, Fraction]]:
    """Entries of both values, and the share of alphas that lead there."""
    bucket = encoder.bucket
    ends = sorted({0, bucket, *(bucket - value % bucket for value in (before, after))})
    for first, end in pairwise(ends):
        yield (before + first) // bucket, (after + first) // bucket, Fraction(end - first, bucket)
