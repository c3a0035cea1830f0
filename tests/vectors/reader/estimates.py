"""spec/estimates.md: the one-bit estimate and its interval."""

import math
from collections.abc import Callable
from fractions import Fraction
from statistics import NormalDist
from typing import Any

from tests.vectors.reader.mechanisms import device, flipped
from tests.vectors.reader.words import need


def estimate(n: int, ones: int, level: float, lower: int, step: int, **which: Any) -> Any:
    e = device(**which)
    need(n)
    low, reach = Fraction(lower, 10**6), e.reach * Fraction(step, 10**6)
    q = flipped(e.entries[0], e.flip)
    per_one = reach / (1 - 2 * q)
    rate = Fraction(ones, n)
    value = low + (rate - q) * per_one
    a = e.entries[0] if e.memo else Fraction(0)
    kept = min(max(a + (value - low) / reach * (1 - 2 * a), Fraction(0)), Fraction(1))
    wilson = ones * (n - ones) >= 120 * n
    ends = (roots if wilson else tails)(ones, n, level)
    return {
        "value": float(value),
        "se": float(per_one) * math.sqrt(rate * (1 - rate) / n),
        "se_shared": float(reach / (1 - 2 * a)) * math.sqrt(kept * (1 - kept) / n),
        "low": float(low) + (ends[0] - float(q)) * float(per_one),
        "high": float(low) + (ends[1] - float(q)) * float(per_one),
        "method": "wilson" if wilson else "clopper_pearson",
    }


def halve(wrong: Callable[[float], bool], low: float, high: float) -> float:
    """The point in [low, high] at which `wrong` turns from false to true."""
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (low, middle) if wrong(middle) else (middle, high)
    return (low + high) / 2


def roots(ones: int, n: int, level: float) -> tuple[float, float]:
    """Wilson: where (r - t)² = z² t (1 - t) / n."""
    z, r = NormalDist().inv_cdf((1 + level) / 2), ones / n

    def near(t: float) -> bool:
        return n * (r - t) ** 2 <= z * z * t * (1 - t)

    return halve(near, 0.0, r), halve(lambda t: not near(t), r, 1.0)


def tails(ones: int, n: int, level: float) -> tuple[float, float]:
    """Clopper and Pearson: where so many or more, so many or fewer, have half of the chance that is left."""

    def chance(counts: range, t: float) -> float:
        ways = (math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1) for k in counts)
        logs = (way + k * math.log(t) + (n - k) * math.log1p(-t) for way, k in zip(ways, counts, strict=True))
        return math.fsum(map(math.exp, logs))

    rest = (1 - level) / 2
    low = halve(lambda t: chance(range(ones, n + 1), t) > rest, 0.0, 1.0) if ones else 0.0
    high = halve(lambda t: chance(range(ones + 1), t) < rest, 0.0, 1.0) if ones < n else 1.0
    return low, high
