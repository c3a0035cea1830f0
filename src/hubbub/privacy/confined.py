"""What is promised to devices whose values stay within a window of the range for ever: epsilon and delta.

With alpha uniform on [0, S), S the bucket, values within w <= S ticks of each other lead to one and the same entry
except with chance w / S, for every number of reports. Where two histories each stay with one entry, they lose what
two permanent bits do. So whatever is seen has under one history at most e^epsilon times its chance under the other,
plus the chances that either uses a second entry. Two histories within the same w ticks use the same entry except
with chance w / S, and then all is alike.

Source: hubbub's own derivation; spec/prices.md, "Values that stay within a window".
"""

from dataclasses import dataclass
from fractions import Fraction

from hubbub.encoders.base import Encoder, check
from hubbub.encoders.one_bit_mean import OneBitMean
from hubbub.errors import ParameterError
from hubbub.privacy.pattern import same_pattern


@dataclass(frozen=True)
class Statement:
    """Chances differ at most e^epsilon-fold, up to delta: epsilon in nats, delta exact; delta = 1: nothing."""

    epsilon: float
    delta: Fraction


def confined(encoder: Encoder, width: int, other: int) -> Statement:
    """Two devices whose values stay for ever within windows of so many ticks each, wherever these lie.

    Raises:
        ParameterError: Widths outside [0, ticks], or no one-bit mean that keeps its answers. Elsewhere no change is
            small: only values that never change have a statement, the steady price.
    """
    bucket = _bucket(encoder, width, other)
    return Statement(same_pattern(encoder, 1), min(Fraction(1), Fraction(width + other, bucket)))


def within(encoder: Encoder, width: int) -> Statement:
    """Two devices whose values stay for ever within the same window of so many ticks.

    Raises:
        ParameterError: As for `confined`.
    """
    return Statement(0.0, min(Fraction(1), Fraction(width, _bucket(encoder, width))))


def _bucket(encoder: Encoder, *widths: int) -> int:
    if not (isinstance(encoder, OneBitMean) and encoder.memo):
        raise ParameterError("encoder", encoder.name, "one_bit_mean that keeps permanent answers")
    for width in widths:
        check("width", width, 0, encoder.ticks)
    return encoder.bucket
