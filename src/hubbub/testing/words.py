"""Sources of words for tests and simulations: a fixed list, or a seeded generator. Neither is for a device."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hubbub.encoders.base import SCALE
from hubbub.errors import ParameterError


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
        """The next `count` words."""
        self.used += count
        return self._rng.integers(0, SCALE, count, dtype=np.uint32)
