"""spec/estimates.md: estimates of one number, or of the shares of many categories."""

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from tests.vectors.reader.intervals import binomial, quantile, score
from tests.vectors.reader.prices import exact


def coin(n: int, ones: int, level: float, lower: Fraction, span: Fraction, q: Fraction, a: Fraction) -> Any:
    """One number: q is the chance of a 1 at `lower`, a that of the permanent answer."""
    per_one = span / (1 - 2 * q)
    rate = Fraction(ones, n)
    value = lower + (rate - q) * per_one
    kept = min(max(a + (value - lower) / span * (1 - 2 * a), Fraction(0)), Fraction(1))
    (low, high), method = binomial(ones, n, level)
    return {
        "value": float(value),
        "se": float(per_one) * math.sqrt(rate * (1 - rate) / n),
        "se_shared": float(span / (1 - 2 * a)) * math.sqrt(kept * (1 - kept) / n),
        "low": float(lower) + (low - float(q)) * float(per_one),
        "high": float(lower) + (high - float(q)) * float(per_one),
        "method": method,
    }


def shares(
    counts: Sequence[int],
    n: int,
    p: Fraction,
    q: Fraction,
    level: float,
    simultaneous: bool = False,
    first: tuple[Fraction, Fraction] = (Fraction(1), Fraction(0)),
) -> Any:
    """Shares from counts of supports, whose chances are p and q, those of the permanent answers `first`."""
    rates = [Fraction(count, n) for count in counts]
    values = [(rate - q) / (p - q) for rate in rates]
    ends, methods = zip(*(binomial(count, n, each(level, len(counts), simultaneous)) for count in counts), strict=True)
    return {
        "value": list(map(float, values)),
        "se": [math.sqrt(rate * (1 - rate) / n) / float(p - q) for rate in rates],
        "se_shared": shared([first[1] + value * (first[0] - first[1]) for value in values], n, first[0] - first[1]),
        "low": [(low - float(q)) / float(p - q) for low, _ in ends],
        "high": [(high - float(q)) / float(p - q) for _, high in ends],
        "method": together(methods),
    }


def scored(
    values: Sequence[Fraction],
    ses: Sequence[float],
    n: int,
    noises: Sequence[Fraction],
    slopes: Sequence[Fraction],
    level: float,
    simultaneous: bool = False,
    guessed: bool = False,
) -> Any:
    """Shares whose variance is (noise + slope k + k (1 - k)) / n, each with its own, but which are no counts.

    `guessed`: noise that hangs on other shares.
    """
    level = each(level, len(values), simultaneous)
    rows = zip(values, ses, noises, slopes, strict=True)
    found = [
        score(float(value), float(noise / n), float(slope / n), n, level, se if guessed else None)
        for value, se, noise, slope in rows
    ]
    return {
        "value": list(map(float, values)),
        "se": list(ses),
        "se_shared": shared(values, n),
        "low": [low for (low, _), _ in found],
        "high": [high for (_, high), _ in found],
        "method": together([method for _, method in found]),
    }


def above(
    values: Sequence[Fraction],
    ses: Sequence[float],
    n: int,
    line: tuple[Fraction, Fraction],
    behind: tuple[Fraction, Fraction],
    level: float,
    simultaneous: bool = False,
) -> Any:
    """The same where the variance at the share t is base + slope t - t², that of what is behind reports likewise."""
    (base, slope), (least, rise) = line, behind
    scale = Fraction(exact(rise**2 + 4 * least).sqrt())
    zero = (rise - scale) / 2
    noise, more = (base - least + (slope - rise) * zero) / scale**2, (slope - rise) / scale
    inside, each = [(value - zero) / scale for value in values], len(values)
    narrow = [se / float(scale) for se in ses]
    found = scored(inside, narrow, n, [noise] * each, [more] * each, level, simultaneous)
    return {
        key: column
        if key == "method"
        else [float(scale) * number + float(zero) * (key in ("value", "low", "high")) for number in column]
        for key, column in found.items()
    }


def spread(squares: Sequence[Fraction], values: Sequence[Fraction], n: int) -> list[float]:
    """Standard errors from the mean squares of the reports."""
    return [math.sqrt(max(square - x**2, Fraction(0)) / n) for square, x in zip(squares, values, strict=True)]


def held(value: Fraction) -> Fraction:
    """A share clipped to [0, 1]."""
    return min(max(value, Fraction(0)), Fraction(1))


def normal(
    values: Sequence[Fraction], ses: Sequence[float], shared: Sequence[float], level: float, simultaneous: bool = False
) -> Any:
    """What else there is."""
    z = quantile(each(level, len(values), simultaneous))
    pairs = [(float(value), se) for value, se in zip(values, ses, strict=True)]
    return {
        "value": [value for value, _ in pairs],
        "se": list(ses),
        "se_shared": list(shared),
        "low": [value - z * se for value, se in pairs],
        "high": [value + z * se for value, se in pairs],
        "method": "normal",
    }


def drifting(found: Mapping[str, Any], drift: Sequence[float], level: float, simultaneous: bool = False) -> Any:
    """The same with each interval made wider for an error that does not fall with n."""
    z = quantile(each(level, len(drift), simultaneous))
    rows = list(zip(found["value"], found["low"], found["high"], drift, strict=True))
    low = [value - math.hypot(value - low, z * error) for value, low, _, error in rows]
    high = [value + math.hypot(high - value, z * error) for value, _, high, error in rows]
    return {**found, "low": low, "high": high}


def shared(rates: Sequence[Fraction], n: int, gain: Fraction = Fraction(1)) -> list[float]:
    """Standard errors if every report were what stands behind it, which supports categories at these rates."""
    return [math.sqrt(k * (1 - k) / n) / float(gain) for k in map(held, rates)]


def each(level: float, categories: int, simultaneous: bool) -> float:
    """The level of one interval of so many."""
    return 1 - (1 - level) / categories if simultaneous else level


def together(methods: Sequence[str]) -> str:
    return "+".join(sorted(set(methods)))
