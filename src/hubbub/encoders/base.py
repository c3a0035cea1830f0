"""What a device runs: frozen integers and the standard library, nothing else.

Words are integers in [0, 2**32); every probability is a share of them, so a device compares integers and never calls
`exp`. Specification: spec/README.md and spec/prices.md.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import ClassVar, NamedTuple, Protocol

from hubbub.errors import ParameterError, PrivateValueError

SCALE = 2**32  # number of distinct words
Words = Callable[[int], Sequence[int]]  # words(count): the next `count` words, each in [0, SCALE)
Answer = tuple[int, ...]  # what a device keeps for ever in place of its value
Payload = tuple[int, ...]  # what is sent; field i is in [0, radices[i])
Law = Mapping[Payload, Fraction]


class Prf(Protocol):
    """A device's permanent words: the same purpose and key give the same stream for ever."""

    def __call__(self, purpose: str, *key: int) -> Words:
        """The stream of words for this purpose and key, from its beginning."""
        ...


class Prices(NamedTuple):
    """Losses of one installation in nats, computed from the integers and rounded up."""

    report: float  # one report
    steady: float  # a device that never changes, for ever
    change: float  # one changed window
    life: float  # any two histories over all windows


class Encoder(Protocol):
    """A metric's half on the device: a frozen dataclass of integers, refused by `ParameterError` where they do not fit.

    Values are integers in [0, size).
    """

    name: ClassVar[str]
    kinds: ClassVar[tuple[str, ...]]  # kinds of metric that it encodes

    @property
    def size(self) -> int:
        """Number of values."""
        ...

    @property
    def radices(self) -> tuple[int, ...]:
        """Field i of a payload is in [0, radices[i])."""
        ...

    @property
    def public(self) -> int:
        """How many leading payload fields are drawn without looking at the value."""
        ...

    @property
    def memo(self) -> int:
        """1 where a device keeps permanent answers, 0 where everything is drawn afresh."""
        ...

    @property
    def public_bits(self) -> float:
        """Bits of permanent randomness that travel in the clear."""
        ...

    @property
    def linkage_bits(self) -> float:
        """Mutual information, in bits, between two windows' reports of one steady device; at most."""
        ...

    def permanent(self, value: int, prf: Prf) -> Answer:
        """What the device answers for ever in place of `value`; the value itself for fresh metrics."""
        ...

    def report(self, answer: Answer, words: Words) -> Payload:
        """One report of the answer with fresh noise."""
        ...

    def possible(self, payload: Payload) -> bool:
        """Whether a device can send this payload, whose fields fit their radices."""
        ...

    def law(self, value: int, public: Payload = ()) -> Law:
        """Exact chance of each payload over both rounds, given the public fields (none: zeros)."""
        ...

    def prices(self, windows: int) -> Prices:
        """The device's own figures for a life of `windows` reports."""
        ...

    def canonical(self) -> tuple[int, ...]:
        """The integers that build it again: `type(self)(*canonical)`."""
        ...


def check(name: str, value: object, low: int, high: int) -> None:
    """Refuse anything but an integer in [low, high].

    Raises:
        ParameterError: Not an integer, or outside.
    """
    if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
        raise ParameterError(name, value, f"an integer in [{low}, {high}]")


def held(value: object, size: int) -> None:
    """Refuse what is no value of the encoder, before it could travel in the clear.

    Raises:
        PrivateValueError: Not an integer in [0, size); the message does not say what it was.
    """
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < size:
        raise PrivateValueError(f"the value must be an integer in [0, {size})")


def below(bound: int, words: Words) -> int:
    """Draw uniformly from [0, bound): words at or above the last full multiple are drawn again."""
    limit = SCALE - SCALE % bound
    while (word := words(1)[0]) >= limit:
        pass
    return word % bound


def each_below(bounds: Sequence[int], words: Words) -> list[int]:
    """`below` for one bound after the other; the words are asked for at once, since a call costs more than a word."""
    drawn = words(len(bounds))
    surely = SCALE - max(bounds)
    if all(word < surely for word in drawn):
        return [word % bound for word, bound in zip(drawn, bounds, strict=True)]
    left = [*reversed(drawn)]
    return [below(bound, lambda _: (left.pop(),) if left else words(1)) for bound in bounds]


def up(loss: float) -> float:
    """Round a loss up past any error of the few floating-point steps that made it."""
    return math.nextafter(loss * (1 + 1e-12), math.inf)


def loss(p: Fraction, q: Fraction) -> float:
    """Worst log ratio of two coins with chances p < q, to a relative error of a few ulp also where they are close."""
    gap = q - p
    return max(math.log1p(float(gap / p)), math.log1p(float(gap / (1 - q)))) if p and q != 1 else math.inf


def ratio(high: Fraction, low: Fraction) -> float:
    """ln(high / low) to a relative error of a few ulp also where they are close; inf where low is 0."""
    return math.log1p(float((high - low) / low)) if low else math.inf


def fresh_linkage(values: int, distance: float, nats: float) -> float:
    """Most bits that one fresh report of a steady device tells about another (spec/prices.md, "Linkage").

    Args:
        values: Number of values: two reports share no more than the value itself.
        distance: Total variation distance of two values' laws, at most.
        nats: Kullback-Leibler divergence of two values' laws, at most.
    """
    return min(math.log2(values), distance * nats / math.log(2) * (1 + 1e-12))


def fresh(report: float, windows: int) -> Prices:
    """Prices of an encoder that draws everything afresh: losses add up whether the value changes or not."""
    return Prices(up(report), up(windows * report), up(report), up(windows * report))


def two_rounds(report: float, steady: float, flip: int, entries: Iterable[int], windows: int) -> Prices:
    """Prices of a permanent bit that each report flips with chance flip / SCALE (spec/prices.md).

    Args:
        report: Loss of one report, in nats.
        steady: Loss of the permanent bit of a value that never changes, in nats.
        flip: Share of reports that are flipped, out of SCALE.
        entries: Share of ones of each permanent bit that a value can lead to, out of SCALE.
        windows: Reports in the metric's life.
    """
    change = _change(flip)
    hidden = sorted(map(_half_log, entries))
    life = min(windows * change, windows / 2 * change + math.fsum(hidden[-windows:])) if windows else 0.0
    return Prices(up(report), up(steady), up(change), up(life))


def kept_bits(
    report: float, steady: float, each: float, entries: tuple[int, int], ones: int, positions: int, windows: int
) -> Prices:
    """Prices of permanent bits, two for each position, that each report sends with fresh noise (spec/prices.md).

    Args:
        report: Loss of one report, in nats.
        steady: Loss of the permanent bits of a value that never changes, in nats.
        each: Loss of one report of a permanent bit that is another one, in nats.
        entries: Share of ones of the permanent bit of a position that is not set and of one that is, out of SCALE.
        ones: Positions that a value sets, at most.
        positions: Positions that are sent.
        windows: Reports in the metric's life.
    """
    change = each * min(2 * ones, positions)
    odds = max(entries[1] / (SCALE - entries[1]), (SCALE - entries[1]) / entries[1])
    first, again = math.log1p(odds), math.log1p(odds - 1 + math.exp(-each))
    used = ones * windows
    bounds = (
        windows * change,
        positions * (windows / 2 * each + math.fsum(map(_half_log, entries))),
        used * each + again * min(positions, 2 * used) + (first - again) * min(positions, used),
    )
    return Prices(up(report), up(steady), up(change), up(min(bounds) if windows else 0.0))


@lru_cache(maxsize=1024)
def _change(flip: int) -> float:
    """Loss of a permanent bit that is another one in one window."""
    g = Fraction(flip, SCALE)
    return loss(g, 1 - g)


def _half_log(ones: int) -> float:
    """ln(1 / (4 p (1 - p))) / 2 for p = ones / SCALE, to a few ulp near 1/2 and near 0 or 1 alike."""
    tilt, whole = (SCALE - 2 * ones) ** 2, SCALE**2
    return -(math.log1p(-tilt / whole) if 2 * tilt < whole else math.log((whole - tilt) / whole)) / 2


def linkage(chance: Fraction) -> float:
    """Most bits that one report of a steady device tells about another (spec/prices.md, "Linkage").

    Both reports are the same hidden bit, each flipped with this chance; the worst crowd holds ones and zeros evenly.
    """
    differ = float(2 * chance * (1 - chance))
    return 1.0 + sum(p * math.log2(p) for p in (differ, 1 - differ) if p > 0)


def shared_bits(kept: Fraction, zero: Fraction, one: Fraction) -> float:
    """Bits that two reports of one permanent bit share; a little more than exact.

    Args:
        kept: Chance that the permanent bit is 1.
        zero: Chance that a report sends 1 for a permanent 0.
        one: Chance that a report sends 1 for a permanent 1.
    """
    rate = zero + kept * (one - zero)
    both = kept * one**2 + (1 - kept) * zero**2
    joint = (both, rate**2), (rate - both, rate * (1 - rate)), (1 - 2 * rate + both, (1 - rate) ** 2)
    terms = (times * float(p) * math.log2(p / q) for times, (p, q) in zip((1, 2, 1), joint, strict=True) if p)
    return math.fsum(terms) + 1e-14
