"""Exact laws from code: run what a device runs along every path that its words can take, and add the paths up.

A word here is not a number but the set of numbers it may still be. Comparing it with an integer splits the set, and the
code runs once for each part; `word % bound` splits it by remainder. Nothing else can be done with a word, so code that
does anything else fails loudly. A path on which a word was refused and drawn again is left out and the rest scaled up,
which is exact because such a word is drawn anew whatever the outcome would have been.
"""

from collections.abc import Callable, Hashable, Sequence
from fractions import Fraction
from typing import NoReturn, TypeVar, cast

from hubbub.encoders.base import SCALE, Prf, Words

T = TypeVar("T", bound=Hashable)

MAX_PATHS = 200_000  # some seconds


def exact_law(run: Callable[[Prf, Words], T]) -> dict[T, Fraction]:
    """Chance of each outcome of `run`, which gets a device's permanent words and fresh ones.

    Raises:
        ValueError: More than `MAX_PATHS` paths.
    """
    usual: dict[str, int] = {}
    chances: dict[T, Fraction] = {}
    ahead: list[tuple[int, ...]] = [()]
    for _ in range(MAX_PATHS):
        walk = _Walk(ahead.pop(), usual)
        try:
            outcome = run(walk.prf, walk.stream("", ()))
            chances[outcome] = chances.get(outcome, Fraction(0)) + walk.chance
        except _DrawnAgainError:
            pass
        usual = usual or walk.longest()
        ahead += walk.others
        if not ahead:
            kept = sum(chances.values(), Fraction(0))
            return {outcome: chance / kept for outcome, chance in chances.items()}
    raise ValueError(f"more than {MAX_PATHS} paths: choose a smaller domain")


class _DrawnAgainError(Exception):
    """A stream was asked for more words than it gives when none is refused."""


class _Walk:
    """One run: follows the forks in `told`, then takes the first way at each new one and notes the others.

    The first way is that of the smallest words, which are never refused. So the first walk shows how many words a
    stream of each purpose gives, and a later walk that asks for more has had one refused.
    """

    def __init__(self, told: tuple[int, ...], usual: dict[str, int]) -> None:
        self.chance = Fraction(1)
        self.others: list[tuple[int, ...]] = []
        self._taken = list(told)
        self._forks = 0
        self._usual = usual
        self._words: dict[tuple[str, tuple[int, ...]], list[_Word]] = {}

    def fork(self, shares: Sequence[int]) -> int:
        """The way taken of several that have these shares."""
        ways = [way for way, share in enumerate(shares) if share]
        if len(ways) == 1:
            return ways[0]
        if self._forks == len(self._taken):
            self.others += [(*self._taken, way) for way in ways[1:]]
            self._taken.append(ways[0])
        way = self._taken[self._forks]
        self._forks += 1
        self.chance *= Fraction(shares[way], sum(shares))
        return way

    def prf(self, purpose: str, *key: int) -> Words:
        """The same stream for the same purpose and key, from its beginning."""
        return self.stream(purpose, key)

    def stream(self, purpose: str, key: tuple[int, ...]) -> Words:
        drawn = self._words.setdefault((purpose, key), [])
        most = self._usual.get(purpose)
        place = 0

        def words(count: int) -> Sequence[int]:
            nonlocal place
            place += count
            if most is not None and place > most:
                raise _DrawnAgainError
            drawn.extend(_Word(self) for _ in range(place - len(drawn)))
            return cast(Sequence[int], drawn[place - count : place])

        return words

    def longest(self) -> dict[str, int]:
        """Most words that one stream of each purpose gave."""
        most: dict[str, int] = {}
        for (purpose, _), drawn in self._words.items():
            most[purpose] = max(most.get(purpose, 0), len(drawn))
        return most


class _Word:
    """A word of which only a range is known, [low, high), and perhaps the remainder by one bound."""

    def __init__(self, walk: _Walk) -> None:
        self._walk = walk
        self._low, self._high = 0, SCALE
        self._remainder: tuple[int, int] | None = None

    def __lt__(self, other: int) -> bool:
        cut = min(max(other, self._low), self._high)
        if self._remainder and self._low < cut < self._high:
            self._refuse()
        below = self._walk.fork((cut - self._low, self._high - cut)) == 0
        self._low, self._high = (self._low, cut) if below else (cut, self._high)
        return below

    def __ge__(self, other: int) -> bool:
        return not self < other

    def __le__(self, other: int) -> bool:
        return self < other + 1

    def __gt__(self, other: int) -> bool:
        return not self < other + 1

    def __mod__(self, bound: int) -> int:
        if self._remainder is None:
            shares = [-((r - self._high) // bound) + (r - self._low) // bound for r in range(bound)]
            self._remainder = bound, self._walk.fork(shares)
        if self._remainder[0] != bound:
            self._refuse()
        return self._remainder[1]

    def _refuse(self, *_: object) -> NoReturn:
        raise TypeError("a word may be compared with integers, and then reduced by one bound; nothing else")

    __eq__ = __ne__ = __bool__ = __index__ = _refuse
    __hash__ = None  # type: ignore[assignment]
