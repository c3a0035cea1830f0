"""Subset selection: `omega` of the categories, the own one among them with a known chance, the others at random.

With p = keep / 2**32 the own category is in the set; the others in it are drawn evenly from the size - 1 others. A set
that holds the own category has chance p / C(size - 1, omega - 1), any other one (1 - p) / C(size - 1, omega), so the
loss of one report is ln(p (size - omega) / ((1 - p) omega)). Everything is drawn afresh.

A set travels as a bit for each category, omega of them 1. Sources: Ye, Barg, IEEE Transactions on Information Theory
64 (2018); Wang and others, 2016. Proofs: spec/mechanisms/subset_selection.md.
"""

from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import comb
from typing import ClassVar

from hubbub.encoders.base import (
    SCALE,
    Answer,
    Law,
    Payload,
    Prf,
    Prices,
    Words,
    check,
    each_below,
    fresh,
    fresh_linkage,
    held,
    ratio,
)

MAX_SIZE = 65_536


@dataclass(frozen=True)
class SubsetSelection:
    """One of `size` categories; values: their indices."""

    name: ClassVar[str] = "subset_selection"
    kinds: ClassVar[tuple[str, ...]] = ("choice", "histogram")
    public: ClassVar[int] = 0
    public_bits: ClassVar[float] = 0.0
    memo: ClassVar[int] = 0
    size: int
    omega: int
    keep: int

    def __post_init__(self) -> None:
        check("size", self.size, 2, MAX_SIZE)
        check("omega", self.omega, 1, self.size - 1)
        check("keep", self.keep, SCALE * self.omega // self.size + 1, SCALE - 1)

    @property
    def radices(self) -> tuple[int, ...]:
        """A bit for each category."""
        return (2,) * self.size

    @property
    def linkage_bits(self) -> float:
        """Most that a steady device's report tells about its next."""
        p, q = self.chances()
        return fresh_linkage(self.size, float(p - q), float(p - q) * self._loss())

    def permanent(self, value: int, prf: Prf) -> Answer:
        """No words: everything is drawn afresh."""
        held(value, self.size)
        return (value,)

    def report(self, answer: Answer, words: Words) -> Payload:
        """Words: whether the own one is in, omega for as many others, and which of them makes room for it.

        The others are numbered by their category, the last one by that of the own, and drawn by Floyd's method.
        """
        value, last = answer[0], self.size - 1
        stays = words(1)[0] < self.keep
        tops = range(last - self.omega, last)
        *others, left = each_below([*(top + 1 for top in tops), self.omega], words)
        drawn: dict[int, None] = {}
        for top, other in zip(tops, others, strict=True):
            drawn[top if other in drawn else other] = None
        chosen = [last if other == value else other for other in drawn]
        if stays:
            chosen[left] = value
        sent = [0] * self.size
        for category in chosen:
            sent[category] = 1
        return tuple(sent)

    def chances(self) -> tuple[Fraction, Fraction]:
        """Exact chance that the own category is in the set, and that a certain other one is."""
        p = Fraction(self.keep, SCALE)
        return p, (self.omega - p) / (self.size - 1)

    def possible(self, payload: Payload) -> bool:
        """Sets of omega categories."""
        return sum(payload) == self.omega

    def chance(self, value: int, payload: Payload) -> Fraction:
        """Exact chance of one payload, whatever the number of categories."""
        p = self.chances()[0]
        if not self.possible(payload):
            return Fraction(0)
        if payload[value]:
            return p / comb(self.size - 1, self.omega - 1)
        return (1 - p) / comb(self.size - 1, self.omega)

    def law(self, value: int, public: Payload = ()) -> Law:
        """Exact chance of each set: for few categories only."""
        p = self.chances()[0]
        with_own = p / comb(self.size - 1, self.omega - 1)
        without = (1 - p) / comb(self.size - 1, self.omega)
        sets = map(set, combinations(range(self.size), self.omega))
        return {tuple(int(c in s) for c in range(self.size)): with_own if value in s else without for s in sets}

    def prices(self, windows: int) -> Prices:
        """In nats; see spec/prices.md."""
        return fresh(self._loss(), windows)

    def canonical(self) -> tuple[int, ...]:
        """(size, omega, keep)."""
        return (self.size, self.omega, self.keep)

    def _loss(self) -> float:
        p = self.chances()[0]
        return ratio(p * (self.size - self.omega), (1 - p) * self.omega)
