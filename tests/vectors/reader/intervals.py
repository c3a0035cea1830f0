"""spec/estimates.md: intervals, each end found by halving."""

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from statistics import NormalDist

Ends = tuple[float, float]
STEPS = 80


def quantile(level: float) -> float:
    """The normal quantile of an interval of this level."""
    return NormalDist().inv_cdf((1 + level) / 2)


def halve(wrong: Callable[[float], bool], low: float, high: float) -> float:
    """The point in [low, high] at which `wrong` turns from false to true."""
    for _ in range(STEPS):
        middle = (low + high) / 2
        low, high = (low, middle) if wrong(middle) else (middle, high)
    return (low + high) / 2


def binomial(ones: int, n: int, level: float) -> tuple[Ends, str]:
    """For the chance of a 1."""
    if ones * (n - ones) >= 120 * n:
        return roots(ones, n, level), "wilson"
    return tails(ones, n, level), "clopper_pearson"


def roots(ones: int, n: int, level: float) -> Ends:
    """Wilson: where (r - t)² = z² t (1 - t) / n."""
    z, r = quantile(level), ones / n

    def near(t: float) -> bool:
        return n * (r - t) ** 2 <= z * z * t * (1 - t)

    return halve(near, 0.0, r), halve(lambda t: not near(t), r, 1.0)


def tails(ones: int, n: int, level: float) -> Ends:
    """Clopper and Pearson: where so many or more, so many or fewer, have half of the chance that is left."""
    ways = math.lgamma(n + 1)

    def chance(counts: range, t: float) -> float:
        if len(counts) > n / 2 + 1:  # the other side is shorter
            return 1 - chance(range(counts.stop, n + 1) if counts.start == 0 else range(counts.start), t)
        one, none = math.log(t), math.log1p(-t)
        logs = (ways - math.lgamma(k + 1) - math.lgamma(n - k + 1) + k * one + (n - k) * none for k in counts)
        return math.fsum(map(math.exp, logs))

    rest = (1 - level) / 2
    low = halve(lambda t: chance(range(ones, n + 1), t) > rest, 0.0, 1.0) if ones else 0.0
    high = halve(lambda t: chance(range(ones + 1), t) < rest, 0.0, 1.0) if ones < n else 1.0
    return low, high


def means(stands: Sequence[Fraction], counts: Sequence[int], sent: Sequence[bool], level: float) -> tuple[Ends, str]:
    """For the mean of what reports stand for; `sent`: some value's law has the output."""
    two = sorted({w for w, count, can in zip(stands, counts, sent, strict=True) if count or can})
    if len(two) > 2:
        high, low = (sign * dirichlet([float(sign * w) for w in stands], counts, level) for sign in (1, -1))
        return (low, high), "gaffke"
    ones = sum(count for w, count in zip(stands, counts, strict=True) if w == two[1])
    ends, method = binomial(ones, sum(counts), level)
    low, high = (float(two[0]) + end * float(two[1] - two[0]) for end in ends)
    return (low, high), method


def dirichlet(stands: Sequence[float], counts: Sequence[int], level: float) -> float:
    """The upper end of Gaffke's."""
    z, n = quantile(level), sum(counts) + 1
    most = max(stands)
    tally = [(most - w, count) for w, count in zip(stands, counts, strict=True) if count] + [(0.0, 1)]
    if all(gap == 0 for gap, _ in tally):
        return most

    def place(log: float) -> tuple[float, float, float]:
        """How far t is from the largest, r, and u."""
        v = math.exp(log)
        U = math.fsum(a / (gap + v) for gap, a in tally) / n
        y = [1 - U * (gap + v) for gap, _ in tally]
        r = 2 * math.fsum(a * math.log1p(-one) for one, (_, a) in zip(y, tally, strict=True))
        u = math.fsum(a * (one / (1 - one)) ** 2 for one, (_, a) in zip(y, tally, strict=True))
        return v - 1 / U, math.sqrt(max(r, 0)), math.sqrt(u)

    def near(log: float) -> bool:
        _, r, u = place(log)
        return r <= 0.01 or r + math.log(u / r) / r <= z

    wide = max(gap for gap, _ in tally)
    return most + place(halve(near, math.log(wide) - 100, math.log(wide * n) + 10))[0]


def score(k: float, noise: float, slope: float, n: int, level: float, se: float | None = None) -> tuple[Ends, str]:
    """For a share whose estimate k has the variance noise + slope t + t (1 - t) / n at t; `se`: where it is guessed."""
    high = above(k, noise, slope, n, level, se)
    low = 1 - above(1 - k, noise + slope, -slope, n, level, se)
    return (low, high), "clopper_pearson" if rough(k, n) else "wilson"


def rough(k: float, n: int) -> bool:
    held = min(max(k, 0.0), 1.0)
    return n * held * (1 - held) < 200


def above(k: float, noise: float, slope: float, n: int, level: float, se: float | None) -> float:
    """The upper end: the last t at which (t - k)² <= z² times the variance at t, or one further out."""
    z, held = quantile(level), min(max(k, 0.0), 1.0)

    def beyond(t: float) -> float:
        inside = min(max(t, 0.0), 1.0)
        return (t - k) ** 2 - z * z * (noise + slope * inside + inside * (1 - inside) / n)

    low, high = held, 1.0
    for _ in range(STEPS):  # where it is least, by thirds: it is convex
        third = (high - low) / 3
        low, high = (low, high - third) if beyond(low + third) <= beyond(high - third) else (low + third, high)
    nearest = (low + high) / 2
    if beyond(nearest) <= 0:
        end = halve(lambda t: beyond(t) > 0, nearest, nearest + 2 + z * math.sqrt(noise + abs(slope) + 1))
    else:
        end = k + z * math.sqrt(noise if k < 0 else noise + slope)
    at, crowd = noise + slope * held, held * (1 - held) / n
    if se is not None:
        at = max(at, se * se - crowd)
    if rough(k, n):
        ones, rest = n * held, (1 - level) / 2
        exact = halve(lambda t: beta(ones + 1, n - ones, t) > 1 - rest, 0.0, 1.0) if ones < n else 1.0
        return max(end, k + math.sqrt((exact - held) ** 2 + z * z * at))
    return end if se is None else max(end, k + z * math.sqrt(crowd + at))


def beta(a: float, b: float, x: float) -> float:
    """The regularised incomplete beta function, by the continued fraction of Lentz."""
    if x > (a + 1) / (a + b + 2):
        return 1 - beta(b, a, 1 - x)
    if x <= 0:
        return 0.0
    tiny = 1e-300
    c, d = 1.0, 1 / (1 - (a + b) * x / (a + 1))
    fraction = d
    for m in range(1, 10_000):
        before = fraction
        for step in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d = 1 / (1 + step * d or tiny)
            c = 1 + step / c or tiny
            fraction *= c * d
        if math.isclose(fraction, before, rel_tol=1e-16):
            break
    logs = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)
    return math.exp(logs) * fraction / a
