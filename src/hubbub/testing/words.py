"""Sources of words for tests and simulations: a fixed list, or a seeded generator. Neither is for a device."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hubbub.encoders.base import SCALE
from hubbub.errors import ParameterError

MANY = 4096  # words from which on drawing them in pairs pays


class ReplayWords:
    """Hands out the words of an array in order.

    Attributes:
        used: Words handed out so far.
    """

    def __init__(self, words: ArrayLike) -> None:
        self._words = np.asarray(words, np.uint32).ravel()
        self.used = 0

    def words(self, count: int) -> NDArray[np.uint32]:
        """The next `count` words.

        Raises:
            ParameterError: Fewer are left.
        """
        left = len(self._words) - self.used
        if not 0 <= count <= left:
            raise ParameterError("count", count, f"in [0, {left}], the words that are left")
        self.used += count
        return self._words[self.used - count : self.used]


class GeneratorWords:
    """Words from a numpy generator: fast and repeatable, hence only for simulated people.

    Attributes:
        used: Words handed out so far.
    """

    def __init__(self, rng: np.random.Generator) -> None:
        self._rng = rng
        self.used = 0

    def words(self, count: int) -> NDArray[np.uint32]:
        """The next `count` words: those that numpy draws one by one, in half the time."""
        self.used += count
        # Most generators make 64 bits at a time, hand out the lower half first, and keep the other for the next word.
        kept = self._rng.bit_generator.state.get("has_uint32") if count >= MANY else None
        if kept is None:
            return self._singly(count)
        pairs, last = divmod(count - kept, 2)
        first = self._singly(kept)
        halves = self._rng.integers(0, SCALE**2, pairs, dtype=np.uint64).astype("<u8", copy=False).view("<u4")
        parts = (first, halves, self._singly(last)) if kept or last else (halves,)
        return np.concatenate(parts, dtype=np.uint32) if len(parts) > 1 else halves.astype(np.uint32, copy=False)

    def _singly(self, count: int) -> NDArray[np.uint32]:
        return self._rng.integers(0, SCALE, count, dtype=np.uint32)
