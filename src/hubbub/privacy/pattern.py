"""What histories cost that are alike in form: those that go back to a value exactly when the other does.

Two histories have the same pattern if one becomes the other by naming the values differently. Without flips each
distinct entry shows one permanent bit for ever, however often it is used, so m distinct entries cost the worst sum
of m losses; flips only take away from that. Any other two histories are told apart by when they change: see `life`
and spec/prices.md.

One-bit family. With p_0 < ... < p_K the chances of a 1, entries i_1 ... i_m of one history against j_1 ... j_m of
the other lose at most the largest sum of max(ln(p_i / p_j), ln((1 - p_i) / (1 - p_j))). Let a of the bits be 1: the
sum falls into one over the i and one over the j, so the a entries nearest K and the m - a nearest 0 are worst for
the i, and the other way round for the j. As p_k + p_(K-k) = 1 that is H(a) + H(m - a) with

    H(a) = sum of ln(p_(K-k) / p_k) over k < a,   whose steps fall: the worst a is half of m.

One answer of several (grr). Any two values' permanent answers lose the same P at worst, so m of them lose m P.

Source: hubbub's own derivation; spec/prices.md, "Histories of one pattern".
"""

import math
from fractions import Fraction

from hubbub.encoders.base import SCALE, Encoder, check, ratio, up
from hubbub.encoders.grr import Grr
from hubbub.encoders.one_bit_mean import OneBitMean
from hubbub.encoders.randomized_response import RandomizedResponse
from hubbub.errors import ParameterError

MOST = 1 << 20  # distinct entries asked for


def same_pattern(encoder: Encoder, distinct: int) -> float:
    """Most that two histories of one pattern with so many distinct entries lose, in nats, for any number of reports.

    A boolean has two entries; a one-bit mean one more than buckets, which its values share; a grr one for each value.
    Rounded up. Exact without flips where the bucket divides the range, an upper bound otherwise.

    Raises:
        ParameterError: Fewer than one entry, or another encoder: where a value has several bits, or is hashed, the
            values' pattern is not that of the entries.
    """
    check("distinct", distinct, 1, MOST)
    if isinstance(encoder, Grr) and encoder.memo:
        return up(min(distinct, encoder.size) * encoder.prices(1).steady)
    ones = entries(encoder)
    top, visited = len(ones) - 1, min(distinct, len(ones))
    steps = [ratio(Fraction(ones[top - k], SCALE), Fraction(ones[k], SCALE)) for k in range((visited + 1) // 2)]
    return up(math.fsum(steps) + math.fsum(steps[: visited // 2]))


def entries(encoder: Encoder) -> list[int]:
    """Share of ones of each permanent bit, out of SCALE, rising.

    Raises:
        ParameterError: An encoder that keeps none, or more than one bit of a value.
    """
    if encoder.memo and isinstance(encoder, RandomizedResponse):
        return [encoder.low, SCALE - encoder.low]
    if encoder.memo and isinstance(encoder, OneBitMean):
        return [encoder.low + k * encoder.rise for k in range(encoder.top + 1)]
    raise ParameterError("encoder", encoder.name, "randomized_response, one_bit_mean or grr, where answers are kept")
